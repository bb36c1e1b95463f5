"""The card with a project's files: what becomes of each, adding and removing them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.project import ProjectFile
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import IconButton, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.labels import ElidedLabel, TextLabel, TextStyle, say
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.projects import file_words

MOST_ROWS = 100  # the others are counted


class FileLine(Translated, QWidget):
    remove_requested = Signal(object)  # ProjectFile

    def __init__(self, theme: Theme, file: ProjectFile, is_whole: bool) -> None:
        super().__init__()
        self._shown = file, is_whole
        self.name = ElidedLabel(theme, TextStyle.BODY)
        self.state = TextLabel(theme, TextStyle.FINE)
        self.remove_button = IconButton(theme, "x", 24)
        words = arrange(QVBoxLayout(), self.name, self.state, spacing=2)
        arrange(QHBoxLayout(self), (words, 1), self.remove_button, spacing=8, margins=(0, 0, 0, 0))
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self._shown[0]))
        self._retranslate()

    def show_file(self, file: ProjectFile, is_whole: bool) -> None:
        """`is_whole`: it is read whole in every chat."""
        if (file, is_whole) != self._shown:
            self._shown = file, is_whole
            self._retranslate()

    def _retranslate(self) -> None:
        file, is_whole = self._shown
        self.name.setText(file.name)
        self.state.setText(file_words(file.size_bytes, file.state, file.problem, is_whole=is_whole))
        self.remove_button.set_name(fill(self.tr("Remove %1"), file.name))


class ProjectFilesCard(Translated, Card):
    add_requested = Signal()
    remove_requested = Signal(object)  # ProjectFile

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._files = 0
        self.lines: dict[int, FileLine] = {}  # by file
        self.label = TextLabel(theme, TextStyle.BODY)
        self.nothing = TextLabel(theme, TextStyle.FINE)
        self.more = TextLabel(theme, TextStyle.FINE)
        self.add_button = PillButton(theme, icon_name="plus")
        head = arrange(QHBoxLayout(), (self.label, 1), self.add_button, spacing=8)
        self._list = arrange(QVBoxLayout(), spacing=10)
        arrange(self.column, head, self.nothing, self._list, self.more)
        self.add_button.clicked.connect(self.add_requested)
        self._retranslate()

    def show_files(self, shown: Sequence[ProjectFile], whole: Collection[int], files: int) -> None:
        """`whole`: those read whole; `files`: how many there are. Lines of files that stay are kept, and with them the
        focus.
        """
        for number in self.lines.keys() - {each.id for each in shown}:
            line = self.lines.pop(number)
            self._list.removeWidget(line)
            line.hide()
            line.deleteLater()
        for at, file in enumerate(shown):
            if file.id in self.lines:
                self.lines[file.id].show_file(file, file.id in whole)
            else:
                line = self.lines[file.id] = FileLine(self.theme, file, file.id in whole)
                line.remove_requested.connect(self.remove_requested)
                self._list.insertWidget(at, line)
        if files != self._files:
            self._files = files
            self._retranslate()

    def _retranslate(self) -> None:
        self.label.setText(self.tr("Files"))
        self.add_button.setText(self.tr("Add Files…"))
        self.nothing.setText(self.tr("Drop files here. Small ones are read whole, the others are searched."))
        self.nothing.setVisible(not self._files)
        more = max(0, self._files - MOST_ROWS)
        say(self.more, self.tr("And %Ln more file(s)", "", more) if more else "")
