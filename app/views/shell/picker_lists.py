"""The two lists of the picker below a field that searches in both: main models, and drafts for the chosen one.

Arrow keys go from the field into a list, up out of it again, and sideways to the other list; letters go to the field.
Side by side; where that is too narrow, one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.theme import Theme
from app.view_models.matching import distance
from app.views.widgets.fields import Segments
from app.views.widgets.held_keys import RETURN_KEYS, is_held
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.option_list import EDGE_PX, Option, OptionList
from app.views.widgets.search_field import SearchField
from app.views.widgets.translated import Translated
from app.words.formats import labelled

_SIDE_BY_SIDE_PX = 480


class PickerLists(Translated, QWidget):
    left = Signal()  # by Escape, or because something was chosen by Return
    pointed = Signal()  # another option is the one that somebody looks at, or none

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._options: dict[OptionList, Sequence[Option]] = {}
        self.field = PickerField(theme, self)
        self.sides = Segments(theme, self)
        self.main_heading = TextLabel(theme, TextStyle.HEADING, self)
        self.draft_heading = TextLabel(theme, TextStyle.HEADING, self)
        self.mains = OptionList(theme, self)
        self.drafts = OptionList(theme, self)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()

    def _arrange(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(10)
        grid.addWidget(self.field, 0, 0, 1, 2)
        grid.addWidget(self.sides, 1, 0, 1, 2)
        self.sides.set_value("main")
        for column, heading in enumerate((self.main_heading, self.draft_heading)):
            grid.addWidget(heading, 2, column)
            grid.setColumnStretch(column, 1)
        grid.addWidget(self.nothing, 3, 0, 1, 2)
        grid.addWidget(self.mains, 4, 0)
        grid.addWidget(self.drafts, 4, 1)
        grid.setRowStretch(4, 1)
        self._grid = grid

    def _connect(self) -> None:
        self.field.words_changed.connect(self._filter)
        self.field.left.connect(self.left)
        self.field.stepped.connect(self._step_in)
        self.field.returned.connect(self._choose_found)
        self.sides.chosen.connect(self._place)
        self._theme.changed.connect(self._restyle)
        for each in (self.mains, self.drafts):
            each.installEventFilter(self)
            each.pointed.connect(self.pointed)
            each.moved.connect(self.pointed)
            each.typed.connect(self._type)
            each.confirmed.connect(self.left)

    def _restyle(self) -> None:
        for label in (self.main_heading, self.draft_heading, self.nothing):
            label.setIndent(self._theme.px(EDGE_PX))
        self._place()

    # What is listed

    def set_options(self, mains: Sequence[Option], main: str, drafts: Sequence[Option], draft: str) -> None:
        for shown, options, checked in ((self.mains, mains, main), (self.drafts, drafts, draft)):
            self._options[shown] = options
            shown.set_options(found_among(options, self.field.words()), checked)

    def _filter(self, words: str) -> None:
        """What Return in the field would choose has its ground tinted: the first of what was found."""
        for shown, options in self._options.items():
            shown.set_options(found_among(options, words), shown.checked)
            shown.is_led = False
        if words.strip():
            led = next(
                (
                    each
                    for each in sorted(self._options, key=lambda each: each not in self._in_sight())
                    if each.show_first()
                ),
                None,
            )
            if led is not None:
                led.is_led = True
                self.sides.set_value("main" if led is self.mains else "draft")
        else:
            for shown in self._options:
                shown.show_checked()
        self._place()
        self.pointed.emit()

    def _in_sight(self) -> list[OptionList]:
        if not self.is_narrow:
            return [self.mains, self.drafts]
        return [self.mains if self.sides.value == "main" else self.drafts]

    @property
    def pointed_option(self) -> Option | None:
        return self.mains.pointed_option or self.drafts.pointed_option

    def about_main(self) -> str:
        """The details of the chosen main model."""
        chosen = (each for each in self._options.get(self.mains, ()) if each.value == self.mains.checked)
        return next((labelled(each.text, each.detail) for each in chosen if each.detail), "")

    def show_all(self) -> None:
        """Nothing is searched for, and both lists are where the pair is."""
        self.field.clear()
        self._filter("")

    def open(self) -> None:
        """As the keyboard finds it."""
        self.show_all()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    # Keys

    def _led(self) -> OptionList:
        return next((each for each in self._options if each.is_led), self._in_sight()[0])

    def _step_in(self) -> None:
        led = self._led()
        if led.current_value is not None:
            led.setFocus(Qt.FocusReason.TabFocusReason)

    def _choose_found(self) -> None:
        """By Return in the field; it stays open where what was found cannot be chosen."""
        if not self.field.words().strip() or self._led().choose_current():
            self.left.emit()

    def _type(self, letters: str) -> None:
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.insert(letters)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and isinstance(watched, OptionList):
            return self._goes_elsewhere(watched, Qt.Key(event.key()))
        return False

    def _goes_elsewhere(self, inside: OptionList, key: Qt.Key) -> bool:
        goes_to: QWidget | None = None
        if key == Qt.Key.Key_Up and inside.is_at_first:
            goes_to = self.field
        elif (key == Qt.Key.Key_Left and inside is self.drafts) or (key == Qt.Key.Key_Right and inside is self.mains):
            goes_to = self.mains if inside is self.drafts else self.drafts
            self.sides.set_value("main" if goes_to is self.mains else "draft")
            self._place()
        if goes_to is not None:
            goes_to.setFocus(Qt.FocusReason.TabFocusReason)
        return goes_to is not None

    # Words and looks

    @property
    def is_narrow(self) -> bool:
        return self.width() < self._theme.px(_SIDE_BY_SIDE_PX)

    def content_height(self, width: int) -> int:
        """What all options need together with the field above them, at that width."""
        above = (
            self.field.sizeHint().height() + self.main_heading.sizeHint().height() + 3 * self._grid.verticalSpacing()
        )
        if width < self._theme.px(_SIDE_BY_SIDE_PX):
            above += self.sides.sizeHint().height()
        return above + max(self.mains.content_height(), self.drafts.content_height(), self._theme.px(120))

    def _place(self) -> None:
        narrow, words = self.is_narrow, self.field.words().strip()
        self.sides.setVisible(narrow)
        sides = ((self.mains, self.main_heading, "main"), (self.drafts, self.draft_heading, "draft"))
        for column, (shown, heading, side) in enumerate(sides):
            is_shown = not narrow or self.sides.value == side
            shown.setVisible(is_shown)
            heading.setVisible(not narrow)
            self._grid.setColumnStretch(column, int(is_shown))
        self._grid.setHorizontalSpacing(0 if narrow else 12)
        self.nothing.setVisible(bool(words) and not any(shown.model().rowCount() for shown in self._in_sight()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _retranslate(self) -> None:
        main, draft = self.tr("Main model"), self.tr("Draft model")
        self.main_heading.setText(main)
        self.draft_heading.setText(draft)
        self.mains.setAccessibleName(main)
        self.drafts.setAccessibleName(draft)
        self.sides.set_choices((("main", main), ("draft", draft)))
        self.sides.setAccessibleName(self.tr("Models"))
        self.field.setPlaceholderText(self.tr("Search models"))
        self.field.setAccessibleName(self.tr("Search models"))
        self.nothing.setText(self.tr("No results."))


class PickerField(SearchField):
    """Return and Escape belong to the input method while it composes."""

    returned = Signal()
    stepped = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in RETURN_KEYS and not self.composed and not is_held(event):
            self.returned.emit()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_PageDown):
            self.stepped.emit()
        else:
            super().keyPressEvent(event)


def found_among(options: Sequence[Option], words: str) -> list[Option]:
    """Those that have the words in their name, under the headings that are left with any."""
    if not words.strip():
        return list(options)
    found: list[Option] = []
    for option in reversed(options):
        if option.value is not None:
            found += [option] if distance(words, option.text, option.detail) is not None else []
        elif found and (found[-1].value is not None or found[-1].is_sub_heading > option.is_sub_heading):
            found.append(option)
    return found[::-1]
