"""What a hub or a disk makes impossible is told by its real reason, and as early as it can be known."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.words.notices_for_errors import notice_for
from engine import DownloadFailed, EngineError, FileMissing, FileUnusable, NothingToInstall, StorageFailed
from engine.models.model_files import MIB
from tests.end2end.conftest import REPO
from tests.helpers.event_recorder import EventRecorder, QuickStore, tree
from tests.helpers.tinyhub import Fault, TinyHub


def refusal(store: QuickStore, recorder: EventRecorder) -> EngineError:
    event = recorder.end_of(store.install(REPO))
    assert isinstance(event, DownloadFailed), event
    return event.error


def fetched(hub: TinyHub) -> list[str]:
    return [seen.path for seen in hub.seen if "/resolve/" in seen.path]


@pytest.mark.parametrize(
    ("name", "size_bytes"),
    [("config.json", 2 * MIB), ("tokenizer.json", 65 * MIB)],
)
def test_a_file_that_nothing_will_be_read_from_is_named_with_its_size(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, name: str, size_bytes: int
) -> None:
    hub.repositories[REPO][name] += b" " * size_bytes
    error = refusal(store, recorder)
    assert isinstance(error, FileUnusable)
    assert (error.file, error.size_bytes) == (name, len(hub.repositories[REPO][name]))
    assert name in notice_for(error).sentence
    assert not fetched(hub)
    assert tree(tmp_path) == {}


def test_a_config_that_makes_no_sense_is_the_repositorys(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.repositories[REPO]["config.json"] = b'{"model_type": "llama", "num_hidden_layers": 1000000}'
    error = refusal(store, recorder)
    assert isinstance(error, FileUnusable)
    assert notice_for(error).sentence == f"config.json of {REPO} is damaged on the hub."
    assert not hub.requests_for(".safetensors")
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("code", ["EntryNotFound", ""])
def test_a_listed_file_that_the_hub_does_not_have_is_named(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, code: str
) -> None:
    hub.faults[f"{REPO}/model.safetensors"] = Fault(status=404, code=code)
    error = refusal(store, recorder)
    assert isinstance(error, FileMissing)
    assert notice_for(error).sentence == f"The hub lacks model.safetensors of {REPO}."


@pytest.mark.parametrize("place", ["models", "models/.downloads", "models/org", f"models/{REPO}"])
def test_a_file_in_the_way_of_the_folder_is_told_before_the_hub_is_asked_and_stays(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, place: str
) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("mine")
    error = refusal(store, recorder)
    assert isinstance(error, StorageFailed)
    assert (error.folder, error.in_the_way) == (str(tmp_path / place), True)
    assert str(tmp_path / place) in notice_for(error).sentence
    assert hub.seen == []
    assert tree(tmp_path) == {place: b"mine"}


@pytest.mark.parametrize(
    ("files", "lacks"),
    [
        ({"model.safetensors": b"x", "tokenizer.json": b"{}"}, ("config.json",)),
        ({"config.json": b"{}", "consolidated.safetensors": b"x"}, ("model.safetensors",)),
        ({"a/config.json": b"{}", "a/model.safetensors": b"x"}, ("config.json", "model.safetensors")),
    ],
)
def test_weights_that_are_no_model_are_told_by_what_is_not_with_them(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, files: dict[str, bytes], lacks: tuple[str, ...]
) -> None:
    hub.add(REPO, files)
    error = refusal(store, recorder)
    assert isinstance(error, NothingToInstall)
    assert error.lacks == lacks
    sentence = notice_for(error).sentence
    assert all(name in sentence for name in lacks)
    assert "no MLX weights" not in sentence
