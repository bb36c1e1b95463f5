"""A project, in place of the chat: its name, models, instructions, files and settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.projects import DRAFT, MAIN
from app.controllers.token_counts import TypedTokens
from app.theme import Theme
from app.view_models.chat_options import Scope
from app.view_models.project import ProjectFile, ProjectView
from app.views.settings.options import PromptField
from app.views.shell.option_form import OptionForm
from app.views.shell.place_page import PlacePage
from app.views.shell.project_files import MOST_ROWS, ProjectFilesCard
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.arrange import arrange
from app.views.widgets.banner import BannerText
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.cards import Card, Page, SettingRow
from app.views.widgets.fields import LineField
from app.views.widgets.focus import in_reading_order
from app.views.widgets.labels import TextLabel, TextStyle, describe, say
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.model_names import ARROW, human_name

_MOST_PX = 720
_INSTRUCTIONS_PX = 132
_NAME_PX = 260


class InstructionsField(PromptField):
    def _restyle(self) -> None:
        super()._restyle()
        self.setFixedHeight(self._theme.px(_INSTRUCTIONS_PX))


class ProjectForm(Translated, Page):
    """What is set in it is stored by the controllers of `ProjectPage`."""

    most_px = _MOST_PX

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._tokens = 0
        self._pair = ""  # names of its models
        self._present = ""  # and of the loaded ones
        self._is_installed = True
        self.what = TextLabel(theme, TextStyle.SECONDARY)
        self.new_button = PillButton(theme, Emphasis.PRIMARY, "pencil")
        self.name = LineField(theme, _NAME_PX)
        self.instructions = InstructionsField(theme)
        self._instructions_label = TextLabel(theme, TextStyle.BODY)
        self.tokens = TextLabel(theme, TextStyle.FINE)
        self.files = ProjectFilesCard(theme)
        self.use_button = PillButton(theme)
        self.leave_button = IconButton(theme, "x", 24)
        self.settings = OptionForm(theme, with_prompt=False)
        self._name_row = SettingRow(theme, self.name)
        models = QWidget()
        arrange(QHBoxLayout(models), self.use_button, self.leave_button, spacing=4, margins=(0, 0, 0, 0))
        self._models_row = SettingRow(theme, models)
        self._arrange()
        self._retranslate()

    def _arrange(self) -> None:
        self.title.hide()  # the header has it
        arrange(self.column, self.what, (self.new_button, 0, Qt.AlignmentFlag.AlignLeft))
        basic = Card(self.theme)
        basic.add(self._name_row, self._models_row)
        instructions = Card(self.theme)
        arrange(instructions.column, self._instructions_label, self.instructions, self.tokens)
        arrange(self.column, basic, instructions, self.files)
        self._options_heading = self.add_heading()
        options = Card(self.theme)
        options.column.addWidget(self.settings)
        self.column.addWidget(options)
        self.end()

    def show_tokens(self, tokens: int) -> None:
        """Of what all its chats begin with."""
        self._tokens = tokens
        self._retranslate()

    def show_models(self, pair: str, present: str, *, is_installed: bool) -> None:
        """Names of its models, "" for none, and of the loaded ones."""
        self._pair = pair
        self._present = present
        self._is_installed = is_installed
        self._retranslate()

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Project"))
        self.what.setText(
            self.tr("All chats in a project begin with its instructions and files, its models and settings.")
        )
        self.new_button.setText(self.tr("New Chat in This Project"))
        self._name_row.set_words(self.tr("Name"))
        self._instructions_label.setText(self.tr("Instructions"))
        hint = self.tr("What the model should know and do in every chat here")
        describe(self.instructions, hint, self.tr("Instructions"))
        tokens = self.tr("%Ln token(s), read once for all chats", "", self._tokens)
        say(self.tokens, tokens if self._tokens else "")
        unset = self.tr("As chosen at the time")
        missing = fill(self.tr("%1 (not installed)"), self._pair)
        self._models_row.set_words(
            self.tr("Models for new chats"), (self._pair or unset) if self._is_installed else missing
        )
        self.use_button.setText(fill(self.tr("Use %1"), self._present))
        self.use_button.setVisible(bool(self._present) and self._present != self._pair)
        self.leave_button.set_name(self.tr("As chosen at the time"))
        self.leave_button.setVisible(bool(self._pair))
        self._options_heading.setText(self.tr("Chat settings"))


class ProjectPage(PlacePage):
    """Also what the composer says of the open chat's project."""

    def __init__(
        self, window: ShellWindow, theme: Theme, chats: ChatController, models: ModelController, shared: TypedTokens
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._chats = chats
        self._models = models
        self._shared = shared
        self._folder_id = 0
        self._title = ""  # as the header has it
        self._counted: int | None = None  # folder of what all chats share that is counted
        self._shown_files: object = None
        window.sidebar.chats.project_requested.connect(self.show)
        window.sidebar.chats.files_dropped.connect(self._add_to)
        window.project_files_dropped.connect(self._add_files)
        window.sidebar.chats.chat_in_requested.connect(self._begin_chat)
        window.composer.project.clicked.connect(self._show_of_chat)
        chats.chat_wanted.connect(self.leave)
        models.chat_wanted.connect(self.leave)
        chats.options.changed.connect(self._follow)
        chats.documents.changed.connect(self._follow_files)
        chats.documents.left_out.connect(self._report_left_out)
        chats.shared.changed.connect(self._follow)
        chats.current_chat_changed.connect(self._follow)
        chats.conversations.refreshed.connect(self._follow)
        models.pair_changed.connect(self._follow)
        models.models_changed.connect(self._follow)
        shared.changed.connect(self._show_tokens)
        self._follow()

    @cached_property
    def form(self) -> ProjectForm:
        form = ProjectForm(self._theme, self._window)
        chats = self._chats
        form.new_button.clicked.connect(lambda: self._begin_chat(self._folder_id))
        form.name.editingFinished.connect(self._rename)
        form.instructions.chosen.connect(lambda text: chats.projects.put_instructions(self._folder_id, str(text)))
        form.use_button.clicked.connect(self._use_present_pair)
        form.leave_button.clicked.connect(lambda: chats.projects.put_options(self._folder_id, {}, (MAIN, DRAFT)))
        form.files.add_requested.connect(self._choose_files)
        form.files.remove_requested.connect(self._remove_file)
        form.settings.put.connect(lambda name, value: chats.options.put_in_project(self._folder_id, name, value))
        form.settings.dropped.connect(lambda names: chats.projects.put_options(self._folder_id, {}, names))
        return form

    @property
    def widget(self) -> QWidget:
        return self.form

    def title(self) -> str:
        self._title = self._name(self._folder_id)
        return self._title

    def tab_stops(self) -> list[QWidget]:
        return in_reading_order(self.form)

    def set_shown(self, shown: bool) -> None:
        self._window.shows_project = shown
        super().set_shown(shown)
        self._follow()

    def show(self, folder_id: int) -> None:
        self.form.instructions.commit()
        if self.is_shown and self.form.name.hasFocus():
            self._rename()
        self.form.settings.leave()
        self._chats.keeping.keep_due()
        self._folder_id = folder_id
        self.form.name.setText(self._name(folder_id))
        self.form.instructions.set_value(self._chats.projects.get(folder_id).instructions)
        self.form.verticalScrollBar().setValue(0)
        self.set_shown(True)
        self.form.instructions.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_of_chat(self) -> None:
        folder_id = self._chats.options.folder_of(self._chats.chat_id)
        if folder_id is not None:
            self.show(folder_id)

    def _begin_chat(self, folder_id: int) -> None:
        self._chats.new_chat_in(folder_id)
        self._window.composer.take_focus()

    def _rename(self) -> None:
        name = self.form.name.text().strip()
        if name and name != self._name(self._folder_id):
            self._chats.folders.rename(self._folder_id, name)
        elif not name:
            self.form.name.setText(self._name(self._folder_id))

    def _use_present_pair(self) -> None:
        main, draft = self._models.present_pair()
        self._chats.projects.put_options(self._folder_id, {MAIN: main, DRAFT: draft})

    def _name(self, folder_id: int) -> str:
        folder = self._chats.conversations.tree.folders.get(folder_id)
        return "" if folder is None else folder.name

    def _follow(self) -> None:
        """What is shown of the project that is open, or of the open chat's."""
        if self.is_shown and not self._chats.projects.is_there(self._folder_id):
            self.leave()
        elif self.is_shown:
            self._show_values()
            if self._title != self._name(self._folder_id):
                self._title = self._name(self._folder_id)
                self.changed.emit()
        self._follow_files()

    def _follow_files(self) -> None:
        here = self._chats.options.folder_of(self._chats.chat_id)
        self._window.composer.project.show_project(None if here is None else self._view(here))
        if self.is_shown:
            self._show_files()
        self._counted = self._folder_id if self.is_shown else here
        self._chats.shared.get(self._counted, partial(self._count, self._counted))
        self._show_tokens(self._shared.tokens)

    def _count(self, folder_id: int | None, text: str) -> None:
        if folder_id == self._counted:  # else another project is shown by now
            self._shared.count(text)

    def _view(self, folder_id: int) -> ProjectView:
        projects = self._chats.projects
        has_options = projects.has_options(folder_id)
        files = len(self._chats.documents.files(folder_id))
        return ProjectView(self._name(folder_id), bool(projects.instructions(folder_id)), has_options, files)

    def _show_values(self) -> None:
        form = self.form
        models = self._models
        if not form.name.hasFocus():
            form.name.setText(self._name(self._folder_id))
        form.instructions.set_value(self._chats.projects.get(self._folder_id).instructions)
        own = self._chats.projects.pair(self._folder_id)
        names = models.names_of(*own) if own is not None else ("", "", True)
        present = _names(models.pair.main_name, models.pair.draft_name)
        form.show_models(_names(*names[:2]), present, is_installed=names[2])
        form.settings.show_options(self._chats.options.view_of_project(self._folder_id), Scope.PROJECT, models)

    def _show_files(self) -> None:
        """The first ones, where they are others than before: a list of thousands changes with each that is read."""
        whole = self._chats.shared.whole_files(self._folder_id).ids
        files = self._chats.documents.files(self._folder_id)
        shown = self._folder_id, files[:MOST_ROWS], whole, len(files)
        if shown != self._shown_files:
            self._shown_files = shown
            self.form.files.show_files(files[:MOST_ROWS], whole, len(files))

    def _choose_files(self) -> None:
        dialog = QFileDialog(self._window, self.tr("Add Files to the Project"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._add_files)
        dialog.open()

    def _add_files(self, paths: Sequence[str]) -> None:
        self._add_to(self._folder_id, paths)

    def _add_to(self, folder_id: int, paths: Sequence[str]) -> None:
        self._chats.documents.add(folder_id, paths)

    def _remove_file(self, file: ProjectFile) -> None:
        """Undone by adding it again: its text is read from where it is."""
        folder_id = self._folder_id
        self._chats.documents.remove(folder_id, [file.id])

        def text() -> BannerText:
            return BannerText(fill(self.tr("“%1” was removed from the project."), file.name), button=self.tr("Undo"))

        self._window.banner.show_info(text, lambda: self._add_to(folder_id, [file.path]))

    def _report_left_out(self, _folder_id: int, number: int) -> None:
        def text() -> BannerText:
            return BannerText(self.tr("%Ln file(s) left out: a project holds 5,000 files and 2 GB.", "", number))

        self._window.banner.show_info(text)

    def _show_tokens(self, tokens: int) -> None:
        if self.is_shown:
            self.form.show_tokens(tokens)
        else:
            self._window.composer.show_shared_tokens(tokens)


def _names(main: str, draft: str) -> str:
    return ARROW.join(human_name(each) for each in (main, draft) if each)
