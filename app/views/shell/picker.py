"""The popover of the pair chip: which main model, which draft for it, and how far to guess ahead; and what connects it.

Everything installed is listed; what cannot serve is greyed and says why. A choice applies at once. Details compare the
main model with the draft that the keyboard is at, whether that can be chosen or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby

from PySide6.QtCore import QObject, QPoint, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.model_list import DraftChoice, DraftGroup, ModelEntry, PairState, PairView
from app.views.settings.speculation_controls import SpeculationControls
from app.views.shell.window_parts import WindowParts
from app.views.widgets.banner import BannerText
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Hairline
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.option_list import EDGE_PX, Option, OptionList
from app.views.widgets.painting import paint_surface
from app.views.widgets.translated import Translated
from app.words.formats import fill, labelled, sentences
from app.words.notices_for_errors import Problem, notice_for
from app.words.pairs import (
    draft_details,
    model_details,
    model_kind,
    pair_details,
    pair_sentence,
    precision_text,
    source_text,
    unfit_text,
)

_WIDTH = 640
_LIST_HEIGHT, _LEAST_LIST_HEIGHT = 300, 60
NO_DRAFT = ""


class Picker(Translated, QWidget):
    main_chosen = Signal(str)
    draft_chosen = Signal(str)  # NO_DRAFT for none
    models_requested = Signal()
    search_requested = Signal()  # for a draft, on the hub
    tuning_requested = Signal()
    eject_requested = Signal()
    check_requested = Signal(str)  # of a draft, with the main model

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self._theme = theme
        self.main_heading = TextLabel(theme, TextStyle.HEADING)
        self.draft_heading = TextLabel(theme, TextStyle.HEADING)
        self.mains = OptionList(theme)
        self.drafts = OptionList(theme)
        self.speculation = SpeculationControls(theme)
        self._lists = QWidget(self)
        self.note = TextLabel(theme, TextStyle.FINE)
        self.details = TextLabel(theme, TextStyle.FINE)
        self.details_button = PillButton(theme, Emphasis.QUIET)
        self.models_button = PillButton(theme, Emphasis.QUIET, "plus")
        self.search_button = PillButton(theme, Emphasis.QUIET, "search")
        self.tune_button = PillButton(theme, Emphasis.QUIET, "gauge")
        self.eject_button = PillButton(theme, Emphasis.QUIET, "x")
        self._drafts: dict[str, DraftChoice] = {}  # by folder
        self._chosen: DraftChoice | None = None  # the draft of the pair
        self._arrange()
        self.mains.chosen.connect(self.main_chosen)
        self.drafts.chosen.connect(self.draft_chosen)
        self.models_button.clicked.connect(partial(self._leave_for, self.models_requested))
        self.search_button.clicked.connect(partial(self._leave_for, self.search_requested))
        self.tune_button.clicked.connect(partial(self._leave_for, self.tuning_requested))
        self.eject_button.clicked.connect(partial(self._leave_for, self.eject_requested))
        self.details_button.clicked.connect(self._toggle_details)
        self.drafts.moved.connect(self._show_check)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()

    def _restyle(self) -> None:
        """Everything begins where the options of the lists do."""
        indent = self._theme.px(EDGE_PX)
        for label in (self.main_heading, self.draft_heading, self.note, self.details):
            label.setIndent(indent)
        self._ways.setContentsMargins(indent, 0, 0, 0)

    def _arrange(self) -> None:
        grid = QGridLayout(self._lists)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for column, (heading, options) in enumerate(
            ((self.main_heading, self.mains), (self.draft_heading, self.drafts))
        ):
            grid.addWidget(heading, 0, column)
            grid.addWidget(options, 1, column)
            grid.setColumnStretch(column, 1)
        grid.setRowStretch(1, 1)
        about = QHBoxLayout()
        about.addWidget(self.note, 1)
        about.addWidget(self.details_button, 0, Qt.AlignmentFlag.AlignTop)
        self.details.setVisible(False)  # takes the place of the lists, so that there is always room for it
        self.details.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._buttons = QGridLayout()
        self._buttons.setSpacing(4)
        self._place_buttons(columns=4)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 14, 12, 12)
        self._column.setSpacing(10)
        self._column.addWidget(self._lists, 1)
        self._column.addLayout(about)
        self._column.addWidget(self.details, 1)
        self._column.addWidget(Hairline(self._theme))
        self._ways = QHBoxLayout()
        self._ways.addWidget(self.speculation)
        self._column.addLayout(self._ways)
        self._column.addLayout(self._buttons)

    def _place_buttons(self, columns: int) -> None:
        """Beside one another, or in two rows where that is too wide."""
        buttons = (self.search_button, self.tune_button, self.models_button, self.eject_button)
        for at, button in enumerate(buttons):
            self._buttons.addWidget(button, at // columns, at % columns, Qt.AlignmentFlag.AlignLeft)
        self._buttons.setColumnStretch(columns, 1)

    def show_models(self, mains: Sequence[ModelEntry], drafts: Sequence[DraftChoice], pair: PairView) -> None:
        self.mains.set_options(self._main_options(mains, pair), pair.main_folder)
        self._drafts = {each.model.folder: each for each in drafts}
        self._chosen = self._drafts.get(pair.draft_folder)
        self.drafts.set_options(self._draft_options(drafts), pair.draft_folder)
        ready = pair.state == PairState.READY
        self.tune_button.setEnabled(ready and self._chosen is not None)
        self.search_button.setEnabled(bool(pair.main_folder))
        self.eject_button.setEnabled(ready)
        self._show_check()

    def _compared(self) -> DraftChoice | None:
        """The draft that details are about: the current one, or the chosen one where "No draft" is current.

        None of a model whose files cannot be read: there is nothing to compare.
        """
        found = self._drafts.get(self.drafts.current_value or NO_DRAFT, self._chosen)
        return found if found is not None and found.model.error is None else None

    def _show_check(self) -> None:
        """The line below the lists stays with the chosen draft while the keyboard goes about: nothing is to jump."""
        shown, compared = self.details.isVisibleTo(self), self._compared()
        self.note.setText(self._note(compared if shown else self._chosen))
        check = compared.check if compared is not None else None
        self.details.setText("\n".join(pair_details(check)) if check is not None else self.tr("Comparing…"))
        self.details_button.setVisible(bool(self._drafts))
        self.details_button.setEnabled(shown or compared is not None)
        self.details_button.setText(self.tr("Hide details") if shown else self.tr("Compare the two…"))

    def _note(self, draft: DraftChoice | None) -> str:
        """How the two compare; "" until that is known."""
        if draft is None or draft.check is None:
            said = ""
        elif draft.error is not None:
            said = notice_for(draft.error).sentence
        else:
            said = pair_sentence(draft.check, is_recommended=draft.group is DraftGroup.RECOMMENDED)
        return said if draft is self._chosen or draft is None else labelled(draft.model.name, said)

    def _show_details(self, shown: bool) -> None:
        self.details.setVisible(shown)
        self._lists.setVisible(not shown)

    def _toggle_details(self) -> None:
        shown = not self.details.isVisibleTo(self)
        self._show_details(shown)
        compared = self._compared()
        if shown and compared is not None and compared.check is None:
            self.check_requested.emit(compared.model.folder)
        self._show_check()

    def _main_options(self, mains: Sequence[ModelEntry], pair: PairView) -> list[Option]:
        """What usually drafts stands apart: it can be a main model, but is seldom meant."""
        models = sorted((entry for entry in mains if entry.drafter is None), key=lambda entry: entry.error is not None)
        drafts = [each for each in models if each.drafts_for and each.folder != pair.main_folder]
        options = [self._option(entry, entry.error) for entry in models if entry not in drafts]
        if drafts:
            options += [Option(self.tr("Used as drafts")), *(self._option(each, each.error) for each in drafts)]
        return options or [Option(self.tr("Nothing is installed yet."))]

    def _option(self, entry: ModelEntry, error: Problem | None) -> Option:
        precision = precision_text(entry.bits, entry.full_bits, entry.quantization)
        parts = model_details(entry.size_bytes, precision, entry.source, entry.drafter)
        parts += unfit_text(entry.fit)
        details = " · ".join([*parts, self.tr("checking it first")] if entry.is_checking else parts)
        return Option(entry.name, entry.folder, details, _reason(error))

    def _draft_options(self, choices: Sequence[DraftChoice]) -> list[Option]:
        names = Counter(choice.model.name for choice in choices)
        options = [Option(self.tr("No draft"), NO_DRAFT, self.tr("Only the main model is loaded"))]
        for group, of_group in groupby(choices, key=lambda choice: choice.group):
            options.append(Option(self._group_text(group)))
            members = list(of_group)
            both_kinds = len({choice.model.drafter is None for choice in members}) > 1
            for is_classic, of_kind in groupby(members, key=lambda choice: choice.model.drafter is None):
                options += [Option(self._kind_text(is_classic=is_classic), is_sub_heading=True)] if both_kinds else []
                options += [self._draft_option(each, tell_source=names[each.model.name] > 1) for each in of_kind]
        return options

    def _kind_text(self, *, is_classic: bool) -> str:
        return self.tr("Chat models") if is_classic else self.tr("Drafters")

    def _draft_option(self, choice: DraftChoice, *, tell_source: bool) -> Option:
        if choice.error is not None:
            return self._option(choice.model, choice.error)
        if choice.group is DraftGroup.COMPARING:
            return replace(
                self._option(choice.model, None), reason=self.tr("Its tokens are compared with the main model's.")
            )
        entry, brings = choice.model, draft_details(choice.extra_bytes, choice.gain, choice.estimate)
        precision = precision_text(entry.bits, entry.full_bits, entry.quantization)
        source = source_text(entry.source) if tell_source else ""
        details = [*model_kind(entry.drafter), *brings, precision, source]
        return Option(entry.name, entry.folder, " · ".join(filter(None, details)))

    def _group_text(self, group: DraftGroup) -> str:
        return {
            DraftGroup.RECOMMENDED: self.tr("Recommended"),
            DraftGroup.COMPATIBLE: self.tr("Compatible"),
            DraftGroup.COMPARING: self.tr("Comparing…"),
            DraftGroup.NOT_COMPATIBLE: self.tr("Not compatible"),
        }[group]

    def open_under(self, anchor: QWidget) -> None:
        """Below the chip, inside the window where that is possible; beyond its foot rather than with words cut off."""
        self._show_details(False)
        self._show_check()
        window = anchor.window()
        width = min(self._theme.px(_WIDTH), window.width() - 24)
        buttons = (self.search_button, self.tune_button, self.models_button, self.eject_button)
        four = sum(button.sizeHint().width() + 4 for button in buttons)
        self._place_buttons(columns=4 if four <= width - 24 else 2)
        self._column.activate()  # a hidden window keeps the least size that larger text needed
        foot = self._column.totalMinimumHeightForWidth(width)
        lists = max(self.mains.content_height(), self.drafts.content_height(), self._theme.px(120))
        top = anchor.mapToGlobal(QPoint(0, anchor.height() + 6))
        room = window.mapToGlobal(QPoint(0, window.height())).y() - top.y() - 12
        on_screen = anchor.screen().availableGeometry().bottom() - top.y()
        least = min(foot + self._theme.px(_LEAST_LIST_HEIGHT), on_screen)
        self.resize(width, max(least, min(room, foot + min(lists, self._theme.px(_LIST_HEIGHT)))))
        left = anchor.mapToGlobal(QPoint((anchor.width() - width) // 2, 0)).x()
        first = window.mapToGlobal(QPoint(12, 0)).x()
        last = window.mapToGlobal(QPoint(window.width() - width - 12, 0)).x()
        self.move(min(max(left, first), last), top.y())
        self.show()
        for options in (self.mains, self.drafts):
            options.show_checked()
        self.mains.setFocus(Qt.FocusReason.PopupFocusReason)

    def _leave_for(self, place: SignalInstance) -> None:
        self.close()
        place.emit()

    def _retranslate(self) -> None:
        self.main_heading.setText(self.tr("Main model"))
        self.draft_heading.setText(self.tr("Draft model"))
        self.mains.setAccessibleName(self.tr("Main model"))
        self.drafts.setAccessibleName(self.tr("Draft model"))
        self.models_button.setText(self.tr("More models…"))
        self.search_button.setText(self.tr("Find a draft…"))
        self.tune_button.setText(self.tr("Tune this pair…"))
        self.eject_button.setText(self.tr("Unload"))
        self._show_check()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette)


def _reason(error: Problem | None) -> str:
    """Why a model cannot be used, and what to do."""
    if error is None:
        return ""
    notice = notice_for(error)
    return sentences(notice.sentence, notice.hint)


# When the picker is shown, and what follows from a choice in it. Not here: the picker itself (`picker.py`).


class PickerWiring(QObject):
    """The picker is made when it is first opened, and kept up to date while it is open."""

    speculation_chosen = Signal(str, int)  # mode, tokens

    def __init__(self, parts: WindowParts, theme: Theme) -> None:
        super().__init__(parts.window)
        self._parts, self._theme = parts, theme
        self._models: ModelController | None = None
        self._chats: ChatController | None = None
        self._filled_for: object = None  # what of the pair was shown last

    def bind(self, models: ModelController, chats: ChatController) -> None:
        self._models, self._chats = models, chats
        models.models_changed.connect(self._refresh)
        models.main_waits.connect(lambda name: self._show_wait(models, name))

    def _show_wait(self, models: ModelController, name: str) -> None:
        """Another model was chosen, or none (""), while a reply is written."""
        loads = self.tr("A reply is being written. %1 is loaded when it ends.")
        unloads = self.tr("A reply is being written. The model is unloaded when it ends.")

        def text() -> BannerText:
            return BannerText(fill(loads, name) if name else unloads, button=self.tr("Don't wait"))

        banner = self._parts.banner
        banner.show_info(text, models.switch_now)
        once = Qt.ConnectionType.SingleShotConnection
        models.wait_ended.connect(lambda: banner.withdraw(text), once)

    @cached_property
    def panel(self) -> Picker:
        window, models = self._parts.window, self._models
        picker = Picker(self._theme, window)
        assert models is not None
        picker.main_chosen.connect(models.choose_main)
        picker.draft_chosen.connect(lambda folder: models.choose_draft(folder or None))
        picker.check_requested.connect(models.check_pair)
        picker.eject_requested.connect(models.eject)
        picker.models_requested.connect(lambda: window.settings_requested.emit("models"))
        picker.search_requested.connect(window.draft_search_requested)
        picker.tuning_requested.connect(lambda: window.settings_requested.emit("speculation"))
        picker.speculation.chosen.connect(self.speculation_chosen)
        return picker

    def open(self) -> None:
        """With what is known; meanwhile models may have come or gone by other programs."""
        if self._models is not None:
            self._fill(self._models)
            self.panel.open_under(self._parts.header.chip)
            self._models.refresh()

    def show_pair(self) -> None:
        """Anew only where the lists say something else.

        MEASURED: filling them takes 70 ms with 200 models, and a load tells a hundred steps.
        """
        if self._models is not None and self._part_of_pair(self._models) != self._filled_for:
            self._refresh()

    def _refresh(self) -> None:
        if "panel" in vars(self) and self._models is not None and self.panel.isVisible():
            self._fill(self._models)

    def _part_of_pair(self, models: ModelController) -> object:
        pair, chats = models.pair, self._chats
        drafting = None
        if chats is not None:
            drafting = chats.options.pair_here(pair).speculation, chats.options.has_own_speculation
        return pair.main_folder, pair.draft_folder, pair.state, drafting

    def _fill(self, models: ModelController) -> None:
        self._filled_for = self._part_of_pair(models)
        self.panel.show_models(models.models, models.drafts_for_main(), models.pair)
        if self._chats is not None:
            options = self._chats.options
            drafting = options.pair_here(models.pair).speculation
            self.panel.speculation.set_values(drafting.mode, drafting.tokens, only_here=options.has_own_speculation)
