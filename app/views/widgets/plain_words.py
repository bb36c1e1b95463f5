"""Text without Qt's markup: "&" in a button marks a key, "[*]" in a title is a placeholder."""

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
