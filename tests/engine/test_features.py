"""What a drafter keeps of a chat, with a main model whose state at a token is the token's position.

So every row says which state it was made of, and which token it was told comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.cache import KVCache

from engine import MAX_DRAFT_TOKENS, ModelInfo
from engine.caches.base import CacheSet
from engine.caches.making import CacheMaker
from engine.decoding.sequence import Sequence as Conversation
from engine.drafting.plans import Offer
from engine.drafting.proposers import features
from engine.drafting.proposers.features import Context, FeatureProposer
from engine.models.loading import LoadedModel
from engine.models.memory import MemoryNeed
from engine.prefix.memory import PrefixStore

CONTEXT_TOKENS = 2000
CHAT = [(7 * at) % 251 for at in range(CONTEXT_TOKENS)]


class Layer(nn.Module):  # type: ignore[misc]
    def __call__(self, states: mx.array) -> mx.array:
        return states


class Main(nn.Module):  # type: ignore[misc]
    model_type = "counting"

    def __init__(self) -> None:
        super().__init__()
        self.layers = [Layer()]
        self.read_widths: list[int] = []

    def __call__(self, tokens: mx.array, cache: Any = None) -> mx.array:
        width, offset = tokens.shape[1], cache[0].offset if cache else 0
        self.read_widths.append(width)
        if cache:
            cache[0].update_and_fetch(mx.zeros((1, 1, width, 1)), mx.zeros((1, 1, width, 1)))
        self.layers[0](positions(offset, offset + width)[None])
        return mx.zeros((1, width, 8))


class Drafter(nn.Module):  # type: ignore[misc]
    """Keeps in each row the state that it was made of, and the token after it."""

    def __init__(self, reads_next_token: bool) -> None:
        super().__init__()
        self.layers = [Layer()]
        self.reads_next_token = reads_next_token
        self.reads = (0,)
        self.read_widths: list[int] = []

    def read(self, tokens: mx.array, states: mx.array, caches: CacheSet) -> mx.array:
        width = states.shape[0]
        assert tokens.size == width
        self.read_widths.append(width)

        def run() -> mx.array:
            caches.layers[0].update_and_fetch(states[None, None], tokens.reshape(1, 1, width, 1).astype(mx.float32))
            return 10 * states

        made = caches.forward(width, run)
        caches.commit(width)
        return made


def positions(first: int, end: int) -> mx.array:
    return mx.arange(first, end).reshape(-1, 1).astype(mx.float32)


def loaded(network: Any, identity: str) -> LoadedModel:
    info = ModelInfo("", identity, identity, 0, 0, None, 96, "", CONTEXT_TOKENS)
    tokenizer: Any = None
    return LoadedModel(info, network, tokenizer, 96, CacheMaker(network), MemoryNeed(0, 0, 0), identity)


def context(tokens: Sequence[int] = (), chat: Conversation | None = None, *, reads_next_token: bool = True) -> Context:
    main = loaded(Main(), "main") if chat is None else chat.model
    return Context(loaded(Drafter(reads_next_token), "drafter"), main, PrefixStore(), 0, tokens, chat)


def next_turn(last: Context, tokens: Sequence[int] = (), chat: Conversation | None = None) -> Context:
    """Of the same drafter."""
    return Context(last.drafter, last.main, last.store, 0, tokens, chat)


def numbers(rows: Any, count: int) -> list[int]:
    return rows[0, 0, :count, 0].astype(mx.int32).tolist()  # type: ignore[no-any-return]


def check(kept: Context, chat: list[int], rows: int) -> None:
    """The first `rows` rows, each of its own state and the token behind it, and no other."""
    assert kept.caches.position == rows
    (layer,) = kept.caches.layers
    assert isinstance(layer, KVCache)
    assert layer.offset == rows
    if rows:
        assert numbers(layer.keys, rows) == list(range(rows))
        assert numbers(layer.values, rows) == chat[1 : rows + 1]


def test_every_token_but_the_newest_has_a_row_of_its_own_state() -> None:
    """Whatever the parts in which states come, and whenever they are read."""
    coin = Random(5)
    for _ in range(12):
        kept, told = context(), 0
        while told < 900:
            width = coin.choice([1, 1, 2, 7, 130])
            kept.receive(told, positions(told, told + width))
            told += width
            if coin.random() < 0.3:
                kept.follow(CHAT[: told + 1])
                assert kept.missing() == 0
                kept.read()
                check(kept, CHAT, told)


def test_states_are_read_in_chunks_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole chunk is computed at once, or what it is made of would stay in memory; fewer wait for the draft."""
    kept, evaluated = context(), list[int]()
    monkeypatch.setattr(CacheSet, "evaluate", lambda caches: evaluated.append(caches.position))
    kept.follow(CHAT[:1301])
    kept.receive(0, positions(0, 700))
    kept.receive(700, positions(700, 1300))
    kept.read()
    assert kept.drafter.network.read_widths == [512, 512, 276]
    assert kept.last_state is not None
    assert kept.last_state.tolist() == [[12990.0]]
    assert evaluated == [512, 1024]
    kept.read()
    check(kept, CHAT, 1300)
    kept.follow(CHAT[:1302])
    kept.receive(1300, positions(1300, 1301))
    kept.read()
    check(kept, CHAT, 1301)


def test_states_that_come_twice_make_one_row() -> None:
    kept = context()
    kept.follow(CHAT[:40])
    for first, end in ((0, 20), (10, 30), (5, 12), (29, 39)):
        kept.receive(first, positions(first, end))
        kept.read()
    check(kept, CHAT, 39)


@pytest.mark.parametrize(
    ("parts", "missing"),
    [
        ([], 60),
        ([(0, 60)], 0),
        ([(0, 59)], 60),
        ([(1, 60)], 1),
        ([(0, 10), (20, 60)], 20),
        ([(0, 10), (10, 30), (31, 60)], 31),
        ([(0, 10), (5, 8), (9, 60)], 0),
    ],
)
def test_what_is_missing_is_read_again_up_to_the_last_gap(parts: list[tuple[int, int]], missing: int) -> None:
    kept = context()
    kept.follow(CHAT[:61])
    for first, end in parts:
        kept.receive(first, positions(first, end))
    assert kept.missing() == missing
    if missing:
        kept.read_again()
        assert kept.missing() == 0
    kept.read()
    check(kept, CHAT, 60)


@pytest.mark.parametrize(("tokens", "came", "behind"), [(1400, 900, [900, 388]), (1026, None, [1025, 513, 1])])
def test_reading_again_ends_when_the_last_state_is_there(tokens: int, came: int | None, behind: list[int]) -> None:
    """Neither before it nor, where later states came by themselves, after it."""
    kept = context()
    kept.follow(CHAT[:tokens])
    if came is not None:
        kept.receive(came, positions(came, tokens - 1))
    left = []
    for _ in behind:
        left.append(kept.missing())
        kept.read_again()
    assert left == behind
    assert kept.missing() == 0


@pytest.mark.parametrize(("held", "missing"), [(0, 49), (20, 29), (40, 9)])
def test_rows_that_the_main_model_has_of_the_chat_spare_it_a_reading(held: int, missing: int) -> None:
    chat = Conversation(loaded(Main(), "main"), CHAT[:50])
    chat.prefill_chunk()
    kept = context(CHAT[:50], chat)
    kept.follow(CHAT[:50])
    if held:
        kept.receive(0, positions(0, held))
        kept.read()
    assert kept.missing() == missing
    kept.read_again()
    assert kept.missing() == 0
    kept.read()
    check(kept, CHAT, 49)
    assert chat.caches.position == 49


def test_where_the_main_model_shares_its_forwards_all_is_read_again() -> None:
    """Its own rows of the chat are among others then."""
    kept = context(CHAT[:50], Conversation(loaded(Main(), "main"), CHAT[:50]))
    kept.follow(CHAT[:50])
    kept.receive(0, positions(0, 20))
    kept.read()
    assert kept.missing() == 49


@pytest.mark.parametrize("reads_next_token", [True, False])
def test_a_next_turn_goes_on_from_the_rows_of_the_last(reads_next_token: bool) -> None:
    """With the states that came after its last draft. What row i depends on must be the same: token i + 1 for some."""
    first = context(reads_next_token=reads_next_token)
    first.turn_end = 99
    first.follow(CHAT[:100])
    first.receive(0, positions(0, 99))
    first.read()
    first.follow(CHAT[:120])
    first.receive(99, positions(99, 119))
    first.close()
    first.close()
    (kept,) = first.store.kept
    assert kept.sequence.turn_end == (98 if reads_next_token else 99)
    assert kept.sequence.tokens[1:] == CHAT[reads_next_token + 1 : 120]

    branch = [*CHAT[:110], 255, *CHAT[111:150]]
    second = next_turn(first)
    second.follow(branch)
    shared = 109 if reads_next_token else 110
    check(second, CHAT, shared)
    assert second.missing() == 149
    second.receive(shared, positions(shared, 149))
    assert second.missing() == 0
    second.read()
    check(second, CHAT[:111] + branch[111:] if not reads_next_token else branch, 149)


@pytest.mark.parametrize("reads_next_token", [True, False])
@pytest.mark.parametrize("at", [0, 1])
def test_a_chat_that_begins_otherwise_gets_none_of_anothers_rows(reads_next_token: bool, at: int) -> None:
    """Whichever of the first two tokens is another: what so few rows could be shared of stays with the other chat."""
    first = read_to_the_end(context(reads_next_token=reads_next_token), CHAT[:100])
    other = next_turn(first)
    other.follow([*CHAT[:at], 255, *CHAT[at + 1 : 120]])
    assert other.caches.position == 0
    same = next_turn(first)
    same.follow(CHAT[:120])
    assert same.caches.position == 99


@pytest.mark.parametrize("reads_next_token", [True, False])
@pytest.mark.parametrize("shared", [40, 99, 100])
def test_what_the_main_model_has_taken_of_a_chat_the_rows_are_taken_of_too(reads_next_token: bool, shared: int) -> None:
    """Half of its tokens or less, as where an earlier reply is written anew: there are no states of what it took."""
    first = read_to_the_end(context(reads_next_token=reads_next_token), CHAT[:201])
    taken_up_to = shared - reads_next_token
    again = next_turn(first)
    tokens = [*CHAT[:shared], 255, *CHAT[300:330]]
    again.receive(taken_up_to, positions(taken_up_to, len(tokens) - 1))
    again.follow(tokens)
    assert again.missing() == 0
    again.read()
    assert again.caches.position == len(tokens) - 1


def read_to_the_end(kept: Context, chat: list[int]) -> Context:
    kept.follow(chat)
    kept.receive(0, positions(0, len(chat) - 1))
    kept.close()
    return kept


@pytest.mark.parametrize(("forgotten", "kept"), [(False, ["1"]), (True, [])])
def test_rows_belong_to_the_conversation_of_the_main_models_sequence(*, forgotten: bool, kept: list[str]) -> None:
    chat = Conversation(loaded(Main(), "main"), CHAT[:100])
    chat.conversation, chat.forgotten = "1", forgotten
    rows = context(CHAT[:100], chat)
    read_to_the_end(rows, CHAT[:100])
    assert [each.sequence.conversation for each in rows.store.kept] == kept


def test_another_owner_gets_none_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the disk tell it what the main model has of the chat."""

    def on_disk(_store: PrefixStore, _model: LoadedModel, _tokens: list[int], owner: str = "") -> int:
        asked.append(owner)
        return 0

    first = context(CHAT[:100], Conversation(loaded(Main(), "main"), CHAT[:100], owner="a"))
    read_to_the_end(first, CHAT[:100])
    asked: list[str] = []
    monkeypatch.setattr(PrefixStore, "on_disk", on_disk)
    for owner, position in (("", 0), ("b", 0), ("a", 99)):
        other = next_turn(first, CHAT[:120], Conversation(first.main, CHAT[:120], owner=owner))
        other.follow(CHAT[:120])
        assert other.caches.position == position
        asked.clear()
        assert other.missing() > 0
        other.read_again()
        assert other._again is None or other._again[0].owner == owner
        assert set(asked) <= {owner}
    assert asked == ["a"]


@pytest.mark.parametrize("reads_from", [99, 100, 101])
def test_a_chat_that_parts_where_its_last_reply_ended_misses_nothing(reads_from: int) -> None:
    """A main model that cannot take a token back reads on behind the last row; what that was made of was remembered."""
    first = read_to_the_end(context(), CHAT[:101])
    second = next_turn(first)
    tokens = [*CHAT[:100], 255, *CHAT[300:330]]
    second.receive(reads_from, positions(reads_from, len(tokens) - 1))
    second.follow(tokens)
    assert second.missing() == (101 if reads_from == 101 else 0)
    if reads_from < 101:
        second.read()
        check(second, tokens, len(tokens) - 1)


def test_the_state_of_a_row_that_went_is_of_no_use_to_another_text() -> None:
    """Which parted before it, and is as long again."""
    first = read_to_the_end(context(), CHAT[:101])
    second = next_turn(first, CHAT[:90])
    second.receive(89, positions(89, 90))
    second.follow([*CHAT[:90], 255])
    assert second.sequence is not None
    assert second.sequence.last_state is None
    second.close()
    (kept,) = second.store.kept
    assert kept.sequence.last_state is not None
    assert kept.sequence.last_state[0] == kept.sequence.caches.position - 1


def test_with_a_hole_it_is_kept_up_to_there() -> None:
    kept = context()
    kept.follow(CHAT[:50])
    kept.receive(0, positions(0, 30))
    kept.read()
    kept.receive(31, positions(31, 49))
    kept.close()
    assert kept.store.kept[0].sequence.caches.position == 30
    assert kept.waiting_bytes == 0


def test_more_states_than_may_wait_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row takes less room than the states that it is made of. What cannot have one yet is forgotten."""
    monkeypatch.setattr(features, "MOST_WAITING_BYTES", 40)
    kept = context(CHAT[:31])
    for first, end in ((0, 5), (5, 10)):
        kept.receive(first, positions(first, end))
    assert len(kept.waiting) == 2
    kept.receive(10, positions(10, 11))
    check(kept, CHAT, 11)
    for first, end in ((15, 21), (21, 25)):
        kept.receive(first, positions(first, end))
    assert [(at, held.shape[0]) for at, held in kept.waiting] == [(15, 6), (21, 4)]
    kept.receive(25, positions(25, 29))
    assert (kept.waiting, kept.waiting_bytes) == ([], 0)
    kept.receive(29, positions(29, 30))
    assert kept.missing() == 29
    kept.read_again()
    assert kept.missing() == 0
    kept.read()
    check(kept, CHAT, 30)


def test_of_several_replies_no_more_states_wait_together_than_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is admitted for so many once. Whose states come last reads them; one that has ended holds none."""
    monkeypatch.setattr(features, "MOST_WAITING_BYTES", 40)
    first = context(CHAT[:31])
    others = [next_turn(first, CHAT[:31]) for _ in range(3)]
    first.receive(0, positions(0, 9))
    for kept in others:
        for at in (0, 4, 8):
            kept.receive(at, positions(at, at + 4))
            assert sum(each.waiting_bytes for each in (first, *others)) <= 40
        check(kept, CHAT, 12)
    assert first.waiting_bytes == 36
    first.close()
    others[0].receive(12, positions(12, 22))
    assert others[0].waiting_bytes == 40


def test_no_states_wait_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read, or made again later: before a reply ends for want of memory."""
    kept = context(CHAT[:61])
    kept.receive(0, positions(0, 10))
    assert kept.waiting_bytes == 40
    monkeypatch.setattr(features, "is_short", lambda: True)
    kept.receive(10, positions(10, 20))
    assert kept.waiting_bytes == 0
    check(kept, CHAT, 20)
    kept.receive(30, positions(30, 60))
    assert kept.waiting_bytes == 0
    assert kept.missing() == 60
    monkeypatch.setattr(features, "is_short", lambda: False)
    kept.read_again()
    kept.read()
    check(kept, CHAT, 60)


def proposer(room: int = CONTEXT_TOKENS) -> FeatureProposer:
    drafter = loaded(Drafter(True), "drafter")
    drafter = drafter if room == CONTEXT_TOKENS else narrowed(drafter, room)
    return FeatureProposer(Context(drafter, loaded(Main(), "main"), PrefixStore()))


def narrowed(model: LoadedModel, context_tokens: int) -> LoadedModel:
    return replace(model, info=replace(model.info, context_tokens=context_tokens))


@pytest.mark.parametrize(
    ("room", "most"), [(-5, 0), (0, 0), (1, 1), (7, 7), (MAX_DRAFT_TOKENS, MAX_DRAFT_TOKENS), (900, MAX_DRAFT_TOKENS)]
)
def test_an_offer_is_what_fits_the_context_once_every_state_is_there(room: int, most: int) -> None:
    drafts = proposer(50 + room)
    reads = 49 if room > 0 else 0  # what it could not draft behind need not be read again
    assert drafts.offer(CHAT[:50]) == Offer(drafts.name, 0, has_probabilities=True, behind=reads)
    drafts.receive_states(0, positions(0, 49))
    assert drafts.offer(CHAT[:50]) == Offer(drafts.name, most, has_probabilities=True)


def test_the_state_of_the_newest_token_waits_for_the_token_behind_it() -> None:
    """In company a forward over a token is done before that is the newest but one."""
    kept, tokens = context(), CHAT[:20]
    kept.follow(tokens)
    kept.receive(0, positions(0, 20))
    kept.read()
    check(kept, CHAT, 19)
    tokens.append(CHAT[20])
    kept.receive(20, positions(20, 21))
    kept.follow(tokens)
    assert kept.missing() == 0
    kept.read()
    check(kept, CHAT, 20)
