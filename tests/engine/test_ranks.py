"""A model over two processes: the same tokens as in one, whatever drafts, and what is left when a process is lost."""

from __future__ import annotations

import gc
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.models.cache import KVCache

from engine import (
    DrafterDoesNotFit,
    Engine,
    Event,
    Finished,
    Helping,
    HubSource,
    LoadAborted,
    Machine,
    MachineRefusal,
    MachineUnavailable,
    Message,
    MessageRole,
    ModeChoice,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    ModeReason,
    RankEnd,
    RankLost,
    RankMode,
    RankPlan,
    RankShare,
    Request,
    RequestId,
    Sampling,
    Speculation,
    TextDelta,
    plan_ranks,
)
from engine.caches.base import CacheSet
from engine.caches.kinds import CacheMisuse
from engine.cluster import loading, rank
from engine.cluster.fabric import RDMA
from engine.cluster.loading import Mirror
from engine.cluster.operations import (
    CanTruncate,
    Commit,
    Copy,
    Drop,
    Forward,
    LoadPart,
    MakeCheckpoint,
    Operation,
    Stepped,
    Truncate,
)
from engine.cluster.rank import Rank
from engine.cluster.rank_group import RankGroup
from engine.machines.identity import Identity
from engine.machines.lender import Lender
from engine.machines.lent import pair_machines
from engine.machines.messages import RankAnswer
from engine.models import fit
from engine.models.memory import available_bytes
from tests.helpers.engine_client import PATIENCE_S, EngineClient, Recorder
from tests.helpers.ranks import Line, Witness, open_sockets, processes_below, rank_folder, runs
from tests.helpers.samples import fair
from tests.helpers.tiny_drafters import save_kind
from tests.helpers.tiny_heads import head_weights, save_main_with_head
from tests.helpers.tiny_models import VOCABULARY

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "resources" / "starter" / "main"
GB = 10**9
SIZES = [GB, GB]


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    return Witness(monkeypatch)


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(cache_disk_bytes=0)
    yield made
    assert made.close(60)
    assert processes_below(os.getpid()) == []


def asked(text: str = "Hello", *, warm: bool = False, drafted: int = 0, tokens: int = 8) -> Request:
    return Request(
        messages=(Message(MessageRole.USER, text),),
        sampling=Sampling(temperature=0.8 if warm else 0.0, seed=7, logit_bias=((257, -100.0),)),
        speculation=Speculation.fixed(drafted) if drafted else Speculation.off(),
        max_tokens=tokens,
    )


def said(client: EngineClient, tokens: int = 8) -> list[tuple[tuple[int, ...], int, int]]:
    """Tokens, cached tokens and drafted tokens of replies of every kind; the last goes on from the one before."""
    kinds: list[dict[str, Any]] = [{}, {"warm": True}, {"drafted": 3}, {"warm": True, "drafted": 3}]
    requests = [asked(**kind, tokens=tokens) for kind in kinds]
    outcomes = [client.run(request) for request in requests]
    answer = outcomes[-1].text()
    more = Request(
        messages=(*requests[-1].messages, Message(MessageRole.ASSISTANT, answer), Message(MessageRole.USER, "More")),
        sampling=requests[-1].sampling,
        speculation=requests[-1].speculation,
        max_tokens=tokens,
    )
    outcomes.append(client.run(more))
    return [(each.tokens, each.stats.cached_tokens, each.stats.drafted) for each in outcomes]


@pytest.mark.parametrize("family", fair(["qwen2", "qwen3_next"], "qwen3_next"))
def test_two_processes_write_what_one_writes(family: str, engine: Engine, tmp_path: Path) -> None:
    """Greedy and seeded, drafted and not, and a next turn from what was kept: a dense family and a recurrent one."""
    main, draft = rank_folder(family, tmp_path, vocab_size=VOCABULARY)
    client = EngineClient(engine)
    assert isinstance(client.load(main, draft), ModelReady)
    alone = said(client)
    assert isinstance(client.load(main, draft, plan=plan_ranks(main, SIZES)), ModelReady)
    (other,) = processes_below(os.getpid())
    libraries = Path(f"/proc/{other}/maps").read_text()
    assert "mlx" in libraries
    assert "tokenizers" not in libraries  # it reads no text, and asks no machine: so it starts sooner
    assert "_ssl" not in libraries

    assert said(client) == alone
    assert [drafted > 0 for _, _, drafted in alone] == [False, False, True, True, True]
    assert alone[-1][1] > 0


@pytest.mark.parametrize("family", ["qwen2", "qwen3_5"])
def test_tensor_mode_writes_the_same_with_any_draft(family: str, engine: Engine, tmp_path: Path) -> None:
    """Greedy and seeded, and a next turn from what was kept: a draft model, and an MTP head of a recurrent family.

    Every family is in `families/test_ranks.py`.
    """
    if family == "qwen2":
        main, draft = rank_folder(family, tmp_path, vocab_size=VOCABULARY)
    else:
        main = draft = save_main_with_head(family, tmp_path, head_weights(family))
    client = EngineClient(engine)
    ready = client.load(main, draft, plan=plan_ranks(main, SIZES, mode=RankMode.TENSOR))
    assert isinstance(ready, ModelReady)
    assert len(processes_below(os.getpid())) == 2
    (plain, *_), (warm, *_), (drafted, _, n), (warm_drafted, _, m), (_, cached, _) = said(client, tokens=5)

    assert (drafted, warm_drafted) == (plain, warm)
    assert min(n, m, cached) > 0
    choice = engine.state().choice
    assert choice is not None
    assert (choice.mode, choice.reason) == (RankMode.TENSOR, ModeReason.ASKED)
    assert min(choice.forward_s, choice.sums_s) > 0


@pytest.mark.expect_log("RankLost")
def test_a_rank_killed_in_the_middle_of_a_check_ends_the_reply_with_its_words_and_is_started_again(
    engine: Engine, witness: Witness, tmp_path: Path
) -> None:
    main, draft = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    plan, client = plan_ranks(main, SIZES), EngineClient(engine)
    sockets = open_sockets()
    client.load(main, draft, plan=plan)
    witness.kill_before_forward(5)
    outcome = client.run(asked(drafted=3, tokens=200))

    assert isinstance(outcome.failed.error, RankLost)
    assert outcome.text()
    assert len(client.run(asked()).tokens) == 8  # with the model that is loaded again meanwhile

    witness.kill_before_forward(5)
    outcome = client.run(asked(tokens=200))
    again = client.run(asked())
    assert isinstance(outcome.failed.error, RankLost)
    assert str(again.failed.error) == str(outcome.failed.error)
    assert engine.state().main is None
    assert engine.state().again_at is not None
    assert processes_below(os.getpid()) == []
    assert open_sockets() == sockets


@pytest.mark.expect_log("RankLost")
def test_nothing_holds_a_model_that_has_lost_a_rank(engine: Engine, tmp_path: Path) -> None:
    """Else the weights of this machine's layers would be in memory twice once it is loaded again."""

    def fronts() -> int:
        gc.collect()
        return sum(isinstance(each, loading.FrontRank) for each in gc.get_objects())

    main, draft = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    client, before = EngineClient(engine), fronts()
    client.load(main, draft, plan=plan_ranks(main, SIZES))
    client.run(asked(drafted=3))
    (other,) = processes_below(os.getpid())
    os.kill(other, signal.SIGKILL)
    for _ in range(2):  # the first may end with the rank, or have waited for another
        last = client.run(asked(drafted=3)).events[-1]
    assert isinstance(last, Finished)
    assert fronts() == before + 1
    client.unload()

    assert fronts() == before


class Lent:
    """A model on another machine, over a line that can be hurt, and an engine."""

    def __init__(self, folder: Path) -> None:
        self.engine = Engine(cache_disk_bytes=0)
        self.main, self.draft = rank_folder("qwen2", folder, vocab_size=VOCABULARY)
        self.lender = Lender(Identity(folder / "lends"), lambda: {self.main: HubSource()})
        self.port = self.lender.start("127.0.0.1", 0)
        self.line = Line(self.port)
        machine = pair_machines(folder / "here", self.line.address, self.lender.invite())
        self.plan = plan_ranks(self.main, SIZES, [Helping(machine, str(folder / "here"))])


@pytest.fixture
def lent(tmp_path: Path) -> Iterator[Lent]:
    made = Lent(tmp_path)
    yield made
    assert made.engine.close(60)
    made.lender.stop()
    made.line.close()
    assert processes_below(os.getpid()) == []


@pytest.mark.slow
@pytest.mark.expect_log("RankLost")
@pytest.mark.parametrize(("hurt", "why"), [(Line.cut, RankEnd.ENDED), (Line.hush, RankEnd.SILENT)])
def test_a_line_that_fails_in_a_reply_keeps_its_words_and_is_made_anew(
    hurt: Callable[[Line], None], why: RankEnd, lent: Lent
) -> None:
    """In the middle of a frame. The other machine has noticed nothing yet, and gives up the rank that was lost."""
    client = EngineClient(lent.engine)
    client.load(lent.main, lent.draft, plan=lent.plan)
    alone = client.run(asked(drafted=3)).tokens

    def on_event(_request: RequestId, event: Event) -> None:
        if isinstance(event, TextDelta):
            hurt(lent.line)

    broken = client.run(asked(drafted=3, tokens=400), on_event)
    assert isinstance(broken.failed.error, RankLost)
    assert broken.failed.error.why is why
    assert broken.text()
    assert client.run(asked(drafted=3)).tokens == alone
    assert len(processes_below(os.getpid())) == 1


@pytest.mark.slow
@pytest.mark.expect_log("RankLost")
def test_two_machines_in_tensor_mode_write_on_after_their_line_was_cut(lent: Lent) -> None:
    """Operations go over TLS; the sums over loopback, which both machines are on here."""
    helping = [share.helping for share in lent.plan.shares if share.helping is not None]
    client = EngineClient(lent.engine)
    client.load(lent.main, lent.draft, plan=plan_ranks(lent.main, SIZES, helping, mode=RankMode.TENSOR))
    assert len(processes_below(os.getpid())) == 2
    whole = client.run(asked(drafted=3, tokens=40))

    def on_event(_request: RequestId, event: Event) -> None:
        if isinstance(event, TextDelta):
            lent.line.cut()

    broken = client.run(asked(drafted=3, tokens=40), on_event)
    assert isinstance(broken.failed.error, RankLost)
    assert (broken.failed.error.rank, broken.failed.error.why) == (2, RankEnd.ENDED)
    assert broken.failed.error.machine == helping[0].machine.name
    assert whole.text().startswith(broken.text()) is bool(broken.text()) is True
    assert client.run(asked(drafted=3, tokens=40)).tokens == whole.tokens
    assert len(processes_below(os.getpid())) == 2


def lends(lent: Lent, wanted: bool) -> bool:
    """Once it does, or not; False if that does not come."""
    until = time.monotonic() + PATIENCE_S
    while (lent.lender.lending is None) is wanted and time.monotonic() < until:
        time.sleep(0.01)
    return (lent.lender.lending is not None) is wanted


@pytest.mark.parametrize(
    ("phase", "end"),
    [
        pytest.param("reply", signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param("reply", signal.SIGSTOP, marks=pytest.mark.slow),
        pytest.param("load", signal.SIGKILL, marks=pytest.mark.drill),
        pytest.param("load", signal.SIGSTOP, marks=pytest.mark.drill),
    ],
)
def test_what_is_lent_ends_with_the_main_that_does(phase: str, end: signal.Signals, lent: Lent, tmp_path: Path) -> None:
    """One that is stopped looks from there like one that sleeps or is unplugged."""
    with started(lent.main, "--with", lent.line.address, "--identity", str(tmp_path / "here")) as main:
        assert main.stdout is not None
        assert lends(lent, True), main.poll()
        if phase == "reply":
            assert main.stdout.read(1)
        main.send_signal(end)
        assert lends(lent, False)
        main.kill()
    assert processes_below(os.getpid()) == []


@pytest.mark.expect_log("could not load", "RankLost", "MachineUnavailable")
def test_a_rank_on_another_machine_writes_the_same_until_that_takes_it_back(engine: Engine, tmp_path: Path) -> None:
    main, draft = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    client, elsewhere = EngineClient(engine), tmp_path / "elsewhere"
    shutil.copytree(main, elsewhere)  # the files have other times there
    lender = Lender(Identity(tmp_path / "lends"), lambda: dict.fromkeys((draft, elsewhere), HubSource()))
    address = f"127.0.0.1:{lender.start('127.0.0.1', 0)}"
    here = tmp_path / "here"
    helping = Helping(pair_machines(here, address, lender.invite()), str(here))
    client.load(main, draft)
    alone = client.run(asked(drafted=3)).tokens
    plan = plan_ranks(main, SIZES, [helping])

    assert isinstance(client.load(main, draft, plan=plan), ModelReady)
    assert client.run(asked(drafted=3)).tokens == alone
    lent = lender.lending
    assert lent is not None
    assert lent.folder == str(elsewhere)
    heard = Recorder()
    engine.subscribe(heard)
    lender.stop()
    assert processes_below(os.getpid()) == []
    refused = heard.error(ModelFailed)  # by itself: the loss is noticed at rest, too
    assert [type(event) for event in heard.heard] == [ModelUnloaded, ModelUnloaded, ModelLoading, ModelFailed]
    assert isinstance(refused, MachineUnavailable)
    assert refused.why is MachineRefusal.UNREACHABLE
    assert client.run(asked()).failed.error == refused


def test_a_load_that_waits_for_another_machine_is_ended_at_once(engine: Engine, tmp_path: Path) -> None:
    """By an engine that goes on meanwhile: nothing that comes from there is waited for."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        machine = Machine("Silent", "0" * 64, f"127.0.0.1:{silent.getsockname()[1]}")
        plan = plan_ranks(STARTER, SIZES, [Helping(machine, str(tmp_path))])
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        engine.load(STARTER, events.put, plan=plan)
        connected = silent.accept()[0]
        engine.unload(events.put)
        ends = list(iter(partial(events.get, timeout=PATIENCE_S), ModelUnloaded(ModelRole.MAIN)))
        connected.close()

    assert isinstance(ends[-1], ModelFailed)
    assert isinstance(ends[-1].error, LoadAborted)


def test_a_load_that_is_ended_while_it_is_planned_starts_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that answers late it would end the rank of the load that came after."""
    started: list[RankShare] = []
    monkeypatch.setattr(loading, "_start", lambda share, _digest: partial(started.append, share))
    answers, planners = threading.Event(), []

    def planned() -> RankPlan:
        planners.append(threading.current_thread())
        answers.wait()
        return plan_ranks(STARTER, SIZES)

    slices = loading.loading_over_ranks(planned)
    while not planners:
        next(slices)
    slices.close()
    answers.set()
    planners[0].join()

    assert started == []


@pytest.mark.parametrize("family", fair(["qwen3_5", "deepseek_v3", "mimo"], "qwen3_5"))
def test_an_mtp_head_drafts_over_ranks_as_in_one_process(family: str, engine: Engine, tmp_path: Path) -> None:
    """It reads the input of the main model's head, which rank 0 has. The second time it comes late, and states of the
    prompt are missing.
    """
    main = save_main_with_head(family, tmp_path / "main", head_weights(family))
    client = EngineClient(engine)

    def drafted(plan: RankPlan | None) -> list[tuple[tuple[int, ...], int, int]]:
        assert isinstance(client.load(main, plan=plan), ModelReady)
        before = client.run(asked(tokens=40))
        assert isinstance(client.set_draft(main), ModelReady)
        more = [Message(MessageRole.ASSISTANT, before.text()), Message(MessageRole.USER, "More")]
        requests = [asked(warm=warm, drafted=3, tokens=24) for warm in (False, True)]
        late = replace(requests[0], messages=(*requests[0].messages, *more))
        outcomes = [client.run(request) for request in (late, *requests, late)]
        return [(each.tokens, each.stats.drafted, each.stats.accepted) for each in outcomes]

    alone = drafted(None)

    assert drafted(plan_ranks(main, SIZES)) == alone
    assert all(drafts > 0 for _, drafts, _ in alone)


@pytest.mark.slow
@pytest.mark.expect_log("could not load")
def test_what_reads_hidden_states_of_layers_does_not_draft_over_ranks(engine: Engine, tmp_path: Path) -> None:
    main, _ = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    client = EngineClient(engine)
    client.load(main, plan=plan_ranks(main, SIZES))
    drafter = save_kind("dflash", tmp_path / "drafter", json.loads((main / "config.json").read_text()))
    result = client.set_draft(drafter)

    assert isinstance(result, ModelFailed)
    assert isinstance(result.error, DrafterDoesNotFit)


@pytest.mark.slow
def test_a_model_that_sums_would_slow_down_is_loaded_as_a_pipeline(engine: Engine, tmp_path: Path) -> None:
    """A tiny one does not take as long as three times its sums."""
    client, _, ready = load_faster(engine, tmp_path)
    assert ready.choice == engine.state().choice
    assert ready.choice is not None
    assert (ready.choice.mode, ready.choice.reason) == (RankMode.PIPELINE, ModeReason.SUMS)
    assert 0 < ready.choice.forward_s < 3 * ready.choice.sums_s
    assert len(processes_below(os.getpid())) == 1
    assert len(client.run(asked()).tokens) == 8


@pytest.mark.slow
@pytest.mark.expect_log("tensor mode cannot be joined", "could not load")
def test_where_rdma_cannot_be_joined_a_model_is_loaded_as_a_pipeline(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless tensor mode was asked for: here there is no RDMA at all."""
    monkeypatch.setattr(loading, "_links", lambda _plan: (RDMA, lambda _place: ("", "rdma_en2", "rdma_en5", "")))
    client, planned, ready = load_faster(engine, tmp_path)
    assert ready.choice == ModeChoice(RankMode.PIPELINE, ModeReason.LINK)
    assert len(client.run(asked()).tokens) == 8

    assert len(processes_below(os.getpid())) == 1

    failed = client.load(tmp_path / "main", plan=planned)
    assert isinstance(failed, ModelFailed)
    assert isinstance(failed.error, RankLost)


def load_faster(engine: Engine, folder: Path) -> tuple[EngineClient, RankPlan, ModelReady]:
    """In tensor mode because it is thought to be faster, not because it was asked for."""
    main, _ = rank_folder("qwen2", folder, vocab_size=VOCABULARY)
    planned = plan_ranks(main, SIZES, mode=RankMode.TENSOR)
    client = EngineClient(engine)
    ready = client.load(main, plan=replace(planned, choice=ModeChoice(RankMode.TENSOR, ModeReason.FASTER)))
    assert isinstance(ready, ModelReady)
    return client, planned, ready


@pytest.mark.slow
@pytest.mark.expect_log("RankLost")
def test_a_rank_killed_in_tensor_mode_leaves_the_other_waiting_for_nothing(
    engine: Engine, witness: Witness, tmp_path: Path
) -> None:
    """Which its sum does for ever; the drill is `drills/test_tensor_faults.py`."""
    main, draft = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    client = EngineClient(engine)
    client.load(main, draft, plan=plan_ranks(main, SIZES, mode=RankMode.TENSOR))
    whole = client.run(asked(drafted=3, tokens=40))
    witness.kill_before_forward(5)
    broken = client.run(asked(drafted=3, tokens=40))

    assert isinstance(broken.failed.error, RankLost)
    assert broken.failed.error.why is RankEnd.ENDED
    assert whole.text().startswith(broken.text())
    assert client.run(asked(drafted=3, tokens=40)).tokens == whole.tokens
    assert len(processes_below(os.getpid())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dflash", "eagle3"])
def test_what_reads_hidden_states_of_layers_drafts_in_tensor_mode(kind: str, engine: Engine, tmp_path: Path) -> None:
    """A rank hands them over: the same ones as in one process, as far as what is drafted shows."""
    main, _ = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    drafter = save_kind(kind, tmp_path / "drafter", json.loads((main / "config.json").read_text()))
    client = EngineClient(engine)

    def drafted(plan: RankPlan | None) -> list[tuple[tuple[int, ...], int, int]]:
        assert isinstance(client.load(main, drafter, plan=plan), ModelReady)
        outcomes = [client.run(asked(warm=warm, drafted=3, tokens=24)) for warm in (False, True)]
        return [(each.tokens, each.stats.drafted, each.stats.accepted) for each in outcomes]

    alone = drafted(None)

    assert drafted(plan_ranks(main, SIZES, mode=RankMode.TENSOR)) == alone
    assert all(drafts > 0 for _, drafts, _ in alone)


def test_caches_count_as_in_the_rank_that_holds_most_of_them() -> None:
    """Else what is kept by rank 0's measure would fill another one's memory."""
    layer = KVCache()
    layer.update_and_fetch(mx.zeros((1, 1, 4, 8)), mx.zeros((1, 1, 4, 8)))
    caches = CacheSet([layer])
    here = caches.nbytes
    caches.others = Mirror(RankGroup(()), lambda _sequence, _position: None, lambda here, _position: int(2.5 * here))

    assert caches.nbytes == 2.5 * here > 0


def test_a_rank_says_when_its_memory_is_short_and_takes_no_more_than_is_lent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "_aside", [0])
    main, _ = rank_folder("qwen2", tmp_path)
    heard: list[object] = []
    holds = Rank(lambda value, _data=b"": heard.append(value), memory_bytes=GB)
    holds.carry_out(LoadPart(str(main), 1, (2, 2)), bytearray())
    assert available_bytes() <= GB
    holds.carry_out(Forward(1, 0, (1, 2)), bytearray())
    holds.carry_out(Commit(1, 2), bytearray())
    with monkeypatch.context() as patched:
        patched.setattr(holds, "_most_bytes", mx.get_active_memory())
        holds.carry_out(Forward(1, 2, (3,)), bytearray())
    assert heard[-2:] == [Stepped("float32"), Stepped("float32", short=True)]

    with monkeypatch.context() as patched:
        patched.setattr(holds, "_most_bytes", mx.get_active_memory() // 2)
        with pytest.raises(CacheMisuse):
            holds.carry_out(Forward(2, 0, (1,)), bytearray())
    monkeypatch.setattr(rank, "MOST_HELD", 2)
    holds.carry_out(Copy(2, 1, 0), bytearray())
    for more in (Copy(3, 1, 0), MakeCheckpoint(1, 4), Forward(3, 0, (1,))):
        with pytest.raises(CacheMisuse):
            holds.carry_out(more, bytearray())


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rank, int, list[tuple[object, int]]]:
    """A rank with the first of a model's layers, its width, and what it has answered, with the bytes after it."""
    main, _ = rank_folder("qwen3_next", tmp_path_factory.mktemp("rank"))
    split = plan_ranks(main, SIZES).split
    heard: list[tuple[object, int]] = []
    holds = Rank(lambda value, data=b"": heard.append((value, len(data))))
    holds.carry_out(LoadPart(str(main), 1, split), bytearray())
    return holds, json.loads((main / "config.json").read_text())["hidden_size"], heard


SMALL = st.integers(0, 4)
OPERATIONS = st.one_of(
    st.builds(Forward, SMALL, SMALL, st.lists(st.integers(0, 40) | st.just(1 << 40), max_size=4).map(tuple)),
    st.builds(Commit, SMALL, SMALL),
    st.builds(CanTruncate, SMALL, SMALL),
    st.builds(Truncate, SMALL, SMALL, SMALL),
    st.builds(MakeCheckpoint, SMALL, SMALL),
    st.builds(Copy, SMALL, SMALL, SMALL),
    st.builds(Drop, st.tuples(SMALL)),
    st.builds(LoadPart, st.just("elsewhere"), SMALL, st.tuples(SMALL, SMALL)),
)


@given(asked_for=st.lists(OPERATIONS, max_size=20))
@settings(max_examples=60, deadline=None)
def test_what_a_rank_is_asked_for_it_answers_or_refuses(
    asked_for: list[Operation], held: tuple[Rank, int, list[tuple[object, int]]]
) -> None:
    """In any order, of sequences that there are or not: one answer to each question, of the size that it has."""
    holds, width, heard = held
    for operation in asked_for:
        heard.clear()
        with suppress(CacheMisuse, KeyError, ValueError, IndexError):
            holds.carry_out(operation, bytearray())
            answers = [type(value) for value, _ in heard]
            assert answers == {Forward: [Stepped], CanTruncate: [RankAnswer]}.get(type(operation), [])
            if isinstance(operation, Forward):
                assert heard[0][1] == len(operation.tokens) * width * 4
    holds._sequences.clear()
    holds._checkpoints.clear()


def test_ranks_begin_to_load_once_the_former_pair_has_made_room(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On this machine both take of the same memory."""
    main, _ = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    client, load, loaded = EngineClient(engine), RankGroup.load, list[object]()
    assert isinstance(client.load(main), ModelReady)

    def begin(group: RankGroup, folder: str, split: tuple[int, ...]) -> None:
        loaded.append(engine.state().main)
        load(group, folder, split)

    monkeypatch.setattr(RankGroup, "load", begin)
    assert isinstance(client.load(main, plan=plan_ranks(main, SIZES)), ModelReady)
    assert loaded == [None]


@pytest.mark.slow
@pytest.mark.expect_log("could not load")
def test_a_rank_that_cannot_load_says_why(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here by a division that is of a model with more layers, and that rank 0 has not."""
    main, _ = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    load = RankGroup.load
    monkeypatch.setattr(RankGroup, "load", lambda group, folder, _split: load(group, folder, (9, 9)))
    result = EngineClient(engine).load(main, plan=plan_ranks(main, SIZES))

    assert isinstance(result, ModelFailed)
    assert isinstance(result.error, RankLost)
    assert (result.error.rank, result.error.why) == (1, RankEnd.FAILED)
    assert "ModelNotSplittable" in result.error.detail
    assert processes_below(os.getpid()) == []


def started(main: Path, *ranks: str) -> subprocess.Popen[bytes]:
    """A reply without end on the command line, over two ranks."""
    arguments = ["--model", str(main), "--tokens", "[1,2,3]", "--temperature", "1.5", "--seed", "1"]
    command = [sys.executable, "-m", "engine", "generate", *arguments, *(ranks or ("--ranks", "2"))]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_ranks_end_when_rank_0_is_killed(tmp_path: Path) -> None:
    """In the middle of a reply."""
    folder, _ = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    with started(folder) as main:
        assert main.stdout is not None
        assert main.stderr is not None
        plan = [main.stderr.readline() for _ in range(3)]
        assert main.stdout.read(1)
        ranks = processes_below(main.pid)
        main.kill()

    assert [line.partition(b",")[0].strip() for line in plan[1:]] == [b"rank 0: layers 3-4", b"rank 1: layers 1-2"]
    assert len(ranks) == 1
    until = time.monotonic() + PATIENCE_S
    while runs(ranks[0]) and time.monotonic() < until:
        time.sleep(0.01)
    assert not runs(ranks[0])
