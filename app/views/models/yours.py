"""Models → Yours: what is on its way, what is installed, and the folders that are looked in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import COLUMN_PX, Theme
from app.view_models.installed_list import ListView, ModelKind, ModelSort, disk_bytes, shown, starter_as_one
from app.view_models.model_list import ModelEntry
from app.views.models.download_row import DownloadsCard
from app.views.models.model_facts import uses_text
from app.views.models.model_row import FolderRow, ModelRow
from app.views.widgets.buttons import ChoiceButton, Emphasis, PillButton
from app.views.widgets.cards import Card, Page, clear
from app.views.widgets.dialog import Dialog, DialogText, ask
from app.views.widgets.fields import LineField
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import ShownText
from app.views.widgets.translated import Translated
from app.words.formats import count, fill, size
from app.words.model_names import human_name

_MOST_ROWS = 40  # until the user asks for the rest
_FEW = 6  # a list so short needs no search
_TEMPLATE_WIDTH_PX = 720
_TEMPLATE_HEIGHT_PX = 420


class YoursPage(Translated, Page):
    most_px = COLUMN_PX

    def __init__(self, theme: Theme, settings: Settings, models: ModelController) -> None:
        super().__init__(theme)
        self._settings = settings
        self._models = models
        self.downloads = DownloadsCard(theme, models)
        self.installed = InstalledCard(theme, models)
        self.refresh_button = PillButton(theme, Emphasis.PLAIN, "refresh-cw")
        self.add_folder_button = PillButton(theme, Emphasis.PLAIN, "folder-plus")
        self.title.hide()  # the header says it
        self.column.setContentsMargins(28, 12, 28, 28)
        self.column.addWidget(self.downloads)
        self._build_installed()
        self._build_folders()
        self.end()
        self._connect()
        self._retranslate()

    # Parts

    def _build_installed(self) -> None:
        row = QHBoxLayout()
        self._installed_heading = TextLabel(self.theme, TextStyle.HEADING)
        row.addWidget(self._installed_heading, 1)
        row.addWidget(self.refresh_button)
        self.column.addLayout(row)
        self.column.addWidget(self.installed)

    def _build_folders(self) -> None:
        self._folders_heading = self.add_heading()
        self._folders_explained = TextLabel(self.theme, TextStyle.FINE)
        self._folders = QVBoxLayout()
        foot = QHBoxLayout()
        foot.addWidget(self._folders_explained, 1)
        foot.addWidget(self.add_folder_button)
        card = Card(self.theme)
        card.column.addLayout(self._folders)
        card.column.addLayout(foot)
        self.column.addWidget(card)

    def _connect(self) -> None:
        self.refresh_button.clicked.connect(self._models.refresh)
        self.add_folder_button.clicked.connect(self._ask_for_folder)
        self._settings.changed.connect(lambda name: self._show_folders() if name == "model_folders" else None)

    def showEvent(self, event: QShowEvent) -> None:
        """Other programs may have added or deleted models."""
        super().showEvent(event)
        self._models.refresh()

    # Folders

    def _show_folders(self) -> None:
        clear(self._folders)
        for path in self._settings.model_folders:
            self._folders.addWidget(self._folder_row(path))

    def _folder_row(self, path: str) -> FolderRow:
        row = FolderRow(self.theme, path)
        row.remove_button.clicked.connect(lambda: self._models.sources.remove_folder(path))
        return row

    def _ask_for_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("Models folder"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._models.sources.add_folder)
        dialog.open()

    def _retranslate(self) -> None:
        self._installed_heading.setText(self.tr("Installed"))
        self.refresh_button.setText(self.tr("Refresh"))
        self._folders_heading.setText(self.tr("More folders"))
        self._folders_explained.setText(self.tr("Their models are listed, never changed."))
        self.add_folder_button.setText(self.tr("Add folder…"))
        self._show_folders()


class InstalledCard(Translated, QWidget):
    """What is installed: sorted and filtered as the user likes, with what can be done with each model."""

    machines_requested = Signal()

    def __init__(self, theme: Theme, models: ModelController) -> None:
        super().__init__()
        self._theme = theme
        self._models = models
        self._view = ListView()
        self._entries: list[ModelEntry] = []
        self._scanned = False
        self._open: set[str] = set()
        self._all_rows = False
        self.rows: list[ModelRow] = []
        self.search = LineField(theme)
        self.kind = ChoiceButton(theme)
        self.sort = ChoiceButton(theme)
        self.fits = FilterButton(theme)
        self.total = TextLabel(theme, TextStyle.FINE)
        self._cards = QVBoxLayout()
        self._tools = QWidget()
        self._arrange()
        self._connect()
        self._retranslate()

    def show_models(self) -> None:
        """Only what has changed is made again."""
        entries = starter_as_one(self._models.models)
        scanned = self._models.library.scanned
        if (entries, scanned) != (self._entries, self._scanned):
            self._entries = entries
            self._scanned = scanned
            self._show_rows()

    def _arrange(self) -> None:
        self._cards.setSpacing(8)
        buttons = Flow()
        for button in (self.kind, self.sort, self.fits):
            buttons.addWidget(button)
        tools = QVBoxLayout(self._tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.setSpacing(8)
        tools.addWidget(self.search)
        tools.addLayout(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._tools)
        column.addLayout(self._cards)
        column.addWidget(self.total)

    def _connect(self) -> None:
        self.kind.set_value(self._view.kind)
        self.sort.set_value(self._view.sort)
        self.search.textChanged.connect(lambda text: self._set_view(text=text))
        self.kind.chosen.connect(lambda kind: self._set_view(kind=kind))
        self.sort.chosen.connect(lambda sort: self._set_view(sort=sort))
        self.fits.toggled.connect(lambda on: self._set_view(fits_only=on))
        self._models.models_changed.connect(self.show_models)
        self._models.library.template_read.connect(self._show_template)
        self._models.library.verify_progressed.connect(self._show_progress)

    def _show_template(self, folder: str, text: str) -> None:
        name = next((row.name for row in self.rows if row.folder == folder), "")
        if name and self.isVisible():
            TemplateDialog(self._theme, self, name, text).open()

    def _show_progress(self, folder: str) -> None:
        for row in self.rows:
            if row.folder == folder:
                row.show_upkeep(self._models.library.upkeep(folder))

    def _set_view(self, **changes: object) -> None:
        self._view = replace(self._view, **changes)  # type: ignore[arg-type]
        self.kind.set_value(self._view.kind)
        self.sort.set_value(self._view.sort)
        self._show_rows()

    def _show_rows(self) -> None:
        focused = next(
            ((place, row.folder, name) for place, row in enumerate(self.rows) if (name := row.focused_button())), None
        )
        found = shown(self._entries, self._view)
        visible = found if self._all_rows else found[:_MOST_ROWS]
        self.rows = [self._row(entry) for entry in visible]
        rows: list[QWidget] = list(self.rows)
        if len(visible) < len(found):
            rows.append(self._rest(len(found) - len(visible)))
        clear(self._cards)
        for each in rows or [self._nothing()]:
            self._cards.addWidget(each)
        self._tools.setVisible(len(self._entries) > _FEW or self._view != ListView(sort=self._view.sort))
        self.total.setVisible(bool(self._entries))
        self.total.setText(self._total(found))
        if focused is not None and self.rows:
            self._focus_again(*focused)

    def _focus_again(self, place: int, folder: str, button: str) -> None:
        """On the row of that model, or, where it was deleted, on the one in its place."""
        nearest = self.rows[min(place, len(self.rows) - 1)]
        next((row for row in self.rows if row.folder == folder), nearest).focus_button(button)

    def _row(self, entry: ModelEntry) -> ModelRow:
        row = ModelRow(self._theme, entry, self._models)
        if entry.folder in self._open:
            row.show_facts(True)
        row.opened.connect(lambda is_open: (self._open.add if is_open else self._open.discard)(entry.folder))
        row.machines_button.clicked.connect(self.machines_requested)
        row.delete_button.clicked.connect(lambda: self.ask_to_delete(entry))
        return row

    def ask_to_delete(self, entry: ModelEntry) -> Dialog:
        def text() -> DialogText:
            frees = fill(self.tr("Frees %1."), size(entry.size_bytes))
            title = fill(self.tr("Delete %1?"), human_name(entry.name))
            return DialogText(title, uses_text(entry), frees, self.tr("Delete"), self.tr("Cancel"))

        return ask(self._theme, self, text, lambda: self._models.delete(entry.folder))

    def _rest(self, number: int) -> PillButton:
        button = PillButton(self._theme, Emphasis.QUIET)
        button.setText(fill(self.tr("Show %1 more"), count(number)))
        button.clicked.connect(self._show_all)
        return button

    def _show_all(self) -> None:
        self._all_rows = True
        self._show_rows()

    def _nothing(self) -> TextLabel:
        text = self.tr("No models installed.")
        if not self._scanned:
            text = self.tr("Looking for models…")
        elif self._entries:
            text = self.tr("No matching models.")
        return TextLabel(self._theme, TextStyle.SECONDARY, text=text)

    def _total(self, found: Sequence[ModelEntry]) -> str:
        own = [entry for entry in self._entries if entry.can_delete]
        number = self.tr("%Ln model(s)", "", len(self._entries))
        everything = f"{number} · {size(disk_bytes(self._entries))}"
        if own:
            everything = fill(self.tr("%1 · Installed by Hunch: %2"), everything, size(disk_bytes(own)))
        if len(found) == len(self._entries):
            return everything
        return fill(self.tr("%1 shown · %2"), count(len(found)), everything)

    def _retranslate(self) -> None:
        self.search.setPlaceholderText(self.tr("Search installed models"))
        self.search.setAccessibleName(self.tr("Search installed models"))
        self.kind.set_choices(
            [
                (ModelKind.ALL, self.tr("All kinds")),
                (ModelKind.CHAT, self.tr("Chat models")),
                (ModelKind.DRAFTER, self.tr("Drafters")),
            ]
        )
        self.kind.setAccessibleName(self.tr("Kind"))
        self.sort.set_choices(
            [
                (ModelSort.NAME, self.tr("By name")),
                (ModelSort.SIZE, self.tr("By size")),
                (ModelSort.LAST_USED, self.tr("By last use")),
            ]
        )
        self.sort.setAccessibleName(self.tr("Order"))
        self.fits.setText(self.tr("Runs on this Mac"))
        self._entries = starter_as_one(self._models.models)
        self._scanned = self._models.library.scanned
        self._show_rows()


class FilterButton(PillButton):
    """On or off; on is as strong as a main button."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, Emphasis.PLAIN)
        self.setCheckable(True)
        self.toggled.connect(self._show_state)

    def _show_state(self, on: bool) -> None:
        self.set_emphasis(Emphasis.PRIMARY if on else Emphasis.PLAIN)


class TemplateDialog(Dialog):
    def __init__(self, theme: Theme, parent: QWidget, model: str, template: str) -> None:
        super().__init__(theme, parent, lambda: self._words(model, template), width_px=_TEMPLATE_WIDTH_PX)
        self.text = ShownText(theme, self)
        self.text.setMinimumHeight(theme.px(_TEMPLATE_HEIGHT_PX))
        self.text.setAccessibleName(self.title.text())
        self.text.setVisible(bool(template))
        self.text.set_text(template)
        self.content.addWidget(self.text)
        self._fit()

    def _words(self, model: str, template: str) -> DialogText:
        title = fill(self.tr("Chat template of %1"), model)
        explanation = self.tr("How chats are formatted for the model.")
        none = self.tr("No readable chat template found.")
        return DialogText(title, explanation if template else none, act=self.tr("Close"))
