"""Replies that are JSON in the transcript: raw while they are written, then a table or a tree, and as CSV."""

from __future__ import annotations

import json

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markup.block import Block
from app.markup.json_text import as_csv, read, table_of
from app.views.transcript.message_footer import message_menu
from app.views.transcript.parts import PartKind
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import Script
from tests.helpers.stillness import still

pytestmark = pytest.mark.usefixtures("qapp")
TABLE = [{"name": "a|*b*", "price": -2.5}, {"name": "=1+1", "price": None}]


def answer(app: AppHarness, qtbot: QtBot, text: str) -> None:
    middle = len(text) // 2
    app.engine.scripts.append(Script(pieces=(text[:middle], text[middle:])))
    app.ask(qtbot, "Go")
    still()


def shown(app: AppHarness) -> list[tuple[PartKind, str]]:
    """Kinds and words of the last reply's parts."""
    item = app.transcript.items[-1]
    blocks = [(part.kind, part.document) for part in item.parts if isinstance(part.content, Block)]
    return [(kind, "" if document is None else document.toPlainText()) for kind, document in blocks]


def acts(app: AppHarness) -> dict[str, QAction]:
    view = app.transcript
    menu = message_menu(view.copier.context, view.items[-1].message, view)
    return {action.text(): action for action in menu.actions()}


def copied() -> str:
    return QApplication.clipboard().text()


def test_a_list_of_flat_objects_is_a_table_and_json_again(app: AppHarness, qtbot: QtBot) -> None:
    text = json.dumps(TABLE)
    answer(app, qtbot, text)
    assert shown(app) == [(PartKind.TABLE, "\nname\nprice\na|*b*\n-2.5\n=1+1\n\n")]
    acts(app)["Copy as JSON"].trigger()
    assert copied() == text
    acts(app)["Copy as CSV"].trigger()
    table = table_of(read(text))
    assert table is not None
    assert copied().splitlines() == as_csv(table).splitlines() == ["name,price", "a|*b*,-2.5", "'=1+1,"]
    acts(app)["Show JSON"].trigger()
    still()
    ((kind, words),) = shown(app)
    assert kind is PartKind.CODE
    assert json.loads(words) == TABLE
    acts(app)["Show as Table"].trigger()
    still()
    assert [kind for kind, _ in shown(app)] == [PartKind.TABLE]


def test_other_json_is_a_tree_and_has_no_csv(app: AppHarness, qtbot: QtBot) -> None:
    answer(app, qtbot, '{"title": "$x$ and $y$", "parts": [1, {"a": "[b](c)"}]}')
    words = "\n".join(text for _, text in shown(app))
    for each in ("title: $x$ and $y$", "parts", "a: [b](c)"):
        assert each in words
    assert "Copy as CSV" not in acts(app)
    assert "Show JSON" in acts(app)


def test_it_is_json_on_lines_while_it_is_written(app: AppHarness, qtbot: QtBot) -> None:
    app.engine.gate.hold()
    app.engine.scripts.append(Script(pieces=('[{"name": "*a', '*", "n": 1}', "]")))
    app.window.composer.send("Go")
    qtbot.waitUntil(lambda: len(app.chats.transcript.messages) == 2)
    for seen in ('[\n  {\n    "name": "*a', '[\n  {\n    "name": "*a*",\n    "n": 1\n  }'):
        app.engine.gate.let_through(1)
        qtbot.waitUntil(lambda: shown(app) == [(PartKind.CODE, seen)])  # noqa: B023
    app.engine.gate.open()
    app.wait_until_quiet(qtbot)
    still()
    assert [kind for kind, _ in shown(app)] == [PartKind.TABLE]


def test_what_was_cut_short_and_what_is_no_json_stay_as_they_are(app: AppHarness, qtbot: QtBot) -> None:
    answer(app, qtbot, '[{"name": "a", "n":')
    assert [kind for kind, _ in shown(app)] == [PartKind.CODE]
    assert "Show JSON" not in acts(app)
    answer(app, qtbot, "[Hunch](https://example.org) is **here**.")
    assert shown(app) == [(PartKind.TEXT, "Hunch is here.")]
    assert "Copy as Markdown" in acts(app)


def test_words_are_found_and_selected_in_a_table(app: AppHarness, qtbot: QtBot) -> None:
    answer(app, qtbot, json.dumps([{"name": f"row {number}", "n": number} for number in range(2000)]))
    view = app.transcript
    assert sum(part.widget is not None for part in view.items[-1].parts) < 20
    view.finder.find("row 1999")
    qtbot.waitUntil(lambda: not view.finder.is_reading)
    assert view.finder.count == 1
