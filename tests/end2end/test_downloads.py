"""ModelStore against a real hub on this machine that cuts, lies, stalls and attacks: models are exact or absent."""

from __future__ import annotations

import errno
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import (
    AccessDenied,
    ChecksumMismatch,
    DiskFull,
    DownloadError,
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DownloadProgress,
    DownloadStopped,
    EngineError,
    FileMissing,
    HubAccess,
    HubMisbehaved,
    HubUnreachable,
    LibraryScanned,
    ModelRunsCode,
    ModelUnsupported,
    ModelVerified,
    NothingToInstall,
    PageRead,
    RepositoryNotFound,
    StorageFailed,
)
from engine.hub import staging, writer
from engine.hub.store import INSPECTED, VOCABULARIES
from engine.hub.writer import _Part
from engine.models.template_files import templates_in
from tests.end2end.conftest import LARGE, REPO
from tests.helpers import faulty_disk
from tests.helpers.event_recorder import TERMINAL, EventRecorder, QuickStore, tree
from tests.helpers.model_folders import model_files, safetensors, write_folder
from tests.helpers.tinyhub import Fault, TinyHub

WEIGHTS = f"{REPO}/model.safetensors"


def installed(tmp_path: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(tmp_path / "models" / REPO).items() if name != "hunch.json"}


def install(store: QuickStore, recorder: EventRecorder, repository: str = REPO) -> DownloadFinished:
    event = recorder.end_of(store.install(repository))
    assert isinstance(event, DownloadFinished), event
    return event


def refusal(store: QuickStore, recorder: EventRecorder, repository: str = REPO) -> EngineError:
    event = recorder.end_of(store.install(repository))
    assert isinstance(event, DownloadFailed), event
    return event.error


def assert_installed(tmp_path: Path, hub: TinyHub) -> None:
    assert installed(tmp_path) == hub.repositories[REPO]
    assert not list((tmp_path / "models" / ".downloads").iterdir())


def test_what_arrives_is_what_the_hub_has(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """Also where the list comes in pages, and has folders in it, which are no files."""
    hub.page_size = 2
    hub.extra_entries = [{"type": "directory", "path": "folder.json", "size": 0, "oid": "0" * 40}]
    finished = install(store, recorder)
    assert finished.folder == str(tmp_path / "models" / REPO)
    assert_installed(tmp_path, hub)
    store.scan()
    (model,) = recorder.wait_for(LibraryScanned).models
    assert (model.repository, model.name, model.error) == (REPO, "tiny-4bit", None)
    assert model.info is not None


@pytest.mark.parametrize("line", ["silent", "ended"])
def test_a_machine_that_slept_for_hours_in_the_middle_goes_on(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """All waits have run out when it wakes, and nothing comes any more on the connection that it had."""
    slept, now, forward = [0.0], time.time, time.monotonic
    monkeypatch.setattr(time, "time", lambda: now() + slept[0])
    monkeypatch.setattr(time, "monotonic", lambda: forward() + slept[0])
    after = 1_000_000
    hub.faults[WEIGHTS] = Fault(
        times=1, hold_after=after if line == "silent" else -1, cut_after=after if line == "ended" else -1
    )
    download = store.install(REPO)
    while recorder.wait_for(DownloadProgress, download).done_bytes == 0:
        pass
    slept[0] = 5 * 3600.0
    assert isinstance(recorder.end_of(download), DownloadFinished)
    assert_installed(tmp_path, hub)


def test_on_a_mac_backups_leave_out_the_folder_of_all_models(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tmutil"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/told\n')
    program.chmod(0o755)
    monkeypatch.setattr(staging, "TMUTIL", str(program))
    monkeypatch.setattr(staging, "sys", SimpleNamespace(platform="darwin"))
    install(store, recorder)
    assert_installed(tmp_path, hub)
    assert (tmp_path / "told").read_text() == f"addexclusion {tmp_path / 'models'}\n"


def test_only_files_that_a_model_needs_are_fetched(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    wanted = {
        "README.md": b"---\nlicense: mit\n---",
        "chat_template.jinja": b"{{ x }}",
        "merges.txt": b"",
        "tokenizer.model": b"\x0a",
    }
    others = {
        "modeling_evil.py": b"raise SystemExit",
        "pytorch_model.bin": b"pickle",
        "model.gguf": b"GGUF",
        "weights.npz": b"PK",
        "consolidated.safetensors": b"x",
        "original/model.safetensors": b"x",
        ".gitattributes": b"x",
        "hunch.json": b'{"repository": "bank/official"}',
    }
    hub.repositories[REPO] |= wanted | others
    install(store, recorder)
    assert installed(tmp_path).keys() == model_files().keys() | wanted.keys()
    assert b"bank/official" not in (tmp_path / "models" / REPO / "hunch.json").read_bytes()


@pytest.mark.parametrize(
    "fault",
    [
        Fault(times=3, cut_after=700_000),
        Fault(times=2, cut_after=700_000, ignore_range=True),
        Fault(times=2, status=503),
        Fault(times=2, status=522),
        Fault(times=1, status=429),
        Fault(chunked=True),
        Fault(headers={"ETag": '"../../../outside"', "X-Linked-Etag": "../../../outside"}),
        Fault(headers={"Content-Disposition": 'attachment; filename="../../outside"'}),
        Fault(headers={"Set-Cookie": "a=b"}),
    ],
    ids=str,
)
def test_faults_that_pass(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, fault: Fault
) -> None:
    hub.faults[WEIGHTS] = fault
    install(store, recorder)
    assert_installed(tmp_path, hub)
    assert not list(tmp_path.rglob("outside*"))


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(corrupt=True), ChecksumMismatch),
        (Fault(extra=b"more"), HubMisbehaved),
        (Fault(truncate=5), HubMisbehaved),
        (Fault(truncate=5, chunked=True), HubUnreachable),
        (Fault(cut_after=0), HubUnreachable),
        (Fault(status=404, code="EntryNotFound"), FileMissing),
        (Fault(status=404, code="RepoNotFound"), RepositoryNotFound),
        (Fault(status=403, code="GatedRepo"), AccessDenied),
        (Fault(status=418), HubMisbehaved),
        (Fault(cut_after=700_000, wrong_range=True), HubMisbehaved),
        (Fault(redirect="ftp://127.0.0.1"), HubMisbehaved),
        (Fault(redirect="http://127.0.0.1:1"), HubUnreachable),
    ],
    ids=str,
)
def test_faults_that_do_not_pass(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, fault: Fault, error: type[DownloadError]
) -> None:
    hub.faults[WEIGHTS] = fault
    assert isinstance(refusal(store, recorder), error)
    assert not (tmp_path / "models" / REPO).exists()
    hub.faults.clear()
    install(store, recorder)
    assert_installed(tmp_path, hub)


def test_a_redirect_in_circles_is_misbehaviour(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = Fault(redirect=hub.endpoint)
    assert isinstance(refusal(store, recorder), HubMisbehaved)


@pytest.mark.parametrize(
    "name",
    [
        "../outside.json",
        "/outside.json",
        "a/../../outside.json",
        "..\\outside.json",
        "C:\\outside.json",
        "a\0.json",
        "",
    ],
)
def test_names_that_leave_the_folder_end_the_download(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, name: str
) -> None:
    hub.repositories[REPO][name] = b"{}"
    assert isinstance(refusal(store, recorder), HubMisbehaved)
    assert not list(tmp_path.rglob("*outside*"))


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "config.json",
        {},
        {"path": 3},
        {"path": "x.json"},
        {"path": "x.json", "size": -1, "oid": "0" * 40},
        {"path": "x.json", "size": True, "oid": "0" * 40},
        {"path": "x.json", "size": 1e3, "oid": "0" * 40},
        {"path": "model-2.safetensors", "size": 2**60, "oid": "0" * 40},
        {"path": "x.json", "size": 1, "oid": "../../../outside"},
        {"path": "x.json", "size": 1, "oid": "0" * 41},
        {"path": "x.json", "size": 1, "oid": "0" * 40, "lfs": {"oid": "../outside", "size": 1}},
        {"path": "CONFIG.json", "size": 1, "oid": "0" * 40},
    ],
    ids=str,
)
def test_a_list_of_files_is_not_believed(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, entry: object
) -> None:
    hub.extra_entries = [entry]
    assert isinstance(refusal(store, recorder), HubMisbehaved)


def test_pages_do_not_lead_to_other_hosts(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults[REPO] = Fault(headers={"Link": '<http://127.0.0.1:1/steal>; rel="next"'})
    assert isinstance(refusal(store, recorder), HubMisbehaved)


@pytest.mark.parametrize(
    "repository", ["", "x", "..", "../..", "a/..", "../a", "a/b/c", "/a", "a/", "a--b/c", "a/b\n", "a/.b"]
)
def test_names_that_no_hub_has(tmp_path: Path, store: QuickStore, recorder: EventRecorder, repository: str) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.txt").write_text("stays")
    assert isinstance(refusal(store, recorder, repository), RepositoryNotFound)
    assert tree(tmp_path) == {"models/mine.txt": b"stays"}


def test_revisions_that_no_hub_has(store: QuickStore, recorder: EventRecorder) -> None:
    event = recorder.end_of(store.install(REPO, "../../other"))
    assert isinstance(event, DownloadFailed)
    assert isinstance(event.error, RepositoryNotFound)


def test_what_the_hub_does_not_have_or_does_not_give(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    assert isinstance(refusal(store, recorder, "org/nothing"), RepositoryNotFound)
    hub.faults[REPO] = Fault(status=401, code="GatedRepo")
    error = refusal(store, recorder)
    assert isinstance(error, AccessDenied)
    assert error.gated
    hub.faults[REPO] = Fault(status=403)
    assert isinstance(refusal(store, recorder), AccessDenied)


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:1", "ftp://127.0.0.1", "nonsense", "http://", "http://a:b@127.0.0.1", "http://[::1"]
)
def test_addresses_where_no_hub_is(store: QuickStore, recorder: EventRecorder, endpoint: str) -> None:
    store.set_hub(HubAccess(endpoint))
    error = refusal(store, recorder)
    assert isinstance(error, HubUnreachable)
    assert error.endpoint == endpoint.replace("a:b", "…")  # no password is told


def test_unsuitable_repositories_are_refused_before_their_weights(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.add("org/code", model_files({"model_file": "evil.py"}))
    of_code = model_files() | {"tiktoken.model": b"IQ== 0\n"}
    del of_code["tokenizer.json"]
    hub.add("org/tiktoken", of_code)
    hub.add("org/strange", model_files({"model_type": "not-a-model"}))
    weights = {"model.layers.0.mlp.up_proj.weight.absmax": "model.safetensors"}
    index = {"model.safetensors.index.json": json.dumps({"weight_map": weights}).encode()}
    hub.add("org/bnb-4bit", model_files() | index)
    coded = {"model.layers.0.mlp.up_proj.weight_scale_inv": "model.safetensors"}
    in_blocks = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    index = {"model.safetensors.index.json": json.dumps({"weight_map": coded}).encode()}
    hub.add("org/FP8", model_files(in_blocks) | index)
    hub.add("org/gguf", {"config.json": b"{}", "model.gguf": b"GGUF", "old/pytorch_model.bin": b""})
    assert isinstance(refusal(store, recorder, "org/code"), ModelRunsCode)
    assert isinstance(refusal(store, recorder, "org/tiktoken"), ModelRunsCode)
    assert isinstance(refusal(store, recorder, "org/strange"), ModelUnsupported)
    for name, packing in (("org/bnb-4bit", "bitsandbytes"), ("org/FP8", "fp8")):
        packed = refusal(store, recorder, name)
        assert isinstance(packed, ModelUnsupported)
        assert packed.packing == packing
    nothing = refusal(store, recorder, "org/gguf")
    assert isinstance(nothing, NothingToInstall)
    assert nothing.formats == ("gguf", "bin")
    assert not hub.requests_for(".safetensors")
    assert tree(tmp_path) == {}


def test_the_token_stays_with_its_host(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    elsewhere = TinyHub()
    elsewhere.repositories, elsewhere.commits = hub.repositories, hub.commits
    hub.faults[WEIGHTS] = Fault(redirect=elsewhere.endpoint)
    store.set_hub(HubAccess(hub.endpoint, "hf_canary"))
    install(store, recorder)
    elsewhere.close()
    assert {seen.headers.get("Authorization") for seen in hub.seen} == {"Bearer hf_canary"}
    assert elsewhere.seen
    assert all("Authorization" not in seen.headers for seen in elsewhere.seen)
    assert not any(b"hf_canary" in data for data in tree(tmp_path).values())
    assert not any("hf_canary" in repr(event) for event in recorder.events)
    assert "hf_canary" not in caplog.text
    assert elsewhere.endpoint not in caplog.text


def test_a_token_that_is_none_is_refused_before_it_is_sent(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    store.set_hub(HubAccess(hub.endpoint, "hf_a\r\nX-Evil: 1"))
    assert isinstance(refusal(store, recorder), AccessDenied)
    assert not hub.seen


def test_a_proxy_is_never_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    install(store, recorder)
    assert_installed(tmp_path, hub)


def test_a_repository_that_was_renamed_is_shown_and_installed_by_its_former_name(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.renamed["org/former"] = REPO
    store.read_page("org/former")
    page = recorder.wait_for(PageRead).page
    assert (page.model.repository, page.download_bytes) == (
        "org/former",
        sum(map(len, hub.repositories[REPO].values())),
    )
    install(store, recorder, "org/former")
    assert tree(tmp_path / "models" / "org/former").keys() == {*hub.repositories[REPO], "hunch.json"}


def test_a_paused_download_goes_on_where_it_was(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    stopped = paused(hub, store, recorder)  # while the server says nothing
    assert stopped.kept_bytes > 1_000_000
    assert not (tmp_path / "models" / REPO).exists()
    install(store, recorder)
    assert hub.requests_for("model.safetensors")[-1].headers["Range"] == "bytes=1000000-"
    assert_installed(tmp_path, hub)


def test_what_goes_on_is_the_commit_that_was_begun(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """Parts of two commits would fit no model."""
    begun = dict(hub.repositories[REPO])
    paused(hub, store, recorder)
    hub.repositories[REPO] |= {"model.safetensors": safetensors(LARGE, b"\2"), "merges.txt": b"newer"}
    install(store, recorder)
    hub.repositories[REPO] = begun
    assert_installed(tmp_path, hub)


def test_another_revision_is_installed_as_it_is_though_a_first_was_begun(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    paused(hub, store, recorder)
    other = hub.repositories[REPO] | {"model.safetensors": safetensors(LARGE, b"\2")}
    hub.branches[REPO, "other"] = other
    assert isinstance(recorder.end_of(store.install(REPO, "other")), DownloadFinished)
    assert installed(tmp_path) == other


def test_a_branch_that_was_begun_goes_on_as_that_branch(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """After a start the app knows only the repository, and the commit may no longer be on the hub."""
    hub.branches[REPO, "other"] = hub.repositories[REPO] | {"model.safetensors": safetensors(LARGE, b"\2")}
    paused(hub, store, recorder, revision="other")
    hub.commits.clear()
    newest = hub.repositories[REPO] | {"model.safetensors": safetensors(LARGE, b"\3")}
    hub.branches[REPO, "other"] = newest
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)
    assert installed(tmp_path) == newest


def test_a_try_that_reaches_no_hub_still_knows_how_large_the_download_is(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    total_bytes = paused(hub, store, recorder).total_bytes
    assert total_bytes == sum(map(len, hub.repositories[REPO].values()))
    store.set_hub(HubAccess("http://127.0.0.1:1"))
    failed = recorder.end_of(store.install(REPO))
    assert isinstance(failed, DownloadFailed)
    recorded = staging.recorded_bytes(staging.staging_of(tmp_path / "models", REPO), "total_bytes")
    assert (failed.total_bytes, recorded) == (total_bytes, total_bytes)


def test_a_paused_download_can_be_cancelled_later(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    stopped = paused(hub, store, recorder)
    assert stopped.kept_bytes
    store.cancel(stopped.download)
    assert recorder.wait_for(DownloadStopped, stopped.download).kept_bytes == 0
    assert tree(tmp_path) == {}


def test_templates_in_a_folder_of_their_own_come_along(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    more = {f"additional_chat_templates/{name}.jinja": name.encode() for name in ("tool_use", "rag")}
    hub.repositories[REPO] |= more | {"additional_chat_templates/x.bin": b"", "other/x.jinja": b""}
    folder = Path(install(store, recorder).folder)
    assert {name: templates_in(folder).get(name) for name in ("tool_use", "rag")} == {
        "tool_use": "tool_use",
        "rag": "rag",
    }
    store.verify(folder)
    assert not recorder.wait_for(ModelVerified).damaged
    assert not list(folder.rglob("x.*"))


def test_installing_twice_is_one_download(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = Fault(hold_after=1_000)
    download = store.install(REPO)
    assert store.install(REPO) == download
    assert store.install(REPO.upper()) == download
    store.cancel(download)
    again = store.install(REPO)  # may begin before the first one has ended; its files must survive that end
    assert again != download
    hub.faults.clear()
    hub.closing.set()
    assert isinstance(recorder.end_of(again), DownloadFinished)


def test_installing_again_checks_every_byte_and_fetches_nothing(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    assert install(store, recorder).changed
    hub.seen.clear()
    assert not install(store, recorder).changed
    assert not [seen for seen in hub.seen if "/resolve/" in seen.path]
    assert_installed(tmp_path, hub)


def test_closing_pauses(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = Fault(hold_after=1_000_000)
    store = QuickStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "no-cache", endpoint=hub.endpoint)
    download = store.install(REPO)
    while recorder.wait_for(DownloadProgress).done_bytes < 1_000_000:
        pass
    assert store.close()
    stopped = recorder.wait_for(DownloadStopped, download)
    assert stopped.kept_bytes > 1_000_000


CHILD = """
import sys
from pathlib import Path
from tests.end2end.conftest import LARGE, REPO
from tests.helpers.event_recorder import EventRecorder, QuickStore
recorder = EventRecorder()
store = QuickStore(Path(sys.argv[1]), sink=recorder, hub_cache=Path(sys.argv[1]) / "none", endpoint=sys.argv[2])
recorder.end_of(store.install(sys.argv[3]))
"""


def test_a_killed_program_goes_on_where_it_was(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = Fault(times=1, hold_after=1_500_000)
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path / "models"), hub.endpoint, REPO])
    assert hub.holding.wait(60)
    part = wait_for_part(tmp_path / "models", 1_000_000)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    kept_bytes = part.stat().st_size
    store = QuickStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "no-cache", endpoint=hub.endpoint)
    store.scan()
    left = recorder.wait_for(DownloadStopped)
    assert left.repository == REPO
    assert left.kept_bytes >= kept_bytes
    assert left.total_bytes == sum(map(len, hub.repositories[REPO].values()))
    assert recorder.wait_for(LibraryScanned).models == ()
    install(store, recorder)
    assert hub.requests_for("model.safetensors")[-1].headers["Range"] == f"bytes={kept_bytes}-"
    assert_installed(tmp_path, hub)
    assert store.close()


def test_a_part_that_rotted_is_thrown_away(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    paused(hub, store, recorder)
    (part,) = (tmp_path / "models").rglob("model.safetensors.*.part")
    part.write_bytes(bytes(part.stat().st_size))
    assert isinstance(refusal(store, recorder), ChecksumMismatch)
    install(store, recorder)
    assert_installed(tmp_path, hub)


def test_a_kill_before_the_last_step_needs_no_network(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    install(store, recorder)
    root = tmp_path / "models"
    staging = root / ".downloads" / "org--tiny-4bit"
    staging.mkdir()
    (staging / "download.json").write_text(f'{{"repository": "{REPO}", "revision": "main"}}')
    shutil.move(root / REPO, staging / "files")
    (root / ".downloads" / "trash-0").mkdir()
    hub.seen.clear()
    later = EventRecorder()
    other = QuickStore(root, sink=later, hub_cache=tmp_path / "no-cache", endpoint=hub.endpoint)
    other.scan()
    assert [model.repository for model in later.wait_for(LibraryScanned).models] == [REPO]
    assert other.close()
    assert not hub.seen
    assert_installed(tmp_path, hub)


def test_a_second_program_does_not_write_the_same_part(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    first = held(hub, store, recorder)
    later = EventRecorder()
    other = QuickStore(tmp_path / "models", sink=later, hub_cache=tmp_path / "no-cache", endpoint=hub.endpoint)
    assert isinstance(refusal(other, later), StorageFailed)
    assert other.close()
    store.pause(first)
    assert recorder.wait_for(DownloadStopped, first).kept_bytes > 1_000_000


def test_a_model_that_was_a_link_is_replaced_and_its_files_elsewhere_stay(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    elsewhere = write_folder(tmp_path / "elsewhere", {"config.json": b"mine", "note.txt": b"mine"})
    (tmp_path / "models" / "org").mkdir(parents=True)
    (tmp_path / "models" / REPO).symlink_to(elsewhere)
    install(store, recorder)
    assert_installed(tmp_path, hub)
    assert not (tmp_path / "models" / REPO).is_symlink()
    assert tree(elsewhere) == {"config.json": b"mine", "note.txt": b"mine"}


def test_what_the_disk_is_to_keep_free_is_looked_at_before(
    tmp_path: Path, hub: TinyHub, recorder: EventRecorder
) -> None:
    class RoomyStore(QuickStore):
        tuning = replace(QuickStore.tuning, disk_reserve_bytes=2**60)

    store = RoomyStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "no-cache", endpoint=hub.endpoint)
    error = refusal(store, recorder)
    assert isinstance(error, DiskFull)
    assert error.needed_bytes > 2**60 > error.available_bytes
    assert not [seen for seen in hub.seen if "/resolve/" in seen.path]
    assert store.close()


def test_a_disk_that_fills_up_meanwhile_keeps_what_it_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    append = _Part.append

    def full(part: _Part, chunk: bytes) -> None:
        if part.bytes > 1_000_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(part, chunk)

    monkeypatch.setattr(_Part, "append", full)
    event = recorder.end_of(store.install(REPO))
    assert isinstance(event, DownloadFailed)
    assert isinstance(event.error, DiskFull)
    assert event.kept_bytes > 1_000_000
    monkeypatch.undo()
    install(store, recorder)
    assert_installed(tmp_path, hub)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_disk_that_cannot_keep_what_came_ends_the_download_while_it_comes(
    number: int,
    hub: TinyHub,
    store: QuickStore,
    recorder: EventRecorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Syncing goes on in another thread; what fails there is not lost, and the next try starts from what is right."""

    def fail(_descriptor: int) -> None:
        raise OSError(number, "the disk says no")

    monkeypatch.setattr(writer, "_SYNC_EVERY_BYTES", 100_000)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        error = refusal(store, recorder)
    assert isinstance(error, DiskFull) == (number == errno.ENOSPC)
    assert not (tmp_path / "models" / REPO / "model.safetensors").exists()
    install(store, recorder)
    assert_installed(tmp_path, hub)


def test_whatever_is_pressed_in_whatever_order_the_model_is_exact_or_absent(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    chance = random.Random(7)
    hub.add("org/draft", model_files() | {"model.safetensors": safetensors(LARGE, b"\3")})
    presses: list[Callable[[DownloadId], None]] = [store.pause, store.cancel, lambda _: store.scan(), lambda _: None]
    downloads = set()
    for _ in range(30):
        hub.faults[WEIGHTS] = Fault(times=chance.randrange(3), cut_after=chance.randrange(2_000_000))
        download = store.install(chance.choice([REPO, "org/draft"]))
        downloads.add(download)
        for press in chance.sample(presses, 2):
            if chance.random() < 0.5 and not endings(recorder, download):
                recorder.wait_for((DownloadProgress, *TERMINAL), download)
            press(download)
    for download in downloads:
        recorder.end_of(download)
    install(store, recorder)
    install(store, recorder, "org/draft")
    found = {
        name: data
        for name, data in tree(tmp_path / "models").items()
        if not name.endswith(("hunch.json", VOCABULARIES, INSPECTED))
    }
    assert found == {
        f"{repository}/{name}": data for repository, files in hub.repositories.items() for name, data in files.items()
    }
    for download in downloads:
        first, *later = endings(recorder, download)
        assert all(isinstance(event, DownloadStopped) and event.kept_bytes == 0 for event in later)
        assert not (later and isinstance(first, DownloadFinished))


def endings(recorder: EventRecorder, download: DownloadId) -> list[object]:
    return [event for event in recorder.events if isinstance(event, TERMINAL) and event.download == download]


def held(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, count: int = 1_000_000, revision: str = "main"
) -> DownloadId:
    """A download that has got so many bytes; then the hub fell silent, this once."""
    hub.faults[WEIGHTS] = Fault(times=1, hold_after=count)
    download = store.install(REPO, revision)
    while recorder.wait_for(DownloadProgress, download).done_bytes < count:
        pass
    return download


def paused(hub: TinyHub, store: QuickStore, recorder: EventRecorder, revision: str = "main") -> DownloadStopped:
    """The end of such a download."""
    download = held(hub, store, recorder, revision=revision)
    store.pause(download)
    return recorder.wait_for(DownloadStopped, download)


def wait_for_part(root: Path, count: int) -> Path:
    """The other process tells nobody, so the file is looked at until it has grown."""
    while True:
        for part in root.rglob("model.safetensors.*.part"):
            if part.stat().st_size >= count:
                return part


def test_a_disk_without_room_for_the_folder_of_models_says_so(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    with faulty_disk.failing(faulty_disk.Fault(frozenset({"os.mkdir"}), at=1, number=errno.ENOSPC), tmp_path):
        event = recorder.end_of(store.install(REPO))
    assert isinstance(event, DownloadFailed)
    assert isinstance(event.error, DiskFull)
    assert event.error.available_bytes > 0
    install(store, recorder)
    assert_installed(tmp_path, hub)


def test_a_lock_that_the_disk_does_not_delete_locks_nothing(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """Some disks need room to delete a file, too."""
    refusal = faulty_disk.Fault(frozenset({"os.remove"}), at=1, number=errno.ENOSPC, persistent=True)
    with faulty_disk.failing(refusal, tmp_path):
        recorder.end_of(store.install(REPO))
    assert list((tmp_path / "models" / ".downloads").glob("*.lock"))
    install(store, recorder)
    assert_installed(tmp_path, hub)
