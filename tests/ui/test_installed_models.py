"""The Models view: what is installed, what can be done with it, and the pairs that are recommended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.view_models.downloads import DownloadState
from app.view_models.installed_list import ModelKind, ModelSort
from app.views.models.badge import DraftBadge
from app.views.models.find import OfferRow, Recommended
from app.views.models.yours import ModelRow, TemplateDialog, YoursPage
from app.views.widgets.dialog import Dialog
from app.views.widgets.labels import TextLabel
from app.words.model_names import human_name
from engine import (
    CacheSizes,
    Catalog,
    DownloadFinished,
    DownloadId,
    DrafterInfo,
    ForwardTimes,
    HubUnreachable,
    ModelAbout,
    ModelHasNoConfig,
    ModelMeasured,
    ModelSource,
    ModelVerified,
    UpdateChecked,
    VerifyProgress,
    load_catalog,
)
from tests.architecture.project import ROOT
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.models_harness import ModelsHarness, open_models
from tests.helpers.stillness import still

ABOUT = ModelAbout("Qwen3", template=True, thinking=True, tools=True, languages=("en", "ko"), licence="apache-2.0")
OTHER = replace(model_info("/models/Other-4B", 4_000_000_000), about=ABOUT, caches=CacheSizes(100_000, 0), sees=True)
HEAD = replace(
    model_info("/models/Head", 1_000_000), vocabulary_digest="", drafter=DrafterInfo("dspark", 0, 0, 0, (1,))
)
MODELS = [
    installed(MAIN),
    installed(DRAFT),
    installed(OTHER),
    installed(HEAD),
    installed(model_info("/lm/Foreign-7B"), ModelSource.LM_STUDIO),
]


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ModelsHarness]:
    infos = {model.folder: model.info for model in MODELS if model.info is not None}
    with open_models(tmp_path, qtbot, models=infos, installed=MODELS) as harness:
        harness.models.library.catalog = load_catalog(ROOT / "resources" / "catalog.json")
        yield harness


@pytest.fixture
def page(harness: ModelsHarness, qtbot: QtBot) -> YoursPage:
    yours = harness.show("yours").yours
    qtbot.waitUntil(lambda: len(yours.installed.rows) == len(MODELS))
    return yours


def click(button: QAbstractButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def recommended(harness: ModelsHarness) -> Recommended:
    return harness.show("find").discover.recommended


def row(page: YoursPage, name: str) -> ModelRow:
    still()  # a layout shows what was added to it a little later
    return next(row for row in page.installed.rows if row.folder.endswith(name))


def can_be_used(row: ModelRow) -> bool:
    return row.use_button.isVisibleTo(row)


def texts(row: ModelRow) -> str:
    """All that is written in it and not about to be taken away."""
    labels = row.findChildren(TextLabel)
    return " ".join(label.text() for label in labels if label.isVisibleTo(row))


def names(page: YoursPage) -> list[str]:
    return [row.folder.rpartition("/")[2] for row in page.installed.rows]


def test_the_list_is_sorted_filtered_and_tells_all_of_a_model(page: YoursPage, harness: ModelsHarness) -> None:
    assert names(page) == ["Draft-1B", "Foreign-7B", "Head", "Main-8B", "Other-4B"]
    page.installed.sort.chosen.emit(ModelSort.SIZE)
    assert names(page)[-1] == "Head"
    page.installed.kind.chosen.emit(ModelKind.DRAFTER)
    assert names(page) == ["Head"]
    page.installed.kind.chosen.emit(ModelKind.ALL)
    page.installed.search.setText("other")
    assert names(page) == ["Other-4B"]
    page.installed.search.setText("no such model")
    assert names(page) == []
    assert "1" not in page.installed.total.text().split("·")[0]

    page.installed.search.clear()
    foreign = row(page, "Foreign-7B")
    assert "LM Studio" in foreign.details.text()
    assert not foreign.delete_button.isVisible()
    click(foreign.more_button)
    assert not foreign.verify_button.isVisible()

    other = row(page, "Other-4B")
    assert "can think · sees pictures" in other.details.text()
    assert "sees pictures" not in row(page, "Head").details.text()
    click(other.more_button)
    told = texts(row(page, "Other-4B"))
    facts = ("Qwen3", "Chat model", "pictures, thinking, tools", "apache-2.0", "4,096 tokens", "org/Other-4B")
    for fact in (*facts, "4\u2011bit", "4.0B", "Draft-1B can draft for it"):
        assert fact in told
    page.installed.sort.chosen.emit(ModelSort.SIZE)  # the rows are made again
    assert "apache-2.0" in texts(row(page, "Other-4B"))
    click(row(page, "Other-4B").more_button)
    assert "apache-2.0" not in texts(row(page, "Other-4B"))

    click(row(page, "Main-8B").delete_button)
    box = page.findChild(Dialog)
    assert box is not None
    assert "main model" in box.sentence.text()
    box.reject()

    # Main-8B has Draft-1B on this machine; of Head, which is a drafter, nobody asks.
    badges = {row.folder.rpartition("/")[2] for row in page.installed.rows if row.findChildren(DraftBadge)}
    assert "Main-8B" in badges
    assert "Head" not in badges
    assert {entry.name for entry in harness.models.models if entry.has_draft} == badges


def test_a_model_and_a_drafter_are_used_with_one_click(harness: ModelsHarness, page: YoursPage, qtbot: QtBot) -> None:
    click(row(page, "Head").use_button)
    qtbot.waitUntil(lambda: harness.models.pair.draft_folder == HEAD.folder)
    assert harness.models.pair.main_folder == MAIN.folder
    assert not row(page, "Main-8B").use_button.isVisible()
    with qtbot.waitSignal(harness.models.chat_wanted):
        click(row(page, "Other-4B").use_button)
    qtbot.waitUntil(lambda: harness.models.pair.main_folder == OTHER.folder)
    qtbot.waitUntil(lambda: not row(page, "Other-4B").use_button.isVisible())
    page.installed.sort.chosen.emit(ModelSort.LAST_USED)
    qtbot.waitUntil(lambda: "Other-4B" in names(page)[:2])


def test_a_model_being_deleted_or_unusable_says_so(harness: ModelsHarness, page: YoursPage, qtbot: QtBot) -> None:
    """Its files take seconds to go; one that stays can be used as before, and why it stays is told."""
    harness.store.gate.hold()
    harness.store.install("org/before-it")  # the store is at work on something else
    harness.store.undeletable = {OTHER.folder}
    click(row(page, "Other-4B").delete_button)
    box = page.findChild(Dialog)
    assert box is not None
    click(box.act_button)
    qtbot.waitUntil(lambda: "deleting…" in texts(row(page, "Other-4B")))
    leaving = row(page, "Other-4B")
    assert not leaving.use_button.isVisible()
    assert not leaving.delete_button.isVisible()
    harness.store.gate.open()
    qtbot.waitUntil(lambda: "deleting…" not in texts(row(page, "Other-4B")))
    assert row(page, "Other-4B").use_button.isVisible()
    assert len(harness.problems) == 1

    lacking = replace(installed(OTHER), info=None, error=ModelHasNoConfig(OTHER.folder))
    harness.store.models = [lacking if each.folder == OTHER.folder else each for each in MODELS]
    harness.store.scan()
    qtbot.waitUntil(lambda: not can_be_used(row(page, "Other-4B")))
    said = texts(row(page, "Other-4B"))
    assert "has no config.json" in said
    assert "Add its config.json and tokenizer" in said


def test_updates_damage_and_templates_are_told(harness: ModelsHarness, page: YoursPage, qtbot: QtBot) -> None:
    def other() -> ModelRow:
        return row(page, "Other-4B")

    click(other().more_button)
    click(other().update_button)
    qtbot.waitUntil(lambda: "Up to date" in other().upkeep.text())
    assert not other().mend_button.isVisible()
    harness.store.has_update = True
    click(other().update_button)
    qtbot.waitUntil(lambda: other().mend_button.isVisibleTo(page))
    assert other().mend_button.text() == "Update"
    assert other().details.text().endswith(" · update available")

    harness.store.damaged = ("model.safetensors",)
    click(other().verify_button)
    qtbot.waitUntil(lambda: "model.safetensors" in other().upkeep.text() and other().mend_button.isVisible())
    click(other().more_button)
    assert other().details.text().endswith(" · damaged")  # also where the row is closed
    click(other().more_button)
    click(other().mend_button)
    assert [entry.repository for entry in harness.models.downloads.entries] == ["org/Other-4B"]

    click(row(page, "Main-8B").more_button)
    assert not row(page, "Main-8B").template_button.isVisible()  # it has none
    click(other().template_button)
    qtbot.waitUntil(lambda: bool(page.findChildren(TemplateDialog)))
    (dialog,) = page.findChildren(TemplateDialog)
    assert dialog.title.text() == "Chat template of Other-4B"
    assert (dialog.text.toPlainText(), dialog.text.isReadOnly()) == ("{% for message in messages %}", True)
    click(dialog.act_button)
    assert not dialog.isVisible()


def test_an_update_comes_from_the_branch_that_was_installed(
    harness: ModelsHarness, page: YoursPage, qtbot: QtBot
) -> None:
    folder = row(page, "Other-4B").folder
    harness.bridge.post(UpdateChecked(folder, "org/Other-4B", has_update=True, revision="8bit"))
    qtbot.waitUntil(lambda: row(page, "Other-4B").details.text().endswith("update available"))
    harness.models.library.mend(folder)
    assert harness.settings.going_downloads == ("org/Other-4B 8bit",)


def test_an_updated_model_can_be_loaded_again(harness: ModelsHarness, page: YoursPage, qtbot: QtBot) -> None:
    def is_offered() -> bool:
        return row(page, "Main-8B").reload_button.isVisible()

    assert not is_offered()
    loads = len(harness.engine.loads)
    harness.bridge.post(DownloadFinished(DownloadId(9), "org/Main-8B", MAIN.folder))
    qtbot.waitUntil(is_offered)
    assert "not reloaded yet" in texts(row(page, "Main-8B"))
    click(row(page, "Main-8B").reload_button)
    qtbot.waitUntil(lambda: not is_offered())
    assert "not reloaded yet" not in texts(row(page, "Main-8B"))
    assert len(harness.engine.loads) == loads + 1


def test_a_change_of_one_model_makes_no_other_row_anew(harness: ModelsHarness, page: YoursPage) -> None:
    before = list(page.installed.rows)
    row(page, "Head").focus_button("more_button")
    harness.models.library.note_deletion(OTHER.folder)
    assert [now.entry.name for now, then in zip(page.installed.rows, before, strict=True) if now is not then] == [
        "Other-4B"
    ]
    assert row(page, "Head").focused_button() == "more_button"
    page.installed.search.setText("head")
    assert page.installed.rows == [row(page, "Head")] == [before[2]]
    page.installed.search.setText("")
    assert row(page, "Head") is before[2]
    assert names(page) == [each.folder.rpartition("/")[2] for each in before]
    read = [each for each in page.installed.children() if each in page.installed.rows]
    assert read == page.installed.rows, "screen readers go by this order"


def test_reading_a_model_shows_how_far_it_is_in_its_row_and_can_be_stopped(
    harness: ModelsHarness, page: YoursPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.store, "verify", lambda _folder: None)
    click(row(page, "Other-4B").more_button)
    click(row(page, "Other-4B").verify_button)
    shown = row(page, "Other-4B")
    harness.bridge.post(VerifyProgress(shown.folder, 30, 120))
    qtbot.waitUntil(lambda: "25%" in shown.upkeep.text())
    assert row(page, "Other-4B") is shown  # no row is made anew for that
    click(shown.verify_button)
    assert harness.store.no_longer_verified == [shown.folder]
    assert row(page, "Other-4B").verify_button.text() == "Verify"
    harness.bridge.post(VerifyProgress(shown.folder, 60, 120))
    harness.bridge.post(ModelVerified(shown.folder, True, ("model.safetensors",)))
    harness.bridge.post(UpdateChecked(shown.folder, "org/Other-4B"))
    qtbot.waitUntil(lambda: "Up to date" in row(page, "Other-4B").upkeep.text())


def test_a_recommended_pair_tells_its_gain(harness: ModelsHarness, recommended: Recommended, qtbot: QtBot) -> None:
    """Beside what somebody has published for another one, and only once a model of that size was measured here."""
    harness.models.refresh()
    qtbot.waitUntil(lambda: bool(recommended.findChildren(OfferRow)))
    catalog = load_catalog(ROOT / "resources" / "catalog.json")
    main = catalog.model("mlx-community/Qwen3-4B-8bit")
    draft = next(each for each in catalog.drafts if each.repository == "deepseek-ai/dspark_qwen3_4b_block7")
    assert main is not None  # both small enough for any machine that runs this
    small = replace(main, published_bytes=10**9), replace(draft, published_bytes=10**8)
    harness.models.library.catalog = Catalog((small[0],), (small[1],))

    def told() -> list[str]:
        return [row.details.text() for row in recommended.findChildren(OfferRow) if not row.isHidden()]

    harness.models.refresh()
    qtbot.waitUntil(lambda: len(told()) == 1)
    assert "1.8× faster in chats on M4 Pro 48 GB" in told()[0]
    assert "(estimate)" not in told()[0]
    times = ForwardTimes(10**9, False, ((1, 0.04), (2, 0.041), (8, 0.05)))
    harness.bridge.post(ModelMeasured(MAIN.folder, times))
    qtbot.waitUntil(lambda: any("× in chats (estimate)" in text for text in told()))  # the rows are made anew


def test_a_recommended_pair_is_installed(harness: ModelsHarness, recommended: Recommended, qtbot: QtBot) -> None:
    harness.models.refresh()
    qtbot.waitUntil(lambda: bool(recommended.findChildren(OfferRow)))
    offered = recommended.findChildren(OfferRow)[0]
    halves = (offered.offer.main, offered.offer.draft)
    for half in halves:
        harness.store.failures[half] = HubUnreachable(half, "https://hub.example", "timed out")
    harness.store.gate.hold()
    click(offered.install_button)
    (entry,) = harness.models.downloads.entries
    assert entry.repositories == halves
    qtbot.waitUntil(lambda: any(not row.install_button.isEnabled() for row in recommended.findChildren(OfferRow)))
    harness.store.gate.open()
    qtbot.waitUntil(lambda: harness.models.downloads.entries[0].state is DownloadState.FAILED)
    qtbot.waitUntil(lambda: all(row.install_button.isEnabled() for row in recommended.findChildren(OfferRow)))

    offer = offered.offer
    here = (replace(installed(OTHER), repository=offer.main), replace(installed(DRAFT), repository=offer.draft))

    def buttons() -> dict[str, QAbstractButton]:
        shown = [row for row in recommended.findChildren(OfferRow) if not row.isHidden()]
        return {row.install_button.text(): row.install_button for row in shown if row.offer.main == offer.main}

    def offers(name: str) -> bool:
        return [(text, each.accessibleName()) for text, each in buttons().items()] == [
            ("Install", f"Install {human_name(name)}")
        ]

    for model, missing in zip(here, (offer.draft_name, offer.main_name), strict=True):
        harness.store.models = [model]
        harness.models.refresh()
        qtbot.waitUntil(partial(offers, missing))
    harness.store.models = list(here)  # by now it is here
    harness.models.refresh()
    qtbot.waitUntil(lambda: "Use both" in buttons())
    click(buttons()["Use both"])
    qtbot.waitUntil(lambda: "In use" in buttons())
    assert not buttons()["In use"].isEnabled()
    pair = harness.models.pair
    assert (pair.main_folder, pair.draft_folder) == (OTHER.folder, DRAFT.folder)
