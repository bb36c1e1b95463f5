"""Tooltips of plain text. Qt reads one that looks like HTML as rich text, which loads what it names."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import (
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListWidgetItem, QWidget
from shiboken6 import isValid

from app.theme import FOOTER_PX, RADIUS_ROW, UI_PX
from app.views.widgets.painting import paint_card

_MARGIN_PX = 6
_WIDEST = 60  # in letters of usual width
_MOST = 3000  # letters; a whole screen has no room for more, and an error's text may be of any length
_FROM_POINTER = QPoint(2, 20)
_EDGE_PX = 4  # of the screen
_EDGE = 0.14  # of the strength of the words
_STAYS_MS, _A_LETTER_MS = 10_000, 40
_WRAPS = QTextOption()
_WRAPS.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
_ENDS = (
    QEvent.Type.Leave,
    QEvent.Type.Hide,
    QEvent.Type.WindowDeactivate,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.KeyPress,
    QEvent.Type.Wheel,
    QEvent.Type.Close,
)


def set_tooltip(at: QWidget | QListWidgetItem, text: str) -> None:
    """Shows `text` as it is: titles of chats are often a model's, names of files not ours."""
    if isinstance(at, QWidget) and text and not at.toolTip():
        at.installEventFilter(_asked())
    at.setToolTip(text)


def show_item_tooltips(view: QAbstractItemView) -> None:
    """What its model has for `ToolTipRole`."""
    view.viewport().installEventFilter(_asked())


def show_tooltip(position: QPoint, text: str, at: QWidget, around: QRect | None = None) -> None:
    """At once, near a place of the screen. It ends where the pointer leaves `around`, or `at`."""
    tooltip = _tooltip()
    if not tooltip.isVisible() or (tooltip.text, tooltip.around) != (text, around):
        tooltip.open(position, text, at, around)


def shown_tooltip() -> Tooltip | None:
    return _tooltip() if _tooltip().isVisible() else None


class Tooltip(QWidget):
    """One for the whole app: a widget that Qt deletes while Python lets go of it is freed twice."""

    def __init__(self) -> None:
        super().__init__(None, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.text = ""
        self.around: QRect | None = None
        self._at: QWidget | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.hide)
        for attribute in (
            Qt.WidgetAttribute.WA_TranslucentBackground,
            Qt.WidgetAttribute.WA_ShowWithoutActivating,
            Qt.WidgetAttribute.WA_TransparentForMouseEvents,
        ):
            self.setAttribute(attribute)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.document = QTextDocument(self)
        self.document.setDocumentMargin(_MARGIN_PX)
        self.document.setDefaultTextOption(_WRAPS)

    def open(self, position: QPoint, text: str, at: QWidget, around: QRect | None) -> None:
        """As wide as its longest line up to a limit, and whole on the screen: above the pointer where it has to be."""
        self.hide()
        self.text, self.around, self._at = text, around, at
        font = QApplication.font()
        font.setPointSizeF(font.pointSizeF() * FOOTER_PX / UI_PX)
        self.document.setDefaultFont(font)
        shown = text if len(text) <= _MOST else f"{text[:_MOST]}…"
        self.document.setPlainText(shown)
        screen = (QGuiApplication.screenAt(position) or at.screen()).availableGeometry()
        screen.adjust(_EDGE_PX, _EDGE_PX, -_EDGE_PX, -_EDGE_PX)
        letter_px = QFontMetrics(font).averageCharWidth()
        self.document.setTextWidth(min(_WIDEST * letter_px, screen.width()))
        self.document.setTextWidth(self.document.idealWidth())
        self.resize(self.document.size().toSize().boundedTo(screen.size()))
        place = QRect(position + _FROM_POINTER, self.size())
        if place.bottom() > screen.bottom():
            place.moveBottom(position.y() - _EDGE_PX)
        place.moveLeft(max(screen.left(), min(place.left(), screen.right() - place.width() + 1)))
        place.moveTop(max(screen.top(), place.top()))
        self.move(place.topLeft())
        if (app := QApplication.instance()) is not None:
            app.installEventFilter(self)
        self.show()
        self._timer.start(_STAYS_MS + _A_LETTER_MS * len(shown))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
        self._at = None
        if (app := QApplication.instance()) is not None:
            app.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Only while it is shown: Python sees each event of the app meanwhile."""
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove and watched is self._at:
            ends = self.around is not None and not self.around.contains(event.position().toPoint())
        else:
            of_it = event.type() not in (QEvent.Type.Leave, QEvent.Type.Hide) or watched is self._at
            ends = event.type() in _ENDS and of_it
        if ends and watched is not self:
            self.hide()
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        palette = QApplication.palette()
        edge = palette.toolTipText().color()
        edge.setAlphaF(_EDGE)
        painter = QPainter(self)
        paint_card(painter, self.rect(), RADIUS_ROW, palette.toolTipBase().color(), edge)
        self.document.drawContents(painter)
        painter.end()


_tooltips: list[Tooltip] = []  # the one of the app


def _tooltip() -> Tooltip:
    if not _tooltips or not isValid(_tooltips[0]):  # deleted by who closes all windows
        _tooltips[:] = [Tooltip()]
    return _tooltips[0]


class _Asked(QObject):
    """Comes before the widgets that have a tooltip, and shows ours where Qt would show its own."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent) or not isinstance(watched, QWidget):
            return False
        text, around, view = watched.toolTip(), None, watched.parent()
        if isinstance(view, QAbstractItemView):
            index = view.indexAt(event.pos())
            text, around = str(index.data(Qt.ItemDataRole.ToolTipRole) or ""), view.visualRect(index)
        if text:
            show_tooltip(event.globalPos(), text, watched, around)
        return bool(text)


@cache
def _asked() -> _Asked:
    return _Asked()
