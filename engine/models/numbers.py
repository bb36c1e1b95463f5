"""How large the numbers of a config.json may be. A count decides how long building a network takes, a size how much it
needs, and a stranger wrote both.

What fits the limits and still is not what the weights hold is found while the network is built (loading.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from engine.models.model_files import FileError, JsonObject, object_at

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
_LENGTHS = re.compile(r"\w*(?:position|length|seq|context|ctx|window)\w*")  # of texts, not of what is built
_LENGTH_LIMITS = (-1, 2**31)
_BASES = re.compile(r"\w*(?:theta|base)")  # numbers with a fraction, even when they are written without
_TOKENS = re.compile(r"\w*_token_ids?")  # looked at where they are used
_OTHER_LIMITS = (-(2**24), 2**24)
_LIST_LIMIT = 512
_LONGEST = 10_000  # of any list that a family reads
_INDICES = {"altup_active_idx": "altup_num_inputs"}  # which of how many: a device reads beyond the last


def check_numbers(config: JsonObject) -> None:
    """What every family means by the same names. Raises FileError."""
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


def check_read_numbers(config: JsonObject, names: Collection[str]) -> None:
    """All numbers of the entries that a family reads, however deep. Raises FileError."""
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
    """Numbers in lists go by the list's name, those in objects by their own."""
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
    if isinstance(value, list):  # some families say it per layer
        return len(value) <= _LIST_LIMIT and all(
            _within(item, low, high) for item in value if not isinstance(item, list)
        )
    return type(value) is int and low <= value <= high
