"""What is in sight is shown and coloured in turns of bounded length, whatever it is.

The clock is a count here: every look at it takes some time, so that a busy machine changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF
from PySide6.QtGui import QColor, QEnterEvent, QFont, QImage, QPainter, QPixmap
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markup.block import Block
from app.view_models.transcript import ReplyStatus, TranscriptMessage
from app.views.transcript import code_colors, found_words, visible_parts
from app.views.transcript import finder as finder_module
from app.views.transcript.code_part import CodePart
from app.views.transcript.message_item import Unread
from app.views.transcript.parts import Part, PartKind
from app.views.transcript.text_parts import ReadOnlyText, TextPart, paint_decorations
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import Opener, TranscriptHarness, question, reply

CODE = '```python\n{}"{}"\n```\n'.format("x = 1\n" * 40, "word " * 5)


def every_look_takes(seconds: float) -> Callable[[], float]:
    looks = count()
    return lambda: next(looks) * seconds


def colored_lines(harness: TranscriptHarness) -> Iterator[int]:
    """Of each piece of code in sight."""
    for part in harness.parts(PartKind.CODE):
        assert isinstance(part.widget, CodePart)
        block, lines = part.widget.text.document().begin(), 0
        while block.isValid():
            lines += bool(block.layout().formats())
            block = block.next()
        yield lines


def test_all_code_in_sight_shares_one_slice_of_a_turn(
    open_transcript: Opener, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = open_transcript([])
    harness.view.resize(800, 3000)
    harness.model.append(reply(900, "```python\nx = 1\n```\n"))
    qtbot.waitUntil(lambda: sum(colored_lines(harness)) == 1)  # the lexer is made
    monkeypatch.setattr(code_colors, "thread_time", every_look_takes(0.001))
    monkeypatch.setattr(code_colors, "_SLICE_S", 0.004)
    harness.view.visible_parts.context.slice._renew()
    harness.model.append(reply(901, CODE * 3))
    assert 0 < sum(colored_lines(harness)) <= 1 + 8
    qtbot.waitUntil(lambda: list(colored_lines(harness)) == [1, 41, 41, 41])


def test_what_takes_long_to_show_waits_for_the_next_turn(
    open_transcript: Opener, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = open_transcript([])
    monkeypatch.setattr(visible_parts, "thread_time", every_look_takes(visible_parts._MOST_S / 4))
    harness.model.append(reply(900, "\n\n".join(f"Paragraph {number}." for number in range(12))))
    assert 0 < len(harness.parts(PartKind.TEXT)) <= 4
    qtbot.waitUntil(lambda: all(part.measured_width_px > 0 for part in harness.view.items[0].parts))
    assert len(harness.parts(PartKind.TEXT)) == 12


def test_a_long_message_is_searched_part_by_part(
    open_transcript: Opener, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = open_transcript([reply(900, "- word\n" * 1000)])
    finder = harness.view.finder
    monkeypatch.setattr(finder_module, "perf_counter", every_look_takes(finder_module.SLICE_S / 4))
    finder.find("word")
    finder.read_a_slice()
    assert finder.is_reading
    assert finder.count == 0
    qtbot.waitUntil(lambda: not finder.is_reading)
    assert finder.count == 1000


def test_a_thousand_finds_in_one_text_are_painted_as_a_few_are(
    open_transcript: Opener, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = open_transcript([reply(900, "x word " * 40)])
    harness.view.finder.find("word")
    qtbot.waitUntil(lambda: not harness.view.finder.is_reading)
    text = harness.parts(PartKind.TEXT)[0].widget
    assert isinstance(text, TextPart)
    assert len(text.found.selections()) == 40
    by_qt = text.grab().toImage()
    monkeypatch.setattr(found_words, "_MANY", 10)
    assert len(text.found.selections()) == 1
    ours = text.grab().toImage()
    found = harness.theme.palette.found
    counts = [tinted(picture, found) for picture in (by_qt, ours)]
    assert counts[0] > 39 * 100
    assert counts[1] == pytest.approx(counts[0], rel=0.05)


def tinted(picture: QImage, color: QColor) -> int:
    return sum(picture.pixelColor(x, y) == color for x in range(picture.width()) for y in range(picture.height()))


class CountingPainter(QPainter):
    def __init__(self, device: QPixmap) -> None:
        super().__init__(device)
        self.tints = 0

    def drawRoundedRect(self, *arguments: object) -> None:  # noqa: N802
        self.tints += 1
        super().drawRoundedRect(*arguments)  # type: ignore[call-overload]


def test_only_marks_in_what_is_painted_are_looked_for(open_transcript: Opener) -> None:
    harness = open_transcript([reply(900, "`a` " * 900)])
    text = harness.parts(PartKind.TEXT)[0].widget
    assert isinstance(text, TextPart)
    style, palette = text.context.document_style(), harness.theme.palette
    clip = QRectF(0, 100, 800, 40)
    pictures, counts = [], []
    for area in (QRectF(text.rect()), clip):
        picture = QPixmap(text.size())
        picture.fill(QColor("white"))
        painter = CountingPainter(picture)
        paint_decorations(painter, text.document(), area, style, palette)
        painter.end()
        pictures.append(picture.copy(clip.toRect()).toImage())
        counts.append(painter.tints)
    assert pictures[0] == pictures[1]
    assert counts[0] == 900
    assert counts[1] < 450


@pytest.mark.parametrize("make", [question, reply])
def test_a_text_is_laid_out_at_its_width_and_keeps_its_shapes(
    open_transcript: Opener, monkeypatch: pytest.MonkeyPatch, make: Callable[[int, str], TranscriptMessage]
) -> None:
    """At another width first, and with its glyphs looked for at each painting, 3,000 emoji took seconds."""
    widths: list[float] = []
    write = ReadOnlyText.set_document_font

    def note_width(text: ReadOnlyText, font: QFont) -> None:
        widths.append(text.document().textWidth())
        write(text, font)

    monkeypatch.setattr(ReadOnlyText, "set_document_font", note_width)
    harness = open_transcript([])
    harness.model.append(make(1, "some words " * 50 + "\n\n| a | b |\n|---|---|\n| c | d |\n\n```\nx\ny\n```\n"))
    texts = harness.texts()
    blocks = [text.document().findBlockByNumber(at) for text in texts for at in range(text.document().blockCount())]
    wrapped = [text for text in texts if text.lineWrapMode() == ReadOnlyText.LineWrapMode.FixedPixelWidth]
    assert min(widths[: len(wrapped)]) >= max(text.document().textWidth() for text in wrapped)
    assert len(blocks) > 4
    assert all(block.layout().cacheEnabled() for block in blocks)


@pytest.mark.parametrize(
    ("unit", "most"),  # in a piece of code and a line; other texts are shorter
    [("👩\u200d", 600), *((each, 1200) for each in ("🎉", "🏽", "\U000e0067", "\u200c", "\u00ad", "\u094dक"))],
)
@pytest.mark.parametrize("make", [question, reply])
@pytest.mark.parametrize("around", ["{}", "```\n{}\n```\n"])
def test_nothing_that_is_laid_out_at_once_has_more_than_some_pictures(
    open_transcript: Opener, make: Callable[[int, str], TranscriptMessage], unit: str, most: int, around: str
) -> None:
    harness = open_transcript([make(1, around.format(unit * 3000))])
    harness.view.resize(800, 30_000)
    harness.settle()
    pictures = [text.toPlainText().count(unit[0]) for text in harness.texts()]
    assert sum(pictures) == 3000
    assert max(pictures) <= most


def test_very_much_that_comes_at_once_is_not_read_at_once(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "a\n\n", ReplyStatus.STREAMING)])
    harness.model.append_text(1, "a\n\n" * 20_000)
    parts = harness.view.items[0].parts
    assert sum(part.kind is PartKind.TEXT for part in parts) < 2000
    assert "".join(map(words_of, parts)).count("a") == 20_001


def words_of(part: Part) -> str:
    if isinstance(part.content, Unread):
        return part.content.body.text[part.content.section.start : part.content.section.end]
    return part.content.tokens[1].content if isinstance(part.content, Block) else ""


def test_what_has_no_words_is_searched_part_by_part(open_transcript: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = open_transcript([reply(900, "---\n\n" * 100)])
    finder = harness.view.finder
    monkeypatch.setattr(finder_module, "perf_counter", every_look_takes(finder_module.SLICE_S / 4))
    finder.find("-")
    finder.read_a_slice()
    assert finder.is_reading


def test_only_what_is_found_in_sight_is_painted(open_transcript: Opener, qtbot: QtBot) -> None:
    harness = open_transcript([reply(1, "x " * 1900)])
    harness.view.finder.find("x")
    qtbot.waitUntil(lambda: not harness.view.finder.is_reading)
    [text] = harness.texts()
    line = QRectF(0, 100, 600, 2)
    assert 0 < len(list(text.found.ranges_within(line))) < 300
    assert len(list(text.found.ranges_within(QRectF(text.rect())))) == 1900


def test_very_many_formulas_are_lit_as_one(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "$x$ " * 150)])
    harness.view.selectAll()
    [text] = harness.texts()
    [cursor] = text.lit_cursors
    assert len(list(text.lit_selections(cursor))) == 1


class HiddenAgain(QObject):
    """What hiding a part at the pointer may set off: the part behind it is entered, and that takes parts back."""

    def __init__(self, harness: TranscriptHarness, part: Part) -> None:
        super().__init__()
        self._harness = harness
        self._part = part
        assert part.widget is not None
        part.widget.installEventFilter(self)

    def eventFilter(self, _widget: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide:
            self._harness.view.visible_parts.release(self._part)
        return False


def test_a_part_that_is_taken_back_while_it_is_taken_back_is_lent_again(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "One.")])
    parts = harness.view.visible_parts
    part = harness.parts(PartKind.TEXT)[0]
    again = HiddenAgain(harness, part)
    parts.release(part)
    assert part.widget is None
    assert len(parts._spare[PartKind.TEXT]) == 1
    harness.model.append(reply(2, "Two."))
    still()
    assert [text.toPlainText() for text in harness.texts()] == ["One.", "Two."]
    assert again.parent() is None


def test_a_pointer_that_comes_to_a_part_is_answered_after_the_turn(open_transcript: Opener) -> None:
    """It may come in the middle of placing, as what it pointed at is hidden; unless it is elsewhere by then."""
    harness = open_transcript([reply(1, "One."), question(2)])
    text = harness.parts(PartKind.TEXT)[0].widget
    assert text is not None
    heard: list[int] = []
    harness.view.visible_parts.context.hovered.connect(heard.append)
    QApplication.sendEvent(text, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
    assert not heard
    still()
    assert heard == [1]
    QApplication.sendEvent(text, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
    QApplication.sendEvent(text, QEvent(QEvent.Type.Leave))
    still()
    assert heard == [1]
