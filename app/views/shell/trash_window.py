"""The window of what was deleted in the last 30 days: read it, bring it back, or delete it for good after asking."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controllers.deletions import Deletions
from app.theme import Theme
from app.view_models.trash_list import TrashListModel
from app.views.shell.trash_list import TrashList
from app.views.shell.trash_question import ask_to_forget
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.dialog import Dialog
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.side_window import SideWindow
from app.views.widgets.translated import Translated


class TrashWindow(Translated, SideWindow):
    read_requested = Signal(int)  # a whole chat

    def __init__(self, theme: Theme, deletions: Deletions, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._deletions = deletions
        self._model = TrashListModel(deletions.latest, self)
        self.title = TextLabel(theme, TextStyle.TITLE, self)
        self.about = TextLabel(theme, TextStyle.SECONDARY, self)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        self.list = TrashList(theme, self._model, self)
        self.read_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self.restore_button = PillButton(theme, parent=self)
        self.forget_button = PillButton(theme, parent=self)
        self.empty_button = PillButton(theme, parent=self)
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()
        self._show_state()

    def _arrange(self) -> None:
        self.resize(560, 560)
        self._buttons = QWidget(self)
        buttons = Flow(self._buttons)
        for button in (self.read_button, self.restore_button, self.forget_button, self.empty_button):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        for widget in (self.title, self.about):
            column.addWidget(widget)
        column.addWidget(self.nothing, 1, Qt.AlignmentFlag.AlignTop)
        column.addWidget(self.list, 1)
        column.addWidget(self._buttons)

    def _connect(self) -> None:
        self._deletions.changed.connect(self._refresh_if_shown)
        self._deletions.restored.connect(lambda _chat, _open: self._refresh_if_shown())
        self._model.refreshed.connect(self._show_state)
        self.list.selectionModel().selectionChanged.connect(lambda _new, _old: self._show_state())
        self._model.modelReset.connect(self._choose_first)
        self.list.read_requested.connect(self.read)
        self.list.forget_requested.connect(self.ask_to_forget)
        self.read_button.clicked.connect(self.read)
        self.restore_button.clicked.connect(self.restore)
        self.forget_button.clicked.connect(self.ask_to_forget)
        self.empty_button.clicked.connect(self.ask_to_empty)
        self._theme.changed.connect(self._restyle)

    @property
    def _readable(self) -> int:
        """The chat that is chosen; 0 for several, and for messages, which have their words in the row."""
        chosen = self.list.chosen()
        return chosen[0].chat_id if len(chosen) == 1 and chosen[0].whole_chat else 0

    def read(self) -> None:
        if self._readable:
            self.read_requested.emit(self._readable)

    def restore(self) -> None:
        """A single chat is opened, too."""
        chosen = self.list.chosen()
        for deletion in chosen:
            self._deletions.restore(deletion, open_it=len(chosen) == 1)

    def ask_to_forget(self) -> Dialog | None:
        chosen = self.list.chosen()
        if not chosen:
            return None
        n = len(chosen)
        return ask_to_forget(
            self._theme,
            self,
            lambda: (self.tr("Delete %Ln item(s) for good?", "", n), self.tr("Delete for good")),
            lambda: self._deletions.forget(chosen),
        )

    def ask_to_empty(self) -> Dialog:
        return ask_to_forget(
            self._theme,
            self,
            lambda: (self.tr("Delete everything in Recently Deleted for good?"), self.tr("Empty")),
            self._deletions.empty,
        )

    def _refresh_if_shown(self) -> None:
        if self.isVisible():
            self._model.refresh()

    def _choose_first(self) -> None:
        if self._model.rows:
            self.list.setCurrentIndex(self._model.index(0))

    def _show_state(self) -> None:
        some = bool(self._model.rows)
        self.nothing.setVisible(not some)
        self.list.setVisible(some)
        self._buttons.setVisible(some)
        self.empty_button.setEnabled(some)
        for button in (self.restore_button, self.forget_button):
            button.setEnabled(some and bool(self.list.chosen()))
        self.read_button.setEnabled(some and bool(self._readable))

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Recently Deleted"))
        self.title.setText(self.tr("Recently Deleted"))
        self.about.setText(self.tr("What you delete stays here for 30 days. Then it is gone for good."))
        self.nothing.setText(self.tr("Nothing was deleted in the last 30 days."))
        self.list.setAccessibleName(self.tr("Recently deleted chats and messages"))
        self.read_button.setText(self.tr("Read"))
        self.restore_button.setText(self.tr("Restore"))
        self.forget_button.setText(self.tr("Delete for good…"))
        self.empty_button.setText(self.tr("Empty…"))
        self.list.viewport().update()

    def _restyle(self) -> None:
        self.setMinimumSize(self._theme.px(380), self._theme.px(320))
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._model.refresh()
        self.list.setFocus()
