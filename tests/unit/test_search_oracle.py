"""Whatever is done to the chats, a search finds what a look at every message finds, and in the order of the list."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import ChatSummary, ReplyStatus, ReplyText, Stores, portable
from app.storage.database import ReadConnection, address_of
from app.storage.search_index import open_index
from app.storage.searching import MATCHES, Searching
from engine import RequestStats
from tests.helpers.portable_chat import CHAT
from tests.helpers.samples import fair
from tests.helpers.storage_owner import Owner
from tests.unit.test_storage_search import chat_of

WORDS = (
    *("draft", "model", "초안", "모델", "推測", "a", "ab", "accept", "rate", "Äpfel", "草"),
    *("naïve", "C++", "ＦＵＬＬ", "각", unicodedata.normalize("NFD", "각각"), "ﾊﾝｶｸ", "ドラフトモデル", "草稿模型"),
)
QUERIES = (
    *WORDS,
    "draft model",
    "모델 초안",
    "raf",
    "ducks",
    "zebra",
    "q",
    "草 a",
    "three renamed",
    "full",
    "ハン",
    "모델 각",
    "zq",
)


class Person:
    """Does at random what can be done to chats."""

    def __init__(self, owner: Owner, seed: int) -> None:
        self._owner = owner
        self._random = random.Random(seed)
        self._marks: list[float] = []

    def act(self) -> None:
        acts = (self.begin, self.begin, self.answer, self.answer, self.delete, self.undo, self.rename, self.copy)
        more = (self.pin, self.bring, self.put_in_trash, self.rest, self.fail, self.forget, self.undo, self.write_on)
        self._random.choice((*acts, *more))()

    def _text(self) -> str:
        return " ".join(self._random.choices(WORDS, k=self._random.choice((1, 3, 300))))

    def _one(self, table: str, what: str = "1") -> int:
        rows = self._owner.storage.read.database.rows(f"SELECT id FROM {table} WHERE {what}")
        return int(self._random.choice(rows)["id"]) if rows else 0

    def begin(self) -> None:
        texts = [self._text() for _ in range(self._random.randrange(4))]
        self._owner.write(lambda stores: chat_of(stores, *texts, title=self._text()[:40]))

    def answer(self) -> None:
        if chat := self._one("chats", "deleted_at IS NULL"):
            parent = self._owner.storage.read.chats.leaf(chat) or 0
            self._owner.write(lambda stores: stores.messages.begin_reply(chat, parent, "Main", ""))

    def write_on(self) -> None:
        if reply := self._one("messages", "role = 'assistant'"):
            text = ReplyText(reply, self._text(), "", 0.0)
            end = (text, ReplyStatus.DONE, RequestStats(), None, None)
            self._owner.write(lambda stores: stores.messages.set_end(*end))

    def delete(self) -> None:
        if message := self._one("messages"):
            below = self._random.random() < 0.5
            self._mark(lambda stores: (stores.messages.delete_below if below else stores.messages.delete_one)(message))

    def put_in_trash(self) -> None:
        chats = [self._one("chats"), self._one("chats")]
        self._mark(lambda stores: stores.trash.put_chats(chats))

    def _mark(self, change: Callable[[Stores], float]) -> None:
        self._owner.write(lambda stores: self._marks.append(change(stores)))

    def undo(self) -> None:
        if self._marks:
            mark = self._marks.pop()
            self._owner.write(lambda stores: stores.trash.restore(mark))

    def rename(self) -> None:
        chat, title = self._one("chats"), f"renamed {self._text()[:20]}"
        self._owner.write(lambda stores: stores.chats.rename(chat, title))

    def pin(self) -> None:
        chat, pinned = self._one("chats"), self._random.random() < 0.5
        self._owner.write(lambda stores: stores.chats.pin(chat, pinned))

    def copy(self) -> None:
        if chat := self._one("chats", "deleted_at IS NULL"):
            titles = (f"Copy {number}" for number in range(10_000))
            self._owner.write(lambda stores: stores.chats.duplicate(chat, titles))

    def bring(self) -> None:
        """As an import does."""

        def add(stores: Stores) -> None:
            with stores.database.transaction():
                portable.add(stores, CHAT)

        self._owner.write(add)

    def fail(self) -> None:
        """A change that is undone halfway."""

        def half(stores: Stores) -> None:
            with stores.database.transaction():
                stores.database.execute("UPDATE chats SET title = 'zebra', deleted_at = NULL")
                stores.database.execute("SELECT no_such_function()")

        self._owner.write(half)

    def forget(self) -> None:
        if self._random.random() < 0.3:
            self._owner.storage.forget(lambda trash: trash.empty(), self._owner.done, self._owner.done)
            self._owner.settle()

    def rest(self) -> None:
        """The index reads on."""
        self._owner.storage.settle()
        self._owner.settle()


def folded(text: str) -> str:
    """As two spellings of a word are compared, said once more."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def looked_at(path: Path, query: str) -> list[tuple[int, tuple[int, ...]]]:
    """What a search is to find, from the rows alone."""
    words, phrase, result = {folded(word) for word in query.split()}, folded(" ".join(query.split())), []
    order = "ORDER BY pinned DESC, updated_at DESC, id DESC"
    with closing(ReadConnection(address_of(path))) as reader:
        for chat, title in reader.rows(f"SELECT id, title FROM chats WHERE deleted_at IS NULL {order}"):
            sql = "SELECT id, text FROM messages WHERE chat_id = ? AND deleted_at IS NULL ORDER BY id DESC"
            texts = {row["id"]: folded(row["text"]) for row in reader.rows(sql, (chat,))}
            if all(any(word in text for text in (folded(title), *texts.values())) for word in words):
                lacks = {
                    number: sum(word not in text for word in words) + (phrase not in text)
                    for number, text in texts.items()
                    if any(word in text for word in words)
                }
                result.append((chat, tuple(sorted(lacks, key=lambda number: lacks[number])[:MATCHES])))
    return result


def told(chats: Iterable[ChatSummary]) -> list[tuple[int, tuple[int, ...]]]:
    return [(chat.id, tuple(match.message_id for match in chat.matches)) for chat in chats]


@pytest.mark.expect_log("a change was not stored")
@pytest.mark.costly
@pytest.mark.parametrize("seed", fair(range(20), 0, 1, 2))
def test_a_search_finds_what_a_look_at_everything_finds(owner: Owner, path: Path, seed: int) -> None:
    person, choice = Person(owner, seed), random.Random(seed)
    results = 0
    for _ in range(80):
        person.act()
        query = choice.choice(QUERIES)
        chats = owner.search(query)
        assert told(chats) == looked_at(path, query), query
        results += len(chats)
    assert results > 50


@pytest.mark.expect_log("a change was not stored")
@pytest.mark.parametrize("most", [1, 3])
def test_words_in_very_many_blocks(owner: Owner, path: Path, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At first what is common is looked for without the index; when that finds too little, all of it is read."""
    monkeypatch.setattr("app.storage.search_index._SAMPLE", most)
    monkeypatch.setattr("app.storage.searching._MOST_IN_VAIN", 4 * most)
    person = Person(owner, most)
    for _ in range(60):
        person.act()
    person.rest()
    index = open_index(path)
    assert index is not None
    with closing(ReadConnection(address_of(path))) as reader, closing(index):
        for query in QUERIES:
            for limit in (3, -1):
                assert told(Searching(reader, index).find(query, limit)) == told(Searching(reader).find(query, limit))
