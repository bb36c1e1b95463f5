"""A download in the list: name, progress, files (after a click), and buttons for its state."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.downloads import DownloadEntry, DownloadState
from app.views.link_dialog import ask_to_open
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, IconButton, OpeningButton, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.flow import Flow
from app.views.widgets.labels import NameLabel, TextLabel, TextStyle, say
from app.views.widgets.progress_line import ProgressLine
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.downloads import progress_text, retry_text
from app.words.formats import fill, labelled, size
from app.words.model_names import human_name
from app.words.notices_for_errors import reason_text

_BESIDE_UP_TO = 1.3  # text size at which a name and its figures have room side by side
_UNDER_WAY = (DownloadState.WAITING, DownloadState.RUNNING)


class DownloadRow(Translated, QWidget):
    def __init__(self, theme: Theme, models: ModelController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._downloads = models.downloads
        self._entry = DownloadEntry(0, ())  # until it is shown one
        self.name = NameLabel(theme)
        self.bar = ProgressLine(theme)
        self.words = TextLabel(theme, TextStyle.FINE)
        self.problem = TextLabel(theme, TextStyle.FAULT)  # of one half while the other goes on or is paused
        self.files_button = OpeningButton(theme, 22)
        self.files = FileLines(theme)
        self.go_button = IconButton(theme, "pause", 28)
        self.cancel_button = IconButton(theme, "x", 28)
        self.use_button = PillButton(theme, Emphasis.PRIMARY)
        self.try_button = PillButton(theme)
        self.page_button = PillButton(theme, Emphasis.QUIET, "external-link")
        self._arrange()
        self.go_button.clicked.connect(self._on_go)
        self.cancel_button.clicked.connect(self._on_cancel)
        self.try_button.clicked.connect(self._on_try)
        self.use_button.clicked.connect(lambda: models.use_downloaded(self._entry.id))
        self.page_button.clicked.connect(lambda: ask_to_open(self._entry.page, self._theme, self))
        self.files_button.setCheckable(True)
        self.files_button.toggled.connect(lambda: self.show_entry(self._entry))
        self._retranslate()

    def _arrange(self) -> None:
        """Only icons are beside the name, so that text has the whole width at any size."""
        head = arrange(QHBoxLayout(), (self.name, 1), self.go_button, self.cancel_button, spacing=4)
        line = arrange(QHBoxLayout(), (self.files_button, 0, Qt.AlignmentFlag.AlignTop), (self.words, 1), spacing=4)
        self._buttons = QWidget()
        Flow(self._buttons, self.use_button, self.try_button, self.page_button)
        parts = head, self.bar, line, self.files, self.problem, self._buttons
        arrange(QVBoxLayout(self), *parts, spacing=4, margins=(0, 4, 0, 0))

    def show_entry(self, entry: DownloadEntry) -> None:
        self._entry = entry
        failed = entry.state is DownloadState.FAILED
        finished = entry.state is DownloadState.FINISHED
        self.name.setText(" + ".join(map(human_name, entry.repositories)))
        set_tooltip(self.name, "\n".join(entry.repositories))
        self.words.setText(self._sentence(entry))
        self.words.set_text_style(TextStyle.FAULT if failed else TextStyle.FINE)
        say(self.problem, "" if failed else _problem_of_half(entry))
        share = entry.done_bytes / entry.total_bytes if entry.total_bytes else 0.0
        self.bar.setVisible(not failed and not finished)
        waits = entry.retry is not None and not entry.waiting
        self.bar.set_share(share, moving=entry.state is DownloadState.RUNNING and not waits)
        self.bar.setAccessibleName(self.words.text())
        self._show_files(entry)
        self._show_buttons(entry)

    def _show_files(self, entry: DownloadEntry) -> None:
        self.files_button.setVisible(bool(entry.files))
        opened = self.files_button.isChecked() and bool(entry.files)
        self.files_button.set_opened(opened)
        self.files_button.set_name(self.tr("Hide files") if opened else self.tr("Show files"))
        self.files.setVisible(opened)
        if opened:
            self.files.show_files(
                [
                    (
                        file.name,
                        progress_text(file.done_bytes, file.total_bytes, file.bytes_per_second, file.seconds_left),
                    )
                    for file in entry.files
                ]
            )

    def _show_buttons(self, entry: DownloadEntry) -> None:
        under_way = entry.state in _UNDER_WAY
        failed = entry.state is DownloadState.FAILED or entry.error is not None
        self.use_button.setVisible(entry.state is DownloadState.FINISHED)
        paused = entry.state is DownloadState.PAUSED  # to resume is to try again
        self.try_button.setVisible((failed and not paused) or entry.retry is not None)
        self.try_button.setText(self.tr("Try again") if failed else self.tr("Try now"))
        self.page_button.setVisible(bool(entry.page))
        shown = (self.use_button, self.try_button, self.page_button)
        self._buttons.setVisible(any(not button.isHidden() for button in shown))
        self.go_button.setVisible(under_way or entry.state is DownloadState.PAUSED)
        self.go_button.set_icon("pause" if under_way else "play")
        self.go_button.set_name(self.tr("Pause") if under_way else self.tr("Resume"))
        self.cancel_button.set_name(self._cancel_name(entry.state))

    def _cancel_name(self, state: DownloadState) -> str:
        if state is DownloadState.FINISHED:
            return self.tr("Remove from list")
        if state is DownloadState.FAILED:
            return self.tr("Remove and delete download")
        return self.tr("Cancel and delete download")

    def _retranslate(self) -> None:
        self.use_button.setText(self.tr("Use"))
        self.page_button.setText(self.tr("Open model page"))
        self.show_entry(self._entry)

    def _sentence(self, entry: DownloadEntry) -> str:
        if entry.state is DownloadState.FAILED:
            return reason_text(entry.error) if entry.error is not None else self.tr("The download failed.")
        if entry.state is DownloadState.FINISHED:
            return self.tr("Installed")
        if entry.state is DownloadState.PAUSED:
            return self._paused(entry)
        if entry.retry is not None and not entry.waiting:
            return retry_text(entry.retry)
        if not entry.total_bytes:
            return self.tr("Contacting hub…")
        return progress_text(entry.done_bytes, entry.total_bytes, entry.bytes_per_second, entry.seconds_left)

    def _paused(self, entry: DownloadEntry) -> str:
        why = self.tr("Turn off offline mode to resume.") if entry.offline else ""
        return f"{self._paused_at(entry)}\n{why}".strip()

    def _paused_at(self, entry: DownloadEntry) -> str:
        if not entry.total_bytes:
            return fill(self.tr("Paused at %1"), size(entry.done_bytes))
        return fill(self.tr("Paused at %1 of %2"), size(entry.done_bytes), size(entry.total_bytes))

    def _on_go(self) -> None:
        under_way = self._entry.state in _UNDER_WAY
        (self._downloads.pause if under_way else self._downloads.resume)(self._entry.id)

    def _on_try(self) -> None:
        """A half that failed comes first: the other one asks again by itself."""
        failed = self._entry.state is DownloadState.FAILED or self._entry.error is not None
        (self._downloads.resume if failed else self._downloads.try_now)(self._entry.id)

    def _on_cancel(self) -> None:
        finished = self._entry.state is DownloadState.FINISHED
        (self._downloads.dismiss if finished else self._downloads.cancel)(self._entry.id)


def _problem_of_half(entry: DownloadEntry) -> str:
    """Why one half of a pair failed while the other continues."""
    if entry.error is not None:
        return reason_text(entry.error)
    if not entry.waiting or entry.retry is None:
        return ""
    return labelled(human_name(entry.waiting), retry_text(entry.retry))


class FileLines(QWidget):
    """Names at the left, figures at the right or below where the text is large, in lines that are used again."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines: list[tuple[QWidget, NameLabel, TextLabel]] = []
        self._column = arrange(QVBoxLayout(self), spacing=2, margins=(0, 2, 0, 2))
        theme.changed.connect(self._stack)

    def show_files(self, files: list[tuple[str, str]]) -> None:
        while len(self._lines) < len(files):
            self._lines.append(self._line())
        for number, (line, name, figures) in enumerate(self._lines):
            line.setVisible(number < len(files))
            if number < len(files):
                name.setText(files[number][0])
                figures.setText(files[number][1])
        self._stack()

    def _line(self) -> tuple[QWidget, NameLabel, TextLabel]:
        line = QWidget()
        name = NameLabel(self._theme, TextStyle.FINE)
        figures = TextLabel(self._theme, TextStyle.FINE)
        arrange(QBoxLayout(QBoxLayout.Direction.LeftToRight, line), (name, 2), (figures, 3), margins=(0, 0, 0, 0))
        self._column.addWidget(line)
        return line, name, figures

    def _stack(self) -> None:
        stacked = self._theme.scale > _BESIDE_UP_TO
        for line, _, figures in self._lines:
            row = line.layout()
            assert isinstance(row, QBoxLayout)
            row.setDirection(QBoxLayout.Direction.TopToBottom if stacked else QBoxLayout.Direction.LeftToRight)
            row.setSpacing(0 if stacked else 8)
            figures.setAlignment(Qt.AlignmentFlag.AlignLeft if stacked else Qt.AlignmentFlag.AlignRight)


class DownloadsCard(Card):
    def __init__(self, theme: Theme, models: ModelController) -> None:
        super().__init__(theme)
        self._models = models
        self._rows: dict[int, DownloadRow] = {}
        models.downloads.changed.connect(self.show_downloads)
        self.show_downloads()

    def show_downloads(self) -> None:
        """Existing rows are updated in place, so that their buttons do not move under the pointer."""
        entries = {entry.id: entry for entry in self._models.downloads.entries}
        for gone in self._rows.keys() - entries.keys():
            row = self._rows.pop(gone)
            row.hide()
            row.deleteLater()
        for key, entry in entries.items():
            if key not in self._rows:
                self._rows[key] = DownloadRow(self.theme, self._models, self)
                self.column.addWidget(self._rows[key])
            self._rows[key].show_entry(entry)
        self.setVisible(bool(entries))
