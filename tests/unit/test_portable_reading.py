"""Files with chats, read by a process of its own: archives, folders, several at once, and hostile ones."""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.documents.reading import MOST_CHARACTERS
from app.portable import beside, child, own, reading
from app.portable import chatgpt as chatgpt_reader
from app.portable.problems import WhyNotRead
from app.portable.reading import FoundChats, find_chats
from app.portable.unfinished import Unfinished
from app.portable.writing import write_json
from app.storage.parts import Attachment, AttachmentKind
from app.storage.portable import PortableChat, PortableMessage
from app.system.limited_child import ChildFailed, ChildLimits, ChildStopped, Stop
from tests.helpers.foreign_chats import chatgpt, drawing, lm_studio, node, pointer, said, slot

ASKED = node("q", "root", "user", "Why?")
ONE = json.dumps([chatgpt(ASKED)])


def by_a_process(folder: Path, *paths: Path) -> FoundChats:
    return find_chats(paths, folder / "spool", Stop(), lambda _share: None)


def printed(_flag: str, arguments: Sequence[str], *_: object) -> Iterator[bytes]:
    """What the process prints, without starting one."""
    lines = io.BytesIO()
    output = io.TextIOWrapper(lines)
    with pytest.MonkeyPatch.context() as patch, Path(arguments[0]).open("w", encoding="utf-8") as spool:
        patch.setattr(sys, "stdout", output)
        child.Import(spool).read([Path(each) for each in arguments[1:]])
    return iter(lines.getvalue().splitlines())


def find(folder: Path, *paths: Path) -> FoundChats:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "lines_of", printed)
        return by_a_process(folder, *paths)


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def archive(folder: Path, members: Mapping[str, str | bytes], name: str = "export.zip") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for member, text in members.items():
            made.writestr(member, text)
    return path


def problems(found: FoundChats) -> list[tuple[str, str, WhyNotRead]]:
    return [(each.file, each.chat, each.why) for each in found.problems]


def spooled(found: FoundChats) -> list[PortableChat]:
    return [own.chat_of(json.loads(line)) for line in found.spool.read_text(encoding="utf-8").splitlines()]


def test_formats_are_known_by_what_they_hold_not_by_their_names(tmp_path: Path) -> None:
    ours = own.head() + own.line_of(PortableChat("x:1", "Ours", ())) + own.TAIL
    found = by_a_process(
        tmp_path,
        written(tmp_path, "a.txt", ONE),
        written(tmp_path, "b.bin", json.dumps(lm_studio(slot(said("Hi"))), indent=1)),
        written(tmp_path, "c", b"\xef\xbb\xbf" + ours.encode()),
        written(tmp_path, "d.json", ONE.encode("utf-16")),
    )
    assert [each.title for each in spooled(found)] == ["Deploys", "Ducks", "Ours", "Deploys"]
    assert (found.messages, found.problems) == (3, ())
    assert found.origins == tuple(each.origin for each in spooled(found))


def test_an_export_is_read_in_its_archive_and_names_in_it_are_no_paths(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {"../../evil/conversations.json": ONE, "user.json": "{}", "chat.html": "<b>"}
    found = find(tmp_path, archive(tmp_path, members))
    assert [each.title for each in spooled(found)] == ["Deploys"]
    assert {path.name for path in tmp_path.rglob("*")} == {"export.zip", "spool"}
    assert not (tmp_path.parent / "evil").exists()


PICTURES = {
    "file-Ab1-sea.png": b"sea",
    "dalle-generations/file-Draw-4f.webp": b"drawn",
    "user-1/file_00c2-sanitized.png": b"new",
    "file_00da.dat": b"newer",
    "secret.png": b"secret",
}
SHOWN = ["file-service://file-Ab1", "sediment://file_00c2", "sediment://file_00da", "sediment://file_0bad"]


def with_pictures() -> str:
    asked = node("q", "root", "user", *map(pointer, SHOWN), "What?")
    other = node("q2", "root", "user", pointer(SHOWN[0]), pointer("sediment://../secret"), "And this?")
    return json.dumps([chatgpt(asked, drawing("d", "q", "file-service://file-Draw"), other)])


def shown(found: FoundChats) -> list[list[tuple[str, str]]]:
    """Of each message's attachments the name and what is packed in it."""
    (chat,) = (json.loads(line) for line in found.spool.read_text(encoding="utf-8").splitlines())
    attached = [[(each["name"], each["text"]) for each in message["parts"]] for message in chat["messages"]]
    return [[(name, base64.b64decode(text).decode()) for name, text in each] for each in attached]


@pytest.mark.parametrize("packed", [True, False])
def test_pictures_lie_beside_a_conversation_in_the_archive_or_unpacked(tmp_path: Path, packed: bool) -> None:
    """Each once; what is not there is a note, and counted."""
    members = {"conversations.json": with_pictures().encode(), **PICTURES}
    if packed:
        found = find(tmp_path, archive(tmp_path, dict(members)))
    else:
        for name, data in members.items():
            written(tmp_path / "export", name, data)
        found = find(tmp_path, tmp_path / "export" / "conversations.json")
    asked = [("", "sea"), ("", "new"), ("", "newer"), ("image", "")]
    assert shown(found) == [asked, [("", "drawn")], [("", ""), ("image", "")]]
    assert (found.missing, found.problems) == (2, ())


def test_pictures_of_lm_studio_lie_beside_its_conversations(tmp_path: Path) -> None:
    """A name is looked for and no path; links are not followed."""
    home = tmp_path / ".lmstudio"
    names = ["17 - 4.png", "../secret.png", "link.png", "a.png"]
    chat = json.dumps(lm_studio(slot(said("What?", "user", *names))))
    for at in ("conversations", "conversations/Work"):
        written(home, f"{at}/1.conversation.json", chat)
    written(home, "user-files/17 - 4.png", b"ducks")
    written(home, "user-files/17 - 4.png.metadata.json", "{}")
    (home / "user-files" / "link.png").symlink_to(written(home, "secret.png", b"secret"))
    os.mkfifo(home / "user-files" / "a.png")
    wanted = [[("17 - 4.png", "ducks"), *((name, "") for name in names[1:])]]
    for path in ("conversations/Work", "conversations/Work/1.conversation.json"):
        assert shown(find(tmp_path, home / path)) == wanted
    assert find(tmp_path, home).problems == ()


def test_too_many_pictures_are_left_out_of_their_chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    members = {"conversations.json": with_pictures().encode(), **PICTURES}
    limits = {(own, "MOST_PICTURE_BYTES"): ["sea"], (child, "_MOST_PICTURE_BYTES"): ["sea"]}
    for (place, name), kept in (limits | {(beside, "_MOST_BYTES"): ["sea", "new"]}).items():
        with monkeypatch.context() as limit:
            limit.setattr(place, name, 4)
            found = find(tmp_path, archive(tmp_path, dict(members)))
        assert [text for _, text in shown(found)[0] if text] == kept
        assert not found.problems


def test_a_folder_is_read_with_its_folders_also_packed(tmp_path: Path) -> None:
    top = tmp_path / "conversations"
    for number, name in enumerate(["1.conversation.json", "Work/2.conversation.json", "Work/Ducks/3.json"]):
        written(top, name, json.dumps(lm_studio(slot(said(str(number))))))
    (top / "link.json").symlink_to(top / "1.conversation.json")
    (top / "around").symlink_to(top)
    packed = {f"export/{path.relative_to(tmp_path)}": path.read_bytes() for path in sorted(top.rglob("[1-3]*.json"))}
    for place in (top, archive(tmp_path, packed)):
        found = find(tmp_path, place)
        assert [each.folder for each in spooled(found)] == [(), ("Work",), ("Work", "Ducks")]
    odd = {f"{'/' * number}{'a/' * 99 * number}.json": text for number, text in enumerate(packed.values())}
    assert [len(each.folder) for each in spooled(find(tmp_path, archive(tmp_path, odd)))] == [0, 12, 12]


def test_a_folder_is_called_as_it_is_typed_whatever_the_disk_makes_of_it(tmp_path: Path) -> None:
    """Else there would be two of one name."""
    for name in ("업무", unicodedata.normalize("NFD", "업무")):
        written(tmp_path / "top" / name, "1.json", json.dumps(lm_studio(slot(said("Hi")))))
    assert {each.folder for each in spooled(find(tmp_path, tmp_path / "top"))} == {("업무",)}


def test_what_macos_puts_beside_files_is_no_chat(tmp_path: Path) -> None:
    """In archives that Finder makes, and on disks that keep no more of a file than its bytes."""
    chat = json.dumps(lm_studio(slot(said("Hi"))))
    members: dict[str, str | bytes] = {"Work/1.conversation.json": chat, "__MACOSX/Work/._1.conversation.json": b"\0\5"}
    written(tmp_path / "disk", "1.conversation.json", chat)
    written(tmp_path / "disk", "._1.conversation.json", b"\0\5")
    for place in (archive(tmp_path, members), tmp_path / "disk"):
        found = find(tmp_path, place)
        assert (len(found.origins), found.problems) == (1, ())


def test_an_export_that_was_unpacked_is_read_as_in_its_archive(tmp_path: Path) -> None:
    """Safari unpacks what it downloads."""
    for name, text in {"conversations-000.json": ONE, "user.json": "{}", "message_feedback.json": "[]"}.items():
        written(tmp_path / "export", name, text)
    found = find(tmp_path, tmp_path / "export")
    assert (len(found.origins), found.problems) == (1, ())


def test_what_cannot_be_read_is_told_chat_by_chat(tmp_path: Path) -> None:
    around = [node("a", "b", "user", "1"), node("b", "a", "assistant", "2")]
    chats: list[Any] = [chatgpt(ASKED), chatgpt(*around, title="Round"), chatgpt(title="Nothing"), {"x": 1}]
    text = json.dumps(chats)[:-1] + ', {"mapping": {"a": NaN}}, {"mapping": {}, "mapping": {}}, {"title": "cut'
    found = find(tmp_path, written(tmp_path, "c.json", text), tmp_path / "gone.json")
    assert len(found.origins) == 1
    assert problems(found) == [
        ("c.json", "Round", WhyNotRead.CIRCLE),
        ("c.json", "Nothing", WhyNotRead.EMPTY),
        ("c.json", "", WhyNotRead.UNKNOWN),
        ("c.json", "", WhyNotRead.NOT_JSON),
        ("c.json", "", WhyNotRead.DUPLICATE),
        ("c.json", "", WhyNotRead.TRUNCATED),
        ("gone.json", "", WhyNotRead.GONE),
    ]


def test_hostile_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chatgpt_reader, "MOST_NODES", 100)
    hostile: list[tuple[str | bytes, WhyNotRead]] = [
        ("", WhyNotRead.EMPTY),
        ("[]", WhyNotRead.EMPTY),
        ("{}", WhyNotRead.UNKNOWN),
        ("[1, 2, 3]", WhyNotRead.UNKNOWN),
        (b"\xff\xfe\xfa", WhyNotRead.NOT_JSON),
        (b"\x89PNG\r\n\x1a\n\0\0", WhyNotRead.NOT_JSON),
        ("[" * 100_000, WhyNotRead.TOO_DEEP),
        ('{"format": "hunch.chats", "version": 99, "chats": [{"id": "x", "shown": null}]}', WhyNotRead.NEWER),
        ('{"format": "hunch.chats", "version": 1, "chats": []}', WhyNotRead.EMPTY),
        ('{"version": 99, "conversations": [{"x": 1}]}', WhyNotRead.UNKNOWN),
        ('{"version": "0.1", "chats": [{"x": 1}]}', WhyNotRead.UNKNOWN),
        ('[{"mapping": {' + ", ".join(f'"{n}": {{}}' for n in range(101)) + "}}]", WhyNotRead.TOO_LARGE),
        ("PK\3\4 not really", WhyNotRead.NOT_JSON),
    ]
    files = [written(tmp_path, f"{at}.json", text) for at, (text, _) in enumerate(hostile)]
    found = find(tmp_path, *files)
    assert found.origins == ()
    assert [(each.file, each.why) for each in found.problems] == [
        (file.name, why) for file, (_, why) in zip(files, hostile, strict=True)
    ]


def test_archives_that_lie_or_burst_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_BOMB_BYTES", 1_000_000)
    bomb = archive(tmp_path, {"conversations.json": b"[" + b" " * 1_500_000})
    whole = archive(tmp_path, {"conversations.json": ONE * 40}, "whole.zip").read_bytes()
    cut = written(tmp_path, "cut.zip", whole[:-30])
    turned = bytearray(whole)
    turned[60:90] = bytes(30)
    locked = bytearray(archive(tmp_path, {"conversations.json": ONE}, "locked.zip").read_bytes())
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[locked.index(mark) + at] |= 1
    files = [
        bomb,
        cut,
        written(tmp_path, "turned.zip", bytes(turned)),
        written(tmp_path, "locked.zip", bytes(locked)),
        archive(tmp_path, {"a.txt": "x"}, "other.zip"),
    ]
    found = find(tmp_path, *files)
    assert found.origins == ()
    assert [each.why for each in found.problems] == [
        WhyNotRead.TOO_LARGE,
        WhyNotRead.NOT_JSON,
        WhyNotRead.TRUNCATED,
        WhyNotRead.ENCRYPTED,
        WhyNotRead.UNKNOWN,
    ]


def test_reading_can_be_stopped_and_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "many.json", json.dumps([chatgpt(ASKED, conversation_id=str(n)) for n in range(300)]))
    stop = Stop()
    with pytest.raises(ChildStopped):
        find_chats([path], tmp_path / "spool", stop, lambda _share: stop.ask())
    monkeypatch.setattr(reading, "LIMITS", ChildLimits(cpu_s=1, memory_bytes=1, output_bytes=1000))
    found = by_a_process(tmp_path, path)
    assert [each.why for each in found.problems] == [WhyNotRead.TOO_MUCH]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such disk here")
def test_a_full_disk_is_no_file_that_is_too_complex(tmp_path: Path) -> None:
    path = written(tmp_path, "many.json", json.dumps([chatgpt(ASKED, conversation_id="1")]))
    with pytest.raises(OSError, match="space"):
        find_chats([path], Path("/dev/full"), Stop(), lambda _share: None)


def test_presets_of_a_file_are_taken_as_far_as_they_are_presets(tmp_path: Path) -> None:
    good = {"id": "a", "name": " Two\n \u202ewords ", "values": {"temperature": 0.5}}
    odd = [3, {}, good | {"id": 3}, good | {"id": ""}, good | {"name": " "}, good | {"values": []}]
    path = tmp_path / "chats.json"
    path.write_text(own.head([good, *odd]) + own.line_of(PortableChat("x:1", "T", ())) + own.TAIL)  # type: ignore[list-item]
    found = find(tmp_path, path)
    assert found.presets == (good | {"name": "Two words"},)
    assert (len(found.origins), found.problems) == (1, ())


def exported(folder: Path, chats: list[PortableChat], presets: list[dict[str, Any]]) -> Path:
    write_json(chats, folder / "chats.json", Unfinished(folder), Stop(), lambda _written: None, presets)
    return folder / "chats.json"


def test_an_export_of_ours_is_read_however_long_its_presets_are(tmp_path: Path) -> None:
    long = [{"id": str(n), "name": "긴", "values": {"system_prompt": sign * 500_000}} for n, sign in enumerate("x각😀")]
    found = find(tmp_path, exported(tmp_path, [PortableChat("x:1", "T", ())], long))
    assert (found.origins, found.problems) == (("x:1",), ())
    assert found.presets == tuple(long)


@pytest.mark.slow
def test_a_message_with_all_the_attachments_that_it_can_have_is_read(tmp_path: Path) -> None:
    """Also versions of it: each has them."""
    files = tuple(Attachment("a", AttachmentKind.TEXT, sign * MOST_CHARACTERS, 0) for sign in "x각" * 10)
    messages = tuple(PortableMessage(number, None, "user", "Why?", parts=files) for number in (1, 2))
    found = find(tmp_path, exported(tmp_path, [PortableChat("x:1", "T", messages)], []))
    assert (found.origins, found.messages, found.problems) == (("x:1",), 2, ())
    assert [len(each.text) for each in spooled(found)[0].messages[1].attachments] == [MOST_CHARACTERS] * 20


def test_what_a_process_read_before_it_ended_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the chat that it was writing; of one that never began there is nothing."""
    path = written(tmp_path, "a.json", ONE)

    def ended(flag: str, arguments: Sequence[str], *_: object) -> Iterator[bytes]:
        yield from printed(flag, arguments)
        with Path(arguments[0]).open("ab") as spool:
            spool.write(b'{"id": "half of')
        raise ChildFailed

    def never(*_: object) -> Iterator[bytes]:
        raise ChildFailed

    for process, titles in ((ended, ["Deploys"]), (never, [])):
        (tmp_path / "spool").unlink(missing_ok=True)
        monkeypatch.setattr(reading, "lines_of", process)
        found = by_a_process(tmp_path, path)
        assert [each.title for each in spooled(found)] == titles
        assert (len(found.origins), problems(found)) == (len(titles), [("", "", WhyNotRead.TOO_MUCH)])


def test_a_chat_that_is_told_is_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool, lines = tmp_path / "spool", list[int]()
    monkeypatch.setattr(child, "_say", lambda **said: lines.append(spool.read_bytes().count(b"\n")))
    with spool.open("w", encoding="utf-8") as file:
        child.Import(file).read([written(tmp_path, "a.json", json.dumps([chatgpt(ASKED)] * 2))])
    assert lines[-2:] == [1, 2]
