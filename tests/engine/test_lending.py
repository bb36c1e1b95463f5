"""Lending from a process of its own, as the app does: what it reports, what it is told, and how it ends."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import (
    Engine,
    HubSource,
    LendingPhase,
    LendingProcess,
    LendingState,
    MachineRefusal,
    MachineUnavailable,
    ModelFailed,
    ModelReady,
    RankLost,
    Request,
    Sampling,
    Speculation,
    plan_with,
    ways,
)
from engine.api.types import Message, MessageRole
from tests.helpers.engine_client import PATIENCE_S, EngineClient
from tests.helpers.lent import GB, Lent
from tests.helpers.ports import free_port
from tests.helpers.ranks import processes_below, rank_folder, runs
from tests.helpers.tiny_models import VOCABULARY


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(cache_disk_bytes=0)
    yield made
    assert made.close(PATIENCE_S)


@pytest.fixture
def lent(tmp_path: Path) -> Iterator[Lent]:
    made = Lent(tmp_path)
    yield made
    assert made.process.stop(PATIENCE_S)
    assert processes_below(os.getpid()) == []


@pytest.mark.slow
@pytest.mark.expect_log("could not load", "RankLost", "MachineUnavailable")
def test_a_model_is_loaded_with_the_help_of_a_machine_that_says_so(engine: Engine, lent: Lent, tmp_path: Path) -> None:
    main, draft = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    shutil.copytree(main, elsewhere := tmp_path / "elsewhere")
    lent.offer(draft, elsewhere)
    helping = lent.paired(tmp_path / "here")
    assert lent.until(lambda state: state.paired) == LendingState(LendingPhase.READY, offered_bytes=3 * GB, paired=1)
    assert 0.0 < ways(tmp_path / "here", helping.machine, [helping.machine.address])[0].trip_s < PATIENCE_S
    plan = plan_with(main, [helping])
    assert plan.fits
    assert [share.helping for share in plan.shares] == [None, helping]

    request = Request(
        (Message(MessageRole.USER, "Hello"),),
        sampling=Sampling(temperature=0.0),
        speculation=Speculation.fixed(3),
        max_tokens=12,
    )
    client = EngineClient(engine)
    client.load(main, draft)
    alone = client.run(request).tokens
    assert isinstance(client.load(main, draft, helping=[helping]), ModelReady)
    assert client.run(request).tokens == alone
    used = lent.until(lambda state: state.used_bytes)
    assert (used.user, used.folder) == (socket.gethostname(), str(elsewhere))

    lent.process.take_back()
    assert lent.until(lambda state: not state.user).phase is LendingPhase.READY
    lost = client.run(request)
    assert isinstance(lost.failed.error, RankLost | MachineUnavailable)  # at rest it was loaded again in vain
    stopped = client.load(main, helping=[helping])
    assert isinstance(stopped, ModelFailed)
    assert isinstance(stopped.error, MachineUnavailable)
    assert stopped.error.why is MachineRefusal.TAKEN_BACK
    lent.offer()
    source = HubSource("owner/model", "c" * 40)
    with pytest.raises(MachineUnavailable):
        plan_with(main, [helping], source)
    wanted = lent.until(lambda state: state.wanted_by)
    assert HubSource(wanted.wanted_repository, wanted.wanted_revision) == source
    refused = client.load(main, helping=[helping])
    assert isinstance(refused, ModelFailed)
    assert isinstance(refused.error, MachineUnavailable)
    assert refused.error.why is MachineRefusal.NO_MODEL


def test_a_port_that_is_taken_is_a_state(tmp_path: Path) -> None:
    states: queue.SimpleQueue[LendingState] = queue.SimpleQueue()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = LendingProcess(tmp_path, f"127.0.0.1:{taken.getsockname()[1]}", states.put)
        process.start()
        assert states.get(timeout=PATIENCE_S).phase is LendingPhase.STARTING
        assert states.get(timeout=PATIENCE_S) == LendingState(LendingPhase.FAILED, "AddressInUse")
    assert process.stop(PATIENCE_S)
    assert states.empty()


@pytest.mark.slow
def test_it_ends_with_the_process_that_has_started_it(tmp_path: Path) -> None:
    """However that ends: here it is killed."""
    code = (
        "import sys, threading; from pathlib import Path; from engine import LendingProcess\n"
        "said = lambda state: print(state.phase.value, flush=True)\n"
        "LendingProcess(Path(sys.argv[1]), sys.argv[2], said).start(); threading.Event().wait()"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path), f"127.0.0.1:{free_port()}"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert [parent.stdout.readline().strip() for _ in range(2)] == [b"starting", b"ready"]
        (child,) = processes_below(parent.pid)
        os.kill(parent.pid, signal.SIGKILL)
    until = PATIENCE_S * 100
    while runs(child) and until:
        threading.Event().wait(0.01)
        until -= 1
    assert not runs(child)
