"""pygments' tokens as spans of roles. The theme has the colours."""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from itertools import islice
from threading import Lock, Thread
from time import thread_time
from typing import NamedTuple

# Some lexers are quadratic in some texts. One that takes longer than this leaves the rest of the block plain.
_MOST_S_PER_CHAR = 20e-6
_LEAST_ALLOWED_S = 0.02
_TOKENS_A_LOOK = 8  # at the clock, which takes as long as some tokens
# A single token may take them seconds where a line, or white space, goes on for long: such code stays plain.
_LONGEST_LINE = 1000
_LONG_SPACE = re.compile(r"(?<!\s)\s{100}")


class Role(StrEnum):
    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"
    NAME = "name"
    ADDED = "added"  # of a diff
    REMOVED = "removed"


class ColoredSpan(NamedTuple):
    start: int
    length: int
    role: Role | None  # None: it stays plain


def spans(code: str, language: str) -> Iterator[ColoredSpan]:
    """Every token, lazily, from the start, so that a block can be coloured a slice at a time."""
    lexer = lexer_of(language)
    if lexer is None or _is_slow_to_read(code):
        return
    left_s = _LEAST_ALLOWED_S + _MOST_S_PER_CHAR * len(code)
    # The last line needs its end: without it some lexers take every character for a fault.
    tokens = lexer.get_tokens_unprocessed(code + "\n")
    while left_s > 0:
        started_s = thread_time()
        found = list(islice(tokens, _TOKENS_A_LOOK))
        left_s -= thread_time() - started_s
        if not found:
            return
        for start, token_type, text in found:
            role = _role(token_type) if text.strip() else None
            yield ColoredSpan(start, min(len(text), len(code) - start), role)


def _is_slow_to_read(code: str) -> bool:
    return any(len(line) > _LONGEST_LINE for line in code.split("\n")) or _LONG_SPACE.search(code) is not None


_makers: dict[str, Thread] = {}  # of lexers, by language
_making = Lock()  # one at a time: several languages share parts


def has_lexer(language: str) -> bool:
    """Whether code of this language can be read at once. If not, a thread makes the lexer; ask again later.

    MEASURED: making it takes 15 to 65 ms of CPU time, most for the Python and CSS of a first reply.
    """
    if language and language not in _makers:
        _makers[language] = Thread(target=_make_lexer, args=(language,), name="lexer", daemon=True)
        _makers[language].start()
    return not language or not _makers[language].is_alive()


def _make_lexer(language: str) -> None:
    with _making:
        lexer_of(language)


@cache
def lexer_of(language: str):  # type: ignore[no-untyped-def]
    """The lexer; None for an unknown language."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language) if language else None
    except ClassNotFound:
        return None


@cache
def _role(token_type) -> Role | None:  # type: ignore[no-untyped-def]
    from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String

    for family, role in (
        (Comment, Role.COMMENT),
        (Keyword, Role.KEYWORD),
        (Operator.Word, Role.KEYWORD),
        (String, Role.STRING),
        (Number, Role.NUMBER),
        (Name.Function, Role.NAME),
        (Name.Class, Role.NAME),
        (Name.Tag, Role.KEYWORD),
        (Name.Attribute, Role.NAME),
        (Name.Decorator, Role.NAME),
        (Name.Builtin, Role.NAME),
        (Generic.Inserted, Role.ADDED),
        (Generic.Deleted, Role.REMOVED),
        (Generic.Heading, Role.KEYWORD),
        (Generic.Subheading, Role.NAME),
    ):
        if token_type in family:
            return role
    return None
