"""Lists in a document: bullets and numbers, and copies of them as Markdown."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.markup.block import BlockKind
from app.markup.blocks import split
from app.markup.copying import length_of, markdown, plain_text
from tests.unit.test_markup_notes import written


@pytest.mark.usefixtures("qapp")
def test_an_item_that_begins_with_a_heading_has_its_number() -> None:
    (block,) = split("1. ### One\n   Words\n2. ### Two\n")
    document = written(block)
    assert plain_text(document, 0, length_of(document)) == "1. One\nWords\n2. Two"


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("first", ["```sh\n   make\n   ```", "$$x$$", "| a |\n   |---|\n   | b |"])
def test_an_item_that_begins_with_code_a_formula_or_a_table_has_its_number(first: str) -> None:
    blocks = split(f"1. {first}\n\n   Words\n2. {first}\n")
    number, island, words, next_island = blocks
    texts = [written(each).toPlainText() for each in (number, words)]
    assert texts == ["1.  ", "Words\n2.  "]
    assert island.kind is next_island.kind is not BlockKind.TEXT
    assert [each.shared for each in blocks] == [0, 1, 1, 1]


@pytest.mark.usefixtures("qapp")
def test_a_heading_of_a_list_that_is_read_from_the_right_is_indented_from_there() -> None:
    (block,) = split("1. ### שלום\n")
    document = written(block)
    heading = document.firstBlock()
    assert heading.textDirection() == Qt.LayoutDirection.RightToLeft
    form = heading.blockFormat()
    assert (form.leftMargin(), form.rightMargin() > 0) == (0, True)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    "source",
    [
        "1. One\n\n    More of it\n2. Two\n    - Within\n\n        More of that",
        "9. Nine\n10. Ten\n    - Within ten\n        - Within that\n11. Eleven",
        "> One\n>\n> Two\n>\n> - Three\n>\n>     More of it",
        "- One\n\n    > Two\n\n    Three",
        "> - One\n>\n>     > Two",
        "**`name`:** of ***all* of it**, [**one** `of` them](https://docs.example) and ~~no more~~",
        "See [`os.path`](https://docs.example/os) and [**all**](https://docs.example) [of it\\_](https://a.example).",
        "Write `` `code` ``, ``a`b`` and ``` ``x`` ``` for `code`.",
    ],
)
def test_a_copy_is_read_as_it_was_shown(source: str) -> None:
    (block,) = split(source)
    document = written(block)
    assert markdown(document, 0, length_of(document)) == source


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("source", "words", "copied"),
    [
        ("- One two\n\n    Three", "two", "two\n\nThree"),
        ("- One two\n- Three\n\n    Four", "two", "two\n- Three\n\n    Four"),
        ("- One\n    - Two\n    - Three\n- Four", "•\u00a0\u00a0Two", "- Two\n- Three\n- Four"),
    ],
)
def test_a_copy_from_within_a_list_is_no_code(source: str, words: str, copied: str) -> None:
    (block,) = split(source)
    document = written(block)
    start = document.toPlainText().index(words.replace("\u00a0", " "))
    assert markdown(document, start, length_of(document)) == copied
