"""One model of the hub: what it is, whether it fits, what would be fetched, its card, and Install."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.controllers.discover import DiscoverController
from app.theme import Theme
from app.view_models.hub import HubEntry
from app.views.link_dialog import ask_to_open
from app.views.settings.download_row import FileLines
from app.views.settings.model_card import ModelCard
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated
from app.words.formats import fill, listed, size
from app.words.hub import hub_line, hub_record
from app.words.notices_for_errors import notice_for
from app.words.pairs import partner_text

_FILES_SHOWN = 60


class ModelPage(Translated, Page):
    back_requested = Signal()
    install_requested = Signal(str)  # repository
    pair_requested = Signal(str, str)  # repositories of main model and draft
    drafts_requested = Signal(object)  # ModelInfo of a main model

    def __init__(self, theme: Theme, discover: DiscoverController, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._discover = discover
        self.back_button = PillButton(theme, Emphasis.QUIET, "chevron-left")
        self.install_button = PillButton(theme, Emphasis.PRIMARY, "download")
        self.pair_button = PillButton(theme, Emphasis.PLAIN)
        self.drafts_button = PillButton(theme, Emphasis.QUIET, "search")
        self.hub_button = PillButton(theme, Emphasis.QUIET, "external-link")
        self._draft = ""
        self.facts = TextLabel(theme, TextStyle.BODY)
        self.record = TextLabel(theme, TextStyle.SECONDARY)
        self.partner = TextLabel(theme, TextStyle.SECONDARY)
        self.note = TextLabel(theme, TextStyle.FINE)
        self.files = FileLines(theme)
        self.card = ModelCard(theme)
        self._files_heading = TextLabel(theme, TextStyle.HEADING)
        self._card_heading = TextLabel(theme, TextStyle.HEADING)
        self._arrange()
        self.back_button.clicked.connect(self.back_requested)
        self.install_button.clicked.connect(lambda: self.install_requested.emit(discover.page_of))
        self.pair_button.clicked.connect(lambda: self.pair_requested.emit(discover.page_of, self._draft))
        self.drafts_button.clicked.connect(self._look_for_drafts)
        self.hub_button.clicked.connect(self._open)
        self.card.link_requested.connect(lambda link: ask_to_open(link, self.theme, self))
        discover.page_changed.connect(self.show_page)
        self._retranslate()

    def _arrange(self) -> None:
        self.column.insertWidget(0, self.back_button, 0, Qt.AlignmentFlag.AlignLeft)
        buttons = Flow()
        for button in (self.install_button, self.pair_button, self.drafts_button, self.hub_button):
            buttons.addWidget(button)
        head = Card(self.theme)
        head.column.setSpacing(8)
        for label in (self.facts, self.record, self.partner, self.note):
            head.column.addWidget(label)
        head.column.addLayout(buttons)
        self.column.addWidget(head)
        self._files_card = Card(self.theme)
        self._files_card.column.addWidget(self.files)
        self._card_box = Card(self.theme)
        self._card_box.column.addWidget(self.card)
        for widget in (self._files_heading, self._files_card, self._card_heading, self._card_box):
            self.column.addWidget(widget)
        self.end()

    def show_page(self) -> None:
        page, error = self._discover.page, self._discover.page_error
        self.title.setText(self._discover.page_of)
        for widget in (self._files_heading, self._files_card, self.hub_button, self.record):
            widget.setVisible(page is not None)
        self.partner.setVisible(False)
        has_card = page is not None and bool(page.card.strip())
        self._card_heading.setVisible(has_card)
        self._card_box.setVisible(has_card)
        self.install_button.setEnabled(page is not None)
        self.note.setVisible(False)
        self.pair_button.setVisible(False)
        self.drafts_button.setVisible(page is not None and page.model.drafter is None)
        if page is None:
            self.facts.setText(self.tr("Asking the hub…") if error is None else notice_for(error).sentence)
            return
        entry = self._discover.entry(page.model)
        self._show_facts(entry, page.download_bytes)
        self.files.show_files(
            [(file.name, size(file.size_bytes)) for file in page.files if file.is_installed][:_FILES_SHOWN]
        )
        self.card.show_card(page.card)

    def _show_facts(self, entry: HubEntry, download_bytes: int) -> None:
        self.facts.setText(hub_line(entry.model, entry.fit))
        parts = [hub_record(entry.model)]
        parts += [fill(self.tr("licence %1"), entry.model.license)] if entry.model.license else []
        parts += [fill(self.tr("made from %1"), listed(*entry.model.base_models))] if entry.model.base_models else []
        self.record.setText(" · ".join(parts))
        self.note.setVisible(entry.model.gated)
        installable = download_bytes > 0
        words = fill(self.tr("Install, %1"), size(download_bytes)) if installable else self.tr("Nothing to install")
        self.install_button.setText(self.tr("Installed") if entry.installed else words)
        self.install_button.setEnabled(installable and not entry.installed)
        self.install_button.updateGeometry()
        partner = self._discover.partner(entry.model)
        self.partner.setVisible(partner is not None)
        self.partner.setText(partner_text(partner.name, partner.predicted) if partner is not None else "")
        self._draft = partner.repository if partner is not None and entry.model.drafter is None else ""
        self.pair_button.setVisible(bool(self._draft) and installable)
        self.pair_button.setText(fill(self.tr("Install with %1"), self._draft.rpartition("/")[2]))
        self.pair_button.updateGeometry()

    def _look_for_drafts(self) -> None:
        if self._discover.page is not None:
            self.drafts_requested.emit(self._discover.as_main(self._discover.page.model))

    def _open(self) -> None:
        if self._discover.page is not None:
            ask_to_open(self._discover.page.address, self.theme, self)

    def _retranslate(self) -> None:
        self.back_button.setText(self.tr("Back"))
        self.install_button.setText(self.tr("Install"))
        self.drafts_button.setText(self.tr("Find drafts for it"))
        self.hub_button.setText(self.tr("Open its page"))
        self._files_heading.setText(self.tr("Files that are installed"))
        self._card_heading.setText(self.tr("From its author"))
        self.note.setText(
            self.tr(
                "Its author asks you to accept terms first: open its page, accept them, and put your token in Settings."
            )
        )
        self.show_page()
