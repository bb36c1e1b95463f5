"""Going on from what was read before: turns, branches, restarts. What is cached must be exact, and change no token."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Event, Finished, Request, RequestId, Sampling, Speculation
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.controller import History
from engine.drafting.plans import Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel
from engine.prefix.disk import PrefixDisk
from engine.prefix.memory import PrefixStore
from engine.runtime.queued import QueuedReply
from tests.helpers.samples import fair
from tests.helpers.tiny_families import FAMILIES

FIRST = tuple(40 + (7 * n) % 90 for n in range(70))  # longer than the window, which has wrapped after it
QUESTION = tuple(60 + (5 * n) % 80 for n in range(11))
REPLY_TOKENS = 30  # more than a window forgets by trimming
LAST_TOKENS = 12  # of a reply that nothing goes on from


@pytest.fixture(params=fair(FAMILIES, "hybrid", "window"))
def model(request: pytest.FixtureRequest, models: dict[str, LoadedModel]) -> LoadedModel:
    return models[request.param]


def answer(
    model: LoadedModel,
    store: PrefixStore,
    prompt: tuple[int, ...],
    reply_tokens: int = REPLY_TOKENS,
    *,
    transient: bool = False,
) -> Finished:
    heard: list[Event] = []
    asked = Request(
        tokens=prompt,
        sampling=Sampling(temperature=0),
        max_tokens=reply_tokens,
        speculation=Speculation.off(),
        transient=transient,
    )
    reply = QueuedReply(RequestId(1), asked, heard.append).start(model, store, History())
    while not reply.step():
        pass
    finished = heard[-1]
    assert isinstance(finished, Finished)
    return finished


def settle(store: PrefixStore) -> None:
    """What the engine does while nobody waits."""
    while store.has_unwritten:
        store.write_step()


_told: dict[tuple[str, tuple[int, ...], int], tuple[int, ...]] = {}


def cold(model: LoadedModel, prompt: tuple[int, ...], reply_tokens: int = REPLY_TOKENS) -> tuple[int, ...]:
    key = model.identity, prompt, reply_tokens
    if key not in _told:
        _told[key] = answer(model, PrefixStore(), prompt, reply_tokens).tokens
    return _told[key]


def next_turn(model: LoadedModel, store: PrefixStore, prompt: tuple[int, ...] = FIRST) -> tuple[int, ...]:
    return (*prompt, *answer(model, store, prompt).tokens, *QUESTION)


def test_a_chat_goes_on_from_what_was_read_of_it(model: LoadedModel) -> None:
    """All of the last turn but its last token, which was drawn and never read; however the next turn comes about."""
    store = PrefixStore(sequences=1)
    second = next_turn(model, store)
    read, before = len(second) - len(QUESTION) - 1, store.nbytes

    # A request of no chat, such as one for a title, takes nothing from the chat that it shares and leaves nothing.
    aside = answer(model, store, second, transient=True)
    assert (aside.stats.cached_tokens, store.nbytes) == (0, before)
    warm = answer(model, store, second)
    assert (warm.stats.cached_tokens, warm.tokens) == (read, aside.tokens)

    # The reply is written anew: from the end of the prompt on, as often as one likes.
    for _ in range(2):
        again = answer(model, store, second)
        assert (again.stats.cached_tokens, again.tokens) == (len(second) - 1, aside.tokens)

    third = (*second, *again.tokens, *QUESTION)
    warm = answer(model, store, third)
    assert warm.stats.cached_tokens == len(third) - len(QUESTION) - 1
    assert warm.tokens == cold(model, third)

    # An edited turn goes on from the turn before it.
    edited = (*third[: -len(QUESTION)], 44, 45, 46)
    warm = answer(model, store, edited, LAST_TOKENS)
    assert warm.stats.cached_tokens == len(third) - len(QUESTION) - (model.info.model_type == "qwen3_next")
    assert warm.tokens == cold(model, edited, LAST_TOKENS)


def test_thinking_that_the_template_drops_costs_only_the_reply(model: LoadedModel) -> None:
    """The next prompt parts from the last one at the end of its user's turn."""
    store = PrefixStore()
    answer(model, store, FIRST)
    without = (*FIRST, 41, 42, 43, *QUESTION)

    warm = answer(model, store, without, LAST_TOKENS)

    assert warm.stats.cached_tokens == len(FIRST) - (model.info.model_type == "qwen3_next")
    assert warm.tokens == cold(model, without, LAST_TOKENS)


@pytest.mark.slow
def test_a_window_goes_back_further_than_it_remembers(models: dict[str, LoadedModel]) -> None:
    """After a reply so long that the window has let go of the prompt's end, a checkpoint has it."""
    model, store = models["window"], PrefixStore()
    answer(model, store, FIRST, reply_tokens=340)
    without = (*FIRST, 41, 42, 43, *QUESTION)

    warm = answer(model, store, without, LAST_TOKENS)

    assert warm.stats.cached_tokens == len(FIRST) - 1
    assert warm.tokens == cold(model, without, LAST_TOKENS)


def test_what_is_evicted_comes_back_from_disk(model: LoadedModel, tmp_path: Path) -> None:
    unlimited = PrefixStore()
    next_turn(model, unlimited)
    store = PrefixStore(int(1.6 * unlimited.nbytes), PrefixDisk(tmp_path))
    second = next_turn(model, store)
    answer(model, store, tuple(reversed(FIRST)))
    assert store.over_limit
    settle(store)

    assert len(store.kept) == 1
    warm = answer(model, store, second, LAST_TOKENS)
    assert warm.stats.cached_tokens == len(second) - len(QUESTION) - 1
    assert warm.tokens == cold(model, second, LAST_TOKENS)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_stopped_reply_is_continued_without_the_draft_reading_it_again(model: LoadedModel, ahead: bool) -> None:
    """Also where its next forward was under way already, which a recurrent state cannot take back by itself."""
    store, tokens = PrefixStore(), list(FIRST)
    sampler = Sampler(Sampling(temperature=0), 0, model.logit_width, [])
    first = DraftModelProposer(model, store)
    while first.offer(tokens).behind:
        first.read_on()
    for _ in range(5):
        first.propose(tokens, Plan("draft", 4), sampler)
        first.commit([1, 2])
        tokens += [1, 2]
        first.offer(tokens)
        if ahead:
            first.read_on()
    first.close()

    assert DraftModelProposer(model, store)._follow(tokens).caches.position >= len(tokens) - 2


def fresh(model: LoadedModel, tokens: list[int]) -> Sequence:
    sequence = Sequence(model, list(tokens))
    while sequence.uncached > 1:
        sequence.prefill_chunk()
    return sequence
