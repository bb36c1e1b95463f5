"""The icon beside the clock (in the Mac's menu bar): what runs, and the ways in. Off unless somebody turns it on.

The same icon carries the notifications, so it may be there for the moment of one.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QSystemTrayIcon

from app.controllers.asides import Asides
from app.controllers.models import ModelController
from app.view_models.model_list import PairState
from app.views.widgets.held_keys import Menu
from app.words.formats import fill

_SIDES_PX = (16, 22, 32, 44, 64)


class Tray(QObject):
    window_wanted = Signal()
    quick_ask_wanted = Signal()
    new_chat_wanted = Signal()
    quit_wanted = Signal()

    def __init__(self, asides: Asides, models: ModelController, parent: QObject) -> None:
        super().__init__(parent)
        self._asides = asides
        self._models = models
        self.icon = QSystemTrayIcon(mark_icon(), self)
        self.menu = Menu()
        self.menu.aboutToShow.connect(self.fill)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self.fill()

    def fill(self) -> None:
        """Each time that it opens, in the language of now."""
        self.menu.clear()
        for line in self.lines():
            self.menu.addAction(line.replace("&", "&&")).setEnabled(False)
        self.menu.addSeparator()
        for words, wanted in (
            (self.tr("Open Hunch"), self.window_wanted),
            (self.tr("Quick Ask…"), self.quick_ask_wanted),
            (self.tr("New Chat"), self.new_chat_wanted),
            (self.tr("Quit Hunch"), self.quit_wanted),
        ):
            self.menu.addAction(words).triggered.connect(lambda _checked=False, wanted=wanted: wanted.emit())
        self.icon.setToolTip("\n".join(("Hunch", *self.lines())))

    def lines(self) -> list[str]:
        """What is loaded, and how many replies are being written."""
        pair, writing = self._models.pair, self._asides.writing()
        names = f"{pair.main_name} ← {pair.draft_name}" if pair.draft_name else pair.main_name
        loaded = {
            PairState.NO_MODEL: self.tr("No model is loaded"),
            PairState.UNLOADED: self.tr("No model is in memory"),
            PairState.LOADING: fill(self.tr("Loading %1…"), pair.main_name),
            PairState.FAILED: fill(self.tr("%1 could not be loaded"), pair.main_name),
        }.get(pair.state, names)
        n = writing
        return [
            loaded,
            self.tr("%Ln reply(s) being written", "", n) if writing else self.tr("Nothing is being written"),
        ]

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.DoubleClick:
            self.window_wanted.emit()


def mark_icon() -> QIcon:
    """The mark in one colour, which the Mac turns over on a dark menu bar."""
    result = QIcon()
    for side_px in _SIDES_PX:
        pixmap = QPixmap(side_px, side_px)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor("black"))
        unit = side_px / 16
        painter.drawRoundedRect(0, round(5 * unit), round(6 * unit), round(6 * unit), 2 * unit, 2 * unit)
        for left, diameter in ((7.2, 4.2), (12.0, 3.0)):
            painter.drawEllipse(round(left * unit), round((8 - diameter / 2) * unit), *[round(diameter * unit)] * 2)
        painter.end()
        result.addPixmap(pixmap)
    result.setIsMask(True)
    return result
