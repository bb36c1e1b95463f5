"""Replies that are JSON: which are tables, how they are shown, and what a spreadsheet reads of them."""

from __future__ import annotations

import csv
import html
import io
import json
import random
from typing import Any

import pytest

from app.markup.json_text import FENCE, Indented, ShownReply, as_csv, as_markdown, may_be_json, read, table_of

ODD = [
    "",
    " ",
    "a|b",
    "*b*",
    "[x](y)",
    "<b>",
    "$x$",
    "=1+1",
    "+1",
    "-1",
    "@a",
    "\t=1",
    'say "hi"',
    "a,b",
    "two\nlines",
    "가, 나",
    "\r",
]


def random_value(source: random.Random, depth: int = 0) -> Any:
    kinds = ["text", "number", "flag", "none"] + ["list", "object"] * (depth < 4)
    match source.choice(kinds):
        case "list":
            return [random_value(source, depth + 1) for _ in range(source.randrange(4))]
        case "object":
            return {source.choice(ODD) + str(at): random_value(source, depth + 1) for at in range(source.randrange(4))}
        case "number":
            return source.choice([0, -3, 1.5, 10**30, -2e-7])
        case "flag":
            return source.random() < 0.5
        case "none":
            return None
    return source.choice(ODD) + source.choice(ODD)


def test_lines_of_json_are_the_same_json_and_only_grow() -> None:
    for seed in range(300):
        source = random.Random(seed)
        value = [random_value(source)]
        text = json.dumps(value, ensure_ascii=seed % 2 == 0)
        whole = Indented().text(text, complete=True)
        assert json.loads(whole) == value
        growing = Indented()
        before = ""
        for end in sorted(source.sample(range(len(text)), min(8, len(text)))):
            now = growing.text(text[:end], complete=False)
            assert now.startswith(before)
            before = now
        assert growing.text(text, complete=True) == whole


def test_lines_are_indented() -> None:
    shown = Indented().text('{"a": [1, {"b": []}], "c": {}}', complete=True)
    assert shown == '{\n  "a": [\n    1,\n    {\n      "b": []\n    }\n  ],\n  "c": {}\n}'


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('[{"a": 1, "b": null}, {"b": true, "c": "x"}]', ("a", "b", "c")),
        ('{"rows": [{"a": 1}]}', ("a",)),
        ('[{"a": [1]}]', None),
        ('[{"a": 1}, 2]', None),
        ("[]", None),
        ("[{}]", None),
        ('{"a": 1, "b": 2}', None),
    ],
)
def test_a_table_is_a_list_of_flat_objects(text: str, columns: tuple[str, ...] | None) -> None:
    table = table_of(read(text))
    assert (None if table is None else table.columns) == columns


@pytest.mark.parametrize(
    "text", ["[1] says", "[a](b)", "{a}", "Hello", '{"a": NaN}', '{"a": 1', '{"a": 1} x', "[" * 100_000, "1", '"a"']
)
def test_what_is_no_json_as_a_whole_is_not_read(text: str) -> None:
    assert read(text) is None


def test_a_reply_that_begins_like_json_is_shown_so_while_it_is_written() -> None:
    assert [may_be_json(each) for each in ('{"a', '[{"', '["a', "[[1", " {}", "[link](x)", "[1", "{x")] == [
        True
    ] * 5 + [False] * 3


def unescaped(cell: str) -> str:
    return cell.removeprefix("'") if cell.startswith("'") and cell[1:2] in tuple("=+-@\t\r") else cell


def test_a_spreadsheet_reads_the_same_cells_and_no_formula() -> None:
    """By csv's own reader, which is no part of what is tested."""
    for seed in range(200):
        source = random.Random(seed)
        rows = [{f"c{at}": source.choice([*ODD, -5, 1.25, None, True]) for at in range(3)} for _ in range(5)]
        table = table_of(read(json.dumps(rows)))
        assert table is not None
        written = as_csv(table)
        assert written.endswith("\r\n")
        head, *cells = csv.reader(io.StringIO(written, newline=""), strict=True)
        assert head == ["c0", "c1", "c2"]
        for row, given in zip(cells, rows, strict=True):
            for cell, value in zip(row, given.values(), strict=True):
                if isinstance(value, str):
                    assert unescaped(cell) == value
                    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
                else:
                    assert cell == {None: "", True: "true", -5: "-5", 1.25: "1.25"}[value]


def test_numbers_stay_as_they_are_written() -> None:
    table = table_of(read('[{"a": 1.50, "b": 123456789012345678901234567890, "c": -1e5}]'))
    assert table is not None
    assert as_csv(table) == "a,b,c\r\n1.50,123456789012345678901234567890,-1e5\r\n"


def test_markdown_has_every_word_and_none_of_their_marks() -> None:
    shown = as_markdown(read(json.dumps({"*a*": ["[x](y)", {"b": "$1$", "c": [], "f": False}], "d": "two\nlines"})))
    assert html.unescape(shown).splitlines() == [
        "- ***a***",
        "  - [x](y)",
        "  - 2",
        "    - **b**: $1$",
        "    - **c**: –",
        "    - **f**: false",
        "- **d**: two lines",
    ]
    assert "[" not in shown
    assert "$" not in shown


def test_a_name_without_letters_is_a_dash() -> None:
    assert as_markdown({"": "x", " ": [1]}).splitlines() == ["- **–**: x", "- **–**", "  - 1"]


def test_a_long_table_comes_in_pieces_with_heads() -> None:
    shown = as_markdown([{"a": str(row)} for row in range(1000)])
    pieces = shown.split("\n\n")
    assert len(pieces) == 10
    assert all(piece.startswith("| a |\n|---|\n") for piece in pieces)
    assert sum(piece.count("\n") - 1 for piece in pieces) == 1000


def test_a_deep_tree_ends_in_one_line() -> None:
    value: Any = 1
    for _ in range(50):
        value = [value]
    assert len(as_markdown(value).splitlines()) == 9


@pytest.mark.parametrize(
    "text", ['{"a": 1}\n\nis **valid** JSON', "[[1, 2]] is a matrix", "[ ] Buy milk", "{} means none"]
)
def test_words_after_what_begins_like_json_are_shown_as_written(text: str) -> None:
    assert ShownReply().of(text, growing=False, raw=False) == text
    shown = ShownReply()
    growing = [shown.of(text[: end + 1], growing=True, raw=False) for end in range(3, len(text))]
    assert growing[-1] == text
    assert shown.of(text, growing=False, raw=False) == text


@pytest.mark.parametrize("text", ['{"a": 1', '[{"name": "a b", "n":', '{"a": 1}\n{"b": 2}\n', '{"a": "x} y'])
def test_json_without_words_after_it_is_on_lines(text: str) -> None:
    assert ShownReply().of(text, growing=False, raw=False).startswith(FENCE)


def test_json_that_was_cut_short_goes_on_where_it_was() -> None:
    shown = ShownReply()
    shown.of('[{"na', growing=False, raw=False)
    text = '[{"name": "a b", "c": "d e"'
    assert shown.of(text, growing=True, raw=False) == ShownReply().of(text, growing=True, raw=False)
