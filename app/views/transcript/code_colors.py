"""Highlighting of code blocks: formats for the lines of a document, applied in time slices that all visible code
shares.

Only changed lines are touched. `app.markup.highlight` and `app.markup.growing_code` find the spans.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from math import inf
from time import thread_time

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from app.markup.growing_code import GrowingCode
from app.markup.highlight import ColoredSpan, Role, has_lexer, spans
from app.markup.lines import blocks_in, units
from app.theme import Palette

_SLICE_S = 0.001  # MEASURED: 4 ms were seen in the slowest frames of scrolling
_LINES_PER_STEP = 2
_LOOK_AGAIN_MS = 5  # interval for checking whether the lexer is ready

_Colored = tuple[tuple[int, int, Role], ...]  # start, length and role on one line
_Line = tuple[QTextBlock, _Colored]


class SharedSlice(QObject):
    """Time limit, in one turn of the event loop, for all work in slices on a transcript."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left_s = _SLICE_S
        self._next_turn = QTimer(self, singleShot=True, interval=0)
        self._next_turn.timeout.connect(self._renew)

    def work(self, step: Callable[[], bool]) -> bool:
        """Call `step` until it returns False or the slice is over; returns whether there is more."""
        more = True
        while more and self._left_s > 0:
            started_s = thread_time()
            more = step()
            self._left_s -= thread_time() - started_s
        if not self._next_turn.isActive():  # restarting it each time would never let it end
            self._next_turn.start()
        return more

    def _renew(self) -> None:
        self._left_s = _SLICE_S


class CodeColors(QObject):
    def __init__(self, document: QTextDocument, colors: Palette, shared: SharedSlice, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._slice = shared
        self._formats = {role: _format(role, colors) for role in Role}
        self._shown: dict[int, _Colored] = {}  # by line
        self._language = ""
        self._growing: GrowingCode | None = None
        self._read_chars = 0  # of the code, by `grow`
        self._waiting = ""  # code appended before the lexer was ready
        self._lines: Iterator[_Line] = iter(())
        self._grown_from: float = inf  # offset in the document from which `grow` sets the colours
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._color_a_slice)

    @property
    def is_active(self) -> bool:
        return self._timer.isActive()

    def begin(self, language: str) -> None:
        """The document was rewritten, without colours."""
        self._timer.stop()
        self._shown.clear()
        self._waiting = ""
        self._read_chars = 0
        self._language = language
        self._growing = None
        self._grown_from = inf

    def grow(self, code: str) -> None:
        """Colour appended lines, and those that waited for the lexer.

        `code` ends with a complete line: an incomplete word may get another colour.
        """
        if len(code) <= self._read_chars:
            return
        if not has_lexer(self._language):
            self._waiting = code
            self._timer.start(_LOOK_AGAIN_MS)
            return
        self._waiting = ""
        self._read_chars = len(code)
        self._growing = self._growing or GrowingCode(self._language)
        place, found = self._growing.spans(code)
        start = units(code[:place])
        end = self._document.characterCount()
        self._grown_from = min(self._grown_from, start)
        self._apply(_by_lines(self._document, start, end, _in_qt_units(code, found)))

    def color(self, code: str, language: str) -> None:
        """Colour everything: at once while the slice lasts, then in later turns of the event loop."""
        self._timer.stop()
        self._language = language
        self._waiting = ""
        self._grown_from = inf
        end = units(code)
        self._lines = _by_lines(self._document, 0, end, _in_qt_units(code, spans(code, language)))
        self._color_a_slice()

    def _color_a_slice(self) -> None:
        if not has_lexer(self._language):
            self._timer.start(_LOOK_AGAIN_MS)
            return
        if self._waiting:
            self.grow(self._waiting)
        if self._slice.work(self._color_some_lines):
            self._timer.start(0)
        else:
            self._timer.stop()

    def _color_some_lines(self) -> bool:
        above_growth = takewhile(lambda line: line[0].position() < self._grown_from, self._lines)
        return self._apply(above_growth, _LINES_PER_STEP)

    def _apply(self, lines: Iterable[_Line], at_most: int | None = None) -> bool:
        """Apply formats to lines; returns whether there may be more."""
        changed: list[QTextBlock] = []
        count = 0
        for block, colored in lines:
            if self._shown.get(block.blockNumber(), ()) != colored:
                self._shown[block.blockNumber()] = colored
                block.layout().setFormats([self._range(*each) for each in colored])
                changed.append(block)
            count += 1
            if count == at_most:
                break
        if changed:
            first = changed[0].position()
            last = changed[-1].position() + changed[-1].length()
            self._document.markContentsDirty(first, last - first)
        return count == at_most

    def _range(self, start: int, length: int, role: Role) -> QTextLayout.FormatRange:
        result = QTextLayout.FormatRange()
        result.start = start
        result.length = length
        result.format = self._formats[role]
        return result


def _format(role: Role, colors: Palette) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(_color_of(role, colors))
    return result


def _color_of(role: Role, colors: Palette) -> QColor:
    return {
        Role.KEYWORD: colors.code_keyword,
        Role.STRING: colors.code_string,
        Role.NUMBER: colors.code_number,
        Role.COMMENT: colors.faint,
        Role.NAME: colors.code_name,
        Role.ADDED: colors.gain,
        Role.REMOVED: colors.fault,
    }[role]


def _by_lines(document: QTextDocument, start: int, end: int, found: Iterable[ColoredSpan]) -> Iterator[_Line]:
    """Each line from `start` to `end` with its colours, also those that have none."""
    block = document.findBlock(start)
    colored = list[tuple[int, int, Role]]()
    for span in found:
        for line, first, length in _on_lines(document, span):
            while block.position() < line.position():
                yield block, tuple(colored)
                block = block.next()
                colored = []
            if span.role is not None:
                colored.append((first, length, span.role))
    while block.isValid() and block.position() <= end:
        yield block, tuple(colored)
        block = block.next()
        colored = []


def _on_lines(document: QTextDocument, span: ColoredSpan) -> Iterator[tuple[QTextBlock, int, int]]:
    """The pieces of a span in each line that it covers."""
    end = span.start + span.length
    for block in blocks_in(document, span.start, end):
        first = max(span.start, block.position())
        last = min(end, block.position() + block.length() - 1)
        if last > first:
            yield block, first - block.position(), last - first


def _in_qt_units(code: str, found: Iterable[ColoredSpan]) -> Iterable[ColoredSpan]:
    """Everything after an emoji lies one further on."""
    wide = [] if code.isascii() else [index for index, char in enumerate(code) if ord(char) > 0xFFFF]
    return (_shifted(span, wide) for span in found) if wide else found


def _shifted(span: ColoredSpan, wide: list[int]) -> ColoredSpan:
    start = span.start + bisect_left(wide, span.start)
    end = span.start + span.length
    return ColoredSpan(start, end + bisect_left(wide, end) - start, span.role)
