"""The file of one stretch of a kept cache: whole or not at all, aligned, checked, in every kind of number."""

from __future__ import annotations

import json
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mlx.core as mx
import pytest
from mlx_lm.models.cache import KVCache, QuantizedKVCache

from engine.caches.base import CacheSet
from engine.caches.checkpoints import append_rows, arrays_in, rows_between, truncate
from engine.models.model_files import FileError
from engine.prefix.file import Segment, read_index, read_segment, write_segment


def stretch_at(path: Path, tokens: int = 3) -> Segment:
    return Segment(path, 2, "digest", tuple(range(tokens)), True)


def test_a_step_writes_one_tensor_and_half_a_file_is_removed(tmp_path: Path) -> None:
    rows, state = [[mx.zeros((1, 2, 3, 4)), mx.zeros((1, 2, 3, 4))]], [mx.zeros(3)]
    segment = stretch_at(tmp_path / "a.safetensors")
    assert len(list(write_segment(segment, rows, state))) == 3
    segment.path.unlink()
    steps = write_segment(segment, rows, state)
    next(steps)
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    steps.close()
    assert list(tmp_path.iterdir()) == []


def test_two_engines_may_write_one_stretch_at_the_same_time(tmp_path: Path) -> None:
    """Of one process: each on its own thread."""
    rows, segment = [[mx.ones((1, 2, 3, 4)), mx.ones((1, 2, 3, 4))]], stretch_at(tmp_path / "a.safetensors")
    mx.eval(rows)
    steps = write_segment(segment, rows, None)
    next(steps)
    with ThreadPoolExecutor(1) as other:
        other.submit(lambda: list(write_segment(segment, rows, None))).result()
    list(steps)
    assert mx.array_equal(read_segment(segment.path)[0][0][0], mx.ones((1, 2, 3, 4)))
    assert list(tmp_path.iterdir()) == [segment.path]


@pytest.mark.parametrize("tokens", [1, 2, 8])
def test_the_numbers_in_a_file_are_aligned(tokens: int, tmp_path: Path) -> None:
    """As the format asks, by padding the header, whose length depends on the tokens."""
    segment = stretch_at(tmp_path / "a.safetensors", tokens)
    for _ in write_segment(segment, [[mx.ones((1, 1, tokens, 4))]], None):
        pass
    data = segment.path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    assert len(data) == 8 + length + 16 * tokens + 4
    assert json.loads(data[8 : 8 + length])["checksum"]["shape"] == [1]


@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16, mx.float32, mx.uint32, mx.int8, mx.bool_], ids=str)
def test_every_kind_of_number_survives_a_file(dtype: mx.Dtype, tmp_path: Path) -> None:
    stored = (mx.arange(24).reshape(1, 2, 3, 4) % 7).astype(dtype)
    state = [[stored, None, 3], "name", [True, stored[..., :1, :]]]
    segment = Segment(tmp_path / "a.safetensors", 2, "digest", (5, 6, 7), True, "version/model")
    for _ in write_segment(segment, [[stored, stored], [], [stored]], state):
        pass

    rows, read = read_segment(segment.path)
    assert read_index(segment.path) == segment
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


ABSURD = [
    {"start": "-5"},
    {"start": "1" * 5000},
    {"caches": "999999999999"},
    {"caches": "-1"},
    {"caches": "many"},
    {"tokens": ""},
    {"tokens": "1 x"},
    {"checkpoint": '{"array": ["state.0"]}'},
    {"checkpoint": "[" * 100_000 + "]" * 100_000},
    {"checkpoint": '{"no array": 1}'},
]


@pytest.mark.parametrize("said", ABSURD, ids=lambda said: str(said)[:30])
def test_a_whole_file_that_says_absurd_things_is_none_of_ours(said: dict[str, str], tmp_path: Path) -> None:
    """Its checksum is right: another program wrote it."""
    path = tmp_path / "x.safetensors"
    for _ in write_segment(Segment(path, 0, "0", (1, 2), False), [[mx.zeros((1, 1, 2, 4))]], None):
        pass
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    rows = data[8 + struct.unpack("<Q", data[:8])[0] : -4]
    header["__metadata__"] |= said
    text = json.dumps(header).encode()
    whole = struct.pack("<Q", len(text)) + text + rows
    path.write_bytes(whole + struct.pack("<I", zlib.crc32(whole)))
    with pytest.raises(FileError):
        read_all(path)


def read_all(path: Path) -> None:
    read_index(path)
    read_segment(path)
