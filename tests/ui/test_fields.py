"""Fields that change only when one means them to, and that can be read after a switch of theme."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.settings.options import LONGEST_PROMPT, OptionalField, PromptField
from app.views.shell.composer import Composer
from app.views.widgets.buttons import PillButton
from app.views.widgets.cards import Page, SettingRow
from app.views.widgets.fields import LineField, NumberField, WholeField
from app.views.widgets.search_field import SearchField
from tests.helpers.composing import compose, paste
from tests.helpers.stillness import still
from tests.helpers.tooltips import tooltip_text


def luminance(color: QColor) -> float:
    channels = (color.redF(), color.greenF(), color.blueF())
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, other: QColor) -> float:
    """As the WCAG has it: 4.5 is needed to read text."""
    lights = sorted(luminance(color) + 0.05 for color in (one, other))
    return lights[1] / lights[0]


def shown_contrast(field: QWidget, ground: QColor) -> float:
    """Of what is shown where the letters are."""
    image = field.grab(QRect(30, 4, 70, field.height() - 8)).toImage()
    image.convertTo(image.Format.Format_RGB32)
    edges = {image.pixelColor(0, y).rgb() for y in range(image.height())}
    colors = {image.pixelColor(x, y).rgb() for x in range(image.width()) for y in range(image.height())}
    return max((contrast(QColor(color), ground) for color in colors - edges), default=0.0)


@pytest.mark.parametrize("kind", [SearchField, LineField, Composer])
def test_typed_text_can_be_read_after_a_switch_of_theme(qtbot: QtBot, kind: type) -> None:
    window = QWidget()
    theme = Theme(window)
    field = kind(theme, parent=window)
    layout = QVBoxLayout(window)
    layout.addWidget(field)
    qtbot.addWidget(window)
    window.show()
    if isinstance(field, QLineEdit):
        field.setText("MMMMMMMMMMM")
    else:
        field.set_text("MMMMMMMMMMM")
    for appearance in ("light", "dark", "light"):
        theme.set_appearance(appearance)
        still()
        inner = field if isinstance(field, QLineEdit) else field.edit
        inner.setReadOnly(True)  # without a blinking cursor
        background = theme.palette.sidebar if kind is SearchField else theme.palette.surface
        assert shown_contrast(inner, background) > 7, appearance


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_number_has_room_whatever_is_done_with_its_field(qtbot: QtBot, scale: float) -> None:
    """Qt would give it one pixel."""
    theme = Theme()
    fields: list[NumberField | WholeField] = [NumberField(theme, (0.0, 2.0), 0.1, 96), WholeField(theme, 0, 65535, 96)]
    for field in fields:
        qtbot.addWidget(field)
        field.stepBy(1 << 16)  # to its maximum
        field.show()
    theme.set_scale(scale)
    theme.set_appearance("dark")
    for field in fields:
        edit = field.lineEdit()
        assert edit.width() > edit.fontMetrics().horizontalAdvance(edit.text())
        assert field.rect().contains(edit.geometry())


def test_a_comma_and_a_point_are_both_the_decimal_mark(qtbot: QtBot) -> None:
    field = NumberField(Theme(), (0.0, 2.0), 0.1, 60)
    qtbot.addWidget(field)
    field.show()
    for typed in ("0,5", "0.5", ",5", "0,,5"):
        field.setValue(0.9)
        field.selectAll()
        QTest.keyClicks(field, typed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert field.value() == 0.5, typed


def test_the_wide_digits_of_an_input_method_are_a_number(qtbot: QtBot) -> None:
    decimal, whole = NumberField(Theme(), (0.0, 2.0), 0.1, 60), WholeField(Theme(), 1, 9999, 60)
    for field, committed, entered in ((decimal, "０．５", 0.5), (decimal, "０，５", 0.5), (whole, "４０９６", 4096)):
        qtbot.addWidget(field)
        field.show()
        field.setValue(1)
        field.selectAll()
        compose(field.lineEdit(), "", committed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert field.value() == entered, committed
    seed = OptionalField(Theme(), "seed")
    qtbot.addWidget(seed)
    compose(seed, "", "４０９６")
    assert seed.text() == "4096"


def test_a_button_in_a_row_is_called_by_the_row_and_by_what_it_does(qtbot: QtBot) -> None:
    button = PillButton(Theme())
    row = SettingRow(Theme(), button)
    qtbot.addWidget(row)
    for words, action in (("Log", "Show"), ("Log", "Hide"), ("Protocol", "Hide")):
        row.set_words(words)
        button.setText(action)
        assert button.accessibleName() == f"{words}, {action}"


def test_a_number_beyond_the_limits_becomes_the_nearest(qtbot: QtBot) -> None:
    decimal, whole = NumberField(Theme(), (0.0, 2.0), 0.1, 60), WholeField(Theme(), 1, 32, 60)
    for field, typed, entered in (
        (decimal, "9", 2.0),
        (decimal, "7,25", 2.0),
        (decimal, "-3", 0.0),
        (decimal, "1.567", 1.57),
        (decimal, "1e999", 2.0),  # as 1999: no letter can be typed
        (decimal, "nan", 1.0),
        (decimal, "", 1.0),
        (whole, "99999999999999999999", 32),
        (whole, "0", 1),
        (whole, "-7", 1),
        (whole, "-", 1),
        (decimal, "-", 1.0),
        (whole, "6.5", 6),
    ):
        qtbot.addWidget(field)
        field.show()
        field.setValue(1)
        chosen: list[object] = []
        field.chosen.connect(chosen.append)
        field.selectAll()
        QTest.keyClicks(field, typed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        field.chosen.disconnect(chosen.append)
        assert (field.value(), chosen) == (entered, [entered] if entered != 1 else []), typed
        assert field.text() in (f"{entered:.2f}", str(entered)), typed


@pytest.mark.parametrize("focused", [True, False])
def test_the_wheel_scrolls_the_page_and_changes_no_field(qtbot: QtBot, focused: bool) -> None:
    theme = Theme()
    page = Page(theme)
    fields: list[NumberField | WholeField] = [NumberField(theme, (0.0, 2.0), 0.1, 96), WholeField(theme, 0, 100, 96)]
    for field in fields:
        field.setValue(1)
        page.column.addWidget(field)
    page.column.addSpacing(3000)
    page.resize(400, 300)
    qtbot.addWidget(page)
    page.show()
    page.activateWindow()
    for number, field in enumerate(fields):
        if focused:
            field.setFocus(Qt.FocusReason.MouseFocusReason)
        before = page.verticalScrollBar().value()
        page.verticalScrollBar().setValue(before)
        QTest.wheelEvent(page.windowHandle(), field.mapTo(page, field.rect().center()), QPoint(0, -120))
        still()
        assert field.value() == 1
        assert page.verticalScrollBar().value() > before or number
        page.verticalScrollBar().setValue(0)
    QTest.keyClick(fields[1], Qt.Key.Key_Up)
    assert fields[1].value() == 2


def test_a_prompt_takes_as_much_as_its_limit_and_says_what_it_leaves_out(qtbot: QtBot) -> None:
    field = PromptField(Theme())
    qtbot.addWidget(field)
    field.set_text("ab")
    field.moveCursor(QTextCursor.MoveOperation.Start)
    heard: list[int] = []
    field.textChanged.connect(lambda: heard.append(len(field.text())))
    lines = "x\n" * (LONGEST_PROMPT // 2 - 2) + "x"
    paste(field, lines + "😀" * 10)
    assert field.text() == lines + "😀ab", "and no half of a character"
    assert max(heard) <= LONGEST_PROMPT, "nobody is told of more"
    assert "100,000" in tooltip_text()
    QTest.keyClicks(field, "yz")
    QTest.keyClick(field, Qt.Key.Key_Return)
    compose(field, "", "한국")
    assert field.text() == lines + "😀ab"
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    QTest.keyClicks(field, "yz")
    assert field.text() == lines + "yab"
    field.undo()
    field.undo()
    field.undo()
    assert field.text() == "ab"


def test_a_longer_prompt_from_elsewhere_stays_as_long_as_it_was(qtbot: QtBot) -> None:
    field = PromptField(Theme())
    qtbot.addWidget(field)
    field.set_text("x" * (LONGEST_PROMPT + 10))
    QTest.keyClicks(field, "yz")
    assert field.text() == "x" * (LONGEST_PROMPT + 10)
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    field.undo()
    assert field.text() == "x" * (LONGEST_PROMPT + 10)


def test_spaces_that_hold_words_together_stay(qtbot: QtBot) -> None:
    field = PromptField(Theme())
    qtbot.addWidget(field)
    field.set_value("100\u00a0km, «\u202foui\u202f»")
    field.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(field, "!")
    assert field.text() == "100\u00a0km, «\u202foui\u202f»!"
