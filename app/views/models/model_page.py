"""One model of the hub: what it is, whether it fits, what would be fetched, its card, and Install."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.theme import COLUMN_PX, Theme
from app.view_models.hub import HubEntry, Partner
from app.views.link_dialog import ask_to_open
from app.views.models.download_row import FileLines
from app.views.models.model_card import ModelCard
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import fill, listed, size
from app.words.hub import hub_line, hub_record
from app.words.model_names import human_name
from app.words.notices_for_errors import reason_text
from app.words.pairs import partner_details, partner_text

_FILES_SHOWN = 60


class ModelPage(Translated, Page):
    most_px = COLUMN_PX
    install_requested = Signal(str)  # repository
    drafts_requested = Signal(object)  # ModelInfo of a main model

    def __init__(self, theme: Theme, models: ModelController, show_yours: Callable[[], None]) -> None:
        super().__init__(theme)
        discover = models.discover
        self._models = models
        self._discover = discover
        self._show_yours = show_yours
        self.back_button = PillButton(theme, Emphasis.PLAIN, "chevron-left")
        self.install_button = PillButton(theme, Emphasis.PRIMARY, "download")
        self.use_button = PillButton(theme, Emphasis.PLAIN)
        self.again_button = PillButton(theme, Emphasis.PLAIN)
        self.drafts_button = PillButton(theme, Emphasis.QUIET, "search")
        self.hub_button = PillButton(theme, Emphasis.QUIET, "external-link")
        self.state = TextLabel(theme, TextStyle.SECONDARY)  # why there is no page, or not yet
        self.facts = TextLabel(theme, TextStyle.BODY)
        self.record = TextLabel(theme, TextStyle.SECONDARY)
        self.partner = TextLabel(theme, TextStyle.SECONDARY)
        self.note = TextLabel(theme, TextStyle.FINE)
        self.drafts = DraftRows(theme, self._take_draft)
        self.files = FileLines(theme)
        self.card = ModelCard(theme)
        self._drafts_heading = TextLabel(theme, TextStyle.HEADING)
        self._files_heading = TextLabel(theme, TextStyle.HEADING)
        self._card_heading = TextLabel(theme, TextStyle.HEADING)
        self._arrange()
        self.install_button.clicked.connect(lambda: self.install_requested.emit(discover.page_of))
        self.use_button.clicked.connect(self._use)
        self.again_button.clicked.connect(lambda: discover.read_page(discover.page_of))
        self.drafts_button.clicked.connect(self._look_for_drafts)
        self.hub_button.clicked.connect(self._open)
        self.card.link_requested.connect(lambda link: ask_to_open(link, self.theme, self))
        discover.page_changed.connect(self.show_page)
        self._retranslate()

    def _arrange(self) -> None:
        self.column.insertWidget(0, self.back_button, 0, Qt.AlignmentFlag.AlignLeft)
        buttons = Flow()
        for button in (self.again_button, self.install_button, self.use_button, self.drafts_button, self.hub_button):
            buttons.addWidget(button)
        head = Card(self.theme)
        head.column.setSpacing(8)
        for label in (self.facts, self.record, self.partner, self.note, self.state):
            head.column.addWidget(label)
        head.column.addLayout(buttons)
        self.column.addWidget(head)
        self._files_card = Card(self.theme)
        self._files_card.column.addWidget(self.files)
        self._card_box = Card(self.theme)
        self._card_box.column.addWidget(self.card)
        for widget in (self._drafts_heading, self.drafts, self._files_heading, self._files_card):
            self.column.addWidget(widget)
        for widget in (self._card_heading, self._card_box):
            self.column.addWidget(widget)
        self.end()

    def show_page(self) -> None:
        """As much as is known: without its page what a list had, why there is no more, and what can be done."""
        page = self._discover.page
        entry = self._discover.page_entry
        self.title.setText(human_name(self._discover.page_of))
        set_tooltip(self.title, self._discover.page_of)
        self.hub_button.setVisible(page is not None)
        for widget in (self._files_heading, self._files_card):
            widget.setVisible(page is not None and page.download_bytes > 0)
        has_card = page is not None and bool(page.card.strip())
        self._card_heading.setVisible(has_card)
        self._card_box.setVisible(has_card)
        self._show_state()
        self._show_entry(entry)
        if page is not None:
            self.files.show_files(
                [(file.name, size(file.size_bytes)) for file in page.files if file.is_installed][:_FILES_SHOWN]
            )
            self.card.show_card(page.card)

    def _show_state(self) -> None:
        error = self._discover.page_error
        self.state.setVisible(self._discover.page is None)
        self.state.setText(self.tr("Contacting hub…") if error is None else reason_text(error))
        self.state.set_text_style(TextStyle.SECONDARY if error is None else TextStyle.FAULT)
        self.again_button.setVisible(error is not None)

    def _show_entry(self, entry: HubEntry | None) -> None:
        for label in (self.facts, self.record):
            label.setVisible(entry is not None)
        self.note.setVisible(entry is not None and entry.model.gated)
        self.drafts_button.setVisible(entry is not None and entry.model.drafter is None)
        if entry is not None:
            self.facts.setText(hub_line(entry.model, entry.fit))
            parts = [hub_record(entry.model)]
            parts += [fill(self.tr("license %1"), entry.model.license)] if entry.model.license else []
            made_from = entry.model.base_models
            parts += [fill(self.tr("made from %1"), listed(*made_from))] if made_from else []
            self.record.setText(" · ".join(parts))
        self._show_install(entry)
        self._show_partners(entry)

    def _show_install(self, entry: HubEntry | None) -> None:
        page = self._discover.page
        repository = self._discover.page_of
        words = self.tr("Install")
        if page is not None:
            known = page.download_bytes > 0
            words = fill(self.tr("Install, %1"), size(page.download_bytes)) if known else self.tr("Nothing to install")
        installed = entry is not None and entry.installed
        self.install_button.setText(self.tr("Installed") if installed else words)
        self.install_button.setEnabled(page is not None and page.download_bytes > 0 and not installed)
        self.install_button.updateGeometry()
        usable = bool(self._discover.folder_of(repository)) and not self._discover.is_main(repository)
        self.use_button.setVisible(usable)

    def _show_partners(self, entry: HubEntry | None) -> None:
        """Drafts with a row each; of a drafter its main model in a line."""
        partners = self._discover.partners(entry.model) if entry is not None else []
        mains = partners if entry is not None and entry.model.drafter is not None else []
        drafts = [] if mains else partners
        self.partner.setVisible(bool(mains))
        self.partner.setText("\n".join(partner_text(main.name, main.predicted, main.gain) for main in mains))
        for widget in (self._drafts_heading, self.drafts):
            widget.setVisible(bool(drafts))
        self.drafts.show_drafts(drafts, main_is_here=bool(self._discover.folder_of(self._discover.page_of)))

    def _look_for_drafts(self) -> None:
        if (entry := self._discover.page_entry) is not None:
            self.drafts_requested.emit(self._discover.as_main(entry.model))

    def _use(self) -> None:
        self._models.use(self._discover.folder_of(self._discover.page_of))

    def _take_draft(self, draft: Partner) -> None:
        """With the model of this page: both are used where both are here, else what is missing is installed."""
        main_folder = self._discover.folder_of(self._discover.page_of)
        if main_folder and draft.folder:
            self._models.use_pair(main_folder, draft.folder)
        else:
            self._models.install_pair(self._discover.page_of, draft.repository)
            self._show_yours()

    def _open(self) -> None:
        if self._discover.page is not None:
            ask_to_open(self._discover.page.address, self.theme, self)

    def _retranslate(self) -> None:
        self.back_button.setText(self.tr("Back"))
        self.use_button.setText(self.tr("Use"))
        self.again_button.setText(self.tr("Try again"))
        self._drafts_heading.setText(self.tr("Matching drafts"))
        self.drafts_button.setText(self.tr("Find drafts"))
        self.hub_button.setText(self.tr("Open model page"))
        self._files_heading.setText(self.tr("Installed files"))
        self._card_heading.setText(self.tr("From the author"))
        self.note.setText(self.tr("Accept the terms on its page, then add your token in Settings."))
        self.show_page()


class DraftRows(Card):
    def __init__(self, theme: Theme, take: Callable[[Partner], None]) -> None:
        """`take` is called when the button of a draft is pressed."""
        super().__init__(theme)
        self._take = take
        self.rows: list[DraftRow] = []
        self._shown: tuple[Sequence[Partner], bool] = ((), False)

    def show_drafts(self, drafts: Sequence[Partner], *, main_is_here: bool) -> None:
        """Rows that say the same stay, with the focus that one of them may have."""
        if (drafts, main_is_here) == self._shown:
            return
        self._shown = drafts, main_is_here
        self.rows = [DraftRow(self.theme, draft, main_is_here=main_is_here) for draft in drafts]
        for row in self.rows:
            row.button.clicked.connect(lambda _checked=False, draft=row.draft: self._take(draft))
        self.set_rows(self.rows)


class DraftRow(Translated, QWidget):
    def __init__(self, theme: Theme, draft: Partner, *, main_is_here: bool) -> None:
        super().__init__()
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
        self._retranslate()

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
