"""Tensor mode or a pipeline: by a folder's files, by what two machines are, and by speeds; and why."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine import (
    Helping,
    Machine,
    ModeChoice,
    ModelNotSplittable,
    ModeReason,
    RankMode,
    RankPlan,
    SplitRefusal,
    plan_ranks,
)
from engine.cluster.modes import SHARDED, measured
from engine.machines import computers
from engine.machines.computers import Computer, computer_beside
from tests.helpers.model_folders import model_files, write_folder

GB = 10**9
HERE, THERE = Computer("M4 Pro", "25C56", "rdma_en2"), Computer("M4 Pro", "25C56", "rdma_en5")
WIDTH, LAYERS = 64, 4


def folder(path: Path, scales: int = 2, rows: int = WIDTH, **changes: Any) -> Path:
    """`scales`, `rows`: of each row that is divided between ranks."""
    config = {"model_type": "qwen3", "num_hidden_layers": LAYERS, "num_attention_heads": 4, "num_key_value_heads": 2}
    tensors: dict[str, tuple[str, tuple[int, ...]]] = {
        "model.embed_tokens.weight": ("F32", (12, WIDTH)),
        "lm_head.weight": ("F32", (12, WIDTH)),
    }
    for layer in range(LAYERS):
        tensors[f"model.layers.{layer}.self_attn.o_proj.weight"] = ("F32", (WIDTH, rows))
        tensors[f"model.layers.{layer}.mlp.down_proj.weight"] = ("F32", (WIDTH, 4 * rows))
        tensors[f"model.layers.{layer}.mlp.down_proj.scales"] = ("F32", (WIDTH, scales))
    return write_folder(path, model_files(config | changes, tensors))


def choice(path: Path, *beside: Computer, memory: int = GB, ranks: int = 2, **changes: Any) -> ModeChoice:
    return plan_ranks(folder(path, **changes), [memory] * ranks, computers=beside or (HERE, THERE)).choice


def test_two_machines_of_one_kind_on_one_cable_run_in_tensor_mode(tmp_path: Path) -> None:
    plan = plan_ranks(folder(tmp_path), [GB, GB], computers=(HERE, THERE), widened=False)
    layer = 4 * (WIDTH * WIDTH + 4 * WIDTH * WIDTH + 2 * WIDTH)
    table = 4 * 12 * WIDTH

    assert plan.choice == ModeChoice(RankMode.TENSOR, ModeReason.FASTER)
    assert [share.rdma for share in plan.shares] == ["rdma_en2", "rdma_en5"]
    assert [(share.first, share.end) for share in plan.shares] == [(0, LAYERS)] * 2
    assert [share.weight_bytes for share in plan.shares] == [
        LAYERS * layer // 2 + 2 * table,
        LAYERS * layer // 2 + table,
    ]


REASONS: dict[ModeReason, dict[str, Any]] = {
    ModeReason.RANKS: {"ranks": 4},
    ModeReason.FAMILY: {"model_type": "phi3"},
    ModeReason.DIVISION: {"num_key_value_heads": 1},
    ModeReason.MEMORY: {"memory": 100},
}


@pytest.mark.parametrize("why", REASONS)
def test_another_model_or_number_of_ranks_is_a_pipeline_with_the_reason(why: ModeReason, tmp_path: Path) -> None:
    assert choice(tmp_path, **REASONS[why]) == ModeChoice(RankMode.PIPELINE, why)


def test_numbers_that_share_a_scale_are_not_divided(tmp_path: Path) -> None:
    assert choice(tmp_path, scales=3).reason is ModeReason.DIVISION


def test_three_are_asked_for_and_only_what_was_tried_so(tmp_path: Path) -> None:
    """Of machines: who knows their cables? Of families: those that have a test; of layers: those that three divides."""
    heads = {"num_attention_heads": 6, "num_key_value_heads": 3, "scales": 3, "rows": 48}

    def asked(name: str, ranks: int = 3, **changes: Any) -> ModeChoice | SplitRefusal:
        path = folder(tmp_path / name, **heads | changes)
        try:
            return plan_ranks(path, [GB] * ranks, mode=RankMode.TENSOR).choice
        except ModelNotSplittable as error:
            return error.why

    assert asked("a") == ModeChoice(RankMode.TENSOR, ModeReason.ASKED)
    assert choice(tmp_path / "b", ranks=3, **heads) == ModeChoice(RankMode.PIPELINE, ModeReason.RANKS)
    assert asked("c", model_type="minimax") is SplitRefusal.UNTRIED
    assert asked("d", ranks=4) is SplitRefusal.UNTRIED
    for name, changes in (("e", {"rows": 64}), ("f", {"num_key_value_heads": 2}), ("g", {"scales": 2})):
        assert asked(name, **changes) is SplitRefusal.SPLIT


def test_a_mode_that_machines_cannot_have_is_a_pipeline_that_says_why(tmp_path: Path) -> None:
    def plan(address: str, mode: RankMode | None, *beside: Computer, **changes: Any) -> RankPlan:
        helping = [Helping(Machine("Studio", "f" * 64, address), "here")]
        return plan_ranks(folder(tmp_path, **changes), [GB, GB], helping, mode=mode, computers=beside)

    far, near = "192.0.2.1:7791", "127.0.0.1:7791"
    cable = plan(far, RankMode.TENSOR, HERE, THERE)
    assert (cable.choice, cable.lacking) == (ModeChoice(RankMode.TENSOR, ModeReason.ASKED), None)
    without = plan(far, RankMode.TENSOR, HERE, Computer("M4 Pro", "25C56"))
    assert (without.choice.mode, without.choice.reason) == (RankMode.PIPELINE, ModeReason.LINK)
    assert without.lacking is ModeReason.LINK
    asked = plan(far, RankMode.PIPELINE, HERE, Computer("M4 Pro", "25C56"))
    assert (asked.choice, asked.lacking) == (ModeChoice(RankMode.PIPELINE, ModeReason.ASKED), ModeReason.LINK)
    by_ring = plan(near, RankMode.TENSOR)
    assert (by_ring.choice.mode, by_ring.lacking) == (RankMode.TENSOR, None)
    assert plan(near, None).choice == ModeChoice(RankMode.PIPELINE, ModeReason.LINK)
    alone = plan(far, RankMode.TENSOR, HERE, THERE, model_type="gpt_oss")
    assert (alone.divides, cable.divides) == (False, True)


@pytest.mark.parametrize(
    ("beside", "why"),
    [
        ((HERE, Computer("M5", "25C56", "rdma_en5")), ModeReason.CHIPS),
        ((HERE, Computer("M4 Pro", "25D1", "rdma_en5")), ModeReason.SYSTEMS),
        ((HERE, Computer("M4 Pro", "25C56", "")), ModeReason.LINK),
        ((Computer(), THERE), ModeReason.LINK),
    ],
)
def test_other_machines_are_a_pipeline_with_the_reason(
    beside: tuple[Computer, Computer], why: ModeReason, tmp_path: Path
) -> None:
    assert choice(tmp_path, *beside) == ModeChoice(RankMode.PIPELINE, why)


def test_what_is_asked_for_needs_no_cable_but_a_model_that_can(tmp_path: Path) -> None:
    asked = plan_ranks(folder(tmp_path / "a"), [GB, GB], mode=RankMode.TENSOR)
    pipeline = plan_ranks(folder(tmp_path / "a"), [GB, GB], mode=RankMode.PIPELINE, computers=(HERE, THERE))

    assert asked.choice == ModeChoice(RankMode.TENSOR, ModeReason.ASKED)
    assert pipeline.choice == ModeChoice(RankMode.PIPELINE, ModeReason.ASKED)
    for changes, why in (
        ({"model_type": "phi3"}, SplitRefusal.LAYERS),
        ({"num_attention_heads": 3}, SplitRefusal.SPLIT),
    ):
        with pytest.raises(ModelNotSplittable) as refused:
            plan_ranks(folder(tmp_path / "b", **changes), [GB, GB], mode=RankMode.TENSOR)
        assert refused.value.why is why


def test_a_model_whose_sums_take_longer_than_a_third_of_a_forward_is_a_pipeline(tmp_path: Path) -> None:
    """A forward reads the weights once: here so fast that it takes as long as seven of eight sums of three each."""
    path = str(folder(tmp_path))
    asked, found = ModeChoice(RankMode.TENSOR), ModeChoice(RankMode.TENSOR, ModeReason.FASTER)
    nbytes = (tmp_path / "model.safetensors").stat().st_size  # with its header
    sums = 2 * LAYERS
    slow, fast = (measured(found, path, LAYERS, nbytes / GB / sums / times, GB) for times in (2.9, 3.5))

    assert (slow.mode, slow.reason) == (RankMode.PIPELINE, ModeReason.SUMS)
    assert (fast.mode, fast.reason) == (RankMode.TENSOR, ModeReason.FASTER)
    assert slow.forward_s == fast.forward_s == pytest.approx(nbytes / GB, rel=0.1)
    assert slow.sums_s == pytest.approx(nbytes / GB / 2.9)
    assert measured(asked, path, LAYERS, 1.0, GB).mode is RankMode.TENSOR


def test_of_experts_a_forward_reads_those_that_a_token_goes_to(tmp_path: Path) -> None:
    def forward_s(**changes: Any) -> float:
        config = {"model_type": "qwen3_moe", "num_hidden_layers": 1} | changes
        tensors = {
            "model.layers.0.mlp.switch_mlp.up_proj.weight": ("F32", (8, 100, 100)),
            "model.layers.0.self_attn.o_proj.weight": ("F32", (100, 100)),
        }
        path = write_folder(tmp_path, model_files(config, tensors))
        return measured(ModeChoice(), str(path), 1, 0.0, 40_000).forward_s

    assert forward_s() == 9
    assert forward_s(num_experts=8, num_experts_per_tok=2) == 3


def say(monkeypatch: pytest.MonkeyPatch, said: dict[tuple[str, ...], str]) -> None:
    """By the programs of a system that has no others."""

    def run(command: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[bytes]:
        if command not in said:
            raise FileNotFoundError(command[0])
        return subprocess.CompletedProcess(command, 0, said[command].encode())

    monkeypatch.setattr(subprocess, "run", run)


def test_a_mac_has_the_name_that_its_user_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its host's name may be a network's, and leaves letters out."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "node", lambda: "mac-3.fritz.box")
    said: dict[tuple[str, ...], str] = {("scutil", "--get", "ComputerName"): "거실의 Mac\n"}
    say(monkeypatch, said)
    assert computers.computer_name.__wrapped__() == "거실의 Mac"
    said.clear()
    assert computers.computer_name.__wrapped__() == "mac-3.fritz.box"


def test_a_mac_has_rdma_where_the_way_to_the_other_goes_by_such_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        ("sysctl", "-n", "machdep.cpu.brand_string"): "Apple M4 Pro\n",
        ("sysctl", "-n", "kern.osversion"): "25C56\n",
        ("ibv_devices",): "    device\n    ------\n    rdma_en2\n    rdma_en5\n",
        ("route", "-n", "get", "169.254.7.8"): "   route to: 169.254.7.8\n  interface: en5\n      flags: <UP>\n",
        ("route", "-n", "get", "-inet6", "2001:db8::7"): "   route to: 2001:db8::7\n  interface: en2\n",
        ("route", "-n", "get", "192.0.2.1"): "   route to: 192.0.2.1\n  interface: en0\n",
    }

    say(monkeypatch, said)
    beside = [
        computers._mac_beside(host)
        for host in ("fe80::1%en2", "169.254.7.8", "2001:db8::7", "192.0.2.1", "203.0.113.9")
    ]

    assert [each.rdma for each in beside] == ["rdma_en2", "rdma_en5", "rdma_en2", "", ""]
    assert {(each.chip, each.system) for each in beside} == {("Apple M4 Pro", "25C56")}
    del said[("ibv_devices",)]
    assert computers._mac_beside("fe80::1%en2").rdma == ""


def test_elsewhere_there_is_none() -> None:
    assert computer_beside("127.0.0.1") in {Computer(), computers._mac_beside("127.0.0.1")}


def test_these_are_the_families_whose_layers_mlx_lm_divides() -> None:
    """Its code is read, not run: a new release cannot bring or lose one that nobody has looked at."""
    spec = importlib.util.find_spec("mlx_lm")
    (root,) = spec.submodule_search_locations if spec is not None and spec.submodule_search_locations else ("",)
    able = {file.stem for file in Path(root, "models").glob("*.py") if "def shard(" in file.read_text("utf-8")}
    through_another = {"glm_moe_dsa", "prism_hadamard_qwen35", "qwen3_5_moe", "solar_open"}

    assert able | through_another == SHARDED | {"muse_spark"}  # which needs Metal, and is untried
