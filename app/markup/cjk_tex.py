"""Korean, Japanese and Chinese in formulas.

ziamath's font has no such characters and cannot be given a collection that has. Each is replaced by an em dash, which
is as wide as such a character is; where the dashes land in the drawing, Qt paints the text. A dash is known by its
proportions (colours do not do: ziamath loses them beside phantoms).
"""

import re
from typing import NamedTuple

_CJK = "\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
_RUN = re.compile(f"[{_CJK}]+")
_TEXT_COMMAND = re.compile(r"\\(?:text|textrm|textbf|textit|mathrm|mathbf|operatorname|mbox)\{([^{}]*)\}")
_BAR = re.compile(r'<path d="M ([-\d.]+) ([-\d.]+) L \1 \2 L ([-\d.]+) \2 L \3 ([-\d.]+) L \1 \4 Z " fill="[^"]*" />')
# Of the em dash in ziamath's font: width to height, and in ems its right edge, bottom edge and width.
_PROPORTION, _TOLERANCE = 16.5, 0.4
_RIGHT_EM, _BOTTOM_EM, _WIDTH_EM = 0.97, 0.222, 0.94


class Letter(NamedTuple):
    """One character to paint: its left edge and baseline in the drawing's own coordinates, and its size."""

    text: str
    x: float
    baseline: float
    em: float


def with_dashes(tex: str) -> tuple[str, str]:
    """The formula without such characters, and the characters in order."""
    if not _RUN.search(tex):
        return tex, ""
    spread = _TEXT_COMMAND.sub(_spread, tex)
    return _RUN.sub(lambda run: _dashes(len(run[0])), spread), "".join(_RUN.findall(tex))


def take_letters(svg: str, characters: str) -> tuple[str, tuple[Letter, ...]]:
    """The drawing without its dashes, and what to paint in their places; a ValueError when they do not match."""
    if not characters:
        return svg, ()
    bars = [bar for bar in _BAR.finditer(svg) if _is_dash(bar)]
    letters = tuple(_letter(text, bar) for text, bar in zip(characters, bars, strict=True))
    return _BAR.sub(lambda bar: "" if _is_dash(bar) else bar[0], svg), letters


def _is_dash(bar: re.Match[str]) -> bool:
    right, bottom, left, top = (float(number) for number in bar.groups())
    return bottom > top and abs((right - left) / (bottom - top) - _PROPORTION) < _TOLERANCE


def _letter(text: str, bar: re.Match[str]) -> Letter:
    right, bottom, left, _top = (float(number) for number in bar.groups())
    em = (right - left) / _WIDTH_EM
    return Letter(text, right - _RIGHT_EM * em, bottom + _BOTTOM_EM * em, em)


def _spread(command: re.Match[str]) -> str:
    r"""`\text{수락률 rate}` as `수락률\text{ rate}`: dashes are a text of their own."""
    name = command[0][: command[0].index("{")]
    parts = re.split(f"([{_CJK}]+)", command[1])
    return "".join(part if _RUN.match(part) else f"{name}{{{part}}}" for part in parts if part)


def _dashes(count: int) -> str:
    # The phantom gives the row the height of letters.
    return rf"{{\text{{{'—' * count}}}\vphantom{{fg}}}}"
