"""Searching the user's own chats and what is attached to them."""

from __future__ import annotations

import time

from app.storage.searching import SHOWN, Searching
from app.tools.builtin.tool import Arguments, BuiltIn, Reach, Refusal, described, text_of
from app.tools.definitions import ToolResult

_MOST_CHATS = 8
_MOST_WORDS = 500  # characters of the query
_MOST_S = 20.0
_MOST_OF_MESSAGE = 4_000


def _run(arguments: Arguments, reach: Reach) -> ToolResult:
    query = text_of(arguments, "query")
    if not query or len(query) > _MOST_WORDS:
        raise Refusal(f"a query of 1 to {_MOST_WORDS} characters is needed")
    if reach.stores is None:
        raise Refusal("there are no chats here")
    deadline = time.monotonic() + _MOST_S

    def goes_on(_found: object) -> bool:
        reach.stop.check()
        return time.monotonic() < deadline

    with reach.stores() as stores:
        found = Searching(stores.database, None, goes_on).find(query, _MOST_CHATS + 1)
        chats = [chat for chat in found if chat.id != reach.chat_id][:_MOST_CHATS]
        written = [_written(chat.title, chat.updated_at) for chat in chats]
        for at, chat in enumerate(chats):
            for match in chat.matches[:SHOWN]:
                message = stores.messages.message(match.message_id)
                whole = "" if message is None or match.attachment is not None else message.text.strip()
                written[at] += "\n" + (whole if 0 < len(whole) <= _MOST_OF_MESSAGE else match.snippet)
    if time.monotonic() >= deadline:
        written.append("[Only some of the chats were searched: it took too long.]")
    return ToolResult("\n\n".join(written) or "No other chat has these words.", outside=bool(chats))


def _written(title: str, moment: float) -> str:
    return f"## {' '.join(title.split())} ({time.strftime('%Y-%m-%d', time.localtime(moment))})"


TOOLS = (
    BuiltIn(
        described(
            "search_chats",
            "Finds the user's other chats with all of these words, in messages and attached files, and returns the"
            " messages. Use few and rare words.",
            {"query": {"type": "string"}},
        ),
        _run,
    ),
)
