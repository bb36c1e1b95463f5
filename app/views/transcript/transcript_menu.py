"""The menu of the transcript: what can be copied at the pointer, and selecting all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.views.transcript.formula_part import FormulaPart
from app.views.transcript.parts import Part
from app.views.transcript.status_parts import NoticePart
from app.views.transcript.text_parts import TextPart

if TYPE_CHECKING:
    from app.views.transcript.view import TranscriptView


class TranscriptMenu(QMenu):
    """Only what is possible at this point of the view."""

    def __init__(self, view: TranscriptView, at: QPoint) -> None:
        super().__init__(view)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._view = view
        part = view.part_at(at)
        if not view.selection.is_empty:
            self._add(self.tr("Copy"), view.copy)
            self._add(self.tr("Copy as Markdown"), view.copy_as_markdown)
        if part is not None:
            self._add_for(part, at)
        self._add(self.tr("Select All"), view.selectAll)

    def _add_for(self, part: Part, at: QPoint) -> None:
        widget = part.widget
        if isinstance(widget, FormulaPart):
            self._add_text(self.tr("Copy as TeX"), widget.tex)
        elif isinstance(widget, NoticePart):
            self._add_text(self.tr("Copy"), widget.words)
        elif isinstance(widget, TextPart) and (link := widget.anchorAt(widget.mapFrom(self._view.viewport(), at))):
            self._add_text(self.tr("Copy Link"), link)
        if self._view.selection.is_empty:
            self._add(self.tr("Copy Message"), lambda: self._view.copy_message(part.message_id))

    def _add_text(self, words: str, text: str) -> None:
        self._add(words, lambda: QGuiApplication.clipboard().setText(text))

    def _add(self, words: str, act: Callable[[], None]) -> None:
        # Without the argument of the signal, whether it is checked.
        self.addAction(words).triggered.connect(lambda _checked=False: act())
