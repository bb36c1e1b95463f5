"""inspect_model on folders that are broken or meant to break us: always a typed ModelError, soon, and nothing runs."""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import (
    ModelDamaged,
    ModelError,
    ModelHasNoConfig,
    ModelHasNoWeights,
    ModelNotFound,
    ModelRunsCode,
    ModelUnsupported,
    TokenizerBroken,
    inspect_model,
    memory_fit,
)
from tests.helpers import tiny_drafters
from tests.helpers.model_folders import TENSORS, model_files, safetensors, with_header, write_folder
from tests.helpers.tiny_families import FAMILIES

GOOD = safetensors(TENSORS)
ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def one(**changes: object) -> bytes:
    return with_header({"w": {**ENTRY, **changes}}, bytes(8))


@pytest.mark.parametrize(
    "weights",
    [
        b"",
        b"\1\2\3",
        GOOD[:-1],
        GOOD + b"\0",
        GOOD[:20],
        struct.pack("<Q", 2**62) + GOOD[8:],
        struct.pack("<Q", 0) + GOOD[8:],
        struct.pack("<Q", 4) + b"null",
        struct.pack("<Q", 100_000) + b"[" * 100_000,
        with_header({"w": 1}, b""),
        with_header({"w": {**ENTRY, "data_offsets": [0, 8]}, "v": {**ENTRY, "data_offsets": [4, 12]}}, bytes(12)),
        with_header({"w": {**ENTRY, "data_offsets": [0, 8]}, "v": {**ENTRY, "data_offsets": [12, 20]}}, bytes(20)),
        one(dtype="F31"),
        one(shape=[-2]),
        one(shape=[2**62, 2**62]),
        one(shape=[1] * 1000 + [2]),
        one(data_offsets=[8, 0]),
        one(data_offsets=[-8, 0]),
        one(data_offsets=[0, 10**30]),
        one(data_offsets=["0", "8"]),
    ],
    ids=range(20),
)
def test_bad_safetensors_are_damage(tmp_path: Path, weights: bytes) -> None:
    folder = write_folder(tmp_path / "m", model_files() | {"model.safetensors": weights})
    with pytest.raises(ModelDamaged) as caught:
        inspect_model(folder)
    assert "model.safetensors" in caught.value.detail


@pytest.mark.parametrize(
    ("config", "error"),
    [
        (b"", ModelDamaged),
        (b"\xff\xfe", ModelDamaged),
        (b"[]", ModelDamaged),
        (b"[" * 200_000, ModelDamaged),
        (b'{"model_type": "qwen3", "x": "' + b"a" * 2**20 + b'"}', ModelDamaged),
        (b'{"model_type": "qwen3", "hidden_size": ' + b"9" * 5000 + b"}", ModelDamaged),
        (b"{}", ModelUnsupported),
        (b'{"model_type": 3}', ModelUnsupported),
        (b'{"model_type": "../../../tmp/evil"}', ModelUnsupported),
        (b'{"model_type": "qwen3/../qwen3"}', ModelUnsupported),
        (b'{"model_type": "whisper"}', ModelUnsupported),
        (b'{"model_type": "qwen3", "model_file": "evil.py"}', ModelRunsCode),
        (b'{"model_type": "nothing-known", "model_file": "evil.py"}', ModelRunsCode),
    ],
    ids=range(13),
)
def test_bad_configs(tmp_path: Path, config: bytes, error: type[ModelError]) -> None:
    folder = write_folder(tmp_path / "m", model_files() | {"config.json": config, "evil.py": b"raise SystemExit"})
    with pytest.raises(error):
        inspect_model(folder)


@pytest.mark.parametrize(
    "bomb",
    [
        {"num_hidden_layers": 10**6},
        {"num_hidden_layers": -1},
        {"num_hidden_layers": True},
        {"hidden_size": 2**31},
        {"vocab_size": 2**40},
        {"num_experts": 10**9},
        {"intermediate_size": [1] * 10_000},
        {"max_position_embeddings": 0},
        {"text_config": {"num_hidden_layers": 10**6}},
        *({name: 10**6} for name in ("n_layer", "n_layers", "num_layers", "num_transformer_layers", "num_kv_layers")),
        {"n_layers": [4, 10**6]},
        {"text_config": {"n_layer": 10**6}},
    ],
    ids=str,
)
def test_numbers_have_bounds(tmp_path: Path, bomb: dict[str, object]) -> None:
    with pytest.raises(ModelDamaged, match=r"config\.json"):
        inspect_model(write_folder(tmp_path / "m", model_files(bomb)))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    "files",
    [
        {"tokenizer.json": b"{"},
        {"tokenizer.json": b"{}"},
        {"tokenizer.json": _json({"model": {"vocab": {"a": "0"}}})},
        {"tokenizer.json": _json({"model": {"vocab": {"a": -1}}})},
        {"tokenizer.json": _json({"model": {"vocab": {"a": 2**40}}})},
        {"tokenizer.json": _json({"model": {"vocab": [[]]}})},
        {"tokenizer.json": _json({"model": {"vocab": {"a": 0}}, "added_tokens": ["x"]})},
        {"chat_template.jinja": b"{#" + b" " * 300_000 + b"#}"},
    ],
    ids=range(8),
)
def test_bad_tokenizers(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(TokenizerBroken):
        inspect_model(write_folder(tmp_path / "m", model_files() | files))


def _without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (_without("config.json"), ModelHasNoConfig),
        (_without("model.safetensors"), ModelHasNoWeights),
        (_without("tokenizer.json"), TokenizerBroken),
        (
            lambda folder: (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors"),
            ModelDamaged,
        ),
        (lambda folder: (folder / "model-2.safetensors").mkdir(), ModelDamaged),
        (lambda folder: (folder / "model-2.safetensors").symlink_to(folder / "gone"), ModelDamaged),
        (lambda folder: os.mkfifo(folder / "model-2.safetensors"), ModelDamaged),
    ],
    ids=range(7),
)
def test_files_missing_or_no_files(tmp_path: Path, spoil: Callable[[Path], None], error: type[ModelError]) -> None:
    folder = write_folder(tmp_path / "m", model_files())
    spoil(folder)
    with pytest.raises(error):
        inspect_model(folder)


def test_a_folder_that_is_not_there_and_a_path_that_no_disk_accepts(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        inspect_model(tmp_path / "gone")
    with pytest.raises(ModelError):
        inspect_model(tmp_path / ("a" * 300))


def test_gguf_alone_is_no_weights(tmp_path: Path) -> None:
    with pytest.raises(ModelHasNoWeights):
        inspect_model(write_folder(tmp_path / "m", {"model-q4.gguf": b"GGUF"}))


@pytest.mark.parametrize("weight_map", [{"gone": "model.safetensors"}, {"w": "../../etc/passwd"}, {"w": 3}], ids=str)
def test_an_index_may_only_speak_of_what_is_there(tmp_path: Path, weight_map: dict[str, object]) -> None:
    files = model_files() | {"model.safetensors.index.json": _json({"weight_map": weight_map})}
    with pytest.raises(ModelDamaged, match="index"):
        inspect_model(write_folder(tmp_path / "m", files))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["F32", "U32", "F4"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets", "w", "__metadata__"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=json_values, body=st.binary(max_size=40))
def test_no_header_gets_past_as_another_kind_of_error(tmp_path: Path, header: object, body: bytes) -> None:
    folder = write_folder(tmp_path / "m", model_files() | {"model.safetensors": with_header(header, body)})
    try:
        inspect_model(folder)
    except ModelDamaged:
        return
    assert isinstance(header, dict)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, len(GOOD) - 1), byte=st.integers(0, 255), name=st.sampled_from(sorted(model_files())))
def test_one_wrong_byte_anywhere_is_typed(tmp_path: Path, position: int, byte: int, name: str) -> None:
    files = model_files()
    data = bytearray(files[name])
    data[position % len(data)] = byte
    with contextlib.suppress(ModelError):
        inspect_model(write_folder(tmp_path / "m", files | {name: bytes(data)}))


@pytest.mark.parametrize("size", [10**400, -5, True, "8", None, [1]], ids=lambda size: repr(size)[:9])
@pytest.mark.parametrize("key", ["num_kv_heads", "attn_config", "attention_other_setting"])
def test_what_a_chat_takes_is_a_sane_number_whatever_a_config_says(tmp_path: Path, key: str, size: object) -> None:
    told: dict[str, object] = {
        "num_kv_heads": {"model_type": "openelm", "num_kv_heads": [size, size], "head_dim": 64},
        "attn_config": {"model_type": "dbrx", "n_layers": 2, "d_model": 64, "n_heads": 2, key: {"kv_n_heads": size}},
        "attention_other_setting": {
            "model_type": "step3p5",
            "num_attention_heads": 2,
            "layer_types": ["sliding_attention"] * 2,
            "sliding_window": 128,
            key: {"num_attention_groups": size},
        },
    }[key]
    info = inspect_model(write_folder(tmp_path / "m", model_files(told)))
    assert info.caches is not None
    assert 0 <= info.caches.token_bytes < 2**50
    assert 0 <= info.caches.fixed_bytes < 2**50
    assert 0 <= memory_fit(info, 8192, 2**34).largest_context_tokens <= info.context_tokens


@pytest.mark.parametrize("kind", tiny_drafters.KINDS)
def test_a_list_or_an_object_in_any_place_of_a_drafters_config(kind: str, tmp_path: Path) -> None:
    folder = tiny_drafters.save_kind(kind, tmp_path / kind, FAMILIES["dense"])
    config = json.loads((folder / "config.json").read_text())
    for name in config:
        for odd in ([1], {"a": 1}):
            (folder / "config.json").write_text(json.dumps(config | {name: odd}))
            with contextlib.suppress(ModelError):
                inspect_model(folder)
