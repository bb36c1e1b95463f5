"""What a reply is requested with: a chat's own options, its preset, its model's defaults, the settings. Pure functions.

Every option has the name and the limits that it has in the settings. What is stored of a chat or a preset may come from
another version or a damaged disk: an unknown name or an impossible value counts as if it were not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.settings import Settings
from engine import Sampling, Speculation, SpeculationMode

OPTIONS = (
    *("system_prompt", "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed"),
    *("max_tokens", "context_tokens", "thinking", "speculation_mode", "speculation_tokens"),
)

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Generation:
    """Every option has a value here."""

    values: Values

    @property
    def system_prompt(self) -> str:
        return str(self.values["system_prompt"])

    @property
    def max_tokens(self) -> int | None:
        limit: int | None = self.values["max_tokens"]
        return limit

    @property
    def context_tokens(self) -> int | None:
        limit: int | None = self.values["context_tokens"]
        return limit

    @property
    def thinking(self) -> bool:
        return bool(self.values["thinking"])

    def sampling(self) -> Sampling:
        names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed")
        return Sampling(**{name: self.values[name] for name in names})

    def speculation(self) -> Speculation:
        return Speculation(SpeculationMode(self.values["speculation_mode"]), self.values["speculation_tokens"])


def known(stored: Values) -> dict[str, Any]:
    """The options among what is stored, within their limits."""
    values: dict[str, Any] = {}
    for name in OPTIONS:
        if name not in stored:
            continue
        try:
            values[name] = Settings.options()[name].check(stored[name])
        except (TypeError, ValueError, OverflowError):
            continue
    return values


def resolve(settings: Settings, *layers: Values, main: str = "") -> Generation:
    """`layers`: those of the model, the preset, the chat; a later one wins. What none has is as in the settings.

    `main`: the main model that is asked, where that is not the one of the settings.
    """
    values = {name: getattr(settings, name) for name in OPTIONS} | {"temperature": settings.sampling(main).temperature}
    for layer in layers:
        values |= known(layer)
    return Generation(values)
