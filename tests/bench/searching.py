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

from app.storage.database import Reader, address_of
from app.storage.opening import Database
from app.storage.search_index import Progress, SearchIndex, index_path, open_index
from app.storage.searching import Searching
from app.view_models.conversation_list import PAGE_FOUND
from tests.bench.rows import Measure, Row
from tests.bench.setup import GUIDE, BenchSetup

CHATS, MESSAGES_EACH = 10_000, 10
BYTES_EACH = 700
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
)


def search_ms_p95(setup: BenchSetup, runs: int) -> Row:
    path = setup.folder / "chats.db"
    _write_chats(path)
    with closing(Reader(address_of(path))) as reader:
        started = time.thread_time()
        index = _indexed(path, reader)
        indexed_s = time.thread_time() - started
        with closing(index):
            queries = (*QUERIES, *_rare(reader))
            rounds = [[_search_ms(reader, index, query) for query in queries] for _ in range(runs)]
            plain = sorted(_search_ms(reader, None, query) for query in ("zqxj", "없는낱말이다"))
    taken = sorted(statistics.median(of_query) for of_query in zip(*rounds, strict=True))
    worst = max(max(each) for each in rounds)
    share = index_path(path).stat().st_size / path.stat().st_size
    detail = (
        f"{CHATS:,} chats, {CHATS * MESSAGES_EACH:,} messages; CPU, {len(queries)} queries, each the median of {runs};"
        f" half under {taken[len(taken) // 2]:.0f}, the worst single one {worst:.0f};"
        f" index: {indexed_s:.0f} s once, {share:.1f} of the database; without it up to {plain[-1]:.0f}"
    )
    return Row("app.search_ms_p95", taken[int(len(taken) * 0.95)], "ms", "≤ 100", detail)


def _search_ms(reader: Reader, index: SearchIndex | None, query: str) -> float:
    """Of the thread's CPU: a search works all the time that it takes, whatever else the machine does."""
    started = time.thread_time()
    Searching(reader, index).find(query, LIMIT)
    return 1000 * (time.thread_time() - started)


def _rare(reader: Reader) -> Iterator[str]:
    """Words that stand in a message or two, and parts of them."""
    for number in (777, 55_555):
        row = reader.row("SELECT text FROM messages WHERE id = ?", (number,))
        assert row is not None
        word = max(row["text"].split(), key=len)
        yield from (word, word[1:4])


def _indexed(path: Path, reader: Reader) -> SearchIndex:
    index = open_index(path)
    assert index is not None
    progress = Progress(more=True)
    while progress.more:
        progress = index.catch_up(reader)
    return index


def _write_chats(path: Path) -> None:
    generator = random.Random(11)
    words = {language: _vocabulary(language) for language in ("en", "ko")}
    with closing(Database(path)) as database, database.transaction():
        for chat in range(1, CHATS + 1):
            language = generator.choice(("en", "ko"))
            title = " ".join(_words(generator, words[language], language, 40))
            sql = "INSERT INTO chats (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)"
            database.execute(sql, (chat, title, 1.6e9 + chat, 1.6e9 + generator.randrange(10**7)))
            texts = [" ".join(_words(generator, words[language], language, BYTES_EACH)) for _ in range(MESSAGES_EACH)]
            database.connection.executemany(
                "INSERT INTO messages (chat_id, role, text, created_at) VALUES (?, 'user', ?, 1.6e9)",
                [(chat, text) for text in texts],
            )


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


def _words(generator: random.Random, vocabulary: tuple[list[str], list[int]], language: str, size: int) -> list[str]:
    words, weights = vocabulary
    chosen: list[str] = []
    while sum(len(word.encode()) + 1 for word in chosen) < size:
        chosen += generator.choices(words, cum_weights=weights, k=12)
        chosen.append(_name(generator, language))
    return chosen


def _name(generator: random.Random, language: str) -> str:
    """A word that hardly any other message has, as names and numbers are."""
    first, count, length = (0xAC00, 11_000, 3) if language == "ko" else (97, 26, 8)
    return "".join(chr(first + generator.randrange(count)) for _ in range(length))


SEARCHING: tuple[Measure, ...] = (search_ms_p95,)
