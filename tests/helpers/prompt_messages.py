"""What a chat's branch becomes in a request, without the numbers of the messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.controllers.asking import messages_with_sources
from app.storage import StoredMessage
from engine import Message


def request_messages(
    branch: Iterable[StoredMessage],
    system_prompt: str,
    seen: Any = lambda _picture: None,
    *,
    with_calls: bool = False,
    with_thinking: bool = False,
) -> tuple[Message, ...]:
    said = messages_with_sources(branch, system_prompt, seen, with_calls=with_calls, with_thinking=with_thinking)
    return tuple(message for message, _ in said)
