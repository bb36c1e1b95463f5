"""Values out of other apps' JSON: of the kind that was hoped for, or the usual one."""

from __future__ import annotations

import math
from typing import Any

from app.portable.own import storable
from app.storage.attachments import Attachment, AttachmentKind
from app.storage.portable import LATEST_S

LONGEST_NAME = 500


def object_at(found: Any, name: str) -> dict[str, Any]:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else {}


def list_at(found: Any, name: str) -> list[Any]:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, list) else []


def text_at(found: Any, name: str) -> str:
    value = found.get(name) if isinstance(found, dict) else None
    return storable(value) if isinstance(value, str) else ""


def name_at(found: Any, name: str) -> str:
    """A short text on one line."""
    return " ".join(text_at(found, name)[:LONGEST_NAME].split())


def number_at(found: Any, name: str) -> float:
    value = found.get(name) if isinstance(found, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e15 or math.isnan(value):
        return 0.0
    return float(value)


def time_at(found: Any, name: str, *, unit_s: float = 1.0) -> float:
    value = number_at(found, name) * unit_s
    return value if 0 < value < LATEST_S else 0.0


def note(name: str) -> Attachment:
    """Says that something was there which the file does not hold."""
    return Attachment(name, AttachmentKind.NOTE, "", 0)


def options_with(system_prompt: str) -> dict[str, Any] | None:
    """Options of a chat that has this system prompt, if any."""
    return {"system_prompt": system_prompt} if system_prompt else None
