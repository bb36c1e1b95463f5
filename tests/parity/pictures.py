"""Pictures: our towers and hooks on mlx-lm's text networks beside mlx-vlm's own networks, on the same weights.

And what towers are given, beside transformers' image processors: at most one level of 255 apart.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mlx.core as mx
import numpy as np
from PIL import Image

from engine import PictureDetail, Request
from engine.decoding.accept import integers
from engine.decoding.prompt import prompt_tokens
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from engine.models.vision_config import VisionConfig, read_vision_config
from engine.vision.pixels import patches_of
from engine.vision.seeing import ModelVision, SequencePictures
from engine.vision.towers import siglip2
from engine.vision.values import FIRST_NAME, PictureSpan, spans_in
from tests.helpers.loading import load_model
from tests.helpers.tiny_eyes import asked, picture, save_seeing

_PICTURES = (picture(40, 30), picture(70, 30, seed=1))
_GENERATED = 12

Case = tuple[str, int, int, float]


def picture_cases() -> Iterator[Case]:
    """Logits are compared as shares of the largest."""
    with TemporaryDirectory() as folder:
        for kind in ("qwen3_vl", "qwen3_5", "qwen2_vl", "qwen2_5_vl", "lfm2-vl"):
            model = load_model(save_seeing(kind, Path(folder) / kind))
            request = Request(messages=(asked("What is it?", *_PICTURES), asked("And now?")))
            tokens = prompt_tokens(request, model)
            assert model.vision is not None
            spans = spans_in(tokens, _PICTURES, model.vision, request.picture_detail)
            theirs = _Theirs(kind, Path(folder) / kind, model, tokens, spans)
            features = [_drained(ModelVision.of(model).rows(span)) for span in spans]
            yield f"pictures, tower of {kind}", len(spans), 0, theirs.apart(features)
            logits, greedy = _ours(model, tokens, spans)
            others, their_greedy = theirs.logits()
            apart = float(mx.abs(logits - others).max() / mx.abs(others).max())
            yield f"pictures, logits of {kind}", len(tokens), int(greedy != their_greedy), apart
        for kind in _GIVEN:
            yield _beside_transformers(kind, Path(folder) / kind)
        yield _preprocessing(Path(folder), "qwen3_vl")
        yield _preprocessing(Path(folder), "mistral3")
        yield _preprocessing(Path(folder), "lfm2-vl")
        yield _preprocessing(Path(folder), "gemma3")
        yield _preprocessing(Path(folder), "gemma4")


def _ours(model: LoadedModel, tokens: list[int], spans: list[PictureSpan]) -> tuple[mx.array, list[int]]:
    sequence = Sequence(model, [*tokens, 0])
    sequence.pictures = view = SequencePictures(ModelVision.of(model), spans)
    while not view.has_rows(0, len(tokens)):
        view.encode(0, len(tokens))
    logits = sequence.feed(mx.array(tokens))
    sequence.close_step(len(tokens))
    newest, generated = logits[-1], list[int]()
    for _ in range(_GENERATED):
        generated.extend(integers(mx.argmax(newest, keepdims=True)))
        newest = sequence.feed(mx.array(generated[-1:]))[0]
        sequence.close_step(1)
    return logits, generated


def their_network(kind: str, folder: Path) -> Any:
    """mlx-vlm's, with the folder's weights."""
    package = importlib.import_module(f"mlx_vlm.models.{kind.replace('-', '_')}")
    numbers = json.loads((folder / "config.json").read_text())
    config = package.ModelConfig.from_dict(numbers["text_config"] | numbers)  # Qwen2.5's stand at the top
    for part in ("Text", "Vision"):
        name = f"{part.lower()}_config"
        if isinstance(given := getattr(config, name), dict):
            setattr(config, name, getattr(package, f"{part}Config").from_dict(given))
    network = package.Model(config)
    weights: Any = mx.load(str(folder / "model.safetensors"))
    network.load_weights([pair for pair in weights.items() if not pair[0].startswith("mtp.")], strict=True)
    return network


class _Theirs:
    def __init__(
        self, kind: str, folder: Path, model: LoadedModel, tokens: list[int], spans: list[PictureSpan]
    ) -> None:
        self._model = their_network(kind, folder)
        assert model.vision is not None
        self._ids = mx.array([_their_tokens(model, tokens, spans)])
        self._spans = spans
        pixels = (_in_views if kind == "lfm2-vl" else _with_grids)(spans, model.vision)
        self._given = self._model.get_input_embeddings(self._ids, **pixels).to_dict()

    def apart(self, features: list[list[mx.array]]) -> float:
        """The largest difference of what the towers made of the pictures."""
        embedded = self._given["inputs_embeds"][0]
        theirs = [mx.concatenate([embedded[span.start : span.end] for span in self._spans])]
        if (deeper := self._given.get("deepstack_visual_embeds")) is not None:
            theirs.extend(deeper)
        ours = [mx.concatenate(list(rows)) for rows in zip(*features, strict=True)]
        return max(float(mx.abs(one - other).max()) for one, other in zip(ours, theirs, strict=True))

    def logits(self) -> tuple[mx.array, list[int]]:
        network = self._model.language_model
        cache = importlib.import_module("mlx_vlm.models.cache").make_prompt_cache(network)
        given = {name: value for name, value in self._given.items() if value is not None}
        logits = network(self._ids, cache=cache, **given).logits[0]
        newest, generated = logits[-1], list[int]()
        for _ in range(_GENERATED):
            generated.extend(integers(mx.argmax(newest, keepdims=True)))
            said = network(mx.array([generated[-1:]]), cache=cache, rope_deltas=given.get("rope_deltas"))
            newest = said.logits[0, -1]
        return logits, generated


def _beside_transformers(kind: str, folder: Path) -> Case:
    """Gemma's: in mlx-vlm the tokens of a picture see one another nowhere, or in too many layers."""
    model = load_model(save_seeing(kind, folder))
    request = Request(messages=(asked("What is it?", *_PICTURES), asked("And now?")))
    tokens = prompt_tokens(request, model)
    assert model.vision is not None
    spans = spans_in(tokens, _PICTURES, model.vision, request.picture_detail)
    logits, greedy = _ours(model, tokens, spans)
    network, torch = _transformers_network(kind, folder), importlib.import_module("torch")
    pixels = {name: torch.tensor(np.stack(arrays)) for name, arrays in _GIVEN[kind](spans, model.vision).items()}
    kinds = {"gemma3": "token_type_ids"}.get(kind, "mm_token_type_ids" if "gemma4" in kind else "")
    place, generated = model.vision.placeholder, list[int]()
    firsts: list[Any] = []
    ids = _their_tokens(model, tokens, spans)
    with torch.no_grad():
        for _ in range(_GENERATED):
            marked = {kinds: torch.tensor([[int(token == place) for token in ids]])} if kinds else {}
            if kind == "gemma4-unified":  # its forward alone makes other masks than its `generate`
                marked["attention_mask"] = _generating_masks(network, len(ids), marked[kinds])
            said = network(input_ids=torch.tensor([ids]), **pixels, **marked).logits[0]
            firsts.append(said.numpy())
            generated.append(int(said[-1].argmax()))
            ids = [*ids, generated[-1]]
    apart = float(np.abs(firsts[0] - np.array(logits)).max() / np.abs(firsts[0]).max())
    return f"pictures, logits of {kind}", len(tokens), int(greedy != generated), apart


def _generating_masks(network: Any, count: int, kinds: Any) -> Any:
    torch = importlib.import_module("torch")
    rows, places = torch.zeros(1, count, 1), torch.arange(count)[None]
    return network.create_masks_for_generate(network.config, rows, None, None, places, mm_token_type_ids=kinds)


def _square(spans: list[PictureSpan], vision: VisionConfig) -> dict[str, list[Any]]:
    side, patch = vision.square // vision.patch, vision.patch
    parts = (patches_of(span, vision).reshape(side, side, 3, patch, patch) for span in spans)
    return {"pixel_values": [part.transpose(2, 0, 3, 1, 4).reshape(3, side * patch, -1) for part in parts]}


def _with_grids(spans: list[PictureSpan], vision: VisionConfig) -> dict[str, mx.array]:
    grid = [[1, span.rows * vision.merge, span.columns * vision.merge] for span in spans]
    patches = np.concatenate([patches_of(span, vision) for span in spans])
    return {"pixel_values": mx.array(patches), "image_grid_thw": mx.array(grid)}


def _in_views(spans: list[PictureSpan], vision: VisionConfig) -> dict[str, mx.array]:
    """Padded to the most patches, channels pixel by pixel."""
    views, shapes = list[Any](), list[tuple[int, int]]()
    for span in spans:
        patches = patches_of(span, vision)
        patches = patches.reshape(-1, 3, vision.patch**2).transpose(0, 2, 1).reshape(patches.shape)
        sizes = siglip2.views(vision, span)
        views += np.split(patches, np.cumsum([rows * columns for rows, columns in sizes])[:-1])
        shapes += sizes
    most = max(len(view) for view in views)
    within = [np.arange(most) < len(view) for view in views]
    padded = [np.pad(view, ((0, most - len(view)), (0, 0))) for view in views]
    return {
        "pixel_values": mx.array(np.stack(padded)),
        "spatial_shapes": mx.array(shapes),
        "pixel_attention_mask": mx.array(np.stack(within).astype(np.int32)),
    }


def _their_tokens(model: LoadedModel, tokens: list[int], spans: list[PictureSpan]) -> list[int]:
    """The placeholder for a picture's rows, and the tokens of words among them."""
    assert model.vision is not None
    ids = [model.vision.placeholder if token >= FIRST_NAME else token for token in tokens]
    for span in spans:
        parts = (
            [model.vision.placeholder] * part
            if isinstance(part, int)
            else model.tokenizer.convert_tokens_to_ids([part])
            for part in span.layout
        )
        ids[span.start : span.end] = [token for part in parts for token in part]
    return ids


def _whole(spans: list[PictureSpan], vision: VisionConfig) -> dict[str, list[Any]]:
    """Padded to the largest."""
    patch, pictures = vision.patch, list[Any]()
    for span in spans:
        parts = patches_of(span, vision).reshape(span.height // patch, span.width // patch, 3, patch, patch)
        pictures.append(parts.transpose(2, 0, 3, 1, 4).reshape(3, span.height, span.width))
    high, wide = (max(picture.shape[side] for picture in pictures) for side in (1, 2))
    padded = [np.pad(each, ((0, 0), (0, high - each.shape[1]), (0, wide - each.shape[2]))) for each in pictures]
    return {"pixel_values": padded, "image_sizes": [(span.height, span.width) for span in spans]}


def _in_large_patches(spans: list[PictureSpan], vision: VisionConfig) -> dict[str, list[Any]]:
    levels = replace(vision, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))  # which `_in_patches` undoes
    return _in_patches(spans, levels)


def _in_patches(spans: list[PictureSpan], vision: VisionConfig) -> dict[str, list[Any]]:
    """Padded to the most patches, channels pixel by pixel."""
    most = vision.most_pixels // vision.patch**2
    pixels, places = [], []
    for span in spans:
        patches = patches_of(span, vision) * 0.5 + 0.5
        patches = patches.reshape(-1, 3, vision.patch**2).transpose(0, 2, 1).reshape(patches.shape)
        rows, columns = np.divmod(np.arange(len(patches)), span.columns * vision.merge)
        left = ((0, most - len(patches)), (0, 0))
        pixels.append(np.pad(patches, left))
        places.append(np.pad(np.stack([columns, rows], axis=-1), left, constant_values=-1))
    return {"pixel_values": pixels, "image_position_ids": places}


_GIVEN = {
    "gemma3": _square,
    "gemma4": _in_patches,
    "gemma4-large": _in_patches,
    "gemma4-unified": _in_large_patches,
    "mistral3": _whole,
    "pixtral": _whole,
}
_CLASSES = {
    "gemma4-large": "Gemma4",
    "gemma4-unified": "Gemma4Unified",
    "pixtral": "Llava",
}


def _transformers_network(kind: str, folder: Path) -> Any:
    """Their network with the folder's weights."""
    transformers, torch = importlib.import_module("transformers"), importlib.import_module("torch")
    config = json.loads((folder / "config.json").read_text())
    text = config["text_config"] = {"vocab_size": config.get("vocab_size")} | config["text_config"]
    if kind == "gemma3":
        pattern, bases = text["sliding_window_pattern"], (text.pop("rope_theta"), text["rope_local_base_freq"])
        names = ("full_attention", "sliding_attention")
        text["layer_types"] = [names[(layer + 1) % pattern > 0] for layer in range(text["num_hidden_layers"])]
        ropes = ({"rope_type": "default", "rope_theta": base} for base in bases)
        text["rope_parameters"] = dict(zip(names, ropes, strict=True))
    elif "gemma4" in kind:
        text["final_logit_softcapping"], config["audio_config"] = 30.0, None
    else:
        text["rope_parameters"] = {"rope_type": "default", "rope_theta": text.pop("rope_theta")}
    renamed = dict(_RENAMED)
    if kind == "gemma4-unified":
        text["model_type"] = "gemma4_unified_text"
        renamed["embed_vision.embedding"] = "embed_vision.multimodal_embedder.embedding"
    family = _CLASSES.get(kind, kind.capitalize())
    left_out = ("model_type", "vocab_size", "hidden_size", *(_IDS if family in ("Mistral3", "Llava") else ()))
    given = {name: value for name, value in config.items() if name not in left_out}
    theirs = getattr(transformers, f"{family}Config")(**given)
    network = getattr(transformers, f"{family}ForConditionalGeneration")(theirs).eval()
    weights: Any = mx.load(str(folder / "model.safetensors"))
    left = network.load_state_dict(
        {
            _plain(name, renamed): torch.tensor(_in_their_order(name, np.array(weight)))
            for name, weight in weights.items()
        },
        strict=False,
    )
    assert not left.unexpected_keys, left.unexpected_keys
    assert all("vision_tower.head" in name for name in left.missing_keys), left.missing_keys
    return network


_IDS = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
_RENAMED = {
    "language_model.model.": "language_model.",
    "vision_model.": "",
    "vision_embedder.": "embed_vision.",
}


def _plain(name: str, renamed: Mapping[str, str]) -> str:
    for ours, theirs in renamed.items():
        name = name.replace(ours, theirs)
    return name.removeprefix("language_model.") if "lm_head" in name else f"model.{name}"


def _in_their_order(name: str, weight: Any) -> Any:
    return weight.transpose(0, 3, 1, 2) if re.search("patch_(embedding|conv).weight", name) else weight


def _drained(work: Generator[None, None, list[mx.array]]) -> list[mx.array]:
    while True:
        try:
            next(work)
        except StopIteration as done:
            rows: list[mx.array] = done.value
            return rows


def _preprocessing(folder: Path, kind: str) -> Case:
    """Levels apart, beyond one; and the share of samples that differ at all."""
    vision, prepared = read_vision_config(str(folder / kind)), _PREPARED[kind]
    # Pillow 13 resizes the columns of tall pictures first, which is up to two levels away; earlier ones did not.
    sizes = [(40, 30), (300, 200), (75, 100), (7, 5), (500, 41)]
    worst, beyond = 0.0, 0
    for seed, (width, height) in enumerate(sizes):
        given = picture(width, height, seed)
        wide, high = vision.size(width, height, PictureDetail.NORMAL)
        side = vision.patch * vision.merge
        tiles = vision.tiles(width, height, PictureDetail.NORMAL)
        span = PictureSpan(0, 0, given, wide, high, wide // side, high // side, tiles)
        levels = prepared(span, vision, Image.frombytes("RGB", (width, height), given.rgb)) * 255
        beyond += int((levels > 1.5).sum())
        worst = max(worst, float((levels > 0.5).mean()))
    return f"pictures, patches of {kind} ({worst:.2%} of samples a level apart)", len(sizes), beyond, 0.0


def _qwens(span: PictureSpan, vision: VisionConfig, image: Any) -> Any:
    pil = importlib.import_module("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl").Qwen2VLImageProcessorPil
    theirs = pil(
        patch_size=vision.patch, merge_size=vision.merge, image_mean=vision.mean, image_std=vision.std,
        size={"shortest_edge": vision.least_pixels, "longest_edge": vision.most_pixels},
    )(image, return_tensors="np")["pixel_values"]  # fmt: skip
    return np.abs(patches_of(span, vision) - np.asarray(theirs)) * np.repeat(
        vision.std, vision.frames * vision.patch**2
    )


def _mistrals(span: PictureSpan, vision: VisionConfig, image: Any) -> Any:
    pil = importlib.import_module("transformers.models.pixtral.image_processing_pil_pixtral").PixtralImageProcessorPil
    side = vision.patch * vision.merge
    theirs = pil(
        patch_size={"height": side, "width": side}, size={"longest_edge": vision.edge},
        image_mean=vision.mean, image_std=vision.std,
    )(image, return_tensors="np")["pixel_values"][0]  # fmt: skip
    return np.abs(_whole([span], vision)["pixel_values"][0] - theirs) * np.array(vision.std)[:, None, None]


def _lfm2s(span: PictureSpan, vision: VisionConfig, image: Any) -> Any:
    """Beside mlx-vlm's: transformers' needs torchvision."""
    module = importlib.import_module("mlx_vlm.models.lfm2_vl.processing_lfm2_vl")
    assert vision.tiling is not None
    token, limits = (vision.patch * vision.merge) ** 2, ("min_image_tokens", "max_image_tokens")
    theirs = module.Lfm2VlNumpyImageProcessor(
        image_mean=vision.mean, image_std=vision.std, resample=vision.resample, do_pad=False,
        encoder_patch_size=vision.patch, tile_size=vision.tiling.side, max_pixels_tolerance=vision.tiling.beyond,
        **{name: size // token for name, size in zip(limits, (vision.least_pixels, vision.most_pixels), strict=True)},
    )  # fmt: skip
    views = theirs._views_for_image(image, True, vision.tiling.least, vision.tiling.most, True)[0]
    patches = np.concatenate([theirs._view_to_patches(view)[0] for view in views])
    ours = patches_of(span, vision).reshape(-1, 3, vision.patch**2).transpose(0, 2, 1).reshape(patches.shape)
    return np.abs(ours - patches) * np.tile(vision.std, vision.patch**2)


def _gemmas(span: PictureSpan, vision: VisionConfig, image: Any) -> Any:
    pil = importlib.import_module("transformers.models.gemma3.image_processing_pil_gemma3").Gemma3ImageProcessorPil
    theirs = pil(
        size={"height": vision.square, "width": vision.square}, image_mean=vision.mean, image_std=vision.std,
    )(image, return_tensors="np")["pixel_values"][0]  # fmt: skip
    return np.abs(_square([span], vision)["pixel_values"][0] - theirs) * np.array(vision.std)[:, None, None]


def _gemma4s(span: PictureSpan, vision: VisionConfig, image: Any) -> Any:
    module: Any = importlib.import_module("transformers.models.gemma4.image_processing_pil_gemma4")
    most = vision.most_pixels // (vision.patch * vision.merge) ** 2
    module._SUPPORTED_SOFT_TOKENS = (most,)
    pil = module.Gemma4ImageProcessorPil(
        patch_size=vision.patch, pooling_kernel_size=vision.merge, max_soft_tokens=most
    )(image, return_tensors="np")["pixel_values"][0]  # fmt: skip
    return np.abs(_in_patches([span], vision)["pixel_values"][0] - pil)


_PREPARED = {"qwen3_vl": _qwens, "mistral3": _mistrals, "lfm2-vl": _lfm2s, "gemma3": _gemmas, "gemma4": _gemma4s}
