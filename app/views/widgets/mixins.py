"""Bases of what comes before a Qt class: the Qt class for mypy, and nothing when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractButton, QListView, QWidget

if TYPE_CHECKING:
    BeforeWidget = QWidget
    BeforeButton = QAbstractButton
    BeforeList = QListView
else:
    BeforeWidget = BeforeButton = BeforeList = object
