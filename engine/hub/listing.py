"""What a hub's lists of models say, as values. Pure: a hub can be anybody's, so every field is checked and bounded.

A repository whose name no hub could have is left out; any other field that makes no sense is as good as missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from urllib.parse import urlencode

from engine.api.hub import HubKind, HubModel, HubQuery, HubSort
from engine.api.types import DrafterKind, ModelInfo
from engine.hub.repository import is_repository
from engine.models.drafters import drafter_kind
from engine.models.model_files import JsonObject, object_at
from engine.models.names import is_named_after, stem

PAGE = 50
_MOST = 2**53  # beyond that a number of JSON is no longer a whole one
_MOST_TAGS, _MOST_BASES = 500, 4
_FIELDS = ("config", "downloads", "gated", "lastModified", "likes", "safetensors", "tags")
_SORTS = {HubSort.DOWNLOADS: "downloads", HubSort.LIKES: "likes", HubSort.UPDATED: "lastModified"}
_WIDTHS = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
_PACKED, _FULL_BITS = "U32", 16.0
_PLAIN = re.compile(r"[\w.-]{1,60}", re.ASCII)
_SIZE_IN_NAME = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d{1,3})?)([bm])(?![a-z0-9])", re.IGNORECASE)
_BITS_IN_NAME = re.compile(r"(?<!\d)([2-8])-?bit", re.IGNORECASE)
_BASE = re.compile(r"base_model:(?:[a-z]+:)?([^:\s]{3,200})")
_DRAFTER_NAMES = {
    "dflash2": DrafterKind.DFLASH2,
    "dspark": DrafterKind.DSPARK,
    "dflash": DrafterKind.DFLASH,
    "eagle3": DrafterKind.EAGLE3,
    "eagle-3": DrafterKind.EAGLE3,
}
_MTP_NAME = re.compile(r"(?:^|[-_.])mtp(?:$|[-_.])", re.IGNORECASE)
_ASSISTED = "gemma4"  # its heads are called so
_ASSISTANT_NAME = re.compile(r"gemma-?4.*-it-(?:qat-)?assistant\b", re.IGNORECASE)
_HEAD_SHARE = 0.4  # a head alone is smaller than this share of what its name says; a model with its head is larger


def questions(query: HubQuery) -> list[str]:
    """The first page of each list that answers the query, as paths below the hub's address, the most telling first.

    Drafters are seldom tagged as MLX, because they are published as they were trained; so they are asked for by name.
    """
    main = query.drafts_for
    words = f"{query.text} {query.family}".strip()[:200]
    if main is not None:
        head = "assistant" if main.model_type.startswith(_ASSISTED) else "MTP"
        named = [f"{stem(main.name)} {kind}" for kind in ("DFlash", "DSpark", "EAGLE3", head)]
        words = words or re.split(r"[-_]", main.name)[0]
        return [*(_question(query, each, mlx=False) for each in named), _question(query, words, mlx=True)]
    if query.kind is HubKind.DRAFTER:
        return [
            _question(query, f"{words} {kind}".strip(), mlx=False) for kind in ("DFlash", "DSpark", "EAGLE3", "MTP")
        ]
    return [_question(query, words, mlx=True)]


def rank(model: HubModel, query: HubQuery) -> float:
    """By what the lists of a query are sorted, the highest first."""
    return {HubSort.DOWNLOADS: model.downloads, HubSort.LIKES: model.likes, HubSort.UPDATED: model.updated_at}[
        query.sort
    ]


def hub_models(answer: Iterable[object]) -> list[HubModel]:
    return [model for model in map(hub_model, answer) if model is not None]


def hub_model(entry: object) -> HubModel | None:
    """None for what cannot be a repository."""
    if not isinstance(entry, dict):
        return None
    repository = entry.get("id") or entry.get("modelId")
    if not is_repository(repository):
        return None
    name = str(repository).partition("/")[2]
    tags = _tags(entry)
    config = object_at(entry, "config")
    counts = _counts(object_at(entry, "safetensors"))
    bits = _bits(config, tags, name, counts)
    parameters = _parameters(counts, bits) or _size_in(name)
    size_bytes = sum(_WIDTHS.get(kind, 1) * number for kind, number in counts.items())
    estimated_bytes = 0 if size_bytes else round(parameters * (bits or _FULL_BITS) / 8)
    return HubModel(
        repository=str(repository),
        model_type=_plain(config.get("model_type")),
        parameters=parameters,
        bits=bits,
        size_bytes=size_bytes or estimated_bytes,
        size_is_estimated=bool(estimated_bytes),
        downloads=_whole(entry.get("downloads")),
        likes=_whole(entry.get("likes")),
        updated_at=_time(entry.get("lastModified")),
        gated=entry.get("gated") in (True, "auto", "manual"),
        license=_license(tags),
        drafter=_drafter(config, name, size_bytes, bits),
        base_models=_bases(tags),
    )


def is_wanted(model: HubModel, query: HubQuery) -> bool:
    """Whether the model is within the limits of the query. Hubs do not know all of them, and need not keep any."""
    return all(limit(model, query) for limit in _LIMITS)


def drafts_for(model: HubModel, main: ModelInfo) -> bool:
    """Whether it may draft for this main model, as far as a list tells: its drafter, or a smaller one of its family."""
    if model.drafter is not None:
        return is_named_after(model.name, main.name) or stem(main.name) in map(_base_stem, model.base_models)
    family = model.model_type or _family(model.name)
    same = family == (main.model_type if model.model_type else _family(main.name))
    return same and 0 < model.parameters <= main.parameters // 2


# What a query limits


def _by_author(model: HubModel, query: HubQuery) -> bool:
    return not query.author.strip() or model.author.casefold() == query.author.strip().casefold()


def _by_family(model: HubModel, query: HubQuery) -> bool:
    """ "Qwen3" is no family of "Qwen3.5-4B", nor is "Qwen2"."""
    wanted = re.escape(query.family.strip().casefold())
    return re.search(rf"(?<![a-z\d]){wanted}(?!\.\d)", model.name.casefold()) is not None


def _by_bits(model: HubModel, query: HubQuery) -> bool:
    return not query.bits or round(model.bits) == query.bits


def _by_size(model: HubModel, query: HubQuery) -> bool:
    return not query.most_bytes or 0 < model.size_bytes <= query.most_bytes


def _by_kind(model: HubModel, query: HubQuery) -> bool:
    return query.kind is HubKind.ANY or (model.drafter is not None) == (query.kind is HubKind.DRAFTER)


def _by_main(model: HubModel, query: HubQuery) -> bool:
    return query.drafts_for is None or drafts_for(model, query.drafts_for)


_LIMITS: tuple[Callable[[HubModel, HubQuery], bool], ...] = (
    _by_author,
    _by_family,
    _by_bits,
    _by_size,
    _by_kind,
    _by_main,
)


def _question(query: HubQuery, words: str, mlx: bool) -> str:
    """As the hub's own client asks: what comes first is always the highest."""
    asked = [("limit", str(PAGE)), ("sort", _SORTS[query.sort])]
    asked += [("search", words)] if words else []
    asked += [("author", query.author.strip()[:100])] if query.author.strip() else []
    asked += [("filter", "mlx")] if mlx else []
    return "api/models?" + urlencode([*asked, *(("expand", field) for field in _FIELDS)])


# What an entry says


def _whole(value: object) -> int:
    return value if type(value) is int and 0 <= value < _MOST else 0


def _plain(value: object) -> str:
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else ""


def _tags(entry: JsonObject) -> list[str]:
    tags = entry.get("tags")
    return [tag for tag in tags[:_MOST_TAGS] if isinstance(tag, str)] if isinstance(tags, list) else []


def _license(tags: Iterable[str]) -> str:
    return next((_plain(tag[len("license:") :]) for tag in tags if tag.startswith("license:")), "")


def _bases(tags: Iterable[str]) -> tuple[str, ...]:
    found = [match[1] for tag in tags if (match := _BASE.fullmatch(tag)) and is_repository(match[1])]
    return tuple(dict.fromkeys(found))[:_MOST_BASES]


def _time(value: object) -> float:
    if not isinstance(value, str) or len(value) > 40:
        return 0.0
    try:
        date = datetime.fromisoformat(value)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return 0.0


def _counts(safetensors: JsonObject) -> dict[str, int]:
    """How many numbers of each type the weights have."""
    parameters = object_at(safetensors, "parameters")
    if len(parameters) > len(_WIDTHS) * 2:
        return {}
    return {kind: number for kind, value in parameters.items() if (number := _whole(value))}


def _bits(config: JsonObject, tags: Collection[str], name: str, counts: dict[str, int]) -> float:
    told = object_at(config, "quantization_config").get("bits") or object_at(config, "quantization").get("bits")
    if type(told) in (int, float) and 1 <= told <= 16:  # type: ignore[operator]
        return float(told)  # type: ignore[arg-type]
    tagged = next((tag for tag in tags if re.fullmatch(r"[2-8]-bit", tag)), "")
    if found := _BITS_IN_NAME.search(tagged) or _BITS_IN_NAME.search(name):
        return float(found[1])
    return _FULL_BITS if counts and _PACKED not in counts else 0.0


def _parameters(counts: dict[str, int], bits: float) -> int:
    """Quantized weights are packed into words of 32 bits; beside them are only scales and norms."""
    packed = counts.get(_PACKED, 0)
    if packed and 0 < bits < _FULL_BITS:
        return round(packed * 32 / bits)
    return sum(counts.values())


def _size_in(name: str) -> int:
    found = _SIZE_IN_NAME.search(name)
    return round(float(found[1]) * (1e9 if found[2] in "bB" else 1e6)) if found else 0


def _drafter(config: JsonObject, name: str, size_bytes: int, bits: float) -> DrafterKind | None:
    if (kind := drafter_kind(config)) is not None:
        return kind
    named = next((kind for word, kind in _DRAFTER_NAMES.items() if word in name.casefold()), None)
    whole_bytes = _size_in(name) * (bits or _FULL_BITS) / 8
    is_head = _MTP_NAME.search(name) is not None and 0 < size_bytes < _HEAD_SHARE * whole_bytes
    return named or (DrafterKind.MTP if is_head or _ASSISTANT_NAME.search(name) else None)


def _base_stem(repository: str) -> str:
    return stem(repository.partition("/")[2])


def _family(name: str) -> str:
    return re.split(r"[-_]", name)[0].casefold()
