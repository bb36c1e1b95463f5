"""Help: a search and the pages on the left, the chosen page on the right.

During a search the list has the found questions; the current one is shown.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.help_pages import HelpPage, HelpSection, help_pages, search, with_keys
from app.views.models.model_card import ModelCard
from app.views.shell.menu import MenuBar
from app.views.shell.shortcuts import shortcut_text
from app.views.widgets.arrange import arrange
from app.views.widgets.labels import TextLabel, TextStyle, describe
from app.views.widgets.link_ring import AROUND_PX
from app.views.widgets.page_list import PageEntry, PagesSide
from app.views.widgets.scrolling import ScrolledText, keep_room_for_bar, set_up_scroll_area
from app.views.widgets.side_window import SideWindow
from app.views.widgets.spotlight import Spotlight
from app.views.widgets.translated import Translated
from app.words.languages import Translation

_LIST_PX = 220
_TEXT_PX = 620
_SIDE_PX = 28
_NARROW_PX = 520
_ICONS = {
    "first-steps": "play",
    "drafts": "zap",
    "models": "box",
    "files": "paperclip",
    "tools": "wrench",
    "programs": "globe",
    "keys": "corner-down-left",
    "privacy": "eye-off",
    "troubles": "alert-triangle",
}


class HelpWindow(Translated, SideWindow):
    def __init__(self, theme: Theme, menu: MenuBar, translation: Translation) -> None:
        super().__init__(theme)
        self._menu = menu
        self._translation = translation
        self.pages: tuple[HelpPage, ...] = ()
        self.shown = 0  # its number
        self.found: list[tuple[HelpPage, HelpSection]] | None = None  # None: the list has the pages
        self.text = HelpText(theme, self)
        self._side = PagesSide(theme, self, self.text)
        self.index = self._side.index
        self.search = self._side.search
        self.list = self._side.list
        self.nothing = self._side.nothing
        self.begin_with(940, 640)
        self._connect()
        self._restyle()
        self._retranslate()

    def _connect(self) -> None:
        self._theme.changed.connect(self._restyle)
        self.index.chosen.connect(self._choose)
        self.search.words_changed.connect(self._fill)
        self.search.words_changed.connect(self._side.say_found)
        self.search.returnPressed.connect(self._read)
        self.list.currentRowChanged.connect(self._on_row)
        self.list.itemActivated.connect(lambda _item: self._read())

    def _fill(self) -> None:
        query = self.search.words().strip()
        self.found = search(query, self.pages) if query else None
        if self.found is None:
            entries = [PageEntry(page.title, _ICONS[page.name]) for page in self.pages]
        else:
            entries = [PageEntry(section.question, "", page.title) for page, section in self.found]
        self.list.set_entries(entries)
        self.nothing.setVisible(not entries)
        self.list.setCurrentRow(-1)
        self.list.setCurrentRow(self.shown if self.found is None else 0)
        if not entries:  # what was read stays, in the language of now
            self._show(self.shown, None)
        self._fold()

    def _fold(self) -> None:
        narrow = self.width() < self._theme.px(_NARROW_PX)
        list_px = self._theme.px(_LIST_PX)
        self._side.fold(narrow=narrow, list_px=list_px, finds=bool(self.found))

    def _choose(self, number: int) -> None:
        """A page, whatever is searched for."""
        self.shown = number
        if self.search.text():
            self.search.clear()
        else:
            self.list.setCurrentRow(number)

    def _on_row(self, row: int) -> None:
        if row < 0:
            return
        if self.found is not None:
            page, section = self.found[row]
            self._show(self.pages.index(page), section)
        else:
            self._show(row, None)

    def _show(self, number: int, section: HelpSection | None) -> None:
        self.shown = number
        self.index.set_value(number)
        answers = [with_keys(each.answer, self._key_text) for each in self.pages[self.shown].sections]
        self.text.show_page(self.pages[self.shown], answers, section)

    def _key_text(self, name: str) -> str:
        action = self._menu.actions.get(name)
        return shortcut_text(action) if action else QKeySequence(name).toString(QKeySequence.SequenceFormat.NativeText)

    def _read(self) -> None:
        self.text.setFocus(Qt.FocusReason.TabFocusReason)

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Hunch Help"))
        describe(self.search, self.tr("Search"), self.tr("Search Help"))
        self.nothing.setText(self.tr("No results."))
        self.list.setAccessibleName(self.tr("Pages"))
        self.index.setAccessibleName(self.tr("Pages"))
        self.pages = help_pages(self._translation.language)
        self.index.set_choices([(number, page.title) for number, page in enumerate(self.pages)])
        self._fill()

    def _restyle(self) -> None:
        self.setMinimumSize(self._theme.px(340), self._theme.px(240))
        self._fold()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.search.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Find):
            self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.search.selectAll()
        else:
            super().keyPressEvent(event)


class HelpText(ScrolledText):
    """A page; a found question is scrolled to and highlighted for a moment."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        set_up_scroll_area(self, theme, QWidget())
        keep_room_for_bar(self)
        self._page: HelpPage | None = None
        self._answers: list[str] = []
        self.questions: dict[HelpSection, TextLabel] = {}
        self._sought: TextLabel | None = None  # until the user scrolls
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._scroll_to_it)  # answers find their height one after another
        bar.actionTriggered.connect(self._forget)
        theme.changed.connect(self._fit)

    def show_page(self, page: HelpPage, answers: list[str], section: HelpSection | None) -> None:
        if page != self._page or answers != self._answers:
            self._page = page
            self._answers = answers
            self._build()
        QTimer.singleShot(0, self, lambda: self._go_to(section))

    def _build(self) -> None:
        assert self._page is not None
        self._sought = None
        content = QWidget()
        title = self._heading(TextStyle.TITLE, self._page.title)
        column = arrange(QVBoxLayout(content), title, spacing=4, margins=(_SIDE_PX, 24, _SIDE_PX, 28))
        self.questions = {}
        for section, answer in zip(self._page.sections, self._answers, strict=True):
            heading = self._heading(TextStyle.HEADING, section.question)
            card = ModelCard(self._theme)
            card.show_card(answer)
            column.addSpacing(14)
            arrange(column, heading, card)
            self.questions[section] = heading
        column.addStretch(1)
        self.setWidget(content)
        self._fit()
        content.setAutoFillBackground(False)  # which it sets itself
        self.setAccessibleName(self._page.title)

    def _fit(self) -> None:
        """Limit the length of lines."""
        for each in (self.widget() or self).findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            each.setMaximumWidth(self._theme.px(_TEXT_PX))
            policy = each.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
            each.setSizePolicy(policy)

    def _heading(self, style: TextStyle, words: str) -> TextLabel:
        label = TextLabel(self._theme, style)
        label.setText(words)
        label.setContentsMargins(AROUND_PX, 0, 0, 0)  # as its answer has
        return label

    def _go_to(self, section: HelpSection | None) -> None:
        heading = self.questions.get(section) if section is not None else None
        self._sought = heading
        self.verticalScrollBar().setValue(0)
        self._scroll_to_it()
        for light in self.findChildren(Spotlight):
            light.hide()
            light.deleteLater()
        if heading is not None:
            Spotlight(self._theme, heading)

    def _scroll_to_it(self) -> None:
        if self._sought is not None:
            self.verticalScrollBar().setValue(self._sought.y() - 24)

    def _forget(self) -> None:
        self._sought = None
