"""Background requests through the real engine: paused for everybody else, resumed, and the same text all the same.

A sink is called on the engine's thread between two steps. So what a sink submits comes exactly there.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest

from engine import (
    Engine,
    Event,
    Failed,
    Finished,
    FinishReason,
    PromptProgress,
    Queued,
    Request,
    RequestId,
    Sampling,
    Speculation,
    TextDelta,
)
from tests.engine.batch_harness import MERGING_FAMILIES, UNMERGED_FAMILY, Harness, alone, draft, model, prompt
from tests.engine.batch_harness import asking as harness_asking
from tests.helpers.engine_client import PATIENCE_S, EngineClient
from tests.helpers.samples import fair, sampled

pytestmark = pytest.mark.usefixtures("short_chunks")
LONG_PROMPT = tuple((n * n + 7 * n + 3) % 250 + 1 for n in range(150))  # three chunks
PROMPT = LONG_PROMPT[:40]
TOKENS = 40
HOUR_S = 3600.0
OTHER = Request(tokens=PROMPT[:9], sampling=Sampling(temperature=0), speculation=Speculation.fixed(3), max_tokens=8)
SPECULATIONS = {"off": Speculation.off(), "fixed": Speculation.fixed(3), "auto": Speculation.auto()}


def asking(tokens: tuple[int, ...] = PROMPT, speculation: Speculation | None = None, length: int = TOKENS) -> Request:
    sampling = Sampling(temperature=0.9, seed=5, repetition_penalty=1.2)
    return Request(
        tokens=tokens,
        sampling=sampling,
        speculation=speculation or Speculation.fixed(3),
        max_tokens=length,
        background=True,
    )


@dataclass
class Company:
    """Requests of one engine, and all that was heard of them in one list."""

    engine: Engine
    heard: list[tuple[str, Event]] = field(default_factory=list)
    ids: dict[str, RequestId] = field(default_factory=dict)
    _ends: queue.SimpleQueue[Event] = field(default_factory=queue.SimpleQueue)

    def submit(self, name: str, request: Request, act: Callable[[Event], None] | None = None) -> None:
        def sink(event: Event) -> None:
            self.heard.append((name, event))
            if isinstance(event, Queued):
                self.ids[name] = event.request
            if act is not None:
                act(event)
            if isinstance(event, Finished | Failed):
                self._ends.put(event)

        self.engine.submit(request, sink)

    def wait(self, ends: int) -> None:
        for _ in range(ends):
            self._ends.get(timeout=PATIENCE_S)

    def of(self, name: str) -> Finished:
        (end,) = [event for who, event in self.heard if who == name and isinstance(event, Finished | Failed)]
        assert isinstance(end, Finished), end
        return end

    def names(self, *, queued: bool = False) -> list[str]:
        """Of whom each event was, in order; that one was queued happens at any time."""
        return [name for name, event in self.heard if queued or not isinstance(event, Queued)]


def at(number: int, act: Callable[[], None]) -> Callable[[Event], None]:
    """A sink's part that acts at the so-manieth progress or text, counted from 1."""
    count = iter(range(1, 10**6))

    def heard(event: Event) -> None:
        if isinstance(event, PromptProgress | TextDelta) and next(count) == number:
            act()

    return heard


@pytest.fixture
def company(client: EngineClient) -> Company:
    assert isinstance(client.engine, Engine)
    return Company(client.engine)


def is_together(names: list[str], name: str) -> bool:
    first, last = names.index(name), len(names) - names[::-1].index(name)
    return set(names[first:last]) == {name}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("tokens", "speculation", "moment"),
    sampled({"long": LONG_PROMPT, "short": PROMPT}, list(SPECULATIONS), range(1, 8), rest=pytest.mark.slow),
)
def test_its_text_is_the_same_wherever_it_was_paused(
    client: EngineClient, company: Company, tokens: tuple[int, ...], speculation: str, moment: int
) -> None:
    """While it reads its prompt, and between any two of its steps."""
    request = asking(tokens, SPECULATIONS[speculation])
    whole = client.run(replace(request, background=False, transient=True))
    company.submit("background", request, at(moment, lambda: company.submit("other", OTHER)))
    company.wait(2)
    assert company.of("background").tokens == whole.tokens
    assert is_together(company.names(), "other")
    assert company.names()[-1] == "background"


def test_it_starts_when_nobody_else_is_there(company: Company) -> None:
    """Whoever is queued before it starts goes first, also one that comes later."""

    def submit() -> None:
        company.submit("background", asking())
        company.submit("second", OTHER)

    company.submit("first", OTHER, at(1, submit))
    company.wait(3)
    names = company.names()
    assert is_together(names, "background")
    assert names[-1] == "background"


def test_several_are_written_one_by_one_and_no_one_shares_a_forward_with_them(company: Company) -> None:
    def submit() -> None:
        company.submit("second", asking())
        company.submit("other", OTHER)

    company.submit("first", asking(), at(4, submit))
    company.wait(3)
    ends = [name for name, event in company.heard if isinstance(event, Finished)]
    assert ends == ["other", "first", "second"]
    assert is_together(company.names(), "second")
    assert [company.of(name).stats.shared_rounds for name in ends] == [0, 0, 0]
    assert company.of("other").stats.drafted > 0


def test_two_others_share_their_forwards_while_it_is_paused(company: Company) -> None:
    def submit() -> None:
        for number in range(2):
            company.submit(f"other {number}", replace(OTHER, speculation=Speculation.off()))

    company.submit("background", asking(), at(4, submit))
    company.wait(3)
    assert company.of("other 0").stats.shared_rounds > 0
    assert company.of("background").stats.shared_rounds == 0


@pytest.mark.parametrize("moment", fair([1, 2, 6], 2))
def test_one_that_is_paused_is_cancelled_at_once(client: EngineClient, company: Company, moment: int) -> None:
    whole = client.run(replace(asking(LONG_PROMPT), background=False, transient=True))

    def submit() -> None:
        company.submit("other", OTHER, at(1, lambda: company.engine.cancel(company.ids["background"])))

    company.submit("background", asking(LONG_PROMPT), at(moment, submit))
    company.wait(2)
    ends = [name for name, event in company.heard if isinstance(event, Finished)]
    assert ends == ["background", "other"]
    ended = company.of("background")
    assert ended.reason is FinishReason.CANCELLED
    assert ended.tokens == whole.tokens[: len(ended.tokens)]
    further = replace(asking((*LONG_PROMPT, *ended.tokens, 5)), background=False)
    assert client.run(further).tokens == client.run(replace(further, transient=True)).tokens


def test_its_figures_leave_the_pause_out(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour goes by while another one is written."""
    ahead_s = [0.0]
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + ahead_s[0])
    for module in ("queued", "rounds"):
        monkeypatch.setattr(f"engine.runtime.{module}.time", clock)

    def sleep(event: Event) -> None:
        if isinstance(event, Finished):
            ahead_s[0] += HOUR_S

    company.submit("background", asking(LONG_PROMPT), at(2, lambda: company.submit("first", OTHER, sleep)))
    company.wait(2)
    company.submit("written", asking(), at(6, lambda: company.submit("second", OTHER, sleep)))
    company.wait(2)
    for name in ("background", "written"):
        stats = company.of(name).stats
        assert max(stats.prefill_s, stats.first_token_s, stats.decode_s) < HOUR_S / 2, name
        assert stats.decode_s > 0


@pytest.mark.costly
@pytest.mark.parametrize(
    ("family", "speculation"),
    sampled(
        [*MERGING_FAMILIES, UNMERGED_FAMILY],
        {"fixed": Speculation.fixed(3), "off": Speculation.off()},
        rest=pytest.mark.slow,
    ),
)
def test_caches_of_every_kind_are_kept(family: str, speculation: Speculation) -> None:
    """Paused after each of its steps, some of which have begun the next one."""
    request = harness_asking(prompt(30), 12, speculation=speculation)
    harness = Harness(model(family), draft())
    background = harness.submit(replace(request, background=True))
    while not background.ended:
        harness.scheduler.step()
        other = harness.submit(harness_asking(prompt(5), 2, speculation=Speculation.off()))
        while not other.ended:
            harness.scheduler.step()
    assert background.tokens == alone(family, request).tokens


def test_where_memory_is_short_it_goes_before_others(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    short: list[bool] = []
    monkeypatch.setattr("engine.runtime.pair.is_short", lambda: bool(short))
    long_other = replace(OTHER, tokens=LONG_PROMPT)

    def submit() -> None:
        company.submit("other", long_other, at(5, lambda: short.append(True)))

    then = at(4, submit)

    def act(event: Event) -> None:
        then(event)
        if isinstance(event, Finished):
            short.clear()

    company.submit("background", asking(), act)
    company.wait(2)
    assert company.of("other").reason is FinishReason.LENGTH
    assert company.of("background").reason is FinishReason.MEMORY


@pytest.mark.expect_log("the device is lost")
def test_one_that_cannot_be_paused_fails_alone(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_reply: object) -> None:
        raise RuntimeError("the device is lost")

    monkeypatch.setattr("engine.runtime.reply.Reply.pause", broken)
    company.submit("background", asking(), at(4, lambda: company.submit("other", OTHER)))
    company.wait(2)
    assert any(isinstance(event, Failed) for name, event in company.heard if name == "background")
    assert company.of("other").reason is FinishReason.LENGTH
