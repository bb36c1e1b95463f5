"""A draft may be a tree: its verdicts, and what is kept of it, against plain decoding.

No forward of the engine reads a tree yet, so here one does, slowly: it reads the path to each token by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models import cache as mlx_cache

from engine import Acceptance, Sampling
from engine.caches.base import CacheSet
from engine.caches.checkpoints import rows_between
from engine.caches.kinds import CacheMisuse, leaves, trim
from engine.caches.window import WindowCache
from engine.decoding.accept import ROOT, Draft, accepted_path
from engine.decoding.hidden_states import HiddenStates
from engine.decoding.round import Round, plain_round, speculative_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence as Conversation
from tests.engine.batch_harness import model, prompt
from tests.families.configs import VOCABULARY
from tests.helpers.samples import sampled

PROMPT = prompt(21, salt=2)
LENGTH = 24
PATIENCE_S = 600
SAMPLINGS = {
    "greedy": Sampling(temperature=0),
    "penalised": Sampling(temperature=0, repetition_penalty=1.3, presence_penalty=0.4, frequency_penalty=0.2),
    "sampled": Sampling(temperature=0.9, top_p=0.95, frequency_penalty=0.5, xtc_probability=0.5, xtc_threshold=0.05),
}


class TreeReader:
    """A network that reads a draft as a tree, in which the newest committed token is the root."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self.model_type = network.model_type
        self.layers = network.layers
        self.parents: tuple[int, ...] = ()

    def __call__(self, inputs: mx.array, cache: Any) -> mx.array:
        tokens: list[int] = inputs[0].tolist()  # type: ignore[assignment]
        parents = self.parents if len(tokens) > len(self.parents) else ()  # not where a single token is looked at again
        before = len(tokens) - 1 - len(parents)
        paths = [list(range(at + 1)) for at in range(before + 1)]
        for parent in parents:
            paths.append([*paths[before + 1 + parent], len(paths)])
        logits, kept = list[mx.array](), list[list[list[mx.array]]]()
        for path in paths:
            logits.append(self._network(mx.array([[tokens[at] for at in path]]), cache=cache)[:, -1:])
            kept.append([[array[..., at : at + 1, :] * 1 for array in held(leaf)] for leaf, at in newest(cache)])
            mx.eval(logits, kept)
            for leaf in leaves(cache):
                trim(leaf, len(path))
        self._network(inputs, cache=cache)
        for row, arrays in enumerate(kept):
            for (leaf, at), rows in zip(newest(cache), arrays, strict=True):
                place = at - len(tokens) + 1 + row
                for array, values in zip(held(leaf), rows, strict=True):
                    array[..., place : place + 1, :] = values
        return mx.concatenate(logits, axis=1)


def held(leaf: Any) -> tuple[mx.array, mx.array]:
    return leaf.keys, leaf.values


def newest(cache: Any) -> list[tuple[Any, int]]:
    return [
        (leaf, (leaf.offset - (leaf.start_position if isinstance(leaf, WindowCache) else 0)) - 1)
        for leaf in leaves(cache)
    ]


def begun(
    family: str, sampling: Sampling, acceptance: Acceptance = Acceptance.COUPLED, uncached: int = 1
) -> tuple[Conversation, Sampler]:
    conversation = Conversation(replace(model(family), network=TreeReader(model(family).network)), list(PROMPT))
    conversation.reads_trees = True
    conversation.feed(mx.array(PROMPT[:-uncached]))
    conversation.close_step(len(PROMPT) - uncached)
    return conversation, Sampler(sampling, 11, VOCABULARY, PROMPT, acceptance=acceptance)


def whole(emitted: list[int]) -> int:
    return len(emitted)


def plain_text(family: str, sampling: Sampling) -> tuple[list[int], CacheSet]:
    conversation, sampler = begun(family, sampling)
    for _ in range(LENGTH):
        plain_round(conversation, sampler, whole)
    return conversation.tokens[len(PROMPT) :], conversation.caches


def tree(expected: Sequence[int], chance: random.Random) -> Draft:
    """Some tokens of what comes, somewhere among others, which may be the same: as a sibling, or elsewhere."""
    tokens, parents, right = list[int](), list[int](), ROOT
    wanted = iter(expected[: chance.randrange(5)])
    for _ in range(chance.randint(1, 9)):
        if chance.random() < 0.5 and (token := next(wanted, None)) is not None:
            parent, right = right, len(tokens)
        else:
            token, parent = chance.choice([*expected[:4], *range(1, 6)]), chance.randrange(ROOT, len(tokens))
        tokens.append(token)
        parents.append(parent)
    return Draft(mx.array(tokens, dtype=mx.uint32), parents=tuple(parents))


def drafted_round(
    conversation: Conversation, sampler: Sampler, draft: Draft, ending: Callable[[list[int]], int] = whole
) -> Round:
    conversation.model.network.parents = draft.parents
    done = speculative_round(conversation, sampler, lambda: draft, ending)
    assert done.seconds == 0  # who wants to know asks for a timed round
    conversation.model.network.parents = ()
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "sampling", "acceptance"),
    sampled(["qwen3", "gemma3_text"], {name: name for name in SAMPLINGS}, list(Acceptance), rest=pytest.mark.slow),
)
def test_a_text_is_the_same_with_trees(family: str, sampling: str, acceptance: Acceptance) -> None:
    """So is what its caches hold: dense, and windows that have wrapped (of 16 tokens)."""
    expected, caches = plain_text(family, SAMPLINGS[sampling])
    conversation, sampler = begun(family, SAMPLINGS[sampling], acceptance)
    chance, accepted, skipped = random.Random(f"{family}{sampling}"), 0, 0
    while (at := len(conversation.tokens) - len(PROMPT)) < LENGTH - 5:
        draft = tree(expected[at:], chance)
        done = drafted_round(conversation, sampler, draft)
        path = accepted_path(draft.tokens.tolist(), done.verdicts, draft.parents)  # type: ignore[arg-type]
        assert (done.drafted, done.accepted) == (draft.tokens.size, len(path))
        accepted, skipped = accepted + len(path), skipped + (path != list(range(len(path))))

    said = conversation.tokens[len(PROMPT) :]
    assert said == expected[: len(said)]
    assert accepted > 0
    assert skipped > 0
    for _ in range(LENGTH - len(said)):
        plain_round(conversation, sampler, whole)
    assert conversation.tokens[len(PROMPT) :] == expected
    end = conversation.caches.position
    for rows, plain in zip(rows_between(conversation.caches, 0, end), rows_between(caches, 0, end), strict=True):
        assert all(mx.allclose(mine, other, atol=1e-4) for mine, other in zip(rows, plain, strict=True))


def test_the_hidden_states_of_the_path_are_kept() -> None:
    conversation = Conversation(model("qwen3"), list(PROMPT))
    conversation.hidden_states = HiddenStates(conversation.model.network, [1])
    conversation.feed(mx.array(PROMPT[:4]))
    expected = conversation.hidden_states.latest()[0][mx.array([0, 3])]
    conversation.close_step(2, [0, 3, 1])
    position, states = conversation.hidden_states.take()
    assert states is not None
    assert (position, states.tolist()) == (0, expected.tolist())


@pytest.mark.parametrize("kind", ["dense", "quantized", "chunked", "window"])
def test_rows_of_a_step_move_to_its_front(kind: str) -> None:
    """The window and the chunk have dropped older tokens by then."""
    made: dict[str, Callable[[], Any]] = {
        "dense": mlx_cache.KVCache,
        "quantized": lambda: mlx_cache.QuantizedKVCache(group_size=32, bits=8),
        "chunked": lambda: mlx_cache.ChunkedKVCache(8),
        "window": lambda: WindowCache(8),
    }
    leaf = made[kind]()
    caches = CacheSet([leaf])
    for width in (12, 12, 5):
        if kind == "chunked":
            leaf.maybe_trim_front()
        start, rows = caches.position, mx.ones((1, 2, width, 32))
        values = rows * mx.arange(start, start + width)[:, None]
        caches.forward(width, lambda keys=-values, values=values: leaf.update_and_fetch(keys, values))  # type: ignore[misc]
        if width < 12:
            caches.move_to_front([0, 2, 4])
        caches.commit(min(width, 3) if width < 12 else width)

    keys, values = leaf.update_and_fetch(-mx.ones((1, 2, 1, 32)) * 99, mx.ones((1, 2, 1, 32)) * 99)
    if kind == "quantized":
        keys, values = (mx.dequantize(codes, scales, biases, 32, 8) for codes, scales, biases in (keys, values))
    for array in (-keys, values):
        assert array[0, 1, -6:, 7].round().tolist() == [22, 23, 24, 26, 28, 99]


@pytest.mark.parametrize("uncached", [1, 3])
def test_a_reply_that_ends_within_a_tree_keeps_what_stands(uncached: int) -> None:
    """Also where the round reads the end of the prompt."""
    expected, _ = plain_text("qwen3", SAMPLINGS["greedy"])
    conversation, sampler = begun("qwen3", SAMPLINGS["greedy"], uncached=uncached)
    tokens = [3, expected[0], 4, expected[1], expected[2]]
    draft = Draft(mx.array(tokens, dtype=mx.uint32), parents=(ROOT, ROOT, 1, 1, 3))
    done = drafted_round(conversation, sampler, draft, lambda emitted: min(2, len(emitted)))
    assert (done.emitted, done.drafted, done.accepted) == (tuple(expected[:2]), 2, 2)
    assert conversation.uncached == 1
    plain_round(conversation, sampler, whole)
    assert conversation.tokens[len(PROMPT) :] == expected[:3]


@pytest.mark.parametrize(
    ("drafted", "verdicts", "parents", "path"),
    [
        ([4, 5, 6], [4, 9, 6, 7], None, [0]),
        ([4, 5, 6], [5, 9, 6, 7], (ROOT, ROOT, 1), [1, 2]),
        ([5, 5, 6], [5, 6, 7, 8], (ROOT, ROOT, 0), [0, 2]),
        ([5, 5, 6], [5, 7, 6, 8], (ROOT, ROOT, 1), [0]),
        ([4, 6, 5], [6, 5, 4, 3], (ROOT, 0, ROOT), []),
        ([], [3], (), []),
    ],
)
def test_the_path_goes_from_parent_to_child(
    drafted: list[int], verdicts: list[int], parents: tuple[int, ...] | None, path: list[int]
) -> None:
    """Of two like siblings the first is taken, even where the other one's child would be right."""
    assert accepted_path(drafted, verdicts, parents) == path


def test_a_forward_that_reads_chains_refuses_a_tree() -> None:
    conversation, sampler = begun("qwen3", SAMPLINGS["greedy"])
    conversation.reads_trees = False
    with pytest.raises(CacheMisuse):
        drafted_round(conversation, sampler, Draft(mx.array([1, 2]), parents=(ROOT, ROOT)))


def test_rows_that_a_step_has_not_cannot_move() -> None:
    conversation = Conversation(model("qwen3"), list(PROMPT))
    conversation.feed(mx.array(PROMPT[:4]))
    for rows in ([4], [-1]):
        with pytest.raises(CacheMisuse):
            conversation.caches.move_to_front(rows)
    conversation.close_step(0, [])


def test_a_recurrent_state_does_not_follow_a_tree() -> None:
    conversation = Conversation(model("qwen3_5"), list(PROMPT))
    conversation.feed(mx.array(PROMPT[:4]))
    with pytest.raises(CacheMisuse):
        conversation.caches.move_to_front([0, 2])
