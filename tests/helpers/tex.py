"""Random formulas by a grammar: sensible pieces, sizes without sense, nesting without end, and broken ends."""

from __future__ import annotations

from random import Random

_SIZES = (
    *("1em", "0pt", "-3em", "9999em", "1e9em", "1e308pt", "1e400em", ".5ex", "99999999999999999999mu", "em"),
    *("", "x"),
)
_ATOMS = (
    *("x", "1", "+", "-", "=", "(", "|", "'", "''''", "\\alpha", "\\sum", "\\int", "\\infty", "\\to", "\\,", "\\quad"),
    *("\\ ", "~", "수락률", "値", "中", "🎉", "e\u0301", "\u202e", "\x00", "\x1b", "#", "&", "\\\\", "%", "$", "^"),
    *("_", "{"),
    *("}", "\\left(", "\\right)", "\\right.", "\\middle|", "\\limits", "\\not", "\\notacommand", "\\"),
    *("\\begin{", "\\end"),
)
_ONE = (
    *("\\sqrt", "\\text", "\\mathbf", "\\mathbb", "\\operatorname", "\\hat", "\\vec", "\\overline", "\\underbrace"),
    *("\\phantom", "\\vphantom", "\\hphantom", "\\boxed", "\\cancel", "\\pmod", "\\mathrm", "\\bar"),
    *("\\overbrace", "\\tag"),
)
_TWO = ("\\frac", "\\binom", "\\stackrel", "\\overset", "\\underset", "\\color", "\\textcolor", "\\dfrac", "\\sideset")
_SIZED = (
    *("\\hspace", "\\kern", "\\mspace", "\\hskip", "\\raisebox", "\\rule", "\\mkern", "\\vspace"),
    *("\\raise", "\\lower"),
)
_TABLES = ("matrix", "pmatrix", "cases", "aligned", "array", "bmatrix", "gather", "smallmatrix", "nosuch")


def formula(seed: int) -> str:
    random = Random(seed)
    depth = random.choice((1, 1, 2, 2, 3, 3, 4, 4, 5, 30))
    text = _row(random, depth, random.choice((1, 3, 8)))
    if random.random() < 0.15:
        text = text * random.choice((2, 20, 200))
    if random.random() < 0.2:
        text = text[: random.randrange(len(text) + 1)]
    return text.strip() or "x"


def _row(random: Random, depth: int, width: int) -> str:
    return " ".join(_piece(random, depth) for _ in range(random.randint(0, width)))


def _piece(random: Random, depth: int) -> str:
    if depth <= 0:
        return random.choice(_ATOMS)
    return random.choice((_one, _two, _sized, _script, _table, _fenced, _root, _atom))(random, depth)


def _atom(random: Random, _depth: int) -> str:
    return random.choice(_ATOMS)


def _one(random: Random, depth: int) -> str:
    return f"{random.choice(_ONE)}{_group(random, depth)}"


def _two(random: Random, depth: int) -> str:
    return f"{random.choice(_TWO)}{_group(random, depth)}{_group(random, depth)}"


def _sized(random: Random, depth: int) -> str:
    sizes = "".join(f"{{{random.choice(_SIZES)}}}" for _ in range(random.randint(1, 2)))
    return f"{random.choice(_SIZED)}{sizes}{_group(random, depth - 2)}"


def _script(random: Random, depth: int) -> str:
    return f"{random.choice(_ATOMS)}{random.choice('^_')}{_group(random, depth)}"


def _fenced(random: Random, depth: int) -> str:
    return f"\\left{random.choice('([|.')}{_row(random, depth - 1, 3)}\\right{random.choice(')]|.')}"


def _root(random: Random, depth: int) -> str:
    return f"\\sqrt[{_row(random, depth - 2, 1)}]{_group(random, depth)}"


def _group(random: Random, depth: int) -> str:
    return f"{{{_row(random, depth - 1, 2)}}}"


def _table(random: Random, depth: int) -> str:
    name = random.choice(_TABLES)
    rows = " \\\\ ".join(" & ".join(_row(random, depth - 2, 1) for _ in range(3)) for _ in range(random.randint(0, 3)))
    columns = random.choice(("", "{ccc}", "{*{9999999}{c}}", "{|c|")) if name == "array" else ""
    return f"\\begin{{{name}}}{columns}{rows}\\end{{{name}}}"
