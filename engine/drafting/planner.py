"""Drafting for one reply: its proposers, what the controller makes of their offers, and why it drafts or not."""

from __future__ import annotations

import time
from collections.abc import Sequence

import mlx.core as mx

from engine.api.types import DraftingState
from engine.decoding.hidden_states import Taps
from engine.decoding.round import Round
from engine.decoding.sequence import Sequence as TokenSequence
from engine.drafting.controller import PLAIN, Controller, Offer
from engine.drafting.proposers.base import Guarded, Proposer


class Drafting:
    def __init__(self, proposers: Sequence[Proposer], controller: Controller) -> None:
        self.state = DraftingState.NO_DRAFT
        self.source = ""  # of the latest draft
        self._proposers = {proposer.name: Guarded(proposer) for proposer in proposers}
        self._controller = controller
        self._plan = PLAIN

    def tap(self, sequence: TokenSequence) -> None:
        """Have the hidden states kept that the proposers draft from, if any does."""
        layers = [layer for proposer in self._proposers.values() for layer in proposer.layers]
        assert not layers or sum(bool(proposer.layers) for proposer in self._proposers.values()) == 1
        sequence.taps = Taps(sequence.model.network, layers) if layers else None

    def hear(self, sequence: TokenSequence) -> None:
        if sequence.taps is None:
            return
        position, states = sequence.taps.take()
        for proposer in self._proposers.values():
            if states is not None and proposer.layers:
                proposer.hear(position, states)

    def plan(self, tokens: Sequence[int], room: int) -> tuple[Proposer | None, int]:
        """Who drafts how many tokens next, at most `room`. The first token of a reply must not come here."""
        asked = [proposer for name, proposer in self._proposers.items() if self._controller.wants(name)]
        offers = [self._offer(proposer, tokens) for proposer in asked]
        self._plan = self._controller.plan(offers)
        self.state = self._state([offer.source for offer in offers if offer.most])
        length = min(self._plan.length, room)
        if length <= 0:
            self._plan = PLAIN
            return None, 0
        self.source = self._plan.source
        return self._proposers[self._plan.source], length

    def _offer(self, proposer: Guarded, tokens: Sequence[int]) -> Offer:
        offer = proposer.offer(tokens)
        if not offer.behind or not self._controller.lets_read(offer):
            return offer
        mx.synchronize()  # a round in flight is not the reader's to pay
        started = time.perf_counter()
        proposer.read_on()
        read_on = proposer.offer(tokens)
        self._controller.observe_reading(offer.source, offer.behind - read_on.behind, time.perf_counter() - started)
        return read_on

    def put_off(self) -> None:
        """The round that was planned turns out to be plain."""
        self._plan = PLAIN

    def observe(self, done: Round, *, reads_on: bool = False) -> None:
        """With `reads_on`, who has drafted may go on reading at once, while the text of this round goes out."""
        plan = self._plan if done.drafted else PLAIN
        started = time.perf_counter()
        if plan.source and reads_on and not self._controller.parked:
            self._proposers[plan.source].read_on()
        seconds = done.seconds + time.perf_counter() - started
        self._controller.observe(plan, done.drafted, done.accepted, seconds if done.typical else None)

    def close(self) -> None:
        for proposer in self._proposers.values():
            proposer.close()

    def _state(self, offering: list[str]) -> DraftingState:
        """A code for the person: about the draft model where there is one."""
        draft = self._proposers.get("draft")
        if draft is None:
            return DraftingState.ACTIVE if self.source else DraftingState.NO_DRAFT
        if draft.failed:
            return DraftingState.FAILED
        if self._controller.parked:
            return DraftingState.PARKED
        return DraftingState.ACTIVE if "draft" in offering else DraftingState.CATCHING_UP
