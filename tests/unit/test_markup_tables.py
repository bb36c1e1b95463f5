"""Copies of what is selected in a table."""

from __future__ import annotations

import pytest

from app.markup.blocks import split
from app.markup.copying import length_of, markdown, plain_text
from tests.unit.test_markup_notes import written

_TABLE = "| Name | Price | Note |\n|---|---|---|\n| Tea | **4.50** | green |\n| Milk | 1 | |\n"
_HEAD = "| Name | Price | Note |\n| --- | --- | --- |\n"


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("first", "last", "plain", "marked"),
    [
        ("4.50", "4.50", "4.50", "**4.50**"),
        ("Price", "Price", "Price", "Price"),
        ("4.50", "green", "4.50\tgreen", "| Price | Note |\n| --- | --- |\n| **4.50** | green |"),
        ("green", "Milk", "\t\tgreen\nMilk\t\t", f"{_HEAD}|  |  | green |\n| Milk |  |  |"),
        ("Note", "Tea", "\t\tNote\nTea\t\t", f"{_HEAD}| Tea |  |  |"),
        ("Price", "Note", "Price\tNote", "| Price | Note |\n| --- | --- |"),
    ],
)
def test_of_a_single_row_only_the_selected_cells_are_copied_and_markdown_has_the_head(
    first: str, last: str, plain: str, marked: str
) -> None:
    (block,) = split(_TABLE)
    document = written(block)
    text = document.toPlainText()
    start = text.index(first)
    end = text.index(last) + len(last)
    assert plain_text(document, start, end) == plain
    assert markdown(document, start, end) == marked
    assert markdown(document, 0, 1) == "", "what is selected ends just before its first cell"


@pytest.mark.usefixtures("qapp")
def test_a_break_in_a_cell_is_copied_without_ending_the_row() -> None:
    source = "| Day | Plan |\n| --- | --- |\n| 1 | Walk<br>Rest |"
    (block,) = split(source)
    document = written(block)
    whole = length_of(document)
    assert "Walk\nRest" in document.toPlainText()
    assert plain_text(document, 0, whole) == "Day\tPlan\n1\tWalk Rest"
    assert markdown(document, 0, whole) == source
    (heading,) = split("## One<br>two")
    assert markdown(written(heading), 0, len("One two")) == "## One<br>two"
