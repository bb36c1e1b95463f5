"""A model's vision part by its files: its kind and numbers, and how many tokens a picture takes.

No MLX and no pixels: the app asks before anything is loaded. Files are not trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from functools import partial
from math import ceil, floor, inf, isqrt, sqrt
from pathlib import Path
from typing import Any

from engine.api.errors import CannotSee
from engine.api.types import PictureDetail, SightRefusal
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    FileError,
    JsonObject,
    entries,
    object_at,
    positive,
    read_object,
    real,
    whole,
)

PICTURE_CONFIG = "preprocessor_config.json"
_PROCESSOR_CONFIG = "processor_config.json"  # newer folders have the same as its "image_processor"
_LARGEST_PATCH = 64
_LARGEST_MERGE = 8
_WIDEST = 16_384
_MOST_HEADS = 256
_DEEPEST = 256
_MOST_PIXELS = 1 << 26
_STEEPEST = 200  # largest aspect ratio, as in Qwen's own code
_WORK_ROWS = 12  # rows of the tower's width that its forward holds for each patch, at most
# at once, where attention is not fused: at most, and a multiple of
_QUERIES = 512
_ALIKE = 64
_SCORES = _QUERIES * 5120  # of a head at once: of the largest picture of normal detail
_DEPTHS = ("depth", "num_hidden_layers")
_TILES = {"tile_size": 512, "min_tiles": 2, "max_tiles": 10}
_MOST_TILES = 64
_AS_CLIP = {
    "image_mean": (0.48145466, 0.4578275, 0.40821073),
    "image_std": (0.26862954, 0.26130258, 0.27577711),
}


class Tower(StrEnum):
    """A kind of vision tower: a network that turns pixels into rows of embeddings."""

    QWEN = "qwen"  # Qwen3's
    QWEN2 = "qwen2"
    QWEN25 = "qwen2.5"
    SIGLIP = "siglip"  # Gemma 3's
    GEMMA4 = "gemma4"
    GEMMA4_UNIFIED = "gemma4_unified"  # no network: a linear map of patches
    PIXTRAL = "pixtral"  # Mistral's
    SIGLIP2 = "siglip2"  # LFM2's


class Mutual(StrEnum):
    """Where a picture's tokens attend to all others of it, not only to earlier ones."""

    NO = "no"
    EVERYWHERE = "everywhere"
    IN_WINDOWS = "in_windows"  # in layers with a sliding window, within that window


class Filter(IntEnum):
    """A resizing filter, by Pillow's numbers."""

    BILINEAR = 2
    BICUBIC = 3


@dataclass(frozen=True, slots=True)
class Tiling:
    """Large pictures are cut into squares; these are encoded one by one, and then the whole picture made small."""

    side: int  # in pixels
    least: int  # squares
    most: int
    beyond: float  # how much larger than the largest picture that is encoded whole

    def grid(self, width: int, height: int, most: int) -> tuple[int, int]:
        """(columns, rows) of at most `most` squares, about the shape of the picture."""
        chosen = (1, 1)
        least = inf
        for count in range(self.least, min(self.most, most) + 1):
            for columns in (each for each in range(1, count + 1) if count % each == 0):
                grid = columns, count // columns
                apart = abs(width / height - grid[0] / grid[1])
                if apart < least or (apart == least and width * height > 0.5 * self.side**2 * count):
                    chosen = grid
                    least = apart
        return chosen


@dataclass(frozen=True, slots=True)
class VisionConfig:
    """Numbers of a model's vision part."""

    tower: Tower
    vision: JsonObject = field(repr=False)
    placeholder: int  # token that stands for a row of a picture in prompts
    patch: int  # side, in pixels
    merge: int  # patches on the side of one token
    frames: int  # a picture counts as this many equal frames
    least_pixels: int
    most_pixels: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    resample: Filter
    square: int = 0  # side that every picture is resized to; 0: each keeps its shape
    written: int = -1  # token that templates write for a picture; -1: the placeholder
    marks: tuple[int, ...] = ()  # tokens (begin, end) around a picture, which templates do not write
    lines: str = ""  # text around these
    mutual: Mutual = Mutual.NO
    stand_in: int = -1  # token that networks are given for each row; -1: the placeholder
    largest: bool = False  # small pictures are enlarged to the limits
    edge: int = 0  # the longest side, in pixels, of pictures that are only made smaller; 0: no such limit
    breaks: tuple[str, ...] = ()  # tokens among a picture's: after each row, and after the last
    tiling: Tiling | None = None

    @property
    def readable(self) -> int:
        return self.placeholder if self.stand_in < 0 else self.stand_in

    def size(self, width: int, height: int, detail: PictureDetail) -> tuple[int, int]:
        """(width, height) that a picture is resized to: whole tokens, about the same shape, within the limits."""
        if self.square:
            return self.square, self.square
        if self.largest:
            return self._as_large_as_may_be(width, height, detail)
        if self.edge:
            return self._within_edge(width, height, detail)
        side = self.patch * self.merge
        most = max(side**2, min(self.most_pixels, detail.most_tokens * side**2))
        if max(width, height) > _STEEPEST * min(width, height):  # a strip becomes a thicker one
            least = ceil(max(width, height) / _STEEPEST)
            width = max(width, least)
            height = max(height, least)
        wide, high = (max(side, round(each / side) * side) for each in (width, height))
        if wide * high > most:
            shrink = sqrt(width * height / most)
            wide, high = (max(side, floor(each / shrink / side) * side) for each in (width, height))
        elif wide * high < self.least_pixels:
            grow = sqrt(self.least_pixels / (width * height))
            wide, high = (ceil(each * grow / side) * side for each in (width, height))
        return wide, high

    def _as_large_as_may_be(self, width: int, height: int, detail: PictureDetail) -> tuple[int, int]:
        side = self.patch * self.merge
        tokens = {PictureDetail.LOW: 140, PictureDetail.HIGH: 1120}.get(detail, self.most_pixels // side**2)
        grown = sqrt(tokens * side**2 / (width * height))
        wide, high = (floor(grown * each / side) for each in (width, height))
        if not high:
            wide = min(width // height, tokens)
        if not wide:
            high = min(height // width, tokens)
        return max(1, wide) * side, max(1, high) * side

    def _within_edge(self, width: int, height: int, detail: PictureDetail) -> tuple[int, int]:
        side = self.patch * self.merge
        shrink = max(1.0, max(width, height) / self.edge)
        wide, high = (max(1, ceil(floor(each / shrink) / side)) for each in (width, height))
        if wide * high > detail.most_tokens:
            shrink = sqrt(wide * high / detail.most_tokens)
            wide, high = (max(1, floor(each / shrink)) for each in (wide, high))
        return wide * side, high * side

    def tokens(self, width: int, height: int, detail: PictureDetail) -> int:
        """Number of tokens of a picture of this size, words among them included."""
        return sum(part if isinstance(part, int) else 1 for part in self.layout(width, height, detail))

    def tiles(self, width: int, height: int, detail: PictureDetail) -> tuple[int, int]:
        """(columns, rows) of squares that it is cut into; (1, 1): it is encoded whole."""
        tiling = self.tiling
        side = self.patch * self.merge
        if tiling is None:
            return 1, 1
        wide, high = (max(self.patch, round(each / side) * side) for each in (width, height))
        if wide * high <= self.most_pixels * tiling.beyond:
            return 1, 1
        left = detail.most_tokens - self.most_pixels // side**2
        return tiling.grid(width, height, left // (tiling.side // side) ** 2)

    def layout(self, width: int, height: int, detail: PictureDetail) -> list[str | int]:
        """A picture's rows in the tower's order (numbers), and the words between them."""
        side = self.patch * self.merge
        across, down = self.tiles(width, height, detail)
        columns, rows = (each // side for each in self.size(width, height, detail))
        if self.breaks:
            return [part for row in range(rows) for part in (columns, self.breaks[row == rows - 1])]
        whole: list[str | int] = [rows * columns]
        if self.tiling is None:
            return whole
        if (across, down) != (1, 1):
            words = (f"<|img_row_{row + 1}_col_{column + 1}|>" for row in range(down) for column in range(across))
            squares = (part for word in words for part in (word, (self.tiling.side // side) ** 2))
            whole = [*squares, "<|img_thumbnail|>", *whole]
        return ["<|image_start|>", *whole, "<|image_end|>"]


def encoding_bytes(config: VisionConfig, patches: int = 0) -> int:
    """Memory of the tower's forward, in 32 bits. 0 patches: those of the largest picture of normal detail."""
    most = PictureDetail.NORMAL.most_tokens * config.merge**2
    patches = patches or min(most, config.most_pixels // config.patch**2)
    heads = max(1, whole(config.vision, "num_heads") or whole(config.vision, "num_attention_heads"))
    return 4 * patches * (_WORK_ROWS * positive(config.vision, "hidden_size") + heads * queries_at_once(patches))


def queries_at_once(patches: int) -> int:
    """Number of queries at a time, where a tower attends to all patches: all scores at once would take gigabytes."""
    return max(_ALIKE, min(_QUERIES, _SCORES // patches // _ALIKE * _ALIKE))


def picture_tokens(folder: str, width: int, height: int, detail: PictureDetail = PictureDetail.NORMAL) -> int:
    """How many tokens a picture of this size takes in prompts to the model in `folder`. Raises CannotSee."""
    return read_vision_config(folder).tokens(width, height, detail)


def sight_refusal(config: JsonObject, tensors: Iterable[str]) -> SightRefusal | None:
    """Why a model with this config and these tensor names cannot see pictures; None: it can."""
    if not object_at(config, "vision_config"):
        return SightRefusal.TEXT_ONLY
    tower = tower_of(config)
    if tower is None:
        return SightRefusal.UNKNOWN_FAMILY
    names = {tower_name(tower, name) for name in tensors}
    return None if _KINDS[tower].first in names else SightRefusal.LEFT_OUT


def tower_of(config: JsonObject) -> Tower | None:
    kind = str(config.get("model_type"))
    others = kind == "llava" and object_at(config, "vision_config").get("model_type") != "pixtral"
    return None if others else _TOWERS.get(kind)


def tower_name(tower: Tower | None, name: str) -> str:
    """A tensor's name within the tower; "": it belongs to something else."""
    prefixes = _KINDS[tower].prefixes if tower is not None else ()
    return next((name[len(prefix) :] for prefix in prefixes if name.startswith(prefix)), "")


def read_vision_config(folder: str) -> VisionConfig:
    """The vision part by the small files alone. Raises CannotSee."""
    path = Path(folder)
    try:
        config = read_object(path / "config.json", CONFIG_LIMIT_BYTES)
        tower = tower_of(config)
        vision = object_at(config, "vision_config")
        if not vision or tower is None:
            raise CannotSee(folder, SightRefusal.UNKNOWN_FAMILY if vision else SightRefusal.TEXT_ONLY)
        return _vision_config(tower, config, vision, _picture_config(path))
    except (FileError, OSError) as error:
        raise CannotSee(folder, SightRefusal.DAMAGED) from error


def _picture_config(path: Path) -> JsonObject:
    if (path / PICTURE_CONFIG).is_file():
        return read_object(path / PICTURE_CONFIG, CONFIG_LIMIT_BYTES)
    if (path / _PROCESSOR_CONFIG).is_file():
        return object_at(read_object(path / _PROCESSOR_CONFIG, CONFIG_LIMIT_BYTES), "image_processor")
    return {}


def _vision_config(tower: Tower, config: JsonObject, vision: JsonObject, given: JsonObject) -> VisionConfig:
    kind = _KINDS[tower]
    vision = {**kind.usual, **vision}
    width = vision["hidden_size"] = positive(vision, kind.width)
    heads, depth = ((_either(vision, *names)) for names in (("num_heads", "num_attention_heads"), _DEPTHS))
    if width > _WIDEST or heads > _MOST_HEADS or depth > _DEEPEST or width % heads or width // heads % 4:
        raise FileError(f"config.json: a vision part of {depth} layers, {width} wide, {heads} heads")
    return kind.read(config, vision, given)


def _siglip(config: JsonObject, vision: JsonObject, given: JsonObject) -> VisionConfig:
    patch = positive(vision, "patch_size")
    side = positive(vision, "image_size")
    tokens = isqrt(max(0, whole(config, "mm_tokens_per_image", 256)))
    merge = side // patch // max(1, tokens)
    if merge < 1 or merge * tokens * patch != side or side**2 > _MOST_PIXELS or merge > _LARGEST_MERGE:
        raise FileError(f"config.json: {tokens} tokens a side for pictures of {side}")
    marks = positive(config, "boi_token_index"), positive(config, "eoi_token_index")
    placeholder = _either(config, "image_token_index", "image_token_id")
    mean, std = (_channels(given, key) for key in ("image_mean", "image_std"))
    resample = _filter(given, Filter.BILINEAR)
    limits = side**2, side**2
    common = (Tower.SIGLIP, vision, placeholder, patch, merge, 1, *limits, mean, std, resample, side)
    return VisionConfig(*common, written=marks[0], marks=marks, lines="\n\n", mutual=Mutual.EVERYWHERE)


def _gemma4(config: JsonObject, vision: JsonObject, given: JsonObject) -> VisionConfig:
    patch = positive(vision, "patch_size")
    merge = whole(vision, "pooling_kernel_size", 3)
    tokens = whole(given, "max_soft_tokens", 280)
    if not (patch <= _LARGEST_PATCH and 1 <= merge <= _LARGEST_MERGE and 1 <= tokens <= 1120):
        raise FileError(f"{PICTURE_CONFIG}: {tokens} tokens of {merge} patches of {patch}")
    marks = positive(config, "boi_token_id"), positive(config, "eoi_token_id")
    most = tokens * (patch * merge) ** 2
    attends = object_at(config, "text_config").get("use_bidirectional_attention")
    if attends not in (None, "vision"):
        raise FileError(f"config.json: use_bidirectional_attention {str(attends)[:20]}")
    common = (Tower.GEMMA4, vision, positive(config, "image_token_id"), patch, merge, 1, most, most)
    levels = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
    mutual = Mutual.IN_WINDOWS if attends else Mutual.NO
    resample = _filter(given, Filter.BICUBIC)
    return VisionConfig(*common, *levels, resample, marks=marks, mutual=mutual, stand_in=0, largest=True)


def _gemma4_unified(config: JsonObject, vision: JsonObject, given: JsonObject) -> VisionConfig:
    """Patches of this model are as large as the tokens of other Gemma 4."""
    usual = {"max_soft_tokens": whole(vision, "num_soft_tokens", 280)}
    text = {"use_bidirectional_attention": "vision", **object_at(config, "text_config")}
    common = _gemma4({**config, "text_config": text}, vision, {**usual, **given})
    whole_levels = replace(common, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    return replace(whole_levels, tower=Tower.GEMMA4_UNIFIED, patch=common.patch * common.merge, merge=1)


def _pixtral(config: JsonObject, vision: JsonObject, given: JsonObject) -> VisionConfig:
    patch = positive(vision, "patch_size")
    most = positive(vision, "image_size")
    merge = whole(config, "spatial_merge_size", 2 if config.get("model_type") == "mistral3" else 1)
    edge = whole(object_at(given, "size"), "longest_edge", most)
    if not (patch <= _LARGEST_PATCH and 1 <= merge <= _LARGEST_MERGE and patch * merge <= edge):
        raise FileError(f"{PICTURE_CONFIG}: {edge} pixels for tokens of {merge} patches of {patch}")
    if edge**2 > _MOST_PIXELS or whole(config, "vision_feature_layer", -1) != -1:
        raise FileError(f"config.json: pictures of {edge} pixels, or another layer than the last")
    placeholder = _either(config, "image_token_index", "image_token_id")
    mean, std = (_channels(given, key, usual) for key, usual in _AS_CLIP.items())
    vision["norm_eps"] = real(object_at(config, "text_config"), "rms_norm_eps", 1e-5)
    common = (Tower.PIXTRAL, vision, placeholder, patch, merge, 1, 1, edge**2, mean, std)
    return VisionConfig(*common, _filter(given, Filter.BICUBIC), edge=edge, breaks=("[IMG_BREAK]", "[IMG_END]"))


def _qwen(tower: Tower, config: JsonObject, vision: JsonObject, given: JsonObject) -> VisionConfig:
    patch = positive(vision, "patch_size")
    merge = positive(vision, "spatial_merge_size")
    size = object_at(given, "size")  # its edges are counts of pixels, despite their names
    least = whole(given, "min_pixels") or whole(size, "shortest_edge") or 56 * 56
    most = whole(given, "max_pixels") or whole(size, "longest_edge") or 28 * 28 * 1280
    if not (patch <= _LARGEST_PATCH and merge <= _LARGEST_MERGE and 1 <= least <= most <= _MOST_PIXELS):
        raise FileError(f"{PICTURE_CONFIG}: patches of {patch}, {least} to {most} pixels")
    placeholder = _either(config, "image_token_id", "image_token_index")
    frames = positive(vision, "temporal_patch_size")
    if frames > 2 or whole(vision, "in_channels", 3) != 3:
        raise FileError("config.json: vision_config is for other pictures")
    mean, std = (_channels(given, key) for key in ("image_mean", "image_std"))
    resample = _filter(given, Filter.BICUBIC)
    return VisionConfig(tower, vision, placeholder, patch, merge, frames, least, most, mean, std, resample)


def _siglip2(config: JsonObject, vision: JsonObject, given: JsonObject) -> VisionConfig:
    given = {**config, **given}
    patch = positive(vision, "patch_size")
    merge = whole(config, "downsample_factor", 2)
    least = whole(given, "min_image_tokens", 64)
    most = whole(given, "max_image_tokens", 256)
    side, fewest, squares = (whole(given, name, usual) for name, usual in _TILES.items())
    token = (patch * merge) ** 2
    if not (patch <= _LARGEST_PATCH and 1 <= merge <= _LARGEST_MERGE and 1 <= least <= most <= _MOST_PIXELS // token):
        raise FileError(f"config.json: {least} to {most} tokens of {merge} patches of {patch}")
    if not 1 <= fewest <= squares <= _MOST_TILES or side < 1 or side % (patch * merge):
        raise FileError(f"config.json: {fewest} to {squares} tiles of {side}")
    if squares * side**2 > _MOST_PIXELS:
        raise FileError(f"config.json: {squares} tiles of {side}")
    # `do_image_splitting` is ignored: MLX's folders say no, because their first program did not support it.
    tiling = Tiling(side, fewest, squares, max(1.0, real(given, "max_pixels_tolerance", 2.0)))
    placeholder = _either(config, "image_token_id", "image_token_index")
    mean, std = (_channels(given, key) for key in ("image_mean", "image_std"))
    limits = least * token, most * token
    common = (Tower.SIGLIP2, vision, placeholder, patch, merge, 1, *limits, mean, std)
    return VisionConfig(*common, _filter(given, Filter.BILINEAR), tiling=tiling)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is particular to a tower's files."""

    families: tuple[str, ...]  # of models that have it
    prefixes: tuple[str, ...]  # of its tensors, by Hugging Face's and MLX's names
    first: str  # a tensor that every such tower has
    read: Callable[[JsonObject, JsonObject, JsonObject], VisionConfig]
    width: str = "hidden_size"
    usual: Mapping[str, int] = field(default_factory=dict)  # numbers that configs may leave out


_OF_QWEN = ("model.visual.", "visual.", "vision_tower.", "model.language_model.visual."), "patch_embed.proj.weight"
_EMBEDDER = ("model.embed_vision.", "embed_vision.")
_WITH_PROJECTOR = (
    *("model.vision_tower.vision_model.", "vision_tower.vision_model.", "model.vision_tower.", "vision_tower."),
    *("model.multi_modal_projector.", "multi_modal_projector."),
)
_PATCHES = "embeddings.patch_embedding.weight"
_OF_PIXTRAL = {"num_hidden_layers": 24, "num_attention_heads": 16, "patch_size": 16}
_OF_PIXTRAL |= dict.fromkeys(("hidden_size", "image_size"), 1024)
_KINDS: Mapping[Tower, _Kind] = {
    Tower.QWEN: _Kind(("qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"), *_OF_QWEN, partial(_qwen, Tower.QWEN)),
    Tower.QWEN2: _Kind(("qwen2_vl",), *_OF_QWEN, partial(_qwen, Tower.QWEN2), "embed_dim"),
    Tower.QWEN25: _Kind(("qwen2_5_vl",), *_OF_QWEN, partial(_qwen, Tower.QWEN25)),
    Tower.SIGLIP: _Kind(("gemma3",), ("vision_tower.vision_model.", "multi_modal_projector."), _PATCHES, _siglip),
    Tower.GEMMA4: _Kind(
        ("gemma4",), ("model.vision_tower.", "vision_tower.", *_EMBEDDER), "patch_embedder.input_proj.weight", _gemma4
    ),
    Tower.GEMMA4_UNIFIED: _Kind(
        *(("gemma4_unified",), ("model.vision_embedder.", "vision_embedder.", *_EMBEDDER), "patch_dense.weight"),
        *(_gemma4_unified, "mm_embed_dim", {"num_heads": 1, "depth": 1}),
    ),
    Tower.PIXTRAL: _Kind(
        ("mistral3", "pixtral", "llava"), _WITH_PROJECTOR, "patch_conv.weight", _pixtral, usual=_OF_PIXTRAL
    ),
    Tower.SIGLIP2: _Kind(("lfm2-vl",), _WITH_PROJECTOR, _PATCHES, _siglip2),
}
_TOWERS = {family: tower for tower, kind in _KINDS.items() for family in kind.families}


def _either(config: JsonObject, *names: str) -> int:
    return next((positive(config, name) for name in names if name in config), 0) or positive(config, names[0])


def _filter(given: JsonObject, usual: Filter) -> Filter:
    value = whole(given, "resample", usual)
    if value not in tuple(Filter):
        raise FileError(f"{PICTURE_CONFIG}: resample {value}")
    return Filter(value)


def _channels(given: Mapping[str, Any], key: str, usual: tuple[float, ...] = (0.5, 0.5, 0.5)) -> tuple[float, ...]:
    values = entries(given, key) or usual
    numbers = tuple(real({key: value}, key, 0.5) for value in values)
    if len(numbers) != 3 or (key == "image_std" and min(numbers) < 1e-6):
        raise FileError(f"{PICTURE_CONFIG}: {key}")
    return numbers
