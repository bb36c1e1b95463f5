"""Looking around on a real hub on this machine: pages, limits, newer searches; hubs that are slow, absent or bad."""

from __future__ import annotations

import errno
import json
import socket
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest

from engine import (
    EngineError,
    HubAccess,
    HubCannotSearch,
    HubKind,
    HubMisbehaved,
    HubModel,
    HubOffline,
    HubPage,
    HubQuery,
    HubSilence,
    HubSort,
    HubUnreachable,
    ModelInfo,
    PageFailed,
    PageRead,
    RepositoryNotFound,
    SearchFailed,
    SearchId,
    SearchResults,
    TokenInClear,
)
from engine.hub.repository import MAX_SMALL_FILE_BYTES
from engine.hub.stop import reason_of
from tests.end2end.conftest import REPO
from tests.helpers.event_recorder import EventRecorder, QuickStore
from tests.helpers.model_folders import model_files
from tests.helpers.tinyhub import Fault, TinyHub


def entry(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "tags": ["mlx"], "downloads": 1, **fields}


def found(store: QuickStore, recorder: EventRecorder, query: HubQuery) -> list[str]:
    """Everything, page after page as a person who scrolls to the end."""
    search = store.search(query)
    names: list[str] = []
    while True:
        results = recorder.wait_for(SearchResults)
        assert results.search == search
        names += [model.repository for model in results.models]
        if not results.has_more:
            return names
        if not results.reading:
            store.more(search)


def search_error(recorder: EventRecorder, search: SearchId) -> EngineError:
    failed = recorder.wait_for(SearchFailed)
    assert failed.search == search
    return failed.error


def test_models_are_found_by_their_words(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.listed += [entry("org/Other-8bit"), entry("elsewhere/tiny-8bit"), entry("org/not-for-mlx-tiny", tags=["gguf"])]
    assert sorted(found(store, recorder, HubQuery("tiny"))) == ["elsewhere/tiny-8bit", REPO]
    assert found(store, recorder, HubQuery("tiny", author="org")) == [REPO]


def test_thousands_come_page_by_page_and_each_once(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.listed += [entry(f"org/Model-{number}", downloads=number) for number in range(1, 1001)]
    hub.listed += hub.listed[:100]
    names = found(store, recorder, HubQuery("model"))
    assert names == [f"org/Model-{number}" for number in range(1000, 0, -1)]
    assert len([seen for seen in hub.seen if "/api/models?" in seen.path]) == 22


def test_a_hub_below_a_path_is_read_to_the_end(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.path = "/gateway/hf"
    hub.listed += [entry(f"org/Model-{number}", downloads=number) for number in range(1, 121)]
    store.set_hub(HubAccess(f"{hub.endpoint}/"))
    assert len(found(store, recorder, HubQuery("model"))) == 120


def test_a_newer_search_shuts_the_line_of_the_older(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults["search"] = Fault(times=1, hold_after=1)
    old = store.search(HubQuery("old"))
    assert hub.holding.wait(60)
    threads = [each for each in threading.enumerate() if each.name == "hub-search"]
    new = store.search(HubQuery("tiny"))
    for thread in threads:
        thread.join(60)
    ended = not any(thread.is_alive() for thread in threads)
    assert recorder.wait_for(SearchResults).search == new
    store.more(old)  # is over: nothing is asked
    assert not [event for event in recorder.events if getattr(event, "search", new) == old]
    assert ended  # the hub would have held the line for ever


BAD = [b"", b"{", b"[" * 200_000, b'{"id": "a/b"}', b"null", b"[" + b"9" * 6000 + b"]", b" " * (5 << 20)]


@pytest.mark.parametrize("body", BAD, ids=lambda body: repr(body[:8]))
def test_a_bad_list_is_refused(hub: TinyHub, store: QuickStore, recorder: EventRecorder, body: bytes) -> None:
    hub.faults["search"] = Fault(extra=body or b" ")
    assert isinstance(search_error(recorder, store.search(HubQuery())), HubMisbehaved | HubCannotSearch)


def test_hostile_entries_are_left_out(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hostile = [
        {"id": "../../x"},
        {"id": "a/\u202eb"},
        {"id": "a/b\x00"},
        None,
        3,
        {"id": "x/ok", "downloads": "9" * 400},
    ]
    hub.faults["search"] = Fault(extra=json.dumps(hostile).encode())
    assert found(store, recorder, HubQuery()) == ["x/ok"]


def test_a_next_page_elsewhere_is_asked_for_here(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    elsewhere = "http://10.0.0.1:1/api/models?limit=50&search=tiny&cursor=50"  # the tests' audit hook would tell
    hub.faults["search"] = Fault(times=1, headers={"Link": f'<{elsewhere}>; rel="next"'})
    assert found(store, recorder, HubQuery("tiny")) == [REPO]
    assert "cursor=50" in hub.seen[-1].path


@pytest.mark.parametrize(
    ("access", "error", "reason"),
    [
        (HubAccess("http://127.0.0.1:1"), HubUnreachable, HubSilence.REFUSED),
        (HubAccess(offline=True), HubOffline, None),
        (HubAccess("http://127.0.0.1:1", proxy="::bad::"), HubUnreachable, HubSilence.PROXY),
        (HubAccess("http://127.1.2.3:1", proxy="http://127.0.0.1:1"), HubUnreachable, HubSilence.PROXY),
        (HubAccess("hub on the moon"), HubUnreachable, HubSilence.ADDRESS),
    ],
    ids=["absent", "offline", "bad proxy", "absent proxy", "no address"],
)
def test_a_hub_that_cannot_be_asked(
    store: QuickStore,
    recorder: EventRecorder,
    access: HubAccess,
    error: type[EngineError],
    reason: HubSilence | None,
) -> None:
    store.set_hub(access)
    told = search_error(recorder, store.search(HubQuery()))
    assert isinstance(told, error)
    assert getattr(told, "reason", None) is reason
    store.read_page(REPO)
    assert isinstance(recorder.wait_for(PageFailed).error, error)


def test_a_password_in_a_hubs_address_is_neither_used_nor_told(store: QuickStore, recorder: EventRecorder) -> None:
    for proxy in ("", "foo://me:hf_canary@127.0.0.1:1"):
        store.set_hub(HubAccess("http://127.0.0.1:1" if proxy else "http://me:hf_canary@127.0.0.1:1", proxy=proxy))
        error = search_error(recorder, store.search(HubQuery()))
        assert isinstance(error, HubUnreachable)
        assert "hf_canary" not in str(error)
    store.set_hub(HubAccess("http://me:hf_canary@127.0.0.1:1", offline=True))
    assert "hf_canary" not in str(search_error(recorder, store.search(HubQuery())))


class HastyStore(QuickStore):
    tuning = replace(QuickStore.tuning, patience=replace(QuickStore.tuning.patience, read_s=0.05))


@pytest.mark.parametrize(
    ("kind", "fault", "reason"),
    [
        (HastyStore, Fault(hold_after=1), HubSilence.TIMED_OUT),
        (QuickStore, Fault(cut_after=1), HubSilence.BROKE_OFF),
        (QuickStore, Fault(status=503), HubSilence.BUSY),
    ],
    ids=["silent", "hangs up", "busy"],
)
def test_silent_busy_and_broken_hubs_are_told_apart(
    kind: type[QuickStore], fault: Fault, reason: HubSilence, hub: TinyHub, tmp_path: Path, recorder: EventRecorder
) -> None:
    store = kind(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    hub.faults["search"] = fault
    error = search_error(recorder, store.search(HubQuery()))
    assert store.close()
    assert isinstance(error, HubUnreachable)
    assert error.reason is reason


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), HubSilence.NAME),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), HubSilence.NO_ROUTE),
    ],
    ids=["name", "no route"],
)
def test_what_the_system_says_of_the_way_to_a_hub_is_kept(said: OSError, reason: HubSilence) -> None:
    """Of other hosts than this one, which no test may ask; wrapped as the library wraps it."""
    with pytest.raises(httpx2.ConnectError) as raised:
        raise httpx2.ConnectError(str(said)) from said
    assert reason_of(raised.value) is reason


def test_a_mirror_without_lists_says_so(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults["search"] = Fault(status=404)
    error = search_error(recorder, store.search(HubQuery()))
    assert isinstance(error, HubCannotSearch)
    assert error.endpoint == hub.endpoint


def test_a_mirror_answers_for_an_absent_hub_without_the_token(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    store.set_hub(HubAccess("http://127.0.0.1:1", "hf_canary", mirrors=(hub.endpoint,)))
    assert found(store, recorder, HubQuery("tiny")) == [REPO]
    assert hub.seen
    assert not any("Authorization" in seen.headers for seen in hub.seen)


def drafters(hub: TinyHub) -> HubQuery:
    """Asked for in several questions, a kind each."""
    hub.listed += [entry(f"org/Main-4B-{kind}", tags=[]) for kind in ("DFlash", "DSpark", "EAGLE3")]
    return HubQuery(kind=HubKind.DRAFTER)


@pytest.mark.parametrize("sort", HubSort)
@pytest.mark.parametrize("of_a_main_model", [False, True])
def test_the_order_holds_over_all_lists_of_a_search(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, sort: HubSort, of_a_main_model: bool
) -> None:
    """Each list is in order by itself: the newest DSpark goes before the first of sixty DFlash, however many pages."""
    coin, kinds = Random(7), ["DFlash"] * 60 + ["DSpark"] * 3 + ["EAGLE3"] * 70
    ranks = coin.sample(range(1, 10_000), len(kinds))
    for number, (kind, rank) in enumerate(zip(kinds, ranks, strict=True)):
        day = (datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=rank)).isoformat()
        counts = {"downloads": rank, "likes": rank, "lastModified": day}
        hub.listed.append(entry(f"org{number}/Main-4B-{kind}", tags=[], **counts))
    best_first = sorted(range(len(kinds)), key=lambda number: -ranks[number])
    main = ModelInfo("/m", "Main-4B-4bit", "qwen3", 4 * 10**9, 2 * 10**9, 4.0, 0, "", 0) if of_a_main_model else None
    names = found(store, recorder, HubQuery(kind=HubKind.DRAFTER, drafts_for=main, sort=sort))
    assert names == [f"org{number}/Main-4B-{kinds[number]}" for number in best_first]


def test_a_list_of_what_is_not_wanted_holds_nothing_back_for_ever(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """Much fetched models whose names have "mtp" in them, and are no drafters."""
    hub.listed += [entry(f"org/M-{number}-MTP-GGUF", tags=[], downloads=10_000 - number) for number in range(1000)]
    search = store.search(drafters(hub))
    told = [recorder.wait_for(SearchResults)]
    while told[-1].reading:
        told.append(recorder.wait_for(SearchResults))
    assert [len(each.models) for each in told] == [0] * 7 + [3]
    assert told[-1].has_more
    store.more(search)
    assert recorder.wait_for(SearchResults).models == ()


@pytest.mark.parametrize("number", [0, 1])
def test_one_question_that_fails_does_not_end_a_search(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, number: int
) -> None:
    query = drafters(hub)
    kind = ("DFlash", "DSpark")[number]
    hub.faults[f"search {kind.casefold()}"] = Fault(times=2, status=503)
    search = store.search(query)
    answers = [recorder.wait_for(SearchResults)]
    while answers[-1].reading:
        answers.append(recorder.wait_for(SearchResults))
    names = {model.repository for answer in answers for model in answer.models}
    assert names == {"org/Main-4B-DFlash", "org/Main-4B-DSpark", "org/Main-4B-EAGLE3"} - {f"org/Main-4B-{kind}"}
    missing = answers[-1].missing
    assert isinstance(missing, HubUnreachable)
    assert (missing.reason, answers[-1].has_more) == (HubSilence.BUSY, False)
    store.more(search)
    again = recorder.wait_for(SearchResults)
    assert [model.repository for model in again.models] == [f"org/Main-4B-{kind}"]
    assert again.missing is None


def test_a_hub_that_answers_no_question_is_not_asked_all_of_them(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.faults["search"] = Fault(status=503)
    search = store.search(drafters(hub))
    assert isinstance(search_error(recorder, search), HubUnreachable)
    assert len(hub.seen) == 4  # two questions, twice each
    hub.faults.clear()
    store.more(search)
    while not (results := recorder.wait_for(SearchResults)).models:
        assert results.reading  # which of them comes first is known when all have answered
    assert results.models[0].repository == "org/Main-4B-DSpark"  # all rank alike: the first that was asked for


def test_nobody_looks_at_an_empty_list_for_minutes(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults["search"] = Fault(status=429, headers={"Retry-After": "60"})
    assert isinstance(search_error(recorder, store.search(HubQuery())), HubUnreachable)


def test_a_search_tells_the_token_to_nobody_else(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    store.set_hub(HubAccess(hub.endpoint, "hf_canary"))
    with caplog.at_level("DEBUG"):
        assert found(store, recorder, HubQuery("tiny")) == [REPO]
        page(store, recorder)
    assert {seen.headers.get("Authorization") for seen in hub.seen} == {"Bearer hf_canary"}
    assert "hf_canary" not in caplog.text
    store.set_hub(HubAccess("http://hub.invalid", "hf_canary"))
    assert isinstance(search_error(recorder, store.search(HubQuery())), TokenInClear)


def page(store: QuickStore, recorder: EventRecorder, repository: str = REPO) -> HubPage:
    """With its card, where it has one."""
    store.read_page(repository)
    read = recorder.wait_for(PageRead).page
    has_card = any(file.name == "README.md" for file in read.files)
    return recorder.wait_for(PageRead).page if has_card else read


def test_a_page_tells_what_an_installation_fetches(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.repositories[REPO] |= {
        "README.md": b"---\nlicense: mit\n---\n# Tiny\n",
        "evil.py": b"x",
        "other/a.bin": b"x" * 9,
    }
    read = page(store, recorder)
    assert isinstance(read.model, HubModel)
    assert (read.model.repository, read.card) == (REPO, "# Tiny\n")
    assert read.address == f"{hub.endpoint}/{REPO}"
    assert {file.name for file in read.files if file.is_installed} == model_files().keys() | {
        "model.safetensors",
        "README.md",
    }
    assert {file.name for file in read.files if not file.is_installed} == {"evil.py", "other/a.bin"}
    assert read.download_bytes == sum(
        len(hub.repositories[REPO][file.name]) for file in read.files if file.is_installed
    )


@pytest.mark.parametrize(
    "files",
    [
        {"config.json": b"{}", "model.gguf": b"G", "README.md": b"# hi"},
        {"model.safetensors": b"x", "tokenizer.json": b"{}"},
        {"mtp/config.json": b"{}", "mtp/model.safetensors": b"x", "LICENSE": b"mit"},
    ],
)
def test_a_page_of_what_cannot_be_installed_promises_no_installation(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, files: dict[str, bytes]
) -> None:
    hub.add("org/other", files)
    store.read_page("org/other")
    page = recorder.wait_for(PageRead).page
    assert {file.name for file in page.files} == files.keys()
    assert page.download_bytes == 0


def test_a_page_counts_no_file_that_is_too_large_to_be_fetched(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.repositories[REPO]["notes.json"] = b" " * (MAX_SMALL_FILE_BYTES + 1)
    store.read_page(REPO)
    assert recorder.wait_for(PageRead).page.download_bytes < MAX_SMALL_FILE_BYTES


def test_a_page_without_a_card_and_one_without_an_end(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    assert page(store, recorder).card == ""
    hub.repositories[REPO]["README.md"] = b"# " + b"x" * 5_000_000
    assert len(page(store, recorder).card) == 256 * 1024


def test_no_page_where_there_is_no_model(store: QuickStore, recorder: EventRecorder) -> None:
    for name in ("org/absent", "../x"):
        store.read_page(name)
        assert isinstance(recorder.wait_for(PageFailed).error, RepositoryNotFound)


def test_a_store_closes_while_a_hub_says_nothing(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> None:
    store = QuickStore(tmp_path / "m", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    hub.faults["search"] = Fault(hold_after=1)
    store.search(HubQuery())
    assert hub.holding.wait(60)
    assert store.close()
    assert not recorder.events


def test_a_gated_models_page_is_shown_without_its_card(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """A hub lists its files for everybody and gives none of them, its card included."""
    hub.repositories[REPO]["README.md"] = b"# Tiny"
    hub.faults[f"{REPO}/README.md"] = Fault(status=401, code="GatedRepo")
    store.read_page(REPO)
    read = recorder.wait_for(PageRead).page
    assert (read.model.repository, read.card) == (REPO, "")
    assert "README.md" in {file.name for file in read.files}
