"""Bases of what comes before a Qt class: the Qt class for mypy, and nothing when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QListView, QWidget

if TYPE_CHECKING:
    BeforeWidget = QWidget
    BeforeArea = QAbstractScrollArea
    BeforeButton = QAbstractButton
    BeforeList = QListView
else:
    BeforeWidget = BeforeArea = BeforeButton = BeforeList = object
