"""The command palette: everything that can be done or gone to, found by a few letters.

A card over the top of the window. The field has the focus all the time and leads the list: what an input method
composes is searched for as it stands, and Return goes to it first. What was used lately comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAccessible, QFocusEvent, QInputMethodEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.settings import Settings
from app.theme import Theme
from app.view_models.matching import distance
from app.views.widgets.focus_before import FocusBefore
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.page_list import PageEntry, PageList
from app.views.widgets.painting import paint_surface
from app.views.widgets.search_field import SearchField
from app.views.widgets.translated import Translated

_WIDTH_PX, _MOST_HEIGHT_PX, _TOP_PX = 560, 420, 56
_MOST_SHOWN = 60
_MOST_RECENT = 12
_PAGE_ROWS = 8


@dataclass(frozen=True, slots=True)
class Command:
    """`key` stays the same from run to run and in every language."""

    key: str
    text: str
    act: Callable[[], object]
    icon_name: str = ""
    detail: str = ""  # where it is, or what it is of
    words: str = ""  # it is found by these, too
    shortcut: str = ""


class CommandPalette(Translated, QWidget):
    accessible_role = QAccessible.Role.Dialog
    more_requested = Signal()

    def __init__(self, theme: Theme, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._settings = settings
        self.commands: Callable[[], Sequence[Command]] = tuple  # asked each time that it opens
        self._all: Sequence[Command] = ()
        self._shown: list[Command] = []
        self.focus_before = FocusBefore(window.setFocus)
        self.field = PaletteField(theme, self)
        self.list = PageList(theme, self)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.shows_ring = False
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        self._arrange()
        self._connect()
        self._retranslate()
        self.hide()

    def _arrange(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 10)
        column.setSpacing(8)
        for widget in (self.field, self.nothing):
            column.addWidget(widget)
        column.addWidget(self.list, 1)

    def _connect(self) -> None:
        self.field.textChanged.connect(self._fill)
        self.field.composed_changed.connect(self._fill)
        self.field.left.connect(self.close_palette)
        self.field.stepped.connect(self.list.step)
        self.field.returnPressed.connect(self._run_current)
        self.field.focus_lost.connect(self._on_focus_lost)
        self.list.itemClicked.connect(lambda _item: self._run_current())
        self._theme.changed.connect(self._place)

    # Opening and closing

    def open_palette(self) -> None:
        """A second time closes it, as its key is expected to."""
        if self.isVisible():
            self.close_palette()
            return
        window = self.window()
        window.raise_()
        window.activateWindow()
        self.focus_before.remember()
        self._all = self.commands()
        self.more_requested.emit()
        self.field.clear()
        self._fill()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_palette(self) -> None:
        if self.isVisible():
            self.hide()
            self.focus_before.give_back()

    def _on_focus_lost(self) -> None:
        """Somebody went elsewhere; the focus stays there. A window that is not active keeps the palette."""
        if self.isVisible() and self.window().isActiveWindow() and not QApplication.activePopupWidget():
            self.focus_before.forget()
            self.hide()

    def refresh(self) -> None:
        """There is more to offer than a moment ago."""
        if self.isVisible():
            self._all = self.commands()
            self._fill()

    # What is shown

    def _fill(self) -> None:
        self._shown = self._found(self.field.text_with_composed())[:_MOST_SHOWN]
        self.list.set_entries(
            [PageEntry(each.text, each.icon_name, each.detail, each.shortcut) for each in self._shown]
        )
        self.list.setCurrentRow(0 if self._shown else -1)
        self.list.scrollToTop()
        self.nothing.setVisible(not self._shown)
        self.list.setVisible(bool(self._shown))  # empty, it would still have a least height
        self._place()

    def _found(self, query: str) -> list[Command]:
        recent = {key: place for place, key in enumerate(self._settings.recent_commands)}
        ranked = []
        for place, command in enumerate(self._all):
            far = distance(query, command.text, command.detail, command.words)
            if far is not None:
                ranked.append((far if query.strip() else 0, recent.get(command.key, _MOST_RECENT), place, command))
        return [command for *_, command in sorted(ranked, key=lambda each: each[:3])]

    def _run_current(self) -> None:
        row = self.list.currentRow()
        if not 0 <= row < len(self._shown):
            return
        command = self._shown[row]
        others = [key for key in self._settings.recent_commands if key != command.key]
        self._settings.recent_commands = (command.key, *others)[:_MOST_RECENT]
        self.close_palette()
        command.act()

    # Words and looks

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Command palette"))
        self.field.setPlaceholderText(self.tr("Search commands, chats, models and settings"))
        self.field.setAccessibleName(self.tr("Command"))
        self.list.setAccessibleName(self.tr("Commands"))
        self.nothing.setText(self.tr("Nothing found."))

    def _place(self) -> None:
        window = self.window()
        width = min(self._theme.px(_WIDTH_PX), window.width() - 32)
        foot = 20 + self.field.height() + 8
        rows = self.list.content_height() if self._shown else self.nothing.sizeHint().height()
        height = min(foot + rows + 4, self._theme.px(_MOST_HEIGHT_PX), window.height() - _TOP_PX - 16)
        self.setGeometry((window.width() - width) // 2, _TOP_PX, width, height)
        self.update()

    def follow_window(self) -> None:
        if self.isVisible():
            self._place()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonPress:
            return True  # not the window's behind it
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.window)
        painter.end()
        paint_surface(self, self._theme.palette)


class PaletteField(SearchField):
    """Arrow and page keys step in the list below it. Return and Escape belong to the input method while it composes."""

    composed_changed = Signal()
    stepped = Signal(int)
    focus_lost = Signal()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self.composed_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _PAGE_ROWS, Qt.Key.Key_PageUp: -_PAGE_ROWS}
        if key in steps:
            self.stepped.emit(steps[key])
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            event.accept()  # there is nowhere else to go
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, _next: bool) -> bool:
        return False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_lost.emit()
