"""Whatever the way to the clipboard, what a terminal would act on does not go along, and that is said."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.markup.blocks import split
from app.theme import Theme
from app.views.models.model_card import CardText
from app.views.models.yours import TemplateDialog
from app.views.transcript.code_part import CodePart
from app.views.transcript.message_footer import COPY_PLAIN
from app.views.transcript.parts import PartKind
from app.views.widgets.message_edit import MessageEdit
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import Opener, TranscriptHarness, question, reply

_HOSTILE = "Say `ls \x1b[31m\u202ex`\n\n```sh\nrm\x00 \x1b[8m-r\x1b[0m\n```\n\nWell \x1b[2Jthen"
_PLAIN = "Say ls x\n\nrm -r\n\nWell then"
_MARKDOWN = "Say `ls x`\n\n```sh\nrm -r\n```\n\nWell then"


def _by_footer(harness: TranscriptHarness) -> None:
    harness.view.context.copy_requested.emit(2)


def _by_focus(harness: TranscriptHarness) -> None:
    harness.view.message_keys.highlights.focus(1)
    harness.view.copy()


def _by_selection(harness: TranscriptHarness) -> None:
    harness.view.selection.select_message(2)
    harness.view.copy()


def _all_as_markdown(harness: TranscriptHarness) -> None:
    harness.view.selectAll()
    harness.view.copier.copy_selection(markdown=True)


def _as_plain_text(harness: TranscriptHarness) -> None:
    harness.view.context.act_requested.emit(2, COPY_PLAIN)


def _by_code_button(harness: TranscriptHarness) -> None:
    code = harness.parts(PartKind.CODE)[0].widget
    assert isinstance(code, CodePart)
    code.copy_button.click()


@pytest.mark.parametrize(
    ("way", "copied"),
    [
        (_by_footer, _MARKDOWN),
        (_by_focus, _MARKDOWN),
        (_by_selection, _PLAIN),
        (_all_as_markdown, f"Question\n\n{_MARKDOWN}"),
        (_as_plain_text, _PLAIN),
        (_by_code_button, "rm -r\n"),
    ],
)
def test_no_way_takes_along_what_a_terminal_acts_on(
    qtbot: QtBot, announced: list[tuple[object, str]], way: Callable[[TranscriptHarness], None], copied: str
) -> None:
    harness = TranscriptHarness([question(1, "Question"), reply(2, _HOSTILE)])
    qtbot.addWidget(harness.view)
    qtbot.waitUntil(harness.view.isVisible)
    way(harness)
    assert QGuiApplication.clipboard().text() == copied
    assert len(announced) == 1
    assert announced[0][1].startswith("Copied without ")


def test_what_has_nothing_of_the_kind_is_copied_as_it_is(
    open_transcript: Opener, announced: list[tuple[object, str]]
) -> None:
    words = "가족 👩\u200d👧 `x`\n\tشكرا\u200f"
    harness = open_transcript([question(1, "Question"), reply(2, words)])
    _by_footer(harness)
    assert (QGuiApplication.clipboard().text(), announced) == (words, [])


def test_plain_text_is_that_of_the_answer_alone(open_transcript: Opener) -> None:
    message = reply(2, "The **answer**.")
    message.thinking = "Hidden thoughts"
    harness = open_transcript([question(1), message])
    harness.view.context.fold_requested.emit(2)
    still()
    _as_plain_text(harness)
    assert QGuiApplication.clipboard().text() == "The answer."


def test_plain_text_of_a_long_table_has_its_words(open_transcript: Opener) -> None:
    rows = [{"name": f"a.b_{number}", "n": number} for number in range(3000)]
    harness = open_transcript([question(1), reply(2, json.dumps(rows))])
    _as_plain_text(harness)
    copied = QGuiApplication.clipboard().text()
    assert [number for number in range(3000) if f"a.b_{number}" not in copied] == []


def test_nor_does_a_chat_template(qtbot: QtBot, announced: list[tuple[object, str]]) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = TemplateDialog(Theme(), parent, "Main-8B", "{{ x }}\x1b[2J\u202e " + "long " * 20_000)
    dialog.text.selectAll()
    dialog.text.copy()
    assert QGuiApplication.clipboard().text() == "{{ x }} " + "long " * 20_000
    assert announced


def test_nor_does_a_model_s_card(qtbot: QtBot, announced: list[tuple[object, str]]) -> None:
    (block,) = split("Run **pip** install\x1b[31m x\u202e [here](https://hub.example/x)")
    card = CardText(Theme(), block)
    qtbot.addWidget(card)
    card.selectAll()
    card.copy()
    data = QGuiApplication.clipboard().mimeData()
    assert (data.text(), data.hasHtml()) == ("Run pip install x here", False)
    assert announced


def test_nor_does_a_field(qtbot: QtBot, announced: list[tuple[object, str]]) -> None:
    edit = MessageEdit(Theme())
    qtbot.addWidget(edit)
    edit.setPlainText("ls \x1b[31m-l")
    edit.selectAll()
    edit.copy()
    assert QGuiApplication.clipboard().text() == "ls -l"
    assert announced
