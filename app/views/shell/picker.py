"""The popover of the pair chip: which main model, which draft for it, and how far to guess ahead.

Everything installed is listed; what cannot serve is greyed and says why. A choice applies at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import RADIUS_CARD, Theme
from app.view_models.model_list import DraftChoice, DraftGroup, ModelEntry, PairView
from app.views.settings.speculation_controls import SpeculationControls
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Hairline
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.option_list import Option, OptionList
from app.views.widgets.translated import Translated
from app.words.models import model_details
from app.words.notices_for_errors import Problem, notice_for

_WIDTH = 640
_LIST_HEIGHT = 300
NO_DRAFT = ""


class Picker(Translated, QWidget):
    main_chosen = Signal(str)
    draft_chosen = Signal(str)  # NO_DRAFT for none
    models_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self._theme = theme
        self.main_heading = TextLabel(theme, TextStyle.HEADING)
        self.draft_heading = TextLabel(theme, TextStyle.HEADING)
        self.mains = OptionList(theme)
        self.drafts = OptionList(theme)
        self.speculation = SpeculationControls(theme)
        self.models_button = PillButton(theme, Emphasis.QUIET, "plus")
        self._arrange()
        self.mains.chosen.connect(self.main_chosen)
        self.drafts.chosen.connect(self.draft_chosen)
        self.models_button.clicked.connect(self._open_models)
        self._retranslate()

    def _arrange(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for column, (heading, options) in enumerate(
            ((self.main_heading, self.mains), (self.draft_heading, self.drafts))
        ):
            heading.setIndent(10)
            grid.addWidget(heading, 0, column)
            grid.addWidget(options, 1, column)
            grid.setColumnStretch(column, 1)
        grid.setRowStretch(1, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.speculation, 1)
        foot.addWidget(self.models_button, 0, Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 14, 12, 12)
        self._column.setSpacing(10)
        self._column.addLayout(grid, 1)
        self._column.addWidget(Hairline(self._theme))
        self._column.addLayout(foot)

    def show_models(self, mains: Sequence[ModelEntry], drafts: Sequence[DraftChoice], pair: PairView) -> None:
        options = [self._option(entry, entry.error) for entry in mains if entry.drafter is None]
        self.mains.set_options(options or [Option(self.tr("Nothing is installed yet."))], pair.main_folder)
        self.drafts.set_options(self._draft_options(drafts), pair.draft_folder)

    def _option(self, entry: ModelEntry, error: Problem | None) -> Option:
        parts = model_details(entry.size_bytes, entry.bits, entry.source, entry.drafter)
        details = " · ".join([*parts, self.tr("checking it first")] if entry.is_checking else parts)
        return Option(entry.name, entry.folder, details, notice_for(error).sentence if error else "")

    def _draft_options(self, choices: Sequence[DraftChoice]) -> list[Option]:
        options = [Option(self.tr("No draft"), NO_DRAFT, self.tr("Only the main model is loaded"))]
        for group, members in groupby(choices, key=lambda choice: choice.group):
            options.append(Option(self._group_text(group)))
            options += [self._option(choice.model, choice.error) for choice in members]
        return options

    def _group_text(self, group: DraftGroup) -> str:
        return {
            DraftGroup.RECOMMENDED: self.tr("Recommended"),
            DraftGroup.COMPATIBLE: self.tr("Compatible"),
            DraftGroup.NOT_COMPATIBLE: self.tr("Not compatible"),
        }[group]

    def open_under(self, anchor: QWidget) -> None:
        """Below the chip, inside the window where that is possible."""
        window = anchor.window()
        width = min(self._theme.px(_WIDTH), window.width() - 24)
        foot = self._column.totalMinimumHeightForWidth(width)
        lists = max(self.mains.content_height(), self.drafts.content_height(), self._theme.px(120))
        top = anchor.mapToGlobal(QPoint(0, anchor.height() + 6))
        room = window.mapToGlobal(QPoint(0, window.height())).y() - top.y() - 12
        self.resize(width, min(room, foot + min(lists, self._theme.px(_LIST_HEIGHT))))
        left = anchor.mapToGlobal(QPoint((anchor.width() - width) // 2, 0)).x()
        first = window.mapToGlobal(QPoint(12, 0)).x()
        last = window.mapToGlobal(QPoint(window.width() - width - 12, 0)).x()
        self.move(min(max(left, first), last), top.y())
        self.show()
        self.mains.setFocus(Qt.FocusReason.PopupFocusReason)

    def _open_models(self) -> None:
        self.close()
        self.models_requested.emit()

    def _retranslate(self) -> None:
        self.main_heading.setText(self.tr("Main model"))
        self.draft_heading.setText(self.tr("Draft model"))
        self.mains.setAccessibleName(self.tr("Main model"))
        self.drafts.setAccessibleName(self.tr("Draft model"))
        self.models_button.setText(self.tr("More models…"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(colors.surface)
        painter.setPen(QPen(colors.hairline, 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        painter.end()
