"""The user's own prompts: named texts that "/" puts into the composer."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from app.settings import Settings
from app.view_models.matching import folded


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    name: str
    text: str
    id: str = ""  # "": it is not stored yet


class Prompts:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def all(self) -> Sequence[SavedPrompt]:
        """By name."""
        stored = [SavedPrompt(each["name"], each["text"], each["id"]) for each in self._settings.prompts]
        return sorted(stored, key=lambda prompt: folded(prompt.name))

    def put(self, prompt: SavedPrompt) -> None:
        """Store a prompt, in place of the one with its id."""
        stored = replace(prompt, id=prompt.id or uuid.uuid4().hex)
        self._settings.prompts = (*self._without(stored.id), asdict(stored))

    def drop(self, prompt_id: str) -> None:
        self._settings.prompts = self._without(prompt_id)

    def _without(self, prompt_id: str) -> tuple[dict[str, str], ...]:
        return tuple(each for each in self._settings.prompts if each["id"] != prompt_id)
