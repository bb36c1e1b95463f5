"""A profile with chats for the app rows: what people ask and models answer, the same each time."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import count
from pathlib import Path

from app.storage import Database
from app.system.paths import Paths

SHORT_CHAT, LONG_CHAT = 1, 2
MESSAGES = {SHORT_CHAT: 500, LONG_CHAT: 2_000}

_WORDS = "the draft model guesses a few tokens ahead and main checks them all in one pass, never slower"
_KOREAN = "초안 모델이 몇 토큰을 미리 추측하고 메인 모델이 한 번에 확인해요 그래서 느려지지 않아요"
_CODE = (
    "def measure(rounds: int) -> float:",
    '    """The time of one round, in seconds."""',
    "    total = 0.0",
    "    for number in range(rounds):  # one at a time",
    "        total += take('round', number) / 3.5",
    "    return total / rounds",
    "",
)


def reply_text(chars: int, seed: int = 1) -> str:
    """Markdown as models write it, a third of it code: paragraphs, lists, tables, formulas, Korean."""
    generator = random.Random(seed)
    blocks: list[str] = []
    length = 0
    for number in count(1):
        block = _block(generator, number)
        blocks.append(block)
        length += len(block) + 2
        if length >= chars:
            return "\n\n".join(blocks)[:chars]
    raise AssertionError


def _block(generator: random.Random, number: int) -> str:
    kinds = (_paragraph, _code, _list, _paragraph, _table, _code, _korean, _heading, _paragraph, _code, _formula)
    return kinds[number % len(kinds)](generator)


def _sentence(generator: random.Random, words: str, most: int = 18) -> str:
    return " ".join(generator.choice(words.split()) for _ in range(generator.randint(5, most)))


def _paragraph(generator: random.Random) -> str:
    sentences = [_sentence(generator, _WORDS).capitalize() + "." for _ in range(generator.randint(2, 6))]
    return f"{' '.join(sentences)} **Bold words** and `code` beside *others*."


def _korean(generator: random.Random) -> str:
    return ". ".join(_sentence(generator, _KOREAN) for _ in range(4)) + ". **수락률(accept rate)**은 높아요."


def _code(generator: random.Random) -> str:
    return "```python\n" + "\n".join(_CODE * generator.randint(1, 5)) + "\n```"


def _list(generator: random.Random) -> str:
    return "\n".join(f"{number}. {_sentence(generator, _WORDS)}" for number in range(1, generator.randint(4, 9)))


def _table(generator: random.Random) -> str:
    rows = [f"| {_sentence(generator, _WORDS, 6)} | {generator.randint(1, 9999)} |" for _ in range(6)]
    return "\n".join(["| what | how many |", "|---|---:|", *rows])


def _heading(generator: random.Random) -> str:
    return f"## {_sentence(generator, _WORDS, 7)}"


def _formula(generator: random.Random) -> str:
    return f"$$\n\\frac{{{generator.randint(1, 9)}}}{{n}} \\sum_i x_i\n$$"


def fill(profile: Path) -> None:
    path = Paths.for_user(profile).database
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(Database(path)) as database, database.transaction():
        first = 1
        for chat, messages in MESSAGES.items():
            last = first + messages - 1
            database.connection.execute(
                "INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (?, ?, 1, ?, ?)",
                (chat, f"{messages} messages", 1e9 + chat, last),
            )
            database.connection.executemany(
                "INSERT INTO messages (id, chat_id, parent_id, role, text, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                (_row(chat, number, first) for number in range(first, last + 1)),
            )
            first = last + 1


def _row(chat: int, number: int, first: int) -> tuple[object, ...]:
    asks = (number - first) % 2 == 0
    text = f"Question {number}: what does the draft do?" if asks else reply_text(1600, seed=number)
    return number, chat, number - 1 if number > first else None, "user" if asks else "assistant", text, float(number)
