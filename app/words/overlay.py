"""Drafted text in words: the card of a correction, and the explanation of the marks."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.words import formats
from engine import DraftMark

_LONGEST = 40
_SHOWN = str.maketrans({"\n": "↵", "\r": "↵", "\t": "⇥"})
_PART_OF_A_CHARACTER = "\ufffd"


@dataclass(frozen=True, slots=True)
class CardWords:
    wanted_label: str
    wanted: str
    chosen_label: str
    chosen: str
    place: str

    @property
    def sentence(self) -> str:
        """As screen readers say it."""
        wanted = f"{self.wanted_label} {self.wanted}"
        chosen = f"{self.chosen_label} {self.chosen}"
        return formats.spoken(wanted, chosen, self.place)


def card_words(mark: DraftMark, chosen: str) -> CardWords:
    place = QCoreApplication.translate("Overlay", "Draft token %1 of %2 · pass %3")
    figures = (formats.count(value) for value in (mark.position, mark.drafted, mark.round))
    return CardWords(
        QCoreApplication.translate("Overlay", "The draft wanted"),
        _wanted(mark.wanted or ""),
        QCoreApplication.translate("Overlay", "The main model wrote"),
        _visible(chosen),
        formats.fill(place, *figures),
    )


def _wanted(word: str) -> str:
    if not word:
        return QCoreApplication.translate("Overlay", "to end the reply")
    if word == _PART_OF_A_CHARACTER:
        return QCoreApplication.translate("Overlay", "a part of another character")
    return _visible(word)


def _visible(word: str) -> str:
    """Without the space before it; where it is nothing but spaces and line breaks, these."""
    shown = (word.strip() or word.replace(" ", "␣")).translate(_SHOWN)
    return shown[:_LONGEST] or "–"
