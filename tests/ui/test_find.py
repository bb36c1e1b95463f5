"""Finding in the chat: counting, stepping, lighting, while a reply grows, and from the result of a search."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.storage import Attachment, AttachmentKind, Stores
from app.view_models.transcript import ReplyStatus, TranscriptMessage
from app.views.files.attachment_dialog import AttachmentDialog
from app.views.transcript.finder import _HIDDEN, Finder
from app.views.transcript.formula_part import FormulaPart
from app.views.transcript.status_parts import AttachmentsPart
from app.views.widgets.attachment_chip import AttachmentChip
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import Script
from tests.helpers.figures import read
from tests.helpers.growth import growth
from tests.helpers.transcript_harness import TranscriptHarness, question, reply

MIXED = """# A needle

Text with a nee**dle**, `needle` and $needle_1$.

```python
needle = 1  # NEEDLE
```

| needle | other |
|---|---|
| ｎｅｅｄｌｅ | x |

- [x] needle
- no

$$needle^2$$
"""


@pytest.fixture
def harness(qtbot: QtBot, request: pytest.FixtureRequest) -> TranscriptHarness:
    harness = TranscriptHarness(getattr(request, "param", [question(1, "needle?"), reply(2, MIXED)]))
    qtbot.addWidget(harness.view)
    return harness


def find(harness: TranscriptHarness, qtbot: QtBot, words: str, message_id: int | None = None) -> Finder:
    finder = harness.view.finder
    finder.find(words, message_id)
    qtbot.waitUntil(lambda: not finder.is_reading)
    return finder


def lit(harness: TranscriptHarness) -> list[str]:
    return sorted(each.cursor.selectedText() for text in harness.texts() for each in text.found.selections())


def current(harness: TranscriptHarness) -> list[str]:
    found = (each for text in harness.texts() for each in text.found.selections())
    return [each.cursor.selectedText() for each in found if each.format.fontUnderline()]


def test_what_is_found_is_lit_in_every_text_and_steps_go_round(harness: TranscriptHarness, qtbot: QtBot) -> None:
    finder = find(harness, qtbot, "Needle")
    formulas = [part.widget for part, _ in harness.view.visible_parts.shown() if isinstance(part.widget, FormulaPart)]
    assert finder.count == 11
    assert finder.number == 1
    assert len(lit(harness)) == finder.count - len(formulas)
    assert current(harness) == ["needle"]
    finder.close()
    assert (finder.count, lit(harness), current(harness)) == (0, [], [])

    find(harness, qtbot, "needle")
    numbers = []
    for direction in (1, 1, -1, -1, -1, 1):
        finder.step(direction)
        numbers.append(finder.number)
    assert numbers == [2, 3, 2, 1, 11, 1]
    find(harness, qtbot, "no such words")
    finder.step(1)
    assert (finder.count, finder.number, finder.current) == (0, 0, None)


@pytest.mark.parametrize(
    "harness", [[question(1), reply(2, "drab\n\n" * 60), question(3), reply(4, "draft\n\n" * 60)]], indirect=True
)
def test_typing_on_stays_where_the_search_began(harness: TranscriptHarness, qtbot: QtBot) -> None:
    finder = harness.view.finder
    for words in ("d", "dr", "dra"):
        find(harness, qtbot, words)
        assert (finder.count, finder.number > 60) == (120, True)
    find(harness, qtbot, "draf")
    began = finder.current
    find(harness, qtbot, "drab")  # all of them are further up
    assert (finder.count, finder.number) == (60, 1)
    assert began is not None


LONG = "\n\n".join(f"Paragraph {number} of many, with words enough to fill a line." for number in range(300))


@pytest.mark.parametrize("harness", [[reply(1, LONG)]], indirect=True)
def test_a_match_in_a_section_that_nobody_has_read_is_found(harness: TranscriptHarness, qtbot: QtBot) -> None:
    finder = find(harness, qtbot, "Paragraph 7 ")
    assert (finder.count, current(harness)) == (1, ["Paragraph 7 "])
    find(harness, qtbot, "paragraph")
    assert finder.count == 300


def test_a_growing_reply_is_searched_as_it_grows(harness: TranscriptHarness, qtbot: QtBot) -> None:
    finder = find(harness, qtbot, "needle")
    harness.model.append(TranscriptMessage(3, from_user=False, text="", status=ReplyStatus.STREAMING))
    for piece in ("another nee", "dle and ", "one needle\n\n", "```\nneedle"):
        harness.model.append_text(3, piece)
    qtbot.waitUntil(lambda: finder.count == 14)
    harness.view.jump_to_end()
    assert lit(harness).count("needle") >= 3
    assert finder.number == 1
    find(harness, qtbot, "needle", 2)
    assert finder.number == 2
    harness.model.show_branch(harness.model.messages[:1])
    qtbot.waitUntil(lambda: (finder.count, finder.number) == (1, 1))


@pytest.mark.parametrize(
    "harness", [[TranscriptMessage(1, from_user=False, text="Answer.", thinking="Hidden needle")]], indirect=True
)
def test_thinking_is_searched_while_it_is_open(harness: TranscriptHarness, qtbot: QtBot) -> None:
    finder = find(harness, qtbot, "needle")
    assert finder.count == 0
    harness.view.context.fold_requested.emit(1)
    qtbot.waitUntil(lambda: finder.count == 1)


# In the window


def press(app: AppHarness, key: Qt.Key, *, shift: bool = False, control: bool = True) -> None:
    modifiers = Qt.KeyboardModifier.ControlModifier if control else Qt.KeyboardModifier.NoModifier
    modifiers |= Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    QTest.keyClick(app.window.focusWidget() or app.window, key, modifiers)


def test_the_bar_is_opened_walked_and_left_by_key_and_closed_by_another_chat(
    app: AppHarness, qtbot: QtBot, announced: list[tuple[object, str]]
) -> None:
    press(app, Qt.Key.Key_F)
    bar = app.window.find_bar
    assert not bar.isVisible()  # there is nothing to find yet
    app.ask(qtbot, "main model, main draft")
    press(app, Qt.Key.Key_F)
    qtbot.waitUntil(bar.field.hasFocus)
    QTest.keyClicks(bar.field, "main")
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 3")
    steps = []
    for step in (
        (Qt.Key.Key_Return, False, False),
        (Qt.Key.Key_G, False, True),
        (Qt.Key.Key_Return, True, False),
        (Qt.Key.Key_G, True, True),
    ):
        press(app, step[0], shift=step[1], control=step[2])
        steps.append(bar.count.text())
    assert steps == ["2 of 3", "3 of 3", "2 of 3", "1 of 3"]
    QTest.keyClicks(bar.field, "xx")
    qtbot.waitUntil(lambda: bar.count.text() == "Not found")
    assert announced[-1] == (bar, "Not found")
    assert not bar.next.isEnabled()
    press(app, Qt.Key.Key_Escape, control=False)
    assert not bar.isVisible()
    assert app.transcript.finder.query == ""
    qtbot.waitUntil(app.transcript.hasFocus)

    app.chats.new_chat()
    app.ask(qtbot, "main")
    press(app, Qt.Key.Key_F)
    assert app.window.find_bar.isVisible()
    app.chats.new_chat()
    assert not app.window.find_bar.isVisible()
    app.ask(qtbot, "another question")  # shows the transcript again, which a new chat hides
    assert not app.window.find_bar.isVisible()
    assert app.transcript.finder.query == ""
    assert app.transcript.viewportMargins().top() == 0


@pytest.mark.parametrize("item", ["- First", "7. First", "- [x] First"])
def test_a_selected_item_is_found_by_its_words(app: AppHarness, qtbot: QtBot, item: str) -> None:
    app.engine.scripts.append(Script(pieces=(f"{item}\n",)))
    app.ask(qtbot, "Go")
    app.transcript.selection.select_message(app.chats.transcript.messages[1].id)
    app.transcript.setFocus()
    app.window.find_bar.use_selection()
    qtbot.waitUntil(lambda: not app.transcript.finder.is_reading)
    assert (app.window.find_bar.field.text(), app.window.find_bar.count.text()) == ("First", "1 of 1")


def open_result(app: AppHarness, qtbot: QtBot, words: str) -> None:
    """The first result of a search over all chats."""
    app.chats.new_chat()
    app.window.sidebar.search.setText("")  # the rows of an earlier search are none of this one's
    qtbot.waitUntil(lambda: all(row.match is None for row in app.chats.conversations.rows))
    app.window.sidebar.search.setText(words)
    qtbot.waitUntil(lambda: any(row.match is not None for row in app.chats.conversations.rows))
    rows = app.chats.conversations.rows
    listed = app.window.sidebar.chats
    row = next(number for number, each in enumerate(rows) if each.match is not None)
    listed.setCurrentIndex(app.chats.conversations.index(row))
    QTest.keyClick(listed, Qt.Key.Key_Return)


def test_a_result_opens_its_chat_at_the_match_in_its_branch(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "First question about Lisbon")
    chat, first = app.chats.chat_id, app.chats.transcript.messages[0].id
    app.chats.edits.begin(first)
    app.chats.edits.type(first, "Another question")
    assert app.chats.edits.save(first)
    app.wait_until_quiet(qtbot)
    open_result(app, qtbot, "lisb")
    assert app.chats.chat_id == chat
    assert app.chats.transcript.messages[0].id == first
    bar = app.window.find_bar
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 1")
    assert bar.field.text() == "lisb"
    app.wait_until_stored(qtbot)

    app.chats.new_chat()
    app.ask(qtbot, "Whales are larger than herons, and whales swim")
    open_result(app, qtbot, "herons WHALES")  # all words of it are lit
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 3")
    assert bar.field.text() == "herons WHALES"
    app.wait_until_stored(qtbot)


def test_a_result_in_an_attachment_lights_that_one_and_opens_no_bar(app: AppHarness, qtbot: QtBot) -> None:
    attached = tuple(
        Attachment(name, AttachmentKind.TEXT, text, 9) for name, text in (("a.txt", "x"), ("b.txt", "heron"))
    )

    def make(stores: Stores) -> None:
        chat = stores.chats.create("Birds")
        last = stores.messages.add_user(chat, None, "Which bird?", attached)
        for number in range(40):
            last = stores.messages.add_user(chat, last, f"And {number}?")
        stores.chats.touch(chat, last)

    app.application.storage.write(make, lambda _done: app.chats.conversations.refresh(), lambda _refused: None)
    app.wait_until_stored(qtbot)
    app.ask(qtbot, "heron, in words")
    open_result(app, qtbot, "heron")
    bar, view = app.window.find_bar, app.transcript
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 1")
    open_result(app, qtbot, "HERON")
    QTest.keyClick(app.window.sidebar.chats, Qt.Key.Key_Down)
    QTest.keyClick(app.window.sidebar.chats, Qt.Key.Key_Return)
    assert not bar.isVisible()

    def shown() -> list[AttachmentChip]:
        parts = (part.widget for part, _ in view.visible_parts.shown())
        return [chip for part in parts if isinstance(part, AttachmentsPart) for chip in part.chips]

    names = ["a.txt, 9 bytes", "b.txt, 9 bytes, contains a match"]
    qtbot.waitUntil(lambda: [read(chip.accessibleName()) for chip in shown()] == names)
    chips = shown()
    qtbot.waitUntil(lambda: not chips[1].visibleRegion().isEmpty())
    chips[1].click()
    assert read(chips[1].accessibleName()) == "b.txt, 9 bytes"
    QTest.keyClick(app.window.sidebar.chats, Qt.Key.Key_Return)
    assert read(chips[1].accessibleName()) == "b.txt, 9 bytes, contains a match"
    press(app, Qt.Key.Key_F)
    QTest.keyClicks(bar.field, "Which")
    assert read(chips[1].accessibleName()) == "b.txt, 9 bytes"


def test_an_attachment_opens_at_what_was_found_in_it(app: AppHarness, qtbot: QtBot) -> None:
    """Words of any script behind signs of two words of 16 bits, in a text that comes in steps."""
    lines = "".join(f"line {number} \U0001f426 of a long file\n" for number in range(4000))
    text = f"{lines}\U0001f426 the grey HERON stands\n{lines}and 白鷺 too, a heron"
    attached = (Attachment("birds.txt", AttachmentKind.TEXT, text, len(text)),)
    app.application.storage.write(
        lambda stores: stores.messages.add_user(stores.chats.create("Birds"), None, "Which?", attached),
        lambda _done: app.chats.conversations.refresh(),
        lambda _refused: None,
    )
    app.wait_until_stored(qtbot)
    open_result(app, qtbot, "heron")
    view = app.transcript
    qtbot.waitUntil(lambda: bool(view.findChildren(AttachmentChip)))
    view.findChildren(AttachmentChip)[0].click()
    (dialog,) = app.window.findChildren(AttachmentDialog)
    field = dialog.text

    def lit() -> list[str]:
        return [each.cursor.selectedText() for each in field.extraSelections()]

    qtbot.waitUntil(lambda: lit() == ["HERON", "heron"])
    assert field.cursorRect().intersects(field.viewport().rect())
    assert field.textCursor().block().text().endswith("the grey HERON stands")
    QTest.keySequence(dialog, QKeySequence(QKeySequence.StandardKey.FindNext))
    assert field.textCursor().block().text() == "and 白鷺 too, a heron"
    QTest.keySequence(dialog, QKeySequence(QKeySequence.StandardKey.FindNext))
    assert field.textCursor().block().text().endswith("the grey HERON stands")
    assert abs(field.cursorRect().center().y() - field.viewport().rect().center().y()) < 3 * field.cursorRect().height()
    dialog.close()


@pytest.mark.parametrize("unit", ["](", "[a](b) "])
def test_what_markdown_hides_takes_linear_time(unit: str) -> None:
    """40,000 characters of "](" held the window for two seconds."""
    taken = growth(lambda text: [_HIDDEN.sub("", text)].clear(), unit, 20_000)
    assert taken < 3


def test_addresses_are_hidden_from_what_is_looked_for() -> None:
    assert _HIDDEN.sub("", "a[b](https://c.d/e)f [g][h] `i`") == "abfgi"


SHOWN = "```py\ndp[i][weight] = handlers[key](event)\n```\n\nAnd ![a picture](https://example.org/heron.png)"


@pytest.mark.parametrize("harness", [[reply(1, SHOWN)]], indirect=True)
@pytest.mark.parametrize("words", ["weight", "[weight]", "event", "(event)", "[i][weight] = h", "picture"])
def test_what_looks_like_an_address_is_found_where_it_is_shown(
    harness: TranscriptHarness, qtbot: QtBot, words: str
) -> None:
    assert find(harness, qtbot, words).count == 1


@pytest.mark.parametrize("harness", [[reply(1, '{"name": "two\\nlines", "of":"Ann"}')]], indirect=True)
@pytest.mark.parametrize("words", ["two lines", "of: Ann"])
def test_what_json_spells_otherwise_is_found(harness: TranscriptHarness, qtbot: QtBot, words: str) -> None:
    assert find(harness, qtbot, words).count == 1
