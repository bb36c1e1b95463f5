"""What a search takes in a large collection of chats: the real database, the real index. No MLX, no window."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path

from app.storage.database import ReadConnection, address_of
from app.storage.opening import Database
from app.storage.search_index import Progress, SearchIndex, index_path, open_index
from app.storage.searching import KnownChats, Searching
from app.view_models.conversation_list import PAGE_FOUND
from tests.bench.rows import Measure, Row
from tests.bench.setup import GUIDE, BenchSetup

CHATS, MESSAGES_EACH = 10_000, 10
PHRASES, PHRASES_EACH, PHRASE_BYTES = 2000, 6, 100  # of a language, and of a message of about 700 bytes
LIMIT = PAGE_FOUND  # as the sidebar asks at first
# One and two characters, words and parts of them, several words, and what nobody wrote.
QUERIES = (
    "e",
    "ai",
    "z",
    "draft",
    "DRAFT model",
    "eculat",
    "zqxj",
    "가",
    "뷁",
    "초안",
    "모델 추측",
    "추측",
    "없는낱말이다",
    "the",
    "the draft",
    "tokens per pass",
    "qu",
    "모델 draft",
    "draft zqxj",
)


def app_search_ms_p95(setup: BenchSetup, runs: int) -> Row:
    return _row("app.search_ms_p95", setup.folder / "chats.db", CHATS, runs)


def _row(name: str, path: Path, chats: int, runs: int) -> Row:
    _write_chats(path, chats)
    known = KnownChats()
    with closing(ReadConnection(address_of(path))) as reader, closing(_opened(path)) as index:
        started = time.thread_time()
        slices = _index(index, reader)
        indexed_s = time.thread_time() - started
        known.follow(reader)  # as the app does when it has time
        queries = (*QUERIES, *_rare(reader))
        rounds = [[_search_ms(reader, index, known, query) for query in queries] for _ in range(runs)]
        plain = sorted(_search_ms(reader, None, known, query) for query in ("zqxj", "없는낱말이다"))
    taken = sorted(statistics.median(of_query) for of_query in zip(*rounds, strict=True))
    worst = max(max(each) for each in rounds)
    share = index_path(path).stat().st_size / path.stat().st_size
    detail = (
        f"{chats:,} chats, {chats * MESSAGES_EACH:,} messages; CPU, {len(queries)} queries, each the median of {runs};"
        f" half under {taken[len(taken) // 2]:.0f}, the worst single one {worst:.0f};"
        f" index: {indexed_s:.0f} s once, half of its slices under {statistics.median(slices):.0f} ms,"
        f" the longest {max(slices):.0f}, {share:.1f} of the database; without it up to {plain[-1]:.0f}"
    )
    return Row(name, taken[int(len(taken) * 0.95)], "ms", "≤ 100", detail)


def _search_ms(reader: ReadConnection, index: SearchIndex | None, known: KnownChats, query: str) -> float:
    """Of the thread's CPU: a search works all the time that it takes, whatever else the machine does."""
    started = time.thread_time()
    Searching(reader, index, known=known).find(query, LIMIT)
    return 1000 * (time.thread_time() - started)


def _rare(reader: ReadConnection) -> Iterator[str]:
    """Words that stand in a message or two, and parts of them."""
    for number in (777, 55_555):
        row = reader.row("SELECT text FROM messages WHERE id = ?", (number,))
        assert row is not None
        word = max(row["text"].split(), key=len)
        yield from (word, word[1:4])


def _opened(path: Path) -> SearchIndex:
    index = open_index(path)
    assert index is not None
    return index


def _index(index: SearchIndex, reader: ReadConnection) -> list[float]:
    """Returns the milliseconds of each slice: a search that comes meanwhile waits for one."""
    slices, progress = [], Progress(more=True)
    while progress.more:
        started = time.thread_time()
        progress = index.catch_up(reader)
        slices.append(1000 * (time.thread_time() - started))
    return slices


def _write_chats(path: Path, chats: int) -> None:
    generator = random.Random(11)
    phrases = {language: _phrases(generator, language) for language in ("en", "ko")}
    with closing(Database(path)) as database, database.transaction():
        for chat in range(1, chats + 1):
            language = generator.choice(("en", "ko"))
            title = f"{generator.choice(phrases[language])[:30]} {_name(generator, language)}"
            sql = "INSERT INTO chats (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)"
            database.execute(sql, (chat, title, 1.6e9 + chat, 1.6e9 + generator.randrange(10**7)))
            database.connection.executemany(
                "INSERT INTO messages (chat_id, role, text, created_at) VALUES (?, 'user', ?, 1.6e9)",
                [(chat, _text(generator, phrases[language], language)) for _ in range(MESSAGES_EACH)],
            )


def _phrases(generator: random.Random, language: str) -> list[str]:
    words, weights = _vocabulary(language)
    sizes = {word: len(word.encode()) + 1 for word in words}
    phrases = []
    for _ in range(PHRASES):
        chosen: list[str] = []
        while sum(sizes[word] for word in chosen) < PHRASE_BYTES:
            chosen += generator.choices(words, cum_weights=weights)
        phrases.append(" ".join(chosen))
    return phrases


def _text(generator: random.Random, phrases: list[str], language: str) -> str:
    return " ".join(f"{phrase} {_name(generator, language)}" for phrase in generator.choices(phrases, k=PHRASES_EACH))


def _vocabulary(language: str) -> tuple[list[str], list[int]]:
    """The words of the guide and how often they come, added up."""
    facts = [
        json.loads(line) for path in sorted(GUIDE.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    counts: dict[str, int] = {}
    for fact in facts:
        for word in fact[language]["answer"].split():
            counts[word] = counts.get(word, 0) + 1
    return list(counts), list(accumulate(counts.values()))


def _name(generator: random.Random, language: str) -> str:
    """A word that hardly any other message has, as names and numbers are."""
    first, count, length = (0xAC00, 11_000, 3) if language == "ko" else (97, 26, 8)
    return "".join(chr(first + generator.randrange(count)) for _ in range(length))


SEARCHING: tuple[Measure, ...] = (app_search_ms_p95,)
