"""How much a model thinks: the variables that its chat template has for it.

Found in the template's text; nothing is rendered. Templates agree on few names: gpt-oss, Mistral, K2 and others have
`reasoning_effort` with words, Muse `reasoning_strength`, Seed-OSS `thinking_budget` in tokens, Nemotron `low_effort`,
DeepSeek, Kimi and Granite `thinking`, most others `enable_thinking`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.api.types import Effort

LOW_THINKING_TOKENS = 512  # at low effort, where the template knows no such thing

_OPENS = re.compile(r"\{[{%]")
_CLOSES = re.compile(r"[%}]\}")
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_NAME = re.compile(r"(?<![.\w])[a-z_]+")
_WORDS = re.compile(r"['\"](\w+)['\"]")
_SWITCH = re.compile(r"(?<![.\w])thinking\s+is\s+(?:not\s+)?defined|(?<![.\w])thinking\s*\|\s*default")
_EFFORT = "reasoning_effort"
_NOT_AT_ALL = ("none", "no_think")
_HIGH = ("max", "xhigh", "high")


@dataclass(frozen=True, slots=True)
class EffortVariables:
    """Variables of one template; an empty mapping: it has none."""

    off: Mapping[str, Any] = field(default_factory=dict)
    on: Mapping[str, Any] = field(default_factory=dict)  # at normal effort
    low: Mapping[str, Any] = field(default_factory=dict)
    high: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, template: str) -> EffortVariables:
        code = [_CLOSES.split(part, maxsplit=1)[0] for part in _OPENS.split(template)[1:]]
        names = {name for part in code for name in _NAME.findall(_QUOTED.sub("''", part))}
        off: dict[str, Any] = {}
        on: dict[str, Any] = {}
        low: dict[str, Any] = {}
        high: dict[str, Any] = {}
        if "enable_thinking" in names:
            off["enable_thinking"] = False
            on["enable_thinking"] = True
        if any(_SWITCH.search(part) for part in code):
            off["thinking"] = False
            on["thinking"] = True
        if "thinking_budget" in names:
            off["thinking_budget"] = 0
            low["thinking_budget"] = LOW_THINKING_TOKENS
        if "low_effort" in names:
            low["low_effort"] = True
        if "reasoning_strength" in names:  # which is "high" by itself
            low["reasoning_strength"] = "low"
            high["reasoning_strength"] = "xhigh"
        if _EFFORT in names:
            words = {word for part in code if _EFFORT in part for word in _WORDS.findall(part)}
            highest = next((word for word in _HIGH if word in words), "")
            writes = not (highest or "low" in words)  # the word as it comes
            if not off and (none := next((word for word in _NOT_AT_ALL if word in words), "")):
                off[_EFFORT] = none
                on[_EFFORT] = "medium" if "medium" in words else highest
            if writes or "low" in words:
                low[_EFFORT] = "low"
            if writes or highest:
                high[_EFFORT] = highest or "high"
        return cls(off, on, low, high)

    @property
    def levels(self) -> tuple[Effort, ...]:
        """Those beside the normal one that the template knows."""
        known = ((Effort.LOW, self.low), (Effort.HIGH, self.high))
        return tuple(level for level, variables in known if variables)

    def at(self, effort: Effort, *, thinks: bool) -> dict[str, Any]:
        """The variables to render with."""
        if not thinks:
            return dict(self.off)
        return {**self.on, **{Effort.LOW: self.low, Effort.HIGH: self.high}.get(effort, {})}
