"""Searches beside huggingface_hub's own client, which others wrote: what we ask of a hub is what it asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args
from urllib.parse import parse_qsl, urlsplit

import pytest
from huggingface_hub import HfApi, close_session
from huggingface_hub.hf_api import ExpandModelProperty_T

from engine import HubKind, HubQuery, HubSort, ModelInfo
from tests.end2end.test_hub_search import found
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


def questions(hub: TinyHub) -> list[tuple[str, list[tuple[str, str]]]]:
    """What the hub has been asked since the last look: paths with their parameters, in no order."""
    asked, hub.seen = hub.seen, []
    parts = [urlsplit(seen.path) for seen in asked]
    return sorted((part.path, sorted(parse_qsl(part.query, strict_parsing=True))) for part in parts)


@pytest.mark.costly
@pytest.mark.parametrize("case", SEARCHES)
def test_a_search_asks_what_the_official_client_asks(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, case: str
) -> None:
    query, wanted = SEARCHES[case]
    found(store, recorder, query)
    our_questions = questions(hub)
    for each in wanted:
        list(HfApi(endpoint=hub.endpoint, token=False).list_models(**each))
    assert our_questions == questions(hub)


def test_the_fields_of_a_search_are_some_that_a_hub_has() -> None:
    """One that it does not know would refuse the whole question."""
    assert set(FIELDS) <= set(get_args(ExpandModelProperty_T))
