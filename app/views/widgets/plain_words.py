"""Words that Qt would read signs in: "&" in a button makes a key of the next letter, "[*]" in a title is a place.

A chat may be called "R&D", or "What does [*] mean".
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.views.widgets.mixins import BeforeButton


class PlainWords(BeforeButton):
    """Comes before the Qt class of a button that paints its `text` itself. A screen reader gets all of it."""

    def text(self) -> str:
        return super().text().replace("&&", "&")

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        super().setText(text.replace("&", "&&"))


def set_window_title(window: QWidget, title: str) -> None:
    """Shows `title` as it is."""
    window.setWindowTitle(title.replace("[*]", "[*][*]"))
