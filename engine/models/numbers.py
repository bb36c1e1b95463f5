"""Limits of the numbers in a config.json, and of how far a tokenizer may expand a text. Counts determine the time of
building a network, sizes its memory, and configs are not trusted.

Numbers within the limits that do not match the weights are found while the network is built (networks.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from engine.models.model_files import FileError, JsonObject, entries, object_at

_LAYERS = re.compile(r"(?:n|num)_(?:\w+_)?(?:layers?|blocks?|loops?)|loop_num|\w+_iters")
_LAYER_LIMITS = (0, 512)
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
_LIMITS = {
    "num_hidden_layers": (1, 512),
    "hidden_size": (1, 65_536),
    "intermediate_size": (0, 1_048_576),
    "vocab_size": (1, 2**20),
    "num_attention_heads": (0, 4_096),
    "num_key_value_heads": (0, 4_096),
    "head_dim": (0, 65_536),
    **dict.fromkeys(EXPERTS, (0, 1_024)),
    "max_position_embeddings": (1, 2**30),
}
_LENGTHS = re.compile(r"\w*(?:position|length|seq|context|ctx|window)\w*")  # of texts: nothing is built by them
_LENGTH_LIMITS = (-1, 2**31)
_BASES = re.compile(r"\w*(?:theta|base)")  # floating-point numbers, even if written as integers
_TOKENS = re.compile(r"\w*_token_ids?")  # checked where they are used
_OTHER_LIMITS = (-(2**24), 2**24)
_LIST_LIMIT = 512
_LONGEST = 10_000  # of any list that a family reads
_INDICES = {"altup_active_idx": "altup_num_inputs"}  # index -> size of its array: the device would read out of bounds
MOST_GROWTH = 4096.0  # factor by which a tokenizer may expand a text; real ones have about ten
MOST_TEXT = 65_536  # characters of one token or one replacement
MOST_PIECES = 64  # pieces around a text
MOST_PADDING = 2**16  # tokens
MOST_ADDED = 72_000  # tokens beside the vocabulary; models with speech have up to 66,000
MOST_PARTS = 128  # consecutive parts; real tokenizers have about ten
MOST_WORD = 4096  # characters: WordPiece compares each part of a word with the vocabulary
_GROWTH = {"ByteLevel": 2.0, "BertNormalizer": 3.0, "NFD": 3.0, "NFKD": 3.0}  # factors multiply along a chain
_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def check_numbers(config: JsonObject) -> None:
    """Entries with the same meaning in every family. Raises FileError."""
    for part in (config, object_at(config, "text_config")):
        for key, value in part.items():
            if key in _LIMITS and value is not None:
                _check(key, value, *_LIMITS[key])
            elif _LAYERS.fullmatch(key):
                for _, number in _numbers(key, value):
                    _check(key, number, *_LAYER_LIMITS)
            elif key in _INDICES and type(value) is int:
                most = part.get(_INDICES[key])
                _check(key, value, 0, most - 1 if type(most) is int else _LIST_LIMIT)


def check_groups(config: JsonObject) -> None:
    """Raises FileError for weights in groups of no number at all, by which MLX divides: that ends the process."""
    if any(part.get("group_size") == 0 for part in _objects(config)):
        raise FileError("a group_size of 0")


def check_read_numbers(config: JsonObject, names: Collection[str]) -> None:
    """Check all numbers of the entries that a family reads, at any depth. Raises FileError."""
    for name in config.keys() & set(names):
        for key, value in _numbers(name, config[name]):
            _check(key, value, *_limits_of_any(key))


def _limits_of_any(key: str) -> tuple[int, int]:
    if _BASES.fullmatch(key) or _TOKENS.fullmatch(key):
        return -(2**63), 2**63
    if _LAYERS.fullmatch(key):
        return _LAYER_LIMITS
    return _LIMITS.get(key) or (_LENGTH_LIMITS if _LENGTHS.fullmatch(key) else _OTHER_LIMITS)


def _numbers(key: str, value: object) -> Iterator[tuple[str, int]]:
    """All numbers with their names; those in lists have the list's name, those in objects their own."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _numbers(name, part)
    elif isinstance(value, list):
        if len(value) > _LONGEST:
            raise FileError(f"config.json: {key} is a list of {len(value)}")
        for part in value:
            yield from _numbers(key, part)
    elif type(value) is int:
        yield key, value


def _check(key: str, value: object, low: int, high: int) -> None:
    if not _within(value, low, high):
        raise FileError(f"config.json: {key} {str(value)[:40]} is not in {low}..{high}")


def _within(value: object, low: int, high: int) -> bool:
    if isinstance(value, list):  # some families have one per layer
        return len(value) <= _LIST_LIMIT and all(
            _within(item, low, high) for item in value if not isinstance(item, list)
        )
    return type(value) is int and low <= value <= high


# How much a tokenizer.json can expand a text, and in how many steps: bounded by its parts, before it gets a text. A
# chain of forty replacements that each write two letters for one makes a terabyte. It cannot be stopped once it runs,
# and may start only at a letter that no test text has.


def check_growth(content: JsonObject) -> None:
    """Raises FileError."""
    growth = 1.0
    parts = 0
    for part in (part for stage in _STAGES for part in _objects(content.get(stage))):
        growth = growth * _growth_of(part)
        parts = parts + ("type" in part)
        if parts > MOST_PARTS:
            raise FileError("tokenizer.json: too many parts")
        if growth > MOST_GROWTH:
            raise FileError("tokenizer.json: makes a text too long")
    _check_padding(object_at(content, "padding"))
    word = object_at(content, "model").get("max_input_chars_per_word")
    if type(word) is int and word > MOST_WORD:
        raise FileError(f"tokenizer.json: words of {word} characters")
    added = entries(content, "added_tokens")
    if len(added) > MOST_ADDED:
        raise FileError(f"tokenizer.json: {len(added)} added tokens, more than {MOST_ADDED}")
    for entry in added:
        if isinstance(entry, dict):
            _check_text(entry.get("content"))


def _growth_of(part: JsonObject) -> float:
    for key in ("content", "prepend", "replacement"):
        _check_text(part.get(key))
    for key in ("single", "pair", "special_tokens"):
        pieces = part.get(key)
        if isinstance(pieces, list | dict) and len(pieces) > MOST_PIECES:
            raise FileError(f"tokenizer.json: {len(pieces)} pieces around a text")
    if part.get("type") != "Replace":
        return _GROWTH.get(str(part.get("type")), 1.0)
    written = str(part.get("content") or "")
    pattern = object_at(part, "pattern").get("String")
    if isinstance(pattern, str) and pattern:
        return max(1.0, len(written) / len(pattern))
    return len(written) + 1.0  # a regular expression may match between any two letters


def _objects(value: object) -> Iterator[JsonObject]:
    """All objects in `value`, itself first; the JSON parser limits the depth."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _check_text(text: object) -> None:
    if isinstance(text, str) and len(text) > MOST_TEXT:
        raise FileError(f"tokenizer.json: {len(text)} characters in one piece")


def _check_padding(padding: JsonObject) -> None:
    for number in (object_at(padding, "strategy").get("Fixed"), padding.get("pad_to_multiple_of")):
        if type(number) is int and number > MOST_PADDING:
            raise FileError(f"tokenizer.json: padding to {number}")
