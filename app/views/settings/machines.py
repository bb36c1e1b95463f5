"""Settings → Other Macs: lend this one, pair, run a model over two, have one draft. Experimental, and says so."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.controllers.machines import Lending, MachineDiscovery, MachinesController
from app.controllers.models import ModelController
from app.controllers.station import StationController
from app.theme import Theme
from app.view_models.downloads import DownloadState, share_done
from app.view_models.installed_list import is_too_large
from app.view_models.machines import AskingState, PairingView, PlanView
from app.view_models.model_list import PairState
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton, Emphasis, PillButton
from app.views.widgets.cards import Card, Page, SettingRow
from app.views.widgets.dialog import Dialog, DialogText, ask
from app.views.widgets.fields import LineField, Segments, Switch
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle, say
from app.views.widgets.progress_line import ProgressLine
from app.views.widgets.roles import announce
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.downloads import progress_text
from app.words.formats import fill, percent
from app.words.machines import (
    code_words,
    lending_words,
    machine_words,
    mode_figures,
    mode_names,
    mode_refusals,
    mode_words,
    nearby_words,
    plan_words,
    refusal_words,
    station_words,
    use_words,
    wanted_words,
)
from app.words.model_names import human_name
from app.words.notices_for_errors import reason_text

_LOOK_INTERVAL_MS = 10_000
_SECOND_MS = 1000
_FIELD_PX = 220  # whatever the text's size, so that large text leaves a page its width


class MachinesPage(Translated, Page):
    def __init__(self, theme: Theme, machines: MachinesController, models: ModelController) -> None:
        super().__init__(theme)
        self._machines = machines
        self._note = TextLabel(theme, TextStyle.FINE)
        self.lend = LendCard(theme, machines.lending)
        self.paired = PairedCard(theme, machines, models)
        self.nearby = NearbyCard(theme, machines.discovery)
        self.pairing = PairingCard(theme, machines)
        self.plan = PlanCard(theme, machines, models)
        self.station = StationCard(theme, machines, models)
        self._look = QTimer(self, interval=_LOOK_INTERVAL_MS)
        self._look.timeout.connect(machines.look)
        arrange(self.column, self._note, self.lend)
        self._headings: dict[Card, TextLabel] = {}
        for card in (self.paired, self.nearby, self.pairing, self.plan, self.station):
            self._headings[card] = self.add_heading()
            self.column.addWidget(card)
        self.end()
        for changed in (machines.changed, machines.discovery.changed):
            changed.connect(self._show)
        self.nearby.chosen.connect(self._pair_with)
        self._retranslate()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._machines.set_shown(True)
        self._look.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._machines.set_shown(False)
        self._look.stop()

    def _pair_with(self, addresses: tuple[str, ...]) -> None:
        self.pairing.begin(addresses)
        self.ensureWidgetVisible(self.pairing)

    def _show(self) -> None:
        has_helper = any(entry.address for entry in self._machines.entries)
        for card, shown in (
            (self.paired, bool(self._machines.entries)),
            (self.nearby, bool(self._machines.discovery.strangers)),
            (self.plan, has_helper),
            (self.station, has_helper),
        ):
            self._headings[card].setVisible(shown)
            card.setVisible(shown)

    def _retranslate(self) -> None:
        self._note.setText(
            self.tr(
                "A model that is too large for this Mac runs over two that both have its files. "
                "Or another Mac drafts for this one. Experimental."
            )
        )
        self._headings[self.paired].setText(self.tr("Paired Macs"))
        self._headings[self.nearby].setText(self.tr("Nearby Macs"))
        self._headings[self.pairing].setText(self.tr("Pair with another Mac"))
        self._headings[self.plan].setText(self.tr("Run over 2 Macs"))
        self._headings[self.station].setText(self.tr("Draft on another Mac"))
        self._show()


class LendCard(Translated, Card):
    def __init__(self, theme: Theme, lending: Lending) -> None:
        super().__init__(theme)
        self._lending = lending
        self.on = Switch(theme)
        self.stop = PillButton(theme)
        self.new_code = PillButton(theme)
        self.fetch = PillButton(theme)
        self.code = TextLabel(theme, TextStyle.TITLE)
        self.on_row = SettingRow(theme, self.on)
        self.use_row = SettingRow(theme, self.stop)
        self.wanted_row = SettingRow(theme, self.fetch)
        self.code_row = SettingRow(theme, self.new_code)
        self.bar = ProgressLine(theme)  # of the model that another machine needs
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self._show)
        for row in (self.on_row, self.use_row, self.wanted_row, self.bar, self.code_row, self.code):
            self.column.addWidget(row)
        self.on.toggled.connect(lending.set_on)
        self.stop.clicked.connect(lending.take_back)
        self.fetch.clicked.connect(self._on_fetch)
        self.new_code.clicked.connect(lending.invite)
        lending.changed.connect(self._show)
        self._retranslate()

    def _show(self) -> None:
        lending = self._lending
        state = self._lending.state
        self.on.setChecked(lending.is_on)
        self.on_row.set_words(self.tr("Lend memory to other Macs"), lending_words(state, lending.address, lending.port))
        self.use_row.setVisible(bool(state.user))
        uses = self.tr("This Mac drafts for %1") if state.drafts else self.tr("%1 uses this Mac")
        self.use_row.set_words(fill(uses, state.user), use_words(state))
        self._show_wanted()
        left_s = lending.code_left_s
        self.code_row.setVisible(lending.is_ready)
        self.code_row.set_words(self.tr("Pairing code"), code_words(left_s))
        code = f"{state.code[:4]} {state.code[4:]}" if left_s > 0 else ""
        if code != self.code.text():
            announce(self, code)
        say(self.code, code)
        if left_s <= 0:
            self._second.stop()
        elif not self._second.isActive():
            self._second.start()

    def _show_wanted(self) -> None:
        """Show a model that another machine needs, then its download."""
        state = self._lending.state
        coming = self._lending.coming
        self.wanted_row.setVisible(bool(self._lending.wanted or coming))
        wanted = fill(self.tr("%1 needs a model that is not on this Mac"), state.wanted_by)
        self.wanted_row.set_words(wanted, wanted_words(state))
        self.fetch.setText(self.tr("Download") if coming is None else self.tr("Cancel"))
        self.fetch.setVisible(coming is None or len(coming.repositories) == 1)  # a pair was the user's own wish
        self.bar.setVisible(coming is not None)
        if coming is not None:
            self.bar.set_share(share_done([coming]), moving=coming.state is DownloadState.RUNNING)
            if coming.total_bytes:
                figures = coming.done_bytes, coming.total_bytes, coming.bytes_per_second, coming.seconds_left
                self.wanted_row.set_words(wanted, f"{wanted_words(state)}\n{progress_text(*figures)}")
            self.bar.setAccessibleName(self.wanted_row.explanation.text())

    def _on_fetch(self) -> None:
        if self._lending.coming is None:
            self._lending.fetch_wanted()
        else:
            self._lending.leave_wanted()

    def _retranslate(self) -> None:
        self.stop.setText(self.tr("Stop now"))
        self.new_code.setText(self.tr("Show code"))
        self._show()


class PairedCard(Translated, Card):
    def __init__(self, theme: Theme, machines: MachinesController, models: ModelController) -> None:
        super().__init__(theme)
        self._machines = machines
        self._models = models
        self.rows: dict[str, SettingRow] = {}  # by fingerprint
        self.buttons: dict[str, PillButton] = {}  # by fingerprint
        self.moves: dict[str, PillButton] = {}  # by fingerprint
        machines.changed.connect(self._retranslate)
        models.pair_changed.connect(self._retranslate)
        self._retranslate()

    def _retranslate(self) -> None:
        entries = {entry.fingerprint: entry for entry in self._machines.entries}
        if list(entries) != list(self.rows):
            self.rows = {fingerprint: self._row(fingerprint) for fingerprint in entries}
            self.set_rows(list(self.rows.values()))
        for fingerprint, row in self.rows.items():
            entry = entries[fingerprint]
            state = entry.address, entry.trip_s, entry.error, entry.elsewhere, entry.was_at
            helps = self._machines.helps(entry) and self._models.pair.state == PairState.READY
            helping = fill(self.tr("Runs part of %1."), human_name(self._models.pair.main_name)) if helps else ""
            row.set_words(entry.name, "\n".join(filter(None, (machine_words(*state), helping))))
            self.moves[fingerprint].setVisible(entry.elsewhere is not None)
            self.moves[fingerprint].set_words(
                self.tr("Change address"), fill(self.tr("Change the address of %1"), entry.name)
            )
            self.buttons[fingerprint].set_words(self.tr("Remove…"), fill(self.tr("Remove %1"), entry.name))

    def _row(self, fingerprint: str) -> SettingRow:
        move = self.moves[fingerprint] = PillButton(self.theme)
        move.hide()  # most have none, and it takes no focus
        move.clicked.connect(lambda: self._machines.move(fingerprint))
        button = self.buttons[fingerprint] = PillButton(self.theme)
        button.clicked.connect(lambda: self.ask_to_remove(fingerprint))
        both = QWidget()
        arrange(QHBoxLayout(both), move, button, margins=(0, 0, 0, 0))
        return SettingRow(self.theme, both)

    def ask_to_remove(self, fingerprint: str) -> Dialog:
        entry = next(each for each in self._machines.entries if each.fingerprint == fingerprint)

        def text() -> DialogText:
            title = fill(self.tr("Remove %1?"), entry.name)
            sentence = self.tr("Neither Mac can use the other. To pair them again you need a new code.")
            detail = self.tr("The model that runs over both is unloaded.") if self._machines.helps(entry) else ""
            return DialogText(title, sentence, detail, self.tr("Remove"), self.tr("Cancel"))

        return ask(self.theme, self, text, lambda: self._machines.remove(fingerprint))


class NearbyCard(Translated, Card):
    """Machines found by Bonjour that are not paired."""

    chosen = Signal(tuple)  # the addresses of one

    def __init__(self, theme: Theme, discovery: MachineDiscovery) -> None:
        super().__init__(theme)
        self._discovery = discovery
        self._shown = discovery.strangers[:0]
        self.rows: list[SettingRow] = []
        self.buttons: list[PillButton] = []
        discovery.changed.connect(self._retranslate)
        self._retranslate()

    def _retranslate(self) -> None:
        if self._discovery.strangers != self._shown:
            self._shown = self._discovery.strangers
            self.buttons = [PillButton(self.theme) for _ in self._shown]
            self.rows = [SettingRow(self.theme, button) for button in self.buttons]
            self.set_rows(self.rows)
            for machine, button in zip(self._shown, self.buttons, strict=True):
                button.setEnabled(machine.is_same_version)
                button.clicked.connect(partial(self.chosen.emit, machine.addresses))
        for machine, row, button in zip(self._shown, self.rows, self.buttons, strict=True):
            row.set_words(machine.name, nearby_words(machine))
            button.set_words(self.tr("Pair"), fill(self.tr("Pair with %1"), machine.name))


class PairingCard(Translated, Card):
    def __init__(self, theme: Theme, machines: MachinesController) -> None:
        super().__init__(theme)
        self._machines = machines
        self._others: tuple[str, ...] = ()  # addresses of the machine that was chosen: the soonest is taken
        self._asked = ("", "")  # address and code that were tried last
        self.address = LineField(theme)
        self.code = LineField(theme)
        self.pair = PillButton(theme)
        self.cancel = PillButton(theme)
        self.outcome = TextLabel(theme, TextStyle.FINE)
        self._address_row = SettingRow(theme, self.address)
        self.code_row = SettingRow(theme, self.code)
        self.add(self._address_row, self.code_row)
        arrange(self.column, Flow(None, self.pair, self.cancel), self.outcome)
        self.address.textEdited.connect(self._forget_others)
        for field in (self.address, self.code):
            field.setMinimumWidth(_FIELD_PX)
            field.textEdited.connect(self._on_edit)
            field.returnPressed.connect(self.pair.click)
        self.pair.clicked.connect(self._pair)
        self.cancel.clicked.connect(machines.cancel_pairing)
        machines.pairing_changed.connect(self._on_pairing)
        self._retranslate()

    def begin(self, addresses: tuple[str, ...]) -> None:
        """Pair with a machine at these addresses: only its code is missing."""
        self._others = addresses
        self.address.setText(addresses[0])
        self.code.clear()
        self.code.setFocus()
        self._on_edit()

    def _typed(self) -> tuple[str, str]:
        return self.address.text(), self.code.text()

    def _pair(self) -> None:
        self._asked = self._typed()
        self._machines.pair(*self._asked, self._others)

    def _forget_others(self) -> None:
        self._others = ()

    def _on_edit(self) -> None:
        self._machines.forget_refusal()
        self._show()

    def _on_pairing(self) -> None:
        if self._machines.pairing.state is AskingState.DONE and self._typed() == self._asked:
            self.address.clear()
            self.code.clear()
            self._forget_others()
        self._show()
        announce(self, self.outcome.text())

    def _show(self) -> None:
        view = self._machines.pairing
        filled = bool(self.address.text().strip() and self.code.text().strip())
        self.pair.setEnabled(filled and view.state is not AskingState.ASKING)
        self.cancel.setVisible(view.state is AskingState.ASKING)
        say(self.outcome, self._outcome(view))

    def _outcome(self, view: PairingView) -> str:
        if view.error is not None:
            return reason_text(view.error)
        paired = fill(self.tr("Paired with %1."), view.name)
        return {AskingState.ASKING: self.tr("Connecting…"), AskingState.DONE: paired}.get(view.state, "")

    def _retranslate(self) -> None:
        self._address_row.set_words(self.tr("Address"), self.tr("On the other Mac, under Lend memory to other Macs."))
        self.code_row.set_words(self.tr("Code"), self.tr("Eight digits, from Show code there."))
        self.pair.setText(self.tr("Pair"))
        self.cancel.setText(self.tr("Cancel"))
        self._show()


class PlanCard(Translated, Card):
    """The plan of layers, before anything is loaded."""

    def __init__(self, theme: Theme, machines: MachinesController, models: ModelController) -> None:
        super().__init__(theme)
        self._machines = machines
        self._models = models
        self.model = ChoiceButton(theme)
        self.machine = ChoiceButton(theme)
        self.asked_mode = Segments(theme)
        self.run = PillButton(theme, Emphasis.PRIMARY)
        self.alone = PillButton(theme)
        self.plan = TextLabel(theme, TextStyle.FINE)
        self.mode = TextLabel(theme, TextStyle.FINE)
        self._model_row = SettingRow(theme, self.model)
        self._machine_row = SettingRow(theme, self.machine)
        self.mode_row = SettingRow(theme, self.asked_mode)
        self.add(self._model_row, self._machine_row, self.mode_row)
        arrange(self.column, self.plan, self.mode, Flow(None, self.run, self.alone))
        for choice in (self.model, self.machine):
            choice.chosen.connect(self._ask)
        self.asked_mode.chosen.connect(machines.set_mode)
        self.run.clicked.connect(machines.run_plan)
        self.alone.clicked.connect(lambda: machines.run_alone(str(self.model.value)))
        machines.changed.connect(self._show_choices)
        machines.plan_changed.connect(self._show)
        models.models_changed.connect(self._show_choices)
        models.pair_changed.connect(self._show)
        self._retranslate()

    def _show_choices(self) -> None:
        """Before the user has chosen, a model that needs another machine, and the one that was paired last."""
        listed = [entry for entry in self._models.models if entry.drafter is None and entry.error is None]
        models = {entry.folder: human_name(entry.name) for entry in listed}
        large = next((entry.folder for entry in listed if is_too_large(entry)), self._models.pair.main_folder)
        machines = {entry.fingerprint: entry.name for entry in self._machines.entries if entry.address}
        before = self.model.value, self.machine.value
        for choice, choices, first in (
            (self.model, models, large),
            (self.machine, machines, next(iter(machines), "")),
        ):
            if choice.value not in choices:
                choice.set_value(first)
            choice.set_choices(list(choices.items()))
        if (self.model.value, self.machine.value) != before:
            self._ask()

    def _ask(self) -> None:
        self._machines.make_plan(str(self.model.value or ""), str(self.machine.value or ""))

    def _show(self) -> None:
        view = self._machines.plan
        running = self._machines.running
        say(self.plan, self._plan_text(view))
        choice = running or view.choice
        say(self.mode, "" if choice is None else mode_words(choice))
        set_tooltip(self.mode, "" if choice is None else mode_figures(choice))
        self.asked_mode.set_value(view.mode)
        refusals = mode_refusals(view.plan)
        self.asked_mode.set_refused(refusals)
        measures = self.tr("Automatic measures which is faster.")
        self.mode_row.set_words(self.tr("Mode"), "\n".join(refusals.values()) or measures)
        self.run.setVisible(not self._machines.runs_as_planned)
        self.run.setEnabled(view.fits)
        self.alone.setVisible(self._machines.is_helped(view.folder))

    def _plan_text(self, view: PlanView) -> str:
        if view.error is not None:
            return refusal_words(view.error, self._models.library.source(view.folder).repository)
        if view.plan is not None:
            return plan_words(view.plan, self._machines.running)
        return self.tr("Planning…") if view.state is AskingState.ASKING else ""

    def _retranslate(self) -> None:
        self._model_row.set_words(self.tr("Model"))
        self._machine_row.set_words(self.tr("With"))
        self.asked_mode.set_choices(mode_names())
        self.run.setText(self.tr("Run over 2 Macs"))
        self.alone.setText(self.tr("Run on this Mac alone"))
        self._show_choices()
        self._show()


class StationCard(Translated, Card):
    """Which other machine drafts for this one, and how that goes."""

    def __init__(self, theme: Theme, machines: MachinesController, models: ModelController) -> None:
        super().__init__(theme)
        self._machines = machines
        self.machine = ChoiceButton(theme)
        self.row = SettingRow(theme, self.machine)
        self.bar = ProgressLine(theme)  # of the draft's files, while the other machine copies them
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self._show)
        for widget in (self.row, self.bar):
            self.column.addWidget(widget)
        self.machine.chosen.connect(machines.station.choose)
        machines.changed.connect(self._show_choices)
        for changed in (machines.station.changed, models.pair_changed):
            changed.connect(self._show)
        self._retranslate()

    @property
    def _station(self) -> StationController:
        return self._machines.station

    def _show_choices(self) -> None:
        machines = [(entry.fingerprint, entry.name) for entry in self._machines.entries if entry.address]
        self.machine.set_choices([("", self.tr("No other Mac")), *machines])
        self._show()

    def _show(self) -> None:
        station = self._station
        copies = station.file_serving.is_used
        self.machine.set_value(station.chosen)
        self.row.set_words(self.tr("Drafts for this Mac"), self._words())
        self.bar.setVisible(copies)
        self.bar.set_share(station.file_serving.share)
        self.bar.setAccessibleName(self.row.explanation.text())
        if copies and not self._second.isActive():
            self._second.start()
        elif not copies:
            self._second.stop()

    def _words(self) -> str:
        station = self._station
        if not station.chosen:
            return self.tr("A paired Mac can run the draft too, and prepare the next one meanwhile. Same text.")
        if station.file_serving.is_used:
            copied = percent(station.file_serving.share)
            return fill(self.tr("Copying the draft to %1: %2"), self.machine.text(), copied)
        if self._machines.drafter_helps:
            return fill(self.tr("%1 runs part of the model, so this Mac drafts."), self.machine.text())
        return station_words(station.state, station.source.repository)

    def _retranslate(self) -> None:
        self._show_choices()
