"""A proposer that drafts from hidden states: proved by one that leaves the main model early, on four families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest

from engine import Event, Finished, ModelInfo, Request, RequestId, Sampling, Speculation
from engine.caches.hooks import hooked
from engine.caches.making import CacheMaker
from engine.decoding.accept import Draft
from engine.decoding.hidden_states import HiddenStates, NoHiddenStates
from engine.decoding.sampling import Sampler
from engine.drafting.controller import History, make_controller
from engine.drafting.planner import Drafting
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.base import Proposer
from engine.models.loading import LoadedModel
from engine.models.memory import MemoryNeed
from engine.prefix.memory import PrefixStore
from engine.runtime.queued import QueuedReply
from engine.runtime.reply import Reply
from tests.families.harness import build as build_family

PROMPT = tuple(3 + 7 * n % 80 for n in range(30))
FAMILY_NAMES = ("qwen3", "llama", "nanbeige", "qwen3_next")


class Tokenizer:
    """Only what a reply asks of one when its request is raw tokens."""

    eos_token_ids: tuple[int, ...] = ()

    class detokenizer:  # noqa: N801  an attribute of mlx-lm's wrapper
        last_segment = ""

        @staticmethod
        def add_token(token: int) -> None:
            pass

        @staticmethod
        def finalize() -> None:
            pass

    def encode(self, text: str, **keywords: object) -> list[int]:
        return []


class EarlyExit(Proposer):
    """Drafts one token: what the main model would say if it ended behind its second layer."""

    name = "early exit"
    layers = (1,)

    def __init__(self, network: Any) -> None:
        self._network = network
        self.heard: list[mx.array] = []
        self.positions: list[int] = []

    def receive_states(self, position: int, states: mx.array) -> None:
        self.positions.extend(range(position, position + states.shape[0]))
        self.heard.append(states)

    def offer(self, tokens: Sequence[int]) -> Offer:
        return Offer(self.name, 1)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        last = self.heard[-1][-1:]
        logits = self._network.lm_head(self._network.model.norm(last))
        return Draft(mx.argmax(logits, axis=-1))


def build(family: str) -> LoadedModel:
    network = build_family(family)
    info = ModelInfo("", family, family, 0, 0, None, 96, "", 512)
    return LoadedModel(info, network, Tokenizer(), 96, CacheMaker(network), MemoryNeed(0, 0, 0), family)


def reply(model: LoadedModel, proposer: EarlyExit | None, speculation: Speculation) -> tuple[Reply, list[Event]]:
    heard: list[Event] = []
    request = Request(tokens=PROMPT, sampling=Sampling(temperature=0), max_tokens=16, speculation=speculation)
    made = QueuedReply(RequestId(1), request, heard.append).start(model, PrefixStore(), History())
    if proposer is not None:
        history = History()
        made.draft_with(Drafting([proposer], make_controller(speculation, history)), history)
    while not made.step():
        pass
    return made, heard


@pytest.mark.costly
@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_a_proposer_gets_the_states_of_every_committed_token_once(family: str) -> None:
    """They equal the states of one forward over the final tokens; rejected tokens leave no row, and change no token."""
    model = build(family)
    proposer = EarlyExit(model.network)
    made, drafted = reply(model, proposer, Speculation.fixed(1))
    _, plain = reply(build(family), None, Speculation.off())

    end, other = plain[-1], drafted[-1]
    assert isinstance(end, Finished)
    assert isinstance(other, Finished)
    assert other.tokens == end.tokens
    assert other.stats.drafted > 5
    assert len(set(end.tokens)) > 3

    heard = mx.concatenate(proposer.heard)
    cache = model.make_caches()
    rows: list[mx.array] = []
    layer = model.network.layers[1]
    base = type(layer)
    layer.__class__ = type("Spy", (base,), {"__call__": spying(base, rows)})
    model.network(mx.array([made.sequence.tokens]), cache=cache.layers)

    assert proposer.positions == list(range(len(proposer.positions)))
    assert len(proposer.positions) >= len(made.sequence.tokens) - 3
    assert mx.allclose(heard, rows[-1][0, : heard.shape[0]], atol=1e-4)


def spying(base: type, rows: list[mx.array]) -> Any:
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        output = base.__call__(self, *arguments, **keywords)
        rows.append(output)
        return output

    return call


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        ("gemma3n", r"returns \(2, 1, 2, 32\)"),
        ("deepseek_v41", r"returns \(1, 2, 4, 32\)"),
        ("iquestloopcoder", "not called"),
    ],
)
def test_layers_that_return_no_row_a_token_are_refused(family: str, reason: str) -> None:
    network = build_family(family)
    with pytest.raises(NoHiddenStates, match=f"{family}: .*{reason}"):
        HiddenStates(network, [1]).check(network)


def test_states_stay_what_they_were_where_the_network_changes_them_in_place() -> None:
    class InPlace(Network):
        def __call__(self, tokens: mx.array) -> None:
            states = mx.stack([tokens, 10 * tokens], axis=-1)
            for layer in self.layers:
                states = layer(states)
                states *= 100

    states, _ = stepped([5], InPlace(same))
    states.keep(0, 1)
    assert taken(states) == (0, [[6, 51]])


class Layer(nn.Module):  # type: ignore[misc]
    """Adds one, and returns it in the shape that `returns` makes of it."""

    def __init__(self, returns: Callable[[mx.array], Any]) -> None:
        super().__init__()
        self.returns = returns

    def __call__(self, states: mx.array) -> Any:
        return self.returns(states + 1)


class Network(nn.Module):  # type: ignore[misc]
    def __init__(self, *returns: Callable[[mx.array], Any]) -> None:
        super().__init__()
        self.layers = [Layer(each) for each in returns]

    def __call__(self, tokens: mx.array) -> None:
        for layer in self.layers:
            layer(mx.stack([tokens, 10 * tokens], axis=-1))


def same(states: mx.array) -> mx.array:
    return states


def test_states_of_some_layers_come_side_by_side() -> None:
    """The first of what a layer returns counts; a layer that is named twice comes twice."""
    states, _ = stepped([5, 6, 7], Network(same, lambda states: (2 * states, None)), (0, 1, 0))
    states.keep(10, 2)
    assert taken(states) == (10, [[6, 51, 12, 102, 6, 51], [7, 61, 14, 122, 7, 61]])


def test_a_forward_outside_of_a_step_leaves_no_states() -> None:
    network = Network(same)
    states = HiddenStates(network, [0])
    network(mx.array([[5, 6, 7]]))
    states.keep(12, 2)
    assert states.take()[1] is None


def test_the_states_of_a_step_that_was_aborted_are_forgotten() -> None:
    states, network = stepped([5, 6])
    with states.step():
        network(mx.array([[7, 8]]))
    states.keep(3, 2)
    assert taken(states) == (3, [[8, 71], [9, 81]])


def test_states_that_come_again_replace_those_from_there_on() -> None:
    """And rows that do not follow on begin anew: nothing is ever taken for the state of another token."""
    kept = HiddenStates(build_family("qwen3"), [0])

    def rows(*values: float) -> mx.array:
        return mx.array(values)[:, None]

    kept.add(5, rows(5, 6))
    kept.add(7, rows(7))
    kept.add(6, rows(60, 70, 80))
    assert taken(kept) == (5, [[5], [60], [70], [80]])
    kept.add(9, rows(9))
    kept.add(12, rows(12))
    assert taken(kept) == (12, [[12]])


def taken(states: HiddenStates) -> tuple[int, Any]:
    position, rows = states.take()
    assert rows is not None
    return position, rows.tolist()


def stepped(
    tokens: list[int], network: Network | None = None, layers: Sequence[int] = (0,)
) -> tuple[HiddenStates, Network]:
    network = network or Network(same)
    states = HiddenStates(network, layers)
    with states.step():
        network(mx.array([tokens]))
    return states, network


def test_the_states_of_a_step_are_kept_once_and_taken_once() -> None:
    """And their position is that of the first that was not taken, however many steps there were since."""
    states, network = stepped([5, 6])
    states.keep(4, 2)
    states.keep(6, 1)
    with states.step():
        network(mx.array([[7]]))
    states.keep(6, 1)
    assert taken(states) == (4, [[6, 51], [7, 61], [8, 71]])
    states.keep(9, 3)
    assert states.take() == (9, None)


# Hooks on the calls of modules: they last as long as their block, and nothing else changes.


def adding(number: int) -> Callable[..., Any]:
    return lambda _, run, x: run(x) * 10 + number


def test_a_hook_runs_in_place_of_the_call_of_its_modules_only() -> None:
    one, other = nn.Identity(), nn.Identity()
    with hooked([one], adding(1)):
        assert (one(3), other(3)) == (31, 3)
    assert (one(3), other(3)) == (3, 3)


def test_an_error_ends_the_hook() -> None:
    module = nn.Identity()
    with pytest.raises(ZeroDivisionError), hooked([module], lambda *_: 1 // 0):
        module(3)
    assert module(3) == 3


def test_a_module_that_has_been_hooked_is_what_it_was() -> None:
    module = nn.Linear(4, 2)
    before = dict(module.parameters())
    with hooked([module], lambda own, run, x: (own, run(x))):
        own, result = module(mx.ones((1, 4)))
    assert own is module
    assert isinstance(module, nn.Linear)
    assert type(module).__name__ == "Linear"
    assert mx.array_equal(result, module(mx.ones((1, 4))))
    assert module.parameters().keys() == before.keys()
