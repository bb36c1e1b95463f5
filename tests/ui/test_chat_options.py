"""What a chat asks for otherwise than the settings: own options, presets, defaults of a model, and their panel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.controllers.chat_options import OPTIONS, resolve
from app.settings import Settings
from app.view_models.chat_options import Scope
from app.view_models.model_list import PairState, PairView
from app.views.settings.options import PromptField, ThinkingField
from app.views.settings.speculation_controls import SpeculationControls
from app.views.shell.chat_settings import ChatSettings
from app.views.widgets.fields import NumberField, Segments, Switch
from app.views.widgets.focus import in_reading_order
from engine import Acceptance, Effort, Message, MessageRole, PictureDetail, Request, Speculation, SpeculationMode
from engine.runtime.requests import check_request
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import compose
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import DRAFT, MAIN
from tests.helpers.stillness import still

pytestmark = pytest.mark.usefixtures("qapp")
CHAT, MODEL = Scope.CHAT, Scope.MODEL


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        yield harness


def last(harness: ControllerHarness) -> Request:
    return harness.engine.requests[-1]


def differs(harness: ControllerHarness) -> bool:
    return harness.controller.options.differs


def test_each_layer_wins_over_the_one_below(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "s.json", tmp_path / "token")
    settings.main_folder, settings.temperature, settings.top_k = "/m", 0.5, 5
    model, preset, chat = {"temperature": 0.6, "min_p": 0.1}, {"temperature": 0.8, "seed": 3}, {"temperature": 1.0}
    found = resolve(settings, model, preset, chat).sampling()
    assert (found.temperature, found.min_p, found.seed, found.top_k) == (1.0, 0.1, 3, 5)
    assert resolve(settings, model, {"seed": 3}, {"seed": None}).sampling().seed is None


ODD: tuple[object, ...] = (
    *(0.0, -0.0, 1e-300, 1e-9, 5e-7, 0.0005, 0.00099, 0.001, 0.005, 1.0, 1.5, 9.99, 1e9, -1e9, 1e308, 5e-324),
    *(float("nan"), float("inf"), -float("inf"), 0, 1, -1, 33, 2**63, 2**64 - 1, 2**64, 10**400, True, False, None),
    *("", "0.0005", "1e-9", "nan", "auto", "fixed", "\ud83d half of a character", "words", [], {}, [0.5]),
)


@pytest.mark.costly
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("where", ["settings", "preset", "file"])
@pytest.mark.expect_log("is not possible, the default is used")
def test_what_an_option_takes_the_engine_takes(tmp_path: Path, name: str, where: str) -> None:
    """Set by hand, in a preset or an imported chat, or read from the file: no reply is refused for it later."""
    for value in ODD:
        (tmp_path / "s.json").write_text(json.dumps({name: value} if where == "file" else {}))
        settings = Settings(tmp_path / "s.json", tmp_path / "token")
        if where == "settings":
            with suppress(TypeError, ValueError, OverflowError):
                setattr(settings, name, value)
        made = resolve(settings, {name: value} if where == "preset" else {})
        asked = Message(MessageRole.SYSTEM, made.system_prompt), Message(MessageRole.USER, "Hi")
        check_request(made.request(asked, "1"))


def test_a_chat_has_its_own_and_others_do_not(harness: ControllerHarness) -> None:
    harness.say("One")
    first = harness.chat.chat_id
    options = harness.controller.options
    options.put(CHAT, "temperature", 1.5)
    options.put(CHAT, "system_prompt", "Be brief.")
    options.put(CHAT, "speculation_mode", "fixed")
    options.put(CHAT, "speculation_tokens", 7)
    assert differs(harness)
    harness.say("Two")
    request = last(harness)
    assert (request.sampling.temperature, request.messages[0].content) == (1.5, "Be brief.")
    assert (request.speculation.mode, request.speculation.tokens) == (SpeculationMode.FIXED, 7)
    harness.chat.new_chat()
    assert not differs(harness)
    harness.say("Three")
    assert (last(harness).sampling.temperature, last(harness).messages[0].role) == (0.7, MessageRole.USER)
    harness.chat.open_chat(first)
    options.drop(CHAT, "temperature")
    harness.say("Four")
    assert (last(harness).sampling.temperature, last(harness).messages[0].content) == (0.7, "Be brief.")


def test_a_reply_under_way_drafts_as_its_chat_says_now(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    options = harness.controller.options
    assert harness.chat.send("Hello")
    options.put(CHAT, "temperature", 0.9)
    assert harness.engine.speculations == []
    harness.models.choose_speculation("fixed", 3)
    assert harness.engine.speculations[-1] == (1, replace(Speculation.fixed(3), guarded=True))
    options.put(CHAT, "speculation_mode", "off")
    assert harness.engine.speculations[-1] == (1, Speculation(SpeculationMode.OFF, 3))
    told = len(harness.engine.speculations)
    harness.controller.new_chat()
    options.put(CHAT, "speculation_mode", "auto")
    assert len(harness.engine.speculations) == told
    harness.engine.gate.open()
    harness.wait_until_quiet()


def test_a_chat_thinks_drafts_sees_and_takes_memory_as_it_says(harness: ControllerHarness) -> None:
    for value, thinks, effort, tokens in (
        ("off", False, Effort.NORMAL, None),
        ("low", True, Effort.LOW, None),
        ("normal", True, Effort.NORMAL, None),
        ("high", True, Effort.HIGH, None),
        (300, True, Effort.NORMAL, 300),
        ("free", True, Effort.NORMAL, None),  # as earlier versions kept it
        ("short", True, Effort.LOW, None),
        (True, True, Effort.NORMAL, None),
        (False, False, Effort.NORMAL, None),
    ):
        harness.controller.options.put(CHAT, "thinking", value)
        harness.say("One")
        request = last(harness)
        assert (request.thinking, request.effort, request.thinking_tokens) == (thinks, effort, tokens), value
        assert not request.template_variables

    harness.chat.new_chat()
    harness.engine.requests.clear()
    harness.say("One")
    harness.controller.options.put(CHAT, "fastest", True)
    harness.controller.options.put(CHAT, "picture_detail", "high")
    harness.controller.options.put(CHAT, "kv_bits", "8")
    harness.say("Two")
    harness.chat.new_chat()
    harness.say("Three")
    usual, own = (Acceptance.COUPLED, PictureDetail.NORMAL, None), (Acceptance.REJECTION, PictureDetail.HIGH, 8)
    asked = [(each.speculation.acceptance, each.picture_detail, each.kv_bits) for each in harness.engine.requests]
    assert asked == [usual, own, usual]  # by default the text is the same with any draft


def test_a_reply_that_thinks_is_told_to_answer(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    assert harness.chat.send("Hello")
    reply = harness.rows[-1].id
    harness.chat.replies.answer_now(reply + 1)
    assert harness.engine.answers_now == []
    harness.chat.replies.answer_now(reply)
    assert harness.engine.answers_now == [1]
    harness.engine.gate.open()
    harness.wait_until_quiet()
    harness.chat.replies.answer_now(reply)
    assert harness.engine.answers_now == [1]


def test_options_are_there_after_a_restart_and_unknown_ones_stay(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        harness.say("One")
        chat = harness.chat.chat_id
        harness.change(lambda stores: stores.states.put_options(chat, {"origin": "x", "temperature": "hot"}))
    with open_harness(tmp_path, qtbot) as harness:
        harness.chat.open_chat(chat)
        assert not differs(harness)
        harness.controller.options.put(CHAT, "top_k", 9)
    with open_harness(tmp_path, qtbot) as harness:
        stored = harness.storage.read.states.options(chat)
        assert stored == {"origin": "x", "temperature": "hot", "top_k": 9}
        harness.chat.open_chat(chat)
        assert harness.controller.options.generation(chat).sampling().top_k == 9


def test_what_was_set_before_the_first_message_survives_other_chats_and_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        harness.say("One")
        chat = harness.chat.chat_id
        harness.chat.new_chat()
        harness.controller.options.put(CHAT, "seed", 42)
        harness.chat.open_chat(chat)
        assert not differs(harness)
        harness.chat.new_chat()
        assert differs(harness)
        harness.settings.save()
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        assert differs(harness)
        harness.say("Two")
        assert last(harness).sampling.seed == 42
        stored = harness.chat.chat_id
        harness.chat.new_chat()
        assert not differs(harness)
        harness.settings.new_chat_options = {str(stored): {"seed": 42}}  # as a crash before they are saved leaves them
    with open_harness(tmp_path, qtbot) as harness:
        assert not differs(harness)


def test_a_new_chat_is_without_what_its_predecessor_takes_to_the_disk(harness: ControllerHarness) -> None:
    options = harness.controller.options
    options.put(CHAT, "system_prompt", "Be a pirate.")
    assert harness.controller.send("Ahoy?")
    options.put(CHAT, "seed", 1)
    harness.controller.new_chat()
    assert not differs(harness)
    options.put(CHAT, "seed", 42)
    harness.controller.new_chat()
    harness.settle()
    (first,) = [row for row in harness.chat.conversations.rows if row.chat_id]
    harness.say("Dear tax office")
    assert (last(harness).messages[0].role, last(harness).sampling.seed) == (MessageRole.USER, 42)
    states = harness.storage.read.states
    assert states.options(harness.chat.chat_id) == {"seed": 42}
    harness.chat.open_chat(first.chat_id)
    assert states.options(first.chat_id) == options.own_of(first.chat_id)
    assert options.own_of(first.chat_id) == {"system_prompt": "Be a pirate.", "seed": 1}
    harness.chat.new_chat()
    assert not differs(harness)


@pytest.mark.expect_log("was not stored")
def test_a_new_chat_that_the_disk_refuses_keeps_its_options(harness: ControllerHarness) -> None:
    options = harness.controller.options
    refused = harness.chat.chat_id
    options.put(CHAT, "system_prompt", "Be a pirate.")
    harness.change(lambda stores: stores.database.execute("PRAGMA query_only = 1"))
    assert harness.controller.send("Ahoy?")
    harness.controller.new_chat()
    options.put(CHAT, "seed", 42)
    harness.settle()
    assert len(harness.refusals) == 1
    assert options.own_of(refused) == {"system_prompt": "Be a pirate."}
    assert options.own_of(harness.chat.chat_id) == {"seed": 42}
    kept = {str(refused): {"system_prompt": "Be a pirate."}, str(harness.chat.chat_id): {"seed": 42}}
    assert harness.settings.new_chat_options == kept
    options.save_preset("Pirate")
    options.delete_preset(harness.settings.presets[0]["id"])
    harness.settle()
    assert harness.settings.presets, "chats on the disk may still name it"
    harness.change(lambda stores: stores.database.execute("PRAGMA query_only = 0"))

    harness.say("One")
    stored = harness.chat.chat_id
    harness.change(lambda stores: stores.database.execute("PRAGMA query_only = 1"))
    options.put(CHAT, "seed", 7)
    options.keep()
    harness.change(lambda stores: stores.database.execute("PRAGMA query_only = 0"))
    harness.chat.new_chat()
    assert harness.storage.read.states.options(stored)["seed"] == 7, "it is tried again when the chat is left"


def test_a_copy_has_what_was_changed_just_before(harness: ControllerHarness) -> None:
    harness.say("One")
    harness.controller.options.put(CHAT, "seed", 42)
    harness.chat.duplicate(harness.chat.chat_id)
    assert harness.controller.options.own_of(harness.chat.chat_id) == {"seed": 42}


def test_a_preset_is_saved_chosen_changed_renamed_and_deleted(harness: ControllerHarness) -> None:
    options = harness.controller.options
    harness.say("One")
    options.put(CHAT, "system_prompt", "You are a poet.")
    options.save_preset("Poet")
    assert options.view(CHAT).own == {}
    assert [*options.view(CHAT).presets.values()] == ["Poet"]
    assert options.view(CHAT).sources["system_prompt"] == "preset"
    poet = options.view(CHAT).preset
    harness.chat.new_chat()
    options.choose_preset(poet)
    options.put(CHAT, "temperature", 1.2)
    options.update_preset()
    options.rename_preset(poet, "Dichter")
    harness.say("Two")
    assert (last(harness).messages[0].content, last(harness).sampling.temperature) == ("You are a poet.", 1.2)
    second = harness.chat.chat_id
    options.delete_preset(poet)
    harness.settle()
    assert options.view(CHAT).presets == {}
    harness.say("Three")
    assert last(harness).messages[0].content == "You are a poet.", "no chat loses words with the preset"
    assert harness.storage.read.states.options(second) == {"system_prompt": "You are a poet.", "temperature": 1.2}
    assert json.loads(json.dumps(harness.settings.presets)) == []

    harness.chat.new_chat()
    odd = 'a"b\\c%_\n'
    harness.settings.presets = ({"id": odd, "name": "Odd", "values": {"temperature": 0.1}},)
    harness.say("One")
    options.choose_preset(odd)
    harness.settle()
    options.delete_preset(odd)
    harness.settle()
    assert harness.storage.read.states.options(harness.chat.chat_id) == {"temperature": 0.1}


@pytest.mark.expect_log("a part of setting")
def test_damaged_presets_cost_only_themselves(tmp_path: Path) -> None:
    good = {"id": "a", "name": "Good", "values": {"seed": 1}, "more": 2}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"presets": [good, 7, {"id": 1}, {}], "model_defaults": {"/m": 3, "/n": {"seed": 2}}}))
    settings = Settings(file, tmp_path / "token")
    assert (settings.presets, settings.model_defaults) == ((good,), {"/n": {"seed": 2}})


# The panel


def opened(app: AppHarness) -> ChatSettings:
    app.window.chat_settings.action.trigger()
    still()
    assert app.window.chat_settings.panel.isVisible()
    return app.window.chat_settings.panel


def test_the_panel_changes_the_next_reply_and_the_header_says_so(app: AppHarness, qtbot: QtBot) -> None:
    panel, button = opened(app), app.window.chat_settings
    before, name = button.grab().toImage(), button.accessibleName()
    temperature, drafting = panel.fields["temperature"].field, panel.fields["speculation_mode"].field
    prompt, seed = panel.fields["system_prompt"].field, panel.fields["seed"].field
    assert isinstance(temperature, NumberField)
    assert isinstance(drafting, SpeculationControls)
    leave = panel.fields["temperature"].leave
    assert not leave.isVisible()
    temperature.setValue(1.3)
    QTest.keyClicks(prompt, "Be brief.")
    QTest.keyClicks(seed, "12345")
    QTest.keyClick(seed, Qt.Key.Key_Return)
    drafting.modes.chosen.emit("off")
    drafting.chosen.emit("off", 4)
    assert leave.isVisible()
    assert button.grab().toImage() != before
    assert button.accessibleName() != name
    QTest.keyClick(panel, Qt.Key.Key_Escape)
    assert not panel.isVisible()
    assert app.window.composer.edit.hasFocus()
    app.ask(qtbot, "Hello")
    request = app.engine.requests[-1]
    assert (request.sampling.temperature, request.sampling.seed) == (1.3, 12345)
    assert (request.messages[0].content, request.speculation.mode) == ("Be brief.", SpeculationMode.OFF)
    opened(app)
    leave.click()
    options, chat, own = app.chats.options, app.chats.chat_id, app.chats.options.own_of(app.chats.chat_id)
    panel.reset.click()
    assert button.accessibleName() == name
    assert options.own_of(chat) == {}
    panel.reset.click()
    assert options.own_of(chat) == own
    options.keep()
    app.wait_until_quiet(qtbot)
    assert app.application.storage.read.states.options(chat) == own


@pytest.mark.parametrize("away", ["another chat", "the model", "closed", "changed"])
def test_what_was_reset_comes_back_only_while_nothing_else_was_done(app: AppHarness, away: str) -> None:
    panel, options = opened(app), app.chats.options
    options.put(Scope.CHAT, "temperature", 1.3)
    panel.reset.click()
    assert (panel.reset.text(), panel.reset.isEnabled()) == ("Undo", True)
    if away == "another chat":
        app.chats.new_chat()
    elif away == "the model":
        panel.scopes.buttons[1].click()
    elif away == "closed":
        QTest.keyClick(panel, Qt.Key.Key_Escape)
    else:
        options.put(Scope.CHAT, "top_p", 0.5)
    before = options.own_of(app.chats.chat_id)
    panel = opened(app) if panel.isHidden() else panel
    assert (panel.reset.text(), panel.reset.isEnabled()) == ("Reset all", away == "changed")
    panel.reset.click()
    assert options.own_of(app.chats.chat_id) == {}
    assert before == ({"top_p": 0.5} if away == "changed" else {})


def test_what_is_reset_of_a_model_comes_back(app: AppHarness) -> None:
    panel, settings = opened(app), app.application.settings
    panel.scopes.buttons[1].click()
    app.chats.options.put(Scope.MODEL, "temperature", 1.3)
    before = settings.model_defaults
    panel.reset.click()
    assert settings.model_defaults == {}
    panel.reset.click()
    assert settings.model_defaults == before != {}


def test_the_panel_says_what_the_fastest_drafting_does_to_the_text(app: AppHarness) -> None:
    """And to the seed; at temperature 0, and where nothing is drafted, it makes no difference."""
    panel, options = opened(app), app.chats.options
    fastest, seed = panel.fields["fastest"].field, panel.fields["seed"].field
    assert fastest.accessibleDescription() == "Same seed, same text · As in Settings"
    assert seed.accessibleDescription() == "As in Settings"
    assert isinstance(fastest, Switch)
    fastest.click()
    assert options.own_of(app.chats.chat_id) == {"fastest": True}
    assert fastest.accessibleDescription() == "Different text each time · This chat only"
    assert seed.accessibleDescription() == "Text still varies"
    options.put(CHAT, "temperature", 0.0)
    assert not fastest.isEnabled()
    assert fastest.accessibleDescription() == "No effect at temperature 0"
    assert seed.accessibleDescription() == "As in Settings"
    options.drop(CHAT, "temperature")
    options.put(CHAT, "speculation_mode", "off")
    assert not fastest.isEnabled()
    assert fastest.accessibleDescription() == "No effect while drafting is off"


def test_a_preset_is_named_and_typed_values_stay_with_their_chat(app: AppHarness, qtbot: QtBot) -> None:
    panel = opened(app)
    app.chats.options.put(CHAT, "top_k", 40)
    panel.presets.begin_naming("")
    compose(panel.presets.name, "", "시인")
    QTest.keyClick(panel.presets.name, Qt.Key.Key_Return)
    assert panel.presets.choice.text() == "시인"
    assert panel.isVisible()
    panel.presets.begin_naming(app.chats.options.view(CHAT).preset)
    QTest.keyClick(panel.presets.name, Qt.Key.Key_Escape)
    assert panel.presets.choice.text() == "시인"
    words = [action.text() for action in panel.presets.menu().actions()]
    assert len(words) == 4
    for button in ("cancel_button", "act_button"):
        assert panel.presets.choice.text() == "시인"
        dialog = panel.presets.ask_to_delete()
        getattr(dialog, button).click()
        assert panel.isVisible()
    app.wait_until_stored(qtbot)
    assert panel.presets.choice.text() == "No preset"

    QTest.keyClick(panel, Qt.Key.Key_Escape)
    app.window.activateWindow()
    qtbot.waitUntil(app.window.isActiveWindow)
    app.ask(qtbot, "First")
    opened(app)
    options = app.chats.options  # a shortcut opens another chat, and an input method still composes
    prompt, seed = panel.fields["system_prompt"].field, panel.fields["seed"].field
    assert isinstance(prompt, PromptField)
    prompt.setFocus()
    compose(prompt, "시인")
    chat_id = app.chats.chat_id
    app.window.menu.new_chat.trigger()
    assert options.here.system_prompt == ""
    app.chats.open_chat(chat_id)
    assert options.here.system_prompt == "시인"
    opened(app)
    seed.setFocus()
    QTest.keyClicks(seed, "42")
    app.window.menu.new_chat.trigger()
    assert (options.here.values["seed"], options.generation(chat_id).values["seed"]) == (None, 42)


def of_model(name: str, *efforts: str, ends_thinking: bool = False, sees: bool = False) -> Any:
    """The controller with that model loaded."""
    model = SimpleNamespace(ends_thinking=ends_thinking, sees=sees)
    pair = PairView(name, state=PairState.READY)
    return SimpleNamespace(
        main_info=lambda: model, main_setting=name, efforts=lambda: efforts, keeps_forms=True, pair=pair
    )


def test_the_panel_has_defaults_of_a_model_picture_detail_and_thinking(app: AppHarness) -> None:
    panel = opened(app)
    first, second = panel.scopes.buttons
    assert QApplication.focusWidget() is first
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert QApplication.focusWidget() is second
    assert panel.scopes.value is MODEL
    temperature = panel.fields["temperature"].field
    assert isinstance(temperature, NumberField)
    temperature.setValue(0.4)
    assert list(app.application.settings.model_defaults.values()) == [{"temperature": 0.4}]
    assert not panel.presets.isVisible()
    QTest.keyClick(second, Qt.Key.Key_Left)
    assert temperature.value() == 0.4
    assert not panel.fields["temperature"].leave.isVisible()

    options = app.chats.options
    assert not any(panel.rows[name].isVisible() for name in ("picture_detail", "thinking"))
    panel.show_options(options.view(Scope.CHAT), of_model("Sees-8B", sees=True))
    detail = panel.fields["picture_detail"].field
    assert isinstance(detail, Segments)
    assert detail.isVisible()
    shown = [(each.text(), each.isChecked()) for each in detail.buttons]
    assert shown == [("Low", False), ("Normal", True), ("High", False)]
    detail.buttons[0].click()
    assert options.view(Scope.CHAT).own == {"picture_detail": "low"}
    options.reset(Scope.CHAT)

    view = options.view(Scope.CHAT)
    panel.show_options(view, of_model("Thinks-8B", "off", "low", "normal", ends_thinking=True))
    assert panel.rows["thinking"].isVisible()
    field = panel.fields["thinking"].field
    assert isinstance(field, ThinkingField)
    assert field.choice.choices == ["Off", "Low", "Normal", "Up to a limit"]
    assert (field.choice.text(), field.choice.accessibleName()) == ("Off", "Thinking")
    field.choice.chosen.emit("limit")
    assert options.view(Scope.CHAT).own == {"thinking": 1024}
    still()
    leave = panel.fields["thinking"].leave
    assert abs(leave.geometry().center().y() - field.geometry().center().y()) <= 1
    odd = of_model("Odd-8B", "low", "normal", "high")
    panel.show_options(options.view(Scope.CHAT), odd)
    assert field.choice.text() == "Up to a limit"  # it is set all the same
    panel.show_options(replace(view, own={}), odd)
    assert (field.choice.choices, field.choice.text()) == (["Low", "Normal", "High"], "Normal")  # it cannot be off


def test_a_model_that_is_on_its_way_is_asked_as_it_is_to_be_asked(harness: ControllerHarness) -> None:
    """Not as the one before it: a question may wait for it."""
    harness.settings.model_defaults = {MAIN.folder: {"system_prompt": "Main"}, DRAFT.folder: {"system_prompt": "Draft"}}
    options = harness.controller.options
    assert options.here.system_prompt == "Main"
    harness.models.choose_main(DRAFT.folder)
    assert harness.models.pair.state is PairState.LOADING
    assert options.here.system_prompt == "Draft"
    options.put(MODEL, "temperature", 0.3)
    assert harness.settings.model_defaults[DRAFT.folder]["temperature"] == 0.3
    assert "temperature" not in harness.settings.model_defaults[MAIN.folder]


def test_the_new_chat_keeps_what_a_deleted_preset_said(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot) as first:
        first.controller.options.put(CHAT, "system_prompt", "Be brief.")
        first.controller.options.save_preset("Brief")
        first.controller.options.delete_preset(first.settings.presets[0]["id"])
    with open_harness(tmp_path, qtbot) as second:
        assert second.controller.options.here.system_prompt == "Be brief."


def test_the_limit_of_the_pair_that_comes_with_the_app_says_where_it_is_from(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, with_starter=True) as app:
        options = app.chats.options
        assert options.view(CHAT).sources["max_tokens"] == "model"
        app.application.settings.max_tokens = 500
        assert "max_tokens" not in options.view(CHAT).sources


@pytest.mark.parametrize("hides", [True, False])
def test_the_panel_stays_when_the_field_with_the_focus_goes(app: AppHarness, hides: bool) -> None:
    """Qt gives the focus to what comes next, which may be outside of the panel."""
    panel = opened(app)
    field = panel.reset
    QWidget.setTabOrder(field, app.window.sidebar.new_button)
    field.setEnabled(True)
    field.setFocus()
    if hides:
        field.hide()
    else:
        field.setEnabled(False)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert (panel.isVisible(), panel.isAncestorOf(focused)) == (True, True)


def test_tab_comes_to_the_button_below_what_scrolls_last(app: AppHarness) -> None:
    """Wherever the fields are scrolled to."""
    app.window.resize(900, 600)
    panel = opened(app)
    app.chats.options.put(Scope.CHAT, "temperature", 1.3)
    still()
    bar = panel.page.verticalScrollBar()
    for value in (0, bar.maximum() // 2, bar.maximum()):
        bar.setValue(value)
        assert bar.maximum() > 0
        assert in_reading_order(panel)[-1] is panel.reset
        fields = [each for each in in_reading_order(panel) if panel.page.isAncestorOf(each)]
        tops = [each.mapTo(panel, each.rect().center()).y() for each in fields]
        assert all(below > above - 20 for above, below in pairwise(tops))
