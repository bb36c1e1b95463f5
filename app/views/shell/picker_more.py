"""Behind the "…" of the picker: how the pair drafts, what one can do with it, and how its two models compare."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.model_list import DraftChoice, PairState, PairView
from app.views.settings.speculation_controls import SpeculationControls
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.option_list import EDGE_PX
from app.views.widgets.scrolled_text import ScrolledText
from app.views.widgets.scrolling import ThinScrollBars
from app.views.widgets.translated import Translated
from app.words.pairs import pair_details


class PickerMore(Translated, ScrolledText):
    race_requested = Signal()
    tuning_requested = Signal()
    search_requested = Signal()  # for a draft, on the hub
    models_requested = Signal()
    eject_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.speculation = SpeculationControls(theme)
        self.race_button = PillButton(theme, Emphasis.PLAIN, "activity")
        self.tune_button = PillButton(theme, Emphasis.PLAIN, "gauge")
        self.search_button = PillButton(theme, Emphasis.PLAIN, "search")
        self.models_button = PillButton(theme, Emphasis.PLAIN, "plus")
        self.eject_button = PillButton(theme, Emphasis.PLAIN, "x")
        self.compared = TextLabel(theme, TextStyle.HEADING)
        self.details = TextLabel(theme, TextStyle.FINE)
        self._arrange()
        for button, place in (
            (self.race_button, self.race_requested),
            (self.tune_button, self.tuning_requested),
            (self.search_button, self.search_requested),
            (self.models_button, self.models_requested),
            (self.eject_button, self.eject_requested),
        ):
            button.clicked.connect(partial(self._leave_for, place))
        self._retranslate()

    def _arrange(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        edge = self._theme.px(EDGE_PX)
        column.setContentsMargins(edge, 4, edge, 4)
        column.setSpacing(14)
        column.addWidget(self.speculation)
        buttons = Flow()
        for button in (self.race_button, self.tune_button, self.search_button, self.models_button, self.eject_button):
            buttons.addWidget(button)
        column.addLayout(buttons)
        column.addWidget(self.compared)
        column.addWidget(self.details)
        column.addStretch(1)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(content)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)
        ThinScrollBars(self, self._theme)

    def show_pair(self, pair: PairView, *, has_draft: bool) -> None:
        ready = pair.state == PairState.READY
        self.tune_button.setEnabled(ready and has_draft)
        self.search_button.setEnabled(bool(pair.main_folder))
        self.eject_button.setEnabled(ready)

    def show_comparison(self, draft: DraftChoice | None) -> None:
        """What the files of the two say, once that is known; nothing without a draft."""
        check = draft.check if draft is not None else None
        self.compared.setVisible(draft is not None)
        self.details.setVisible(draft is not None)
        self.details.setText("\n".join(pair_details(check)) if check is not None else self.tr("Comparing…"))

    def _leave_for(self, place: SignalInstance) -> None:
        self.window().close()
        place.emit()

    def _retranslate(self) -> None:
        self.race_button.setText(self.tr("Race…"))
        self.tune_button.setText(self.tr("Tune this pair…"))
        self.search_button.setText(self.tr("Find a draft…"))
        self.models_button.setText(self.tr("More models…"))
        self.eject_button.setText(self.tr("Unload"))
        self.compared.setText(self.tr("How the two compare"))
