"""Searches beside huggingface_hub's own client, which others wrote: what we ask of a hub is what it asks, and from the
same answers both read the same models in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args
from urllib.parse import parse_qsl, urlsplit

import pytest
from huggingface_hub import HfApi, close_session
from huggingface_hub.hf_api import ExpandModelProperty_T

from engine import HubKind, HubModel, HubQuery, HubSort, ModelInfo, SearchResults
from tests.helpers.event_recorder import EventRecorder, QuickStore
from tests.helpers.tinyhub import TinyHub

FIELDS = ["config", "downloads", "gated", "lastModified", "likes", "safetensors", "tags"]
MAIN = ModelInfo("/m", "Qwen3-8B-4bit", "qwen3", 8 * 10**9, 4 * 10**9, 4.0, 0, "", 0)
GEMMA = ModelInfo("/g", "gemma-4-31b-it-4bit", "gemma4", 31 * 10**9, 16 * 10**9, 4.0, 0, "", 0)


def asked(**wanted: Any) -> dict[str, Any]:
    """What somebody would tell the official client."""
    return {"sort": "downloads", "limit": 50, "expand": FIELDS, **wanted}


def of_mlx(**wanted: Any) -> list[dict[str, Any]]:
    return [asked(filter="mlx", **wanted)]


def of_kinds(*kinds: str, words: str = "", **wanted: Any) -> list[dict[str, Any]]:
    """Drafters are seldom tagged as MLX: a list a kind, of all libraries."""
    return [asked(search=f"{words} {kind}".strip(), **wanted) for kind in kinds]


KINDS = ("DFlash", "DFly", "DSpark", "EAGLE", "Domino", "DFlare")
SEARCHES = {
    "nothing": (HubQuery(), of_mlx()),
    "words": (HubQuery("Qwen3 8B"), of_mlx(search="Qwen3 8B")),
    "an author": (HubQuery("Qwen", author="mlx-community"), of_mlx(search="Qwen", author="mlx-community")),
    "a family": (HubQuery(family="Qwen3"), of_mlx(search="Qwen3")),
    "the most liked": (HubQuery("Qwen", sort=HubSort.LIKES), of_mlx(search="Qwen", sort="likes")),
    "the newest": (HubQuery("Qwen", sort=HubSort.UPDATED), of_mlx(search="Qwen", sort="last_modified")),
    "Korean": (HubQuery("한국어 모델"), of_mlx(search="한국어 모델")),
    "Chinese and an emoji": (HubQuery("千问🚀"), of_mlx(search="千问🚀")),
    "signs of addresses": (HubQuery("a&b=c+d#e?f%20;/"), of_mlx(search="a&b=c+d#e?f%20;/")),
    "an author in quotes": (HubQuery(author='"a"&b=c'), of_mlx(author='"a"&b=c')),
    "drafters": (HubQuery(kind=HubKind.DRAFTER), of_kinds(*KINDS, "MTP")),
    "drafters by words": (
        HubQuery("Qwen3", kind=HubKind.DRAFTER, author="z-lab", sort=HubSort.LIKES),
        of_kinds(*KINDS, "MTP", words="Qwen3", author="z-lab", sort="likes"),
    ),
    "drafts for a main model": (
        HubQuery(drafts_for=MAIN),
        of_kinds(*KINDS, "MTP", words="qwen3-8b") + of_mlx(search="Qwen3"),
    ),
    "drafts for a Gemma": (
        HubQuery("small", drafts_for=GEMMA, sort=HubSort.UPDATED),
        of_kinds(*KINDS, "assistant", words="gemma-4-31b", sort="last_modified")
        + of_mlx(search="small", sort="last_modified"),
    ),
}


@pytest.fixture(autouse=True)
def their_lines_end(hub: TinyHub) -> Iterator[None]:
    yield
    close_session()


def ours(store: QuickStore, recorder: EventRecorder, query: HubQuery) -> list[HubModel]:
    """Everything, to the last page."""
    search = store.search(query)
    models: list[HubModel] = []
    while True:
        results = recorder.wait_for(SearchResults)
        models += results.models
        if not results.has_more:
            return models
        if not results.reading:
            store.more(search)


def theirs(hub: TinyHub, **wanted: Any) -> list[Any]:
    return list(HfApi(endpoint=hub.endpoint, token=False).list_models(**wanted))


def questions(hub: TinyHub) -> list[tuple[str, list[tuple[str, str]]]]:
    """What the hub has been asked since the last look: paths with their parameters, in no order."""
    asked, hub.seen = hub.seen, []
    parts = [urlsplit(seen.path) for seen in asked]
    return sorted((part.path, sorted(parse_qsl(part.query, strict_parsing=True))) for part in parts)


def listed(name: str, number: int, **said: Any) -> dict[str, Any]:
    day = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T00:00:{number:02}.000Z"
    return {"id": name, "tags": ["mlx"], "downloads": 900 - number, "likes": number, "lastModified": day, **said}


@pytest.mark.costly
@pytest.mark.parametrize("case", SEARCHES)
def test_a_search_asks_what_the_official_client_asks(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, case: str
) -> None:
    query, wanted = SEARCHES[case]
    ours(store, recorder, query)
    our_questions = questions(hub)
    for each in wanted:
        theirs(hub, **each)
    assert our_questions == questions(hub)


def test_the_fields_of_a_search_are_some_that_a_hub_has() -> None:
    """One that it does not know would refuse the whole question."""
    assert set(FIELDS) <= set(get_args(ExpandModelProperty_T))


ODD: dict[str, dict[str, Any]] = {
    "no field but its name": {},
    "nothing known": dict.fromkeys(("downloads", "likes", "lastModified", "config", "safetensors", "gated", "tags")),
    "gated at once": {"gated": "auto"},
    "gated by hand": {"gated": "manual"},
    "a date without a fraction": {"lastModified": "2026-05-04T03:02:01Z"},
    "a date with nanoseconds": {"lastModified": "2026-05-04T03:02:01.123456789Z"},
    "a date before 1970": {"lastModified": "1969-12-31T23:59:59.000Z"},
    "fields that nobody knows": {"_id": "65a", "trendingScore": 3, "new": {"x": [1]}},
    "no config, no weights": {"config": {}, "safetensors": None, "downloads": 0},
    "a name in Korean tags": {"tags": ["mlx", "한국어", "license:기타"]},
}


@pytest.mark.costly
@pytest.mark.parametrize("case", ODD)
def test_odd_answers_are_read_alike(hub: TinyHub, store: QuickStore, recorder: EventRecorder, case: str) -> None:
    hub.repositories.clear()
    hub.listed += [listed("org/First", 1), {"id": "org/Odd"} | ODD[case], listed("org/Last", 2)]
    mine, other = ours(store, recorder, HubQuery()), theirs(hub, **asked(filter="mlx"))
    assert [model.repository for model in mine] == [model.id for model in other]
    for model, their in zip(mine, other, strict=True):
        assert (model.downloads, model.likes) == (their.downloads or 0, their.likes or 0)
        assert model.gated == (their.gated in ("auto", "manual"))
        date = their.last_modified.timestamp() if their.last_modified is not None else 0.0
        assert model.updated_at == max(0.0, date)  # before 1970 there was no hub
