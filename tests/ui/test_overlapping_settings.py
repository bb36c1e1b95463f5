"""Acts that overlap in settings, projects, other Macs and the server: what is typed counts for what it was typed for,
and an answer that comes later changes nothing that is no longer as it was asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.controllers.exports import ExportFormat
from app.controllers.imports import Imported
from app.controllers.schemas import SchemaKind
from app.view_models.chat_options import Scope
from app.view_models.machines import AskingState, PlanView
from app.view_models.model_list import PairState
from app.views.chats.trash_window import TrashWindow
from app.views.settings import advanced
from app.views.settings.machines import MachinesPage
from app.views.settings.schema_field import SchemaField
from app.views.settings.server import ServerPage
from app.views.shell.help_menu import ReportDialog
from app.views.shell.option_form import OptionForm
from app.views.widgets.fields import NumberField
from engine import (
    Helping,
    HubSource,
    MachineRefusal,
    MachineUnavailable,
    ServerPhase,
    ServerState,
    StationPhase,
    model_memory_bytes,
)
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, Script, model_info
from tests.helpers.notices import NoticeServer
from tests.helpers.stillness import still
from tests.ui.test_draft_elsewhere import lacks, says
from tests.ui.test_files_dialogs import export, files
from tests.ui.test_machines import COMMIT, STUDIO, Others, others
from tests.ui.test_machines import harness as macs
from tests.ui.test_overlapping_acts import disk, held, quit_at_once
from tests.ui.test_program_models import LESSER, THEIRS, asking
from tests.ui.test_program_models import harness as programs
from tests.ui.test_updates import Asked, asked, server

__all__ = ["asked", "macs", "others", "programs", "server"]

OTHER = model_info("/models/Other-4B", 4_000_000_000)


def type_into(field: QWidget, words: str) -> None:
    """And leave the focus there."""
    field.setFocus()
    if isinstance(field, NumberField):
        field.selectAll()
    QTest.keyClicks(field, words)


def options_of_projects(app: AppHarness, *projects: int) -> list[dict[str, object]]:
    return [dict(app.chats.projects.get(each).options) for each in projects]


# What is typed


@pytest.mark.parametrize(("name", "typed", "value"), [("max_tokens", "500", 500), ("temperature", "1.5", 1.5)])
def test_an_option_that_is_typed_for_a_project_is_not_the_next_one_s(
    app: AppHarness, qtbot: QtBot, name: str, typed: str, value: object
) -> None:
    project, other = app.make_folder(qtbot), app.make_folder(qtbot)
    page = app.window.project_page
    page.show(project)
    still()
    type_into(page.form.settings.fields[name].field, typed)
    page.show(other)
    still()
    assert options_of_projects(app, project, other) == [{name: value}, {}]


@pytest.mark.parametrize(("name", "typed", "value"), [("max_tokens", "500", 500), ("temperature", "1.5", 1.5)])
def test_an_option_that_is_typed_for_a_project_stays_when_another_model_is_loaded(
    tmp_path: Path, qtbot: QtBot, name: str, typed: str, value: object
) -> None:
    with open_app(tmp_path, qtbot, models={each.folder: each for each in (MAIN, DRAFT, OTHER)}) as app:
        app.application.settings.model_defaults = {OTHER.folder: {"temperature": 0.3, "max_tokens": 77}}
        project = app.make_folder(qtbot)
        page = app.window.project_page
        page.show(project)
        still()
        type_into(page.form.settings.fields[name].field, typed)
        app.models.choose_main(OTHER.folder)
        qtbot.waitUntil(app.is_settled)
        assert options_of_projects(app, project) == [{name: value}]


def half_typed(form: OptionForm) -> SchemaField:
    """Its schema, which is no JSON yet."""
    field = form.fields["schema"].field
    assert isinstance(field, SchemaField)
    field.choice.set_value(SchemaKind.OWN)
    field.choice.chosen.emit(SchemaKind.OWN)
    type_into(field.own, '{"type": ')
    return field


def test_a_faulty_schema_of_a_project_is_not_shown_in_the_next_one(app: AppHarness, qtbot: QtBot) -> None:
    project, other = app.make_folder(qtbot), app.make_folder(qtbot)
    page = app.window.project_page
    page.show(project)
    still()
    field = half_typed(page.form.settings)
    page.show(other)
    still()
    assert (field.choice.value, field.own.text(), field.fault.text()) == (SchemaKind.NONE, "", "")


def test_a_schema_that_is_half_typed_stays_in_its_chat(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    app.window.chat_settings.toggle_panel()
    panel = app.window.chat_settings.panel
    still()
    field = half_typed(panel.form)
    for _ in range(2):
        app.window.chat_settings.toggle_panel()
        still()
    assert field.own.isVisible()
    assert (field.own.text(), bool(field.fault.text())) == ('{"type": ', True)
    app.chats.new_chat()
    app.window.chat_settings.toggle_panel()
    still()
    assert (field.choice.value, field.own.text(), field.fault.text()) == (SchemaKind.NONE, "", "")


def test_an_option_that_is_typed_for_a_chat_is_not_its_models(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    app.window.chat_settings.toggle_panel()
    panel = app.window.chat_settings.panel
    still()
    type_into(panel.fields["max_tokens"].field, "500")
    QTest.mouseClick(panel.scopes.buttons[1], Qt.MouseButton.LeftButton)
    app.window.composer.take_focus()
    still()
    owns = [app.chats.options.view(each).own for each in (Scope.CHAT, Scope.MODEL)]
    assert owns == [{"max_tokens": 500}, {}]


def test_an_option_that_is_typed_for_a_model_is_not_the_next_ones(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, models={each.folder: each for each in (MAIN, DRAFT, OTHER)}) as app:
        app.ask(qtbot, "Question")
        app.window.chat_settings.toggle_panel()
        panel = app.window.chat_settings.panel
        still()
        QTest.mouseClick(panel.scopes.buttons[1], Qt.MouseButton.LeftButton)
        type_into(panel.fields["max_tokens"].field, "500")
        app.models.choose_main(OTHER.folder)
        qtbot.waitUntil(app.is_settled)
        app.window.composer.take_focus()
        still()
        assert app.application.settings.model_defaults == {MAIN.folder: {"max_tokens": 500}}


def test_an_effort_is_kept_for_the_model_that_its_menu_names(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, models={each.folder: each for each in (MAIN, DRAFT, OTHER)}) as app:
        app.ask(qtbot, "Question")
        app.chats.options.put(Scope.CHAT, "thinking", "high")
        menu = app.window.composer.effort.menu()
        app.models.choose_main(OTHER.folder)
        qtbot.waitUntil(app.is_settled)
        (keep,) = [each for each in menu.actions() if "Main 8B" in each.text()]
        keep.trigger()
        assert app.application.settings.model_defaults == {MAIN.folder: {"thinking": "high"}}


def test_a_temperature_that_is_being_typed_stays_when_another_model_is_loaded(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, with_starter=True) as app:
        settings = app.application.settings
        window = app.show_settings("chat")
        qtbot.waitUntil(window.isActiveWindow)
        field = window.sampling.fields["temperature"]
        before = settings.sampling().temperature
        type_into(field, "1.5")
        settings.main_folder = MAIN.folder  # once it is loaded
        assert settings.sampling().temperature != before
        window.show_page("general")
        assert settings.temperature == 1.5


def test_defaults_are_restored_though_a_number_is_being_typed(app: AppHarness, qtbot: QtBot) -> None:
    window = app.show_settings("chat")
    qtbot.waitUntil(window.isActiveWindow)
    type_into(window.sampling.fields["max_tokens"], "500")
    QTest.mouseClick(window.sampling.reset, Qt.MouseButton.LeftButton)
    window.show_page("general")
    assert app.application.settings.max_tokens is None


def test_a_chat_is_reset_though_a_number_is_being_typed(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    app.chats.options.put(Scope.CHAT, "temperature", 1.5)
    app.window.chat_settings.toggle_panel()
    panel = app.window.chat_settings.panel
    still()
    type_into(panel.fields["max_tokens"].field, "500")
    QTest.mouseClick(panel.reset, Qt.MouseButton.LeftButton)
    app.window.composer.take_focus()
    still()
    assert app.chats.options.view(Scope.CHAT).own == {}


def test_the_address_that_is_copied_has_the_port_that_is_being_typed(app: AppHarness, qtbot: QtBot) -> None:
    page = app.open_page(ServerPage)
    qtbot.waitUntil(page.isActiveWindow)
    page.port.setFocus()
    page.port.selectAll()
    QTest.keyClicks(page.port, "9321")
    QTest.mouseClick(page.copy_address, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "http://127.0.0.1:9321"


# Presets and documents


def test_a_chat_that_is_opened_while_its_preset_is_deleted_keeps_its_settings(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "Question")
        chat_id = app.chats.chat_id
        app.chats.options.put(Scope.CHAT, "temperature", 1.5)
        app.chats.options.save_preset("Warm")
    with open_app(tmp_path, qtbot) as app:
        options = app.chats.options
        with held(disk(app)):
            options.delete_preset(options.presets.all()[0]["id"])
            app.chats.open_chat(chat_id)
        app.wait_until_stored(qtbot)
        still()
        assert options.view(Scope.CHAT).own == {"temperature": 1.5}


def test_a_chat_keeps_what_it_has_of_a_preset_whose_import_is_undone(
    app: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    options, imports = app.chats.options, files(app).imports
    app.ask(qtbot, "Question")
    options.put(Scope.CHAT, "temperature", 1.5)
    options.save_preset("Warm")
    export(app, qtbot, ExportFormat.JSON, tmp_path / "x.json")
    options.delete_preset(options.presets.all()[0]["id"])
    found: list[Imported] = []
    imports.previewed.connect(lambda preview: imports.run(preview, again=True))
    imports.imported.connect(found.append)
    imports.look([str(tmp_path / "x.json")])
    qtbot.waitUntil(lambda: bool(found))
    app.chats.new_chat()
    options.choose_preset(found[0].presets[0])
    imports.undo(found[0])
    app.wait_until_quiet(qtbot)
    still()
    assert options.presets.all() == ()
    assert options.view(Scope.CHAT).own == {"temperature": 1.5}


def test_a_copy_of_a_chat_has_the_document_that_was_just_added(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    app.ask(qtbot, "Question")
    chat_id = app.chats.chat_id
    documents = app.chats.documents
    with held(documents._changes):
        documents.add(-chat_id, [tmp_path / "a.txt"])
        app.chats.duplicate(chat_id)
        qtbot.waitUntil(lambda: app.chats.chat_id != chat_id)
    qtbot.waitUntil(lambda: [each.name for each in documents.files(-app.chats.chat_id)] == ["a.txt"])
    assert [each.name for each in documents.files(-chat_id)] == ["a.txt"]


def test_a_file_that_was_opened_in_a_chat_is_attached_there(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    app.ask(qtbot, "Question")
    chat_id = app.chats.chat_id

    def attached() -> list[str]:
        return [row.name for row in app.window.composer.attached_rows()]

    with held(app.application.file_controllers.imports._worker):
        app.window.files.open(QUrl.fromLocalFile(str(tmp_path / "a.json")))
        app.chats.new_chat()
    app.application.file_controllers.imports.ask_whether_ours("", lambda _ours: app.chats.open_chat(chat_id))
    qtbot.waitUntil(lambda: attached() == ["a.json"])
    app.chats.new_chat()
    assert attached() == []


def test_a_document_of_a_chat_that_was_just_made_is_there_after_the_end(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.txt").write_text("words")

    def named(app: AppHarness) -> dict[int, list[str]]:
        return {chat: [each.name for each in files] for chat, files in app.chats.documents.of_chats().items() if files}

    with open_app(tmp_path / "profile", qtbot) as app:
        app.chats.documents.add(-app.chats.chat_id, [tmp_path / "a.txt"])
        qtbot.waitUntil(lambda: bool(app.chats.documents.listed(-app.chats.chat_id).ready))
        app.window.composer.send("Question")
        qtbot.waitUntil(lambda: not app.chats.is_new)
        chat_id = app.chats.chat_id
        quit_at_once(app)
    with open_app(tmp_path / "profile", qtbot) as app:
        qtbot.waitUntil(lambda: bool(named(app)))
        assert named(app) == {chat_id: ["a.txt"]}


# What is asked for


def test_all_that_was_asked_for_before_the_chats_are_open_comes(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as app:
        app.application.open_quick_ask()
        app.application.show_settings("server")
        app.open(qtbot)
        assert app.application.settings_window().isVisible()
        assert app.window.tools.desktop.quick_ask.isVisible()


def test_a_token_that_cannot_be_one_is_refused_aloud(app: AppHarness, qtbot: QtBot) -> None:
    window = app.show_settings("advanced")
    qtbot.waitUntil(window.isActiveWindow)
    hub = window.advanced.hub
    hub.token.setFocus()
    hub.token.insert("토큰")
    window.show_page("general")
    assert hub._token_row.explanation.text() == "The value of Token cannot be used."
    assert hub.token.text() == ""


def test_that_the_server_has_failed_is_said_until_it_runs(app: AppHarness) -> None:
    server, banner = app.application.server, app.window.banner
    server._on_state(ServerState(ServerPhase.FAILED, error="InternalError"))
    app.models.pair_changed.emit()
    assert banner.isVisible()
    assert banner.title.text() == "The server is not running"
    server._on_state(ServerState(ServerPhase.RUNNING))
    assert not banner.isVisible()


def test_a_report_is_copied_once_it_is_there(app: AppHarness, qtbot: QtBot) -> None:
    QApplication.clipboard().setText("mine")
    with held(app.application._small_files):
        app.application.help.show_report()
        (report,) = app.window.findChildren(ReportDialog)
        report.copy_button.click()
        assert QApplication.clipboard().text() == "mine"
    qtbot.waitUntil(report.copy_button.isEnabled)
    report.copy_button.click()
    assert "Hunch" in QApplication.clipboard().text()


def test_what_quick_ask_has_sent_does_not_go_on_in_a_new_chat(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    quick_ask = app.window.tools.desktop.quick_ask
    quick_ask.come_to_front()
    still()
    with held(disk(app)):
        QTest.keyClicks(quick_ask.edit, "Question")
        QTest.keyClick(quick_ask.edit, Qt.Key.Key_Return)
        quick_ask.edit.files_given.emit([str(tmp_path / "a.txt")])
    app.wait_until_quiet(qtbot)
    assert [each.title for each in app.application.storage.read.chats.find()] == ["Question"]
    assert app.window.composer.text() == ""
    assert [each.name for each in app.window.composer.attached_rows()] == ["a.txt"]


# What is not so now


def test_a_search_finds_nothing_that_is_hidden(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advanced, "can_use_openblas", lambda: False)
    with open_app(tmp_path, qtbot) as app:
        window = app.show_settings()
        places = [(each, window.pages[each.page]) for each in window.places() if each.page in window.pages]
        hidden = {place.name for place, page in places if not place.spot.isVisibleTo(page)}
        assert hidden == {window.advanced.fusion_row.name.text()}
        assert not {place.name for place, _ in places} & {"Another port", window.advanced.openblas_row.name.text()}


# Programs


def test_a_pair_that_was_unloaded_by_its_user_does_not_come_back_after_a_program(
    programs: AppHarness, qtbot: QtBot
) -> None:
    server = programs.application.server
    asked = asking(server, "Other-4B")
    qtbot.waitUntil(lambda: asked.done and programs.models.pair.state is PairState.UNLOADED)
    programs.models.choose_main(LESSER.folder)
    qtbot.waitUntil(programs.is_settled)
    programs.models.eject()
    loads = len(programs.engine.loads)
    asked = asking(server, "Other-4B", ttl=0)
    qtbot.waitUntil(lambda: asked.done and programs.engine.state().main is None)
    still()
    assert programs.engine.loads[loads:] == [THEIRS]


def test_a_program_that_waits_for_what_was_chosen_does_not_bring_it_back(programs: AppHarness, qtbot: QtBot) -> None:
    server, engine = programs.application.server, programs.engine
    engine.gate.hold()
    asking(server, "Other-4B", stream=True)
    qtbot.waitUntil(lambda: bool(engine.state().running))
    waiting = asking(server, "default")
    qtbot.waitUntil(lambda: server.state.requests == 2)
    programs.models.choose_main(LESSER.folder)
    engine.gate.open()
    qtbot.waitUntil(lambda: waiting.done and programs.is_settled())
    assert '"code":"model_changed"' in waiting.answer
    assert (engine.loads[-1][0], programs.models.pair.state) == (LESSER.folder, PairState.READY)


def test_no_model_is_unloaded_under_a_programs_reply(programs: AppHarness, qtbot: QtBot) -> None:
    server, engine, timer = programs.application.server, programs.engine, programs.models.idle_timer
    programs.application.settings.unload_after_min = 5
    engine.gate.hold()
    first = asking(server, "default")
    qtbot.waitUntil(lambda: bool(engine.state().running))
    second = asking(server, "default")
    qtbot.waitUntil(lambda: bool(engine.state().queued))
    engine.gate.let_through(len(Script().pieces))
    qtbot.waitUntil(lambda: first.done and timer.isActive())
    timer.timeout.emit()
    engine.gate.open()
    qtbot.waitUntil(lambda: second.done)
    assert " 200 " in second.answer


class _Lends:
    """In place of the process that lends."""

    def __init__(self) -> None:
        self.memory_bytes = 0

    def offer(self, _models: object, memory_bytes: int) -> None:
        self.memory_bytes = memory_bytes

    def end(self) -> None:
        """It is not switched on."""


def test_what_a_programs_model_takes_is_not_lent(programs: AppHarness, qtbot: QtBot) -> None:
    lending, lends = programs.application.machines.lending, _Lends()
    lending._process = lends  # type: ignore[assignment]
    try:
        asked = asking(programs.application.server, "Other-4B")
        qtbot.waitUntil(lambda: asked.done and programs.models.pair.state is PairState.UNLOADED)
        still()
        needed = {each.folder: each.fit.needed_bytes for each in programs.models.models if each.fit}
        assert lends.memory_bytes == model_memory_bytes() - sum(needed[folder] for folder in THEIRS)
    finally:
        lending._process = None


# Other Macs


def test_two_macs_that_were_replaced_before_they_began_are_not_used_later(macs: AppHarness, qtbot: QtBot) -> None:
    page = macs.open_page(MachinesPage)
    qtbot.waitUntil(page.plan.run.isEnabled)
    macs.engine.gate.hold()
    macs.window.composer.send("Question")
    qtbot.waitUntil(lambda: macs.chats.generating)
    page.plan.run.click()
    macs.models.choose_main(MAIN.folder)  # as it is, which ends the wait
    macs.engine.gate.open()
    macs.wait_until_quiet(qtbot)
    macs.models.unload()
    macs.ask(qtbot, "Question")
    assert not any(macs.engine.helping)


def test_a_mac_that_is_removed_while_a_model_is_loaded_over_it_helps_no_more(macs: AppHarness, qtbot: QtBot) -> None:
    page = macs.open_page(MachinesPage)
    qtbot.waitUntil(page.plan.run.isEnabled)
    page.plan.run.click()
    assert macs.models.pair.state is PairState.LOADING
    macs.application.machines.remove(STUDIO.fingerprint)
    qtbot.waitUntil(lambda: macs.models.pair.state is PairState.READY)
    assert macs.models.pair.helper is None
    assert macs.engine.helping[-1] == ()


class _Copying:
    """In place of a server of a model's files."""

    is_over = False
    share = 0.5

    def __init__(self, _helping: Helping, folder: str, _source: HubSource, on_use: Callable[[bool], None]) -> None:
        self.folder = folder
        self.on_use = on_use

    def start(self) -> None:
        self.on_use(True)

    def end(self, _timeout_s: float = 0.0) -> None:
        pass


def test_the_end_of_one_copy_does_not_end_the_next(macs: AppHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    servers: list[_Copying] = []

    def made(*parts: Any) -> _Copying:
        servers.append(_Copying(*parts))
        return servers[-1]

    monkeypatch.setattr("app.controllers.file_serving.ModelFileServer", made)
    serving = macs.application.machines.file_serving
    helping = Helping(STUDIO, str(macs.paths.machines))
    lacks_model = MachineUnavailable(STUDIO.address, MachineRefusal.NO_MODEL)
    for folder in ("/m/First", "/m/Second"):
        view = PlanView(folder, STUDIO.fingerprint, AskingState.REFUSED, error=lacks_model)
        serving.follow(view, helping, HubSource("org/Model", COMMIT))
    assert [each.folder for each in servers] == ["/m/First", "/m/Second"]
    servers[0].on_use(False)
    still()
    assert serving.is_used
    servers[1].on_use(False)
    still()
    assert not serving.is_used


def test_a_machine_that_drafts_meanwhile_lacks_nothing(
    tmp_path: Path, others: Others, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    asked: list[object] = []

    def offer(*what: object) -> None:
        asked.append(what)
        gate.wait()
        raise MachineUnavailable(STUDIO.address, MachineRefusal.NO_MODEL)

    monkeypatch.setattr("app.controllers.station.machine_offer", offer)
    with open_app(tmp_path, qtbot) as app:
        page = app.open_page(MachinesPage)
        qtbot.waitUntil(page.station.isVisible)
        station = app.application.machines.station
        station.choose(STUDIO.fingerprint)
        try:
            lacks(app)
            qtbot.waitUntil(lambda: bool(asked))
            says(app, StationPhase.READY)
        finally:
            gate.set()
        qtbot.waitUntil(lambda: station._asked is None)
        assert station.state.error is None
        assert not others.supplied


# Recently Deleted


def test_what_is_chosen_in_recently_deleted_stays_when_more_is_deleted(app: AppHarness, qtbot: QtBot) -> None:
    chats = []
    for question in ("First", "Second", "Third"):
        app.chats.new_chat()
        app.ask(qtbot, question)
        chats.append(app.chats.chat_id)
    for chat_id in chats[:2]:
        app.chats.delete_chats([chat_id])
        app.wait_until_quiet(qtbot)
    trash = app.window.sidebar.show_trash()
    still()
    trash.list.setCurrentIndex(trash._model.index(1))
    app.chats.delete_chats(chats[2:])
    app.wait_until_quiet(qtbot)
    still()
    assert [each.title for each in trash.list.chosen()] == ["First"]


@pytest.mark.parametrize("place", ["activity", "quick ask"])
def test_a_deleted_chat_is_shown_where_it_is(app: AppHarness, qtbot: QtBot, place: str) -> None:
    quick_ask = app.window.tools.desktop.quick_ask
    quick_ask.come_to_front()
    still()
    QTest.keyClicks(quick_ask.edit, "Question")
    QTest.keyClick(quick_ask.edit, Qt.Key.Key_Return)
    app.wait_until_quiet(qtbot)
    (row,) = app.chats.requests.rows
    app.chats.delete_chats([row.chat_id])
    app.wait_until_quiet(qtbot)
    still()
    if place == "activity":
        app.window.speculation.open_activity()
        activity = app.window.speculation.activity
        assert activity is not None
        activity.table.opened.emit(row.chat_id, row.message_id)
    else:
        quick_ask.open_button.click()
    (trash,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, TrashWindow)]
    assert trash.isVisible()
    assert [each.title for each in trash.list.chosen()] == ["Question"]


# Updates


def test_no_update_is_offered_once_that_is_turned_off(asked: Asked, server: NoticeServer, qtbot: QtBot) -> None:
    asked.updates.look()
    asked.settings.tells_updates = False
    qtbot.waitUntil(lambda: asked.updates._question is None)
    assert server.asked
    assert asked.found == []
