"""A download in the list: repository, bytes, speed, and the buttons for its state."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.model_list import DownloadEntry, DownloadState
from app.views.widgets.buttons import IconButton
from app.views.widgets.labels import ElidedLabel, TextLabel, TextStyle
from app.views.widgets.translated import Translated
from app.words.formats import fill, size
from app.words.notices_for_errors import Problem, notice_for


class DownloadRow(Translated, QWidget):
    pause_requested = Signal()
    resume_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: DownloadEntry | None = None
        self.name = ElidedLabel(theme, TextStyle.BODY, Qt.TextElideMode.ElideMiddle)
        self.bar = ProgressLine(theme)
        self.words = TextLabel(theme, TextStyle.FINE)
        self.go_button = IconButton(theme, "pause", 28)
        self.cancel_button = IconButton(theme, "x", 28)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.name)
        words.addWidget(self.bar)
        words.addWidget(self.words)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(4)
        row.addLayout(words, 1)
        row.addSpacing(8)
        row.addWidget(self.go_button)
        row.addWidget(self.cancel_button)
        self.go_button.clicked.connect(self._on_go)
        self.cancel_button.clicked.connect(self.cancel_requested)

    def show_entry(self, entry: DownloadEntry) -> None:
        self._entry = entry
        self.name.setText(entry.repository)
        self.words.setText(self._sentence(entry))
        self.words.set_text_style(TextStyle.FAULT if entry.state == DownloadState.FAILED else TextStyle.FINE)
        share = entry.done_bytes / entry.total_bytes if entry.total_bytes else 0.0
        self.bar.set_share(share, moving=entry.state == DownloadState.RUNNING)
        self.bar.setAccessibleName(self.words.text())
        running = entry.state in (DownloadState.RUNNING, DownloadState.WAITING)
        names = {True: self.tr("Pause"), False: self.tr("Resume")}
        failed = entry.state == DownloadState.FAILED
        self.go_button.set_icon("pause" if running else "refresh-cw" if failed else "play")
        self.go_button.set_name(self.tr("Try again") if failed else names[running])
        self.cancel_button.set_name(self.tr("Cancel and delete what has arrived"))

    def _retranslate(self) -> None:
        if self._entry is not None:
            self.show_entry(self._entry)

    def _sentence(self, entry: DownloadEntry) -> str:
        if entry.state == DownloadState.FAILED:
            return _reason(entry.error) if entry.error is not None else self.tr("The download failed.")
        if not entry.total_bytes:
            return self.tr("Asking the hub…")
        values = (size(entry.done_bytes), size(entry.total_bytes), size(round(entry.bytes_per_second)))
        if entry.state == DownloadState.PAUSED:
            return fill(self.tr("Paused at %1 of %2"), *values)
        return fill(self.tr("%1 of %2, %3 per second"), *values)

    def _on_go(self) -> None:
        running = self._entry is not None and self._entry.state in (DownloadState.RUNNING, DownloadState.WAITING)
        (self.pause_requested if running else self.resume_requested).emit()


def _reason(error: Problem) -> str:
    notice = notice_for(error)
    return "\n".join(words for words in (notice.sentence, notice.hint) if words)


class ProgressLine(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.share = 0.0
        self._moving = False
        self.setFixedHeight(4)

    def set_share(self, share: float, moving: bool) -> None:
        self._moving = moving
        self.share = min(max(share, 0.0), 1.0)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.palette.hairline)
        painter.drawRoundedRect(QRectF(self.rect()), 2, 2)
        painter.setBrush(self._theme.palette.ink if self._moving else self._theme.palette.faint)
        painter.drawRoundedRect(QRectF(0, 0, self.width() * self.share, self.height()), 2, 2)
        painter.end()
