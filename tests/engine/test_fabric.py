"""Joining a group for tensor mode, what is summed in it, and what a rank holds: all of it in one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from engine.caches.hooks import hooked
from engine.caches.kinds import CacheMisuse
from engine.cluster import fabric
from engine.cluster.fabric import RDMA, RING, join, passed_on, ring_links
from engine.cluster.operations import Commit, Join
from engine.cluster.shard import Head, Shard, recorded
from engine.machines import process
from engine.machines.launched import LAUNCHED
from engine.machines.messages import NotAValue
from engine.models.memory import MemoryNeed
from tests.families.configs import config
from tests.families.harness import build

ROOT = Path(__file__).resolve().parents[2]
FILES = "MLX_HOSTFILE", "MLX_IBV_DEVICES"


@pytest.fixture
def inits(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What MLX would have been asked for; each time a group of two comes of it."""
    seen: list[dict[str, Any]] = []

    def init(**arguments: Any) -> Any:
        told = {name: value for name, value in os.environ.items() if name.startswith("MLX_")}
        files = {name: json.loads(Path(value).read_text()) for name, value in told.items() if name in FILES}
        modes = {Path(told[name]).stat().st_mode & 0o777 for name in files}
        gather = arguments.pop("all_gather_factory", None)
        gathered = None if gather is None else gather(1, 2)(b"mine", 4)
        seen.append({**arguments, **told, **files, "modes": modes, "gathered": gathered})
        return SimpleNamespace(rank=lambda: int(told["MLX_RANK"]), size=lambda: 2)

    monkeypatch.setattr(mx.distributed, "init", init)
    monkeypatch.setattr(fabric, "_sum_ns", lambda _group: 7)
    monkeypatch.setattr(fabric, "_bytes_s", lambda: 9)
    return seen


def test_what_a_lost_member_leaves_is_no_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    """MLX may give any numbers then, and what they call for would take gigabytes."""
    monkeypatch.setattr(mx.distributed, "all_sum", lambda numbers, **_options: numbers)
    assert passed_on(None, (Commit(1, 2), bytearray(b"more"))) == (Commit(1, 2), bytearray(b"more"))
    monkeypatch.setattr(mx.distributed, "all_sum", lambda numbers, **_options: numbers + 900_000_000)
    with pytest.raises(NotAValue):
        passed_on(None, None)


ALONE = """
from engine.cluster import fabric
fabric._JOIN_S = 1
fabric.join(fabric.Join(0, fabric.RING, fabric.ring_links(2)), lambda mine: mine)
"""


def test_a_rank_whose_other_member_never_comes_ends() -> None:
    ended = subprocess.run([sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, check=False, timeout=120)
    assert ended.returncode == -signal.SIGALRM, ended.stderr


def test_rdma_is_joined_by_a_private_file_and_no_port(
    inits: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user has set for other programs of MLX does not matter, and is as before afterwards."""
    for name in ("MLX_HOSTFILE", "MLX_METAL_FAST_SYNCH", "MLX_JACCL_COORDINATOR"):
        monkeypatch.setenv(name, "x")
    links = ("", "rdma_en2", "rdma_en5", "")
    _, joined = join(Join(1, RDMA, links), lambda data: b"here" + data)

    assert inits == [
        {
            "strict": True,
            "backend": RDMA,
            "MLX_RANK": "1",
            "MLX_IBV_DEVICES": [[None, "rdma_en2"], ["rdma_en5", None]],
            "modes": {0o600},
            "gathered": b"heremine",
        }
    ]
    assert (joined.sum_ns, joined.bytes_s) == (7, 0)  # the first one measures how fast it reads
    assert os.environ["MLX_HOSTFILE"] == "x"
    assert "MLX_RANK" not in os.environ


def test_a_ring_is_joined_on_loopback_alone(inits: list[dict[str, Any]]) -> None:
    links = ring_links(2)
    _, joined = join(Join(0, RING, links), bytes)
    for beyond in ("192.0.2.1:7", "[2001:db8::1]:7", "0.0.0.0:7", "example.com:7", "x", ""):
        with pytest.raises(CacheMisuse):
            join(Join(0, RING, ("127.0.0.1:7", beyond)), bytes)

    assert [each["MLX_HOSTFILE"] for each in inits] == [[[link] for link in links]]
    assert joined.bytes_s == 9
    assert len(set(links)) == 2


@pytest.mark.parametrize(("backend", "links"), [("mpi", ()), (RDMA, ("", "a")), ("", ("127.0.0.1:7",)), (LAUNCHED, ())])
def test_anything_else_is_not_joined(backend: str, links: tuple[str, ...], inits: list[dict[str, Any]]) -> None:
    with pytest.raises(CacheMisuse):
        join(Join(0, backend, links), bytes)
    assert inits == []


def test_the_group_of_the_launcher_is_joined_by_its_own_backend_and_is_whole(
    inits: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of any backend MLX takes MPI's before RDMA, with this process alone."""
    monkeypatch.setenv("MLX_RANK", "1")
    for name, backend in (("MLX_HOSTFILE", RING), ("MLX_IBV_DEVICES", RDMA)):
        hosts = tmp_path / name
        hosts.write_text(json.dumps(["a", "b"]))
        monkeypatch.setenv(name, str(hosts))
        join(Join(1, LAUNCHED, ()), bytes)
        assert inits[-1]["backend"] == backend
        with pytest.raises(CacheMisuse):
            join(Join(0, LAUNCHED, ()), bytes)
    hosts.write_text(json.dumps(["a", "b", "c"]))
    with pytest.raises(CacheMisuse):
        join(Join(1, LAUNCHED, ()), bytes)


def test_states_of_a_layer_are_handed_over_once() -> None:
    """A paired machine could ask for so many of the same that they fill the memory of this one."""
    with pytest.raises(CacheMisuse), recorded(build("llama"), [0, 1, 0]):
        pass


def test_a_ranks_process_has_no_variable_that_would_have_it_join_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["MLX_RANK", "MLX_HOSTFILE", "MLX_IBV_DEVICES", "MLX_JACCL_RING", "JACCL_RANK", "MLX_METAL_FAST_SYNCH"]
    for name in names:
        monkeypatch.setenv(name, "1")

    assert not set(names) & process._environment().keys()


def test_a_forward_takes_two_sums_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    network, sums = build("llama"), list[mx.array]()
    all_sum = mx.distributed.all_sum
    group = mx.distributed.init()
    sent: list[mx.array] = []
    Shard(network, "", group, sent.append)

    def counted(x: mx.array, **named: Any) -> mx.array:
        sums.append(x)
        return all_sum(x, **named)

    monkeypatch.setattr(mx.distributed, "all_sum", counted)
    network(mx.array([[1, 2, 3, 4, 5]]))

    assert len(sums) == 2 * len(network.layers)
    assert [states.shape for states in sent] == [(1, 5, 32)]


def test_a_rank_reads_no_head_and_the_engine_only_that() -> None:
    """It gets what the head is computed from, and states of layers that are recorded."""
    tokens = mx.array([[3, 4]])
    whole = build("qwen3")
    logits, states = whole(tokens), whole.model(tokens)
    shard, body = build("qwen3"), build("qwen3")
    asked: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def receive(like: mx.array, layers: tuple[int, ...]) -> mx.array:
        asked.append((like.shape, layers))
        return mx.concatenate([states, *[mx.ones_like(states)] * len(layers)], axis=-1)

    held = Shard(shard, "", mx.distributed.init(), lambda _: None)
    head = Head(body, "", 2, receive, lambda _tokens, _cached: None)
    seen: list[mx.array] = []

    def record(_layer: Any, run: Any, *given: mx.array) -> mx.array:
        seen.append(run(*given))
        return seen[-1]

    with hooked([body.layers[1]], record):
        assert mx.array_equal(body(tokens, cache=[]), logits)
    flat: list[tuple[str, mx.array]] = tree_flatten(whole.parameters())  # type: ignore[assignment]
    weights = {name: weight.nbytes for name, weight in flat}
    heads = sum(size for name, size in weights.items() if "lm_head" in name)

    assert asked == [((1, 2, 2 * 32), (1,))]
    assert mx.array_equal(seen[0], mx.ones_like(states))
    assert head.need(MemoryNeed(1000, 20, 10)) == MemoryNeed(heads, 10, 5)
    assert held.need(MemoryNeed(1000, 20, 10)).weight_bytes == sum(weights.values()) - heads > heads


def test_a_head_that_is_the_embedding_is_read_with_it() -> None:
    tied = build("qwen3", tie_word_embeddings=True)
    head = Head(tied, "", 2, lambda like, _: like, lambda _tokens, _cached: None)

    assert config("qwen3")["vocab_size"] * 32 * 4 == head.need(MemoryNeed(0, 0, 0)).weight_bytes
