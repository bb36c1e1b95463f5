"""The menu of the transcript: what can be done at the pointer, and with the message there."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

from app.markup.links import is_in_message
from app.views.transcript.copier import Copier
from app.views.transcript.formula_part import FormulaPart
from app.views.transcript.message_acts import add_message_acts
from app.views.transcript.parts import Part
from app.views.transcript.selection import TranscriptSelection
from app.views.transcript.status_parts import NoticePart
from app.views.transcript.text_parts import TextPart
from app.views.transcript.visible_parts import VisibleParts
from app.views.widgets.held_keys import Menu


class TranscriptMenu(Menu):
    """Only what is possible at this point."""

    def __init__(
        self, copier: Copier, selection: TranscriptSelection, parts: VisibleParts, at: QPoint, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._copier = copier
        if not selection.is_empty:
            self._add(self.tr("Copy"), lambda: copier.copy_selection(markdown=False))
            self._add(self.tr("Copy as Markdown"), lambda: copier.copy_selection(markdown=True))
        for part, place in parts.shown():
            if place.contains(at):
                self._add_for(part, at - place.topLeft(), alone=selection.is_empty)
        self._add(self.tr("Select All"), selection.select_all)

    def _add_for(self, part: Part, at: QPoint, *, alone: bool) -> None:
        widget = part.widget
        if isinstance(widget, FormulaPart):
            self._add_text(self.tr("Copy as TeX"), widget.tex)
        elif isinstance(widget, NoticePart):
            self._add_text(self.tr("Copy"), widget.words)
        elif isinstance(widget, TextPart) and (link := widget.anchorAt(at)) and not is_in_message(link):
            self._add_text(self.tr("Copy Link"), link)
        message = self._copier.context.message_of(part.message_id)
        if alone and message is not None:
            add_message_acts(self, self._copier.context, message)
            self.addSeparator()

    def _add_text(self, words: str, text: str) -> None:
        self._add(words, lambda: self._copier.copy_text(text))

    def _add(self, words: str, act: Callable[[], None]) -> None:
        # Without the argument of the signal, whether it is checked.
        self.addAction(words).triggered.connect(lambda _checked=False: act())
