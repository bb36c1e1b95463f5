"""A small ring beside *Models* in the sidebar, while something is downloaded: how far all of it is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.view_models.downloads import UNDER_WAY, DownloadEntry, DownloadState, share_done
from app.views.widgets.buttons import PaintedButton
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import fill, percent

_SIDE_PX = 16


class DownloadRing(Translated, PaintedButton):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._entries: Sequence[DownloadEntry] = ()
        self._retranslate()

    def show_entries(self, entries: Sequence[DownloadEntry]) -> None:
        self._entries = [entry for entry in entries if entry.state in UNDER_WAY]
        self._retranslate()

    @property
    def share(self) -> float:
        return share_done(self._entries)

    def _retranslate(self) -> None:
        """The figures change several times a second; shown are whole percents."""
        paused = all(entry.state is DownloadState.PAUSED for entry in self._entries)
        words = self.tr("Downloads paused at %1") if paused else self.tr("Downloading: %1")
        told = fill(words, percent(self.share))
        self.setVisible(bool(self._entries))
        if told != self.accessibleName():
            self.setAccessibleName(told)
            set_tooltip(self, told)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(32), self.theme.px(32))

    def paint_content(self, painter: QPainter) -> None:
        colors, side = self.theme.palette, self.theme.px(_SIDE_PX)
        ring = self.rect()
        ring.setSize(QSize(side, side))
        ring.moveCenter(self.rect().center())
        paused = all(entry.state is DownloadState.PAUSED for entry in self._entries)
        painter.setPen(QPen(colors.hairline, self.theme.px(2)))
        painter.drawEllipse(ring)
        color = colors.faint if paused else colors.ink
        painter.setPen(QPen(color, self.theme.px(2), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(ring, 90 * 16, -round(self.share * 360 * 16))
