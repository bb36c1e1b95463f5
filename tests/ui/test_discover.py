"""Looking for models on the hub: what is asked, what is shown, and what becomes of a click."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controllers.discover import has_word
from app.controllers.draft_choices import CHAT_TOKENS
from app.view_models.downloads import DownloadState
from app.view_models.hub import DiscoverState
from app.views.models.find import DiscoverPanel
from app.views.models.model_card import MOST_BLOCKS, MOST_CHARS, CardLink, CardText
from app.views.widgets.dialog import Dialog
from app.views.widgets.labels import NameLabel, TextLabel
from app.words.hub import hub_line
from app.words.model_names import human_name
from app.words.notices_for_errors import reason_text
from engine import (
    FitLevel,
    ForwardTimes,
    HubFile,
    HubKind,
    HubModel,
    HubOffline,
    HubPage,
    HubSilence,
    HubSort,
    HubUnreachable,
    LibraryScanned,
    ModelMeasured,
    memory_fit,
    model_memory_bytes,
)
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.figures import read
from tests.helpers.models_harness import ModelsHarness, open_models

MODEL = HubModel(
    "mlx-community/Qwen3-8B-4bit", "qwen3", 8_184_000_000, 4.0, 4_604_000_000, downloads=1234, license="apache-2.0"
)
CARD = "# Qwen\n\n<script>x</script> ![cat](https://evil.example/cat.png) [a link](https://ok.example/x)\n\n```\ncode\n```\n"


def page_of(model: HubModel, card: str = CARD) -> HubPage:
    files = (HubFile("model.safetensors", 4_604_000_000, True), HubFile("evil.py", 9, False))
    return HubPage(model, f"https://hub.test/{model.repository}", card, files)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ModelsHarness]:
    with open_models(tmp_path, qtbot) as harness:
        harness.store.on_hub = [MODEL, *(HubModel(f"org/Model-{number}") for number in range(30))]
        yield harness


@pytest.fixture
def panel(harness: ModelsHarness, qtbot: QtBot) -> DiscoverPanel:
    view = harness.show("find")
    wait_for_rest(harness, qtbot)
    return view.discover


def wait_for_rest(harness: ModelsHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: harness.models.discover.state is not DiscoverState.READING)


def test_models_are_listed_in_steps_and_searched(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    (query,) = harness.store.queries
    assert (query.text, query.sort, query.kind) == ("", HubSort.DOWNLOADS, HubKind.ANY)
    assert panel.list.model().index(0, 0).data() == "Qwen3-8B-4bit"
    assert "8.2B parameters" in panel.list.model().index(0, 0).data(11)  # what a screen reader says

    entries = harness.models.discover.results.entries
    for shown in range(10, 31, 10):
        assert len(entries) == shown, "nothing comes unasked"
        assert panel.list.height() == shown * panel.list.row_px(), "the page alone scrolls"
        assert panel.list.verticalScrollBar().maximum() == 0
        assert panel.more_button.isVisibleTo(panel)
        panel.more_button.click()
        wait_for_rest(harness, qtbot)
    assert not panel.more_button.isVisibleTo(panel)
    assert panel.status.text() == "31 models"

    QTest.keyClicks(panel.text, "mlx-community/Qwen3 8B")
    qtbot.waitUntil(lambda: len(harness.store.queries) == 2)
    assert (harness.store.queries[1].author, harness.store.queries[1].text) == ("mlx-community", "Qwen3 8B")
    panel.search("https://huggingface.co/mlx-community/Qwen3-8B-4bit?library=mlx")
    assert (harness.store.queries[2].author, harness.store.queries[2].text) == ("mlx-community", "Qwen3-8B-4bit")

    panel.family.choose("Qwen3")
    panel.bits.choose(4)
    panel.kind.choose("drafter")
    panel.sort.choose("updated")
    panel.size_limit.choose(2)
    assert harness.store.queries[-1].most_bytes == 2 * 10**9
    panel.fits_only.click()
    query = harness.store.queries[-1]
    assert (query.family, query.bits, query.kind, query.sort) == ("Qwen3", 4, HubKind.DRAFTER, HubSort.UPDATED)
    assert 0 < query.most_bytes <= 2 * 10**9


def install_place(panel: DiscoverPanel, row: int) -> QPoint:
    listed, index = panel.list, panel.list.model().index(row, 0)
    return listed.delegate().button(listed.visualRect(index), index.data(Qt.ItemDataRole.UserRole)).center()


def test_install_in_a_row(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    viewport, place = panel.list.viewport(), install_place(panel, 0)
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(20, place.y()))
    assert (harness.store.asked, harness.models.discover.page_of) == ([], "")
    QTest.mouseClick(viewport, Qt.MouseButton.RightButton, pos=place)
    assert (harness.store.asked, harness.models.discover.page_of) == ([], "")

    harness.store.gate.hold()
    place, viewport = install_place(panel, 0), panel.list.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: harness.store.asked == [MODEL.repository])
    assert harness.view.tab == "find"
    assert harness.models.discover.page_of == ""
    qtbot.waitUntil(lambda: MODEL.repository in panel.list.coming)
    assert panel.list.install_at(place) == ""
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)  # "Downloading", as the rest of the row
    assert (harness.store.asked, harness.models.discover.page_of) == ([MODEL.repository], MODEL.repository)
    harness.store.gate.open()


def test_a_list_that_is_made_later_knows_what_is_on_its_way(
    harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot
) -> None:
    harness.store.gate.hold()
    harness.models.downloads.install(MODEL.repository)
    qtbot.waitUntil(lambda: MODEL.repository in panel.list.coming)
    later = DiscoverPanel(harness.theme, harness.models)
    qtbot.addWidget(later)
    assert later.list.coming == panel.list.coming
    harness.store.gate.open()


def test_what_was_deleted_after_its_download_can_be_installed_again(
    harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot
) -> None:
    harness.models.downloads.install(MODEL.repository)
    qtbot.waitUntil(lambda: panel.list.model().index(0, 0).data(Qt.ItemDataRole.UserRole).installed)
    assert [each.state for each in harness.models.downloads.entries] == [DownloadState.FINISHED]
    harness.store.models = [each for each in harness.store.models if each.repository != MODEL.repository]
    harness.store.scan()
    qtbot.waitUntil(lambda: not panel.list.model().index(0, 0).data(Qt.ItemDataRole.UserRole).installed)
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=install_place(panel, 0))
    assert harness.store.asked == [MODEL.repository] * 2


def test_only_what_fits_with_a_chat_is_shown(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    """Weights that fill the memory leave no room for a chat. Where nothing of a page fits, the next is asked for."""
    memory = model_memory_bytes()
    full = HubModel("org/Full", parameters=10**9, size_bytes=int(memory * 0.99))
    harness.store.on_hub = [*(replace(full, repository=f"org/Full-{number}") for number in range(10)), MODEL]
    results = harness.models.discover.results
    panel.fits_only.click()
    qtbot.waitUntil(lambda: [entry.model for entry in results.entries] == [MODEL])
    panel.fits_only.click()
    qtbot.waitUntil(lambda: len(results.entries) == 10)

    QTest.keyClicks(panel.text, "gemma")
    QTest.mouseClick(panel.fits_only, Qt.MouseButton.LeftButton)  # right after the last key
    wait_for_rest(harness, qtbot)
    query = harness.store.queries[-1]
    assert (panel.text.text(), query.text, query.most_bytes > 0) == ("gemma", "gemma", True)


def test_drafts_for_a_main_model(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    harness.store.on_hub = [HubModel("z-lab/Main-4B-DFlash", drafter="dflash")]
    panel.show_drafts_for(MAIN)
    assert harness.store.queries[-1].drafts_for == MAIN
    assert panel.main_button.text() == f"Drafts for {human_name(MAIN.name)}"
    wait_for_rest(harness, qtbot)
    harness.store.pages["z-lab/Main-4B-DFlash"] = page_of(harness.store.on_hub[0])
    panel.list.choose(panel.list.model().index(0, 0))
    qtbot.waitUntil(panel.page.install_button.isEnabled)
    panel.page.install_button.click()
    (entry,) = harness.models.downloads.entries
    assert harness.models.downloads.main_for(entry.id) == MAIN.folder
    panel.main_button.click()
    assert harness.store.queries[-1].drafts_for is None


def test_a_page_and_its_install_button(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    page = panel.page
    panel.list.choose(panel.list.model().index(1, 0))
    qtbot.waitUntil(lambda: "org/Model-0" in page.state.text())  # which is not there
    assert not page.install_button.isEnabled()
    page.back_button.click()
    assert panel.list.isVisible()

    gguf = replace(MODEL, repository="org/GGUF")
    harness.store.pages = {
        MODEL.repository: page_of(MODEL),
        gguf.repository: replace(page_of(gguf), files=(HubFile("model.gguf", 9, False),)),
    }
    panel.list.chosen.emit(gguf.repository)
    qtbot.waitUntil(lambda: page.install_button.text() == "Nothing to install")
    assert not page.install_button.isEnabled()
    assert not page.files.isVisible()
    page.back_button.click()

    panel.list.choose(panel.list.model().index(0, 0))
    assert not page.install_button.isEnabled()
    qtbot.waitUntil(page.install_button.isEnabled)
    assert read(page.install_button.text()) == "Install, 4.6 GB"
    assert "apache-2.0" in page.record.text()
    page.install_button.click()
    assert harness.store.asked == [MODEL.repository]
    qtbot.waitUntil(lambda: page.install_button.text() == "Downloading")
    assert (page.install_button.isEnabled(), page.isVisible()) == (False, True)


def test_a_page_offers_drafts(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    model = replace(MODEL, repository="mlx-community/Qwen3.8-27B-4bit")
    harness.store.on_hub, harness.store.pages[model.repository] = [model], page_of(model)
    panel.search("")
    wait_for_rest(harness, qtbot)
    known = [draft.repository for draft in harness.models.library.catalog.drafts_for(model.repository)]
    panel.list.choose(panel.list.model().index(0, 0))
    qtbot.waitUntil(panel.page.install_button.isEnabled)
    rows = panel.page.drafts.rows
    assert [row.draft.repository for row in rows] == known
    assert len(known) > 4
    assert {row.button.text() for row in rows} == {"Install both"}
    assert all(row.words.text().startswith(f"With {human_name(row.draft.name)}: ") for row in rows)
    panel.page.drafts_button.click()
    main = harness.store.queries[-1].drafts_for
    assert main is not None
    assert (main.name, main.parameters) == (model.name, model.parameters)
    assert main.folder == ""  # it is not here
    rows[2].button.click()
    assert harness.store.asked == [model.repository, known[2]]

    within = f"{MODEL.repository}/mtp"
    harness.store.pages[MODEL.repository] = replace(page_of(MODEL), drafters=(within,))
    harness.models.discover.read_page(MODEL.repository)
    qtbot.waitUntil(panel.page.install_button.isEnabled)
    row = panel.page.drafts.rows[0]  # one of its own repository first
    assert row.words.text().startswith("With Qwen3 8B MTP: ")
    row.button.click()
    assert harness.store.asked[2:] == [MODEL.repository, within]


def test_a_draft_that_is_here_is_used_and_one_that_is_not_is_installed(
    harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = "mlx-community/Qwen3.8-27B-4bit"
    main, draft = model_info("/models/main"), model_info("/models/draft")
    known = [each.repository for each in harness.models.library.catalog.drafts_for(repository)]
    here = replace(installed(main), repository=repository), replace(installed(draft), repository=known[1])
    harness.models.discover.read_page(repository)
    assert [row.button.text() for row in panel.page.drafts.rows] == ["Install both"] * len(known)
    harness.bridge.post(LibraryScanned(here))
    wanted = ["Install", "Use", *["Install"] * (len(known) - 2)]
    qtbot.waitUntil(lambda: [row.button.text() for row in panel.page.drafts.rows] == wanted)
    used: list[tuple[str, str]] = []
    monkeypatch.setattr(harness.models, "use_pair", lambda *folders: used.append(folders))
    panel.page.drafts.rows[1].button.click()
    assert used == [(main.folder, draft.folder)]
    panel.page.drafts.rows[0].button.click()
    assert harness.store.asked == [known[0]]  # of a pair only what is missing


def test_of_very_many_files_the_last_line_has_the_rest(
    harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot
) -> None:
    files = tuple(HubFile(f"model-{number}.safetensors", 10**9, True) for number in range(163))
    harness.store.pages[MODEL.repository] = replace(page_of(MODEL), files=files)
    panel.open_page(MODEL.repository)
    qtbot.waitUntil(lambda: panel.page.files.isVisibleTo(panel.page) and bool(panel.page.files.findChildren(NameLabel)))
    shown = [label.text() for label in panel.page.files.findChildren(TextLabel) if label.isVisibleTo(panel.page.files)]
    assert [read(each) for each in shown[-2:]] == ["And 103 more.", "103 GB"]


def test_the_page_of_a_drafter_tells_its_gain(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    drafter = "deepseek-ai/dspark_qwen3_8b_block7"
    harness.store.pages[drafter] = page_of(HubModel(drafter, drafter="dspark"))
    harness.models.discover.read_page(drafter)
    qtbot.waitUntil(lambda: panel.page.partner.text().startswith("With Qwen3 8B: "))
    times = ForwardTimes(8 * 10**9, False, ((1, 0.04), (2, 0.041), (4, 0.043), (8, 0.05)))
    harness.bridge.post(ModelMeasured("/models/another", times))
    qtbot.waitUntil(lambda: "(estimate)" in panel.page.partner.text())
    harness.models.discover.read_page("org/Model-0")
    assert not panel.page.partner.isVisibleTo(panel.page)


def test_a_card_shows_words_and_loads_nothing(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    """The tests' audit hook would tell of a connection."""
    odd = replace(MODEL, repository="org/Odd")
    lines = "one\r\r\r\rtwo\r\n\r\nthree\n\rfour"
    harness.store.pages = {MODEL.repository: page_of(MODEL), odd.repository: page_of(odd, lines)}
    panel.list.chosen.emit(odd.repository)
    qtbot.waitUntil(lambda: bool(panel.page.card.findChildren(CardText)))
    shown = " ".join(text.toPlainText() for text in panel.page.card.findChildren(CardText))
    assert shown.split() == ["one", "two", "three", "four"]

    panel.page.back_button.click()
    panel.list.choose(panel.list.model().index(0, 0))
    qtbot.waitUntil(lambda: bool(panel.page.card.findChildren(CardLink)))
    texts: list[CardText] = []

    def is_laid_out() -> bool:
        texts[:] = [text for text in panel.page.card.findChildren(CardText) if text.isVisible()]
        return bool(texts)

    qtbot.waitUntil(is_laid_out)
    shown = "\n".join(text.toPlainText() for text in texts)
    assert "<script>x</script>" in shown
    assert "cat (https://evil.example/cat.png)" in shown
    texts[1].anchorClicked.emit(QUrl("https://ok.example/x"))
    (box,) = panel.page.findChildren(Dialog)
    assert "ok.example" in box.title.text()
    box.reject()


@pytest.mark.parametrize("card", ["word " * MOST_CHARS, "word\n\n" * (MOST_BLOCKS + 1)])
def test_what_is_left_out_of_a_long_card_can_be_read_on_the_models_page(
    harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot, card: str
) -> None:
    for text, is_cut in ((CARD, False), (card, True)):
        harness.store.pages[MODEL.repository] = page_of(MODEL, text)
        panel.open_page(MODEL.repository)
        qtbot.waitUntil(panel.page.install_button.isEnabled)
        assert panel.page.rest_button.isVisible() is is_cut
    panel.page.rest_button.click()
    (dialog,) = panel.page.findChildren(Dialog)
    assert "https://hub.test/mlx-community/Qwen3-8B-4bit" in dialog.sentence.text()


def test_the_links_of_a_card_are_reached_by_tab_and_opened_by_key(app: AppHarness, qtbot: QtBot) -> None:
    """Also those behind the first page's height; what no click would follow is passed over."""
    app.store.on_hub = [MODEL]
    panel = app.show_models("find").discover
    qtbot.waitUntil(lambda: panel.list.model().rowCount() > 0)
    cards = [f"[link {number}](https://ok.example/{number}) and [own](LICENSE)" for number in range(4)]
    card = cards[0] + " " + cards[1] + "\n\n" + "Words.\n\n" * 40 + "- " + cards[2] + "\n- " + cards[3]
    app.store.pages[MODEL.repository] = page_of(MODEL, card)
    panel.list.choose(panel.list.model().index(0, 0))
    qtbot.waitUntil(lambda: bool(panel.page.card.findChildren(CardText)))
    heights = [0]

    def laid_out() -> bool:
        heights.append(panel.page.verticalScrollBar().maximum())
        return heights[-1] > 300 and len(heights) > 20 and len(set(heights[-20:])) == 1

    qtbot.waitUntil(laid_out)  # rows of words take their height one after the other
    panel.page.drafts.rows[-1].button.setFocus(Qt.FocusReason.TabFocusReason)
    heard = walk(panel, Qt.Key.Key_Tab, 4)
    assert heard == [("Link: link 0", 0), ("Link: link 1", 1), ("Link: link 2", 2), ("Link: link 3", 3)]
    assert [number for _, number in walk(panel, Qt.Key.Key_Backtab, 3)] == [2, 1, 0]


def walk(panel: DiscoverPanel, key: Qt.Key, steps: int) -> list[tuple[str, int]]:
    """What is heard of the links that the key comes to, and where Return would lead."""
    found = []
    for _ in range(steps):
        QTest.keyClick(QApplication.focusWidget() or panel, key)
        link = QApplication.focusWidget()
        assert isinstance(link, CardLink)
        assert link.visibleRegion().boundingRect().height() > 10, "the link in focus is not in sight"
        QTest.keyClick(link, Qt.Key.Key_Return)
        (box,) = [box for box in panel.page.findChildren(Dialog) if box.isVisible()]
        found.append((link.accessibleName(), int(box.sentence.text().rpartition("/")[2])))
        QTest.keyClick(box, Qt.Key.Key_Escape)
        panel.window().activateWindow()
    return found


def test_a_page_without_the_hub(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    page, error = panel.page, HubUnreachable("hub", "https://hub.test", "no route")
    harness.store.hub_error = error
    harness.store.pages[MODEL.repository] = page_of(MODEL)
    panel.list.choose(panel.list.model().index(0, 0))
    assert (page.facts.text(), page.state.text()) == (hub_line(MODEL, FitLevel.FITS), "Contacting hub…")
    qtbot.waitUntil(page.again_button.isVisible)
    assert page.state.text() == reason_text(error)
    assert "\n" in page.state.text()  # with what to do
    assert page.record.isVisible()
    assert page.drafts.rows
    assert (page.install_button.isEnabled(), page.use_button.isVisible()) == (False, False)
    harness.store.hub_error = None
    page.again_button.click()
    qtbot.waitUntil(page.install_button.isEnabled)
    assert (page.state.isVisible(), page.again_button.isVisible()) == (False, False)

    harness.store.hub_error = HubOffline("hub")
    panel.search("draft-1b")
    wait_for_rest(harness, qtbot)
    panel.list.choose(panel.list.model().index(0, 0))
    qtbot.waitUntil(page.again_button.isVisible)
    assert "parameters" in page.facts.text()
    assert page.install_button.text() == "Installed"
    page.use_button.click()
    qtbot.waitUntil(lambda: harness.models.pair.main_folder == DRAFT.folder)


def test_another_address_of_the_hub_is_asked_at_once(
    harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot
) -> None:
    harness.store.hub_error = HubUnreachable("hub", "https://old.example", "no route")
    panel.search("qwen")
    wait_for_rest(harness, qtbot)
    assert "old.example" in panel.status.text()
    harness.store.hub_error = None
    asked = len(harness.store.queries)
    harness.settings.hub_endpoint = "https://new.example"
    assert len(harness.store.queries) == asked + 1
    wait_for_rest(harness, qtbot)
    assert (harness.models.discover.error, "old.example" in panel.status.text()) == (None, False)


def test_the_built_in_list_without_the_hub(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    """What is here first, then what fits, and chat models before drafts."""
    results, catalog = harness.models.discover.results, harness.models.library.catalog
    harness.store.hub_error = HubOffline("hub")

    def shown(text: str = "", **limits: Any) -> list[HubModel]:
        panel.search(text)
        panel.limit(**limits)
        wait_for_rest(harness, qtbot)
        assert results.entries
        return [entry.model for entry in results.entries]

    shown()
    mains, order = {model.repository for model in catalog.models}, list(FitLevel)
    ranks = [
        (not entry.installed, order.index(entry.fit) if entry.fit else 0, entry.model.repository not in mains)
        for entry in results.entries
    ]
    assert ranks == sorted(ranks)
    assert {rank[0] for rank in ranks} == {rank[2] for rank in ranks} == {True, False}

    assert [model.repository for model in shown("draft-1b")] == ["org/Draft-1B"]
    assert (results.entries[0].installed, panel.again_button.isVisible()) == (True, True)
    assert "built-in list" in panel.status.text()
    panel.search("nothing-like-this")
    wait_for_rest(harness, qtbot)
    assert panel.status.text().endswith("No results. Try fewer words or filters.")
    assert shown("qwen3")  # of the catalog
    assert all("qwen3.5" in model.name.casefold() for model in shown(family="Qwen3.5"))
    assert all(model.size_bytes <= 4 * 10**9 for model in shown(most_gigabytes=4))
    assert all(model.drafter is not None for model in shown(kind="drafter"))
    drafts = {model.repository for model in shown(drafts_for=replace(MAIN, name=MODEL.name, parameters=8 * 10**9))}
    assert catalog.drafts_for(MODEL.repository)[0].repository in drafts
    assert MODEL.repository not in drafts

    harness.store.hub_error = None
    panel.again_button.click()
    wait_for_rest(harness, qtbot)
    assert not panel.again_button.isVisible()


def test_the_built_in_list_while_the_hub_is_slow(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    discover = harness.models.discover
    harness.store.hub_answers.clear()
    panel.search("qwen3")
    assert (discover.results.entries, panel.status.text()) == ([], "Searching…")
    qtbot.waitUntil(lambda: bool(discover.results.entries))
    assert all("qwen3" in entry.model.repository.casefold() for entry in discover.results.entries)
    assert panel.status.text() == "Searching… Showing Hunch's built-in list."
    assert not panel.again_button.isVisible()
    harness.store.on_hub = [MODEL]
    harness.store.hub_answers.set()
    wait_for_rest(harness, qtbot)
    assert [entry.model for entry in discover.results.entries] == [MODEL]
    assert panel.status.text() == "1 model"
    harness.store.on_hub = []
    panel.search("qwen3")
    wait_for_rest(harness, qtbot)
    assert panel.status.text() == "No results. Try fewer words or filters."  # the hub's word counts
    assert not discover.results.entries


def test_the_hub_is_asked_again_after_offline_mode(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    settings, discover = harness.settings, harness.models.discover
    settings.hub_offline = True
    harness.store.hub_error = HubOffline("hub")
    harness.store.pages[MODEL.repository] = page_of(MODEL)
    panel.search("qwen3-8b")
    wait_for_rest(harness, qtbot)
    panel.open_page(MODEL.repository)
    qtbot.waitUntil(lambda: discover.page_error is not None)
    asked = len(harness.store.queries)
    harness.store.hub_error = None
    settings.hub_offline = False
    qtbot.waitUntil(lambda: discover.from_hub and discover.page is not None)
    assert not panel.again_button.isVisible()
    assert len(harness.store.queries) == asked + 1
    settings.hub_offline = True
    settings.hub_offline = False
    assert len(harness.store.queries) == asked + 1  # nothing was refused this time


def test_results_stay_when_the_rest_fails(harness: ModelsHarness, panel: DiscoverPanel, qtbot: QtBot) -> None:
    """Of one of several questions, or of a later page; asking again asks for that alone."""
    harness.store.on_hub = harness.store.on_hub[:10]
    harness.store.missing = HubUnreachable("hub", "https://hub.test", "HTTP 503", HubSilence.BUSY)
    panel.search("")
    wait_for_rest(harness, qtbot)
    asked = len(harness.store.queries)
    assert panel.status.text() == "10 models; others may be missing. hub.test is busy."
    harness.store.hub_error = harness.store.missing
    panel.again_button.click()
    wait_for_rest(harness, qtbot)
    assert panel.status.text() == "hub.test is busy."  # and nothing else is shown instead
    harness.store.hub_error = harness.store.missing = None
    panel.again_button.click()
    wait_for_rest(harness, qtbot)
    assert (panel.status.text(), panel.again_button.isVisible()) == ("10 models", False)
    assert len(harness.store.queries) == asked


def test_the_list_and_the_card_judge_a_model_of_the_catalog_alike(
    harness: ModelsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GLM 4.7 Flash keeps small caches, which a model of its size alone would not show."""
    glm = next(model for model in harness.models.library.catalog.models if "GLM-4.7-Flash" in model.repository)
    memory = int(memory_fit(glm.info(), CHAT_TOKENS).needed_bytes / 0.84)
    monkeypatch.setattr("engine.models.fit.model_memory_bytes", lambda: memory)
    assert memory_fit(glm.info(), CHAT_TOKENS).level is FitLevel.FITS
    assert memory_fit(replace(glm.info(), caches=None), CHAT_TOKENS).level is FitLevel.TIGHT
    for repository in (glm.repository, f"someone/{glm.name}"):
        listed = HubModel(repository, "glm4_moe_lite", glm.parameters, 4.0, glm.download_bytes)
        assert harness.models.discover.entry(listed).fit is FitLevel.FITS


@pytest.mark.parametrize(
    ("name", "words", "others"),
    [
        ("mlx-community/Qwen3-14B-4bit", ("14b", "qwen3", "4bit", "4bi"), ("4b", "1.4b")),
        ("mlx-community/gemma-3-4b-it", ("4b", "gemma-3"), ("3b", "4bit")),
        ("mlx-community/Qwen3-30B-A3B", ("30b", "a3b"), ("3b", "0b")),
        ("mlx-community/Qwen2.5-0.5B", ("0.5b", "2.5"), ("5b",)),
    ],
)
def test_a_size_is_searched_for_as_a_whole(name: str, words: tuple[str, ...], others: tuple[str, ...]) -> None:
    assert all(has_word(name, word) for word in words)
    assert not any(has_word(name, word) for word in others)
