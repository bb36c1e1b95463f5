"""The colour of a gain or a loss. The words or the sign beside it say the same."""

from __future__ import annotations

from PySide6.QtGui import QColor

from app.theme import Palette
from app.view_models.transcript import RequestStats
from app.words.replies import Tone, tone_of


def speed_color(stats: RequestStats, colors: Palette) -> QColor:
    return {Tone.GAIN: colors.gain, Tone.COST: colors.cost}.get(tone_of(stats), colors.text)
