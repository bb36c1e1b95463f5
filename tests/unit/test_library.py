"""What a scan of this machine finds, and what may be deleted."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import (
    DeleteFailed,
    DeleteRefusal,
    DownloadId,
    DownloadStopped,
    InstalledModel,
    LibraryScanned,
    ModelDamaged,
    ModelDeleted,
    ModelHasNoConfig,
    ModelHasNoWeights,
    ModelInfo,
    ModelSource,
    ModelUnsupported,
    TemplateRead,
    inspect_model,
    is_made_for,
    model_name,
)
from engine.hub import library, staging
from engine.hub.library import Inspected, Places, default_hub_cache, neighbours
from engine.hub.store import INSPECTED, ModelStore
from engine.models import vocabulary
from engine.models.kept_files import read_kept, write_kept
from engine.models.model_files import object_at
from tests.helpers.event_recorder import EventRecorder, QuickStore, tree
from tests.helpers.model_folders import model_files, write_folder

DFLASH = {
    "hidden_size": 8,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "block_size": 4,
    "num_target_layers": 8,
    "dflash_config": {"mask_token_id": 3, "target_layer_ids": [1, 2]},
}
COMMIT, OLD_COMMIT = "a" * 40, "b" * 40


@pytest.fixture
def recorder() -> EventRecorder:
    return EventRecorder()


@pytest.fixture
def store(tmp_path: Path, recorder: EventRecorder) -> Iterator[QuickStore]:
    store = QuickStore(
        tmp_path / "models",
        sink=recorder,
        starter=tmp_path / "starter",
        hub_cache=tmp_path / "cache",
        endpoint="http://[::1]:1",
    )
    yield store
    assert store.close()


def scan(store: QuickStore, recorder: EventRecorder) -> dict[str, InstalledModel]:
    store.scan()
    return {model.name: model for model in recorder.wait_for(LibraryScanned).models}


def snapshot(cache: Path, repository: str, commit: str, files: dict[str, bytes]) -> Path:
    """As huggingface_hub lays it out: blobs, and links to them."""
    folder = cache / ("models--" + repository.replace("/", "--"))
    for name, data in files.items():
        blob = write_folder(folder / "blobs", {f"{commit[:4]}-{name}": data}) / f"{commit[:4]}-{name}"
        link = folder / "snapshots" / commit / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return folder


def test_every_source_is_found(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    write_folder(tmp_path / "models" / "org" / "own", model_files())
    write_folder(tmp_path / "starter" / "main", model_files() | {"hunch.json": b'{"name": "Hunch Starter"}'})
    write_folder(tmp_path / "starter" / "draft", model_files())
    write_folder(tmp_path / "added-one", model_files())
    write_folder(tmp_path / "added-many" / "child", model_files())
    write_folder(tmp_path / "added-many" / "publisher" / "grandchild", model_files())
    write_folder(tmp_path / "added-many" / "a" / "b" / "too-deep", model_files())
    snapshot(tmp_path / "cache", "org/cached", COMMIT, model_files())
    impossible = [tmp_path / "unplugged", tmp_path / ("a" * 300), tmp_path / "a\0b"]
    store.set_folders([*impossible, tmp_path / "added-one", tmp_path / "added-many"])
    models = scan(store, recorder)
    assert {name: model.source for name, model in models.items()} == {
        "Hunch Starter": ModelSource.STARTER,
        "draft": ModelSource.STARTER,
        "own": ModelSource.OWN,
        "added-one": ModelSource.ADDED,
        "child": ModelSource.ADDED,
        "grandchild": ModelSource.ADDED,
        "cached": ModelSource.HUB_CACHE,
    }
    assert all(model.info is not None and model.info.name == name for name, model in models.items())
    assert models["cached"].repository == "org/cached"
    assert models["own"].repository == ""
    assert models["own"].size_bytes == sum(map(len, model_files().values()))


def test_unfit_models_are_listed_with_the_reason(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    write_folder(tmp_path / "models" / "org" / "broken", model_files() | {"model.safetensors": b"x"})
    write_folder(tmp_path / "models" / "org" / "strange", model_files({"model_type": "not-a-model"}))
    models = scan(store, recorder)
    assert isinstance(models["broken"].error, ModelDamaged)
    assert isinstance(models["strange"].error, ModelUnsupported)
    assert models["broken"].info is None


def test_added_weights_without_a_config_are_listed(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    """Whoever has added it looks for them in the list. In a main model's folder they may be its head."""
    weights = {"model.safetensors": model_files()["model.safetensors"]}
    for place in ("alone", "org/alone-too", "whole/mtp"):
        write_folder(tmp_path / "added" / place, weights)
    write_folder(tmp_path / "added" / "quantized", {"model-q4.gguf": b"GGUF"})
    write_folder(tmp_path / "added" / "whole", model_files())
    write_folder(tmp_path / "added" / "notes", {"readme.txt": b"x"})
    store.set_folders([tmp_path / "added"])
    found = {model.name: type(model.error) for model in scan(store, recorder).values()}
    lacking = {"alone": ModelHasNoConfig, "alone-too": ModelHasNoConfig, "quantized": ModelHasNoWeights}
    assert found == lacking | {"whole": type(None)}


def test_only_whole_and_current_models_of_a_cache(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    cache = tmp_path / "cache"
    current = snapshot(cache, "org/two", COMMIT, model_files())
    snapshot(cache, "org/two", OLD_COMMIT, model_files({"max_position_embeddings": 7}))
    write_folder(current / "refs", {"main": COMMIT.encode()})
    later = time.time() + 60
    os.utime(current / "snapshots" / OLD_COMMIT, (later, later))
    half = snapshot(cache, "org/half", COMMIT, model_files())
    (half / "blobs" / f"{COMMIT[:4]}-model.safetensors").unlink()
    snapshot(cache, "org/only-config", COMMIT, {"config.json": model_files()["config.json"]})
    snapshot(cache, "org/not-a-model", COMMIT, {"README.md": b""})
    write_folder(cache / "datasets--org--data" / "snapshots" / COMMIT, model_files())
    models = scan(store, recorder)
    assert set(models) == {"two"}
    assert models["two"].info is not None
    assert models["two"].info.context_tokens == 2048


def test_a_model_of_a_cache_stays_while_a_newer_one_of_its_repository_arrives(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder
) -> None:
    """`main` leads to that from its beginning, and it may never be whole."""
    snapshot(tmp_path / "cache", "org/two", OLD_COMMIT, model_files())
    begun = snapshot(tmp_path / "cache", "org/two", COMMIT, {"config.json": model_files()["config.json"]})
    write_folder(begun / "refs", {"main": COMMIT.encode()})
    models = scan(store, recorder)
    assert [model.revision for model in models.values()] == [OLD_COMMIT]


def test_models_are_listed_once_and_links_end(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    write_folder(tmp_path / "models" / "org" / "own", model_files())
    (tmp_path / "link").symlink_to(tmp_path / "models" / "org" / "own")
    write_folder(tmp_path / "added" / "model", model_files())
    (tmp_path / "added" / "loop").symlink_to(tmp_path / "added")
    (tmp_path / "added" / "self").symlink_to(tmp_path / "added" / "self")
    store.set_folders([tmp_path / "link", tmp_path / "models", tmp_path / "added"])
    store.scan()
    found = recorder.wait_for(LibraryScanned).models
    assert [(model.name, model.source) for model in found] == [("own", ModelSource.OWN), ("model", ModelSource.ADDED)]


def test_a_config_beside_models_hides_none_of_them(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    """Somebody has put one there; of a folder that was added it may be a model that others lie in."""
    for place in ("models", "models/org/one", "added", "added/draft"):
        write_folder(tmp_path / place, model_files())
    store.set_folders([tmp_path / "added"])
    found = {model.folder for model in scan(store, recorder).values()}
    assert found == {str(tmp_path / place) for place in ("models/org/one", "added", "added/draft")}


def test_a_hostile_hunch_json_tells_nothing(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    for name, manifest in {
        "a": b"[",
        "b": b'{"repository": "../../x", "name": 3}',
        "c": b'{"name": "\\u001b[2J"}',
    }.items():
        write_folder(tmp_path / "models" / "org" / name, model_files() | {"hunch.json": manifest})
    models = scan(store, recorder)
    assert {name: model.repository for name, model in models.items()} == {"a": "", "b": "", "c": ""}


def test_a_deleted_model_is_gone_alone(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    folder = write_folder(tmp_path / "models" / "org" / "one", model_files())
    write_folder(tmp_path / "models" / "org" / "two", model_files())
    store.delete(folder)
    assert recorder.wait_for(ModelDeleted).folder == str(folder)
    assert set(scan(store, recorder)) == {"two"}
    store.delete(tmp_path / "models" / "org" / "two")
    recorder.wait_for(ModelDeleted)
    assert not (tmp_path / "models" / "org").exists()


def test_deleting_a_link_deletes_nothing(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    elsewhere = write_folder(tmp_path / "elsewhere", model_files())
    (tmp_path / "models" / "org").mkdir(parents=True)
    (tmp_path / "models" / "org" / "link").symlink_to(elsewhere)
    (tmp_path / "models" / "linked-org").symlink_to(tmp_path)
    before = tree(tmp_path)
    for folder in ("org/link", "linked-org/elsewhere"):
        store.delete(tmp_path / "models" / folder)
        recorder.wait_for(DeleteFailed)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "folder",
    [".", "..", "org", "../cache/x", ".downloads", ".downloads/x", "org/model/deep", "nothing", "/", "../starter/main"],
)
def test_only_models_of_ours_are_deleted(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder, folder: str
) -> None:
    for place in ("models/org/model", "models/org/model/deep", "models/.downloads/x", "cache/x", "starter/main"):
        write_folder(tmp_path / place, model_files())
    before = tree(tmp_path)
    store.delete(tmp_path / "models" / folder)
    refusal = recorder.wait_for(DeleteFailed)
    expected = {
        "../starter/main": DeleteRefusal.STARTER,
        "..": DeleteRefusal.NOT_OURS,
        "org": DeleteRefusal.NO_MODEL,
        "nothing": DeleteRefusal.GONE,
    }
    assert refusal.reason is expected.get(folder, refusal.reason)
    assert tree(tmp_path) == before


def refusing(monkeypatch: pytest.MonkeyPatch, place: object, name: str, error: Exception) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(place, name, refuse)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EACCES, DeleteRefusal.FORBIDDEN),
        (errno.EPERM, DeleteRefusal.FORBIDDEN),
        (errno.EROFS, DeleteRefusal.READ_ONLY),
        (errno.EBUSY, DeleteRefusal.LOCKED),
        (errno.ENOENT, DeleteRefusal.GONE),
        (errno.EIO, DeleteRefusal.DISK),
    ],
)
def test_why_the_system_does_not_delete_is_told(
    tmp_path: Path,
    store: QuickStore,
    recorder: EventRecorder,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    reason: DeleteRefusal,
) -> None:
    folder = write_folder(tmp_path / "models" / "org" / "one", model_files())
    with monkeypatch.context() as system:
        refusing(system, Path, "rename", OSError(number, "said by the system", str(folder), None, str(folder)))
        store.delete(folder)
        assert recorder.wait_for(DeleteFailed) == DeleteFailed(str(folder), reason)
    assert tree(folder) == model_files()


@pytest.mark.expect_log("A task of the model store failed")
def test_a_deletion_that_breaks_is_told_all_the_same(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row says that it is being deleted until something is heard."""
    folder = write_folder(tmp_path / "models" / "org" / "one", model_files())
    with monkeypatch.context() as system:
        refusing(system, Path, "resolve", RuntimeError("Symlink loop"))
        store.delete(folder)
        assert recorder.wait_for(DeleteFailed) == DeleteFailed(str(folder), DeleteRefusal.DISK)


@pytest.mark.expect_log("takes its room")
def test_a_deletion_that_leaves_files(tmp_path: Path, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    models = tmp_path / "models"
    folder = write_folder(models / "org" / "one", model_files())
    store = QuickStore(models, sink=recorder, hub_cache=tmp_path / "no-cache")
    with monkeypatch.context() as system:
        refusing(system, staging, "remove", PermissionError(errno.EPERM, "said by the system"))
        store.delete(folder)
        recorder.wait_for(ModelDeleted)
        assert store.close()
    assert not folder.exists()
    assert len(tree(models)) == len(model_files())


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HF_HUB_CACHE": "/x/cache", "HF_HOME": "/y"}, "/x/cache"),
        ({"HF_HOME": "/y"}, "/y/hub"),
        ({"HUGGINGFACE_HUB_CACHE": "/x/former", "HF_HOME": "/y"}, "/x/former"),
        ({"HF_HOME": "$HOME/models", "HOME": "/home/me"}, "/home/me/models/hub"),
        ({"XDG_CACHE_HOME": "/z"}, "/z/huggingface/hub"),
        ({"HOME": "/home/me"}, "/home/me/.cache/huggingface/hub"),
        ({"HF_HOME": "~nobody-of-that-name/x"}, "~nobody-of-that-name/x/hub"),
    ],
    ids=str,
)
def test_the_hubs_cache_is_found(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert default_hub_cache() == Path(expected)


def test_a_later_start_reads_no_tokenizer_again(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    folder = write_folder(tmp_path / "models" / "org" / "own", model_files())
    first = scan(store, recorder)["own"].info
    assert store.close()
    (tmp_path / "models" / INSPECTED).unlink()
    tokenizer = folder / "tokenizer.json"
    stat = tokenizer.stat()
    tokenizer.write_bytes(b" " * stat.st_size)  # whoever reads it now fails
    os.utime(tokenizer, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    code = f"""
import sys
from pathlib import Path
from engine import LibraryScanned
from tests.helpers.event_recorder import EventRecorder, QuickStore
recorder = EventRecorder()
store = QuickStore(Path({str(tmp_path / "models")!r}), sink=recorder, hub_cache=Path("/nowhere"))
store.scan()
(model,) = recorder.wait_for(LibraryScanned).models
assert store.close()
heavy = ("mlx", "mlx_lm", "transformers", "tokenizers", "numpy", "huggingface_hub", "httpx2", "starlette", "PySide6")
print(model.info.vocabulary_digest, *(each for each in heavy if each in sys.modules))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert first is not None
    assert result.stdout.strip() == first.vocabulary_digest


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[]", 3, [3, [], ["a", 1, 2, "x", 3], ["a" * 5000, 1, 2, 3, "x"], ["\0", 1, 2, 3, "x"]]]
)
def test_damaged_notes_of_tokenizers(tmp_path: Path, recorder: EventRecorder, data: bytes | object) -> None:
    write_folder(tmp_path / "models" / "org" / "own", model_files())
    file = tmp_path / "models" / ".vocabularies.json"
    file.write_bytes(data) if isinstance(data, bytes) else write_kept(file, {"vocabularies": data}, 1 << 20)
    store = QuickStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "cache")
    assert scan(store, recorder)["own"].info is not None
    assert store.close()


@pytest.mark.parametrize("parent", ["", "models--org--"])
def test_a_name_can_be_printed_whatever_the_folder_is_called(tmp_path: Path, parent: str) -> None:
    """A tab would be the shortcut of an entry in a menu, and a mark may turn the words around it."""
    name = "모델 a\tb\n\u202e\udcff"
    folder = tmp_path / (parent + name) / "snapshots" / "0" if parent else tmp_path / name
    assert model_name(folder) == "모델 a\ufffdb\ufffd\ufffd\ufffd"


def test_other_programs_models_are_found_where_they_say(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMLX_BASE_PATH", raising=False)
    home = tmp_path / "home"
    moved = write_folder(tmp_path / "drive" / "lm" / "org" / "Moved", model_files())
    write_folder(home / ".lmstudio" / "models" / "org" / "Usual", model_files())
    write_folder(home / ".cache" / "lm-studio" / "models" / "org" / "Old", model_files())
    write_folder(home / ".lmstudio" / "models" / "org" / "Half", {"config.json": model_files()["config.json"]})
    write_folder(home / ".omlx" / "models" / "Qwen", model_files())
    write_folder(home / "omlx-too" / "org" / "Second", model_files())
    settings = {"downloadsFolder": str(moved.parents[1])}
    write_folder(home / ".lmstudio", {"settings.json": json.dumps(settings).encode()})
    write_folder(
        home / ".omlx", {"settings.json": b'{"model": {"model_dirs": ["~/.omlx/models", "~/omlx-too", 7, ""]}}'}
    )
    before = tree(home)
    store.set_home(home)

    models = scan(store, recorder)

    assert {name: (model.source, model.repository) for name, model in models.items()} == {
        "Moved": (ModelSource.LM_STUDIO, "org/Moved"),
        "Usual": (ModelSource.LM_STUDIO, "org/Usual"),
        "Old": (ModelSource.LM_STUDIO, "org/Old"),
        "Qwen": (ModelSource.OMLX, ""),
        "Second": (ModelSource.OMLX, "org/Second"),
    }
    assert tree(home) == before


def test_a_moved_home_of_lm_studio_is_found_by_its_pointer(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder
) -> None:
    home, base = tmp_path / "home", tmp_path / "drive" / "lm"
    write_folder(home, {".lmstudio-home-pointer": f"{base}\n".encode()})
    write_folder(base / "models" / "org" / "There", model_files())
    write_folder(tmp_path / "other" / "org" / "Further", model_files())
    write_folder(base, {"settings.json": json.dumps({"downloadsFolder": str(tmp_path / "other")}).encode()})
    store.set_home(home)
    assert {model.repository for model in scan(store, recorder).values()} == {"org/There", "org/Further"}


@pytest.mark.parametrize(
    "settings", [b"", b"[]", b"\xff", b'{"downloadsFolder": 7}', b'{"downloadsFolder": "a\\u0000b"}']
)
def test_odd_settings_of_others(tmp_path: Path, store: QuickStore, recorder: EventRecorder, settings: bytes) -> None:
    write_folder(tmp_path / ".lmstudio", {"settings.json": settings})
    write_folder(tmp_path / ".omlx", {"settings.json": settings})
    write_folder(tmp_path / ".lmstudio" / "models" / "org" / "Usual", model_files())
    store.set_home(tmp_path)
    assert list(scan(store, recorder)) == ["Usual"]


def test_pipes_of_other_programs_are_not_waited_for(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMLX_BASE_PATH", raising=False)
    moved = tmp_path / "Library/Application Support/oMLX"
    refs = snapshot(tmp_path / "cache", "org/two", COMMIT, model_files()) / "refs"
    snapshot(tmp_path / "cache", "org/two", OLD_COMMIT, model_files())
    for folder, name in ((moved, "base-path"), (refs, "main")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    assert (ModelSource.OMLX, Path("/elsewhere/models")) not in neighbours(tmp_path)
    assert set(scan(store, recorder)) == {"two"}
    (moved / "base-path").unlink()
    write_folder(moved, {"base-path": b"/elsewhere\n"})
    assert (ModelSource.OMLX, Path("/elsewhere/models")) in neighbours(tmp_path)
    monkeypatch.setenv("OMLX_BASE_PATH", "/by-the-environment")
    assert (ModelSource.OMLX, Path("/by-the-environment/models")) in neighbours(tmp_path)


def test_a_scan_reads_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run of the program, too; a file that changes is read again, and what is gone is forgotten."""
    read: list[str] = []

    def reading(folder: Path) -> ModelInfo:
        read.append(folder.name)
        return inspect_model(folder)

    monkeypatch.setattr(library, "inspect_model", reading)
    own = tmp_path / "models"
    first = write_folder(own / "org" / "first", model_files())
    write_folder(own / "org" / "second", model_files({"architectures": ["DFlashDraftModel"], **DFLASH}))
    places, file = Places(own, None, tmp_path / "none"), tmp_path / "known.json"

    known = Inspected()
    before = library.scan(places, known)
    assert sorted(read) == ["first", "second"]
    assert library.scan(places, known) == before
    assert len(read) == 2
    known.save(file, {model.folder for model in before})

    later = Inspected()
    later.load(file)
    assert library.scan(places, later) == before
    assert len(read) == 2

    write_folder(first, {"README.md": b"---\nlicense: mit\n---\n"})
    info = next(model.info for model in library.scan(places, later) if model.name == "first")
    assert read[2:] == ["first"]
    assert info is not None
    assert info.about.licence == "mit"

    later.save(file, {str(first)})
    assert "second" not in file.read_text()


@pytest.mark.parametrize("damage", ["", "[]", '{"models": 3}', '{"made_by": "somebody else", "models": {}}'])
def test_a_damaged_memory_only_costs_time(tmp_path: Path, damage: str) -> None:
    own, file = tmp_path / "models", tmp_path / "known.json"
    write_folder(own / "org" / "first", model_files())
    known = Inspected()
    before = library.scan(Places(own, None, tmp_path / "none"), known)
    known.save(file, {model.folder for model in before})
    whole = file.read_text()
    content = read_kept(file, len(whole))
    models = object_at(content, "models")
    for name in models:
        object_at(models, name)["caches"] = "nothing"
    write_kept(file, content, 1 << 20)
    digits = [at for at, letter in enumerate(whole) if letter.isdecimal()]
    turned = [whole[:at] + str((int(whole[at]) + 1) % 10) + whole[at + 1 :] for at in digits[:: len(digits) // 9]]
    for text in (damage, file.read_text(), *turned):
        file.write_text(text)
        later = Inspected()
        later.load(file)
        assert library.scan(Places(own, None, tmp_path / "none"), later) == before


@pytest.mark.expect_log("could not be looked at")
def test_a_folder_that_nobody_foresaw_is_listed_as_damaged(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def inspect(folder: Path) -> ModelInfo:
        if folder.name == "odd":
            raise LookupError("of a kind that inspect_model does not raise")
        return inspect_model(folder)

    monkeypatch.setattr(library, "inspect_model", inspect)
    for name in ("odd", "sound"):
        write_folder(tmp_path / "models" / "org" / name, model_files())
    found = scan(store, recorder)
    assert isinstance(found["odd"].error, ModelDamaged)
    assert found["sound"].error is None


def test_a_hubs_cache_on_another_disk_can_be_added(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    """By its own folder, or by the one around it."""
    weightless = {name: data for name, data in model_files().items() if name != "model.safetensors"}
    snapshot(tmp_path / "disk" / "hub", "org/half", COMMIT, weightless)
    for number, folder in enumerate(("disk", "disk/hub")):
        snapshot(tmp_path / "disk" / "hub", f"org/of-{number}", COMMIT, model_files())
        store.set_folders([tmp_path / folder])
        found = scan(store, recorder)
        assert found.keys() == {f"of-{each}" for each in range(number + 1)}
        assert {model.repository for model in found.values()} == {f"org/of-{each}" for each in range(number + 1)}
        assert {model.source for model in found.values()} == {ModelSource.ADDED}


@pytest.fixture
def left_by_an_earlier_run(tmp_path: Path) -> Path:
    """Asked for before the store, whose first work is to remove a download that holds no bytes yet."""
    staging = tmp_path / "models" / ".downloads" / "org--tiny"
    return write_folder(staging, {"download.json": b'{"repository": "org/tiny"}', "files/x.part": b"x"})


def test_removing_what_an_earlier_run_left_holds_nobody_up(
    left_by_an_earlier_run: Path, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have to wait for another program; the window asks the store for other things meanwhile."""
    store.scan()
    left = recorder.wait_for(DownloadStopped)
    free: list[bool] = []
    set_aside = staging.set_aside

    def watched(root: Path, repository: str) -> Path | None:
        asking = threading.Thread(target=store.cancel, args=(DownloadId(99),))
        asking.start()
        asking.join(60)
        free.append(not asking.is_alive())
        return set_aside(root, repository)

    monkeypatch.setattr(staging, "set_aside", watched)
    store.cancel(left.download)
    assert recorder.wait_for(DownloadStopped).kept_bytes == 0
    assert free == [True]
    assert not left_by_an_earlier_run.exists()


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"tokenizer_config.json": b'{"chat_template": "{% for m in messages %}"}'}, "{% for m in messages %}"),
        (
            {"chat_template.jinja": b"{{ messages }}", "tokenizer_config.json": b'{"chat_template": "x"}'},
            "{{ messages }}",
        ),
        ({"tokenizer_config.json": b"{"}, ""),
        ({"tokenizer_config.json": json.dumps({"chat_template": "x" * 3_000_000}).encode()}, "x" * 262_144),
    ],
    ids=["config", "file", "damaged", "endless"],
)
def test_a_chat_template_is_told_as_its_files_have_it(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder, files: dict[str, bytes], text: str
) -> None:
    folder = write_folder(tmp_path / "models" / "org" / "mine", model_files() | files)
    store.read_template(folder)
    assert recorder.wait_for(TemplateRead) == TemplateRead(str(folder), text)


def test_a_drafter_within_its_main_models_folder(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    inside = {f"mtp/{name}": data for name, data in model_files({"model_type": "qwen3_5_mtp"}).items()}
    other = {f"original/{name}": data for name, data in model_files().items()}
    write_folder(tmp_path / "added" / "Main-8B-4bit", model_files() | inside | other)
    commit = snapshot(tmp_path / "cache", "org/Cached-4bit", COMMIT, model_files()) / "snapshots" / COMMIT
    write_folder(commit, inside)
    write_folder(tmp_path / "added" / "mtp", model_files())  # which is in no model
    store.set_folders([tmp_path / "added"])
    models = scan(store, recorder)
    assert set(models) == {"Main-8B-4bit", "Main-8B-4bit-mtp", "Cached-4bit", "Cached-4bit-mtp", "mtp"}
    assert models["Cached-4bit-mtp"].repository == "org/Cached-4bit/mtp"
    for name in ("Main-8B-4bit", "Cached-4bit"):
        main, drafter = models[name].info, models[f"{name}-mtp"].info
        assert main is not None
        assert drafter is not None
        assert main.drafter is None
        assert drafter.drafter is not None
        assert is_made_for(main, drafter)


@pytest.mark.expect_log("A task of the model store failed")
def test_what_was_begun_is_reported_once_the_disk_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter([OSError(5, "Input/output error"), None, None])

    def unfinished(_root: Path) -> list[str]:
        if error := next(tries):
            raise error
        return ["org/name"]

    monkeypatch.setattr("engine.hub.staging.unfinished", unfinished)
    events: list[object] = []
    store = ModelStore(tmp_path / "models", sink=events.append, hub_cache=tmp_path / "none")
    for _ in range(3):
        store.scan()
    assert store.close()
    (stopped,) = (event for event in events if isinstance(event, DownloadStopped))
    assert stopped.repository == "org/name"


def test_of_a_tokenizer_that_changes_the_latest_vocabulary_is_kept(tmp_path: Path) -> None:
    folder, file = tmp_path / "model", tmp_path / "vocabularies.json"
    write_folder(folder, model_files())
    for second in range(3):
        os.utime(folder / "tokenizer.json", (second, second))
        vocabulary.read_vocabulary(folder)
    vocabulary.save_known(file)
    rows = read_kept(file, 1 << 20)["vocabularies"]
    assert isinstance(rows, list)
    assert [row[1] for row in rows if row[0].startswith(str(folder.resolve()))] == [2 * 10**9]
