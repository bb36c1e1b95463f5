"""Small things that were seen wrong once, measured in pixels."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QColor, QFontMetrics, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.storage import ReplyStatus
from app.theme import Theme
from app.view_models.model_list import DraftState, PairState, PairView
from app.view_models.request_table import RequestTableModel
from app.views.settings.request_table import RequestTable
from app.views.shell.header import Header
from app.views.widgets.banner import BannerText
from app.views.widgets.dialog import Dialog, DialogText
from app.words.formats import in_menu, percent
from app.words.languages import LANGUAGES
from app.words.pairs import name_beside
from app.words.requests import RequestColumn, all_state_words, cell_text, second_line
from engine import DraftingState, RequestStats
from tests.architecture.project import ROOT
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.transcript_harness import STATS


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot) as harness:
        yield harness


def place_in(window: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def ink_left(image: QImage, ground: QColor, rows: QRect) -> int:
    """The first column in these rows that differs from the ground."""
    for x in range(rows.left(), rows.right()):
        if any(_differs(image.pixelColor(x, y), ground) for y in range(rows.top(), rows.bottom())):
            return x
    return -1


def _differs(one: QColor, other: QColor) -> bool:
    return max(abs(one.red() - other.red()), abs(one.green() - other.green()), abs(one.blue() - other.blue())) > 60


def test_a_percentage_has_no_space() -> None:
    assert percent(1.0) == "100%"


def test_the_composer_does_not_shift_when_the_app_has_opened(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as harness:
        harness.application.show()
        QApplication.processEvents()
        at_first = place_in(harness.window, harness.window.composer)
        qtbot.waitUntil(lambda: harness.application.is_open)
        QApplication.processEvents()
        assert place_in(harness.window, harness.window.composer).left() == at_first.left()
        harness.ask(qtbot, "Hello")
        assert place_in(harness.window, harness.window.composer).left() == at_first.left()


def test_title_and_chip_hold_to_their_edges(harness: AppHarness, qtbot: QtBot) -> None:
    header = harness.window.header
    places = set()
    for title in ("A", "A longer title", "A title that is much longer than the others are"):
        header.set_title(title)
        QApplication.processEvents()
        places.add((header.title.x(), header.chip.geometry().right()))
    assert len(places) == 1


def test_large_text_in_a_small_window_leaves_the_header_its_names(harness: AppHarness, qtbot: QtBot) -> None:
    window, header = harness.window, harness.window.header
    header.set_title("A title that is much longer than the others are")
    window.resize(720, 700)
    aside = [window.chat_settings.button, window.inspector.button]
    assert all(button.isVisible() for button in aside)
    harness.application.settings.text_scale = 2.0
    qtbot.waitUntil(lambda: not any(button.isVisible() for button in aside))
    QApplication.processEvents()
    shown = [each for each in (header.title, header.chip, header.show_button) if each.isVisible()]
    assert all(header.rect().contains(each.geometry()) for each in shown)
    assert header.chip.width() > 0.5 * header.width()
    harness.application.settings.text_scale = 1.0
    qtbot.waitUntil(lambda: all(button.isVisible() for button in aside))


def test_a_banner_grows_with_the_text(harness: AppHarness, qtbot: QtBot) -> None:
    banner = harness.window.banner
    harness.window.resize(720, 700)
    banner.show_warning(lambda: BannerText("A sentence that is long. " * 8, button="Do it"))
    QApplication.processEvents()
    low = banner.height()
    harness.application.settings.text_scale = 2.0
    layout = banner.layout()
    assert layout is not None
    qtbot.waitUntil(lambda: banner.height() > 2 * low)
    qtbot.waitUntil(lambda: banner.height() >= layout.totalHeightForWidth(banner.width()))


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_picker_has_one_left_edge(harness: AppHarness, scale: float) -> None:
    """Headings, ticks, segments and the icons of the buttons begin in one column, give or take their own air."""
    harness.application.settings.text_scale = scale
    window = harness.window
    window.resize(1400, 760)
    window.picker.open()
    picker = window.picker.panel
    QApplication.processEvents()
    image, ground = picker.grab().toImage(), harness.application.theme.palette.surface
    parts = [picker.main_heading, picker.search_button]
    lefts = [ink_left(image, ground, place_in(picker, part)) for part in parts]
    chosen = picker.mains.visualRect(picker.mains.currentIndex())  # the chosen one, with its tick
    tick = QRect(picker.mains.viewport().mapTo(picker, chosen.topLeft()), chosen.size())
    lefts.append(ink_left(image, ground, tick))
    segments = place_in(picker, picker.speculation.modes).left()
    lefts.append(segments)
    picker.close()
    assert max(lefts) - min(lefts) <= 4 * scale, lefts


def test_what_scrolls_out_of_the_composer_fades(harness: AppHarness) -> None:
    """A letter at the edge is fainter than one in the middle."""
    composer = harness.window.composer
    composer.edit.setReadOnly(True)  # without a blinking cursor
    composer.set_text("\n".join(["MMMM"] * 80))
    bar = composer.edit.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    QApplication.processEvents()
    image = composer.edit.grab(QRect(0, 0, 60, composer.edit.height())).toImage()
    ground = harness.application.theme.palette.surface
    strengths = [
        max(abs(image.pixelColor(x, y).lightness() - ground.lightness()) for x in range(image.width()))
        for y in range(image.height())
    ]
    middle = max(strengths[len(strengths) // 3 : 2 * len(strengths) // 3])
    assert middle > 100
    assert max(strengths[:2]) < middle / 3
    assert max(strengths[-2:]) < middle / 3


def test_drafts_stand_apart_from_main_models(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as harness:
        harness.window.picker.open()
        model = harness.window.picker.panel.mains.model()
        shown = [model.index(row, 0).data() for row in range(model.rowCount())]
        harness.window.picker.panel.close()
    drafts = [entry.name for entry in harness.models.models if entry.drafts_for and not entry.is_main]
    if drafts:
        assert shown.index("Used as drafts") < min(shown.index(name) for name in drafts)
    assert shown[0] == "Main-8B"


def test_painted_widgets_say_what_they_are(harness: AppHarness, qtbot: QtBot) -> None:
    """Through Qt's own interface, as a screen reader asks."""
    harness.ask(qtbot, "Hello")
    window = harness.window
    title = QAccessible.queryAccessibleInterface(window.header.title)
    assert (title.role(), title.text(QAccessible.Text.Name)) == (QAccessible.Role.StaticText, "Hello")
    window.composer.set_context(50, 100)
    ring = QAccessible.queryAccessibleInterface(window.composer.ring)
    assert (ring.role(), ring.text(QAccessible.Text.Value)) == (QAccessible.Role.ProgressBar, "50%")
    palette = QAccessible.queryAccessibleInterface(window.comfort.palette)
    assert palette.role() == QAccessible.Role.Dialog


def test_columns_are_narrow_again_after_large_text(qapp: QApplication) -> None:
    theme = Theme()
    table = RequestTable(theme, RequestTableModel())
    widths = [table.columnWidth(column) for column in RequestColumn]
    for scale in (2.0, 1.0):
        theme.set_scale(scale)
    assert [table.columnWidth(column) for column in RequestColumn] == widths


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_of_a_request_is_read_whole(harness: AppHarness, qtbot: QtBot, language: str) -> None:
    """And a settings window of the usual size has room for every column beside it."""
    harness.ask(qtbot, "Hello")
    harness.application.settings.language = language
    settings = harness.application.show_settings()
    assert settings is not None
    settings.show_page("speculation")
    QApplication.processEvents()
    table = settings.speculation.table
    seen, least = all_state_words(), QFontMetrics(table.font()).horizontalAdvance
    assert max(map(least, seen)) <= table.columnWidth(RequestColumn.STATE) - 14
    assert table.horizontalScrollBar().maximum() == 0
    for column, stats in ((RequestColumn.STATE, RequestStats()), (RequestColumn.STATE, STATS)):
        assert {cell_text(column, ReplyStatus.DONE, stats), second_line(column, stats)} <= seen | {""}


def test_a_row_that_comes_moves_no_column(harness: AppHarness, qtbot: QtBot) -> None:
    """A scroll bar of its own came for as long as the page took to give the table more room."""
    harness.ask(qtbot, "Hello")
    settings = harness.application.show_settings()
    assert settings is not None
    settings.show_page("speculation")
    QApplication.processEvents()
    table, widths = settings.speculation.table, set()
    table.horizontalHeader().sectionResized.connect(lambda *_: widths.add(table.viewport().width()))
    before = table.viewport().width()
    harness.ask(qtbot, "Once more")
    qtbot.waitUntil(lambda: table.height() == table.sizeHint().height())
    assert (table.model().rowCount(), widths - {before}) == (2, set())


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


def test_the_chip_names_both_models_where_there_is_little_room(harness: AppHarness, qtbot: QtBot) -> None:
    window, header = harness.window, harness.window.header
    pair = PairView("Hunch Starter", "Hunch Starter Draft", state=PairState.READY, draft_state=DraftState.ACTIVE)
    header.chip.set_pair(pair)
    QApplication.processEvents()
    assert shown_on(header) == ["Hunch Starter", "←", "Hunch Starter Draft", "· auto"]
    window.resize(720, 700)
    harness.application.settings.text_scale = 2.0
    qtbot.waitUntil(lambda: not window.inspector.button.isVisible())
    header.chip.set_pair(pair)
    QApplication.processEvents()
    assert shown_on(header)[:3] == ["Hunch Starter", "←", "Draft"]
    assert "Hunch Starter Draft" in header.chip.accessibleName()
    harness.application.settings.text_scale = 1.0
    qtbot.waitUntil(lambda: shown_on(header)[2:3] == ["Hunch Starter Draft"])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 59 + "…"),
        ("가" * 30, "가" * 30),
        ("가" * 31, "가" * 29 + "…"),
        ("R&D", "R&&D"),
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
        chats.rename_chat(chats.chat_id, "A&B " * 120)
        harness.wait_until_stored(qtbot)
    chats.folders.make()
    harness.wait_until_stored(qtbot)
    (folder_id,) = chats.conversations.tree.folders
    chats.folders.rename(folder_id, "C&D " * 120)
    chats.delete_chat(chats.chat_id)
    harness.wait_until_stored(qtbot)
    chats.open_chat(1)
    assert chats.chat_id == 1
    for menu, beginning in ((menus.deleted, "Restore “A&&B A&&B"), (menus.move, "C&&D C&&D")):
        menu.aboutToShow.emit()
        texts = [action.text() for action in menu.actions()]
        assert any(text.strip().startswith(beginning) for text in texts), texts
        assert menu.sizeHint().width() < 800


class PlaceWhenShown(QObject):
    """Where a window is as it is about to be shown; what is moved later, X11 may be told too late."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.place = QRect()
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget):
            self.place = watched.geometry()
        return False


@pytest.mark.skipif(sys.platform == "darwin", reason="a sheet, which the system places")
def test_a_dialog_is_in_its_place_before_it_is_shown(harness: AppHarness) -> None:
    window = harness.window
    dialog = Dialog(harness.application.theme, window, lambda: DialogText("Title", "Sentence " * 30, act="Close"))
    shown = PlaceWhenShown(dialog)
    dialog.open()
    assert shown.place == dialog.geometry()
    assert dialog.geometry().center().x() == pytest.approx(window.geometry().center().x(), abs=1)
    assert dialog.y() > window.geometry().y()


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
    (tmp_path / "none.conf").write_text(f"<fontconfig><dir>{tmp_path}/none</dir></fontconfig>")
    child = subprocess.run(
        [sys.executable, "-c", _LETTERS],
        env=os.environ | {"FONTCONFIG_FILE": str(tmp_path / "none.conf")},
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    assert child.stdout == "DejaVu Sans True\n"
