"""What the panel of a chat's options shows. Values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Scope(StrEnum):
    """Whose options: those of the open chat, of every chat with the loaded model, or of all chats of a project."""

    CHAT = "chat"
    MODEL = "model"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class OptionsView:
    own: Mapping[str, Any]  # what is set here
    otherwise: Mapping[str, Any]  # what applies where nothing is set here
    sources: Mapping[str, str]  # where these come from: "project", "preset", "model"; not named: the settings
    presets: Mapping[str, str]  # names, by id
    preset: str  # the id of the chosen one; "": none


def shown_effort(value: object, levels: Sequence[str]) -> object:
    """What the option `thinking` comes to with a model that knows only these levels."""
    return value if isinstance(value, int) or not levels or value in levels else "normal"
