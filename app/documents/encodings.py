"""Bytes to text: Unicode by its marks, UTF-8, and older Korean, Japanese and Chinese encodings by trial.

A file may be cut in the middle of a letter, and may have a few invalid bytes: they become U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

_SAMPLE_BYTES = 1 << 18
_STEP_BYTES = 1 << 20  # decoded at a time, so that other threads can run in between
_STEP_CHARACTERS = 1 << 16
_LEAST_LIKELY = 0.12
_MOST_MARKED = 0.3  # most letters with accents in a Latin text, as a share
_LEAST_RIGHT = 4  # least valid letters of UTF-8 above ASCII for each invalid one; in other encodings most are invalid
_LEAST_RIGHT_IN_OLDER = 20  # in those most pairs of any bytes are valid
_LEAST_BEFORE_CUT = 2  # where only the last one is wrong
_LEAST_HANGUL = 8  # letters
_MOSTLY = 0.9
_LOST = "\ufffd"
_ASCII = bytes(range(0x80))

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffe\uffff]")
_MOST_CONTROL = 0.002
_ABOVE_ASCII = re.compile(r"[^\x00-\x7f]")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30ff]")
_HANGUL = re.compile(r"[가-힣]")
_HALF_KANA = re.compile(r"[\uff61-\uff9f]")
# The most frequent characters: nearly every text of a line or two has some.
_SYLLABLES = frozenset("이다는을의가에고지도로한하기은를사대어서리나시자해아일수있그게요니인들만과와면으")
_HAN = frozenset("的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年发後后這個")


def _korean(text: str) -> float:
    """Lists of names may have no frequent syllable, but hardly any that EUC-KR lacks: other texts read so have many."""
    common = sum(min(found[0].encode("cp949")) > 0xA0 for found in _HANGUL.finditer(text))
    usual = sum(letter in _SYLLABLES for letter in text)
    is_plain = common >= max(_LEAST_HANGUL, _MOSTLY * len(text))
    return max(usual, 2 * _LEAST_LIKELY * len(text)) if is_plain else usual


def _japanese(text: str) -> float:
    return len(_KANA.findall(text)) - 2 * len(_HALF_KANA.findall(text))


def _chinese(text: str) -> float:
    return 2.0 * sum(letter in _HAN for letter in text)


_TRIALS: tuple[tuple[str, Callable[[str], float]], ...] = (
    ("cp949", _korean),
    ("cp932", _japanese),
    ("gb18030", _chinese),
    ("euc_jp", _japanese),
    ("cp950", _chinese),
)


def decoded(data: bytes) -> str | None:
    """The text with uniform line ends; None if it is no text."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            rest = data[len(mark) :]
            return _clean(_utf_8(rest) if name == "utf-8" else _decode(rest, name))
    return _clean(_utf_8(data)) or _clean(_in_older(data))


def _utf_8(data: bytes) -> str | None:
    """The text as UTF-8; None if too much of it is invalid."""
    text = _decode(data, "utf-8", "replace") or ""
    lost = text.count(_LOST)
    ascii_count = len(data) - len(data.translate(None, _ASCII))
    wrong = lost - data.count(_LOST.encode())
    right = len(text) - lost - ascii_count
    is_cut = wrong == 1 and text.endswith(_LOST)
    return text if right >= wrong * (_LEAST_BEFORE_CUT if is_cut else _LEAST_RIGHT) else None


def _in_older(data: bytes) -> str | None:
    """A byte that is wrong is replaced, but not in Latin texts, as which nearly all bytes could be read."""
    lines = b"\n".join(line for line in data.split(b"\n") if not line.isascii())
    encoding = _guess(lines[:_SAMPLE_BYTES])
    if encoding is not None:
        return _decode(data, encoding, "replace")
    is_latin = len(data.translate(None, _ASCII)) <= _MOST_MARKED * len(data)
    return _decode(data, "cp1252") if is_latin else None


def _clean(text: str | None) -> str | None:
    if text is None or _is_binary(text):
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _is_binary(text: str) -> bool:
    """Whether it is binary; reads in steps, and no more than necessary."""
    found = 0
    most = len(text) * _MOST_CONTROL
    for at in range(0, len(text), _STEP_CHARACTERS):
        found += len(_CONTROL.findall(text[at : at + _STEP_CHARACTERS]))
        if found > most:
            return True
    return False


def _decode(data: bytes, encoding: str, errors: str = "strict") -> str | None:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    try:
        steps = [decoder.decode(data[at : at + _STEP_BYTES]) for at in range(0, len(data), _STEP_BYTES)]
    except UnicodeDecodeError:
        return None
    cut = decoder.getstate()[0]
    return "".join([*steps, _LOST if cut else ""])


def _guess(sample: bytes) -> str | None:
    """The likeliest encoding; None if none is likely."""
    scores = [(_score(sample, name, count), name) for name, count in _TRIALS]
    best, name = max(scores)
    return name if best >= _LEAST_LIKELY else None


def _score(sample: bytes, encoding: str, count: Callable[[str], float]) -> float:
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)  # without a letter that the sample cuts
    letters = "".join(_ABOVE_ASCII.findall(text))
    lost = letters.count(_LOST)
    return count(letters) / len(letters) if len(letters) - lost > _LEAST_RIGHT_IN_OLDER * lost else 0.0
