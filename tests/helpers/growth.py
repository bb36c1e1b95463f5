"""Texts that are hard on parsers, lexers and layouts, and how the time for them grows.

Time is this thread's CPU time, so that a busy machine changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_MARKDOWN: dict[str, tuple[str, ...]] = {
    "row": tuple("x말🎉[]()*_~`<>&|$#-+=\\!:.1\t "),
    "words": ("word ", "a\u0301", "가 ", "👩\u200d👧", "https://a.b/c ", "a@b.c "),
    "lines": ("\n", "a\n", "a\n\n", " \n", "  \n\t\n", "a  \n", "\\\n", "- \n\n"),
    "lists": ("- a\n", "1. a\n", "- a\n  - b\n", "* a\n\n  b\n", "- [ ] a\n", "- "),
    "quotes": ("> a\n", "> ", ">", "> > a\n", "> - a\n", "> a\n\n", "> ```\n> x\n"),
    "tables": ("|a|b|\n", "|a", "|-", "a|b\n-|-\n1|2\n\n", "| a |\n|---|\n| b |\n"),
    "marks": ("*a_ ", "**a", "~~a", "*a **b ", "`a``b", "a*b", "__a_", "***", "_a*_b"),
    "links": ("[a](", "[a](b)", "![a](", "[a][b]", "[a]: b\n", "[a](<b", "<a:", "<a>"),
    "formulas": ("$a$ ", "$a ", "\\(", "\\[\n", "$$\n", "\\(a\\) ", "$$a$$\n\n", "\\["),
    "fences": ("```\n", "~~~\n", "```a\nb\n```\n", "````\n```\n", "- ```\n  a\n", "``` "),
    "others": ("# a\n", "# ", "---\n", "&amp;", "&#1;", "\\*", "a\n---\n", "<b>", "\u2028"),
}
LEAST_S = 0.03
GOOD = 2.7
# One unit, by its name, is repeated as often as wanted.
MARKDOWN = {f"{group} {unit!r}": unit for group, units in _MARKDOWN.items() for unit in units}
TABLE_HEAD = "| a | b |\n|---|---|\n"
LANGUAGES = (
    *("python", "json", "html", "javascript", "typescript", "c", "c++", "rust", "go", "java", "kotlin"),
    *("swift", "ruby"),
    *("php", "perl", "bash", "console", "pycon", "sql", "yaml", "toml", "ini", "xml", "css", "markdown"),
    *("rst", "latex"),
    *("diff", "make", "cmake", "docker", "nginx", "http", "haskell", "scala", "lua", "r", "matlab", "scheme", "erlang"),
    *("elixir", "ocaml", "objective-c", "dart", "powershell", "vim", "awk", "fortran"),
)
CODE = (
    "def f(x):  # why\n    return \"a\" + 'b' * 1.5\n",
    "-    old\n+    new\n@@ -1,2 +3,4 @@\n context\n",
    '<a href="b">{ x: [1, 2] } /* c */ // d\n',
    " \n",
    "+ - = < > ",
)
LINES = (
    *("x", "word ", "말", "🎉", "a\u0301", "\t", "{[(", '"', "/*", "0", "a,", "\u202e", "ﷺ", "ا"),
    *("\u200b", "\x1b[0m"),
)


def repeated(unit: str, chars: int) -> str:
    return (unit * (chars // len(unit) + 1))[:chars]


def spent_s(show: Callable[[str], None], text: str) -> float:
    """The CPU time of this thread: the best of two, because caches and other programs only ever add."""
    best = float("inf")
    for _ in range(2):
        started = time.thread_time()
        show(text)
        best = min(best, time.thread_time() - started)
    return best


def growth(show: Callable[[str], None], unit: str, chars: int, head: str = "") -> float:
    """How many times as long twice as much takes. Short times count as LEAST_S; what is bad is measured again."""
    ratios = []
    for _ in range(3):
        once, twice = (spent_s(show, head + repeated(unit, count)) for count in (chars, 2 * chars))
        ratios.append(max(twice, LEAST_S) / max(once, LEAST_S))
        if ratios[-1] < GOOD:
            break
    return min(ratios)
