"""The Trash: chats and messages deleted in the last 30 days, to restore or delete for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QItemSelectionModel, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.controllers.deletions import Deletions
from app.theme import FOOTER_PX, UI_PX, Theme
from app.view_models.trash_list import DELETION, Deletion, TrashListModel
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.dialog import Dialog, DialogText, ask
from app.views.widgets.held_keys import REMOVE_KEYS, RETURN_KEYS, is_held
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.painting import paint_line, paint_row_ground
from app.views.widgets.row_list import Index, RowRing, set_up_row_list
from app.views.widgets.side_window import SideWindow
from app.views.widgets.translated import Translated
from app.words.formats import fill, in_menu
from app.words.trash import deletion_detail, deletion_title

SHOW_ALL = "show_all"
_SELECT = QItemSelectionModel.SelectionFlag.Select


class TrashList(RowRing, QListView):
    restore_requested = Signal()
    forget_requested = Signal()

    def __init__(self, theme: Theme, model: TrashListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setModel(model)
        self.setItemDelegate(_DeletionDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        set_up_row_list(self, theme)
        self.doubleClicked.connect(lambda _index: self.restore_requested.emit())

    def chosen(self) -> Sequence[Deletion]:
        return [index.data(DELETION) for index in sorted(self.selectedIndexes(), key=lambda index: index.row())]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_held(event):
            event.accept()
        elif event.key() in RETURN_KEYS:
            self.restore_requested.emit()
        elif event.key() in REMOVE_KEYS and not event.isAutoRepeat():
            self.forget_requested.emit()
        else:
            super().keyPressEvent(event)


class _DeletionDelegate(QStyledItemDelegate):
    """Three lines: title, date and size, and the latest text."""

    def __init__(self, shown: TrashList) -> None:
        super().__init__(shown)
        self._list = shown

    def _fonts(self) -> tuple[QFont, QFont, QFont]:
        theme = self._list.theme
        small = theme.ui_font(FOOTER_PX)
        return theme.ui_font(UI_PX, QFont.Weight.DemiBold), theme.ui_font(FOOTER_PX, tabular=True), small

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        lines = sum(QFontMetrics(font).height() for font in self._fonts())
        return QSize(0, lines + self._list.theme.px(20))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._list.theme
        colors = self._list.theme.palette
        deletion: Deletion = index.data(DELETION)
        area = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        filled = selected or bool(state & QStyle.StateFlag.State_MouseOver)
        paint_row_ground(painter, area, colors, filled, selected and self._list.has_ring)
        words = " ".join(deletion.words.split())
        texts = (deletion_title(deletion), deletion_detail(deletion), words)
        place = area.adjusted(theme.px(12), theme.px(8), -theme.px(12), 0)
        for text, font, color in zip(
            texts, self._fonts(), (colors.text, colors.secondary, colors.secondary), strict=True
        ):
            line = QRect(place.left(), place.top(), place.width(), QFontMetrics(font).height())
            paint_line(painter, line, text, font, color)
            place.setTop(line.bottom() + theme.px(2))
        painter.restore()


class TrashWindow(Translated, SideWindow):
    def __init__(self, theme: Theme, deletions: Deletions, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._deletions = deletions
        self._model = TrashListModel(deletions.latest, self)
        self._chosen: Sequence[Deletion] = ()  # before the list changed
        self.title = TextLabel(theme, TextStyle.TITLE, self)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        self.list = TrashList(theme, self._model, self)
        self.restore_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self.forget_button = PillButton(theme, parent=self)
        self.empty_button = PillButton(theme, parent=self)
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()
        self._show_state()

    def _arrange(self) -> None:
        self.begin_with(560, 560)
        head = arrange(QHBoxLayout(), (self.title, 1), self.empty_button)
        buttons = arrange(QHBoxLayout(), 1, self.forget_button, self.restore_button)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        arrange(
            QVBoxLayout(self),
            head,
            (self.nothing, 1),
            (self.list, 1),
            buttons,
            spacing=12,
            margins=(20, 16, 20, 16),
        )

    def _connect(self) -> None:
        self._deletions.changed.connect(self._refresh_if_shown)
        self._deletions.restored.connect(self._refresh_if_shown)
        self._model.refreshed.connect(self._show_state)
        self.list.selectionModel().selectionChanged.connect(lambda _new, _old: self._show_state())
        self._model.modelAboutToBeReset.connect(self._note_chosen)
        self._model.modelReset.connect(self._choose_again)
        self.list.restore_requested.connect(self.restore)
        self.list.forget_requested.connect(self.ask_to_forget)
        self.restore_button.clicked.connect(self.restore)
        self.forget_button.clicked.connect(self.ask_to_forget)
        self.empty_button.clicked.connect(self.ask_to_empty)
        self._theme.changed.connect(self._restyle)

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
        return self._ask(
            lambda: (self.tr("Permanently delete %Ln item(s)?", "", n), self.tr("Delete permanently")),
            lambda: self._deletions.forget(chosen),
        )

    def ask_to_empty(self) -> Dialog:
        return self._ask(lambda: (self.tr("Empty Recently Deleted?"), self.tr("Empty")), self._deletions.empty)

    def _ask(self, words: Callable[[], tuple[str, str]], act: Callable[[], None]) -> Dialog:
        """Before anything is deleted for good. `words`: the question, and its button."""

        def text() -> DialogText:
            question, button = words()
            return DialogText(
                question, self.tr("Backups included. This cannot be undone."), "", button, self.tr("Cancel")
            )

        return ask(self._theme, self, text, act)

    def _refresh_if_shown(self) -> None:
        if self.isVisible():
            self._model.refresh()

    def _note_chosen(self) -> None:
        self._chosen = self.list.chosen()

    def _choose_again(self) -> None:
        """What was chosen, as far as it is there; else the first."""
        rows = [row for row, each in enumerate(self._model.rows) if each in self._chosen]
        for row in rows or range(min(1, len(self._model.rows))):
            self.list.selectionModel().setCurrentIndex(self._model.index(row), _SELECT)

    def _show_state(self) -> None:
        some = bool(self._model.rows)
        self.nothing.setVisible(not some)
        self.list.setVisible(some)
        for button in (self.restore_button, self.forget_button, self.empty_button):
            button.setVisible(some)
        for button in (self.restore_button, self.forget_button):
            button.setEnabled(bool(self.list.chosen()))

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Recently Deleted"))
        self.title.setText(self.tr("Recently Deleted"))
        self.nothing.setText(self.tr("Nothing deleted in the last 30 days."))
        self.list.setAccessibleName(self.tr("Recently deleted chats and messages"))
        self.restore_button.setText(self.tr("Restore"))
        self.forget_button.setText(self.tr("Delete permanently…"))
        self.empty_button.setText(self.tr("Empty…"))
        self.list.viewport().update()

    def _restyle(self) -> None:
        self.setMinimumSize(self._theme.px(380), self._theme.px(320))
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._model.refresh()
        self.list.setFocus()


class TrashMenu(QObject):
    """The menu of recent deletions: an entry restores one, the last opens the window. Filled when it opens."""

    def __init__(self, menu: QMenu, deletions: Deletions, show_all: Callable[[], object]) -> None:
        super().__init__(menu)
        self._menu = menu
        self._deletions = deletions
        self._show_all = show_all
        menu.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        self._menu.clear()
        for deletion in self._deletions.latest():
            words = self.tr("Restore “%1”") if deletion.whole_chat else self.tr("Restore Messages in “%1”")
            action = self._menu.addAction(fill(words, in_menu(deletion.title)))
            action.triggered.connect(lambda _checked=False, deletion=deletion: self._deletions.restore(deletion))
        if self._menu.isEmpty():
            self._menu.addAction(self.tr("Nothing in the last 30 days")).setEnabled(False)
        self._menu.addSeparator()
        show_all = self._menu.addAction(self.tr("Show All…"))
        show_all.setObjectName(SHOW_ALL)
        show_all.triggered.connect(self._show_all)
