"""A whole exchange with the real engine: a tiny model whose first answer is held to a call, and the app around it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Application
from app.storage import ReplyStatus
from app.system.paths import Paths
from app.tools.definitions import Answer
from app.view_models.tools import CallState
from app.view_models.transcript import TranscriptMessage, transcript_row
from engine import Engine, MessageRole, Request, RequestId, Sink
from tests.end2end.process import running, said
from tests.engine.test_tool_calls import TEMPLATE
from tests.helpers.app_harness import reset_process
from tests.helpers.controller_harness import open_harness
from tests.helpers.tiny_models import save_small

_NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}


class Demanding(Engine):
    """The first request of each reply has to call that tool, without arguments: a random model would never end them."""

    demanded = "calculator"

    def submit(self, request: Request, sink: Sink) -> RequestId:
        tools = tuple({**each, "function": {**each["function"], "parameters": _NOTHING}} for each in request.tools)
        request = replace(request, tools=tools, max_tokens=150, thinking=False)
        if tools and request.messages[-1].role is MessageRole.USER:
            request = replace(request, must_call=(self.demanded,), several_calls=False)
        return super().submit(request, sink)


_CALL = """
import json, sys
from pathlib import Path
from app.application import Application
from app.storage.parts import Call, CallStage, of_kind
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.tools.definitions import Answer
from PySide6.QtCore import QTimer
from tests.end2end.test_tools_by_the_engine import Demanding
from tests.helpers.tool_calls import FakeServers, tool
qt = qt_application()
Demanding.demanded = "files__send"
application = Application(Paths.for_user(Path(sys.argv[1])), Demanding)
servers = FakeServers(holds=True)
servers.put(tool("send"))
asked = []
def look():
    rows = application.chats.transcript.messages
    if application.engine.state().main is not None and not asked:
        asked.append(1)
        application.chats.send("Go")
    elif rows and rows[-1].consent is not None:
        application.chats.exchanges.answer(rows[-1].id, Answer.CHAT, rows[-1].consent)
    elif servers.ran:
        parts = application.storage.read.messages.message(rows[-1].id).parts
        print([each.stage.value for each in of_kind(Call, parts)], flush=True)
timer = QTimer(interval=50)
timer.timeout.connect(look)
def begin():
    application.chats.tools.use_servers(servers)
    application.chats.tools.set_on(["files/send"], True)
    timer.start()
application.opened.connect(begin)
application.show()
qt.exec()
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small(tmp_path_factory.mktemp("calling"), "<think>", "</think>", template=TEMPLATE)


def last(application: Application) -> TranscriptMessage:
    return application.chats.transcript.messages[-1]


@pytest.mark.parametrize("demanded", ["time", "list_folder"])
def test_a_reply_calls_a_tool_and_goes_on(tmp_path: Path, qtbot: QtBot, model: Path, demanded: str) -> None:
    paths = Paths.for_user(tmp_path)
    stored = {"main_folder": str(model), "draft_folder": "", "automatic_titles": False, "language": "en"}
    paths.settings.write_text(json.dumps(stored))
    Demanding.demanded = demanded
    application = Application(paths, Demanding)
    try:
        with qtbot.waitSignal(application.opened):
            application.show()
        qtbot.waitUntil(lambda: application.models.main_info() is not None)
        qtbot.waitUntil(lambda: application.engine.state().main is not None)
        (tmp_path / "chosen").mkdir()
        application.chats.tools.choose_folders([str(tmp_path / "chosen")])
        application.chats.tools.set_on([f"/{demanded}"], True)
        assert application.chats.send("Go")
        qtbot.waitUntil(lambda: bool(application.chats.transcript.messages))
        ends = (ReplyStatus.DONE, ReplyStatus.LENGTH)
        if demanded == "list_folder":
            qtbot.waitUntil(lambda: last(application).status is ReplyStatus.WAITS_FOR_YOU)
            asked = last(application)
            assert asked.consent is not None
            application.chats.exchanges.answer(asked.id, Answer.ONCE, asked.consent)
        qtbot.waitUntil(lambda: last(application).status in ends)
        (step,) = last(application).steps
        assert step.calls[0].tool == demanded
        assert (step.calls[0].arguments, step.calls[0].state) == ("{}", CallState.DONE)
        assert ("chosen/" if demanded == "list_folder" else "UTC") in step.calls[0].result
        stats = last(application).stats
        assert stats is not None
        assert stats.cached_tokens > 0.4 * stats.prompt_tokens, "the second step goes on from the first one's tokens"
    finally:
        application.window.close_at_once()
        reset_process(application)


@pytest.mark.slow
def test_a_call_that_ran_when_the_app_was_killed_is_not_known_to_have_run(
    tmp_path: Path, model: Path, qtbot: QtBot
) -> None:
    paths = Paths.for_user(tmp_path)
    paths.settings.write_text(json.dumps({"main_folder": str(model), "draft_folder": "", "automatic_titles": False}))
    with running(_CALL, tmp_path) as process:
        assert said(process) == "['sent']\n"
        process.kill()
    with open_harness(tmp_path, qtbot) as harness:
        (chat,) = harness.storage.read.chats.ids()
        reply = harness.storage.read.messages.shown_branch(chat)[-1]
        row = transcript_row(reply)
        assert (row.status, row.steps[0].calls[0].state) == (ReplyStatus.INTERRUPTED, CallState.UNKNOWN)
        assert row.can_continue
