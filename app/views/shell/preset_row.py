"""The preset of a chat: choosing one, saving the chat's settings as one, renaming and deleting it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Theme
from app.view_models.chat_options import PresetView
from app.views.widgets.buttons import ChoiceButton, IconButton
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import LineField
from app.views.widgets.held_keys import RETURN_KEYS, Menu, is_held
from app.views.widgets.translated import Translated
from app.words.formats import fill

_LONGEST_NAME = 60


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
    chosen = Signal(str)  # the id; "": none
    saved = Signal(str)  # under this name
    updated = Signal()  # the chosen one takes over what was changed
    renamed = Signal(str, str)
    deleted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._presets: tuple[PresetView, ...] = ()
        self._preset, self._changed = "", False
        self._renames = ""  # the preset that is being named; "": a new one
        self.choice = ChoiceButton(theme, self)
        self.more = IconButton(theme, "more-horizontal", parent=self)
        self.name = NameField(theme, parent=self)
        self.name.setMaxLength(_LONGEST_NAME)
        self.name.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.choice, 1)
        row.addWidget(self.name, 1)
        row.addWidget(self.more)
        self.choice.chosen.connect(lambda value: self.chosen.emit(str(value)))
        self.more.clicked.connect(self._open_menu)
        self.name.taken.connect(self._take_name)
        self.name.given_up.connect(self._end_naming)
        self._retranslate()

    def show_presets(self, presets: Sequence[PresetView], chosen: str, *, changed: bool) -> None:
        self._presets, self._preset, self._changed = tuple(presets), chosen, changed
        self.choice.set_value(chosen)
        self._retranslate()

    def menu(self) -> Menu:
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setFont(self._theme.ui_font())
        menu.addAction(self.tr("Save as Preset…")).triggered.connect(lambda _=False: self.begin_naming(""))
        if self._preset:
            update = menu.addAction(self.tr("Save Changes to the Preset"))
            update.setEnabled(self._changed)
            update.triggered.connect(lambda _=False: self.updated.emit())
            menu.addAction(self.tr("Rename…")).triggered.connect(lambda _=False: self.begin_naming(self._preset))
            menu.addAction(self.tr("Delete Preset…")).triggered.connect(lambda _=False: self.ask_to_delete())
        return menu

    def ask_to_delete(self) -> Dialog:
        """It may hold a system prompt that stands nowhere else."""
        preset, name = self._preset, next((each.name for each in self._presets if each.id == self._preset), "")

        def text() -> DialogText:
            title = fill(self.tr("Delete the preset “%1”?"), name)
            kept = self.tr("Chats that use it keep its settings. This cannot be undone.")
            return DialogText(title, kept, "", self.tr("Delete"), self.tr("Cancel"))

        dialog = Dialog(self._theme, self, text, danger=True)
        dialog.accepted.connect(lambda: self.deleted.emit(preset))
        dialog.open()
        return dialog

    def _open_menu(self) -> None:
        self.menu().popup(self.more.mapToGlobal(QPoint(0, self.more.height() + 2)))

    def begin_naming(self, preset: str) -> None:
        self._renames = preset
        self.name.setText(next((each.name for each in self._presets if each.id == preset), ""))
        self.choice.hide()
        self.name.show()
        self.name.selectAll()
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_name(self) -> None:
        name = " ".join(self.name.text().split())
        if not name:
            return
        if self._renames:
            self.renamed.emit(self._renames, name)
        else:
            self.saved.emit(name)
        self._end_naming()

    def _end_naming(self) -> None:
        self.choice.show()
        self.choice.setFocus(Qt.FocusReason.OtherFocusReason)
        self.name.hide()

    def _retranslate(self) -> None:
        none = self.tr("No preset")
        self.choice.set_choices([("", none), *((each.id, each.name) for each in self._presets)])
        self.choice.setAccessibleName(self.tr("Preset"))
        self.more.set_name(self.tr("Save, rename or delete presets"))
        self.name.setAccessibleName(self.tr("Name of the preset"))
        self.name.setPlaceholderText(self.tr("Name of the preset"))
