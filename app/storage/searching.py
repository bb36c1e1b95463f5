"""Finding chats by the words in their titles and messages.

A search index says which chats may have the words (`search_index`); what it says is looked up in the messages
themselves, so that a result is never made of anything but what is stored. Without an index every chat is looked at.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.markup.folding import fold, occurrences
from app.storage.attachments import searched_texts
from app.storage.codec import as_text, as_title
from app.storage.database import Connection
from app.storage.records import ChatSummary, Match
from app.storage.search_index import SearchIndex

SNIPPET_BEFORE = 60
SNIPPET_AFTER = 120
MATCHES = 3  # of one chat
ALL = -1  # as SQLite says it
IN_ORDER = "ORDER BY pinned DESC, updated_at DESC, id DESC"
_LINE_END, _TAB = "\x1e", "\x1f"
_TITLES = """
SELECT group_concat(id || char(31) || replace(ifnull(title, ''), char(30), ' '), char(30)) FROM chats NOT INDEXED
"""
_ORDER = f"SELECT group_concat(id) FROM (SELECT id FROM chats WHERE deleted_at IS NULL {IN_ORDER})"
_MARKS = re.compile(r"\*\*|`+|(?:^|(?<=\n))#{1,6} ")
_LATEST_S = 4e10  # a later moment has no date


@dataclass(frozen=True, slots=True)
class _Word:
    asked: str
    folded: str
    chats: set[int] | None  # those that may have it in a message; None: any may


class Searching:
    def __init__(
        self, reader: Connection, index: SearchIndex | None = None, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._db = reader
        self._index = index
        self._cancelled = cancelled

    def find(self, query: str, limit: int = ALL) -> list[ChatSummary]:
        """The chats whose title or messages have all words of the query, in the order of the list."""
        not_read = set() if self._index is None else self._index.chats_not_read(self._db)
        asked = {fold(word): word for word in reversed(query.split())}
        words = [self._word(asked[folded], not_read) for folded in reversed(asked)]
        titles = fold(self._text(_TITLES))
        likely = [word.chats | _titled(titles, word.folded) for word in words if word.chats is not None]
        found: list[ChatSummary] = []
        for chat_id in map(int, filter(None, self._text(_ORDER).split(","))):
            if all(chat_id in chats for chats in likely):
                if self._cancelled() or len(found) == limit:
                    break
                found += self._looked_up(chat_id, words, query)
        return found

    def _word(self, asked: str, not_read: set[int]) -> _Word:
        folded = fold(asked)
        chats = None if self._index is None else self._index.chats_with(folded)
        return _Word(asked, folded, None if chats is None else chats | not_read)

    def _text(self, sql: str) -> str:
        row = self._db.row(sql)
        return "" if row is None else as_text(row[0])

    def _looked_up(self, chat_id: int, words: Sequence[_Word], query: str) -> list[ChatSummary]:
        """The chat with what was found in it, if it has all words."""
        row = self._db.row("SELECT * FROM chats WHERE id = ?", (chat_id,))
        if row is None:
            return []
        title = fold(as_text(row["title"]))
        missing = {word.folded for word in words if word.folded not in title}
        best: list[tuple[int, list[str]]] = []
        if missing or any(word.chats is None or chat_id in word.chats for word in words):
            best = self._best_messages(chat_id, [word.folded for word in words], fold(" ".join(query.split())), missing)
        if missing:
            return []
        return [summary_of(row, tuple(_match(number, texts, query, words) for number, texts in best))]

    def _best_messages(
        self, chat_id: int, words: Sequence[str], phrase: str, missing: set[str]
    ) -> list[tuple[int, list[str]]]:
        """The latest messages with the phrase, then with most of the words; takes what they have out of `missing`."""
        found: list[tuple[int, int, list[str]]] = []  # how much it lacks, message, texts
        whole = 0
        for number, texts in self._texts(chat_id):
            folded = fold("\n".join(texts))
            present = [word for word in words if word in folded]
            if present:
                has_phrase = phrase in folded
                found.append((len(words) - len(present) + (not has_phrase), number, texts))
                missing.difference_update(present)
                whole += has_phrase
            if whole == MATCHES and not missing:
                break
        return [(number, texts) for _lacks, number, texts in sorted(found, key=lambda each: each[0])[:MATCHES]]

    def _texts(self, chat_id: int) -> Iterator[tuple[int, list[str]]]:
        """What is searched of each message, the newest first."""
        sql = "SELECT id, text, attachments FROM messages WHERE chat_id = ? AND deleted_at IS NULL ORDER BY id DESC"
        for row in self._db.connection.execute(sql, (chat_id,)):
            yield row["id"], searched_texts(as_text(row["text"]), row["attachments"])


def _titled(titles: str, word: str) -> set[int]:
    """The chats with the word in their titles: it is looked for in the text of all, which is a quarter of the time."""
    found: set[int] = set()
    at = titles.find(word)
    while at >= 0:
        line, end = titles.rfind(_LINE_END, 0, at) + 1, titles.find(_LINE_END, at)
        number, _, title = titles[line : end if end >= 0 else None].partition(_TAB)
        if word in title:  # and not in the number alone
            found.add(int(number))
        at = titles.find(word, end + 1) if end >= 0 else -1
    return found


def summary_of(row: sqlite3.Row, matches: tuple[Match, ...] = ()) -> ChatSummary:
    updated_at = row["updated_at"]
    when = updated_at if isinstance(updated_at, float) and 0 < updated_at < _LATEST_S else 0.0
    folder_id = row["folder_id"] if isinstance(row["folder_id"], int) else None
    return ChatSummary(
        row["id"], as_title(row["title"]), row["pinned"] == 1, when, matches, folder_id, row["unseen"] == 1
    )


def _match(message_id: int, texts: Sequence[str], query: str, words: Sequence[_Word]) -> Match:
    """Where all of the words stand together, in the message before its attachments; else where any stands."""
    whole = " ".join(query.split())
    folded = [fold(text) for text in texts]
    found: tuple[str, ...] = (whole,)
    place = next((place for place, text in enumerate(folded) if fold(whole) in text), None)
    if place is None:
        place = next(place for place, text in enumerate(folded) if any(word.folded in text for word in words))
        found = tuple(word.asked for word in words if word.folded in folded[place])
    return Match(message_id, _around(texts[place], found[0]), found, place - 1 if place else None)


def _without_marks(text: str, word: str) -> str:
    """Markdown's own signs tell nothing in a line, unless they are what is searched for."""
    return text if _MARKS.search(word) else _MARKS.sub("", text)


def _around(text: str, word: str) -> str:
    """One line with the word in its middle."""
    first, last = next(occurrences(text, word), (0, 0))
    start, stop = max(0, first - SNIPPET_BEFORE), last + SNIPPET_AFTER
    piece = " ".join(_without_marks(text[start:stop], word).split())
    return ("…" if start else "") + piece + ("…" if stop < len(text) else "")
