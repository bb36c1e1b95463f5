"""Finding chats by the words in their titles and messages.

A search index says which chats may have the words (`search_index`); these are looked up in the messages, so that
results show only what is stored. Without an index every chat is read. The order and titles of all chats are in memory
(`KnownChats`).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.markup.folding import TextSpan, fold, occurrences, overlap_for, slices
from app.storage.codec import LATEST_S, as_text, as_title
from app.storage.database import Connection
from app.storage.parts import searched_texts
from app.storage.records import ChatSummary, Match
from app.storage.search_index import SearchIndex

SNIPPET_BEFORE = 60
SNIPPET_AFTER = 120
_LONGEST_FOUND = 200  # longest found text in a snippet, in characters
SHOWN = 3  # results of one chat
MATCHES = SHOWN + 2  # those that are looked for: more than one more takes a row that says so
ALL = -1  # SQLite's "no limit"
IN_ORDER = "ORDER BY pinned DESC, updated_at DESC, id DESC"
_MOST_IN_VAIN = 200  # messages read before the index is asked for common words, which takes as long
_CREDIT = 10  # further ones for each chat found: many words are only in half of the chats
_MARKS = re.compile(r"\*\*|`+|(?:^|(?<=\n))#{1,6} ")
_COLUMNS = "SELECT id, title, pinned, updated_at FROM chats WHERE deleted_at IS NULL"

_Key = tuple[float, float, int]  # (pinned, time, id): the list's sort key, descending


@dataclass(slots=True)
class _Word:
    asked: str
    folded: str
    blocks: Sequence[int] | None = None  # that may have the word; None: any


@dataclass(frozen=True, slots=True)
class _Looked:
    """A message as it was looked through."""

    message_id: int
    texts: list[str]
    there: list[dict[str, TextSpan]]  # of each text: the range in which a folded word is first


class Searching:
    def __init__(
        self,
        reader: Connection,
        index: SearchIndex | None = None,
        goes_on: Callable[[Sequence[ChatSummary]], bool] = lambda _found: True,
        known: KnownChats | None = None,
    ) -> None:
        """`goes_on` gets the results so far before each chat, and an empty sequence within one."""
        self._db = reader
        self._index = index
        self._goes_on = goes_on
        self._known = known or KnownChats()
        self._not_read: set[int] = set()
        self._rest: set[int] | None = None  # chats that may have all words; None: any
        self._knows_all = False  # the index was also asked for common words
        self._in_vain = 0  # messages read without a result

    def find(self, query: str, limit: int = ALL) -> list[ChatSummary]:
        """The chats whose title or messages have all words of the query, in the order of the list."""
        self._known.follow(self._db)
        self._not_read = set() if self._index is None else self._index.chats_not_read(self._db)
        asked = {fold(word): word for word in reversed(query.split())}
        words = [_Word(asked[folded], folded) for folded in reversed(asked)]
        self._rest = None
        self._knows_all = self._index is None
        self._in_vain = 0
        self._ask_index(words, if_rare=True)
        found: list[ChatSummary] = []
        for chat_id in self._likely():
            if len(found) == limit or not self._goes_on(found):
                break
            found += self._looked_up(chat_id, words, query)
        return found

    def _likely(self) -> Iterator[int]:
        """Chats that may match; fewer as more of the words was looked up."""
        for chat_id in self._known.in_order(self._rest):
            if self._rest is None or chat_id in self._rest:
                yield chat_id

    def _ask_index(self, words: Sequence[_Word], if_rare: bool = False) -> None:
        if self._index is None or self._knows_all:
            return
        self._knows_all = not if_rare
        for word in words:
            if word.blocks is None and (blocks := self._index.blocks_with(word.folded, if_rare)) is not None:
                word.blocks = blocks
                chats = self._index.chats_of(blocks)
                chats |= self._known.titled(word.folded)
                chats |= self._not_read
                self._rest = chats if self._rest is None else self._rest & chats

    def _looked_up(self, chat_id: int, words: Sequence[_Word], query: str) -> list[ChatSummary]:
        """The chat with its matches, if it has all words."""
        row = self._db.row("SELECT * FROM chats WHERE id = ?", (chat_id,))
        if row is None:
            return []
        title = fold(as_text(row["title"]))
        missing = {word.folded for word in words if word.folded not in title}
        in_vain = self._in_vain
        best = self._best_messages(chat_id, words, fold(" ".join(query.split())), missing)
        if missing:
            return []
        self._in_vain = in_vain - _CREDIT
        return [summary_of(row, tuple(_match(looked, query, words) for looked in best))]

    def _best_messages(self, chat_id: int, words: Sequence[_Word], phrase: str, missing: set[str]) -> list[_Looked]:
        """The latest messages with the phrase, then with most of the words, which are removed from `missing`."""
        found: list[tuple[int, _Looked]] = []  # with the number of lacking words
        wanted = {phrase, *(word.folded for word in words)}
        whole = 0
        for number, texts in self._texts(chat_id, words):
            there = [self._found_in(text, wanted) for text in texts]
            present = [word.folded for word in words if any(word.folded in each for each in there)]
            if present:
                has_phrase = any(phrase in each for each in there)
                found.append((len(words) - len(present) + (not has_phrase), _Looked(number, texts, there)))
                found = sorted(found, key=lambda each: each[0])[:MATCHES]
                missing.difference_update(present)
                whole += has_phrase
            if whole == MATCHES and not missing:
                break
        return [looked for _lacks, looked in found]

    def _found_in(self, text: str, folded: Iterable[str]) -> dict[str, TextSpan]:
        """Which of these words the text has, and the range that has it first. A search that ends stops in between."""
        found: dict[str, TextSpan] = {}
        missing = list(folded)
        for start, end in slices(text, max(map(overlap_for, missing))):
            if start and not self._goes_on(()):
                break
            piece = fold(text[start:end])
            found |= {word: (start, end) for word in missing if word in piece}
            missing = [word for word in missing if word not in found]
            if not missing:
                break
        return found

    def _texts(self, chat_id: int, words: Sequence[_Word]) -> Iterator[tuple[int, list[str]]]:
        """Searched texts of messages that may have any of the words, the newest first."""
        rows = self._db.rows("SELECT id FROM messages WHERE chat_id = ? AND deleted_at IS NULL", (chat_id,))
        numbers: Iterable[int] = sorted((row[0] for row in rows), reverse=True)
        self._in_vain += len(rows)
        if self._in_vain > _MOST_IN_VAIN:
            self._ask_index(words)
        blocks = [word.blocks for word in words if word.blocks is not None]
        if self._index is not None and chat_id not in self._not_read and len(blocks) == len(words):
            numbers = self._index.within(blocks, numbers)
        for number in numbers:
            if not self._goes_on(()):
                return
            if row := self._db.row("SELECT text, parts FROM messages WHERE id = ?", (number,)):
                yield number, searched_texts(as_text(row["text"]), row["parts"])


def summary_of(row: sqlite3.Row, matches: tuple[Match, ...] = ()) -> ChatSummary:
    updated_at = row["updated_at"]
    when = updated_at if isinstance(updated_at, float) and 0 < updated_at < LATEST_S else 0.0
    folder_id = row["folder_id"] if isinstance(row["folder_id"], int) else None
    return ChatSummary(
        row["id"], as_title(row["title"]), row["pinned"] == 1, when, matches, folder_id, row["unseen"] == 1
    )


def _match(looked: _Looked, query: str, words: Sequence[_Word]) -> Match:
    """The text with all words, message before attachments; else the one with any."""
    whole = " ".join(query.split())
    found: tuple[str, ...] = (whole,)
    place = next((place for place, there in enumerate(looked.there) if fold(whole) in there), None)
    if place is None:
        place = next(place for place, there in enumerate(looked.there) if there)
        found = tuple(word.asked for word in words if word.folded in looked.there[place])
    within = looked.there[place][fold(found[0])]
    return Match(looked.message_id, _around(looked.texts[place], found[0], within), found, place - 1 if place else None)


def _without_marks(text: str, word: str) -> str:
    """The line without Markdown's signs, unless the search is for them."""
    return text if _MARKS.search(word) else _MARKS.sub("", text)


def _around(text: str, word: str, within: TextSpan) -> str:
    first, last = (within[0] + place for place in next(occurrences(text[within[0] : within[1]], word), (0, 0)))
    start = max(0, first - SNIPPET_BEFORE)
    stop = min(last, first + _LONGEST_FOUND) + SNIPPET_AFTER
    piece = " ".join(_without_marks(text[start:stop], word).split())
    return ("…" if start else "") + piece + ("…" if stop < len(text) else "")


class KnownChats:
    """Order and titles of all chats in memory, read again after changes; on the searcher's thread."""

    def __init__(self) -> None:
        self._is_current = False
        self._places: dict[int, int] = {}  # in the list
        self._titles: dict[int, str] = {}  # folded

    def note_change(self) -> None:
        """Something was written; any thread."""
        self._is_current = False

    def follow(self, reader: Connection) -> None:
        """Read all again if something has changed."""
        if self._is_current:
            return
        self._is_current = True  # set first: a later change is read the next time
        try:
            rows = reader.rows(_COLUMNS)
        except BaseException:
            self._is_current = False
            raise
        self._titles = {row["id"]: fold(as_text(row["title"])) for row in rows}
        in_order = sorted(map(_key, rows), reverse=True)
        self._places = {number: place for place, (_pinned, _updated_at, number) in enumerate(in_order)}

    def titled(self, folded: str) -> set[int]:
        """Chats with the words in their titles."""
        return {number for number, title in self._titles.items() if folded in title}

    def in_order(self, chats: set[int] | None = None) -> Iterable[int]:
        """Chats in the list's order; of these, or all."""
        if chats is None:
            return self._places
        if len(chats) > len(self._places) // 10:  # most searches need only the first few
            return (number for number in self._places if number in chats)
        return sorted(chats & self._places.keys(), key=self._places.__getitem__)


def _key(row: sqlite3.Row) -> _Key:
    """The sort key; damaged values come last."""
    number, _title, pinned, updated_at = row
    is_sound = isinstance(pinned, int) and isinstance(updated_at, float)
    return (pinned, updated_at, number) if is_sound else (-1, 0.0, number)
