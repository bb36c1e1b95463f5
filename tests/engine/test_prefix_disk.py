"""The folder of kept caches: what is damaged, foreign, half written or too much, and who may read it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import pytest
from mlx_lm.models.cache import KVCache, QuantizedKVCache

from engine import Engine, Message, MessageRole, ModelReady, Request, Sampling, Speculation
from engine.caches.base import CacheSet
from engine.caches.checkpoints import append_rows, arrays_in, rows_between, truncate
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel, load_model
from engine.models.model_files import FileError
from engine.prefix.disk import PrefixDisk
from engine.prefix.file import Stretch, read_index, read_stretch, write_stretch
from engine.prefix.memory import PrefixStore
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.tiny_families import FAMILIES, save_family

CHAT = tuple(40 + (7 * n) % 90 for n in range(300))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("families")
    return {kind: save_family(kind, folder / kind) for kind in FAMILIES}


@pytest.fixture(scope="module")
def model(folders: dict[str, Path]) -> LoadedModel:
    return load_model(folders["hybrid"])


def write(model: LoadedModel, disk: PrefixDisk, tokens: tuple[int, ...] = CHAT) -> None:
    sequence = Sequence(model, list(tokens))
    sequence.turn_end = len(tokens) // 2
    while sequence.unread > 1:
        sequence.prefill_chunk()
    for _ in disk.write(sequence):
        pass


def cached(model: LoadedModel, folder: Path, tokens: tuple[int, ...] = CHAT) -> int:
    return PrefixStore(disk=PrefixDisk(folder)).take(model, list(tokens)).caches.position


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*/*.safetensors"), key=lambda path: int(path.stem.rpartition("-")[2]))


def test_the_parts_of_a_chat_are_found_again(model: LoadedModel, tmp_path: Path) -> None:
    write(model, PrefixDisk(tmp_path))

    assert [path.stem.rpartition("-")[2] for path in files(tmp_path)] == ["0", str(len(CHAT) // 2)]
    assert cached(model, tmp_path) == len(CHAT) - 1
    assert cached(model, tmp_path, CHAT[: len(CHAT) // 2 + 20]) == len(CHAT) // 2
    assert cached(model, tmp_path, (7, *CHAT)) == 0


def test_nobody_else_may_read_it(model: LoadedModel, tmp_path: Path) -> None:
    folder = tmp_path / "prefixes"
    write(model, PrefixDisk(folder))

    assert {path.stat().st_mode & 0o777 for path in files(folder)} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.glob("*"), *folder.glob("*/*/.."))} == {0o700}


def shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-2000] ^= 1
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def make_foreign(path: Path) -> None:
    path.write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")


def lie(path: Path) -> None:
    """About the tokens: the file is consistent in itself but for the checksum."""
    path.write_bytes(path.read_bytes().replace(b'"tokens": "40', b'"tokens": "41', 1))


def huge_header(path: Path) -> None:
    path.write_bytes(b"\xff" * 64)


@pytest.mark.parametrize("damage", [shorten, flip, empty, make_foreign, huge_header, lie], ids=lambda f: f.__name__)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.expect_log("dropping a kept cache", "a kept cache could not be read")
def test_a_damaged_file_is_ignored_and_removed(
    model: LoadedModel, tmp_path: Path, damage: Callable[[Path], None], which: int
) -> None:
    write(model, PrefixDisk(tmp_path))
    path = files(tmp_path)[which]
    whole = path.read_bytes()
    damage(path)
    changed = path.read_bytes() != whole

    assert cached(model, tmp_path) in ({0, len(CHAT) // 2} if changed else {len(CHAT) - 1})
    assert not changed or damage is lie or not path.exists()
    assert cached(model, tmp_path) in {0, len(CHAT) // 2, len(CHAT) - 1}


def other_file(folder: Path) -> None:
    """Other weights of the same size under the same name and time, as an update that keeps times would bring."""
    weights = folder / "model.safetensors"
    times = weights.stat()
    fresh = save_family("hybrid", folder.parent / "fresh", seed=1) / "model.safetensors"
    os.utime(fresh, ns=(times.st_atime_ns, times.st_mtime_ns))
    fresh.replace(weights)


def same_file_other_content(folder: Path) -> None:
    weights = folder / "model.safetensors"
    times = weights.stat()
    fresh = save_family("hybrid", folder.parent / "fresh", seed=1) / "model.safetensors"
    weights.write_bytes(fresh.read_bytes())
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))


def other_settings(folder: Path) -> None:
    config = folder / "config.json"
    times = config.stat()
    config.write_text(config.read_text().replace('"rope_theta": 10000.0', '"rope_theta": 20000.0'))
    os.utime(config, ns=(times.st_atime_ns, times.st_mtime_ns))


def another_model_in_its_place(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    save_family("hybrid", folder, seed=1)


def a_copy_in_its_place(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    shutil.copytree(folder.with_name("moved"), folder)


def later_file(folder: Path) -> None:
    os.utime(folder / "model.safetensors")


@pytest.mark.parametrize(
    "change",
    [
        other_file,
        same_file_other_content,
        other_settings,
        another_model_in_its_place,
        a_copy_in_its_place,
        later_file,
    ],
    ids=lambda change: change.__name__,
)
def test_nothing_is_reused_after_the_files_of_a_model_changed(
    folders: dict[str, Path], tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """A cache of other weights would be wrong text: not even times, sizes and names need differ."""
    folder = tmp_path / "model"
    shutil.copytree(folders["hybrid"], folder)
    write(load_model(folder), PrefixDisk(tmp_path / "kept"))
    assert cached(load_model(folder), tmp_path / "kept") == len(CHAT) - 1
    change(folder)

    assert cached(load_model(folder), tmp_path / "kept") == 0


def test_a_model_that_moved_keeps_its_caches(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(folders["hybrid"], folder)
    write(load_model(folder), PrefixDisk(tmp_path / "kept"))
    moved = folder.rename(tmp_path / "moved")

    assert cached(load_model(moved), tmp_path / "kept") == len(CHAT) - 1


def test_old_versions_go_and_strangers_stay(tmp_path: Path) -> None:
    old, stranger = tmp_path / "hunch-0-mlx0.1", tmp_path / "my thesis"
    for folder in (old, stranger):
        folder.mkdir()
        (folder / "file").write_text("x")
    PrefixDisk(tmp_path)

    assert not old.exists()
    assert (stranger / "file").exists()


def test_bytes_are_bounded_and_the_oldest_chat_goes_first(model: LoadedModel, tmp_path: Path) -> None:
    chats = [tuple(first + n % 50 for n in range(100)) for first in (10, 70, 130)]
    write(model, PrefixDisk(tmp_path), chats[0])
    one = sum(path.stat().st_size for path in files(tmp_path))
    disk = PrefixDisk(tmp_path, limit_bytes=int(2.5 * one))
    for chat in chats[1:]:
        write(model, disk, chat)

    assert sum(path.stat().st_size for path in files(tmp_path)) <= 2.5 * one
    assert [cached(model, tmp_path, chat) > 90 for chat in chats] == [False, True, True]


@pytest.mark.expect_log("caches are no longer kept on disk")
def test_a_read_only_folder_costs_nothing_but_time(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    sequence = Sequence(model, list(CHAT))
    sequence.prefill_chunk()
    store.put(sequence)

    def refuse(*arguments: object, **keywords: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.prefix.file.os.open", refuse)
    store.write_step()

    assert not store.has_unwritten
    assert store.take(model, list(CHAT)).caches.position == len(CHAT) - 1


def test_kill_while_writing_leaves_nothing_that_can_be_read(folders: dict[str, Path], tmp_path: Path) -> None:
    """Killed after each number of steps in turn; then the next process finds only whole files, and no half ones."""
    child = (
        "import os, signal, sys, pathlib\n"
        "from tests.engine.test_prefix_disk import CHAT\n"
        "from engine.models.loading import load_model\n"
        "from engine.prefix.disk import PrefixDisk\n"
        "from engine.decoding.sequence import Sequence\n"
        "model = load_model(sys.argv[1])\n"
        "sequence = Sequence(model, list(CHAT)); sequence.turn_end = 150\n"
        "while sequence.unread > 1: sequence.prefill_chunk()\n"
        "for at, _ in enumerate(PrefixDisk(pathlib.Path(sys.argv[2])).write(sequence)):\n"
        "    if at == int(sys.argv[3]): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    model = load_model(folders["hybrid"])
    for steps in (2, 9):
        run = subprocess.run([sys.executable, "-c", child, folders["hybrid"], tmp_path, str(steps)], check=False)
        assert run.returncode == -signal.SIGKILL
        assert list(tmp_path.glob("*/*/*.part"))
        for path in files(tmp_path):
            assert read_stretch(path)
        assert cached(model, tmp_path) == (0 if steps == 2 else 150)
        assert not list(tmp_path.glob("*/*/*.part"))


def test_a_file_is_read_only_whole(model: LoadedModel, tmp_path: Path) -> None:
    write(model, PrefixDisk(tmp_path))
    path = files(tmp_path)[0]
    assert read_index(path).end == len(CHAT) // 2
    flip(path)
    with pytest.raises(FileError):
        read_stretch(path)


@pytest.mark.parametrize("kind", list(FAMILIES))
def test_yesterdays_chat_goes_on_in_another_engine(folders: dict[str, Path], kind: str, tmp_path: Path) -> None:
    first = talk(folders[kind], tmp_path, CHAT)
    grown = (*CHAT, *first.tokens, 50, 51, 52)
    warm, cold = talk(folders[kind], tmp_path, grown), talk(folders[kind], None, grown)

    assert warm.stats.cached_tokens == len(grown) - 4
    assert cold.stats.cached_tokens == 0
    assert warm.text() == cold.text()
    assert warm.tokens == cold.tokens


def talk(folder: Path, cache_folder: Path | None, tokens: tuple[int, ...]) -> Outcome:
    engine = Engine(cache_folder)
    client = EngineClient(engine)
    assert isinstance(client.load(folder, folder), ModelReady)
    asked = Request(tokens=tokens, sampling=Sampling(temperature=0), max_tokens=20, speculation=Speculation.fixed(3))
    outcome = client.run(asked)
    assert engine.close()
    return outcome


def test_a_chat_larger_than_half_the_disk_is_not_written(model: LoadedModel, tmp_path: Path) -> None:
    write(model, PrefixDisk(tmp_path, limit_bytes=1000))
    assert not files(tmp_path)


@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16, mx.float32, mx.uint32, mx.int8, mx.bool_], ids=str)
def test_every_kind_of_number_survives_a_file(dtype: mx.Dtype, tmp_path: Path) -> None:
    stored = (mx.arange(24).reshape(1, 2, 3, 4) % 7).astype(dtype)
    state = [[stored, None, 3], "name", [True, stored[..., :1, :]]]
    stretch = Stretch(tmp_path / "a.safetensors", 2, "digest", (5, 6, 7), True)
    for _ in write_stretch(stretch, [[stored, stored], [], [stored]], state):
        pass

    rows, read = read_stretch(stretch.path)
    assert read_index(stretch.path) == stretch
    assert [len(arrays) for arrays in rows] == [2, 0, 1]
    assert read is not None
    (first, nothing, three), name, (yes, part) = read
    assert (nothing, three, name, yes) == (None, 3, "name", True)
    for array in (rows[0][0], rows[2][0], first):
        assert array.dtype == dtype
        assert mx.array_equal(array, stored)
    assert mx.array_equal(part, stored[..., :1, :])


def test_quantized_rows_are_carried_too() -> None:
    def made() -> CacheSet:
        return CacheSet([QuantizedKVCache(group_size=32, bits=8), KVCache()])

    one, other = made(), made()
    fed = mx.random.normal((1, 2, 40, 32))
    for layer in one.layers:
        layer.update_and_fetch(fed, fed + 1)
    one.position = 40
    for start, end in ((0, 16), (16, 40)):
        append_rows(other, [rows_between(one, start, end)], end, None)
    truncate(one, 30)
    truncate(other, 30)
    for layer in (*one.layers, *other.layers):
        layer.update_and_fetch(fed[..., :9, :], fed[..., :9, :])

    for left, right in zip(one.layers, other.layers, strict=True):
        pairs = zip(arrays_in(left.keys_and_values()), arrays_in(right.keys_and_values()), strict=True)
        assert all(mx.array_equal(a, b) for a, b in pairs)
    assert left.offset == right.offset == 39


THINKING_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)


@pytest.mark.parametrize("kind", list(FAMILIES))
def test_thinking_costs_the_next_turn_nothing_but_itself(folders: dict[str, Path], kind: str, tmp_path: Path) -> None:
    """The template opens a thinking span that it drops from history: the last user's turn is still where it was."""
    folder = tmp_path / "thinks"
    shutil.copytree(folders[kind], folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"chat_template": THINKING_TEMPLATE}))
    asked = (Message(MessageRole.USER, "Tell me of the sea, and of what lives in it."),)
    then = (*asked, Message(MessageRole.ASSISTANT, "Fish."), Message(MessageRole.USER, "More?"))
    engine = Engine()
    client = EngineClient(engine)
    client.load(folder)
    first, second = (
        client.run(Request(messages=said, sampling=Sampling(temperature=0), max_tokens=400)) for said in (asked, then)
    )
    assert engine.close()

    opened = len(b"assistant\n<think>\n") + 1  # a token a byte, and one for <|im_start|>
    turn_end = first.stats.prompt_tokens - opened
    assert turn_end <= second.stats.cached_tokens <= turn_end + len(b"assistant\n") + 1
