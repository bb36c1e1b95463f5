"""Other programs' requests: several at once, paused while the user has one, and the same text all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import Event, Finished, FinishReason, Queued, TextDelta
from tests.engine.conftest import Zoo
from tests.engine.test_background import PROMPT, Company, asking
from tests.helpers.engine_client import EngineClient

USERS = replace(asking(PROMPT[:20], length=12), background=False)
GUESTS = [replace(asking(PROMPT[:length]), background=False, guest=True) for length in (20, 30, 40)]


@pytest.fixture
def company(client: EngineClient) -> Company:
    return Company(client.engine)  # type: ignore[arg-type]


def names_between(company: Company, name: str) -> set[str]:
    """Whose text came between the first and the last event of one request."""
    events = [at for at, (who, event) in enumerate(company.heard) if who == name and not isinstance(event, Queued)]
    within = company.heard[events[0] : events[-1]]
    return {who for who, event in within if isinstance(event, TextDelta)} - {name}


def end_of(company: Company, name: str) -> Finished:
    (end,) = [event for who, event in company.heard if who == name and isinstance(event, Finished)]
    return end


def test_guests_pause_for_the_users_request_and_go_on(client: EngineClient, company: Company) -> None:
    alone = [client.run(request).tokens for request in GUESTS]
    said = 0

    def interrupt(event: Event) -> None:
        nonlocal said
        said += isinstance(event, TextDelta)
        if said == 5:
            said += 1
            company.submit("user", USERS)

    for number, request in enumerate(GUESTS):
        company.submit(f"guest {number}", request, interrupt if number == 0 else None)
    company.wait(ends=4)
    assert names_between(company, "user") == set()
    assert [end_of(company, f"guest {number}").tokens for number in range(3)] == alone
    assert company.engine.state().guests == ()


def test_guests_run_together(company: Company) -> None:
    for number, request in enumerate(GUESTS[:2]):
        company.submit(f"guest {number}", request)
    company.wait(ends=2)
    assert names_between(company, "guest 1") == {"guest 0"}


def test_a_background_request_waits_for_guests(company: Company) -> None:
    def add(event: Event) -> None:
        if isinstance(event, TextDelta) and "background" not in company.ids:
            company.submit("background", asking(PROMPT[:9], length=5))

    company.submit("guest", GUESTS[0], add)
    company.wait(ends=2)
    whose = [who for who, event in company.heard if isinstance(event, TextDelta)]
    assert whose == sorted(whose, reverse=True)


def test_another_main_model_ends_guests_without_asking(client: EngineClient, company: Company, zoo: Zoo) -> None:
    def load(event: Event) -> None:
        if isinstance(event, TextDelta) and "loading" not in company.ids:
            company.ids["loading"] = company.ids["guest"]
            company.engine.load(zoo.drafts["other"], lambda _: None)

    company.submit("guest", replace(GUESTS[0], max_tokens=200), load)
    company.wait(ends=1)
    assert end_of(company, "guest").reason is FinishReason.MODEL_CHANGED
