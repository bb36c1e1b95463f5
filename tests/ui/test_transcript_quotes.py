"""The bars of quotes: unbroken beside words, code, tables and formulas, and nowhere else."""

from __future__ import annotations

from itertools import groupby

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.views.transcript.parts import PartKind
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import TranscriptHarness, reply

CODE = "> Words:\n>\n> ```py\n> x = 1\n> ```\n>\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n>\n> more\n"
ONLY_CODE = "> ```\n> x = 1\n> ```\n"


def opened(qtbot: QtBot, text: str, scale: float = 1.0, *, grown: bool = False) -> TranscriptHarness:
    harness = TranscriptHarness([reply(1, "" if grown else text, ReplyStatus.STREAMING if grown else ReplyStatus.DONE)])
    qtbot.addWidget(harness.view)
    harness.theme.set_scale(scale)
    harness.view.resize(700, 1200)
    if grown:
        for at in range(0, len(text), 3):
            harness.model.append_text(1, text[at : at + 3])
        harness.model.change(1, status=ReplyStatus.DONE)
    still()
    return harness


def bars_of(harness: TranscriptHarness) -> list[tuple[int, int, int]]:
    """Left edge, top and bottom of each upright stretch three pixels wide that is a little darker than the ground."""
    picture = harness.view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    row_bytes, pixels = picture.bytesPerLine(), bytes(picture.constBits())
    ground, left = pixels[2 * row_bytes + 2], 24
    found: list[tuple[int, int, int]] = []
    for x in range(left, left + 100):
        y = 0
        for grey, same in groupby(pixels[x::row_bytes]):
            length = len(list(same))
            if 5 < ground - grey < 40 and length > 12:
                found.append((x, y, y + length - 1))
            y += length
    return [(x, top, end) for x, top, end in found if {(x + 1, top, end), (x + 2, top, end)} <= set(found)]


def span(harness: TranscriptHarness, kinds: set[PartKind]) -> tuple[int, int]:
    places = [place for part, place in harness.view.visible_parts.shown() if part.kind in kinds]
    return min(place.top() for place in places), max(place.bottom() for place in places)


QUOTED = {PartKind.TEXT, PartKind.CODE, PartKind.TABLE}


@pytest.mark.parametrize(("text", "scale", "grown"), [(CODE, 1.0, True), (CODE, 1.5, False), (ONLY_CODE, 1.0, False)])
def test_a_quote_has_one_bar_from_its_top_to_its_bottom(qtbot: QtBot, text: str, scale: float, grown: bool) -> None:
    """There was none beside code and tables, nor between these and the words."""
    harness = opened(qtbot, text, scale, grown=grown)
    (bar,) = bars_of(harness)
    assert bar[1:] == span(harness, QUOTED)
