"""The app without its windows: controllers over a scripted engine and model store, in a folder of the test's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QObject, SignalInstance
from pytestqt.qtbot import QtBot

from app.bridge import EngineBridge, GuiCalls
from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.pair_loading import StarterPair
from app.settings import Settings
from app.storage import Database, NotStored, Storage, Stores
from app.storage.pair_records import PairRecords
from app.system.paths import Paths
from app.view_models.model_list import PairState
from app.view_models.transcript import TranscriptMessage
from app.words.notices import Notice
from app.words.notices_for_errors import Problem, notice_for
from engine import Catalog, ChatEngine, EngineError, InstalledModel, ModelInfo
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine, Script
from tests.helpers.fake_model_store import FakeModelStore


def open_storage(qtbot: QtBot, path: Path, calls: GuiCalls) -> Storage:
    storage = Storage(path, calls.post)
    opened: list[object] = []
    storage.open(opened.append, opened.append)
    qtbot.waitUntil(lambda: bool(opened))
    if isinstance(opened[0], Exception):
        raise opened[0]
    return storage


class Settled:
    """A controller whose methods return when what they asked the storage for is answered, as a person sees it."""

    def __init__(self, controller: QObject, storage: Storage, qtbot: QtBot) -> None:
        self._controller = controller
        self._storage = storage
        self._qtbot = qtbot

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._controller, name)
        if name in ("deletions", "asking"):
            return Settled(value, self._storage, self._qtbot)
        if not callable(value) or isinstance(value, SignalInstance):
            return value

        def call(*arguments: object) -> object:
            answer = value(*arguments)
            self._qtbot.waitUntil(lambda: not self._storage.pending)
            return answer

        return call


class ControllerHarness:
    def __init__(
        self,
        folder: Path,
        qtbot: QtBot,
        models: Mapping[str, ModelInfo | EngineError] | None = None,
        installed: Sequence[InstalledModel] | None = None,
        starter: StarterPair | None = None,
        engine: ChatEngine | None = None,
    ) -> None:
        """`engine`: a real one, for what has no script."""
        self.qtbot = qtbot
        self.paths = Paths.for_user(folder)
        self.settings = Settings(self.paths.settings, self.paths.hub_token)
        self.settings.automatic_titles = False  # a request more, which takes a script
        self.bridge = EngineBridge()
        self.engine = FakeEngine(models)
        self.used = engine or self.engine
        self.store = FakeModelStore(self.bridge.post, installed)
        self.calls = GuiCalls()
        self.storage = open_storage(qtbot, self.paths.database, self.calls)
        self.database = Database(self.paths.database)  # for a look at what is stored
        starter = starter or StarterPair(folder / "no-starter-main", folder / "no-starter-draft")
        records = PairRecords(self.paths.pairs, "here")
        self.models = ModelController(self.used, self.store, self.bridge, self.settings, starter, records)
        self.models.library.catalog = Catalog()
        self.controller = ChatController(self.used, self.bridge, self.storage, self.settings, self.models)
        self.chat = cast(ChatController, Settled(self.controller, self.storage, qtbot))
        self.problems: list[Problem] = []
        self.refusals: list[NotStored] = []
        for signal in (self.chat.problem_raised, self.models.problem_raised):
            signal.connect(self.problems.append)
        self.chat.changes.not_stored.connect(self._on_refused)
        self.chat.asking.message_refused.connect(lambda _chat_id, problem, retry: self._on_refused(problem, retry))
        ends = self.chat.replies.ends
        self.chat.replies.not_stored.connect(lambda problem: self._on_refused(problem, ends.try_again))
        self.retry: Callable[[], None] = lambda: None

    def _on_refused(self, problem: NotStored, retry: Callable[[], None]) -> None:
        self.refusals.append(problem)
        self.retry = retry

    def change(self, change: Callable[[Stores], object]) -> None:
        """Does something to the writer's connection."""
        done: list[object] = []
        self.storage.write(change, done.append, done.append)
        self.qtbot.waitUntil(lambda: bool(done))

    @property
    def notices(self) -> list[Notice]:
        return [notice_for(problem) for problem in self.problems]

    def load_pair(self, main: str = MAIN.folder, draft: str = DRAFT.folder) -> None:
        self.settings.main_folder, self.settings.draft_folder = main, draft
        self.models.start()
        self.wait_for_pair()

    def wait_for_pair(self) -> None:
        pair = self.models
        self.qtbot.waitUntil(
            lambda: (
                pair.pair.state is not PairState.LOADING and pair.pair.draft_state != "loading" and bool(pair.models)
            )
        )

    def will_say(self, *replies: str) -> None:
        self.engine.scripts.extend(Script(pieces=(reply,)) for reply in replies)

    def say(self, text: str) -> TranscriptMessage:
        """Sends, waits for the whole reply, returns its row."""
        assert self.chat.send(text)
        self.wait_until_quiet()
        return self.rows[-1]

    def wait_until_quiet(self) -> None:
        chat = self.chat
        self.qtbot.waitUntil(
            lambda: not (chat.generating or self.storage.pending or chat.asking.is_storing(chat.chat_id))
        )

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.storage.pending)

    def wait_for_text(self, text: str) -> None:
        self.qtbot.waitUntil(lambda: self.rows[-1].text == text)

    @property
    def rows(self) -> list[TranscriptMessage]:
        return self.chat.transcript.messages

    @property
    def texts(self) -> list[str]:
        return [row.text for row in self.rows]

    def titles(self) -> list[str]:
        return [row.title for row in self.chat.conversations.rows if row.chat_id]

    def close(self) -> None:
        """In the order of the app: replies are kept, threads end, late events go nowhere, files close."""
        self.chat.close()
        assert self.used.close()
        assert self.engine.close()
        assert self.store.close()
        self.bridge.close()
        assert self.storage.close()
        self.calls.close()
        self.settings.save()
        self.database.close()


@contextmanager
def open_harness(folder: Path, qtbot: QtBot, **parts: object) -> Iterator[ControllerHarness]:
    harness = ControllerHarness(folder, qtbot, **parts)  # type: ignore[arg-type]
    try:
        yield harness
    finally:
        harness.close()


def recorded(signal: SignalInstance) -> list[tuple[object, ...]]:
    """Collects what a signal says from now on."""
    said: list[tuple[object, ...]] = []
    signal.connect(lambda *values: said.append(values))
    return said
