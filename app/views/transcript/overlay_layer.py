"""The marks of drafted text under the words of one text widget: which characters, and where they are.

A tint with a dotted line is a guess that was kept; a solid line is where the main model chose otherwise. So the two
differ without colour.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QLineF, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTextBlock, QTextDocument

from app.markup.alignment import Alignment, whole_clusters
from app.markup.copying import table_of
from app.theme import Theme
from app.view_models.drafted_text import DraftedText, DraftMark
from app.views.transcript.text_parts import ReadOnlyText

_BELOW_PX = 4  # the base line
_TINT_LIGHT, _TINT_DARK = 0.15, 0.24


@dataclass(frozen=True, slots=True)
class Spot:
    """A correction on the screen."""

    mark: DraftMark
    rect: QRectF  # in the document


@dataclass(slots=True)
class _Drawn:
    """Rectangles of one kind from above, and the lines under them."""

    rects: list[QRectF] = field(default_factory=list)
    lines: list[QLineF] = field(default_factory=list)

    def add(self, rect: QRectF, line: QLineF) -> None:
        self.rects.append(rect)
        self.lines.append(line)

    def keep_above(self, y: float) -> int:
        """Forgets those that reach below `y`; returns how many are left."""
        kept = bisect_right(self.rects, y, key=QRectF.top)
        del self.rects[kept:], self.lines[kept:]
        return kept

    def within(self, clip: QRectF) -> slice:
        reach = 4 * clip.height() if not self.rects else self.rects[0].height()
        first = bisect_right(self.rects, clip.top() - 2 * reach, key=QRectF.top)
        return slice(first, bisect_right(self.rects, clip.bottom(), key=QRectF.top))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the marks were measured on, and where the last line of that began: it may still be wrapped otherwise."""

    looks: object
    text: str
    line_place: int = 0
    line_source: int = 0
    line_top: float = 0.0


class OverlayLayer:
    """Of one text widget. What was measured stays while the text only grows."""

    def __init__(self, text: ReadOnlyText, theme: Theme) -> None:
        self.spots: list[Spot] = []
        self._text = text
        self._theme = theme
        self._accepted = _Drawn()
        self._overruled = _Drawn()
        self._seen = _Seen(None, "")
        text.painted_below.connect(self._paint)

    @property
    def text(self) -> ReadOnlyText:
        return self._text

    @property
    def tints(self) -> list[QRectF]:
        return self._accepted.rects

    def clear(self) -> None:
        self._text.painted_below.disconnect(self._paint)
        self._text.viewport().update()

    def show(self, drafted: DraftedText, source: str, start: int, *, thinking: bool, corrections: bool) -> None:
        """`start` is where the widget's words begin in `source`. Without `corrections` only guesses that were kept."""
        document = self._text.document()
        looks = (start, thinking, corrections, document.textWidth(), self._theme.scale)
        seen = self._go_on_from(looks, document)
        alignment = Alignment(document, source, max(start, seen.line_source), seen.line_place)
        first = max(start, seen.line_source)
        for mark in drafted.between(first, alignment.source_end, thinking=thinking):
            if corrections or mark.accepted:
                self._measure(mark, max(first, mark.start), source, alignment)
        self._seen = self._seen_now(looks, alignment, seen)
        self._text.viewport().update()

    def _go_on_from(self, looks: object, document: QTextDocument) -> _Seen:
        """Keeps what is above the last line, if the text has only grown."""
        seen, text = self._seen, document.toPlainText()
        grew = seen.looks == looks and len(text) > len(seen.text) and text.startswith(seen.text)
        if not grew or table_of(document) is not None:  # other words in a cell move all columns
            seen = _Seen(looks, text)
        self._accepted.keep_above(seen.line_top - 1)
        del self.spots[self._overruled.keep_above(seen.line_top - 1) :]
        return seen

    def _seen_now(self, looks: object, alignment: Alignment, before: _Seen) -> _Seen:
        document = self._text.document()
        block = document.lastBlock()
        line = block.layout().lineAt(block.layout().lineCount() - 1)
        place = block.position() + line.textStart() if line.isValid() else 0
        source = alignment.source_at(place)
        text = document.toPlainText()
        if source is None:  # say an empty line; from here on everything is measured again
            return replace(before, looks=looks, text=text)
        top = document.documentLayout().blockBoundingRect(block).top() + line.y()
        return _Seen(looks, text, place, source, top)

    def _measure(self, mark: DraftMark, start: int, source: str, alignment: Alignment) -> None:
        written = source[start : mark.end]
        indent = 0 if mark.accepted or not written.strip() else len(written) - len(written.lstrip())
        for place in alignment.places_of(start + indent, mark.end):
            for rect in _rects(self._text.document(), *place, outwards=not mark.accepted):
                if mark.accepted:
                    self._accepted.add(rect, QLineF(rect.bottomLeft(), rect.bottomRight()))
                else:
                    self._overruled.add(rect, _below(rect))
                    self.spots.append(Spot(mark, rect))

    def spot_at(self, at: QPoint) -> Spot | None:
        """`at` in the widget's viewport."""
        point = at + QPoint(self._text.horizontalScrollBar().value(), 0)
        return next((spot for spot in self.spots if spot.rect.contains(point)), None)

    def rect_of(self, spot: Spot) -> QRectF:
        """In the widget's viewport."""
        return spot.rect.translated(-self._text.horizontalScrollBar().value(), 0)

    def shows(self, spot: Spot) -> bool:
        """False where a wide table or long code is scrolled away from it."""
        return 0 <= self.rect_of(spot).center().x() < self._text.viewport().width()

    def _paint(self, painter: QPainter) -> None:
        color, thick, clip = self._theme.palette.draft, max(1.0, self._theme.scale), painter.clipBoundingRect()
        tint = QColor(color)
        tint.setAlphaF(_TINT_DARK if self._theme.dark else _TINT_LIGHT)
        seen = self._accepted.within(clip)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tint)
        painter.drawRects(self._accepted.rects[seen])
        painter.setPen(QPen(color, thick, Qt.PenStyle.DotLine))
        painter.drawLines(self._accepted.lines[seen])
        painter.setPen(QPen(color, 2 * thick))
        painter.drawLines(self._overruled.lines[self._overruled.within(clip)])


def _below(rect: QRectF) -> QLineF:
    """A little shorter than the words, so that neighbours stay apart."""
    inset = min(1.0, rect.width() / 4)
    return QLineF(rect.left() + inset, rect.bottom(), rect.right() - inset, rect.bottom())


def _rects(document: QTextDocument, start: int, end: int, *, outwards: bool) -> Iterator[QRectF]:
    """One for each line that the characters are on."""
    block = document.findBlock(start)
    while block.isValid() and block.position() < end:
        first, last = max(start, block.position()), min(end, block.position() + block.length() - 1)
        if first < last:
            yield from _rects_in(block, *whole_clusters(block, first, last, outwards=outwards))
        block = block.next()


def _rects_in(block: QTextBlock, start: int, end: int) -> Iterator[QRectF]:
    corner = block.document().documentLayout().blockBoundingRect(block).topLeft()
    first, last, layout = start - block.position(), end - block.position(), block.layout()
    while first < last:
        line = layout.lineForTextPosition(first)
        behind = min(last, line.textStart() + line.textLength()) if line.isValid() else first
        if behind <= first:
            return
        words = line.naturalTextRect()  # without the space that a line ends with
        ends = sorted(_x(line.cursorToX(place)) for place in (first, behind))  # from right to left, too
        left, right = max(ends[0], words.left()), min(ends[1], words.right())
        base = corner.y() + line.y() + line.ascent()
        # Not above the line: another one is kept where this one is measured again.
        top = base - min(line.ascent(), QFontMetricsF(block.charFormat().font()).ascent())
        if right > left:
            yield QRectF(corner.x() + left, top, right - left, base + _BELOW_PX - top)
        first = behind


def _x(answer: object) -> float:
    """PySide returns the position together with the cursor."""
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]
