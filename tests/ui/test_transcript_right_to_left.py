"""Hebrew and Arabic in a reply: columns of tables, and inline code among such words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextTable
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markup.copying import table_of
from app.markup.links import links_of, places_of
from app.view_models.transcript import ReplyStatus
from app.views.transcript.parts import PartKind
from app.views.transcript.text_parts import TablePart
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import Opener, TranscriptHarness, reply, selected_words

HEBREW = """| שם | תיאור ארוך מאוד | Price |
|---|---|---:|
| אבא | [קישור](https://a.example/b) | 12 |
| x | y `z` | 1,200 |
"""
ARABIC = "| 1 | **الاسم** |\n|---|---|\n| 7 | abc |\n"
ENGLISH = "| Name | תיאור |\n|---|---|\n| אבא | b |\n"


def opened(qtbot: QtBot, text: str, width_px: int = 800) -> TranscriptHarness:
    harness = TranscriptHarness([reply(1, text)])
    qtbot.addWidget(harness.view)
    harness.view.resize(width_px, 600)
    still()
    return harness


def table_in(harness: TranscriptHarness) -> tuple[TablePart, QTextTable]:
    (part,) = harness.parts(PartKind.TABLE)
    assert isinstance(part.widget, TablePart)
    table = table_of(part.widget.document())
    assert table is not None
    return part.widget, table


def cells(table: QTextTable) -> list[list[tuple[int, int]]]:
    """First and last character of each."""
    rows = [[table.cellAt(row, column) for column in range(table.columns())] for row in range(table.rows())]
    return [[(cell.firstPosition(), cell.lastPosition()) for cell in row] for row in rows]


@pytest.mark.parametrize(("text", "from_right"), [(HEBREW, True), (ARABIC, True), (ENGLISH, False)])
def test_columns_run_as_the_table_s_words_are_read(qtbot: QtBot, text: str, from_right: bool) -> None:
    """They ran from left to right whatever the words were."""
    widget, table = table_in(opened(qtbot, text))
    for row in cells(table):
        places = [[widget.rect_of(char).x() for char in range(first, last + 1)] for first, last in row]
        for one, other in pairwise(places):
            assert min(one) > max(other) if from_right else max(one) < min(other)
    right = max(widget.rect_of(char).right() for char in range(*cells(table)[0][0]))
    assert (right > widget.width() - 12) == from_right


def test_the_pointer_finds_the_characters_where_they_are_seen(qtbot: QtBot) -> None:
    widget, table = table_in(opened(qtbot, HEBREW))
    for row in cells(table):
        for first, last in row:
            for char in range(first, last + 1):
                found = widget.char_at(widget.rect_of(char).center())
                assert widget.rect_of(found) == widget.rect_of(char)


def test_what_is_selected_and_copied_is_in_the_order_of_the_text(qtbot: QtBot) -> None:
    harness = opened(qtbot, HEBREW)
    widget, table = table_in(harness)
    (_, _), (start, _), _ = cells(table)[1]
    view = harness.view
    at = [widget.rect_of(char).center() - QPoint(1, 0) for char in (cells(table)[0][0][0], start + 2)]
    press, release = (widget.mapTo(view, each) for each in at)
    viewport = view.childAt(press)
    assert viewport is not None
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=viewport.mapFrom(view, press))
    QTest.mouseMove(viewport, viewport.mapFrom(view, release))
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=viewport.mapFrom(view, release))
    assert selected_words(widget) == ["שם", "תיאור ארוך מאוד", "Price", "אבא", "קי"]
    view.copy()
    assert QApplication.clipboard().text() == "שם\tתיאור ארוך מאוד\tPrice\nאבא\tקי\t"


def test_a_link_is_followed_where_it_is_seen_and_nowhere_else(qtbot: QtBot) -> None:
    harness = opened(qtbot, HEBREW)
    widget, _ = table_in(harness)
    asked: list[str] = []
    widget.context.link_requested.connect(asked.append)
    (link,) = links_of(widget.document())
    (place,) = places_of(link, widget.document())
    for x in range(0, widget.width(), 4):
        at = QPoint(x, round(place.center().y()))
        QTest.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert (widget.anchorAt(at) == link.address) == bool(asked) == (place.left() <= x <= place.right())
        asked.clear()


def test_a_growing_table_ends_as_the_whole_one(open_transcript: Opener, qtbot: QtBot) -> None:
    whole = opened(qtbot, HEBREW)
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    for at in range(0, len(HEBREW), 3):
        harness.model.append_text(1, HEBREW[at : at + 3])
    harness.model.change(1, status=ReplyStatus.DONE)
    still()
    assert table_in(harness)[0].grab().toImage() == table_in(whole)[0].grab().toImage()
