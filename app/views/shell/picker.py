"""The popover of the pair chip: chooses the main model and its draft.

All installed models are listed and searchable; unusable ones are greyed. Below the lists are the details of the option
under the pointer or focus, else of the pair. A choice applies at once, and Return closes. Everything else about the
pair is in the button's menu.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.matching import distance
from app.view_models.model_list import DraftChoice, DraftGroup, ModelEntry, PairState, PairView
from app.views.settings.speculation_controls import SpeculationControls
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.cards import Hairline
from app.views.widgets.fields import Segments
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle, describe
from app.views.widgets.option_list import EDGE_PX, ListedOption, OptionList
from app.views.widgets.panel import Panel
from app.views.widgets.roles import announce
from app.views.widgets.scrolling import ScrolledText, set_up_scroll_area
from app.views.widgets.search_field import SearchField
from app.views.widgets.translated import Translated
from app.words.formats import fill, labelled, sentences, size
from app.words.model_names import human_name
from app.words.notices_for_errors import Problem, notice_for, title_and_reason
from app.words.pairs import (
    draft_details,
    gain_figure,
    is_known_gain,
    model_kind,
    pair_details,
    pair_sentence,
    precision_text,
    seeing_text,
    source_text,
    unfit_text,
)

_WIDTH_PX = 640
_MOST_LISTED_PX = 560
_MOST_RECENT = 5
_FEW = 8
NO_DRAFT = ""
_SIDE_BY_SIDE_PX = 480


class Picker(Translated, Panel):
    """Created when it is first opened, and updated while it is open."""

    def __init__(self, theme: Theme, window: ShellWindow, models: ModelController, chats: ChatController) -> None:
        super().__init__(theme, window, _WIDTH_PX, window.composer.take_focus)
        self._models = models
        self._chats = chats
        self._filled_for: object = None  # what of the pair was shown last
        self.lists = PickerLists(theme, self)
        self.mains = self.lists.mains
        self.drafts = self.lists.drafts
        self.field = self.lists.field
        self.more = PickerMore(theme, self, window, models)
        self.note = TextLabel(theme, TextStyle.FINE)
        self.more_button = IconButton(theme, "more-horizontal")
        self._drafts: dict[str, DraftChoice] = {}  # by folder
        self._chosen: DraftChoice | None = None  # the draft of the pair
        self._arrange()
        self.mains.chosen.connect(models.choose_main)
        self.drafts.chosen.connect(lambda folder: models.choose_draft(folder or None))
        models.models_changed.connect(self._refresh)
        for changed in (models.pair_changed, models.library.changed, chats.options.changed):
            changed.connect(self._show_pair)
        chats.chat_left.connect(self.leave)  # a part of what it shows is that chat's
        self.lists.left.connect(self.leave)
        self.more.left.connect(self.leave)
        self.lists.pointed.connect(self._describe)
        self.more_button.clicked.connect(self._toggle_more)
        theme.follow(self._restyle)
        self._retranslate()

    def _restyle(self) -> None:
        """Everything begins where the options of the lists do."""
        self.note.setIndent(self._theme.px(EDGE_PX))

    def _arrange(self) -> None:
        about = arrange(QHBoxLayout(), (self.note, 1), self.more_button)
        self.more.setVisible(False)
        parts = (self.lists, 1), (self.more, 1), Hairline(self._theme), about
        self._column = arrange(QVBoxLayout(self), *parts, spacing=8, margins=(12, 12, 12, 10))

    def _show_pair(self) -> None:
        """Refill the lists if they differ. MEASURED: 70 ms with 200 models, and a load reports a hundred steps."""
        if not self.isHidden() and self._part_of_pair() != self._filled_for:
            self.fill()

    def _refresh(self) -> None:
        if not self.isHidden():
            self.fill()

    def _part_of_pair(self) -> object:
        pair = self._models.pair
        options = self._chats.options
        drafting = options.pair_here(pair).speculation, options.has_own_speculation
        return pair.main_folder, pair.draft_folder, pair.state, pair.station, drafting

    def fill(self) -> None:
        """Fill it with the present models."""
        models = self._models
        options = self._chats.options
        pair = models.pair
        drafts = models.drafts_for_main()
        self._filled_for = self._part_of_pair()
        self._drafts = {each.model.folder: each for each in drafts}
        self._chosen = self._drafts.get(pair.draft_folder)
        mains = self._main_options(models.models, pair)
        self.lists.set_options(mains, pair.main_folder, self._draft_options(drafts), pair.draft_folder)
        self.more.show_pair(pair)
        self.more.race_button.setEnabled(any(not message.from_user for message in self._chats.transcript.messages))
        drafting = options.pair_here(pair).speculation
        self.more.speculation.set_value(drafting.mode, drafting.tokens, only_here=options.has_own_speculation)
        self._describe()

    def _compared(self) -> DraftChoice | None:
        """The draft to compare with the main model: the focused one, else the chosen one; None if it cannot be read."""
        found = self._drafts.get(self.drafts.current_value or NO_DRAFT, self._chosen)
        return found if found is not None and found.model.error is None else None

    def _describe(self) -> None:
        pointed = self.lists.pointed_option
        compared = self._compared()
        if self.more.isVisibleTo(self):
            self.note.setText(self._pair_note(compared))
            self.more.show_comparison(compared)
        elif pointed is not None and (pointed.reason or pointed.detail):
            self.note.setText(labelled(pointed.text, pointed.reason or pointed.detail))
        else:
            self.note.setText(self._pair_note(self._chosen) or self.lists.about_main())

    def _pair_note(self, draft: DraftChoice | None) -> str:
        """Comparison of the two; "" until it is known."""
        if draft is None or draft.check is None:
            said = ""
        elif draft.error is not None:
            said = notice_for(draft.error).sentence
        else:
            said = pair_sentence(draft.check, is_recommended=draft.group is DraftGroup.RECOMMENDED)
        return said if draft is self._chosen or draft is None else labelled(human_name(draft.model.name), said)

    def _show_more(self, shown: bool) -> None:
        self.more.setVisible(shown)
        self.lists.setVisible(not shown)
        self.more_button.set_icon("chevron-left" if shown else "more-horizontal")
        self._name_button()

    def _toggle_more(self) -> None:
        shown = not self.more.isVisibleTo(self)
        compared = self._compared()
        self._show_more(shown)
        goes_to = self.more.speculation.modes if shown else self.field
        goes_to.setFocus(Qt.FocusReason.OtherFocusReason)
        if shown and compared is not None and compared.check is None:
            self._models.check_pair(compared.model.folder)
        self._describe()

    def _main_options(self, mains: Sequence[ModelEntry], pair: PairView) -> list[ListedOption]:
        """Main models, the latest first; those that usually draft are listed separately."""
        models = sorted((entry for entry in mains if entry.drafter is None), key=lambda entry: entry.error is not None)
        drafts = [each for each in models if each.drafts_for and each.folder != pair.main_folder]
        others = [each for each in models if each not in drafts]
        recent = sorted((each for each in others if each.last_used), key=lambda each: -each.last_used)[:_MOST_RECENT]
        others = [*recent, *(each for each in others if each not in recent)]
        options = self._main_rows(others)
        if recent and len(others) > _FEW:
            options.insert(0, ListedOption(self.tr("Recent")))
            options.insert(1 + len(recent), ListedOption(self.tr("All others")))
        if drafts:
            options += [ListedOption(self.tr("Used as drafts")), *self._main_rows(drafts)]
        return options or [ListedOption(self.tr("No models installed."))]

    def _main_rows(self, entries: Sequence[ModelEntry]) -> list[ListedOption]:
        names = Counter(human_name(entry.name) for entry in entries)
        rows = ((each, self._option(each, each.error, tell_apart=names[human_name(each.name)] > 1)) for each in entries)
        return [replace(option, mark="eye" if entry.sees else "") for entry, option in rows]

    def _option(self, entry: ModelEntry, error: Problem | None, *, tell_apart: bool = False) -> ListedOption:
        precision = precision_text(entry.bits, entry.full_bits, entry.quantization)
        known = filter(None, (precision, seeing_text() if entry.sees else ""))
        parts = [*model_kind(entry.drafter), size(entry.size_bytes), *known, source_text(entry.source)]
        unfit = unfit_text(entry.fit)
        checking = [self.tr("checking…")] if entry.is_checking else []
        apart = [" · ".join(filter(None, (precision, source_text(entry.source))))] if tell_apart else []
        loses = entry.gain is not None and entry.gain.loses  # then it is used without the draft that it had
        gain = gain_figure(entry.gain) if error is None and not loses else ""
        aside = next(iter((*checking, *unfit, *apart, gain)))
        name = human_name(entry.name)
        where = [full_name] if (full_name := entry.repository or entry.name) != name else []
        alone = [title_and_reason(entry.indivisible)] if entry.indivisible is not None and error is None else []
        details = " · ".join([*parts, *where, *unfit, *checking, *alone])
        is_gain = aside == gain and is_known_gain(entry.gain)
        return ListedOption(name, entry.folder, details, _reason(error), aside, is_gain)

    def _draft_options(self, choices: Sequence[DraftChoice]) -> list[ListedOption]:
        names = Counter(human_name(choice.model.name) for choice in choices)
        options = [ListedOption(self.tr("No draft"), NO_DRAFT, self.tr("Main model only"))]
        for group, of_group in groupby(choices, key=lambda choice: choice.group):
            options.append(ListedOption(self._group_text(group)))
            members = list(of_group)
            both_kinds = len({choice.model.drafter is None for choice in members}) > 1
            for is_classic, of_kind in groupby(members, key=lambda choice: choice.model.drafter is None):
                if both_kinds:
                    heading = self.tr("Chat models") if is_classic else self.tr("Drafters")
                    options.append(ListedOption(heading, is_sub_heading=True))
                options += [
                    self._draft_option(each, tell_apart=names[human_name(each.model.name)] > 1) for each in of_kind
                ]
        return options

    def _draft_option(self, choice: DraftChoice, *, tell_apart: bool) -> ListedOption:
        if choice.error is not None:
            return self._option(choice.model, choice.error)
        if choice.group is DraftGroup.COMPARING:
            return replace(self._option(choice.model, None), reason=self.tr("Comparing tokens…"))
        entry = choice.model
        brings = draft_details(choice.extra_bytes, choice.gain)
        precision = precision_text(entry.bits, entry.full_bits, entry.quantization)
        source = source_text(entry.source) if tell_apart else ""
        apart = " · ".join(filter(None, (precision, source))) if tell_apart else ""
        pair = self._models.pair
        also_on = fill(self.tr("also on %1"), pair.station) if pair.station and entry.is_draft else ""
        parts = [*model_kind(entry.drafter), *brings, also_on, precision, entry.repository, source]
        details = " · ".join(filter(None, parts))
        aside = apart or gain_figure(choice.gain)
        is_gain = not apart and is_known_gain(choice.gain)
        return ListedOption(human_name(entry.name), entry.folder, details, aside=aside, is_gain=is_gain)

    def _group_text(self, group: DraftGroup) -> str:
        return {
            DraftGroup.RECOMMENDED: self.tr("Recommended"),
            DraftGroup.COMPATIBLE: self.tr("Compatible"),
            DraftGroup.COMPARING: self.tr("Comparing…"),
            DraftGroup.NOT_COMPATIBLE: self.tr("Not compatible"),
        }[group]

    @property
    def first(self) -> QWidget:
        return self.more.speculation.modes if self.more.isVisibleTo(self) else self.field

    def open_at(self, anchor: QWidget) -> None:
        """Scans again, since other programs may have added or deleted models."""
        self.fill()
        self._show_more(False)
        self.lists.show_all()  # what was searched for last does not say how high it is
        super().open_at(anchor)
        self.lists.show_all()  # again: now they know how much of them is seen
        self._describe()
        self._models.refresh()

    def wanted_px(self, width_px: int) -> int:
        foot = self._foot_height(1 if width_px < self._theme.px(_WIDTH_PX) else 2)
        return foot + min(self.lists.content_height(width_px), self._theme.px(_MOST_LISTED_PX))

    def _foot_height(self, lines: int) -> int:
        """Height without the lists, with room for the longest details, so that nothing moves."""
        self.note.setMinimumHeight(lines * QFontMetrics(self.note.font()).lineSpacing() + 2)
        about = max(self.note.minimumHeight(), self.more_button.sizeHint().height())
        margins = self._column.contentsMargins()
        return margins.top() + margins.bottom() + 2 * self._column.spacing() + 1 + about

    def _name_button(self) -> None:
        shown = self.more.isVisibleTo(self)
        self.more_button.set_name(self.tr("Back to the models") if shown else self.tr("More"))

    def _retranslate(self) -> None:
        self._name_button()
        self._refresh()
        self._describe()


def _reason(error: Problem | None) -> str:
    """Why a model cannot be used, and what to do."""
    if error is None:
        return ""
    notice = notice_for(error)
    return sentences(notice.sentence, notice.hint)


class PickerMore(Translated, ScrolledText):
    """The menu of the pair: drafting, comparison, and links."""

    race_requested = Signal()
    left = Signal()  # for what one of its buttons opens

    def __init__(self, theme: Theme, parent: QWidget, window: ShellWindow, models: ModelController) -> None:
        super().__init__(theme, parent)
        self.speculation = SpeculationControls(theme)
        self.race_button = PillButton(theme, Emphasis.PLAIN, "activity")
        self.search_button = PillButton(theme, Emphasis.PLAIN, "search")
        self.models_button = PillButton(theme, Emphasis.PLAIN, "plus")
        self.eject_button = PillButton(theme, Emphasis.PLAIN, "x")
        self.compared = TextLabel(theme, TextStyle.HEADING)
        self.details = TextLabel(theme, TextStyle.FINE)
        self._arrange()
        for button, act in (
            (self.race_button, self.race_requested),
            (self.search_button, window.draft_search_requested),
            (self.models_button, lambda: window.settings_requested.emit("models")),
            (self.eject_button, models.eject),
        ):
            button.clicked.connect(self.left)
            button.clicked.connect(act)
        self._retranslate()

    def _arrange(self) -> None:
        content = QWidget()
        edge = self._theme.px(EDGE_PX)
        buttons = Flow(None, self.race_button, self.search_button, self.models_button, self.eject_button)
        parts = self.speculation, buttons, self.compared, self.details, 1
        arrange(QVBoxLayout(content), *parts, spacing=14, margins=(edge, 4, edge, 4))
        set_up_scroll_area(self, self._theme, content)

    def show_pair(self, pair: PairView) -> None:
        self.search_button.setEnabled(bool(pair.main_folder))
        self.eject_button.setEnabled(pair.state == PairState.READY)

    def show_comparison(self, draft: DraftChoice | None) -> None:
        """Show the comparison of the two models' files, once known; nothing without a draft."""
        check = draft.check if draft is not None else None
        self.compared.setVisible(draft is not None)
        self.details.setVisible(draft is not None)
        self.details.setText("\n".join(pair_details(check)) if check is not None else self.tr("Comparing…"))

    def _retranslate(self) -> None:
        self.race_button.setText(self.tr("Race…"))
        self.search_button.setText(self.tr("Find a draft…"))
        self.models_button.setText(self.tr("More models…"))
        self.eject_button.setText(self.tr("Unload"))
        self.compared.setText(self.tr("How the two compare"))


class PickerLists(Translated, QWidget):
    """Main models, and drafts for the chosen one, with a search field above.

    Arrow keys move between field and lists; letters go to the field. Side by side, or one at a time where that is too
    narrow.
    """

    left = Signal()  # by Escape, or because something was chosen by Return
    pointed = Signal()  # another option is pointed at or in focus, or none

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._options: dict[OptionList, Sequence[ListedOption]] = {}
        self.field = SearchField(theme, self)
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
        self.field.down_pressed.connect(self._step_in)
        self.field.returnPressed.connect(self._choose_found)
        self.sides.chosen.connect(self._place)
        self._theme.changed.connect(self._restyle)
        for each in (self.mains, self.drafts):
            each.installEventFilter(self)
            each.pointed.connect(self.pointed)
            each.typed.connect(self._type)
            each.confirmed.connect(self.left)

    def _restyle(self) -> None:
        for label in (self.main_heading, self.draft_heading, self.nothing):
            label.setIndent(self._theme.px(EDGE_PX))
        self._place()

    def set_options(self, mains: Sequence[ListedOption], main: str, drafts: Sequence[ListedOption], draft: str) -> None:
        for shown, options, checked in ((self.mains, mains, main), (self.drafts, drafts, draft)):
            self._options[shown] = options
            shown.set_options(found_among(options, self.field.words()), checked)

    def _filter(self, words: str) -> None:
        """Filter the lists; the first result, which Return chooses, is tinted."""
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
            announce(self.field, self.nothing.text() if led is None else led.current_words)
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
    def pointed_option(self) -> ListedOption | None:
        return self.mains.pointed_option or self.drafts.pointed_option

    def about_main(self) -> str:
        """The details of the chosen main model."""
        chosen = (each for each in self._options.get(self.mains, ()) if each.value == self.mains.checked)
        return next((labelled(each.text, each.detail) for each in chosen if each.detail), "")

    def show_all(self) -> None:
        """Clear the search, and show the pair in both lists."""
        self.field.clear()
        self._filter("")

    def _led(self) -> OptionList:
        return next((each for each in self._options if each.is_led), self._in_sight()[0])

    def _step_in(self) -> None:
        led = self._led()
        if led.current_value is not None:
            led.setFocus(Qt.FocusReason.TabFocusReason)

    def _choose_found(self) -> None:
        """Return in the field: choose the result; an unusable one keeps the picker open."""
        if not self.field.words().strip() or self._led().choose_current():
            self.left.emit()

    def _type(self, letters: str) -> None:
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.insert(letters)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What the field leaves."""
        if event.key() == Qt.Key.Key_PageDown:
            self._step_in()
        else:
            super().keyPressEvent(event)

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

    @property
    def is_narrow(self) -> bool:
        return self.width() < self._theme.px(_SIDE_BY_SIDE_PX)

    def content_height(self, width: int) -> int:
        """Height of all options with the field, at that width."""
        above = (
            self.field.sizeHint().height() + self.main_heading.sizeHint().height() + 3 * self._grid.verticalSpacing()
        )
        if width < self._theme.px(_SIDE_BY_SIDE_PX):
            above += self.sides.sizeHint().height()
        return above + max(self.mains.content_height(), self.drafts.content_height(), self._theme.px(120))

    def _place(self) -> None:
        narrow = self.is_narrow
        words = self.field.words().strip()
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
        main = self.tr("Main model")
        draft = self.tr("Draft model")
        self.main_heading.setText(main)
        self.draft_heading.setText(draft)
        self.mains.setAccessibleName(main)
        self.drafts.setAccessibleName(draft)
        self.sides.set_choices((("main", main), ("draft", draft)))
        self.sides.setAccessibleName(self.tr("Models"))
        describe(self.field, self.tr("Search models"))
        self.nothing.setText(self.tr("No results."))


def found_among(options: Sequence[ListedOption], words: str) -> list[ListedOption]:
    """Options with the words in their names, under their headings."""
    if not words.strip():
        return list(options)
    found: list[ListedOption] = []
    for option in reversed(options):
        if option.value is not None:
            found += [option] if distance(words, option.text, option.detail) is not None else []
        elif found and (found[-1].value is not None or found[-1].is_sub_heading > option.is_sub_heading):
            found.append(option)
    return found[::-1]
