"""Finding chats by the words in their titles and messages.

A search index says which chats may have the words (`search_index`); what it says is looked up in the messages
themselves, so that a result is never made of anything but what is stored. Without an index every chat is looked at.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from app.markup.folding import fold, occurrences
from app.storage.attachments import searched_texts
from app.storage.codec import as_text, as_title
from app.storage.database import Connection
from app.storage.known_chats import KnownChats
from app.storage.records import ChatSummary, Match
from app.storage.search_index import SearchIndex

SNIPPET_BEFORE = 60
SNIPPET_AFTER = 120
_LONGEST_FOUND = 200  # characters of what was found that a snippet has
MATCHES = 3  # of one chat
ALL = -1  # as SQLite says it
IN_ORDER = "ORDER BY pinned DESC, updated_at DESC, id DESC"
_MOST_BLOCKS = 20_000  # that are read of the index at first: who has a word in more of them is soon found by looking
_MOST_MISSES = 10  # chats that are looked at in vain before all that the index knows is read
_MARKS = re.compile(r"\*\*|`+|(?:^|(?<=\n))#{1,6} ")
_LATEST_S = 4e10  # a later moment has no date


@dataclass(slots=True)
class _Word:
    asked: str
    folded: str
    blocks: dict[int, list[int]] | None = None  # by chat, those that may have it in a message; None: any may
    titled: set[int] = field(default_factory=set)  # chats, where blocks are known


class Searching:
    def __init__(
        self,
        reader: Connection,
        index: SearchIndex | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        known: KnownChats | None = None,
    ) -> None:
        self._db = reader
        self._index = index
        self._cancelled = cancelled
        self._known = known or KnownChats()
        self._not_read: set[int] = set()
        self._misses = 0  # chats that were looked at in vain

    def find(self, query: str, limit: int = ALL) -> list[ChatSummary]:
        """The chats whose title or messages have all words of the query, in the order of the list."""
        self._known.follow(self._db)
        self._not_read = set() if self._index is None else self._index.chats_not_read(self._db)
        asked = {fold(word): word for word in reversed(query.split())}
        words = [_Word(asked[folded], folded) for folded in reversed(asked)]
        found: list[ChatSummary] = []
        self._misses = 0
        for chat_id in self._likely(words):
            if self._cancelled() or len(found) == limit:
                break
            here = self._looked_up(chat_id, words, query)
            self._misses += not here
            found += here
        return found

    def _likely(self, words: Sequence[_Word]) -> Iterator[int]:
        """The chats that may have all words; first by what is quickly known."""
        self._ask_index(words, _MOST_BLOCKS)
        rest, all_asked = self._with_all(words), False
        for chat_id in self._known.in_order(rest):
            if self._misses >= _MOST_MISSES and not all_asked:
                self._ask_index(words)
                rest, all_asked = self._with_all(words), True
            if rest is None or chat_id in rest:
                yield chat_id

    def _ask_index(self, words: Sequence[_Word], most: int = ALL) -> None:
        for word in words:
            if self._index is not None and word.blocks is None:
                word.blocks = self._index.blocks_with(word.folded, most)
                word.titled = set() if word.blocks is None else self._known.titled(word.folded)

    def _with_all(self, words: Sequence[_Word]) -> set[int] | None:
        """The chats that may have all of these; None: any may."""
        each = [word.blocks.keys() | word.titled | self._not_read for word in words if word.blocks is not None]
        return set.intersection(*each) if each else None

    def _looked_up(self, chat_id: int, words: Sequence[_Word], query: str) -> list[ChatSummary]:
        """The chat with what was found in it, if it has all words."""
        row = self._db.row("SELECT * FROM chats WHERE id = ?", (chat_id,))
        if row is None:
            return []
        title = fold(as_text(row["title"]))
        missing = {word.folded for word in words if word.folded not in title}
        best = self._best_messages(chat_id, words, fold(" ".join(query.split())), missing)
        if missing:
            return []
        return [summary_of(row, tuple(_match(number, texts, query, words) for number, texts in best))]

    def _best_messages(
        self, chat_id: int, words: Sequence[_Word], phrase: str, missing: set[str]
    ) -> list[tuple[int, list[str]]]:
        """The latest messages with the phrase, then with most of the words; takes what they have out of `missing`."""
        found: list[tuple[int, int, list[str]]] = []  # how much it lacks, message, texts
        whole = 0
        for number, texts in self._texts(chat_id, words):
            folded = fold("\n".join(texts))
            present = [word.folded for word in words if word.folded in folded]
            if present:
                has_phrase = phrase in folded
                found.append((len(words) - len(present) + (not has_phrase), number, texts))
                missing.difference_update(present)
                whole += has_phrase
            if whole == MATCHES and not missing:
                break
        return [(number, texts) for _lacks, number, texts in sorted(found, key=lambda each: each[0])[:MATCHES]]

    def _texts(self, chat_id: int, words: Sequence[_Word]) -> Iterator[tuple[int, list[str]]]:
        """What is searched of the messages that may have any of the words, the newest first."""
        sql = "SELECT id, text, attachments FROM messages WHERE {} AND deleted_at IS NULL ORDER BY id DESC"
        if self._index is None or chat_id in self._not_read or any(word.blocks is None for word in words):
            rows: Iterable[sqlite3.Row] = self._db.connection.execute(sql.format("chat_id = ?"), (chat_id,))
        else:
            blocks = sorted({block for word in words for block in (word.blocks or {}).get(chat_id, ())}, reverse=True)
            within = sql.format("id BETWEEN ? AND ? AND +chat_id = ?")
            places = (self._index.messages_of(block) for block in blocks)
            rows = chain.from_iterable(self._db.connection.execute(within, (*place, chat_id)) for place in places)
        for row in rows:
            yield row["id"], searched_texts(as_text(row["text"]), row["attachments"])


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
    start, stop = max(0, first - SNIPPET_BEFORE), min(last, first + _LONGEST_FOUND) + SNIPPET_AFTER
    piece = " ".join(_without_marks(text[start:stop], word).split())
    return ("…" if start else "") + piece + ("…" if stop < len(text) else "")
