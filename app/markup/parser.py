"""The Markdown dialect of replies: a configured markdown-it parser.

Here: the rules in use, emphasis beside Korean, Japanese and Chinese, allowed links, formulas and notes.
"""

import re
import unicodedata
from functools import cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import table
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_inline_dollar
from mdit_py_plugins.footnote.index import footnote_def

STREAMING = "streaming"  # key of the parser's environment: the text is still growing
ALLOWED_SCHEMES = frozenset({"http", "https", "mailto"})

_DISPLAY_MARKS = (("$$", "$$"), ("\\[", "\\]"))
_AFTER_FORMULA = ".,;:"  # may follow the closing marks, and is shown as a part of the formula
# What models also write without marks around it. Others, `itemize` say, are no formulas.
_ENVIRONMENT = re.compile(
    r"\\begin\{((?:equation|align|aligned|alignat|gather|gathered|split|d?cases|array|[pbBvV]?matrix|smallmatrix)\*?)\}"
)
_INLINE_MARKS = {"\\(": "\\)", "\\[": "\\]"}
_BREAK = re.compile(r"<br\s*/?>\s*", re.IGNORECASE)
_in_dollars = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True)
_MOST_FORMULA_LINES = 100
# A row may leave out cells, and has them all the same: 4,000 characters made 90,000, which took a second to read and
# more to show. A table of more stays as it was written, where `blocks.py` does not cut it into several.
_MOST_CELLS = 1500
# Not what regular expressions have in brackets, such as `[^a-z]` and `[^0-9]`.
_NOTE_MARK = re.compile(r"\[\^(\d{1,4}|(?!\w-\w\])[^\W\d_][\w-]{0,30})\]")


@cache
def parser() -> MarkdownIt:
    """One parser for the whole program; it keeps nothing between texts."""
    md = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    md.inline = _CjkInline()
    md.disable("lheading")  # replies hardly ever mean it: dashes under a line are a rule
    md.inline.ruler.enable(["strikethrough"])
    md.validateLink = is_allowed_link  # type: ignore[method-assign]
    dollarmath_plugin(md, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
    md.disable("math_block")
    md.inline.ruler.at("math_inline", _dollar_formula)
    md.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "display_formula", _display_formula, interrupts)
    md.inline.ruler.before("escape", "bracket_formula", _bracket_formula)
    md.block.ruler.before("reference", "footnote_def", footnote_def, {"alt": ["paragraph", "reference"]})
    md.inline.ruler.before("link", "note_mark", _note_mark)
    md.inline.ruler.before("autolink", "break", _break)
    md.inline.ruler.before("link", "lone_bracket", _lone_bracket)
    return md


def parse(source: str, *, streaming: bool = False) -> list[Token]:
    env: EnvType = {STREAMING: streaming}
    return parser().parse(source, env)


def is_allowed_link(url: str) -> bool:
    """Only the web and mail; every other scheme stays plain text."""
    try:
        return urlsplit(url.strip()).scheme.lower() in ALLOWED_SCHEMES
    except ValueError:
        return False


class _CjkState(StateInline):
    """Emphasis that works where words are not set apart by spaces.

    CommonMark lets `**` close after punctuation only before a space, so `**수락률(accept rate)**은` stays asterisks.
    Beside a Korean, Japanese or Chinese character the space is not required.
    """

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803
        usual = super().scanDelims(start, canSplitWord)
        before = self.src[start - 1] if start > 0 else " "
        after_at = start + usual.length
        after = self.src[after_at] if after_at < self.posMax else " "
        if not canSplitWord or not (_is_cjk(before) or _is_cjk(after)):
            return usual
        return Scanned(usual.can_open or not after.isspace(), usual.can_close or not before.isspace(), usual.length)


class _CjkInline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _CjkState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _is_cjk(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF" or "\u1100" <= char <= "\u11ff"


def _bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start])
    if columns * (end - start) > _MOST_CELLS:
        lines = next((line for line in range(start, end) if state.isEmpty(line)), end) - start
        if columns * lines > _MOST_CELLS:
            return False
    return table(state, start, end, silent)


def _display_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""`$$ … $$`, `\[ … \]` or `\begin{cases} … \end{cases}` on lines of their own.

    It may follow a paragraph without a blank line.
    """
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].rstrip()
    marks = _display_marks(first)
    if marks is None:
        return False
    if silent and state.sCount[start] < state.blkIndent:
        return True  # it is outside of the list that asks, and ends it
    opening, closing = marks
    found = _find_formula_end(state, start, end, first[len(opening) :], closing)
    if found is None:
        return False
    tex, next_line, closed = found
    if not silent:
        state.line = next_line
        token = state.push("math_block", "math", 0)
        token.block = True
        token.map = [start, next_line]
        whole = state.getLines(start, next_line, state.blkIndent, keepLastLF=False).strip()
        token.content = tex if marks in _DISPLAY_MARKS else whole
        token.meta = {"closed": closed}
    return True


def _display_marks(line: str) -> tuple[str, str] | None:
    """What opens the formula that begins the line, and what closes it."""
    environment = _ENVIRONMENT.match(line)
    if environment is not None:
        return environment[0], rf"\end{{{environment[1]}}}"
    return next((marks for marks in _DISPLAY_MARKS if line.startswith(marks[0])), None)


def _find_formula_end(
    state: StateBlock, start: int, end: int, first: str, closing: str
) -> tuple[str, int, bool] | None:
    """The formula, the line after it, and whether it was closed; nothing when the lines are no formula."""
    lines: list[str] = []
    text = first
    may_grow = bool(state.env.get(STREAMING)) and end - start <= _MOST_FORMULA_LINES
    if not may_grow and _find(state, closing, state.bMarks[start]) < 0:
        return None
    for line in range(start, min(end, start + _MOST_FORMULA_LINES)):
        if line > start:
            text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
            if state.sCount[line] < state.blkIndent and text:
                return None
        tex, found, behind = text.rpartition(closing)
        more = behind.strip(_AFTER_FORMULA)
        if line == start and found and (closing in tex or more):
            return None
        if found and not more:
            return "\n".join([*lines, tex + behind]).strip(), line + 1, True
        lines.append(text)
    return ("\n".join(lines).strip(), end, False) if may_grow else None


def _bracket_formula(state: StateInline, silent: bool) -> bool:
    r"""`\( … \)`, and `\[ … \]` in the middle of a line."""
    closing = _INLINE_MARKS.get(state.src[state.pos : state.pos + 2])
    if closing is None:
        return False
    end = _find(state, closing, state.pos + 3)
    if end < 0 or end + 2 > state.posMax:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


def _dollar_formula(state: StateInline, silent: bool) -> bool:
    """Not from money to a `$` in code, which the plugin takes for the end."""
    begin = state.pos
    whole = state.src
    # WORKAROUND: for the plugin, what is before the first character is the last one: `$x$ is 4` was money.
    state.src += " "
    found = _in_dollars(state, True) and "`" not in whole[begin : state.pos]
    state.pos = begin
    if found:
        _in_dollars(state, silent)
    state.src = whole
    return found


def _break(state: StateInline, silent: bool) -> bool:
    """`<br>`: the only break within a cell, so models write it, though all other HTML is text."""
    found = _BREAK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.pending = state.pending.rstrip(" ")
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _note_mark(state: StateInline, silent: bool) -> bool:
    """`[^1]`, whether or not the note is there yet: it comes at the end, and what was shown before must not change."""
    found = _NOTE_MARK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("note_mark", "sup", 0).content = found[1]
    state.pos = found.end()
    return True


def _lone_bracket(state: StateInline, silent: bool) -> bool:
    """A bracket without end is no link; the link rule would search for its end again and again."""
    marks = 2 if state.src.startswith("![", state.pos) else 1
    if state.src[state.pos + marks - 1] != "[" or _find(state, "]", state.pos + marks) >= 0:
        return False
    if not silent:
        state.pending += state.src[state.pos : state.pos + marks]
    state.pos += marks
    return True


def _find(state: StateBlock | StateInline, closing: str, start: int) -> int:
    """As `find`, but remembers a failure: else each opening would search to the end."""
    missing = state.env.setdefault(f"none of {closing}", {})
    if missing.get(state.src, len(state.src)) <= start:
        return -1
    end = state.src.find(closing, start)
    if end < 0:
        missing[state.src] = start
    return end
