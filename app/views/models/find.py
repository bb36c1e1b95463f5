"""Models → Find: recommended pairs, a search of the hub, a model's page, and installing by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.theme import COLUMN_PX, Theme
from app.view_models.downloads import DownloadState, repository_in, revision_in
from app.view_models.hub import (
    BITS,
    GIGABYTES,
    HUB_FAMILIES,
    DiscoverFilter,
    DiscoverState,
    HubEntry,
    ModelInfo,
    Partner,
)
from app.view_models.installed_list import PairOffer
from app.views.link_dialog import ask_to_open
from app.views.models.download_row import FileLines
from app.views.models.hub_list import HubListView, in_card
from app.views.models.model_card import ModelCard
from app.views.models.model_facts import coming_text, offer_act, offer_text
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton, Emphasis, PillButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.fields import LineField, Switch
from app.views.widgets.flow import Flow
from app.views.widgets.labels import NameLabel, TextLabel, TextStyle, describe, say
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import count, fill, labelled, listed, size, spoken
from app.words.hub import bits_text, hub_line, hub_record
from app.words.model_names import human_name
from app.words.notices_for_errors import notice_for, reason_text
from app.words.pairs import partner_details, partner_text

_PAUSE_MS = 250  # after the last key
_FILES_SHOWN = 60


class DiscoverPanel(Translated, QWidget):
    def __init__(self, theme: Theme, models: ModelController) -> None:
        super().__init__()
        self._models = models
        self._discover = models.discover
        self._filter = DiscoverFilter()
        self._started = False
        self.found = Page(theme)  # large text has no room for all of it at once
        self.found.most_px = COLUMN_PX
        self.found.title.hide()  # the header says it
        self.recommended = Recommended(theme, models, self)
        self.install = InstallCard(theme, models)
        self.text = LineField(theme)
        self.family, self.bits, self.size_limit, self.kind, self.sort = buttons = [
            ChoiceButton(theme) for _ in range(5)
        ]
        self._choices = dict(zip(buttons, ("family", "bits", "most_gigabytes", "kind", "sort"), strict=True))
        self.fits_only = Switch(theme)
        self._heading = TextLabel(theme, TextStyle.HEADING)
        self.status = TextLabel(theme, TextStyle.FINE)
        self.again_button = PillButton(theme)
        self.more_button = PillButton(theme, Emphasis.QUIET, "chevron-down")
        self.main_button = PillButton(theme, Emphasis.PLAIN, "x")
        self.list = HubListView(theme, self._discover.results)
        self._list_card = in_card(self.list)
        self.page = ModelPage(theme, models)
        self._fits_words = TextLabel(theme, TextStyle.FINE)
        self._stack = QStackedWidget()
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._arrange()
        self._connect()
        self._retranslate()

    def search(self, text: str) -> None:
        self._begin(DiscoverFilter(text=text))

    def show_drafts_for(self, info: ModelInfo) -> None:
        """Search possible drafts for this main model on the hub."""
        self._begin(DiscoverFilter(drafts_for=info))

    def _begin(self, wanted: DiscoverFilter) -> None:
        self._stack.setCurrentIndex(0)
        self._started = True
        self._filter = wanted
        self._show_filter()
        self._timer.stop()
        self._discover.search(wanted)

    def go_back(self) -> bool:
        """Go back from a model's page to the list; False if the list is shown already."""
        if self._stack.currentIndex() == 0:
            return False
        self._close_page()
        return True

    def focus_search(self) -> None:
        if self._stack.currentIndex():
            self._close_page()
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.text.selectAll()

    def _arrange(self) -> None:
        fits = QWidget()
        self._fits_words.setWordWrap(False)
        arrange(QHBoxLayout(fits), self.fits_only, self._fits_words, spacing=8, margins=(0, 0, 0, 0))
        filters = Flow(None, *self._choices, fits)
        column = self.found.column
        arrange(column, self.recommended, self._heading, self.text, filters, margins=(28, 12, 28, 12))
        status = arrange(QHBoxLayout(), (self.status, 1), self.again_button)
        arrange(column, (self.main_button, 0, Qt.AlignmentFlag.AlignLeft), status, self._list_card)
        column.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        column.addWidget(self.install)
        self.found.end()
        self._stack.addWidget(self.found)
        self._stack.addWidget(self.page)
        arrange(QVBoxLayout(self), self._stack, margins=(0, 0, 0, 0))

    def _connect(self) -> None:
        self._timer.timeout.connect(self._search)
        self.text.textEdited.connect(lambda _text: self._timer.start())
        self.text.returnPressed.connect(self._search)
        for button, name in self._choices.items():
            button.chosen.connect(lambda value, name=name: self.limit(**{name: value}))
        self.fits_only.toggled.connect(lambda on: self.limit(fits_only=on))
        self.main_button.clicked.connect(lambda: self.limit(drafts_for=None))
        self.again_button.clicked.connect(self._discover.again)
        self.list.chosen.connect(self.open_page)
        self.page.back_button.clicked.connect(self._close_page)
        self.page.install_requested.connect(self._install)
        self.page.drafts_requested.connect(self.show_drafts_for)
        self._discover.changed.connect(self._show_state)
        self.more_button.clicked.connect(self._discover.more)
        self.list.install_requested.connect(self._install)
        self.list.current_moved.connect(self._keep_in_sight)
        self._models.downloads.changed.connect(self._show_coming)
        self._show_coming()

    def _show_coming(self) -> None:
        self.list.set_coming(self._models.downloads.coming)

    def _keep_in_sight(self, row: QRect) -> None:
        content = self.found.widget()
        assert content is not None
        area = QRect(self.list.mapTo(content, row.topLeft()), row.size())
        self.found.ensureVisible(area.center().x(), area.top(), 0, 8)
        self.found.ensureVisible(area.center().x(), area.bottom(), 0, 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.list.page_px = self.found.viewport().height()

    def showEvent(self, event: Any) -> None:
        """When first shown, list the most downloaded models."""
        super().showEvent(event)
        if not self._started:
            self.search("")

    def limit(self, **changed: Any) -> None:
        self._filter = replace(self._filter, **changed)
        self._search()

    def _search(self) -> None:
        self._timer.stop()
        self._filter = replace(self._filter, text=self.text.text())
        self._show_filter()
        self._discover.search(self._filter)

    def open_page(self, repository: str) -> None:
        self._discover.read_page(repository)
        self._stack.setCurrentIndex(1)
        self.page.back_button.setFocus()

    def _close_page(self) -> None:
        self._discover.close_page()
        self._stack.setCurrentIndex(0)
        self.list.setFocus()

    def _install(self, repository: str) -> None:
        """Without leaving the list or the page: its button shows what becomes of it, the sidebar how far it is."""
        main = self._filter.drafts_for
        self._models.downloads.install(repository, draft_for=main.folder if main is not None else "")

    def _show_filter(self) -> None:
        wanted = self._filter
        if self.text.text() != wanted.text:
            self.text.setText(wanted.text)
        for button, name in self._choices.items():
            button.set_value(getattr(wanted, name))
        self.fits_only.set_value(wanted.fits_only)
        self.recommended.set_wanted(not wanted.text and wanted.drafts_for is None)
        self.main_button.setVisible(wanted.drafts_for is not None)
        if wanted.drafts_for is not None:
            self.main_button.setText(fill(self.tr("Drafts for %1"), human_name(wanted.drafts_for.name)))

    def _show_state(self) -> None:
        say(self.status, self._sentence())
        failed = self._discover.state is DiscoverState.FAILED
        self._list_card.setVisible(bool(self._discover.results.entries))
        self.more_button.setVisible(self._discover.results.has_more)
        self.again_button.setVisible(failed or self._discover.missing is not None)

    def _sentence(self) -> str:
        discover = self._discover
        found = len(discover.results.entries)
        none = self.tr("No results. Try fewer words or filters.")
        instead = self.tr("Showing Hunch's built-in list.") if found and not discover.from_hub else ""
        if discover.error is not None:
            return spoken(notice_for(discover.error).sentence, instead if found or discover.from_hub else none)
        if discover.missing is not None:
            some = self.tr("%Ln models; others may be missing.", "", found)
            return spoken(some, notice_for(discover.missing).sentence)
        if discover.state is DiscoverState.READING:
            return spoken(self.tr("Searching…"), instead)
        if not found:
            return none
        return "" if discover.results.has_more else self.tr("%Ln models", "", found)

    def _retranslate(self) -> None:
        self._heading.setText(self.tr("All models"))
        describe(self.text, self.tr("Search models, or enter author/model"), self.tr("Search models"))
        self.family.set_choices([("", self.tr("Any family")), *((name, name) for name in HUB_FAMILIES)])
        self.bits.set_choices([(0, self.tr("Any precision")), *((bits, bits_text(bits)) for bits in BITS)])
        sizes = [(most, fill(self.tr("Up to %1 GB"), count(most))) for most in GIGABYTES]
        self.size_limit.set_choices([(0, self.tr("Any size")), *sizes])
        self.kind.set_choices(
            [("any", self.tr("Any kind")), ("chat", self.tr("Models")), ("drafter", self.tr("Drafters"))]
        )
        self.sort.set_choices(
            [
                ("downloads", self.tr("Most downloads")),
                ("likes", self.tr("Most likes")),
                ("updated", self.tr("Newest")),
            ]
        )
        names = {
            self.family: self.tr("Family"),
            self.bits: self.tr("Precision"),
            self.size_limit: self.tr("Size"),
            self.kind: self.tr("Kind"),
            self.sort: self.tr("Order"),
        }
        for button, name in names.items():
            button.set_name(name)
        self._fits_words.setText(self.tr("Runs on this Mac"))
        self.fits_only.setAccessibleName(self.tr("Runs on this Mac"))
        self.again_button.setText(self.tr("Try again"))
        self.more_button.setText(self.tr("Show more"))
        self.list.setAccessibleName(self.tr("Models found"))
        self._show_filter()
        self._show_state()


class InstallCard(Translated, Card):
    """Says itself what becomes of what it installs, as the list and the page do."""

    def __init__(self, theme: Theme, models: ModelController) -> None:
        super().__init__(theme)
        self._downloads = models.downloads
        self._installing = ""
        self.repository = LineField(theme)
        self.install_button = PillButton(theme, Emphasis.PLAIN)
        self._title = TextLabel(theme, TextStyle.BODY)
        self.state = TextLabel(theme, TextStyle.FINE)
        row = arrange(QHBoxLayout(), (self.repository, 1), self.install_button, spacing=8)
        self.column.setSpacing(8)
        arrange(self.column, self._title, row, self.state)
        self.repository.returnPressed.connect(self._install)
        self.repository.textChanged.connect(self._show_button)
        self.install_button.clicked.connect(self._install)
        self._downloads.changed.connect(self._show_state)
        self._retranslate()
        self._show_button()

    def _show_button(self) -> None:
        self.install_button.setEnabled(bool(repository_in(self.repository.text())))

    def _install(self) -> None:
        text = self.repository.text()
        if repository := repository_in(text):
            self._installing = repository
            self._downloads.install(repository, revision_in(text))
            self.repository.clear()

    def _show_state(self) -> None:
        state = coming_text(self._downloads.coming.get(self._installing))
        usual = self.tr("Repository name or page address.")
        self.state.setText(labelled(human_name(self._installing), state) if state else usual)

    def _retranslate(self) -> None:
        self._title.setText(self.tr("Install from the hub"))
        self._show_state()
        describe(self.repository, "mlx-community/Qwen3-4B-4bit", self.tr("Repository"))
        self.install_button.setText(self.tr("Install"))


class Recommended(Translated, QWidget):
    """Recommended pairs for this machine and the user's language, each installed with one click.

    Hidden if the catalog has none for this machine.
    """

    def __init__(self, theme: Theme, models: ModelController, parent: QWidget) -> None:
        super().__init__(parent)  # which it shows itself in, not as a window of its own
        self._models = models
        self._shown: tuple[list[PairOffer], dict[str, DownloadState], PairOffer | None] | None = None
        self._heading = TextLabel(theme, TextStyle.HEADING)
        self.card = Card(theme)
        self.rows: list[OfferRow] = []
        arrange(QVBoxLayout(self), self._heading, self.card, spacing=8, margins=(0, 0, 0, 0))
        models.models_changed.connect(self._show_offers)
        models.downloads.changed.connect(self._show_offers)
        self._wanted = True
        self._retranslate()

    def set_wanted(self, wanted: bool) -> None:
        """Hidden while the user searches."""
        self._wanted = wanted
        self._show_offers()

    def _show_offers(self) -> None:
        offers = self._models.library.offers(QLocale().name())
        coming = self._models.downloads.coming
        used = next((offer for offer in offers if self._models.uses(offer.main, offer.draft)), None)
        if (offers, coming, used) != self._shown:
            self._shown = offers, coming, used
            theme = self.card.theme
            models = self._models
            self.rows = [OfferRow(theme, each, coming.get(each.main), is_used=each == used) for each in offers]
            for row in self.rows:
                row.install_button.clicked.connect(lambda _checked=False, offer=row.offer: models.take_offer(offer))
            self.card.set_rows(self.rows)
        self.setVisible(self._wanted and bool(offers))

    def _retranslate(self) -> None:
        self._heading.setText(self.tr("Recommended for this Mac"))
        self._shown = None
        self._show_offers()


class OfferRow(QWidget):
    def __init__(
        self,
        theme: Theme,
        offer: PairOffer,
        coming: DownloadState | None,
        *,
        is_used: bool,
    ) -> None:
        super().__init__()
        self.offer = offer
        self.install_button = PillButton(theme, Emphasis.PLAIN, "download" if offer.missing else "")
        self._name_button(coming, is_used=is_used)
        name = NameLabel(theme, TextStyle.HEADING, text=human_name(offer.main_name))
        set_tooltip(name, offer.main)
        draft = NameLabel(theme, TextStyle.FINE, text=fill(self.tr("draft: %1"), human_name(offer.draft_name)))
        set_tooltip(draft, offer.draft)
        self.details = TextLabel(theme, TextStyle.FINE, text=offer_text(offer))
        words = arrange(QVBoxLayout(), name, draft, self.details, spacing=2)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        install = (self.install_button, 0, Qt.AlignmentFlag.AlignVCenter)
        arrange(self._row, (words, 1), install, spacing=12, margins=(0, 0, 0, 0))

    def minimumSizeHint(self) -> QSize:
        """The narrow layout's width, with the button below the text."""
        return QSize(self.install_button.sizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = event.size().width() >= 3 * self.install_button.sizeHint().width()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        below = Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignLeft
        self._row.setAlignment(self.install_button, below)

    def _name_button(self, coming: DownloadState | None, *, is_used: bool) -> None:
        state = self.tr("In use") if is_used else coming_text(coming if self.offer.missing else None)
        act, name = offer_act(self.offer)
        self.install_button.set_words(state or act, name)
        self.install_button.setEnabled(not state)


class ModelPage(Translated, Page):
    most_px = COLUMN_PX
    install_requested = Signal(str)  # repository
    drafts_requested = Signal(object)  # ModelInfo of a main model

    def __init__(self, theme: Theme, models: ModelController) -> None:
        super().__init__(theme)
        discover = models.discover
        self._models = models
        self._discover = discover
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
        self.rest_button = PillButton(theme, Emphasis.PLAIN, "external-link")  # of a card that is cut
        self._drafts_heading = TextLabel(theme, TextStyle.HEADING)
        self._files_heading = TextLabel(theme, TextStyle.HEADING)
        self._card_heading = TextLabel(theme, TextStyle.HEADING)
        self._arrange()
        self.install_button.clicked.connect(lambda: self.install_requested.emit(discover.page_of))
        self.use_button.clicked.connect(lambda: models.use(discover.folder_of(discover.page_of)))
        self.again_button.clicked.connect(lambda: discover.read_page(discover.page_of))
        self.drafts_button.clicked.connect(self._look_for_drafts)
        for button in (self.hub_button, self.rest_button):
            button.clicked.connect(self._open)
        self.card.link_requested.connect(lambda link: ask_to_open(link, self.theme, self))
        discover.page_changed.connect(self.show_page)
        models.downloads.changed.connect(self._show_install)
        self._retranslate()

    def _arrange(self) -> None:
        self.column.insertWidget(0, self.back_button, 0, Qt.AlignmentFlag.AlignLeft)
        acts = self.again_button, self.install_button, self.use_button, self.drafts_button, self.hub_button
        buttons = Flow(None, *acts)
        head = Card(self.theme)
        labels = (self.facts, self.record, self.partner, self.note, self.state)
        arrange(head.column, *labels, buttons, spacing=8)
        self._files_card = Card(self.theme)
        self._files_card.column.addWidget(self.files)
        self._card_box = Card(self.theme)
        arrange(self._card_box.column, self.card, (self.rest_button, 0, Qt.AlignmentFlag.AlignLeft))
        arrange(self.column, head, self._drafts_heading, self.drafts, self._files_heading, self._files_card)
        arrange(self.column, self._card_heading, self._card_box)
        self.end()

    def show_page(self) -> None:
        """Show what is known; without the page itself, the list's entry and why there is no more."""
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
            files = [file for file in page.files if file.is_installed]
            lines = [(file.name, size(file.size_bytes)) for file in files[:_FILES_SHOWN]]
            if rest := files[_FILES_SHOWN:]:
                more = fill(QCoreApplication.translate("Files", "And %1 more."), count(len(rest)))
                lines.append((more, size(sum(file.size_bytes for file in rest))))
            self.files.show_files(lines)
            self.card.show_card(page.card)
            self.rest_button.setVisible(self.card.is_cut)

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
        self._show_install()
        self._show_partners(entry)

    def _show_install(self) -> None:
        entry = self._discover.page_entry
        page = self._discover.page
        repository = self._discover.page_of
        words = self.tr("Install")
        if page is not None:
            known = page.download_bytes > 0
            words = fill(self.tr("Install, %1"), size(page.download_bytes)) if known else self.tr("Nothing to install")
        installed = entry is not None and entry.installed
        coming = "" if installed else coming_text(self._models.downloads.coming.get(repository))
        self.install_button.setText(coming or (self.tr("Installed") if installed else words))
        self.install_button.setEnabled(page is not None and page.download_bytes > 0 and not installed and not coming)
        self.install_button.updateGeometry()
        usable = bool(self._discover.folder_of(repository)) and not self._discover.is_main(repository)
        self.use_button.setVisible(usable)

    def _show_partners(self, entry: HubEntry | None) -> None:
        """Drafts with a row each; for a drafter its main model in a line."""
        partners = self._discover.partners(entry.model) if entry is not None else []
        mains = partners if entry is not None and entry.model.drafter is not None else []
        drafts = [] if mains else partners
        self.partner.setVisible(bool(mains))
        self.partner.setText("\n".join(partner_text(main.name, main.gain) for main in mains))
        for widget in (self._drafts_heading, self.drafts):
            widget.setVisible(bool(drafts))
        self.drafts.show_drafts(drafts, main_is_here=bool(self._discover.folder_of(self._discover.page_of)))

    def _look_for_drafts(self) -> None:
        if (entry := self._discover.page_entry) is not None:
            self.drafts_requested.emit(self._discover.as_main(entry.model))

    def _take_draft(self, draft: Partner) -> None:
        """Use the draft with this page's model; installs what is missing."""
        main_folder = self._discover.folder_of(self._discover.page_of)
        if main_folder and draft.folder:
            self._models.use_pair(main_folder, draft.folder)
        else:
            self._models.install_pair(self._discover.page_of, draft.repository)

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
        self.rest_button.setText(self.tr("Read the rest on the model page"))
        self._files_heading.setText(self.tr("Installed files"))
        self._card_heading.setText(self.tr("From the author"))
        self.note.setText(self.tr("Accept the terms on its page, then add your token in Settings."))
        self.show_page()


class DraftRows(Card):
    def __init__(self, theme: Theme, take: Callable[[Partner], None]) -> None:
        """`take` is called by a draft's button."""
        super().__init__(theme)
        self._take = take
        self.rows: list[DraftRow] = []
        self._shown: tuple[Sequence[Partner], bool] = ((), False)

    def show_drafts(self, drafts: Sequence[Partner], *, main_is_here: bool) -> None:
        """Unchanged rows stay, with their focus."""
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
        parts = self.words, self.details, (self.button, 0, Qt.AlignmentFlag.AlignLeft)
        arrange(QVBoxLayout(self), *parts, spacing=6, margins=(0, 0, 0, 0))
        self._retranslate()

    def _retranslate(self) -> None:
        here = self._main_is_here or bool(self.draft.folder)
        missing = self.tr("Install") if here else self.tr("Install both")
        self.words.setText(partner_text(self.draft.name, self.draft.gain))
        set_tooltip(self.words, self.draft.repository or self.draft.folder)
        details = "" if self.draft.folder else partner_details(self.draft.drafter, self.draft.size_bytes)
        say(self.details, details)
        self.button.setText(self.tr("Use") if self._usable else missing)
        self.button.setAccessibleName(listed(self.button.text(), human_name(self.draft.name)))
