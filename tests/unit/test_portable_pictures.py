"""Pictures in chats that are files: ours keep the bytes, which an import trusts no more than any other's."""

from __future__ import annotations

import base64
import errno
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.controllers import exports
from app.controllers.exports import Exported
from app.controllers.imports import chat_of, keep_pictures
from app.documents.picture_values import as_stored, read_image
from app.portable import own
from app.portable.child import understood
from app.portable.json_stream import loads
from app.portable.reading import find_chats
from app.portable.unfinished import Unfinished
from app.portable.writing import write_markdown, write_markdown_folder
from app.storage import Attachment, AttachmentKind, Pictures, StoredMessage
from app.storage.portable import PortableChat, PortableMessage
from app.system.limited_child import Stop
from app.words.portable import exported_words
from engine import MessageRole, Picture
from tests.helpers.foreign_chats import chatgpt, node, pointer
from tests.helpers.picture_files import image, written
from tests.helpers.portable_chat import WORDS
from tests.helpers.prompt_messages import request_messages

NOTE = Attachment("sea.png", AttachmentKind.NOTE, "", 0)


def a_chat(pictures: Pictures) -> PortableChat:
    made = as_stored(image(30, 20))
    digest, size = pictures.put(made.png), len(made.png)
    picture = Attachment("sea.png", AttachmentKind.PICTURE, "", size, 0, digest, 30, 20, made.thumbnail)
    return PortableChat("x:1", "Sea", (PortableMessage(1, None, "user", "What is it?", parts=(picture,)),))


def spool_of(folder: Path, line: str) -> Path:
    """What the process that reads an export would write."""
    (chat,) = understood(loads(line))
    (folder / "chats").write_text(own.line_of(chat) + "\n", encoding="utf-8")
    return folder / "chats"


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the process that decodes a picture does, without starting one."""
    decode = "app.controllers.imports.picture_of"
    monkeypatch.setattr(decode, lambda file, kind, _stop: as_stored(read_image(file, kind)))


def test_a_picture_of_several_versions_of_a_message_is_written_once_and_comes_back_in_all(tmp_path: Path) -> None:
    here, elsewhere = Pictures(tmp_path / "a" / "chats.db"), Pictures(tmp_path / "b" / "chats.db")
    chat = a_chat(here)
    (message,) = chat.messages
    (picture,) = message.attachments
    again = replace(message, number=2, parts=(replace(picture, name="again.png"),))
    line = own.line_of(own.with_bytes(replace(chat, messages=(message, again)), here.get))
    assert line.count(base64.b64encode(here.get(picture.digest) or b"").decode()) == 1
    spool = spool_of(tmp_path, line)
    keep_pictures(spool, elsewhere.put, Stop())
    assert [each.attachments for each in chat_of(spool.read_bytes()).messages] == [
        message.attachments,
        again.attachments,
    ]
    assert elsewhere.get(picture.digest) == here.get(picture.digest)


def test_words_of_a_chat_with_too_many_pictures_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Pictures(tmp_path / "a" / "chats.db")
    chat = a_chat(here)
    (message,) = chat.messages
    monkeypatch.setattr(own, "MOST_PICTURE_BYTES", message.attachments[0].size_bytes - 1)
    (attached,) = json.loads(own.line_of(own.with_bytes(chat, here.get)))["messages"][0]["parts"]
    assert attached["text"] == ""
    spool = spool_of(tmp_path, own.line_of(own.with_bytes(chat, here.get)))
    keep_pictures(spool, here.put, Stop())
    assert chat_of(spool.read_bytes()).messages == (replace(message, parts=(NOTE,)),)


def test_an_export_says_how_many_pictures_are_not_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, path = Pictures(tmp_path / "a" / "chats.db"), tmp_path / "out.json"
    chat = a_chat(here)
    (picture,) = chat.messages[0].attachments

    def exported() -> Exported:
        pictures = exports._Pictures(here)
        assert list(pictures.put_into([chat]))
        return pictures.counted(Exported(1, path))

    assert exported() == Exported(1, path)
    words = len(own.line_of(chat))
    for of, name, most in (
        (own, "MOST_PICTURE_BYTES", picture.size_bytes - 1),
        (own, "MOST_CHARACTERS", words + picture.size_bytes),  # which base64 does not fit into
        (exports, "MOST_PICTURE_BYTES", picture.size_bytes - 1),
    ):
        with monkeypatch.context() as limit:
            limit.setattr(of, name, most)
            assert exported() == Exported(1, path, too_many=1)
    (here.folder / f"{picture.digest}.png").unlink()
    assert exported() == Exported(1, path, unreadable=1)
    assert [
        words[2] for words in (exported_words("x", 0, 0, 0), exported_words("x", 2, 0, 0), exported_words("x", 0, 3, 0))
    ] == [
        "",
        "Pictures left out: 2. JSON takes 150 MB of them from each chat and 2 GB in all, Markdown takes all.",
        "Pictures left out because their files are missing or damaged: 3.",
    ]


@pytest.mark.usefixtures("in_this_process")
def test_a_picture_of_an_import_that_is_none_is_a_note_and_no_thumbnail_of_a_stranger_is_shown(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path / "chats.db")
    found = json.loads(own.line_of(own.with_bytes(a_chat(Pictures(tmp_path / "a" / "chats.db")), lambda _digest: None)))
    (attached,) = found["messages"][0]["parts"]
    attached["thumbnail"] = base64.b64encode(b"\xff\xd8\xff stranger").decode()
    for text in ("", "no base64", base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(50)).decode()):
        attached["text"] = text
        spool = spool_of(tmp_path, json.dumps(found))
        (message,) = chat_of(spool.read_bytes()).messages
        assert message.attachments[0].thumbnail == ""
        keep_pictures(spool, pictures.put, Stop())
        (message,) = chat_of(spool.read_bytes()).messages
        assert message.attachments == (NOTE,)
    assert not pictures.folder.exists()


@pytest.mark.usefixtures("in_this_process")
def test_pictures_of_another_apps_export_are_decoded_as_a_strangers(tmp_path: Path) -> None:
    """One that is none is a note; its chat and the others' pictures come in."""
    pictures = Pictures(tmp_path / "chats.db")
    files = {"file-A-sea.png": written(image(30, 20), "png"), "file-B.dat": b"\x89PNG\r\n\x1a\n none"}
    asked = node("q", "root", "user", *(pointer(f"file-service://file-{each}") for each in "ABC"), "What is it?")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as made:
        for name, data in (files | {"conversations.json": json.dumps([chatgpt(asked)]).encode()}).items():
            made.writestr(name, data)
    found = find_chats([tmp_path / "export.zip"], tmp_path / "chats", Stop(), lambda _share: None)
    shares: list[float] = []
    unread = keep_pictures(found.spool, pictures.put, Stop(), shares.append)
    (chat,) = map(chat_of, found.spool.read_bytes().splitlines())
    (message,) = chat.messages
    picture, *notes = message.attachments
    made_here = as_stored(image(30, 20))
    assert (picture.width, picture.height, picture.thumbnail) == (30, 20, made_here.thumbnail)
    assert pictures.get(picture.digest) == made_here.png
    assert [(each.name, each.kind) for each in notes] == [("image", AttachmentKind.NOTE)] * 2
    assert (message.text, found.missing, unread, shares) == ("What is it?", 1, 1, [1.0])


@pytest.mark.parametrize("role", [MessageRole.USER, MessageRole.ASSISTANT])
def test_a_picture_that_an_app_has_drawn_is_a_word_to_a_model(tmp_path: Path, role: MessageRole) -> None:
    """No template has a place for one in a reply, and the engine refuses it there."""
    attached = a_chat(Pictures(tmp_path / "chats.db")).messages[0].attachments
    pixels = Picture(1, 1, b"rgb", "x")
    stored = StoredMessage(1, 1, None, role, "Here.", parts=attached)
    (message,) = request_messages([stored], "", lambda _picture: pixels)
    shown = role is MessageRole.USER
    assert message.pictures == ((pixels,) if shown else ())
    assert message.content == "Here." if shown else "Picture that is not shown: sea.png\n\nHere."


def test_only_chats_with_pictures_move_the_bar(tmp_path: Path) -> None:
    """Thousands of others are copied in a moment, and each would wake the window."""
    shares: list[float] = []
    keep_pictures(spool_of(tmp_path, own.line_of(PortableChat("x:1", "No sea", ()))), str, Stop(), shares.append)
    assert shares == []


@pytest.mark.usefixtures("in_this_process")
def test_a_full_disk_ends_the_import_and_makes_no_note_of_a_picture(tmp_path: Path) -> None:
    here = Pictures(tmp_path / "a" / "chats.db")
    spool = spool_of(tmp_path, own.line_of(own.with_bytes(a_chat(here), here.get)))

    def keep(_data: bytes) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        keep_pictures(spool, keep, Stop())


def test_pictures_are_files_beside_the_markdown(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path / "a" / "chats.db")
    chat, target = a_chat(pictures), tmp_path / "The sea.md"
    (tmp_path / "The sea").mkdir()
    write_markdown(chat, WORDS, target, Unfinished(tmp_path), pictures.get)
    assert "![sea.png](The%20sea%202/1.png)" in target.read_text(encoding="utf-8")
    (digest,) = (each.digest for each in chat.messages[0].attachments)
    assert (tmp_path / "The sea 2" / "1.png").read_bytes() == pictures.get(digest)
    bare = replace(chat, messages=(replace(chat.messages[0], parts=()),))
    write_markdown(bare, WORDS, tmp_path / "Bare.md", Unfinished(tmp_path), pictures.get)
    assert not (tmp_path / "Bare").exists()


def test_without_room_no_folder_of_pictures_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = Pictures(tmp_path / "a" / "chats.db")
    chat = a_chat(pictures)

    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_markdown(chat, WORDS, tmp_path / "Sea.md", Unfinished(tmp_path), pictures.get)
    assert [each.name for each in tmp_path.glob("*ea*")] == []


def test_an_export_is_on_the_disk_before_it_is_told_as_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file with all that is in it, and the folders."""
    pictures = Pictures(tmp_path / "a" / "chats.db")
    chat, synced, sync = a_chat(pictures), dict[int, int](), os.fsync

    def note(descriptor: int) -> None:
        told = os.fstat(descriptor)
        synced[told.st_ino] = told.st_size
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    one = tmp_path / "One.md"
    write_markdown(chat, WORDS, one, Unfinished(tmp_path), pictures.get)
    told = Unfinished(tmp_path), Stop(), lambda _count: None, pictures.get
    made = write_markdown_folder([chat, chat], WORDS, tmp_path / "Chats", *told)
    written = [one, *one.with_suffix("").rglob("*"), made, *made.rglob("*")]
    assert len(written) == 2 + 1 + 2 * 3
    assert all(synced[each.stat().st_ino] == each.stat().st_size for each in written)


def test_pictures_of_a_chat_that_is_called_as_the_file_of_another_have_a_folder_of_their_own(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path / "a" / "chats.db")
    first, second = (replace(a_chat(pictures), title=title) for title in ("Sea", "SEA.md"))
    told = Unfinished(tmp_path), Stop(), lambda _count: None, pictures.get
    made = write_markdown_folder([first, second], WORDS, tmp_path / "Chats", *told)
    assert sorted(each.name for each in made.iterdir()) == ["SEA.md 2", "SEA.md 2.md", "Sea", "Sea.md"]


def test_the_name_of_a_picture_is_no_html_in_markdown(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path / "a" / "chats.db")
    chat = a_chat(pictures)
    (message,) = chat.messages
    named = replace(message, parts=(replace(message.attachments[0], name="\\<img src=x>](y"),))
    write_markdown(replace(chat, messages=(named,)), WORDS, tmp_path / "Sea.md", Unfinished(tmp_path), pictures.get)
    assert "![\\\\\\<img src=x\\>\\](y](Sea/1.png)" in (tmp_path / "Sea.md").read_text(encoding="utf-8")
