"""A model's files that are exchanged, cut or gone: while it is loaded, while it is read, before its draft and tower."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import mlx.core as mx
import pytest

from engine import (
    Engine,
    EngineError,
    Message,
    MessageRole,
    ModelChanged,
    ModelDamaged,
    ModelFailed,
    ModelNotFound,
    ModelReady,
    OutOfMemory,
    Request,
    Sampling,
)
from engine.drafting.drafters import loading_any_draft
from engine.models.loading import Slices, loading
from engine.models.networks import guarded
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.loading import at_once, load_model
from tests.helpers.tiny_drafters import save_kind
from tests.helpers.tiny_eyes import asked, picture, save_seeing
from tests.helpers.tiny_models import build, byte_tokenizer, make_pair, qwen3_config, rewrite, save

CONFIG = qwen3_config()
ASKED = (Message(MessageRole.USER, "What is a byte?"),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save(build(CONFIG), CONFIG, tmp_path / "main")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EngineClient]:
    engine = Engine(cache_folder=tmp_path / "caches")
    yield EngineClient(engine)
    assert engine.close()


def exchange(folder: Path) -> None:
    """Weights of the same shapes, under the same names."""
    weights = mx.load(str(folder / "model.safetensors"))
    assert isinstance(weights, dict)
    new = folder.with_name("new.safetensors")
    changed = {name: -each if mx.issubdtype(each.dtype, mx.floating) else each for name, each in weights.items()}
    mx.save_safetensors(str(new), changed, {"format": "mlx"})
    new.replace(folder / "model.safetensors")


def overwrite(folder: Path) -> None:
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(-4096, os.SEEK_END)
        file.write(b"\x3d" * 4096)


def touch(folder: Path) -> None:
    """As far as anybody knows, other weights of the same shapes."""
    os.utime(folder / "model.safetensors")


def cut(folder: Path) -> None:
    os.truncate(folder / "model.safetensors", (folder / "model.safetensors").stat().st_size // 2)


def exchange_tokenizer(folder: Path) -> None:
    other = save(build(CONFIG), CONFIG, folder.with_name("other"), byte_tokenizer(range(255, -1, -1)))
    (other / "tokenizer.json").replace(folder / "tokenizer.json")


def edit_config(folder: Path) -> None:
    rewrite(folder / "config.json", max_position_embeddings=512)


def delete(folder: Path) -> None:
    shutil.rmtree(folder)


def rename(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


CHANGES: dict[str, tuple[Callable[[Path], None], type[EngineError] | None]] = {
    "exchanged": (exchange, None),
    "overwritten": (overwrite, None),
    "another tokenizer": (exchange_tokenizer, None),
    "another config": (edit_config, None),
    "cut": (cut, ModelDamaged),
    "deleted": (delete, ModelNotFound),
    "renamed": (rename, ModelNotFound),
}
REFUSED = pytest.mark.expect_log("could not load")


def asking(*more: Message) -> Request:
    return Request(
        messages=(*ASKED, *more), sampling=Sampling(temperature=0.8, seed=3, logit_bias=((257, -100.0),)), max_tokens=12
    )


def goes_on(client: EngineClient, first: Outcome) -> Outcome:
    """The next turn of the chat."""
    return client.run(asking(Message(MessageRole.ASSISTANT, first.text()), Message(MessageRole.USER, "More")))


@pytest.mark.parametrize(
    ("change", "refusal"),
    [pytest.param(*each, id=name, marks=REFUSED if each[1] else ()) for name, each in CHANGES.items()],
)
def test_a_loaded_model_goes_on_and_the_next_load_reads_what_is_there(
    change: Callable[[Path], None],
    refusal: type[EngineError] | None,
    client: EngineClient,
    folder: Path,
    tmp_path: Path,
) -> None:
    """All of it is in memory. What was kept of the old files is not used with others."""
    assert isinstance(client.load(folder), ModelReady)
    first = client.run(asking())
    second = goes_on(client, first)
    assert second.stats.cached_tokens > 0
    change(folder)
    assert client.run(asking()).tokens == first.tokens
    assert goes_on(client, first).tokens == second.tokens

    client.unload()
    loaded = client.load(folder)
    if refusal is not None:
        assert isinstance(loaded, ModelFailed)
        assert type(loaded.error) is refusal
        return
    again = goes_on(client, first)
    engine = Engine(cache_disk_bytes=0)
    fresh = EngineClient(engine)
    assert isinstance(fresh.load(folder), ModelReady)
    assert (again.tokens, again.stats.cached_tokens) == (goes_on(fresh, first).tokens, 0)
    assert engine.close()


WHILE_READ: dict[Callable[[Path], None], type[EngineError]] = {
    exchange: ModelChanged,
    touch: ModelChanged,
    edit_config: ModelChanged,
    exchange_tokenizer: ModelChanged,
    cut: ModelDamaged,
    delete: ModelNotFound,
}


@pytest.mark.parametrize(("change", "refusal"), WHILE_READ.items(), ids=lambda each: each.__name__)
def test_files_that_change_while_they_are_read_make_no_model(
    change: Callable[[Path], None], refusal: type[EngineError], folder: Path
) -> None:
    """At any slice: what is loaded is what is there afterwards, and else says why it is not."""
    refused = list[type[EngineError]]()
    for slices in range(1 + sum(1 for _ in loading(folder))):
        copy = shutil.copytree(folder, folder.with_name(f"copy {slices}"))
        try:
            loaded = at_once(changed_after(slices, loading(copy), partial(change, copy)))
        except EngineError as error:
            refused.append(type(error))
        else:
            again = load_model(copy)
            assert (loaded.info, loaded.identity) == (again.info, again.identity)
            assert mx.array_equal(*(each.network(mx.array([[65, 66, 67]])) for each in (loaded, again)))
    assert refused
    assert set(refused) == {refusal}


@pytest.mark.parametrize("change", [exchange, cut, delete], ids=lambda each: each.__name__)
def test_a_drafter_that_changes_while_it_is_read_is_none(change: Callable[[Path], None], folder: Path) -> None:
    main = load_model(folder)
    drafter = save_kind("eagle3", folder.with_name("drafter"), CONFIG)
    refused = list[type[EngineError]]()
    for slices in range(1 + sum(1 for _ in loading_any_draft(drafter, main))):
        copy = shutil.copytree(drafter, folder.with_name(f"copy {slices}"))
        try:
            at_once(changed_after(slices, loading_any_draft(copy, main), partial(change, copy)))
        except EngineError as error:
            refused.append(type(error))
    assert refused
    assert set(refused) == {WHILE_READ[change]}


def changed_after(slices: int, steps: Slices, change: Callable[[], None]) -> Slices:
    for _ in range(slices):
        yield next(steps)
    change()
    return (yield from steps)


@REFUSED
def test_a_draft_is_not_fitted_to_other_files_than_those_of_the_loaded_model(
    client: EngineClient, tmp_path: Path
) -> None:
    main, draft = make_pair(tmp_path / "pair")
    assert isinstance(client.load(main), ModelReady)
    first = client.run(asking())
    exchange_tokenizer(main)
    failed = client.set_draft(draft)
    assert isinstance(failed, ModelFailed)
    assert isinstance(failed.error, ModelChanged)
    assert failed.error.folder == str(main)
    assert client.run(asking()).tokens == first.tokens
    assert isinstance(client.load(main, draft), ModelReady)  # again: both are what is there


@pytest.mark.parametrize("change", [exchange, delete], ids=lambda each: each.__name__)
def test_a_picture_is_not_looked_at_with_the_tower_of_another_model(
    change: Callable[[Path], None], client: EngineClient, tmp_path: Path
) -> None:
    """A tower is read at the first picture."""
    main = save_seeing("qwen3_5", tmp_path / "eyes")
    assert isinstance(client.load(main), ModelReady)
    change(main)
    looking = Request(messages=(asked("What is it?", picture(40, 30)),), max_tokens=4)
    assert type(client.run(looking).failed.error) is WHILE_READ[change]
    assert client.run(replace(asking(), max_tokens=4)).tokens


def test_full_memory_and_a_folder_that_is_gone_are_no_damage(folder: Path) -> None:
    def full() -> None:
        raise MemoryError

    def missing() -> None:
        raise RuntimeError("[load_safetensors] Failed to open file")

    with pytest.raises(OutOfMemory):
        guarded(str(folder), ModelDamaged, lambda: False, full)
    with pytest.raises(ModelDamaged):
        guarded(str(folder), ModelDamaged, lambda: False, missing)
    delete(folder)
    with pytest.raises(ModelNotFound):
        guarded(str(folder), ModelDamaged, lambda: False, missing)


def test_failed_reads_leave_no_task_unended(tmp_path: Path) -> None:
    """Where the memory is full, `mx.eval` waits until no task is left."""
    subprocess.run([sys.executable, "-c", FAILED_READS, str(tmp_path / "weights.safetensors")], check=True, timeout=300)


FAILED_READS = """
import os, sys
import mlx.core as mx
import engine.models.loading

path = sys.argv[1]
mx.save_safetensors(path, {str(each): mx.random.normal((64, 64)) for each in range(40)})
whole = open(path, "rb").read()
failed = 0
for _ in range(60):
    open(path, "wb").write(whole)
    weights = mx.load(path)
    os.truncate(path, len(whole) // 2)
    for weight in weights.values():
        try:
            mx.eval(weight + 1)
        except RuntimeError:
            failed += 1
assert failed == 60 * 21, failed
mx.set_memory_limit(0)
mx.eval(mx.ones((64, 64)) @ mx.ones((64, 64)))
"""
