"""A panel over a window that opens from a button. It is part of the window, so that input methods work in it, and
closes when the focus goes elsewhere or something else is clicked. It follows its button.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QLayout, QMenu, QWidget

from app.theme import Theme
from app.views.widgets.focus import FocusBefore, put_in_tab_order
from app.views.widgets.painting import paint_surface

_FROM_BUTTON_PX = 6
_FROM_EDGE_PX = 12
_LEAST_PX = 200
_PLACING = (QEvent.Type.Move, QEvent.Type.Resize)


class Panel(QWidget):
    def __init__(self, theme: Theme, parent: QWidget, width_px: int, otherwise: Callable[[], None]) -> None:
        """`otherwise`: gets the focus if the former widget cannot."""
        super().__init__(parent)
        self._theme = theme
        self._within = parent
        self._width_px = width_px
        self._anchor: QWidget | None = None
        self.focus_before = FocusBefore(otherwise)
        self._placing = QTimer(self, singleShot=True, interval=0)  # after the layouts
        self._placing.timeout.connect(self._follow)
        theme.changed.connect(self._placing.start)
        theme.changed.connect(self.update)
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]
        self.hide()

    @property
    def first(self) -> QWidget:
        """What gets the focus when it opens."""
        raise NotImplementedError

    def wanted_px(self, width_px: int) -> int:
        """The height of all that is in it."""
        raise NotImplementedError

    def toggle(self, anchor: QWidget) -> None:
        if self.isVisible():
            self.leave()
        else:
            self.open_from(anchor)

    def open_from(self, anchor: QWidget) -> None:
        """Does nothing while it is open."""
        if not self.isVisible():
            self.focus_before.remember()
            self.open_at(anchor)

    def leave(self) -> None:
        """The focus goes back to where it was."""
        self.hide()
        self.focus_before.give_back()

    def open_at(self, anchor: QWidget) -> None:
        self._anchor = anchor
        self._place_at(anchor)
        self.show()
        for layout in self.findChildren(QLayout):
            layout.activate()  # the tab order is by place
        self.raise_()
        self.put_after_button()
        clicked = anchor.underMouse()
        self.first.setFocus(Qt.FocusReason.OtherFocusReason if clicked else Qt.FocusReason.TabFocusReason)

    def _follow(self) -> None:
        """Its button is elsewhere. While the window is hidden the panel is open too."""
        if self._anchor is not None and not self.isHidden():
            self._place_at(self._anchor)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        anchor = self._anchor
        if not isinstance(watched, QWidget) or anchor is None:
            return False
        if kind in _PLACING and (watched is anchor or watched.isAncestorOf(anchor)):
            self._placing.start()
        elif kind == QEvent.Type.MouseButtonPress and self._is_beside(watched) and watched is not anchor:
            self.leave()  # what takes no focus was clicked, or `_on_focus` would have closed it
        return False

    def _is_beside(self, widget: QWidget) -> bool:
        return widget.window() is self.window() and widget is not self and not self.isAncestorOf(widget)

    def put_after_button(self) -> None:
        """In the tab order, with what is shown in it now."""
        if self._anchor is not None:
            put_in_tab_order(self._anchor, self)

    def _place_at(self, anchor: QWidget) -> None:
        """Below the button, or above it where there is more room."""
        self._measure_again()
        window = self._within
        width = min(self._theme.px(self._width_px), window.width() - 2 * _FROM_EDGE_PX)
        top = anchor.mapTo(window, QPoint(0, 0))
        below = top.y() + anchor.height() + _FROM_BUTTON_PX
        above_px = top.y() - _FROM_BUTTON_PX - _FROM_EDGE_PX
        below_px = window.height() - below - _FROM_EDGE_PX
        left = top.x() + (anchor.width() - width) // 2
        left = max(_FROM_EDGE_PX, min(left, window.width() - width - _FROM_EDGE_PX))
        height = max(_LEAST_PX, min(self.wanted_px(width), max(above_px, below_px)))
        y = below if below_px >= above_px else top.y() - _FROM_BUTTON_PX - height
        self.setGeometry(left, y, width, height)

    def _measure_again(self) -> None:
        """Qt keeps the sizes of what was hidden while the text's size changed."""
        for widget in self.findChildren(QWidget):
            widget.updateGeometry()
        for layout in self.findChildren(QLayout):
            layout.invalidate()

    def _on_focus(self, old: QWidget | None, now: QWidget | None) -> None:
        inside = now is None or now is self or self.isAncestorOf(now) or isinstance(now, QMenu)
        if not self.isVisible() or now is None or inside or now.window() is not self.window():
            return
        if old is not None and self.isAncestorOf(old) and not (old.isVisibleTo(self) and old.isEnabled()):
            self.first.setFocus(Qt.FocusReason.OtherFocusReason)  # Qt gave it to what comes next in the window
        else:
            self.focus_before.forget()
            self.hide()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """In the window it would be a click beside the panel."""
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys outside a field are consumed: in the window they would close the panel."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            event.accept()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette)
