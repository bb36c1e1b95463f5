"""Colours for code, by role. Here: pygments' tokens as spans of roles. Not here: which colour a role has."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import NamedTuple

# Beyond this a block stays plain: nobody reads five thousand lines for their colours.
MAX_CHARS = 200_000


class Role(StrEnum):
    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"
    NAME = "name"


class Span(NamedTuple):
    start: int
    length: int
    role: Role


def spans(code: str, language: str) -> Iterator[Span]:
    """Lazily, from the start, so that a long block can be coloured a slice at a time."""
    lexer = _lexer(language)
    if lexer is None or len(code) > MAX_CHARS:
        return
    for start, token_type, text in lexer.get_tokens_unprocessed(code):
        role = _role(token_type)
        if role is not None and text.strip():
            yield Span(start, len(text), role)


@cache
def _lexer(language: str):  # type: ignore[no-untyped-def]
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language) if language else None
    except ClassNotFound:
        return None


@cache
def _role(token_type) -> Role | None:  # type: ignore[no-untyped-def]
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

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
    ):
        if token_type in family:
            return role
    return None
