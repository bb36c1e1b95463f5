"""The picker on the pair chip: what it lists, why something is greyed, choosing by mouse and by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyle
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.view_models.model_list import DraftState
from app.views.shell.picker import found_among
from app.views.widgets.option_list import ListedOption, OptionList
from app.words.notices_for_errors import notice_for
from engine import (
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DraftVocabularyDiffers,
    HubUnreachable,
    ModelChecking,
    ModelLoadProgress,
    ModelReady,
    ModelRole,
    ModelUnsupported,
    OutOfMemory,
    PairCheck,
    PairChecked,
    Vocabularies,
)
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.ui.test_controllers_models import options_of as options

SMALLER = replace(model_info("/models/Main-4B", 4_000_000_000), sees=True)
STRANGER = model_info("/models/Stranger-1B", 1_000_000_000, "vocabulary-b")
BROKEN = installed(model_info("/models/Broken"), error=ModelUnsupported("/models/Broken", "mystery"))


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    models = {model.folder: model for model in (MAIN, DRAFT, SMALLER, STRANGER)}
    store = [*(installed(model) for model in models.values()), BROKEN]
    with open_app(tmp_path, qtbot, models=models, installed=store) as harness:
        harness.window.open_picker()
        yield harness
        harness.window.picker.close()


def click(listed: OptionList, value: str) -> None:
    row = [option.value for option in options(listed)].index(value)
    place = listed.visualRect(listed.model().index(row, 0)).center()
    QTest.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_every_model_is_listed_by_what_it_can(harness: AppHarness, qtbot: QtBot) -> None:
    mains = harness.window.picker.mains
    names = [option.text for option in options(mains)]
    used_as_drafts = names[names.index("Used as drafts") :]
    assert set(names) == {"Main 8B", "Main 4B", "Stranger 1B", "Broken", *used_as_drafts}
    assert "Draft 1B" in used_as_drafts
    assert "Main 8B" not in used_as_drafts
    assert mains.checked == MAIN.folder

    seeing = [option for option in options(mains) if option.mark == "eye"]
    assert [option.text for option in seeing] == ["Main 4B"]
    assert [option for option in options(mains) if "sees pictures" in option.detail] == seeing
    row = mains.model().index(options(mains).index(seeing[0]), 0)
    assert "sees pictures" in row.data(Qt.ItemDataRole.AccessibleTextRole)
    assert not any(option.mark for option in options(harness.window.picker.drafts))

    listed = [option for option in options(harness.window.picker.mains) if option.value]
    usable = [not option.reason for option in listed if option.text != "Draft 1B"]
    assert usable == sorted(usable, reverse=True)
    notice = notice_for(ModelUnsupported("/models/Broken", "mystery"))
    (reason,) = [option.reason for option in listed if option.text == "Broken"]
    assert notice.hint
    assert reason.endswith(notice.hint)

    drafts = harness.window.picker.drafts
    qtbot.waitUntil(lambda: "Comparing…" not in [option.text for option in options(drafts)])
    listed = options(harness.window.picker.drafts)
    assert [option.text for option in listed[:5]] == ["No draft", "Recommended", "Draft 1B", "Compatible", "Main 4B"]
    assert listed[5].text == "Not compatible"
    reasons = {option.text: option.reason for option in listed[6:]}
    assert set(reasons) == {"Main 8B", "Stranger 1B", "Broken"}
    assert all(reasons.values())

    panel = harness.window.picker
    go_to(panel.mains, "Main 4B")
    assert panel.note.text().startswith("Main 4B: ")
    assert "installed by Hunch" in panel.note.text()
    go_to(panel.drafts, "Stranger 1B")
    assert panel.note.text() == "Stranger 1B: " + options(panel.drafts)[panel.drafts.currentIndex().row()].reason

    drafts.scrollToBottom()
    with qtbot.assertNotEmitted(harness.window.picker.drafts.chosen):
        click(drafts, STRANGER.folder)
    assert harness.window.picker.isVisible()
    assert drafts.current_value == STRANGER.folder


def test_the_draft_is_changed_by_mouse_and_key(harness: AppHarness, qtbot: QtBot) -> None:
    """A large model would take its time again, and the draft that somebody did without would come back."""
    picker, engine = harness.window.picker, harness.engine
    loads, drafts = list(engine.loads), list(engine.drafts)
    click(picker.mains, MAIN.folder)
    click(picker.drafts, DRAFT.folder)
    assert (engine.loads, engine.drafts) == (loads, drafts)
    click(picker.drafts, "")
    qtbot.waitUntil(lambda: harness.models.pair.draft_state is DraftState.NONE)
    click(picker.mains, MAIN.folder)
    assert (engine.loads, harness.models.pair.draft_folder) == (loads, "")

    click(picker.drafts, DRAFT.folder)
    qtbot.waitUntil(lambda: harness.models.pair.draft_state is DraftState.ACTIVE)
    assert engine.loads == loads

    panel = picker
    panel.mains.setFocus()
    QTest.keyClick(panel.mains, Qt.Key.Key_Tab)
    assert (panel.drafts.hasFocus(), panel.drafts.has_ring) == (True, True)
    assert panel.drafts.rings(QStyle.StateFlag.State_HasFocus)

    assert press(panel.drafts, Qt.Key.Key_End) in {"Main 8B", "Stranger 1B", "Broken"}
    with qtbot.assertNotEmitted(panel.drafts.chosen):
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
            QTest.keyClick(panel.drafts, key)
    assert panel.isVisible()
    assert panel.drafts.checked == DRAFT.folder

    panel.field.setFocus()
    QTest.keyClick(panel.field, Qt.Key.Key_Down)
    assert panel.mains.hasFocus()
    assert panel.mains.current_value == MAIN.folder
    QTest.keyClick(panel.mains, Qt.Key.Key_Right)
    assert panel.drafts.hasFocus()
    QTest.keyClick(panel.drafts, Qt.Key.Key_Left)
    QTest.keyClick(panel.mains, Qt.Key.Key_Home)
    QTest.keyClick(panel.mains, Qt.Key.Key_Up)
    assert panel.field.hasFocus()
    QTest.keyClick(panel.field, Qt.Key.Key_Down)
    QTest.keyClicks(panel.mains, "8b")
    assert (panel.field.text(), panel.field.hasFocus()) == ("8b", True)

    panel.field.clear()
    panel.drafts.setFocus()
    QTest.keyClick(panel.drafts, Qt.Key.Key_Home)
    with qtbot.waitSignal(panel.drafts.chosen) as chosen:
        QTest.keyClick(panel.drafts, Qt.Key.Key_Return)
    assert chosen.args == [""]

    harness.window.open_picker()
    panel.drafts.setFocus()
    QTest.mouseClick(panel.drafts.viewport(), Qt.MouseButton.LeftButton)
    assert not panel.drafts.rings(QStyle.StateFlag.State_HasFocus)
    QTest.keyClick(panel.drafts, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_what_return_would_choose_is_heard(harness: AppHarness, announced: list[tuple[object, str]]) -> None:
    field = harness.window.picker.field
    QTest.keyClicks(field, "4b")
    at, words = announced[-1]
    assert (at, words.partition(" · ")[0].startswith("Main 4B")) == (field, True)
    QTest.keyClicks(field, "qqqq")
    assert announced[-1] == (field, "No results.")


def test_a_model_that_came_or_went_is_seen(harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand, or by LM Studio. With two hundred models lists take four frames; a load tells a hundred steps."""
    picker, new = harness.window.picker, model_info("/models/New-1B", 1_000_000_000)
    picker.close()
    harness.store.models = [installed(MAIN), installed(DRAFT), installed(new)]
    harness.window.open_picker()
    qtbot.waitUntil(lambda: new.folder in {option.value for option in options(picker.drafts)})
    assert STRANGER.folder not in {option.value for option in options(picker.drafts)}


@pytest.mark.parametrize(("then", "chosen"), [(["A", "B"], ["A"]), (["B", "A"], [])], ids=["stays", "moves"])
def test_rows_made_anew_under_a_click(qtbot: QtBot, then: list[str], chosen: list[str]) -> None:
    """As while models are compared: each result makes the rows anew."""
    listed, heard = OptionList(Theme()), list[str]()
    qtbot.addWidget(listed)
    listed.chosen.connect(heard.append)
    listed.set_options([ListedOption("A", "A"), ListedOption("B", "B")], "")
    listed.show()
    place = listed.visualRect(listed.model().index(0, 0)).center()

    QTest.mousePress(listed.viewport(), Qt.MouseButton.LeftButton, pos=place)
    listed.set_options([ListedOption(name, name, detail="compared") for name in then], "")
    QTest.mouseRelease(listed.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert heard == chosen

    QTest.mouseClick(listed.viewport(), Qt.MouseButton.RightButton, pos=place)
    assert heard == chosen


def press(listed: OptionList, key: Qt.Key) -> str:
    """What the keyboard is at afterwards; that is in sight."""
    QTest.keyClick(listed, key)
    assert listed.viewport().rect().intersects(listed.visualRect(listed.currentIndex()))
    return str(listed.currentIndex().data())


@pytest.fixture
def drafts(qtbot: QtBot) -> OptionList:
    listed = OptionList(Theme())
    qtbot.addWidget(listed)
    listed.resize(400, 300)
    listed.show()
    return listed


def test_a_long_list_of_refused_models_is_read_by_key(drafts: OptionList) -> None:
    """Its reasons are scrolled to, also a page at a time; a screen reader is told them."""
    why = "Its tokens are others, so it cannot guess a single one."
    refused = [(ListedOption(f"Group {at}"), ListedOption(f"M{at}", f"/m/{at}", "", why)) for at in range(40)]
    drafts.set_options([option for both in refused for option in both], "")
    drafts.setFocus()
    assert press(drafts, Qt.Key.Key_Down) == "M0"
    paged = [int(press(drafts, Qt.Key.Key_PageDown)[1:]) for _ in range(4)]
    assert 0 < paged[0] < paged[1] < paged[2] < paged[3]
    assert drafts.verticalScrollBar().value() > 0
    assert int(press(drafts, Qt.Key.Key_PageUp)[1:]) < paged[-1]
    assert press(drafts, Qt.Key.Key_End) == "M39"
    assert drafts.verticalScrollBar().value() == drafts.verticalScrollBar().maximum()
    told = QAccessible.queryAccessibleInterface(drafts)
    rows = [told.child(at) for at in range(told.childCount())]
    (row,) = [row for row in rows if row.text(QAccessible.Text.Name) == f"M39 {why}"]
    assert row.state().focusable
    assert row.state().focused
    assert press(drafts, Qt.Key.Key_Home) == "M0"


def test_letters_find_models_and_return_chooses(harness: AppHarness, qtbot: QtBot) -> None:
    panel = harness.window.picker
    assert panel.field.hasFocus()
    QTest.keyClicks(panel.field, "4b")
    assert [option.text for option in options(panel.mains)] == ["Main 4B"]
    assert [option.text for option in options(panel.drafts)] == ["Compatible", "Main 4B"]
    QTest.keyClick(panel.field, Qt.Key.Key_Return)
    assert not panel.isVisible()
    qtbot.waitUntil(lambda: harness.models.pair.main_name == "Main-4B")
    harness.window.open_picker()
    assert (panel.field.text(), len(options(panel.mains)) > 1) == ("", True)

    height = panel.height()
    QTest.keyClicks(panel.field, "broken")
    with qtbot.assertNotEmitted(panel.mains.chosen):
        QTest.keyClick(panel.field, Qt.Key.Key_Return)
    assert panel.isVisible()
    QTest.keyClicks(panel.field, " nonsense")
    assert panel.lists.nothing.isVisible()
    QTest.keyClick(panel.field, Qt.Key.Key_Escape)
    assert not panel.isVisible()
    harness.window.open_picker()
    assert panel.height() == height  # whatever was searched for


def test_korean_initials_find_a_model() -> None:
    named = [ListedOption("모델"), ListedOption("Main", "/m"), ListedOption("한국어 모델", "/k")]
    assert found_among(named, "ㅎㄱㅇ") == [named[0], named[2]]
    assert found_among(named, "zzz") == []


def test_many_models_have_a_line_each_with_the_latest_first(harness: AppHarness, qtbot: QtBot) -> None:
    """In the smallest window with the largest text only one of the lists is shown at a time."""
    panel, settings = harness.window.picker, harness.application.settings
    many = [model_info(f"/models/Other-{number}B", number * 10**9) for number in range(10, 60)]
    harness.store.models += [installed(model) for model in many]
    settings.recent_models = (many[30].folder, MAIN.folder)
    harness.models.records.put_gain(MAIN.folder, DRAFT.folder, 1.84)
    harness.models.refresh()
    qtbot.waitUntil(lambda: len(options(panel.mains)) > 50)
    assert [option.text for option in options(panel.mains)[:4]] == ["Recent", "Other 40B", "Main 8B", "All others"]
    assert {option.text: option.aside for option in options(panel.mains)}["Main 8B"] == "1.8×"
    harness.models.library.note_gain(MAIN.folder, DRAFT.folder, 0.5, of_race=True)
    harness.models.refresh()
    qtbot.waitUntil(lambda: {option.text: option.aside for option in options(panel.drafts)}["Draft 1B"] == "slower")
    assert {option.text: option.aside for option in options(panel.mains)}["Main 8B"] == "", "it is no slower without it"
    line = QFontMetrics(harness.application.theme.ui_font()).height()
    assert panel.mains.sizeHintForRow(1) < 2 * line
    panel.close()
    settings.text_scale = 2.0
    harness.window.resize(720, 480)
    harness.window.open_picker()
    assert (panel.mains.isVisible(), panel.drafts.isVisible()) == (True, False)
    QTest.keyClick(panel.field, Qt.Key.Key_Down)
    QTest.keyClick(panel.mains, Qt.Key.Key_Right)
    assert (panel.mains.isVisible(), panel.drafts.hasFocus()) == (False, True)
    assert panel.drafts.viewport().height() >= 2 * panel.drafts.sizeHintForRow(0)
    assert panel.geometry().bottom() <= harness.window.mapToGlobal(harness.window.rect().bottomRight()).y()


def test_the_keyboard_stays_where_it_is_when_the_list_is_made_anew(drafts: OptionList) -> None:
    drafts.set_options([ListedOption("A", "a"), ListedOption("B", "b", "", "no"), ListedOption("C", "c")], "a")
    assert drafts.current_value == "a"
    drafts.set_options([ListedOption("A", "a"), ListedOption("B", "b"), ListedOption("C", "c")], "c")
    assert drafts.current_value == "c"  # what was checked is left for what is
    QTest.keyClick(drafts, Qt.Key.Key_Up)
    drafts.set_options([ListedOption("A", "a"), ListedOption("B", "b", "", "no"), ListedOption("C", "c")], "c")
    assert drafts.current_value == "b"
    drafts.set_options([ListedOption("A", "a"), ListedOption("C", "c")], "c")
    assert drafts.current_value == "c"


def test_drafting_unloading_and_drafts_on_the_hub(harness: AppHarness, qtbot: QtBot) -> None:
    picker, chip = harness.window.picker, harness.window.header.chip
    picker.more_button.click()
    controls = picker.more.speculation
    harness.models.set_off_for_pair(True)
    before = harness.models.pair
    harness.models.choose_speculation("fixed", 5)  # as under Settings → Advanced
    harness.window.banner.button.click()
    assert harness.models.pair == before
    harness.models.choose_speculation("fixed", 4)
    assert controls.tokens.isVisible()
    controls.tokens.setValue(6)
    assert chip.accessibleName().endswith("6 tokens")
    picker.close()
    harness.ask(qtbot, "Hello")
    asked = harness.engine.requests[-1].speculation
    assert (asked.mode, asked.tokens) == ("fixed", 6)

    picker.more.eject_button.click()
    qtbot.waitUntil(lambda: harness.models.pair.state == "unloaded")
    assert "Main 8B" in chip.accessibleName()
    assert "next message" in chip.toolTip()
    harness.window.open_picker()
    assert picker.more.search_button.isEnabled()

    picker.more.search_button.click()
    find = harness.window.models_view.view.discover
    assert find.isVisible()
    assert harness.store.queries[-1].drafts_for == MAIN
    assert find.main_button.text() == "Drafts for Main 8B"


def test_a_model_whose_files_are_tried_first_says_so(harness: AppHarness, qtbot: QtBot) -> None:
    def details() -> dict[str | None, str]:
        return {option.text: option.detail for option in options(harness.window.picker.mains)}

    harness.application.bridge.post(ModelChecking(SMALLER.folder))
    qtbot.waitUntil(lambda: details()["Main 4B"].endswith("checking…"))
    assert "checking" not in details()["Main 8B"]
    click(harness.window.picker.mains, SMALLER.folder)
    qtbot.waitUntil(lambda: harness.models.pair.main_name == "Main-4B" and harness.models.pair.state == "ready")
    qtbot.waitUntil(lambda: "checking" not in details()["Main 4B"])


def test_the_chip_tells_the_state_of_the_draft(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    chip, post = harness.window.header.chip, harness.application.bridge.post

    def load(folder: str, done: int) -> None:
        post(ModelLoadProgress(ModelRole.DRAFT, folder, done, 100))

    def said(words: str) -> None:
        qtbot.waitUntil(lambda: chip.accessibleName() == f"Models: Main 8B ← {words}")
        assert chip.toolTip().startswith(f"Main 8B ← {words}")

    load(DRAFT.folder, 40)
    said("Draft 1B · auto")  # it is loaded already
    monkeypatch.setattr(harness.engine, "set_draft", lambda _folder, _sink: None)
    harness.models.choose_draft(SMALLER.folder)
    said("Loading Main 4B…")
    load(SMALLER.folder, 40)
    said("Loading Main 4B… 40%")
    load(DRAFT.folder, 90)  # of the one that was chosen before
    load(SMALLER.folder, 45)
    said("Loading Main 4B… 45%")
    harness.models.choose_draft(DRAFT.folder)
    said("Loading Draft 1B…")
    post(ModelReady(ModelRole.DRAFT, DRAFT))
    said("Draft 1B · auto")

    assert chip.accessibleName() == "Models: Main 8B ← Draft 1B · auto"
    harness.models.choose_speculation("off", 4)
    assert chip.toolTip().endswith("Drafting is off.")


def test_two_models_are_compared_behind_a_click(harness: AppHarness, qtbot: QtBot) -> None:
    """The loaded ones; and a refused draft, just where somebody asks why, as the keyboard is at it."""
    picker, found = harness.window.picker, Vocabularies(151_936, 151_940, 151_930, 12)
    harness.store.pair_checks[MAIN.folder, DRAFT.folder] = PairCheck(MAIN.folder, DRAFT.folder, None, found, True)
    details = picker.more.details
    assert picker.note.text().startswith("Main 8B: ")  # until it is known how they compare
    assert not details.isVisible()
    picker.more_button.click()
    qtbot.waitUntil(lambda: "12" in picker.note.text() and "none is text" in picker.note.text())
    assert details.isVisible()
    assert len(details.text().splitlines()) >= 5
    picker.more_button.click()
    assert not details.isVisible()

    found = Vocabularies(151_936, 151_936, 900, 151_036)
    error = DraftVocabularyDiffers(STRANGER.folder, 151_936, 151_936, 900)
    harness.application.bridge.post(PairChecked(PairCheck(MAIN.folder, STRANGER.folder, error, found)))
    go_to(picker.drafts, "Stranger 1B")
    picker.more_button.click()
    qtbot.waitUntil(lambda: details.text().startswith("Vocabularies: 151,936 tokens, draft 151,936, shared 900"))
    assert picker.note.text() == f"Stranger 1B: {notice_for(error).sentence}"
    picker.more_button.click()
    picker.field.setFocus()
    assert "Stranger" not in picker.note.text()  # which is about the chosen draft again
    go_to(picker.drafts, "Main 4B")
    picker.more_button.click()
    assert details.text() == "Comparing…"
    qtbot.waitUntil(lambda: (MAIN.folder, SMALLER.folder) in harness.store.checked)
    picker.more_button.click()
    for name, is_told in (("Broken", False), ("No draft", True)):
        go_to(picker.drafts, name)
        picker.more_button.click()
        assert details.isVisible() is is_told
        picker.more_button.click()


def go_to(listed: OptionList, name: str) -> None:
    listed.setFocus()
    QTest.keyClick(listed, Qt.Key.Key_Home)
    while listed.currentIndex().data() != name:
        QTest.keyClick(listed, Qt.Key.Key_Down)


def test_a_model_that_waits_for_a_reply(harness: AppHarness, qtbot: QtBot) -> None:
    mains, banner, pair = harness.window.picker.mains, harness.window.banner, harness.models
    harness.engine.gate.hold()
    harness.window.composer.send("Hello")
    qtbot.waitUntil(lambda: bool(harness.engine.state().running))
    click(mains, SMALLER.folder)
    qtbot.waitUntil(banner.isVisible)
    assert "Main 4B" in banner.sentence.text()
    click(mains, MAIN.folder)
    qtbot.waitUntil(lambda: not banner.isVisible())
    assert pair.pair.main_folder == MAIN.folder
    assert SMALLER.folder not in [main for main, _ in harness.engine.loads]
    click(mains, SMALLER.folder)
    qtbot.waitUntil(banner.isVisible)
    harness.models.switch_now()
    qtbot.waitUntil(lambda: pair.pair.main_name == "Main-4B" and pair.pair.state == "ready")
    harness.engine.gate.open()


@pytest.mark.parametrize("part", ["main", "draft"])
def test_what_memory_refused_is_tried_again(tmp_path: Path, qtbot: QtBot, part: str) -> None:
    refused = MAIN if part == "main" else DRAFT
    models = {info.folder: info for info in (MAIN, DRAFT)} | {refused.folder: OutOfMemory("")}
    with open_app(tmp_path, qtbot, models=models) as harness:
        window, engine = harness.window, harness.engine
        qtbot.waitUntil(window.banner.isVisible)
        assert window.banner.button.text() == "Try again"
        engine.models[refused.folder] = refused  # there is room now
        window.banner.button.click()
        qtbot.waitUntil(lambda: (harness.models.pair.state, harness.models.pair.draft_state) == ("ready", "active"))
        assert len(engine.loads) == (2 if part == "main" else 1)


def test_a_download_that_fails_out_of_sight_is_told(harness: AppHarness, qtbot: QtBot) -> None:
    banner = harness.window.banner
    harness.store.gate.hold()  # or it tells of its own progress after the failure

    def fail(repository: str) -> None:
        harness.models.install(repository)
        error = HubUnreachable(repository, "https://hub.test", "no route")
        number = DownloadId(len(harness.store.asked))
        with qtbot.waitSignal(harness.models.downloads.changed):
            harness.application.bridge.post(DownloadFailed(number, repository, error, 0))
        qtbot.waitUntil(lambda: all(each.error is not None for each in harness.models.downloads.entries))

    fail("org/Gone-4B")
    assert (banner.isVisible(), banner.title.text()) == (True, "Gone 4B was not downloaded")
    assert "hub.test" in banner.sentence.text()
    banner.button.click()
    view = harness.window.models_view
    assert (view.is_shown, view.view.tab, banner.isVisible()) == (True, "yours", False)
    fail("org/Other-4B")
    assert not banner.isVisible()  # its row is in sight


def test_of_a_pair_the_half_that_failed_is_named(harness: AppHarness, qtbot: QtBot) -> None:
    harness.store.gate.hold()
    main, draft = "org/Main-8B", "org/Gone-1B"
    harness.models.install_pair(main, draft)
    harness.application.bridge.post(DownloadFailed(DownloadId(2), draft, HubUnreachable(draft, "", "no route"), 0))
    harness.application.bridge.post(DownloadFinished(DownloadId(1), main, "/m/Main-8B"))
    qtbot.waitUntil(harness.window.banner.isVisible)
    assert harness.window.banner.title.text() == "Gone 1B was not downloaded"
