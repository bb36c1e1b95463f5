"""A language that nobody speaks: every sentence longer, accented and in brackets; and what is on the screen in it.

What has no brackets was never translated, and what has no room for 40 % more has none in some language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QCoreApplication, QRect, QRectF, Qt, QTranslator
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QLabel, QWidget

from app.views.widgets.buttons import PillButton
from app.words.languages import SOURCES, compile_stale

_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ACCENTED = "ÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽåƀçðéƒĝĥîĵķļṁñöþǫŕšţûṽŵẋýž"
_MORE = " öñé ţŵö ţĥŕéé ƒöûŕ ƒîṽé šîẋ šéṽéñ"
_KEPT = re.compile(r"%L?(?:n|\d)|<[^>]*>|https?://\S+")
_TRANSLATED = re.compile(r"\[[^\[\]]*(?:\]|$)")
_NAME = re.compile(r"\S*[/\d_]\S*")  # an address, a path, a model
_BREAKS = re.compile(r"[\s/]|(?<=[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef])")  # East Asian words end anywhere
_WORD = re.compile(r"[A-Za-z]{3,}")


def pseudo(text: str) -> str:
    parts, position = [], 0
    for found in _KEPT.finditer(text):
        parts += [_accented(text[position : found.start()]), found[0]]
        position = found.end()
    more = _MORE * (1 + len(text) // len(_MORE))
    return f"[{''.join(parts)}{_accented(text[position:])}{more[: math.ceil(0.4 * len(text))].rstrip()}]"


def _accented(text: str) -> str:
    return text.translate(str.maketrans(_PLAIN, _ACCENTED))


def compile_pseudo(folder: Path) -> None:
    """Into `folder`, from the sentences that a translation has."""
    tree = ElementTree.parse(SOURCES / "hunch_ko.ts")
    for message in tree.iter("message"):
        words = pseudo(message.findtext("source", ""))
        for form in [*message.iter("numerusform")] or [*message.iter("translation")]:
            form.text = words
    tree.write(folder / "hunch_pseudo.ts", "utf-8", xml_declaration=True)
    compile_stale(folder, folder)


@contextmanager
def pseudo_language(folder: Path) -> Iterator[None]:
    """From now on, with what `compile_pseudo` made."""
    translator = QTranslator()
    assert translator.load("hunch_pseudo", str(folder))
    QCoreApplication.installTranslator(translator)
    try:
        yield
    finally:
        QCoreApplication.removeTranslator(translator)


class Screen:
    """What is painted and shown: words without brackets, and words without room."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, names: frozenset[str]) -> None:
        """`names` are no words of ours: of models, chats, keys, people."""
        self._names = names
        self._drawn: list[tuple[str, bool]] = []
        original = QPainter.drawText

        def draw(painter: QPainter, *arguments: Any) -> Any:
            self._drawn.append((next(each for each in arguments if isinstance(each, str)), _fits(painter, arguments)))
            return original(painter, *arguments)

        monkeypatch.setattr(QPainter, "drawText", draw)

    def look_at(self, window: QWidget) -> tuple[set[str], set[str]]:
        """Untranslated texts, clipped texts."""
        self._drawn.clear()
        window.grab()
        labels = [label for label in window.findChildren(QLabel) if label.isVisibleTo(window) and label.text()]
        buttons = [button for button in window.findChildren(PillButton) if button.isVisibleTo(window)]
        clipped = {text for text, fits in self._drawn if not fits}
        clipped |= {label.text() for label in labels if not _holds(label)}
        clipped |= {button.text() for button in buttons if button.width() < button.sizeHint().width()}
        shown = {text for text, _ in self._drawn} | {label.text() for label in labels}
        return {text for text in shown if self._is_untranslated(text)}, clipped

    def _is_untranslated(self, text: str) -> bool:
        rest = text
        while (shorter := _TRANSLATED.sub(" ", rest)) != rest:
            rest = shorter
        return any(word not in self._names for word in _WORD.findall(_NAME.sub(" ", rest)))


def _holds(label: QLabel) -> bool:
    metrics = QFontMetricsF(label.font())
    if not label.wordWrap():
        return metrics.horizontalAdvance(label.text()) <= label.width() + 1
    widest = max(metrics.horizontalAdvance(word) for word in _BREAKS.split(label.text()))
    return widest <= label.width() + 1 and label.heightForWidth(label.width()) <= label.height() + 1


def _fits(painter: QPainter, arguments: tuple[Any, ...]) -> bool:
    if not isinstance(arguments[0], QRect | QRectF) or not isinstance(arguments[-1], str):
        return True
    place, metrics, text = QRectF(arguments[0]), QFontMetricsF(painter.font()), arguments[-1]
    flags = int(arguments[1].value if hasattr(arguments[1], "value") else arguments[1])
    if not flags & Qt.TextFlag.TextWordWrap.value:
        return metrics.horizontalAdvance(text) <= place.width() + 2
    return metrics.boundingRect(QRectF(0, 0, place.width(), 1e5), flags, text).height() <= place.height() + 2
