"""Changing a chat as a person does it, with the real window, engine, database and models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import STARTER, Application
from app.controllers.message_changes import Then
from app.settings import Settings
from app.storage import EditKind
from app.system.paths import Paths
from app.view_models.model_list import PairState
from app.words.notices_for_errors import notice_for
from engine import TemplateFailed
from tests.helpers.app_harness import reset_process
from tests.helpers.tiny_models import CHAT_TEMPLATE, build, qwen3_config, save

PATIENCE_MS = 120_000
_USER_FIRST = (
    "{% if messages[0].role == 'assistant' %}{{ raise_exception('the first message must be the user') }}{% endif %}"
)


class Person:
    def __init__(self, folder: Path, qtbot: QtBot, main: Path | None) -> None:
        self.qtbot = qtbot
        paths = Paths.for_user(folder)
        settings = Settings(paths.settings, paths.hub_token)
        settings.language = "en"
        if main is not None:
            settings.main_folder, settings.draft_folder, settings.max_tokens = str(main), "", 24
        settings.save()
        self.application = Application(paths, starter=STARTER)
        with qtbot.waitSignal(self.application.opened, timeout=PATIENCE_MS):
            self.application.show()
        self.wait(lambda: self.application.models.pair.state is PairState.READY)
        self.chats = self.application.chats

    def wait(self, condition: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)

    def rest(self) -> None:
        self.wait(lambda: not self.application.storage.pending and not self.chats.generating)

    def ask(self, text: str) -> str:
        count = len(self.texts)
        self.application.window.composer.send(text)
        self.wait(lambda: len(self.texts) == count + 2)
        self.rest()
        return self.texts[-1]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.chats.transcript.messages]

    def id_of(self, row: int) -> int:
        return self.chats.transcript.messages[row].id

    def change(self, row: int, text: str, kind: EditKind = EditKind.EDIT, then: Then = Then.NOTHING) -> None:
        message_id = self.id_of(row)
        self.chats.edits.begin(message_id, kind)
        self.chats.edits.type(message_id, text)
        assert self.chats.edits.save(message_id, then)
        self.wait(lambda: not self.application.storage.pending)
        self.rest()


@contextmanager
def person_with(folder: Path, qtbot: QtBot, main: Path | None = None) -> Iterator[Person]:
    person = Person(folder, qtbot, main)
    try:
        yield person
    finally:
        with qtbot.waitSignal(person.application.ended, timeout=PATIENCE_MS):
            person.application.window.close_at_once()
        reset_process(person.application)


@pytest.fixture(scope="module")
def strict_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its template wants the person to speak first, as those of several families do."""
    config = qwen3_config(max_position_embeddings=2048)
    folder = save(build(config), config, tmp_path_factory.mktemp("models") / "Strict-1B")
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"chat_template": _USER_FIRST + CHAT_TEMPLATE}))
    return folder


@pytest.mark.slow
def test_both_sides_are_rewritten_and_the_model_goes_on(tmp_path: Path, qtbot: QtBot) -> None:
    with person_with(tmp_path, qtbot) as person:
        reply = person.ask("What is a draft model?")
        beginning = reply[: len(reply) // 2]
        person.change(1, beginning, then=Then.CONTINUE)
        assert person.texts[-1].startswith(beginning)
        assert len(person.texts[-1]) > len(beginning), "the model went on from the edited words"
        person.change(1, "And is it safe?", EditKind.AFTER, Then.REPLY)
        assert person.texts[2] == "And is it safe?"
        assert person.texts[3]
        person.chats.edits.delete(person.id_of(1))
        person.rest()
        assert len(person.texts) == 3
        person.chats.deletions.undo()
        person.rest()
        whole = person.texts
        chat = person.chats.chat_id
    with person_with(tmp_path, qtbot) as person:
        person.chats.open_chat(chat)
        assert person.texts == whole


@pytest.mark.slow
def test_what_a_template_cannot_take_is_refused_with_its_reason(
    tmp_path: Path, qtbot: QtBot, strict_model: Path
) -> None:
    with person_with(tmp_path, qtbot, strict_model) as person:
        person.ask("Hello")
        person.change(0, "I speak first", EditKind.BEFORE)
        person.ask("And now?")
        error = person.chats.transcript.messages[-1].error
        assert isinstance(error, TemplateFailed)
        assert "the first message must be the user" in notice_for(error).detail
        person.chats.edits.switch_role(person.id_of(0))
        person.rest()
        person.chats.asking.regenerate(person.id_of(-1))
        person.rest()
        assert person.chats.transcript.messages[-1].error is None
