"""Hubs that are never reached: the system waits for a name that nobody looks up, or a connection that nobody accepts.

Whoever waits for them can leave at once. Here the system goes on waiting until a test has seen that all else has ended.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import DownloadFinished, DownloadStopped, HubAccess, HubQuery
from tests.end2end.conftest import REPO
from tests.helpers.event_recorder import EventRecorder, QuickStore
from tests.helpers.model_folders import model_files, write_folder
from tests.helpers.tinyhub import TinyHub

SOON_S = 30.0
_connect, _look_up = socket.create_connection, socket.getaddrinfo


class PatientStore(QuickStore):
    tuning = replace(QuickStore.tuning, patience=replace(QuickStore.tuning.patience, read_s=7200.0, connect_s=7200.0))


class Stuck:
    """A hub that cannot be reached until the test ends."""

    def __init__(self, access: HubAccess) -> None:
        self.access = access
        self.asked = threading.Semaphore(0)
        self.over = threading.Event()

    def wait(self) -> None:
        assert self.asked.acquire(timeout=SOON_S), "nobody has tried to reach it"


@contextmanager
def a_name_that_nobody_looks_up(monkeypatch: pytest.MonkeyPatch, access: HubAccess) -> Iterator[Stuck]:
    stuck = Stuck(access)

    def look_up(host: Any, *rest: Any, **options: Any) -> Any:
        if not str(host).endswith(".example"):
            return _look_up(host, *rest, **options)
        stuck.asked.release()
        stuck.over.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    try:
        yield stuck
    finally:
        stuck.over.set()


@contextmanager
def a_full_line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    """A server that accepts nobody, and has no room for more who wait."""
    with ExitStack() as sockets:
        server = sockets.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(3):
            sockets.enter_context(waiting := socket.socket()).setblocking(False)
            waiting.connect_ex(server.getsockname())
        stuck = Stuck(HubAccess(f"http://127.0.0.1:{server.getsockname()[1]}"))

        def connect(address: Any, *rest: Any, **options: Any) -> socket.socket:
            if address[1] == server.getsockname()[1]:
                stuck.asked.release()
            return _connect(address, *rest, **options)

        with monkeypatch.context() as patched:
            patched.setattr(socket, "create_connection", connect)
            yield stuck


@pytest.fixture(params=["name", "name of a proxy", "connection"])
def stuck(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    access = {
        "name": HubAccess("http://hub.example"),
        "name of a proxy": HubAccess("http://192.0.2.1", proxy="http://proxy.example:3128"),
    }.get(request.param)
    with a_full_line(monkeypatch) if access is None else a_name_that_nobody_looks_up(monkeypatch, access) as stuck:
        yield stuck


@pytest.fixture
def store(tmp_path: Path, stuck: Stuck, recorder: EventRecorder) -> Iterator[PatientStore]:
    store = PatientStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none")
    store.set_hub(stuck.access)
    yield store
    assert store.close()


@pytest.mark.parametrize("wish", ["pause", "cancel"])
def test_a_download_can_be_left_at_once(store: PatientStore, stuck: Stuck, recorder: EventRecorder, wish: str) -> None:
    download = store.install(REPO)
    stuck.wait()
    getattr(store, wish)(download)
    assert isinstance(recorder.end_of(download), DownloadStopped)


def test_another_hub_is_asked_while_the_first_is_still_stuck(
    hub: TinyHub, store: PatientStore, stuck: Stuck, recorder: EventRecorder
) -> None:
    download = store.install(REPO)
    stuck.wait()
    store.pause(download)
    store.set_hub(HubAccess(hub.endpoint))
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)


QUESTIONS: dict[str, Callable[[PatientStore, Path], object]] = {
    "download": lambda store, _folder: store.install(REPO),
    "search": lambda store, _folder: store.search(HubQuery("tiny")),
    "page": lambda store, _folder: store.read_page(REPO),
    "update": lambda store, folder: store.check_for_update(folder),
}


@pytest.mark.costly
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_store_that_closes_does_not_wait(tmp_path: Path, store: PatientStore, stuck: Stuck, question: str) -> None:
    folder = write_folder(tmp_path / "models" / REPO, model_files())
    (folder / "hunch.json").write_text(f'{{"repository": "{REPO}", "revision": "{"0" * 40}"}}')
    QUESTIONS[question](store, folder)
    stuck.wait()
    assert store.close()


def test_a_connection_that_comes_too_late_is_closed(
    tmp_path: Path, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, may_connect = threading.Event(), threading.Event()

    def connect(*rest: Any, **options: Any) -> socket.socket:
        asked.set()
        may_connect.wait()
        return _connect(*rest, **options)

    monkeypatch.setattr(socket, "create_connection", connect)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(SOON_S)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        store = PatientStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=address)
        download = store.install(REPO)
        assert asked.wait(SOON_S)
        store.cancel(download)
        assert isinstance(recorder.end_of(download), DownloadStopped)
        may_connect.set()
        line, _ = server.accept()
        line.settimeout(SOON_S)
        assert line.recv(1) == b""
        line.close()
    assert store.close()
