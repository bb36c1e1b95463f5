"""Checks the files of a folder that mlx-lm and transformers open by themselves: plain files of limited size, without
more added tokens than a tokenizer can add in some seconds.

Files read by this package alone (tokenizer.json, headers of weights) have their limits there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    TEMPLATE_LIMIT_BYTES,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    TOKENIZER_LIMIT_BYTES,
    FileError,
    JsonObject,
    entries,
    object_at,
    object_in,
)
from engine.models.numbers import MOST_ADDED

MOST_ENDS = 1024
MOST_NAMED = 2**14  # in a list of special tokens: transformers compares each with all before it
_TEMPLATES = "additional_chat_templates"
_MOST_TEMPLATES = 64
_SUFFIXES = {".json", ".jsonl", ".jinja", ".txt", ".model", ".tiktoken", ".spm", ".vocab", ".bpe", ".codes"}
_LIMITS: Mapping[str, int] = {
    "config.json": CONFIG_LIMIT_BYTES,
    "generation_config.json": CONFIG_LIMIT_BYTES,
    "hf_quant_config.json": CONFIG_LIMIT_BYTES,
    "tokenizer_config.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "special_tokens_map.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "added_tokens.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "model.safetensors.index.json": INDEX_LIMIT_BYTES,
}


def check_files(folder: Path) -> None:
    """Raises FileError, or an OSError."""
    for path in (*folder.iterdir(), *_templates(folder / _TEMPLATES)):
        if path.suffix in _SUFFIXES:
            _check_file(path)
    for name in ("config.json", "generation_config.json"):
        _check_ends(folder / name)
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        _check_lists(folder / name)
    _check_count("added_tokens.json", "added tokens", len(_content(folder / "added_tokens.json")), MOST_ADDED)


def _templates(folder: Path) -> Iterator[Path]:
    found = list(folder.iterdir()) if folder.is_dir() else []
    _check_count(folder.name, "files", len(found), _MOST_TEMPLATES)
    yield from found


def _check_file(path: Path) -> None:
    try:
        stat = path.stat()
    except FileNotFoundError:  # a broken link, which is never opened
        return
    if S_ISDIR(stat.st_mode):
        return
    if not S_ISREG(stat.st_mode):
        raise FileError(f"{path.name}: not a file")
    limit = TEMPLATE_LIMIT_BYTES if path.suffix == ".jinja" else _LIMITS.get(path.name, TOKENIZER_LIMIT_BYTES)
    if stat.st_size > limit:
        raise FileError(f"{path.name}: larger than {limit} bytes")


def _check_ends(path: Path) -> None:
    config = _content(path)
    for part in (config, object_at(config, "text_config")):
        _check_count(path.name, "end tokens", len(entries(part, "eos_token_id")), MOST_ENDS)


def _check_lists(path: Path) -> None:
    for key, value in _content(path).items():
        if isinstance(value, list | dict):
            _check_count(path.name, key[:100], len(value), MOST_ADDED if key == "added_tokens_decoder" else MOST_NAMED)


def _content(path: Path) -> JsonObject:
    return object_in(path, _LIMITS[path.name])  # what a file that cannot be read means is its reader's to decide


def _check_count(name: str, what: str, count: int, most: int) -> None:
    if count > most:
        raise FileError(f"{name}: {count} {what}, more than {most}")
