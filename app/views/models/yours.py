"""Models → Yours: downloads, installed models, and the folders that are searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.settings import Settings
from app.system.file_manager import reveal
from app.theme import COLUMN_PX, Theme
from app.view_models.installed_list import (
    ListView,
    ModelKind,
    ModelSort,
    disk_bytes,
    is_too_large,
    shown,
    starter_as_one,
)
from app.view_models.model_list import ModelEntry, Upkeep, UpkeepState
from app.views.models.badge import DraftBadge
from app.views.models.download_row import DownloadsCard
from app.views.models.model_facts import facts, upkeep_text, uses_text
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton, Emphasis, IconButton, OpeningButton, PillButton
from app.views.widgets.cards import Card, Page, clear
from app.views.widgets.dialog import Dialog, DialogText, ask
from app.views.widgets.fields import LineField
from app.views.widgets.flow import Flow
from app.views.widgets.focus import focus_row, row_in_focus
from app.views.widgets.labels import ElidedLabel, NameLabel, TextLabel, TextStyle, describe
from app.views.widgets.long_text import ShownText
from app.views.widgets.translated import Translated
from app.words.formats import count, fill, size
from app.words.model_names import human_name
from app.words.notices_for_errors import reason_text, title_and_reason
from app.words.pairs import fit_text, model_kind, precision_text, seeing_text, source_text

_MOST_ROWS = 40  # until the user asks for the rest
_FEW = 6  # a list so short needs no search
_TEMPLATE_WIDTH_PX = 720
_TEMPLATE_HEIGHT_PX = 420
_WORDS_NEED_PX = 240  # beside the buttons
_FIRST = ("use_button", "reload_button", "machines_button", "delete_button", "more_button")
_MORE = ("reveal_button", "template_button", "verify_button", "update_button", "mend_button")
_BUTTONS = (*_FIRST, *_MORE)


class ModelRow(Card):
    """A row is not translated: the page makes another one when the model or the language changes."""

    opened = Signal(bool)

    def __init__(self, theme: Theme, entry: ModelEntry, models: ModelController) -> None:
        super().__init__(theme)
        self._theme = theme
        self.entry = entry
        self._models = models
        self._facts: QWidget | None = None
        self._aside = QWidget(self)
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.details = TextLabel(theme, TextStyle.FINE, text=self._details())
        name = human_name(entry.name)
        self.use_button, self.reload_button, self.machines_button = (PillButton(theme) for _ in range(3))
        self.use_button.set_words(self.tr("Use"), fill(self.tr("Use %1"), name))
        self.reload_button.set_words(self.tr("Reload"), fill(self.tr("Reload %1"), name))
        self.machines_button.set_words(self.tr("Run over 2 Macs…"), fill(self.tr("Run %1 over 2 Macs"), name))
        self.more_button = OpeningButton(theme, 28)
        self.more_button.set_name(fill(self.tr("More about %1"), name))
        self.delete_button = IconButton(theme, "trash-2", 28)
        self.delete_button.set_name(fill(self.tr("Delete %1"), name))
        self._arrange()
        # Not before they have a parent: shown without one, they would be windows for a moment.
        stays = entry.upkeep.state is not UpkeepState.DELETING
        self.use_button.setVisible(stays and entry.error is None and not entry.is_main and not entry.is_draft)
        self.reload_button.setVisible(stays and entry.is_outdated)
        self.machines_button.setVisible(stays and _needs_another(entry))
        self.delete_button.setVisible(stays and entry.can_delete)
        self.reload_button.clicked.connect(lambda: models.reload(entry.folder))
        self.use_button.clicked.connect(lambda: models.use(entry.folder))
        self.more_button.clicked.connect(lambda: self.show_facts(self._facts is None))
        theme.changed.connect(self._place_aside)

    @property
    def folder(self) -> str:
        return self.entry.folder

    def focused_button(self) -> str:
        """Name of the focused button; "" if none is."""
        return next((name for name in _BUTTONS if (button := self._button(name)) and button.hasFocus()), "")

    def focus_button(self, name: str) -> None:
        """Focus that button, or the first if it is disabled."""
        self.show()  # a layout shows what was added to it later, and takes no focus until then
        button = self._button(name)
        usable = button is not None and button.isVisibleTo(self) and button.isEnabled()
        (button if usable and button else self.more_button).setFocus(Qt.FocusReason.TabFocusReason)

    def _button(self, name: str) -> QWidget | None:
        """Some are made with the facts."""
        button: QWidget | None = getattr(self, name, None) if self._facts is not None or name in _FIRST else None
        return button

    def show_facts(self, visible: bool) -> None:
        """Shows the facts, which are created when first shown: most never are."""
        if visible and self._facts is None:
            self._facts = self._make_facts()
            self.column.addWidget(self._facts)
        elif not visible and self._facts is not None:
            self._facts.hide()
            self._facts.deleteLater()
            self._facts = None
        self.more_button.set_opened(visible)
        self.opened.emit(visible)

    def _arrange(self) -> None:
        aside = (self._state_label(), self.use_button, self.delete_button)
        # The arrows of all rows are below one another.
        arrange(QHBoxLayout(self._aside), *aside, 0, self.more_button, spacing=8, margins=(0, 0, 0, 0))
        arrange(self._head, (self._words(), 1), self._aside, spacing=8)
        arrange(self.column, self._head, spacing=8, margins=(16, 10, 10, 10))

    def minimumSizeHint(self) -> QSize:
        """The width that the narrow layout needs, where the buttons are below the words."""
        margins = self.column.contentsMargins()
        aside_px = self._aside.minimumSizeHint().width() + margins.left() + margins.right()
        return QSize(aside_px, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_aside()

    def _place_aside(self) -> None:
        beside = self.width() >= self._theme.px(_WORDS_NEED_PX) + self._aside.sizeHint().width()
        self._head.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._head.setAlignment(self._aside, Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag(0))

    def _state_label(self) -> TextLabel:
        """In place of Use: how it is used at present."""
        used = self.tr("Main model in use") if self.entry.is_main else self.tr("Draft in use")
        text = used if self._is_in_use else ""
        label = TextLabel(self._theme, TextStyle.FINE, self, text=text, wraps=False)
        label.setVisible(self._is_in_use)
        return label

    @property
    def _is_in_use(self) -> bool:
        entry = self.entry
        gone = self.entry.upkeep.state is UpkeepState.DELETING
        return (entry.is_main or entry.is_draft) and not entry.is_checking and not gone

    def _words(self) -> QVBoxLayout:
        name = ElidedLabel(self._theme, TextStyle.HEADING, Qt.TextElideMode.ElideMiddle, self)
        name.setText(human_name(self.entry.name))
        name.set_tooltip_text(self.entry.repository or self.entry.name)
        words = arrange(QVBoxLayout(), self._with_badge(name), self.details, spacing=2)
        if self.entry.is_outdated:
            words.addWidget(TextLabel(self._theme, TextStyle.FINE, text=self.tr("Updated on disk, not reloaded yet.")))
        for button in (self.reload_button, self.machines_button):
            words.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)  # the words need the width
        if (error := self.entry.error) is not None:
            words.addWidget(TextLabel(self._theme, TextStyle.FAULT, text=reason_text(error)))
        elif (error := self.entry.indivisible) is not None and self.entry.drafter is None:
            words.addWidget(TextLabel(self._theme, TextStyle.FINE, text=title_and_reason(error)))
        return words

    def _with_badge(self, name: ElidedLabel) -> QHBoxLayout:
        line = arrange(QHBoxLayout(), name, spacing=8)
        if self.entry.has_draft:
            line.addWidget(DraftBadge(self._theme, self))
        line.addStretch(1)
        return line

    def _details(self) -> str:
        entry = self.entry
        precision = precision_text(entry.bits, entry.full_bits, entry.quantization)
        parts = [*model_kind(entry.drafter), *filter(None, (precision,)), size(entry.size_bytes)]
        parts += [self.tr("can think")] if entry.about.thinking else []
        parts += [seeing_text()] if entry.sees else []
        if not entry.can_delete:  # it is not ours
            parts.append(source_text(entry.source))
        if entry.fit is not None and (entry.drafter is None or is_too_large(entry)):
            parts.append(fit_text(entry.fit.level))  # whether a drafter fits depends on what it drafts for, too
        if entry.upkeep.state is UpkeepState.DELETING:
            parts.append(self.tr("deleting…"))
        elif entry.is_checking:
            parts.append(self.tr("checking…"))
        if entry.upkeep.state is UpkeepState.DAMAGED:
            parts.append(self.tr("damaged"))
        elif entry.upkeep.state is UpkeepState.OUTDATED:
            parts.append(self.tr("update available"))
        return " · ".join(parts)

    def _make_facts(self) -> QWidget:
        panel = QWidget(self)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        for place, (name, fact) in enumerate(facts(self.entry, self._models.library.context_tokens)):
            named = TextLabel(self._theme, TextStyle.FINE, text=name, wraps=False)
            grid.addWidget(named, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self._fact(fact), place, 1)
        inside = arrange(QVBoxLayout(panel), grid, self._actions(), spacing=10, margins=(0, 4, 0, 0))
        if found := upkeep_text(self.entry.upkeep):
            self.upkeep = TextLabel(self._theme, TextStyle.FINE, text=found)
            inside.addWidget(self.upkeep)
        return panel

    def show_upkeep(self, upkeep: Upkeep) -> None:
        """Show progress; a result comes with a new row."""
        if self._facts is not None and self.entry.upkeep.state is upkeep.state:
            self.upkeep.setText(upkeep_text(upkeep))
        self.entry = replace(self.entry, upkeep=upkeep)

    def _fact(self, fact: str) -> QWidget:
        """A path has no place where a line could end."""
        if " " not in fact:
            return NameLabel(self._theme, TextStyle.FINE, text=fact)
        label = TextLabel(self._theme, TextStyle.FINE, text=fact)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _actions(self) -> Flow:
        library = self._models.library
        self.reveal_button = self._action("folder", self.tr("Show in folder"), reveal)
        self.template_button = self._action("file-text", self.tr("Chat template"), library.read_template)
        self.verify_button = self._verify_action()
        self.update_button = self._action("refresh-cw", self.tr("Check for update"), library.check_for_update)
        self.mend_button = self._action("download", self._mend_text(), library.mend)
        self.template_button.setVisible(self.entry.about.template)
        self.mend_button.setVisible(bool(self._mend_text()))
        state = self.entry.upkeep.state
        busy = state in (UpkeepState.VERIFYING, UpkeepState.ASKING, UpkeepState.DELETING)
        self.verify_button.setEnabled(state not in (UpkeepState.ASKING, UpkeepState.DELETING))
        self.update_button.setEnabled(not busy)
        managed = self.entry.can_delete and bool(self.entry.repository)
        self.verify_button.setVisible(managed)
        self.update_button.setVisible(managed)
        return Flow(None, *(getattr(self, name) for name in _MORE))

    def _verify_action(self) -> PillButton:
        """Reading gigabytes takes a while: the same button ends it."""
        if self.entry.upkeep.state is UpkeepState.VERIFYING:
            return self._action("x", self.tr("Stop verifying"), self._models.library.stop_verifying)
        return self._action("check", self.tr("Verify"), self._models.library.verify)

    def _mend_text(self) -> str:
        return {UpkeepState.DAMAGED: self.tr("Repair"), UpkeepState.OUTDATED: self.tr("Update")}.get(
            self.entry.upkeep.state, ""
        )

    def _action(self, icon_name: str, text: str, act: Callable[[str], object]) -> PillButton:
        """`act` takes the folder."""
        # A child from the start: shown without a parent, it would be a window for a moment.
        button = PillButton(self._theme, Emphasis.PLAIN, icon_name, self)
        button.setText(text)
        button.clicked.connect(lambda: act(self.folder))
        return button


def _needs_another(entry: ModelEntry) -> bool:
    """Whether it may run over two machines, but not on this one."""
    is_model = entry.drafter is None and entry.error is None
    return is_model and is_too_large(entry) and entry.indivisible is None


class FolderRow(QWidget):
    def __init__(self, theme: Theme, path: str) -> None:
        super().__init__()
        name = NameLabel(theme, text=path)
        self.remove_button = IconButton(theme, "x", 28)
        self.remove_button.set_name(fill(self.tr("Stop looking in %1"), path))
        arrange(QHBoxLayout(self), (name, 1), self.remove_button, margins=(0, 0, 0, 0))


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
        arrange(self.column, self.downloads, margins=(28, 12, 28, 28))
        self._build_installed()
        self._build_folders()
        self.end()
        self._connect()
        self._retranslate()

    def _build_installed(self) -> None:
        self._installed_heading = TextLabel(self.theme, TextStyle.HEADING)
        row = arrange(QHBoxLayout(), (self._installed_heading, 1), self.refresh_button)
        arrange(self.column, row, self.installed)

    def _build_folders(self) -> None:
        self._folders_heading = self.add_heading()
        self._folders_explained = TextLabel(self.theme, TextStyle.FINE)
        self._folders = QVBoxLayout()
        self.folder_rows: list[FolderRow] = []
        foot = arrange(QHBoxLayout(), (self._folders_explained, 1), self.add_folder_button)
        card = Card(self.theme)
        arrange(card.column, self._folders, foot)
        self.column.addWidget(card)

    def _connect(self) -> None:
        self.refresh_button.clicked.connect(self._models.refresh)
        self.add_folder_button.clicked.connect(self._ask_for_folder)
        self._settings.changed.connect(self._on_setting)

    def showEvent(self, event: QShowEvent) -> None:
        """Other programs may have added or deleted models."""
        super().showEvent(event)
        self._models.refresh()

    def _on_setting(self, name: str) -> None:
        if name == "model_folders":
            self._show_folders()

    def _show_folders(self) -> None:
        at = row_in_focus(self.folder_rows)
        clear(self._folders)
        self.folder_rows = [self._folder_row(path) for path in self._settings.model_folders]
        for row in self.folder_rows:
            self._folders.addWidget(row)
        focus_row(self.folder_rows, at, self.add_folder_button)

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
    """Installed models, sorted and filtered, with their actions."""

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
        entries = starter_as_one(self._models.models)
        scanned = self._models.library.scanned
        if (entries, scanned) != (self._entries, self._scanned):
            self._entries = entries
            self._scanned = scanned
            self._show_rows()

    def _arrange(self) -> None:
        self._cards.setSpacing(8)
        buttons = Flow(None, self.kind, self.sort, self.fits)
        arrange(QVBoxLayout(self._tools), self.search, buttons, spacing=8, margins=(0, 0, 0, 0))
        arrange(QVBoxLayout(self), self._tools, self._cards, self.total, spacing=8, margins=(0, 0, 0, 0))

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
        name = next((row.entry.name for row in self.rows if row.folder == folder), "")
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

    def _show_rows(self, *, anew: bool = False) -> None:
        """The rows of models that have not changed stay, unless all are to be made `anew`, in another language."""
        focused = next(
            ((place, row.folder, name) for place, row in enumerate(self.rows) if (name := row.focused_button())), None
        )
        found = shown(self._entries, self._view)
        visible = found if self._all_rows else found[:_MOST_ROWS]
        before = {} if anew else {row.folder: row for row in self.rows if row.entry in visible}
        self.rows = [before.get(entry.folder) or self._row(entry) for entry in visible]
        rows: list[QWidget] = list(self.rows)
        if len(visible) < len(found):
            rows.append(self._rest(len(found) - len(visible)))
        clear(self._cards, rows)
        for each in rows or [self._nothing()]:
            self._cards.addWidget(each)
            each.raise_()  # screen readers read them in this order
        self._tools.setVisible(len(self._entries) > _FEW or self._view != ListView(sort=self._view.sort))
        self.total.setVisible(bool(self._entries))
        self.total.setText(self._total(found))
        if focused is not None and self.rows:
            self._focus_again(*focused)

    def _focus_again(self, place: int, folder: str, button: str) -> None:
        """Focus the model's row, or, if it was deleted, the row in its place."""
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
        everything = fill(self.tr("On disk: %1"), size(disk_bytes(self._entries)))
        if own:
            everything = fill(self.tr("%1 · Installed by Hunch: %2"), everything, size(disk_bytes(own)))
        if len(found) == len(self._entries):
            return everything
        return fill(self.tr("%1 shown · %2"), count(len(found)), everything)

    def _retranslate(self) -> None:
        describe(self.search, self.tr("Search installed models"))
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
        self._show_rows(anew=True)


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
