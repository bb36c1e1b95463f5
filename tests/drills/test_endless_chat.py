"""A chat of 5,000 messages on a model of 4,096 tokens goes on: every reply comes, most of each prompt is cached."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import Stores
from app.view_models.transcript import ReplyStatus, TranscriptMessage
from engine import Engine
from tests.helpers.controller_harness import open_harness
from tests.helpers.tiny_models import make_pair

MESSAGES = 5000
TURNS = 200
LIMIT = 4096
DRAFTS = {"none": (False, "off"), "draft model": (True, "fixed"), "lookup": (False, "fixed")}


def fill(stores: Stores) -> None:
    """An imported chat: nothing is known of from where it was read."""
    words = [f"message {number}: what of the {'sea ' * (number % 17 + 3)}?" for number in range(1, MESSAGES + 1)]
    stores.database.execute(
        "INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (7, 'Long', 1, 1, ?)", (MESSAGES,)
    )
    stores.database.connection.executemany(
        "INSERT INTO messages (id, chat_id, parent_id, role, text, created_at) VALUES (?, 7, ?, ?, ?, 1)",
        (
            (number, number - 1 or None, "user" if number % 2 else "assistant", text)
            for number, text in enumerate(words, start=1)
        ),
    )


def talk(folder: Path, qtbot: QtBot, pair: tuple[Path, Path], *, draft: bool, mode: str) -> list[TranscriptMessage]:
    with open_harness(folder, qtbot, engine=Engine()) as harness:
        harness.change(fill)
        settings = harness.settings
        settings.max_tokens, settings.seed, settings.system_prompt = 30, 5, "Be brief."
        settings.speculation_mode = mode
        harness.load_pair(str(pair[0]), str(pair[1]) if draft else "")
        harness.chat.open_chat(7)
        return [harness.say(f"Question {number}: what of the sea?") for number in range(TURNS)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_pair(tmp_path_factory.mktemp("pair"), max_position_embeddings=LIMIT)


@pytest.mark.drill
def test_two_hundred_turns_in_the_same_words_with_any_draft(
    tmp_path: Path, qtbot: QtBot, pair: tuple[Path, Path]
) -> None:
    texts = {}
    for name, (draft, mode) in DRAFTS.items():
        replies = talk(tmp_path / name, qtbot, pair, draft=draft, mode=mode)
        assert {each.status for each in replies} <= {ReplyStatus.DONE, ReplyStatus.LENGTH}
        check_prompts(replies)
        texts[name] = [each.text for each in replies]
    assert texts["none"] == texts["draft model"] == texts["lookup"]


def check_prompts(replies: list[TranscriptMessage]) -> None:
    """After a cut half of the context is read; else only what is new."""
    cuts = 0
    for before, now in pairwise(replies):
        assert before.stats is not None
        assert now.stats is not None
        if now.reads_from == before.reads_from:
            new = now.stats.prompt_tokens - before.stats.prompt_tokens
            assert now.stats.prompt_tokens - now.stats.cached_tokens <= new + 64
            assert new < 400
        else:
            cuts += 1
            assert now.stats.prompt_tokens <= LIMIT // 2
    assert 3 <= cuts <= TURNS // 4
