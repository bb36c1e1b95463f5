"""A chat whose replies are held to a JSON schema: its field, its requests, and what is stored."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.schemas import columns_in, keys_schema, kind_of, list_schema, problem_of, table_schema
from app.option_checks import LONGEST_SCHEMA, schema
from app.view_models.chat_options import Scope
from app.views.settings.schema_field import SchemaField
from engine import Constraint, ConstraintKind, FinishReason
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import MAIN, Script
from tests.helpers.tooltips import tooltip_text

pytestmark = pytest.mark.usefixtures("qapp")
CHAT = Scope.CHAT


def field_of(app: AppHarness) -> SchemaField:
    if not app.window.chat_settings._is_open:
        app.window.chat_settings.toggle_panel()
    field = app.window.chat_settings.panel.fields["schema"].field
    assert isinstance(field, SchemaField)
    return field


def stored(app: AppHarness) -> object:
    return app.chats.options.view(CHAT).own.get("schema")


def test_ready_schemas_and_columns_that_one_names(app: AppHarness, qtbot: QtBot) -> None:
    field = field_of(app)
    assert (field.choice.text(), field.columns.isVisible(), field.own.isVisible()) == ("Free text", False, False)
    field.choice.choose("list")
    assert stored(app) == list_schema()
    field.choice.choose("table")
    assert stored(app) == list_schema()  # a table without columns is none yet
    field.columns.setText("name, 값，name;  a b")
    assert json.loads(str(stored(app)))["items"]["required"] == ["name", "값", "a b"]
    app.ask(qtbot, "One")
    assert app.engine.requests[-1].constraint == Constraint(ConstraintKind.JSON, table_schema(["name", "값", "a b"]))
    app.chats.new_chat()
    assert (stored(app), field_of(app).choice.text()) == (None, "Free text")
    app.ask(qtbot, "Two")
    assert app.engine.requests[-1].constraint is None


def test_one_of_ones_own_is_checked_as_it_is_typed(app: AppHarness) -> None:
    field = field_of(app)
    field.choice.choose("keys")
    field.choice.choose("own")
    assert field.own.text() == keys_schema()
    for typed, said in (
        ('{"type": "array",\n"items"', "Not JSON: look at line 2."),
        ("[1]", "A JSON schema is an object"),
        ('{"not": {}}', "Replies cannot be held to this: Unimplemented"),
        ("{" + " " * LONGEST_SCHEMA + "}", "Too long: at most 20,000 characters."),
    ):
        field.own.setPlainText(typed)
        assert field.fault.isVisible()
        assert field.fault.text().startswith(said), typed[:40]
        assert stored(app) == keys_schema()
    field.own.setPlainText('{"type": "integer"}')
    assert not field.fault.isVisible()
    assert (stored(app), field.choice.text()) == ('{"type": "integer"}', "JSON schema")
    field.own.setPlainText(" ")
    assert stored(app) == ""


def test_a_preset_holds_it(app: AppHarness) -> None:
    options = app.chats.options
    options.put(CHAT, "schema", list_schema())
    options.save_preset("Lists")
    assert app.application.settings.presets[0]["values"] == {"schema": list_schema()}
    assert options.here.request((), "").constraint is not None
    assert field_of(app).choice.text() == "List"


def test_a_reply_that_goes_on_is_not_begun_again(app: AppHarness, qtbot: QtBot) -> None:
    app.chats.options.put(CHAT, "schema", list_schema())
    app.engine.scripts.append(Script(pieces=('["a', '", "b'), finish=FinishReason.LENGTH))
    app.ask(qtbot, "One")
    app.engine.scripts.append(Script(pieces=('"]',)))
    app.chats.asking.continue_reply(app.chats.transcript.messages[-1].id)
    app.wait_until_quiet(qtbot)
    assert app.chats.transcript.messages[-1].text == '["a", "b"]'
    held = Constraint(ConstraintKind.JSON, list_schema())
    assert [each.constraint for each in app.engine.requests] == [held, held]


def test_a_reply_that_was_not_held_to_the_form_goes_on_freely(app: AppHarness, qtbot: QtBot) -> None:
    app.engine.scripts.append(Script(pieces=("Well, ",), finish=FinishReason.LENGTH))
    app.ask(qtbot, "One")
    app.chats.options.put(CHAT, "schema", list_schema())
    app.engine.scripts.append(Script(pieces=("so.",)))
    app.chats.asking.continue_reply(app.chats.transcript.messages[-1].id)
    app.wait_until_quiet(qtbot)
    assert [each.constraint for each in app.engine.requests] == [None, None]


def test_the_model_is_told_the_schema(app: AppHarness, qtbot: QtBot) -> None:
    app.chats.options.put(CHAT, "system_prompt", "Be brief.")
    app.chats.options.put(CHAT, "schema", list_schema())
    app.ask(qtbot, "One")
    said = app.engine.requests[-1].messages[0].content
    assert said.startswith("Be brief.\n\nAnswer in JSON that matches this JSON schema")
    assert json.loads(said.splitlines()[-1]) == json.loads(list_schema())


def test_a_model_that_cannot_keep_to_a_form_says_so_before_anything_is_sent(app: AppHarness, qtbot: QtBot) -> None:
    free = replace(MAIN, folder="/models/Free-8B", name="Free-8B", no_grammar=True)
    app.engine.models[free.folder] = free
    app.models.choose_main(free.folder)
    qtbot.waitUntil(app.is_settled)
    assert not app.models.keeps_forms
    app.chats.options.put(CHAT, "schema", list_schema())
    field = field_of(app)
    words = "Free 8B cannot keep to a form. Choose Free text in the chat settings."
    assert (field.fault.isVisible(), field.fault.text()) == (True, words)
    app.window.composer.send("One")
    assert (app.engine.requests, tooltip_text()) == ([], words)
    field.choice.choose("")
    assert not field.fault.isVisible()
    app.window.composer.send("One")
    app.wait_until_quiet(qtbot)
    assert len(app.engine.requests) == 1


@pytest.mark.parametrize("value", [7, "{", "[]", "[" * 100_000, '{"a": "' + "x" * LONGEST_SCHEMA + '"}'])
def test_what_is_no_schema_is_not_kept(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        schema(value)


def test_ready_ones_can_be_enforced_and_are_known_again() -> None:
    assert [problem_of(each) for each in (list_schema(), keys_schema(), table_schema(["a", '"b"']))] == [None] * 3
    assert kind_of(table_schema(["a", '"b"'])) == ("table", ["a", '"b"'])
    assert kind_of('{"items": 3}') == ("own", [])
    assert columns_in(" , ;") == []
