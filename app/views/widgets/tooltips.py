"""Tooltips of plain text. Qt reads one that looks like HTML as rich text, which loads what it names."""

from __future__ import annotations

from html import escape

from PySide6.QtWidgets import QListWidgetItem, QWidget


def set_tooltip(at: QWidget | QListWidgetItem, text: str) -> None:
    """Shows `text` as it is, whoever wrote it: the title of a chat is often a model's, the name of a file anybody's."""
    at.setToolTip(plain_tooltip(text))


def plain_tooltip(text: str) -> str:
    return f'<span style="white-space: pre-wrap">{escape(text, quote=False)}</span>' if "<" in text else text
