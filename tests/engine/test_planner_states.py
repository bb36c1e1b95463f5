"""What drafting hands on between main model and proposers: hidden states, drafts, and the wait before a reading."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest

from engine import DraftingState, Sampling
from engine.decoding.accept import Draft
from engine.decoding.sampling import Sampler
from engine.drafting.plans import Plan
from tests.engine.test_planner import Reader, Recording, drafting
from tests.helpers.tiny_models import build, qwen3_config

DRAFT = Draft(mx.array([3, 4]))
SAMPLER = Sampler(Sampling(temperature=0), 0, 8, ())


class Listening(Reader):
    """Drafts from the states of a layer, and notes what it is asked."""

    layers: tuple[int, ...] = (1, 0)
    reads_next_token = True

    def __init__(self, behind: int = 0) -> None:
        super().__init__(behind)
        self.calls: list[str] = []
        self.heard: list[tuple[int, mx.array]] = []

    def receive_states(self, position: int, states: mx.array) -> None:
        self.heard.append((position, states))

    def offer(self, tokens: Sequence[int]) -> Any:
        self.calls.append(f"offer {len(tokens)}")
        return super().offer(tokens)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        return DRAFT

    def close(self) -> None:
        self.calls.append("close")


class Other(Reader):
    """Drafts from tokens alone."""

    name = "other"

    def offer(self, tokens: Sequence[int]) -> Any:
        raise AssertionError("not asked in these tests")


def over(network: Any) -> Any:
    model = SimpleNamespace(network=network)
    return SimpleNamespace(model=model, hidden_states=None, discard_in_flight=lambda: None)


def test_states_go_once_to_those_that_draft_from_them() -> None:
    network, listening = build(qwen3_config()), Listening()
    sequence, made = over(network), drafting(Recording(), Other(), listening)
    made.keep_hidden_states(sequence)
    made.pass_hidden_states(sequence)
    assert listening.heard == []
    with sequence.hidden_states.step():
        network(mx.array([[1, 2, 3]]))
    sequence.hidden_states.keep(5, 2)
    for _ in range(2):
        made.pass_hidden_states(sequence)
    ((position, states),) = listening.heard
    assert (position, states.shape) == (5, (2, 2 * qwen3_config()["hidden_size"]))


class AlsoListening(Listening):
    name = "third"
    layers = (0,)


def test_each_of_two_that_listen_gets_the_states_of_its_own_layers() -> None:
    network, both, first = build(qwen3_config()), Listening(), AlsoListening()
    sequence, made = over(network), drafting(Recording(), both, Other(), first)
    made.keep_hidden_states(sequence)
    with sequence.hidden_states.step():
        network(mx.array([[1, 2, 3]]))
    sequence.hidden_states.keep(0, 3)
    made.pass_hidden_states(sequence)
    width = qwen3_config()["hidden_size"]
    ((_, states),), ((_, of_first),) = both.heard, first.heard
    assert (states.shape, of_first.shape) == ((3, 2 * width), (3, width))
    assert mx.array_equal(of_first, states[:, width:])
    assert not mx.array_equal(of_first, states[:, :width])


def test_where_nobody_drafts_from_states_none_are_kept() -> None:
    sequence, made = over(build(qwen3_config())), drafting(Recording(), Other())
    made.keep_hidden_states(sequence)
    made.pass_hidden_states(sequence)
    assert sequence.hidden_states is None


@pytest.mark.expect_log("failed; the reply goes on plainly")
def test_once_all_that_listened_have_failed_none_are_kept_any_more() -> None:
    network, first, second = build(qwen3_config()), Listening(), AlsoListening()
    sequence, made = over(network), drafting(Recording(), first, second)
    made.keep_hidden_states(sequence)
    for proposer, kept in ((second, True), (first, False)):
        made._proposers[proposer.name].fail(RuntimeError("broken on purpose"))
        with sequence.hidden_states.step():
            network(mx.array([[1, 2, 3]]))
        sequence.hidden_states.keep(0, 3)
        made.pass_hidden_states(sequence)
        assert (sequence.hidden_states is not None) is kept
    assert len(first.heard) == 1


class Stateless(nn.Module):  # type: ignore[misc]
    """A main model that never calls its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Identity(), nn.Identity()]

    def __call__(self, tokens: mx.array) -> mx.array:
        return tokens


def test_a_main_model_without_states_has_its_drafter_fail_and_nothing_else() -> None:
    listening = Listening()
    sequence, made = over(Stateless()), drafting(Recording(), listening)
    made.keep_hidden_states(sequence)
    assert sequence.hidden_states is None
    made.pass_hidden_states(sequence)
    made.plan([1, 2], room=8)
    assert made.state is DraftingState.FAILED
    assert listening.calls == []


@pytest.mark.parametrize("error", [RuntimeError("no"), TypeError("cache")])
def test_a_main_model_that_fails_when_it_is_looked_at_has_its_drafter_fail_and_nothing_else(error: Exception) -> None:
    class Raising(Stateless):
        def __call__(self, tokens: mx.array) -> mx.array:
            raise error

    sequence, made = over(Raising()), drafting(Recording(), Listening())
    made.keep_hidden_states(sequence)
    made.plan([1, 2], room=8)
    assert made.state is DraftingState.FAILED


def test_before_it_is_closed_only_who_keeps_states_is_asked_once_more() -> None:
    listening, other = Listening(), Other()
    drafting(Recording(), listening, other).close([1, 2, 3])
    assert listening.calls == ["offer 3", "close"]
    assert other.closed


@pytest.mark.parametrize(
    ("proposers", "reads"), [((), False), ((Other(),), False), ((Other(), Listening()), True), ((Listening(),), True)]
)
def test_one_is_enough_that_reads_the_next_token(proposers: tuple[Any, ...], reads: bool) -> None:
    assert drafting(Recording(), *proposers).reads_next_token is reads


def test_a_planned_draft_is_made_by_the_planned_proposer() -> None:
    made = drafting(Recording(), Other(), Listening())
    assert made.state is DraftingState.NO_DRAFT
    assert made.propose(Plan("draft", 2), [1, 2], SAMPLER) is DRAFT


def test_the_controller_hears_how_many_replies_share_the_forward() -> None:
    controller = Recording()
    made = drafting(controller, Listening())
    made.plan([1], 8)
    assert controller.shared_by == 1
    made.plan([1], 8, 3)
    assert controller.shared_by == 3


def test_a_reading_is_timed_from_when_the_device_has_done_what_was_asked_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listening = Listening(behind=10)
    waited, wait = list[int](), mx.synchronize

    def noted() -> None:
        wait()
        waited.append(listening.reads)

    monkeypatch.setattr(mx, "synchronize", noted)
    drafting(Recording(), listening).plan([1, 2], 8)
    assert (waited, listening.reads) == ([0], 1)
