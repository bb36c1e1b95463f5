"""Searching with the index: it finds what a look at every message finds, whatever has happened to either file."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.markup import folding
from app.storage import (
    Attachment,
    AttachmentKind,
    ChatSummary,
    Database,
    Edit,
    EditKind,
    ReplyText,
    Stores,
    search_index,
    searching,
)
from app.storage.database import Connection, ReadConnection, address_of
from app.storage.search_index import KeptIndex, Progress, SearchIndex, forget_index, index_path, open_index
from app.storage.searching import Searching
from engine import MessageRole
from tests.helpers.storage_owner import Owner

TEXTS = (
    "深度学习。推測デコード。초안 모델, ドラフトモデル: accept rate 100 % for under_score \\o/ 草",
    "Speculative decoding: ein Entwurf für ÄPFEL, ConversationListModel",
    unicodedata.normalize("NFD", "메인 모델이 확인해요"),
    "ｆｕｌｌ ｗｉｄｔｈ and a ﬁne ligature, C++ & 😀",
    "tiếng Việt, Muḥammad, saṃskṛta, ἄνθρωπος, ᏣᎳᎩ, አማርኛ",
)
QUERIES = (
    *("学习", "推測", "초안", "ドラフト", "草", "習", "안", "모델", "확인"),
    *("accept", "ACCEPT rate", "100 %", "under_score", "\\o/", "e", "äpfel", "apfel", "listmod", "ption"),
    *("full width", "ＦＵＬＬ", "fine", "c++", "😀", "z", "쀍", "decoding 草", "decoding entwurf"),
    *("ếng", "ế", "ệt", "ḥammad", "ṃskṛta", "ṛta", "ἄν", "ρωπος", "ᏣᎳ", "ማርኛ"),
)
LETTERS = "aeếệḥṃἄᏣማ한글草習ドー "  # wide and not, on either side of where the wide ones begin


def chat_of(stores: Stores, *texts: str, title: str = "Chat") -> int:
    chat, parent = stores.chats.create(title), None
    for text in texts:
        parent = stores.messages.add_user(chat, parent, text)
    return chat


def indexed(path: Path) -> SearchIndex:
    """Read to the end, and the database told what is covered."""
    index = open_index(path)
    assert index is not None
    with closing(ReadConnection(address_of(path))) as reader:
        progress = Progress(more=True)
        while progress.more:
            progress = index.catch_up(reader, batch=2)
    return index


def found(path: Path, query: str, index: SearchIndex | None) -> list[tuple[int, tuple[int, ...]]]:
    """The chats, and the messages in each."""
    with closing(ReadConnection(address_of(path))) as reader:
        return [
            (chat.id, tuple(match.message_id for match in chat.matches))
            for chat in Searching(reader, index).find(query)
        ]


def test_the_index_finds_what_a_look_at_every_message_finds(stores: Stores, path: Path) -> None:
    for text in TEXTS:
        chat_of(stores, text, "Nothing of the kind.")
    with closing(indexed(path)) as index:
        results = {query: found(path, query, index) for query in QUERIES}
    assert results == {query: found(path, query, None) for query in QUERIES}
    nowhere = {query for query, result in results.items() if not result}
    assert nowhere == {"習", "apfel", "ption", "z", "쀍", "decoding 草"}


def test_a_block_with_all_pairs_of_a_word_in_kana_is_not_looked_into(stores: Stores, path: Path) -> None:
    """Kana are so few that every block has most pairs of them."""
    chat_of(stores, "まし した たい。食べますから")
    with closing(indexed(path)) as index:
        blocks = {word: index.blocks_with(word) for word in ("した", "食べま", "べますか", "ましたい")}
    assert blocks == {"した": [0], "食べま": [0], "べますか": [0], "ましたい": []}


@settings(max_examples=60)
@given(
    texts=st.lists(st.text(max_size=30) | st.text(LETTERS, max_size=30), max_size=4),
    start=st.integers(0, 25),
    length=st.integers(1, 6),
)
def test_any_piece_of_any_text_is_found(
    texts: list[str], start: int, length: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "chats.db"
    with closing(Database(path)) as database:
        texts = [text.encode("utf-8", "ignore").decode().replace("\0", "") for text in texts]
        chat_of(Stores(database), *texts)
        with closing(indexed(path)) as index:
            for text in texts:
                query = " ".join(text[start : start + length].split())
                if query:
                    assert found(path, query, index) == found(path, query, None)


def test_attached_text_is_found_with_and_without_the_index(stores: Stores, path: Path) -> None:
    chat = stores.chats.create("Chat")
    attached = (Attachment("notes.md", AttachmentKind.TEXT, "오리는 세 마리예요", 9),)
    number = stores.messages.add_user(chat, None, "How many?", attached)
    with closing(indexed(path)) as made:
        for index in (None, made):
            for query in ("세 마리", "notes", "many 오리"):
                assert found(path, query, index) == [(chat, (number,))]
            assert found(path, "네 마리", index) == []


def test_attached_text_is_found_whenever_the_index_reads(stores: Stores, path: Path) -> None:
    chat, connection = stores.chats.create("Chat"), stores.database.connection
    attached = (Attachment("birds.txt", AttachmentKind.TEXT, "a grey heron", 12),)
    with closing(ReadConnection(address_of(path))) as reader, closing(indexed(path)) as index:
        connection.set_trace_callback(lambda _sql: index.catch_up(reader))  # before each statement
        number = stores.messages.add_user(chat, None, "Which?", attached)
        connection.set_trace_callback(None)
        index.catch_up(reader)
        assert found(path, "heron", index) == [(chat, (number,))]


def test_a_result_says_which_attachment_it_stands_in(stores: Stores, path: Path) -> None:
    chat = stores.chats.create("Chat")
    attached = tuple(
        Attachment(name, AttachmentKind.TEXT, text, 9) for name, text in (("a", "한 마리"), ("b", "Two ducks"))
    )
    stores.messages.add_user(chat, None, "Ducks and geese", attached)
    with closing(ReadConnection(address_of(path))) as reader:
        for query, words, place in (
            ("ducks", ("ducks",), None),
            ("마리", ("마리",), 0),
            ("TWO  Ducks", ("TWO Ducks",), 1),
            ("geese two Ducks", ("geese", "Ducks"), None),
        ):
            (match,) = Searching(reader).find(query)[0].matches
            assert (match.words, match.attachment) == (words, place)


def test_a_change_that_came_while_the_index_read_stays_noted(stores: Stores, path: Path) -> None:
    chat = chat_of(stores, "question")
    reply = stores.messages.begin_reply(chat, stores.chats.leaf(chat) or 0, "Main", "")
    for text in ("a", "ab"):
        stores.messages.save_texts([ReplyText(reply, text, "", 0.0)])
    stores.forget_rewritten([(reply, 1)])
    assert [tuple(row) for row in stores.database.rows("SELECT * FROM rewritten")] == [(reply, 2)]
    stores.forget_rewritten([(reply, 2)])
    assert stores.database.rows("SELECT * FROM rewritten") == []


OF_VERSION_2 = """
INSERT INTO pieces (pieces) VALUES ('delete-all');
INSERT INTO pieces (rowid, text) VALUES (1 << 32 | 1, 'ản nh h');
PRAGMA user_version = 2;
"""  # which had "ảnh" in pieces of two


@pytest.mark.parametrize("damage", ["", "DELETE FROM state", "UPDATE state SET read_to = 'x'", OF_VERSION_2])
def test_an_index_that_cannot_be_used_is_made_anew(stores: Stores, path: Path, damage: str) -> None:
    chat = chat_of(stores, "ảnh")
    indexed(path).close()
    if damage:
        with closing(sqlite3.connect(index_path(path), isolation_level=None)) as raw:
            raw.executescript(damage)
    else:
        index_path(path).write_bytes(b"no database" * 1000)
    with closing(indexed(path)) as index:
        assert found(path, "ảnh", index) == [(chat, (1,))]
    assert index_path(path).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("number", [-(2**63), -1, 0, 2**31, 2**32, 2**40, 2**63 - 1])
def test_chats_and_messages_of_any_number_are_found(stores: Stores, path: Path, number: int) -> None:
    chat_of(stores, "other words")
    for chat, message in ((number, 1000), (7, number)):
        stores.database.execute("INSERT INTO chats (id, created_at, updated_at) VALUES (?, 1, 1)", (chat,))
        stores.database.execute(
            "INSERT INTO messages (id, chat_id, role, text, created_at) VALUES (?, ?, 'user', 'zebra', 1)",
            (message, chat),
        )
    with closing(indexed(path)) as index:
        assert {chat for chat, _ in found(path, "zebra", index)} == {number, 7}


def test_an_index_of_a_later_database_is_refused(stores: Stores, path: Path, tmp_path: Path) -> None:
    """Somebody has put an older copy in the place of the database: numbers that come again are other messages."""
    chat_of(stores, "one", "two", "three")
    with closing(indexed(path)) as index, closing(Database(tmp_path / "older.db")) as older:
        chat_of(Stores(older), "one")
        with pytest.raises(sqlite3.DatabaseError):
            index.catch_up(older)


def test_nothing_is_left_of_a_forgotten_index(path: Path, stores: Stores) -> None:
    chat_of(stores, "secret")
    indexed(path).close()
    assert list(path.parent.glob("chats-search*"))
    forget_index(path)
    assert list(path.parent.glob("chats-search*")) == []


def test_the_snippet_is_short_however_long_the_question_is(stores: Stores, path: Path) -> None:
    chat_of(stores, "x " * 400 + "**pin** in `hay`" + " y" * 400, "x " * 400 + "needle " * 400)
    with closing(ReadConnection(address_of(path))) as reader:
        (pin,) = Searching(reader).find("PIN")[0].matches
        (match,) = Searching(reader).find("needle " * 300)[0].matches
    assert "pin in hay" in pin.snippet
    assert 0.25 < pin.snippet.index("pin") / len(pin.snippet) < 0.5  # in its middle
    assert "needle needle" in match.snippet
    assert len(match.snippet) < 500


LONG = " ".join(f"w{number:03}x" for number in range(200))  # 1,199 characters


@pytest.fixture
def lengths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of what the index reads at once, where a slice is 100 characters."""
    read: list[int] = []

    def note(text: str, pieces_of: Callable[[str], set[str]] = search_index.pieces_of) -> set[str]:
        read.append(len(text))
        return pieces_of(text)

    monkeypatch.setattr(search_index, "_SLICE_CHARS", 100)
    monkeypatch.setattr(search_index, "_OVERLAP", 10)
    monkeypatch.setattr(search_index, "pieces_of", note)
    return read


def test_the_pieces_of_a_long_text_are_those_of_its_lines() -> None:
    """Wherever it is cut into parts."""
    lines = [TEXTS[number % len(TEXTS)] + " " * (number % 17) for number in range(900)]
    assert search_index.pieces_of("\n".join(lines)) >= set().union(*map(search_index.pieces_of, lines))
    word = "abcdefghijklmnopqrstuvwxyz" * 700
    assert search_index.pieces_of(word) == {(word * 2)[at : at + size] for at in range(26) for size in (1, 2, 3)}


def finds_all_of_long(path: Path, index: SearchIndex) -> bool:
    with closing(ReadConnection(address_of(path))) as reader:
        assert index.chats_not_read(reader) == set()
    return all(len(found(path, word, index)) == 1 for word in LONG.split())


def test_a_long_message_is_read_in_slices(stores: Stores, path: Path, lengths: list[int]) -> None:
    chat_of(stores, "before", LONG, "after")
    with closing(indexed(path)) as index:
        assert finds_all_of_long(path, index)
        assert len(found(path, "after", index)) == 1
    assert max(lengths) <= 117  # a message before it, and an overlap
    assert len(lengths) >= 12


def test_a_run_that_ends_in_a_long_message_leaves_it_to_the_next(
    stores: Stores, path: Path, lengths: list[int]
) -> None:
    chat_of(stores, "before", LONG)
    index = open_index(path)
    assert index is not None
    with closing(ReadConnection(address_of(path))) as reader, closing(index):
        assert all(index.catch_up(reader).more for _ in range(5))
    with closing(indexed(path)) as another:
        assert finds_all_of_long(path, another)


def test_a_change_of_a_long_message_is_covered_with_its_last_slice(
    stores: Stores, path: Path, lengths: list[int]
) -> None:
    chat_of(stores, "short")
    with closing(indexed(path)) as index, closing(ReadConnection(address_of(path))) as reader:
        stores.database.execute("UPDATE messages SET text = ?", (LONG,))
        steps = [index.catch_up(reader)]
        while not steps[-1].rewritten:
            steps.append(index.catch_up(reader))
        assert len(steps) == 12
        assert max(lengths) <= 110
        stores.forget_rewritten(steps[-1].rewritten)
        assert finds_all_of_long(path, index)


def test_a_close_waits_for_one_slice(path: Path, lengths: list[int]) -> None:
    owner = Owner(path)
    owner.open()
    owner.write(lambda stores: chat_of(stores, LONG))
    owner.storage.settle()
    assert owner.storage.close()
    assert len(lengths) == 1


def test_a_long_message_is_searched_in_slices_between_which_a_search_ends(
    stores: Stores, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded: list[int] = []

    def note(text: str, fold: Callable[[str], str] = folding.fold) -> str:
        folded.append(len(text))
        return fold(text)

    monkeypatch.setattr(folding, "_SLICE", 100)
    chat_of(stores, LONG)
    assert finds_all_of(path, LONG)
    monkeypatch.setattr(searching, "fold", note)
    with closing(ReadConnection(address_of(path))) as reader:
        Searching(reader, None, lambda _found: len(folded) < 8).find("w199x")
    assert 5 < len(folded) < 10
    assert max(folded) < 200


def finds_all_of(path: Path, words: str) -> bool:
    """With a snippet that has each."""
    with closing(ReadConnection(address_of(path))) as reader:
        return all(word in Searching(reader).find(word)[0].matches[0].snippet for word in words.split())


def files_with(path: Path, words: str) -> list[str]:
    return [file.name for file in path.parent.rglob("*") if file.is_file() and words.encode() in file.read_bytes()]


def test_a_long_search_tells_the_first_chats_meanwhile(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.storage.storage._REPORT_S", 0)
    for number in range(3):
        owner.write(partial(chat_with, number))
    told: list[list[str]] = []

    def note(chats: list[ChatSummary]) -> None:
        told.append([chat.title for chat in chats])

    owner.storage.search("word", 10, note, note)
    owner.settle()
    assert told == [["2"], ["2", "1"], ["2", "1", "0"]]


def test_a_newer_search_ends_one_that_reads_and_answers_alone(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the middle of reading a chat."""
    owner.write(lambda stores: chat_of(stores, *("words",) * 50))
    reads = threading.Barrier(2, timeout=60)
    texts = Searching._texts

    def held(*of: Any) -> Iterator[tuple[int, list[str]]]:
        monkeypatch.setattr(Searching, "_texts", texts)
        reads.wait()  # it reads
        reads.wait()  # another one is asked for
        for each in texts(*of):
            read.append(each)
            yield each

    monkeypatch.setattr(Searching, "_texts", held)
    answers: list[str] = []
    read: list[tuple[int, list[str]]] = []
    owner.storage.search("nowhere", 10, lambda _chats: answers.append("former"))
    reads.wait()
    owner.storage.search("words", 10, lambda _chats: answers.append("latter"))
    reads.wait()
    owner.settle()
    assert (answers, read) == (["latter"], [])


def test_a_search_goes_on_without_an_index_that_cannot_be_read(owner: Owner, path: Path) -> None:
    owner.write(lambda stores: chat_of(stores, "words", title="Chat"))
    owner.storage.settle()
    owner.settle()
    with closing(sqlite3.connect(index_path(path))) as raw:
        raw.execute("DROP TABLE pieces")
    assert [chat.title for chat in owner.search("words")] == ["Chat"]
    owner.settle()
    assert not index_path(path).exists()  # it is made anew


def chat_with(number: int, stores: Stores) -> int:
    return chat_of(stores, f"word{number} " * 40, title=f"{number}")


def filled(owner: Owner) -> bytes:
    """Chats that the index has read; the index as a run leaves it."""
    for number in range(30):
        owner.write(partial(chat_with, number))
    owner.storage.settle()
    owner.settle()
    owner.storage.close()
    return index_path(owner.storage.path).read_bytes()


def again(path: Path, query: str) -> list[str]:
    """What another run finds, before and after it has read what it has to."""
    owner = Owner(path)
    owner.open()
    found = [chat.title for chat in owner.search(query)]
    owner.storage.settle()
    owner.settle()
    assert [chat.title for chat in owner.search(query)] == found
    owner.storage.close()
    return found


def half_indexed(path: Path) -> KeptIndex:
    """Of a run that goes on."""
    with closing(Database(path)) as database, database.transaction():
        for number in range(30):
            chat_with(number, Stores(database))
    kept = KeptIndex(path)
    index = kept.get()
    assert index is not None
    with closing(ReadConnection(address_of(path))) as reader:
        assert index.catch_up(reader, batch=10).more
    return kept


def as_killed(path: Path, place: Path) -> Path:
    """The files as a run would leave them that was killed now."""
    shutil.copytree(path.parent, place)
    return place / path.name


def read_to(path: Path) -> int:
    """How far a next run finds the index that is there."""
    kept = KeptIndex(path)
    index = kept.get()
    assert index is not None
    number = int(index.database.rows("SELECT read_to FROM state")[0][0])
    kept.close()
    return number


def test_a_run_that_is_killed_leaves_what_it_has_read_to_the_next(path: Path, tmp_path: Path) -> None:
    kept = half_indexed(path)
    killed = as_killed(path, tmp_path / "killed")
    assert read_to(killed) == 10
    assert again(killed, "word3") == ["3"]
    assert again(killed, "word17") == ["17"]
    kept.close()
    assert read_to(path) == 10


def test_blocks_whose_reading_is_interrupted_are_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = half_indexed(path)
    index = kept.get()
    assert index is not None
    read = search_index._numbers

    def interrupted(connection: Connection, sql: str, values: Sequence[Any]) -> list[int]:
        if "chat_id" in sql:
            raise sqlite3.OperationalError("interrupted")
        return read(connection, sql, values)

    with monkeypatch.context() as patch:
        patch.setattr(search_index, "_numbers", interrupted)
        with pytest.raises(sqlite3.OperationalError):
            index.know_blocks()
    with closing(ReadConnection(address_of(path))) as reader:
        found = [Searching(reader, index).find(f"word{number}") for number in range(3, 10)]
    assert [[chat.title for chat in chats] for chats in found] == [[str(number)] for number in range(3, 10)]
    kept.close()


def test_a_locked_index_is_left_alone(owner: Owner, path: Path) -> None:
    filled(owner)
    other = sqlite3.connect(index_path(path), isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with closing(other):
        before = index_path(path).stat().st_ino
        assert open_index(path) is None
        assert again(path, "word17") == ["17"]
        assert index_path(path).stat().st_ino == before
    assert again(path, "word17") == ["17"]


def test_what_is_deleted_for_good_is_in_no_file(owner: Owner, path: Path) -> None:
    owner.write(lambda stores: chat_of(stores, "zanzibar", title="Gone"))
    owner.write(lambda stores: stores.unsent.put(1, "zanzibar too"))
    owner.write(lambda stores: stores.edits.put(Edit(1, EditKind.EDIT, MessageRole.USER, "zanzibar three")))
    owner.write(lambda stores: chat_of(stores, "other words", title="Kept"))
    owner.storage.settle()  # makes a copy and the index
    owner.settle()
    owner.write(lambda stores: stores.trash.put_chats([1]))
    owner.storage.forget(lambda trash: trash.empty(), owner.done, owner.done)
    owner.settle()
    assert not index_path(path).exists()
    assert files_with(path, "zanzibar") == []  # the log is among them
    owner.storage.close()
    assert files_with(path, "zanzibar") == []


def test_what_a_run_that_was_killed_has_deleted_for_good_leaves_the_copies_at_the_next_start(path: Path) -> None:
    first = Owner(path)
    first.open()
    first.write(lambda stores: chat_of(stores, "zanzibar", title="Gone"))
    first.storage.settle()
    first.settle()
    first.storage.close()
    with closing(Database(path)) as database:
        stores = Stores(database)
        stores.trash.put_chats([1])
        stores.trash.empty()
    assert files_with(path, "zanzibar")
    second = Owner(path)
    second.open()
    second.storage.forget_traces()
    second.settle()
    assert not second.storage.read.trash.leaves_traces
    second.storage.close()
    assert files_with(path, "zanzibar") == []
