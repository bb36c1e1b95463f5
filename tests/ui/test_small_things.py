"""Small things that were seen wrong once, measured in pixels."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer, QVariantAnimation
from PySide6.QtGui import QAccessible, QFont, QFontDatabase, QFontInfo, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.storage import ReplyStatus
from app.theme import Theme
from app.view_models.model_list import DraftState, PairState, PairView
from app.views.shell.header import Header
from app.views.widgets.buttons import PaintedButton
from app.words.formats import in_menu
from app.words.languages import LANGUAGES
from app.words.model_names import human_name
from app.words.pairs import name_beside
from app.words.requests import RequestColumn, all_state_words, cell_text, second_line
from engine import DraftingState, RequestStats
from tests.architecture.project import ROOT
from tests.helpers.app_harness import AppHarness
from tests.helpers.fonts import no_fonts_but
from tests.helpers.stillness import SHORT_MS, still
from tests.helpers.transcript_harness import STATS
from tests.helpers.window_pages import activity


def test_the_header_keeps_its_names_in_little_room(harness: AppHarness, qtbot: QtBot) -> None:
    chip = harness.window.header.chip
    main, draft = "Llama-3.1-8B-Instruct-4bit", "some-drafter-with-a-name-that-is-long"
    chip.set_pair(PairView(main, draft, state=PairState.READY, draft_state=DraftState.ACTIVE))
    seen = set()
    for width in range(chip.sizeHint().width(), 60, -10):
        chip.resize(width, chip.height())
        fitted = [text for (text, _, _), _ in chip.fitted()]
        seen.add(len(fitted))
        assert fitted[0] == human_name(main) or len(fitted) == 1
    assert seen == {4, 3, 1}

    window, header, settings = harness.window, harness.window.header, harness.application.settings
    pair = PairView("Hunch", "Hunch Draft", state=PairState.READY, draft_state=DraftState.ACTIVE)
    header.chip.set_pair(pair)
    still()
    assert shown_on(header) == ["Hunch", "←", "Hunch Draft", "· auto"]
    window.resize(720, 700)
    settings.text_scale = 2.0
    qtbot.waitUntil(lambda: not window.inspector.isVisible())
    pair = pair_that_just_fits(header, harness.application.theme)
    header.chip.set_pair(pair)
    still()
    assert shown_on(header) == [pair.main_name, "←", "Drafter"]
    assert pair.draft_name in header.chip.accessibleName()
    header.chip.set_pair(replace(pair, draft_state=DraftState.LOADING))
    still()
    assert shown_on(header)[:2] == [pair.main_name, "←"]
    begins, cut, _ = shown_on(header)[2].partition("…")
    assert cut
    assert "Loading Drafter…".startswith(begins)
    header.chip.set_pair(pair)
    settings.text_scale = 1.0
    window.resize(1600, 700)
    qtbot.waitUntil(lambda: shown_on(header)[2:3] == [pair.draft_name])

    header.set_title("A title that is much longer than the others are")
    window.resize(720, 700)
    aside = [window.chat_settings, window.inspector]
    assert all(button.isVisible() for button in aside)
    settings.text_scale = 2.0
    qtbot.waitUntil(lambda: not any(button.isVisible() for button in aside))
    pair = pair_that_just_fits(header, harness.application.theme)
    header.chip.set_pair(pair)
    still()
    shown = [each for each in (header.title, header.chip, header.show_button) if each.isVisible()]
    assert all(header.rect().contains(each.geometry()) for each in shown)
    assert shown_on(header) == [pair.main_name, "←", "Drafter"]
    used = sum(width for _, width in header.chip.fitted())
    assert header.chip.width() - used <= harness.application.theme.px(40 + 2 * 5) + 2, "room that nothing uses"
    settings.text_scale = 1.0
    qtbot.waitUntil(lambda: all(button.isVisible() for button in aside))


def test_title_and_pair_are_in_the_middle_whatever_is_beside_them(harness: AppHarness) -> None:
    header = harness.window.header
    harness.window.resize(1200, 700)
    for title in ("Short", "A title that is longer"):
        header.set_title(title)
        for sidebar in (True, False):
            harness.window.set_sidebar_wanted(sidebar)
            still()
            both = header.title.geometry() | header.chip.geometry()
            assert abs(both.center().x() - header.rect().center().x()) <= 1


def pair_that_just_fits(header: Header, theme: Theme) -> PairView:
    """With the longest name, in the font that is there, that leaves room for the short name of its draft."""
    pair = PairView("n" * 500, "", state=PairState.READY)
    header.chip.set_pair(pair)  # which takes all the room that there is
    room = header.chip.sizeHint().width() - theme.px(40) - 6  # edges are rounded
    width = QFontMetrics(theme.ui_font()).horizontalAdvance
    behind = width("←") + width("Drafter") + 2 * theme.px(5)
    main = max((f"Hu{'n' * more}ch" for more in range(100)), key=lambda each: (width(each) + behind <= room, len(each)))
    return replace(pair, main_name=main, draft_name=f"{main} Drafter", draft_state=DraftState.ACTIVE)


def test_painted_widgets_say_what_they_are(harness: AppHarness, qtbot: QtBot) -> None:
    """Through Qt's own interface, as a screen reader asks; and a window of the usual size has room for every column."""
    harness.ask(qtbot, "Hello")
    window = harness.window
    title = QAccessible.queryAccessibleInterface(window.header.title)
    assert (title.role(), title.text(QAccessible.Text.Name)) == (QAccessible.Role.StaticText, "Hello")
    window.composer.set_context(50, 100)
    ring = QAccessible.queryAccessibleInterface(window.composer.ring)
    assert (ring.role(), ring.text(QAccessible.Text.Value)) == (QAccessible.Role.ProgressBar, "50%")
    palette = QAccessible.queryAccessibleInterface(window.tools.palette)
    assert palette.role() == QAccessible.Role.Dialog

    activity(harness)
    assert harness.window.speculation.activity is not None
    table = harness.window.speculation.activity.table
    for language in LANGUAGES:
        harness.application.settings.language = language
        still()
        seen, least = all_state_words(), QFontMetrics(table.font()).horizontalAdvance
        assert max(map(least, seen)) <= table.columnWidth(RequestColumn.STATE) - 14, language
        assert not [each for each in RequestColumn if table.isColumnHidden(each)], language
        for stats in (RequestStats(), STATS):
            shown = {
                cell_text(RequestColumn.STATE, ReplyStatus.DONE, stats),
                second_line(RequestColumn.STATE, stats),
            }
            assert shown <= seen | {""}


def test_a_button_that_fails_to_paint_lets_its_painter_go(qtbot: QtBot) -> None:
    """With the painter open, Qt warns at every paint that follows, and crashes in the end."""

    class _Broken(PaintedButton):
        opened: list[QPainter] = []  # noqa: RUF012  keeps them, as a traceback does

        def paint_content(self, painter: QPainter) -> None:
            self.opened.append(painter)
            raise RuntimeError

    button = _Broken(Theme())
    qtbot.addWidget(button)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            button.grab()
    assert len(button.opened) == 3
    assert not any(painter.isActive() for painter in button.opened)
    assert not button.paintingActive()


def test_a_request_that_waits_does_not_say_that_drafting_is_off() -> None:
    """Its figures are none yet; that it will be drafted nobody knows, and that it will not neither."""
    nothing, off = RequestStats(), RequestStats(generated_tokens=1, drafting=DraftingState.OFF)
    assert (nothing.drafting, second_line(RequestColumn.STATE, nothing)) == (DraftingState.OFF, "")
    assert second_line(RequestColumn.STATE, off) == "drafting off"


def shown_on(header: Header) -> list[str]:
    return [text for (text, _, _), _ in header.chip.fitted()]


@pytest.mark.parametrize(
    ("draft", "short"),
    [("Qwen3-0.6B-4bit", "0.6B"), ("Qwen3-8B-DFlash-b16", "DFlash b16"), ("Qwen3-8B-4bit", "Qwen3-8B-4bit")],
)
def test_of_two_names_that_do_not_fit_the_draft_s_is_what_tells_it_from_the_other(draft: str, short: str) -> None:
    assert name_beside(draft, "Qwen3-8B-4bit") == short


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 59 + "…"),
        ("가" * 30, "가" * 30),
        ("가" * 31, "가" * 29 + "…"),
        ("R&D", "R&&D"),
        ("a\tb", "a b"),
    ],
)
def test_a_name_in_a_menu_is_cut_by_how_wide_it_is(name: str, shown: str) -> None:
    assert in_menu(name) == shown


def test_long_names_do_not_widen_the_menus(harness: AppHarness, qtbot: QtBot) -> None:
    """They may have 500 characters, which is wider than any screen."""
    chats, menus = harness.chats, harness.window.menu
    for question in ("One", "Two"):
        chats.new_chat()
        harness.ask(qtbot, question)
        chats.rename(chats.chat_id, "A&B " * 120)
        harness.wait_until_stored(qtbot)
    harness.make_folder(qtbot, "C&D " * 120)
    chats.delete_chats([chats.chat_id])
    harness.wait_until_stored(qtbot)
    chats.open_chat(1)
    assert chats.chat_id == 1
    for menu, beginning in ((menus.deleted, "Restore “A&&B A&&B"), (menus.move, "C&&D C&&D")):
        menu.aboutToShow.emit()
        texts = [action.text() for action in menu.actions()]
        assert any(text.strip().startswith(beginning) for text in texts), texts
        assert menu.sizeHint().width() < 800


_LETTERS = """
import sys
from PySide6.QtGui import QFontInfo, QFontMetricsF, QRawFont
from PySide6.QtWidgets import QApplication
from app.theme import Theme
app = QApplication([])
font = Theme().ui_font()
print(QFontInfo(font).family(), QRawFont.fromFont(font).supportsCharacter("a"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system has fonts of its own")
def test_letters_are_letters_where_no_font_is_installed(tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", _LETTERS],
        env=os.environ | no_fonts_but(tmp_path),
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    assert child.stdout == "DejaVu Sans True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system has fonts of its own")
def test_tests_have_one_font(qapp: QApplication, pytestconfig: pytest.Config) -> None:
    fonts = {QFontInfo(QFont(each)).family() for each in QFontDatabase.families()}
    assert fonts == {"DejaVu Sans"} or pytestconfig.getoption("--system-fonts")


def test_still_waits_for_what_follows_at_once(qtbot: QtBot) -> None:
    ended: list[str] = []
    timer = QTimer(singleShot=True, interval=SHORT_MS - 1)
    timer.timeout.connect(lambda: ended.append("timer"))
    animation = QVariantAnimation(startValue=0, endValue=9, duration=2 * SHORT_MS)
    animation.finished.connect(lambda: ended.append("animation"))
    QTimer.singleShot(0, lambda: QTimer.singleShot(0, lambda: ended.append("posted")))
    still()
    assert ended == ["posted"]
    timer.start()
    still()
    assert ended == ["posted", "timer"]
    animation.start()
    still()
    assert ended == ["posted", "timer", "animation"]
