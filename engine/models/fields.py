"""Single fields of a config that a stranger wrote. A number that is none raises FileError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.models.model_files import FileError


def entries(config: Mapping[str, Any], key: str) -> list[Any]:
    """What is no list counts as an empty one."""
    value = config.get(key)
    return value if isinstance(value, list) else []


def whole(config: Mapping[str, Any], key: str, default: int = 0) -> int:
    value = config.get(key)
    if value is None:
        return default
    if type(value) is not int or not -1 <= value <= 2**31:
        raise FileError(f"config.json: {key} {str(value)[:40]}")
    return value


def positive(config: Mapping[str, Any], key: str) -> int:
    if (value := whole(config, key)) < 1:
        raise FileError(f"config.json: no {key}")
    return value


def flag(config: Mapping[str, Any], key: str, default: bool = False) -> bool:
    value = config.get(key)
    if value is None:
        return default
    if value not in (False, True):  # "false" would count as true
        raise FileError(f"config.json: {key} {str(value)[:40]}")
    return bool(value)


def real(config: Mapping[str, Any], key: str, default: float) -> float:
    value = config.get(key)
    if value is None:
        return default
    if type(value) not in (int, float) or not -1e12 < value < 1e12:
        raise FileError(f"config.json: {key} {str(value)[:40]}")
    return float(value)
