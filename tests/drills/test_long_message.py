"""One message of 50 MB in the real window: asked or written, left, opened, searched, read for the index; and an end.

In CPU time of the GUI thread, as in `test_many_messages.py`; the end by the clock, which the app gives itself as well.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.drills.test_many_messages import Stopwatch
from tests.helpers.app_harness import open_app
from tests.helpers.fake_engine import Script

BYTES = 50_000_000
LIMIT_S = 1.5  # of the GUI thread at one go; twice as long as alone, where others are at work
END_S = 10.0
PIECE_CHARS = 500_000
UNITS = {
    "words": "A draft guesses the next words.\n",
    "hangul": "초안 모델이 다음 말을 짐작해요. ",
    "letters": "x",
    "code": "```py\nx = 1\n```\n",
    "lines": "\n",
}


def of_size(unit: str) -> str:
    return unit * (BYTES // len(unit.encode())) + " heron"


@pytest.mark.drill
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("from_user", [True, False], ids=["question", "reply"])
def test_a_message_of_50_megabytes_takes_the_window_no_time(
    tmp_path: Path, qtbot: QtBot, unit: str, from_user: bool
) -> None:
    text = of_size(UNITS[unit])
    if from_user:
        text = text.strip()
    else:
        pieces = (text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS))
    with open_app(tmp_path, qtbot) as harness:
        watch, chats, storage = Stopwatch(), harness.chats, harness.application.storage

        def is_quiet() -> bool:
            return not storage.pending and not chats.generating

        if not from_user:
            harness.engine.scripts.append(Script(pieces=tuple(pieces)))
        taken = {"ask": watch.act(lambda: chats.send(text if from_user else "Go on."), is_quiet)}
        chat, at = chats.chat_id, 0 if from_user else 1
        taken["index"] = watch.act(storage.settle, is_quiet)
        taken["leave"] = watch.act(chats.new_chat, is_quiet)
        taken["open"] = watch.act(lambda: chats.open_chat(chat), is_quiet)
        assert chats.transcript.messages[at].text == text
        taken["search"] = watch.act(lambda: chats.conversations.set_query("heron"), is_quiet)
        assert [row.chat_id for row in chats.conversations.rows if row.chat_id] == [chat]
        taken["search in vain"] = watch.act(lambda: chats.conversations.set_query("ptarmigan"), is_quiet)
        taken["search no more"] = watch.act(lambda: chats.conversations.set_query(""), is_quiet)
        finder = harness.transcript.finder
        taken["find"] = watch.act(lambda: finder.find("heron"), lambda: finder.count == 1)
        taken["copy of the chat"] = watch.act(lambda: chats.duplicate(chat), is_quiet)
        began = time.monotonic()
        storage.settle()  # the index reads the copy, in slices
        taken["close"] = watch.act(harness.close, lambda: True)
        ended_s = time.monotonic() - began
    print({name: round(each, 3) for name, each in taken.items()}, round(watch.stalled_s, 2), round(ended_s, 2))  # noqa: T201
    assert {name: each for name, each in taken.items() if each > LIMIT_S} == {}, taken
    assert ended_s < END_S
    with open_app(tmp_path, qtbot) as harness:
        harness.chats.open_chat(chat)
        assert harness.chats.transcript.messages[at].text == text
