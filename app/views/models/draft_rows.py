"""The drafts that go with a model of the hub, each with what it may bring here, and one click to install or use it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.hub import Partner
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import listed
from app.words.model_names import human_name
from app.words.pairs import partner_details, partner_text


class DraftRows(Card):
    install_requested = Signal(str)  # repository of the draft
    use_requested = Signal(str)  # its folder

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.rows: list[DraftRow] = []
        self._shown: tuple[Sequence[Partner], bool] = ((), False)

    def show_drafts(self, drafts: Sequence[Partner], *, main_is_here: bool) -> None:
        """Rows that say the same stay, with the focus that one of them may have."""
        if (drafts, main_is_here) == self._shown:
            return
        self._shown = drafts, main_is_here
        self.rows = [DraftRow(self.theme, draft, main_is_here=main_is_here) for draft in drafts]
        for row in self.rows:
            row.install_requested.connect(self.install_requested)
            row.use_requested.connect(self.use_requested)
        self.set_rows(self.rows)


class DraftRow(Translated, QWidget):
    install_requested = Signal(str)
    use_requested = Signal(str)

    def __init__(self, theme: Theme, draft: Partner, *, main_is_here: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.draft = draft
        self._main_is_here = main_is_here
        self._usable = bool(draft.folder) and main_is_here
        self.words = TextLabel(theme, TextStyle.SECONDARY)
        self.details = TextLabel(theme, TextStyle.SECONDARY)
        self.button = PillButton(theme, Emphasis.PLAIN, "" if self._usable else "download")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.words)
        column.addWidget(self.details)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self.button.clicked.connect(self._on_click)
        self._retranslate()

    def _on_click(self) -> None:
        if self._usable:
            self.use_requested.emit(self.draft.folder)
        else:
            self.install_requested.emit(self.draft.repository)

    def _retranslate(self) -> None:
        here = self._main_is_here or bool(self.draft.folder)
        missing = self.tr("Install") if here else self.tr("Install both")
        self.words.setText(partner_text(self.draft.name, self.draft.predicted, self.draft.gain))
        set_tooltip(self.words, self.draft.repository or self.draft.folder)
        details = "" if self.draft.folder else partner_details(self.draft.drafter, self.draft.size_bytes)
        self.details.setText(details)
        self.details.setVisible(bool(details))
        self.button.setText(self.tr("Use") if self._usable else missing)
        self.button.setAccessibleName(listed(self.button.text(), human_name(self.draft.name)))
