"""Arguments and results of tool calls as plain text and tables. They come from models and servers. No Qt.

Nothing in them is a link. Where the user decides by what is shown, characters that cannot be seen are named.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from markdown_it.token import Token

from app.markup import json_text
from app.markup.block import Block, BlockKind
from app.markup.unseen import is_unseen

_MOST_PARSED = 200_000  # characters: longer JSON is shown as it is
_MOST_ROWS = 200
_MOST_COLUMNS = 12
_MOST_CELL = 200  # characters
_NOT_PLAIN = re.compile(r"[^ -~\n\t]")
_IN_EMOJI = frozenset("\u200d\ufe0f")


def readable(arguments: str) -> str:
    """The arguments, on lines of their own where they are JSON."""
    value = _parsed(arguments)
    return arguments if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def named_values(arguments: str) -> list[tuple[str, str]]:
    """Each argument with its name; all of it without a name where it is no object, or names one twice."""
    pairs: list[tuple[str, Any]] = []

    def take(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal pairs
        pairs = found  # the outermost object comes last
        result = dict(found)
        if len(result) < len(found):
            raise ValueError
        return result

    try:
        value = json.loads(arguments, object_pairs_hook=take)
    except (ValueError, RecursionError):
        return [("", arguments)]
    if not isinstance(value, dict):
        return [("", arguments)]
    return [(name, _as_text(each)) for name, each in pairs]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _parsed(text: str) -> Any:
    """None: it is no JSON, or too long."""
    try:
        return json.loads(text) if len(text) <= _MOST_PARSED else None
    except (ValueError, RecursionError):
        return None


def with_unseen(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces; True for the name of a character that cannot be seen, as "‹U+202E›"."""
    start = 0
    for found in _NOT_PLAIN.finditer(text):
        at = found.start()
        if not _is_unseen(text, at):
            continue
        if at > start:
            yield text[start:at], False
        yield f"‹U+{ord(text[at]):04X}›", True
        start = at + 1
    if start < len(text) or not text:
        yield text[start:], False


def _is_unseen(text: str, at: int) -> bool:
    char = text[at]
    if char in _IN_EMOJI and at and unicodedata.category(text[at - 1]) in ("So", "Sk", "Mn"):
        return False
    is_space = unicodedata.category(char) == "Zs" and char != "\u3000"
    return is_space or is_unseen(char)


def table_of_json(text: str) -> Block | None:
    """A list of flat objects as a table, with a column for each name; None for one that is better read as text."""
    table = json_text.table_of(json_text.read(text))
    if table is None or not 1 < len(table.rows) <= _MOST_ROWS or len(table.columns) > _MOST_COLUMNS:
        return None
    rows = [list(map(json_text.word, row)) for row in table.rows]
    if any(len(cell) > _MOST_CELL for row in rows for cell in row):
        return None
    return Block(BlockKind.TABLE, tuple(_table_tokens([list(table.columns), *rows])))


def _table_tokens(rows: list[list[str]]) -> Iterator[Token]:
    yield Token("table_open", "table", 1)
    for number, row in enumerate(rows):
        yield Token("tr_open", "tr", 1)
        for text in row:
            kind = "td" if number else "th"
            yield Token(f"{kind}_open", kind, 1)
            # Not a "text", in which addresses become links.
            shown = " ".join(text.split())
            yield Token("inline", "", 0, content=shown, children=[Token("words", "", 0, content=shown)])
            yield Token(f"{kind}_close", kind, -1)
        yield Token("tr_close", "tr", -1)
    yield Token("table_close", "table", -1)
