"""The kind of text that a reply is writing: accept rates differ by it, so they are learnt and kept for each kind.

Recognised from a few hundred characters: by their script, and code by fences and punctuation. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum

_EVERY_TOKENS = 16  # between two looks at the text
_RECENT_CHARS = 240
_LEAST_CHARS = 24  # fewer say too little
_FENCE = "```"
_CODE_SHARE = 0.08  # of the characters below; prose has 0.01
_CODE = frozenset("{}()[];=<>_")
_LETTERS_A_SIGN = 3  # Latin letters that say as much as one of the signs below
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")
_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
_KANA_SHARE = 0.1  # of Han and kana: Chinese has none


class TextKind(IntEnum):
    """Also the grade of a draft model's offers, so the numbers are those on disk."""

    LATIN = 0  # and all other alphabets
    KOREAN = 1
    JAPANESE = 2
    CHINESE = 3
    CODE = 4
    EDIT = 5  # code, where the prompt has code


class KindReader:
    """The kind of one reply's text, looked at every few tokens."""

    def __init__(self, asked: Sequence[str], decode: Callable[[list[int]], str], prompt_tokens: int) -> None:
        """`asked`: the latest messages, the newest last, which count until the reply has some text."""
        self._asked = asked[-1] if asked else ""
        self._has_code = any(_FENCE in text or is_code(text) for text in asked)
        self._decode = decode
        self._read = prompt_tokens  # tokens of prompt and reply
        self._written = ""
        self._fences = 0
        self._kind = script_of(self._asked)

    def kind(self, tokens: Sequence[int]) -> TextKind:
        """`tokens`: prompt and reply."""
        if len(tokens) >= self._read + _EVERY_TOKENS:
            written = self._decode(list(tokens[self._read :]))
            self._read = len(tokens)
            self._fences += (self._written[-2:] + written).count(_FENCE)  # one may have begun before
            self._written = (self._written + written)[-_RECENT_CHARS:]
            if self._fences % 2 or is_code(self._written):
                self._kind = TextKind.EDIT if self._has_code else TextKind.CODE
            elif len(self._written) >= _LEAST_CHARS:
                self._kind = script_of(self._written)
        return self._kind


def is_code(text: str) -> bool:
    signs = sum(sign in _CODE for sign in text)
    return len(text) >= _LEAST_CHARS and signs >= _CODE_SHARE * len(text)


def script_of(text: str) -> TextKind:
    """The kind of prose by the signs of its script."""
    hangul, kana, han = (len(signs.findall(text)) for signs in (_HANGUL, _KANA, _HAN))
    letters = sum(sign.isalpha() for sign in text) - hangul - kana - han
    if _LETTERS_A_SIGN * (hangul + kana + han) <= letters:
        return TextKind.LATIN
    if hangul >= kana + han:
        return TextKind.KOREAN
    return TextKind.JAPANESE if kana >= _KANA_SHARE * (kana + han) else TextKind.CHINESE
