"""A window beside the main one, and how any window comes to the front."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.widgets.held_keys import modifiers_of


def bring_to_front(window: QWidget) -> None:
    """Show the window in front, also if it was hidden or minimized."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()


class SideWindow(QWidget):
    """Escape and the close key close it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        # Customized, without what Qt adds to other windows: on a Mac it comes over a main window that is full screen.
        kinds = Qt.WindowType
        buttons = kinds.WindowSystemMenuHint | kinds.WindowMinMaxButtonsHint | kinds.WindowCloseButtonHint
        super().__init__(parent, kinds.Window | kinds.CustomizeWindowHint | kinds.WindowTitleHint | buttons)
        self._theme = theme
        theme.changed.connect(self.update)

    def begin_with(self, width: int, height: int) -> None:
        """The size at first: at 100 %, and more with larger text as far as the screen has room for it."""
        size = QSize(width, height)
        self.resize(size.expandedTo((size * self._theme.scale).boundedTo(self.screen().availableSize() * 0.9)))

    def come_to_front(self) -> None:
        bring_to_front(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        close_keys = event.key() == Qt.Key.Key_W and modifiers_of(event) == Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Escape or close_keys:
            self.close()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.palette.window)
