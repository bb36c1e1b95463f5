"""The panel of a chat's own options: preset, system prompt, sampling, drafting. Changes apply at once.

Also here: the row of presets, and the button that opens it. Its fields are in `option_form`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.chat_options import ChatOptions
from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.chat_options import OptionsView, Scope
from app.views.shell.option_form import OptionForm
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton, IconButton, PillButton
from app.views.widgets.cards import Page
from app.views.widgets.dialog import Dialog, DialogText, ask
from app.views.widgets.fields import LineField, Segments
from app.views.widgets.held_keys import RETURN_KEYS, Menu, is_held, popup_menu
from app.views.widgets.labels import describe
from app.views.widgets.panel import Panel
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.model_names import human_name

_WIDTH_PX = 400
_LONGEST_NAME = 60  # of a preset
SHORTCUT = "Ctrl+Alt+,"


class NameField(LineField):
    """Return takes the name, Esc gives it up; never while an input method composes."""

    taken = Signal()
    given_up = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in RETURN_KEYS and not self.is_composing and not is_held(event):
            self.taken.emit()
        elif event.key() == Qt.Key.Key_Escape and not self.is_composing:
            self.given_up.emit()
        else:
            super().keyPressEvent(event)


class PresetRow(Translated, QWidget):
    def __init__(self, theme: Theme, options: ChatOptions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._options = options
        self._presets: Mapping[str, str] = {}  # names, by id
        self._preset = ""  # the id of the chosen one; "": none
        self._changed = False
        self._renamed_preset = ""  # the preset that is being named; "": a new one
        self.choice = ChoiceButton(theme, self)
        self.more = IconButton(theme, "more-horizontal", parent=self)
        self.name = NameField(theme, parent=self)
        self.name.setMaxLength(_LONGEST_NAME)
        self.name.hide()
        arrange(QHBoxLayout(self), (self.choice, 1), (self.name, 1), self.more, margins=(0, 0, 0, 0))
        self.choice.chosen.connect(lambda value: options.choose_preset(str(value)))
        self.more.clicked.connect(self._open_menu)
        self.name.taken.connect(self._take_name)
        self.name.given_up.connect(self._end_naming)
        self._retranslate()

    def show_presets(self, presets: Mapping[str, str], chosen: str, *, changed: bool) -> None:
        self._presets = presets
        self._preset = chosen
        self._changed = changed
        self.choice.set_value(chosen)
        self._retranslate()

    def menu(self) -> Menu:
        menu = popup_menu(self, self._theme)
        menu.addAction(self.tr("Save as Preset…")).triggered.connect(lambda _=False: self.begin_naming(""))
        if self._preset:
            update = menu.addAction(self.tr("Save Changes to Preset"))
            update.setEnabled(self._changed)
            update.triggered.connect(lambda _=False: self._options.update_preset())
            menu.addAction(self.tr("Rename…")).triggered.connect(lambda _=False: self.begin_naming(self._preset))
            menu.addAction(self.tr("Delete Preset…")).triggered.connect(lambda _=False: self.ask_to_delete())
        return menu

    def ask_to_delete(self) -> Dialog:
        """Asks first: it may contain a system prompt that exists nowhere else."""
        preset = self._preset
        name = self._presets.get(preset, "")

        def text() -> DialogText:
            title = fill(self.tr("Delete the preset “%1”?"), name)
            kept = self.tr("Chats keep its settings. This cannot be undone.")
            return DialogText(title, kept, "", self.tr("Delete"), self.tr("Cancel"))

        return ask(self._theme, self, text, lambda: self._options.delete_preset(preset))

    def _open_menu(self) -> None:
        self.menu().popup(self.more.mapToGlobal(QPoint(0, self.more.height() + 2)))

    def begin_naming(self, preset: str) -> None:
        self._renamed_preset = preset
        self.name.setText(self._presets.get(preset, ""))
        self.choice.hide()
        self.name.show()
        self.name.selectAll()
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_name(self) -> None:
        name = " ".join(self.name.text().split())
        if not name:
            return
        if self._renamed_preset:
            self._options.rename_preset(self._renamed_preset, name)
        else:
            self._options.save_preset(name)
        self._end_naming()

    def _end_naming(self) -> None:
        self.choice.show()
        self.choice.setFocus(Qt.FocusReason.OtherFocusReason)
        self.name.hide()

    def leave_chat(self) -> None:
        """What was being named is of that chat."""
        self.choice.show()
        self.name.hide()

    def _retranslate(self) -> None:
        self.choice.set_choices([("", self.tr("No preset")), *self._presets.items()])
        self.choice.setAccessibleName(self.tr("Preset"))
        self.more.set_name(self.tr("Manage presets"))
        describe(self.name, self.tr("Preset name"))


class ChatSettings(Translated, Panel):
    def __init__(self, theme: Theme, parent: QWidget, options: ChatOptions, otherwise: Callable[[], None]) -> None:
        super().__init__(theme, parent, _WIDTH_PX, otherwise)
        self._options = options
        self._model_name = ""
        self._main = options.main
        self._view = OptionsView({}, {}, {}, {}, "")
        self._put_back: Callable[[], None] | None = None  # after all was reset, until something else is done
        self.scopes = Segments(theme, self)
        self.scopes.set_value(Scope.CHAT)
        self.close_button = IconButton(theme, "x", 26, self)
        self.presets = PresetRow(theme, options, self)
        self.page = Page(theme, self)
        self.reset = PillButton(theme, parent=self)
        self.form = OptionForm(theme)
        self.fields = self.form.fields
        self.rows = self.form.rows
        self._arrange()
        self._connect()
        self._retranslate()

    @property
    def scope(self) -> Scope:
        return Scope(str(self.scopes.value))

    def _arrange(self) -> None:
        head = arrange(QHBoxLayout(), self.scopes, 1, self.close_button)
        parts = (head, self.presets, (self.page, 1), (self.reset, 0, Qt.AlignmentFlag.AlignLeft))
        self._column = arrange(QVBoxLayout(self), *parts, spacing=10, margins=(14, 12, 8, 10))
        self.page.side_px = 0  # the panel has its own
        self.page.title.hide()
        arrange(self.page.column, self.form, 1, spacing=10, margins=(0, 0, 0, 0))

    def _connect(self) -> None:
        self.scopes.chosen.connect(self._on_scope)
        self.form.put.connect(lambda name, value: self._options.put(self.form.scope, name, value, self._main))
        self.form.dropped.connect(lambda names: self._options.drop(self.form.scope, *names))
        self.close_button.clicked.connect(self.leave)
        self.reset.clicked.connect(self._reset)

    def _on_scope(self) -> None:
        self.form.leave()
        self._put_back = None

    def _reset(self) -> None:
        self.form.leave()
        if self._put_back is None:
            self._put_back = self._options.reset(self.form.scope)
            self._retranslate()
        else:
            self._put_back()

    def show_options(self, view: OptionsView, models: ModelController) -> None:
        self.form.show_options(view, self.scope, models)
        if view.own or view.preset or self._main != self._options.main:
            self._put_back = None
        self._main = self._options.main
        self._view = view
        self._model_name = human_name(models.pair.main_name)
        self.presets.show_presets(view.presets, view.preset, changed=bool(view.own))
        self.presets.setVisible(self.scope is Scope.CHAT)
        self._retranslate()

    def _retranslate(self) -> None:
        model = self._model_name or self.tr("This model")
        model = model if len(model) <= 24 else model[:11] + "…" + model[-12:]
        self.scopes.set_choices(((Scope.CHAT, self.tr("This chat")), (Scope.MODEL, model)))
        self.scopes.setAccessibleName(self.tr("Settings for"))
        self.setAccessibleName(self.tr("Chat settings"))
        self.close_button.set_name(self.tr("Close"))
        self.reset.setText(self.tr("Reset all") if self._put_back is None else self.tr("Undo"))
        self.reset.setEnabled(bool(self._view.own or self._view.preset or self._put_back))

    @property
    def first(self) -> QWidget:
        return self.scopes

    def wanted_px(self, _width_px: int) -> int:
        return self._column.totalMinimumSize().height() + self.page.column.totalSizeHint().height()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._options.keep()
        self._put_back = None


class ChatSettingsButton(Translated, IconButton):
    """The button after the pair chip, with a dot if the chat has options of its own.

    It opens the panel, which is created at first use, and updated only while it is open.
    """

    def __init__(self, window: ShellWindow, theme: Theme) -> None:
        super().__init__(theme, "sliders-horizontal")
        self._window = window
        self.has_dot = False
        self.action = window.menu.add("chat", SHORTCUT)
        window.header.add_button(self, at=0)
        window.header.let_give_way(self)
        self.clicked.connect(self.toggle_panel)
        self.action.triggered.connect(self.toggle_panel)
        self._allow(False)
        self._retranslate()

    def bind(self, chats: ChatController, models: ModelController) -> None:
        self._options = chats.options
        self._models = models
        chats.options.changed.connect(self._show_options)
        chats.chat_left.connect(self._close)  # what is being typed is that chat's
        models.pair_changed.connect(self._show_options)
        self._allow(True)
        self._show_options()

    def _allow(self, allowed: bool) -> None:
        self.setEnabled(allowed)
        self.action.setEnabled(allowed)

    @cached_property
    def panel(self) -> ChatSettings:
        panel = ChatSettings(self.theme, self._window, self._options, self._window.composer.take_focus)
        panel.scopes.chosen.connect(lambda _scope: self._show_options())
        return panel

    def toggle_panel(self) -> None:
        if not self._is_open:
            self._show_values()
        self.panel.toggle(self)

    def _show_options(self) -> None:
        if self._is_open:
            self._show_values()
        if self._options.differs != self.has_dot:
            self.has_dot = self._options.differs
            self._retranslate()
            self.update()

    @property
    def _is_open(self) -> bool:
        """Also while the window itself is hidden."""
        return "panel" in vars(self) and not self.panel.isHidden()

    def _show_values(self) -> None:
        self.panel.show_options(self._options.view(self.panel.scope), self._models)

    def _close(self) -> None:
        if self._is_open:
            self.panel.leave()
        if "panel" in vars(self):
            self.panel.form.leave()
            self.panel.presets.leave_chat()

    def _retranslate(self) -> None:
        self.set_name(self.tr("Chat settings (changed here)") if self.has_dot else self.tr("Chat settings"))
        self.action.setText(self.tr("Chat Settings…"))
