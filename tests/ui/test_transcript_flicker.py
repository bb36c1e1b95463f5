"""Replies that stream character by character: what is complete never changes, and nothing is taken back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.markup.blocks import Splitter
from app.view_models.transcript import ReplyStatus
from app.views.transcript.code_part import CodePart
from app.views.transcript.parts import PartKind
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import Opener, TranscriptHarness, long_chat, question, reply

WIDTH_PX, HEIGHT_PX = 440, 900

DOCUMENTS = {
    "tasks": "- [ ] open\n- [x] done\n  * [ ] nested\n\nEnd.\n",
    "prose": "# Title\n\nSome **bold** and *italic*, ~~gone~~ and `code`.\nA [link](https://a.com/b).\n\n---\n\nEnd.\n",
    "lists": "Intro:\n- one\n  - nested `x`\n    1. deep\n- two\n\n5. five\n10. ten\n\n    loose\n\nEnd.\n",
    "quotes": "> quote **bold**\n> more\n>\n> > nested\n>\n> - item\n\nBetween.\n\n> again\n\nEnd.\n",
    "tables": "Look:\n\n| a | b |\n|:--|--:|\n| one | 1 |\n| `two` | 22 |\n\nText.\n\n| x |\n|---|\n| y |\n\nEnd.\n",
    "code": 'So:\n\n```python\ndef f(x):\n    """Doc."""\n    return x  # why\n\n\nprint(f(1))\n```\n\nEnd.\n',
    "indented code": "So:\n\n    plain\n      more\n\n    and\n\nEnd.\n",
    "diff": "```diff\n@@ -1 +1 @@\n-old\n+new\n same\n```\n\nEnd.\n",
    "nested code": "1. one\n\n   ```sh\n   ls -l\n   ```\n\n2. two\n\n> ```\n> x\n> ```\n\nEnd.\n",
    "formulas": "With $a^2$ and \\(b\\):\n\n$$\n\\frac{a}{b}\n$$\n\nor\n\n\\[ x \\]\n\nEnd.\n",
    "notes": "Words[^1] and more[^two].\n\n[^1]: First *note*.\n[^two]: Second.\n\n    More of it.\n\nEnd.\n",
    "Korean": "**수락률(accept rate)**은 *높아요(아주)*.\n\n- **중요:** 값\n- ~~취소(선)~~은\n\n끝이에요 👩‍👩‍👧 🇰🇷.\n",
    "Japanese and Chinese": "これは**太字。**です。\n\n**重点：**内容\n\n1. **一。**二\n\n终。\n",
}


class Stream:
    """One reply, and what of it was complete after the last character."""

    def __init__(self, harness: TranscriptHarness, qtbot: QtBot) -> None:
        self._harness = harness
        self._qtbot = qtbot
        self._splitter = Splitter()
        self._complete: QImage | None = None
        self._height_px = 0
        self.compared_px = 0
        self._written = ""
        harness.view.resize(WIDTH_PX, HEIGHT_PX)

    def add(self, char: str) -> None:
        self._written += char
        self._splitter.append(char)
        self._harness.model.append_text(1, char)
        self._look()

    def finish(self) -> None:
        self._harness.model.change(1, status=ReplyStatus.DONE)
        self._look()

    def _look(self) -> None:
        self._qtbot.waitUntil(self._is_still)
        self._compare()
        height = self._harness.view.items[0].height_px
        assert height >= self._height_px, f"it became {self._height_px - height} px lower after {self._written!r}"
        self._height_px = height

    def _is_still(self) -> bool:
        still()
        widgets = [part.widget for part, _ in self._harness.view.visible_parts.shown()]
        colors = any(isinstance(widget, CodePart) and widget.colors.is_active for widget in widgets)
        return not colors and not any(getattr(widget, "pending", None) for widget in widgets)

    def _compare(self) -> None:
        before = self._complete
        image = self._harness.view.viewport().grab(QRect(0, 0, WIDTH_PX, self._complete_px())).toImage()
        if before is not None and not before.isNull():
            same = image.copy(0, 0, before.width(), before.height())
            assert same == before, f"what was complete changed after {self._written!r}"
        self._complete = image
        self.compared_px = image.height()

    def _complete_px(self) -> int:
        item = self._harness.view.items[0]
        return item.top_px + item.top_of(min(self._splitter.frozen, len(item.parts)))


@pytest.mark.costly
@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_complete_never_changes(open_transcript: Opener, qtbot: QtBot, name: str) -> None:
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    stream = Stream(harness, qtbot)
    for char in DOCUMENTS[name]:
        stream.add(char)
    stream.finish()
    assert stream.compared_px > 40


@pytest.mark.costly
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_reader_further_up_is_not_moved(open_transcript: Opener, name: str) -> None:
    harness = open_transcript([*long_chat(3), question(100), reply(101, "", ReplyStatus.STREAMING)])
    harness.scroll_to(harness.bottom - 120)
    for char in DOCUMENTS[name] * 2:
        above = harness.value, harness.place_of(100, PartKind.BUBBLE)
        harness.model.append_text(101, char)
        assert (harness.value, harness.place_of(100, PartKind.BUBBLE)) == above
    harness.model.change(101, status=ReplyStatus.DONE)
    still()
    assert harness.bottom > harness.value
    assert (harness.value, harness.place_of(100, PartKind.BUBBLE)) == above
