r"""Prepares TeX for ziamath. No Qt, no drawing.

ziamath omits what it does not know: unknown environments, unclosed braces. Half a formula is worse than its source, so
these are refused; what merely confuses it is rewritten.
"""

import re
from typing import NamedTuple

# In the order of the text: escaped characters first, so that `\\{` and `\{` are kept apart.
_TOKENS = re.compile(r"\\(?:begin|end)\s*\{([^{}]*)\}|\\.|[{}]", re.DOTALL)
_DEFINITION = re.compile(r"\\(?:def|gdef|edef|let|newcommand|renewcommand|providecommand|newenvironment)(?![A-Za-z])")
# Lines between the rows and columns of a table, which ziamath draws without them.
_RULE = re.compile(r"\\(?:hline|hdashline|cline)(?![A-Za-z])|\\begin\s*\{array\}\s*(?:\[\w*\]\s*)?\{[^}]*[|:]")
_INVISIBLE = re.compile(r"\\label\s*\{[^{}]*\}|\\mathop(?![A-Za-z])|\\(?:nonumber|notag)(?![A-Za-z])")
# What is words and not mathematics. latex2mathml hands it on as XML, of which a comment or a tag would be left out.
_WORDS = re.compile(
    r"\\(?:text[a-z]*|emph|[fhm]box|[clr]lap|tag\*?|underbar|f?colorbox\s*\{[^{}]*\})\s*\{[^}]*\}|\\verb([^<&]).*?\1"
)
_SIGN = re.compile(r"\\?&|<")
_SCRIPT = re.compile(r"\s*(?:\\limits\s*)?[\^_']")
_ENVIRONMENTS = frozenset(
    {
        *(f"{kind}matrix{star}" for kind in ("", "p", "b", "B", "v", "V") for star in ("", "*")),
        *(f"{name}{star}" for name in ("align", "equation", "gather") for star in ("", "*")),
        *("smallmatrix", "array", "cases", "dcases", "split", "aligned", "gathered", "substack"),
    }
)
# Written in another way that looks the same: nothing in a reply refers to the number of a formula.
_ONE_COLUMN = (r"\begin{array}{c}", r"\end{array}")
_SAME_AS = {
    "equation": ("{", "}"),
    "equation*": ("{", "}"),
    "align": (r"\begin{align*}", r"\end{align*}"),
    "gather": _ONE_COLUMN,
    "gather*": _ONE_COLUMN,
    "gathered": _ONE_COLUMN,
    "dcases": (r"\begin{cases}", r"\end{cases}"),
}
# WORKAROUND: the space after a row, as in `\\[4pt]`, would be drawn as the words "[4pt]", and the star of `\\*` as one.
_ROW_END = re.compile(r"\\\\(?:\*?\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in|px|mu|pc|sp|bp)\s*\]|\*)")
# WORKAROUND: ziamath makes a formula with a tag as wide as a page, with the tag at its end.
_TAG = re.compile(r"\\tag(\*?)\s*\{([^{}]*)\}")
# WORKAROUND: ziamath sets rows as close as their ink allows; of equations below one another each gets a line's height.
_STRUT = r"\vphantom{(}"
_IN_LINES = frozenset({"align", "align*", "aligned", "split"})
# The same for a row with a fraction.
_TALL_STRUT = r"\vphantom{\frac{M^2}{M_2}}"
_TALL = re.compile(r"(?:(?!\\\\|\\end)[\s\S])*?\\[dtc]?frac(?![A-Za-z])")
_NO_ROW = re.compile(r"\s*(?:\\end|\[)")
# WORKAROUND: ziamath sets no space around this one: "amodb".
_MODULO = re.compile(r"\\bmod(?![A-Za-z])")
# WORKAROUND: the stroke of \not comes before a plain sign, not through it.
_NEGATED = re.compile(r"\\not\s*([=<>])")
_NEGATIONS = {"=": r"\neq ", "<": r"\nless ", ">": r"\ngtr "}
UNKNOWN_COMMAND = re.compile(r"\\[A-Za-z]")
# Korean, Japanese and Chinese: ziamath's font has no such characters and cannot be given a collection that has. Each is
# replaced by an em dash, which is as wide as such a character is; where the dashes land in the drawing, Qt paints the
# text. A dash is known by its proportions (colours do not do: ziamath loses them beside phantoms).
_CJK = "\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
_RUN = re.compile(f"[{_CJK}]+")
_TEXT_COMMAND = re.compile(r"\\(?:text|textrm|textbf|textit|mathrm|mathbf|operatorname|mbox)\{([^{}]*)\}")
_BAR = re.compile(r'<path d="M ([-\d.]+) ([-\d.]+) L \1 \2 L ([-\d.]+) \2 L \3 ([-\d.]+) L \1 \4 Z " fill="[^"]*" />')
# Of the em dash in ziamath's font: width to height, and in ems its right edge, bottom edge and width.
_PROPORTION = 16.5
_TOLERANCE = 0.4
_RIGHT_EM = 0.97
_BOTTOM_EM = 0.222
_WIDTH_EM = 0.94


class NotWhole(ValueError):
    """Something of the formula would be missing from its drawing."""


def prepared(tex: str) -> str:
    """The same formula for ziamath; raises NotWhole for one that it would draw only a part of."""
    if _DEFINITION.search(tex) or _RULE.search(tex):
        raise NotWhole
    tex = _WORDS.sub(_as_they_are, _INVISIBLE.sub("", tex))
    tex = _TAG.sub(_behind, _ROW_END.sub(r"\\\\", tex))
    tex = _MODULO.sub(r"\\;\\mathrm{mod}\\;", tex)
    tex = _NEGATED.sub(lambda sign: _NEGATIONS[sign[1]], tex)
    opened: list[tuple[str, int]] = []  # braces and environments, with where they begin in the result
    result: list[str] = []
    end = 0
    for token in _TOKENS.finditer(tex):
        result.append(tex[end : token.start()])
        end = token.end()
        _take(token, tex, opened, result)
    if opened:
        raise NotWhole
    return "".join([*result, tex[end:]])


def _as_they_are(words: re.Match[str]) -> str:
    if "$" in words[0] and words[0].startswith(r"\hbox") and _SIGN.search(words[0]):
        raise NotWhole  # after a dollar is mathematics again, there alone
    return _SIGN.sub(lambda sign: "&#x3C;" if sign[0] == "<" else "&#x26;", words[0])


def _behind(tag: re.Match[str]) -> str:
    """Close after the formula; between dollars it is mathematics."""
    words = tag[2] if tag[1] else f"({tag[2]})"
    parts = (f"{{{each}}}" if at % 2 else rf"\text{{{each}}}" for at, each in enumerate(words.split("$")) if each)
    return r"\qquad" + "".join(parts)


def _take(token: re.Match[str], tex: str, opened: list[tuple[str, int]], result: list[str]) -> None:
    name = token[1]
    if name is not None and token[0].startswith("\\begin"):
        if name not in _ENVIRONMENTS:
            raise NotWhole
        opened.append((name, len(result)))
        result.append(_written(name)[0])
        result.append(_strut(tex, token.end(), name))
    elif name is not None:
        begin = _closed(opened, name)
        result.append(_written(name)[1])
        if _SCRIPT.match(tex, token.end()):
            # WORKAROUND: latex2mathml stops at an exponent of an environment, but not at one of a group.
            result[begin] = "{" + result[begin]
            result.append("}")
    else:
        if token[0] == "{":
            opened.append(("{", len(result)))
        elif token[0] == "}":
            _closed(opened, "{")
        result.append(token[0])
        if token[0] == r"\\" and opened:
            result.append(_strut(tex, token.end(), opened[-1][0]))


def _strut(tex: str, at: int, environment: str) -> str:
    """What begins a row there; nothing where none does, or an option of the environment comes."""
    if environment not in _IN_LINES or _NO_ROW.match(tex, at):
        return ""
    return _TALL_STRUT if _TALL.match(tex, at) else _STRUT


def _closed(opened: list[tuple[str, int]], name: str) -> int:
    if not opened or opened[-1][0] != name:
        raise NotWhole
    return opened.pop()[1]


def _written(environment: str) -> tuple[str, str]:
    usual = (rf"\begin{{{environment}}}", rf"\end{{{environment}}}")
    return _SAME_AS.get(environment, usual)


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
