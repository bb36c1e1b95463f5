"""inspect_model on good folders: what it counts, and what it does not let confuse it."""

from __future__ import annotations

import json
import os
import re
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine import (
    DraftIsMain,
    DraftVocabularyDiffers,
    ModelInfo,
    ModelRunsCode,
    ModelUnsupported,
    draft_problem,
    inspect_model,
    may_share_tokens,
    memory_fit,
)
from engine.models.compatibility import token_map
from engine.models.families import READ_FP8, SAME_AS
from tests.helpers.fake_engine import model_info
from tests.helpers.model_folders import TENSORS, TOKENS, model_files, safetensors, tokenizer, write_folder


def test_tells_what_the_files_say(tmp_path: Path) -> None:
    info = inspect_model(write_folder(tmp_path / "Tiny-4bit", model_files()))
    assert (info.name, info.model_type, info.parameters, info.context_tokens) == (
        "Tiny-4bit",
        "qwen3",
        12 * 8 + 8,
        2048,
    )
    assert (info.bits, info.vocabulary_tokens) == (None, len(TOKENS) + 1)
    assert info.weight_bytes == (tmp_path / "Tiny-4bit" / "model.safetensors").stat().st_size


def test_packed_weights_count_as_the_numbers_in_them(tmp_path: Path) -> None:
    tensors = {
        "q.weight": ("U32", (64, 128 * 4 // 32)),
        "q.scales": ("BF16", (64, 128 // 64)),
        "q.biases": ("BF16", (64, 128 // 64)),
        "q.bias": ("BF16", (64,)),
        "down.weight": ("U32", (64, 128 * 6 // 32)),  # a mixed recipe gives this layer its own group size
        "down.scales": ("BF16", (64, 128 // 32)),
        "down.biases": ("BF16", (64, 128 // 32)),
    }
    config = {"quantization": {"bits": 4, "group_size": 64, "down": {"bits": 6, "group_size": 32}}}
    info = inspect_model(write_folder(tmp_path / "m", model_files(config, tensors)))
    assert info.parameters == 64 * 128 + 64 + 64 * 128
    assert info.bits == 4.0


def test_a_method_without_bits_still_tells_them(tmp_path: Path) -> None:
    config = {"quantization_config": {"quant_method": "mxfp4"}}
    tensors = {"q.weight": ("U32", (64, 16)), "q.scales": ("U8", (64, 4))}
    info = inspect_model(write_folder(tmp_path / "m", model_files(config, tensors)))
    assert (info.bits, info.parameters) == (4.0, 64 * 128)


def test_shards_are_one_model(tmp_path: Path) -> None:
    files = model_files()
    del files["model.safetensors"]
    files["model-00001-of-00002.safetensors"] = safetensors({"a.weight": ("F16", (4, 4))})
    files["model-00002-of-00002.safetensors"] = safetensors({"b.weight": ("F16", (2, 4))})
    weight_map = {f"{name}.weight": f"model-0000{number}-of-00002.safetensors" for number, name in enumerate("ab", 1)}
    files["model.safetensors.index.json"] = json.dumps({"weight_map": weight_map}).encode()
    assert inspect_model(write_folder(tmp_path / "m", files)).parameters == 16 + 8


@pytest.mark.parametrize(
    ("config", "context_tokens"),
    [
        ({"text_config": {"max_position_embeddings": 4096}}, 4096),
        ({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}}, 131_072),  # its family's
    ],
)
def test_a_nested_text_config_tells_the_context(tmp_path: Path, config: dict[str, object], context_tokens: int) -> None:
    files = model_files({"max_position_embeddings": None} | config)
    assert inspect_model(write_folder(tmp_path / "m", files)).context_tokens == context_tokens


@pytest.mark.parametrize("prefix", ["vision_tower.", "model.vision_tower.", "audio_tower.", "multi_modal_projector."])
def test_eyes_and_ears_stay_on_the_disk(tmp_path: Path, prefix: str) -> None:
    """mlx-lm makes a chat model of what is left: memory is told for that."""
    tensors = {"language_model.model.norm.weight": ("F32", (64, 1024)), f"{prefix}a.weight": ("F32", (128, 1024))}
    config = {"model_type": "gemma3"}
    info = inspect_model(write_folder(tmp_path / "m", model_files(config, tensors)))
    assert info.weight_bytes - info.loaded_bytes == 128 * 1024 * 4
    blind = inspect_model(
        write_folder(tmp_path / "blind", model_files(config, {"language_model.model.norm.weight": ("F32", (64, 1024))}))
    )
    assert info.weight_bytes > 2 * blind.weight_bytes
    needed = memory_fit(info, 1024, 2**34).needed_bytes, memory_fit(blind, 1024, 2**34).needed_bytes
    assert needed[0] == pytest.approx(needed[1], abs=1024)  # headers apart


def test_weights_of_bitsandbytes_are_known_by_their_names(tmp_path: Path) -> None:
    name = "model.layers.0.mlp.up_proj.weight"
    tensors = {name: ("U8", (64, 1)), f"{name}.absmax": ("U8", (2,)), f"{name}.quant_map": ("F32", (16,))}
    with pytest.raises(ModelUnsupported) as refused:
        inspect_model(write_folder(tmp_path / "m", model_files(tensors=tensors)))
    assert refused.value.packing == "bitsandbytes"


@pytest.mark.parametrize("name", ["tiktoken.model", "hy.tiktoken"])
def test_a_tokenizer_that_only_its_own_code_reads_is_refused(tmp_path: Path, name: str) -> None:
    files = model_files() | {name: b"IQ== 0\n"}
    assert inspect_model(write_folder(tmp_path / "both", files)).vocabulary_tokens
    del files["tokenizer.json"]
    with pytest.raises(ModelRunsCode):
        inspect_model(write_folder(tmp_path / "m", files))


def test_an_index_may_name_files_that_mlx_lm_does_not_read(tmp_path: Path) -> None:
    """Such as a head beside the model, which is not downloaded either."""
    weights = dict.fromkeys(TENSORS, "model.safetensors") | {"mtp.fc.weight": "mtp.safetensors"}
    index = {"model.safetensors.index.json": json.dumps({"weight_map": weights}).encode()}
    assert inspect_model(write_folder(tmp_path / "m", model_files() | index)).parameters


@pytest.mark.parametrize(
    ("model_type", "is_read"), [("qwen3", False), ("ministral3", False), ("minimax_m2", True), ("glm_moe_dsa", True)]
)
def test_fp8_in_blocks_is_refused_where_mlx_lm_does_not_read_it(tmp_path: Path, model_type: str, is_read: bool) -> None:
    name = "model.layers.0.mlp.up_proj.weight"
    tensors = {name: ("F8_E4M3", (256, 128)), f"{name}_scale_inv": ("F32", (2, 1))}
    packed = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    files = model_files({"model_type": model_type, "quantization_config": packed}, tensors)
    with nullcontext() if is_read else pytest.raises(ModelUnsupported, match="fp8"):
        inspect_model(write_folder(tmp_path / "m", files))


def test_the_families_that_read_fp8_are_those_whose_code_does() -> None:
    spec = find_spec("mlx_lm")
    assert spec is not None
    folder = Path(next(iter(spec.submodule_search_locations or ()))) / "models"
    texts = {path.stem: path.read_text() for path in folder.glob("*.py")}
    said = {name for name, text in texts.items() if "weight_scale_inv" in text and re.search("from_fp8|mxfp8", text)}
    assert said <= READ_FP8
    for family in READ_FP8 - said:  # by the code of another one
        assert any(f"from .{each} import Model" in texts[family] for each in said)


def test_codes_that_mlx_lm_takes_apart_count_as_half_precision(tmp_path: Path) -> None:
    """FP8 with scales is computed in 16 bits; FP8 that MLX has packed itself has scales of other types."""
    name = "model.layers.0.mlp.up_proj.weight"
    sizes = []
    for scale, apart in (("BF16", True), ("U8", False)):
        tensors = {name: ("F8_E4M3", (256, 128)), f"{name}_scale_inv": (scale, (2, 1))}
        info = inspect_model(write_folder(tmp_path / scale, model_files(tensors=tensors)))
        assert info.loaded_bytes == info.weight_bytes + apart * 256 * 128
        sizes.append(memory_fit(info, 1024, 2**34).needed_bytes)
    assert sizes[0] > sizes[1] + 256 * 128


@pytest.mark.parametrize(
    ("rope", "context_tokens"),
    [
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}, 8192),
        ({"type": "yarn", "factor": 2, "original_max_position_embeddings": 512}, 2048),  # told already
        ({"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 2048}, 2048),
        ({"rope_type": "yarn", "factor": 4.0}, 2048),
        ({"rope_type": "yarn", "factor": float("inf"), "original_max_position_embeddings": 2048}, 2048),
        ({"rope_type": "yarn", "factor": "4", "original_max_position_embeddings": -2048}, 2048),
    ],
)
def test_yarn_stretches_the_context(tmp_path: Path, rope: dict[str, object], context_tokens: int) -> None:
    """The makers of Qwen have people add it beside the limit as it was."""
    for key in ("rope_scaling", "rope_parameters"):
        info = inspect_model(write_folder(tmp_path / key, model_files({key: rope})))
        assert info.context_tokens == context_tokens


def test_code_for_transformers_is_ignored(tmp_path: Path) -> None:
    files = model_files({"auto_map": {"AutoModelForCausalLM": "modeling_x.X"}}) | {"modeling_x.py": b"raise SystemExit"}
    assert inspect_model(write_folder(tmp_path / "m", files)).model_type == "qwen3"


UNIGRAM = {"model": {"vocab": [[text, -1.0] for text in TOKENS]}, "added_tokens": [{"id": 4, "content": "<eos>"}]}


@pytest.mark.parametrize(
    "files",
    [
        model_files({"vocab_size": 64}),
        model_files() | {"tokenizer.json": tokenizer(TOKENS | {"<eos>": 4}, {})},
        model_files() | {"tokenizer.json": json.dumps(UNIGRAM).encode()},
    ],
    ids=["padded", "built in, not added", "numbered by position"],
)
def test_the_same_tokens_have_the_same_digest(tmp_path: Path, files: dict[str, bytes]) -> None:
    one, other = (
        inspect_model(write_folder(tmp_path / name, each)) for name, each in (("a", model_files()), ("b", files))
    )
    assert one.vocabulary_digest == other.vocabulary_digest


def test_two_tokens_that_change_places_change_the_digest(tmp_path: Path) -> None:
    one = inspect_model(write_folder(tmp_path / "a", model_files()))
    swapped = inspect_model(write_folder(tmp_path / "b", model_files(tokens={"a": 1, "b": 0, "ab": 2, "글": 3})))
    assert one.vocabulary_digest != swapped.vocabulary_digest
    joined = inspect_model(write_folder(tmp_path / "c", model_files(tokens={"a1:b": 0})))
    parts = inspect_model(write_folder(tmp_path / "d", model_files(tokens={"a": 0, "b": 1})))
    assert joined.vocabulary_digest != parts.vocabulary_digest


def test_a_changed_tokenizer_is_read_again(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", model_files())
    before = inspect_model(folder)
    (folder / "tokenizer.json").write_bytes(tokenizer({"a": 1, "b": 0, "ab": 2, "글": 3}))
    os.utime(folder / "tokenizer.json", ns=(1, 1))
    assert inspect_model(folder).vocabulary_digest != before.vocabulary_digest


def test_a_sentencepiece_file_is_compared_as_a_file(tmp_path: Path) -> None:
    files = model_files()
    del files["tokenizer.json"]
    info = inspect_model(write_folder(tmp_path / "m", files | {"tokenizer.model": b"\x0a\x0e"}))
    assert info.vocabulary_digest.startswith("file:")
    assert info.vocabulary_tokens == 12


@pytest.mark.parametrize("mode", ["affine", "mxfp4", "plain"])
def test_the_count_is_the_one_of_mlx_lm(tmp_path: Path, mode: str) -> None:
    """Real weights, written by mlx: shapes, dtypes and the header's layout are not ours."""
    utils = pytest.importorskip("mlx_lm.utils")
    config = pytest.importorskip("tests.helpers.tiny_models").qwen3_config()
    model_class, arguments = utils._get_classes(config)
    model = model_class(arguments.from_dict(config))
    if mode != "plain":
        size, bits = (32, 4) if mode == "mxfp4" else (64, 3)
        model, config = utils.quantize_model(model, config, size, bits, mode=mode)
    utils.save_model(tmp_path / "m", model)
    weights = (tmp_path / "m" / "model.safetensors").read_bytes()
    folder = write_folder(tmp_path / "m", model_files(config) | {"model.safetensors": weights})
    info = inspect_model(folder)
    assert info.parameters == utils.get_total_parameters(model)
    assert info.bits == {"affine": 3.0, "mxfp4": 4.0, "plain": None}[mode]
    assert info.quantization == {"affine": "", "mxfp4": "MXFP4", "plain": ""}[mode]


def test_the_remapping_is_the_one_of_mlx_lm() -> None:
    utils = pytest.importorskip("mlx_lm.utils")
    by_architecture = {model_type: name for (model_type, _), name in utils.MODEL_ARCHITECTURE_REMAPPING.items()}
    assert utils.MODEL_REMAPPING | by_architecture == SAME_AS


# Which model can draft for which.


LARGE = {**TENSORS, "model.layers.0.weight": ("F32", (64, 64))}


def pair(tmp_path: Path, draft_tokens: dict[str, int]) -> tuple[ModelInfo, ModelInfo]:
    main = write_folder(tmp_path / "main", model_files(tensors=LARGE))
    draft = write_folder(tmp_path / "draft", model_files({"vocab_size": 99}, tokens=draft_tokens))
    return inspect_model(main), inspect_model(draft)


def test_a_smaller_model_with_the_same_tokens_may_draft_but_none_for_itself(tmp_path: Path) -> None:
    main, draft = pair(tmp_path, TOKENS)
    assert draft_problem(main, draft) is None
    assert token_map(Path(main.folder), Path(draft.folder)) is None
    (tmp_path / "other-name").symlink_to(main.folder)
    same = replace(main, folder=str(tmp_path / "other-name"))
    assert isinstance(draft_problem(main, same), DraftIsMain)


def test_another_vocabulary_is_not_known_to_fit(tmp_path: Path) -> None:
    main, draft = pair(tmp_path, {"a": 0, "b": 1, "ba": 2, "글": 3})
    problem = draft_problem(main, draft)
    assert isinstance(problem, DraftVocabularyDiffers)
    assert (problem.main_tokens, problem.draft_tokens, problem.shared_tokens) == (5, 5, -1)
    assert may_share_tokens(main, draft)
    assert not may_share_tokens(main, replace(draft, vocabulary_tokens=6))


def test_comparing_all_models_with_each_other_does_not_ask_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred models are ten thousand pairs, and a window waits for them."""
    infos = [model_info(f"/models/M-{number}", 1_000_000_000 + number * 100_000_000) for number in range(30)]
    monkeypatch.setattr(Path, "resolve", lambda _path: pytest.fail("the disk was asked"))
    problems = [draft_problem(main, draft) for main in infos for draft in infos if main is not draft]
    assert problems.count(None) == 30 * 29 // 2
