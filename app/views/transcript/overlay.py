"""Marks of drafted text in visible replies, and the card of a correction.

Here: which widgets get marks, painting, the card, pointer and keys. Positions of text in the Markdown are in
`markup/alignment.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from PySide6.QtCore import QEvent, QLineF, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextBlock,
    QTextDocument,
)
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from app.markup.alignment import Alignment, whole_clusters
from app.markup.block import Block
from app.markup.copying import table_of
from app.markup.json_text import may_be_json
from app.markup.lines import blocks_in, line_segments, rect_of
from app.theme import Theme
from app.view_models.drafted_text import DraftedText, DraftMark
from app.view_models.transcript import TranscriptMessage, TranscriptModel
from app.views.transcript.parts import Part
from app.views.transcript.text_parts import ReadOnlyText
from app.views.transcript.view import TranscriptView
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.painting import paint_surface
from app.words.overlay import CardWords, card_words

_GAP_PX = 6
_BELOW_PX = 4  # the base line
_TINT_LIGHT = 0.15
_TINT_DARK = 0.24
_STYLES = (TextStyle.FINE, TextStyle.BODY, TextStyle.FINE, TextStyle.HEADING, TextStyle.FINE)


class OverlayCard(QWidget):
    """The card: what the draft proposed, what the main model wrote, the position in the draft, the pass.

    It covers the transcript, but not the pointer, and moves nothing.
    """

    left = Signal()  # by a key, where a key has brought it

    def __init__(self, theme: Theme, area: QWidget) -> None:
        super().__init__(area)
        self._area = area
        self._theme = theme
        self.words = CardWords("", "", "", "", "")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._labels = [TextLabel(theme, style, self) for style in _STYLES]
        for label in self._labels:
            label.setWordWrap(False)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 9, 12, 9)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        for number, label in enumerate(self._labels[:4]):
            grid.addWidget(label, number // 2, number % 2)
        grid.addWidget(self._labels[4], 2, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        theme.changed.connect(self.hide)
        self.hide()

    def show_words(self, words: CardWords) -> None:
        self.words = words
        texts = (words.wanted_label, words.wanted, words.chosen_label, words.chosen, words.place)
        for label, text in zip(self._labels, texts, strict=True):
            label.setText(text)
        self.setAccessibleName(words.sentence)

    def close_by_key(self) -> None:
        """Close it by Escape or by typing from here on, wherever the focus is."""
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        application = QApplication.instance()
        assert application is not None
        application.removeEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() == QEvent.Type.KeyRelease:
            return False
        is_escape = event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride:
            if is_escape:
                event.accept()  # no shortcut of the window's
            return is_escape
        if is_escape or event.text():
            self.left.emit()
        return is_escape

    def place_at(self, below: QPoint, height_px: int) -> None:
        """Under the words that it is about, or above them where there is no room."""
        self.adjustSize()
        area = self._area.rect()
        x = max(4, min(below.x(), area.right() - self.width() - 4))
        y = below.y() + _GAP_PX
        if y + self.height() > area.bottom():
            y = below.y() - height_px - _GAP_PX - self.height()
        self.move(x, max(4, y))
        self.show()
        self.raise_()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette)


class OverlayMode(StrEnum):
    OFF = "off"
    GUESSED = "foreseen"  # as older settings have it
    ACCEPTED = "accepted"  # and corrections


class Overlay(QObject):
    """One for a transcript. `shown_once`: a message whose marks are shown in every mode."""

    def __init__(self, view: TranscriptView, model: TranscriptModel, theme: Theme) -> None:
        super().__init__(view)
        self._view = view
        self._model = model
        self._theme = theme
        self._layers: dict[int, OverlayLayer] = {}  # by identity of the text
        self._spot: tuple[OverlayLayer, ShownCorrection] | None = None  # that the card is about
        self.mode = OverlayMode.OFF
        self.shown_once = 0
        self.card = OverlayCard(theme, view.viewport())
        self.card.left.connect(self.hide_card)
        view.visible_parts.placed.connect(self.show)
        view.verticalScrollBar().valueChanged.connect(self.hide_card)

    def set_mode(self, mode: OverlayMode) -> None:
        self.mode = mode
        self.hide_card()
        self.show()

    def show_once(self, message_id: int) -> None:
        """Show this message's marks; 0: none."""
        self.shown_once = message_id
        self.show()

    def show(self) -> None:
        """Update the marks of visible parts; unchanged ones are cheap."""
        wanted = {}
        if self.mode is not OverlayMode.OFF or self.shown_once:
            for part, _ in self._view.visible_parts.shown():
                text = _text_of(part)
                message = None if text is None else self._model.message(part.message_id)
                is_marked = message is not None and self._mode_of(message) is not OverlayMode.OFF
                if text is not None and message is not None and is_marked and _is_of_last_step(part, message):
                    wanted[id(text)] = (part, text, message)
        for key in [key for key in self._layers if key not in wanted]:
            self._leave(self._layers.pop(key))
        for key, (part, text, message) in wanted.items():
            self._show_in(key, part, text, message)
        if self._spot is not None and self._spot[1] not in self._spot[0].spots:
            self.hide_card()

    def _leave(self, layer: OverlayLayer) -> None:
        layer.text.horizontalScrollBar().valueChanged.disconnect(self.hide_card)
        layer.clear()

    def _mode_of(self, message: TranscriptMessage) -> OverlayMode:
        if not message.drafted or may_be_json(message.text):  # that is shown in other words than it was written
            return OverlayMode.OFF
        return OverlayMode.ACCEPTED if message.id == self.shown_once else self.mode

    def _show_in(self, key: int, part: Part, text: ReadOnlyText, message: TranscriptMessage) -> None:
        assert message.drafted is not None
        if key not in self._layers:
            self._layers[key] = OverlayLayer(text, self._theme)
            text.viewport().setMouseTracking(True)
            text.viewport().installEventFilter(self)
            text.horizontalScrollBar().valueChanged.connect(self.hide_card)
        layer = self._layers[key]
        mode = self._mode_of(message)
        grows = message.drafted.version if self._may_grow(part) else 0
        looks = (part, part.start, part.measured_width_px, text.document().revision(), grows, mode)
        if layer.looks == looks:
            return
        layer.looks = looks
        thinking = _is_thinking(part, message)
        source = message.thinking if thinking else message.text
        layer.show(message.drafted, source, part.start, thinking=thinking, corrections=mode is OverlayMode.ACCEPTED)

    def _may_grow(self, part: Part) -> bool:
        """Whether it is the last block of its section."""
        assert part.address is not None
        row = self._model.row_of(part.message_id)
        assert row is not None
        section = part.address[:2]
        below = (each for each in reversed(self._view.items[row].parts) if each.address and each.address[:2] == section)
        return next(below, None) is part

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            text = watched.parent() if isinstance(watched, QWidget) else None
            layer = self._layers.get(id(text))
            spot = None if layer is None else layer.spot_at(event.position().toPoint())
            if layer is None or spot is None:
                self.hide_card()
            else:
                self.show_card(layer, spot)
        elif event.type() == QEvent.Type.Leave:
            self.hide_card()
        return False

    @property
    def has_guessed_in_sight(self) -> bool:
        return any(layer.tints for layer in self._layers.values())

    @property
    def has_corrections_in_sight(self) -> bool:
        return bool(self._in_order())

    def step(self, delta: int) -> None:
        """Show the card of the next visible correction (1) or the previous (-1), also to screen readers."""
        spots = self._in_order()
        if not spots:
            return
        at = next((number for number, each in enumerate(spots) if each == self._spot), None)
        if at is None:
            at = -1 if delta > 0 else 0
        self.show_card(*spots[(at + delta) % len(spots)])
        self._view.message_keys.announce(self.card.words.sentence)
        self.card.close_by_key()

    def _in_order(self) -> list[tuple[OverlayLayer, ShownCorrection]]:
        """Corrections in sight, from above, each once however many lines it is on."""
        page = self._view.viewport().rect()
        placed = []
        for layer in self._layers.values():
            for spot in layer.spots:
                place = self._place(layer, spot)
                if page.contains(place) and layer.shows(spot):
                    placed.append((place.y(), place.x(), layer, spot))
        placed.sort(key=lambda each: each[:2])
        seen: set[int] = set()
        return [
            (layer, spot)
            for _, _, layer, spot in placed
            if id(spot.mark) not in seen and not seen.add(id(spot.mark))  # type: ignore[func-returns-value]
        ]

    def _place(self, layer: OverlayLayer, spot: ShownCorrection) -> QPoint:
        corner = layer.rect_of(spot).bottomLeft().toPoint()
        return layer.text.viewport().mapTo(self._view.viewport(), corner)

    def show_card(self, layer: OverlayLayer, spot: ShownCorrection) -> None:
        if self._spot == (layer, spot) and self.card.isVisibleTo(self._view):
            return
        self._spot = (layer, spot)
        self.card.show_words(card_words(spot.mark, spot.written))
        self.card.place_at(self._place(layer, spot), round(spot.rect.height()))

    def hide_card(self) -> None:
        self._spot = None
        self.card.hide()


def _text_of(part: Part) -> ReadOnlyText | None:
    """The widget that shows the part's words, if it is a block of a reply."""
    if not isinstance(part.content, Block) or part.address is None:
        return None
    text = part.selectable
    return text if isinstance(text, ReadOnlyText) else None


def _is_thinking(part: Part, message: TranscriptMessage) -> bool:
    assert part.address is not None
    return part.address[0] == 3 * len(message.steps) + 1


def _is_of_last_step(part: Part, message: TranscriptMessage) -> bool:
    """Marks are of the message's own thinking and text, not of those before its calls."""
    assert part.address is not None
    return _is_thinking(part, message) or part.address[0] == 3 * len(message.steps) + 2


@dataclass(frozen=True, slots=True)
class ShownCorrection:
    mark: DraftMark
    written: str  # by the main model
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
    """What was measured, and where its last line began, which may still wrap differently."""

    looks: object
    text: str
    line_place: int = 0
    line_source: int = 0
    line_top: float = 0.0


class OverlayLayer:
    """The marks below the words of one text widget. Measured ones are kept while the text only grows.

    Accepted text is tinted with a dotted line; a correction has a solid line, so that the two differ without colour.
    """

    def __init__(self, text: ReadOnlyText, theme: Theme) -> None:
        self.spots: list[ShownCorrection] = []
        self.looks: object = None  # what they depend on, when they were last shown
        self.text = text
        self._theme = theme
        self._accepted = _Drawn()
        self._overruled = _Drawn()
        self._seen = _Seen(None, "")
        text.painted_below.connect(self._paint)

    @property
    def tints(self) -> list[QRectF]:
        return self._accepted.rects

    def clear(self) -> None:
        self.text.painted_below.disconnect(self._paint)
        self.text.viewport().update()

    def show(self, drafted: DraftedText, source: str, start: int, *, thinking: bool, corrections: bool) -> None:
        """`start`: where the widget's text begins in `source`. Without `corrections` only accepted text."""
        document = self.text.document()
        looks = (start, thinking, corrections, document.textWidth(), self._theme.scale)
        seen = self._go_on_from(looks, document)
        alignment = Alignment(document, source, max(start, seen.line_source), seen.line_place)
        first = max(start, seen.line_source)
        for mark in drafted.between(first, alignment.source_end, thinking=thinking):
            if corrections or mark.accepted:
                self._measure(mark, max(first, mark.start), source, alignment)
        self._seen = self._seen_now(looks, alignment, seen)
        self.text.viewport().update()

    def _go_on_from(self, looks: object, document: QTextDocument) -> _Seen:
        """Keeps what is above the last line, if the text has only grown."""
        seen = self._seen
        text = document.toPlainText()
        grew = seen.looks == looks and len(text) > len(seen.text) and text.startswith(seen.text)
        if not grew or table_of(document) is not None:  # other words in a cell move all columns
            seen = _Seen(looks, text)
        self._accepted.keep_above(seen.line_top - 1)
        del self.spots[self._overruled.keep_above(seen.line_top - 1) :]
        return seen

    def _seen_now(self, looks: object, alignment: Alignment, before: _Seen) -> _Seen:
        document = self.text.document()
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
            for rect in _rects(self.text.document(), *place, outwards=not mark.accepted):
                if mark.accepted:
                    self._accepted.add(rect, QLineF(rect.bottomLeft(), rect.bottomRight()))
                else:
                    self._overruled.add(rect, _below(rect))
                    self.spots.append(ShownCorrection(mark, source[mark.start : mark.end], rect))

    def spot_at(self, at: QPoint) -> ShownCorrection | None:
        """The correction at a point of the viewport."""
        point = at + QPoint(self.text.horizontalScrollBar().value(), 0)
        return next((spot for spot in self.spots if spot.rect.contains(point)), None)

    def rect_of(self, spot: ShownCorrection) -> QRectF:
        """In the widget's viewport."""
        return spot.rect.translated(-self.text.horizontalScrollBar().value(), 0)

    def shows(self, spot: ShownCorrection) -> bool:
        """Whether it is visible, in a table or code that is scrolled sideways."""
        return 0 <= self.rect_of(spot).center().x() < self.text.viewport().width()

    def _paint(self, painter: QPainter) -> None:
        color = self._theme.palette.draft
        thick = max(1.0, self._theme.scale)
        clip = painter.clipBoundingRect()
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
    for block in blocks_in(document, start, end):
        first = max(start - block.position(), 0)
        last = min(end - block.position(), block.length() - 1)
        if first < last:
            yield from _rects_in(block, *whole_clusters(block, first, last, outwards=outwards))


def _rects_in(block: QTextBlock, start: int, end: int) -> Iterator[QRectF]:
    corner = rect_of(block).topLeft()
    for line, first_x, last_x in line_segments(block, start, end):
        words = line.naturalTextRect()  # without the space that a line ends with
        left = max(first_x, words.left())
        right = min(last_x, words.right())
        base = corner.y() + line.y() + line.ascent()
        # Not above the line: another one is kept where this one is measured again.
        top = base - min(line.ascent(), QFontMetricsF(block.charFormat().font()).ascent())
        if right > left:
            yield QRectF(corner.x() + left, top, right - left, base + _BELOW_PX - top)
