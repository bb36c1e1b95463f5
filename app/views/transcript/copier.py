"""Copying from the transcript: the selection, a message, the code of a card.

Here: what goes to the clipboard. Not here: menus and keys that ask for it, reading the words back (`copied_text.py`).
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.view_models.transcript import TranscriptModel
from app.views.transcript.copied_text import CopiedText
from app.views.transcript.message_acts import COPY_PLAIN
from app.views.transcript.message_column import MessageColumn
from app.views.transcript.message_item import MessageItem
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part
from app.views.transcript.selection import TranscriptSelection
from app.views.widgets import clipboard

_ANY_WIDTH_PX = 600  # only heights depend on it, and nobody sees these items


class Copier(QObject):
    message_copied = Signal(int)

    def __init__(
        self,
        context: PartContext,
        model: TranscriptModel,
        column: MessageColumn,
        selection: TranscriptSelection,
        make_item: Callable[[int], MessageItem],
    ) -> None:
        """`make_item` makes one of a row, to read where the column's was never read."""
        super().__init__(context)
        self.context = context
        self._model = model
        self._column = column
        self._selection = selection
        self._make_item = make_item
        context.code_of = self._code_of
        context.message_of = model.message
        context.act_requested.connect(self._on_act)

    def copy(self, message_id: int | None) -> None:
        """What is selected, or else the message, if there is one."""
        if not self._selection.is_empty:
            self.copy_selection(markdown=False)
        elif message_id is not None:
            self.copy_message(message_id)

    def copy_selection(self, *, markdown: bool) -> None:
        self.copy_text(self._read(self._selection, markdown=markdown))

    def copy_text(self, text: str) -> None:
        clipboard.copy(text, self.context)

    def selected_text(self) -> str:
        """Without the marks of Markdown."""
        return self._read(self._selection)

    def _read(self, selection: TranscriptSelection, *, markdown: bool = False) -> str:
        messages = self._model.messages
        return CopiedText(self.context, selection, markdown=markdown).of(self.item, lambda row: messages[row].text)

    def copy_message(self, message_id: int) -> None:
        message = self._model.message(message_id)
        if message is not None:
            self.copy_text(message.text)
            self.message_copied.emit(message_id)

    def copy_as_text(self, message_id: int) -> None:
        """As it reads, without the marks of Markdown."""
        whole = TranscriptSelection(self._model)
        whole.select_message(message_id)
        self.copy_text(self._read(whole))
        self.message_copied.emit(message_id)

    def _on_act(self, message_id: int, act: str) -> None:
        if act == COPY_PLAIN:
            self.copy_as_text(message_id)

    def item(self, row: int) -> MessageItem:
        """Cut into parts; one of its own where nobody has looked at the message yet."""
        item = self._column.items[row]
        if not item.is_read:
            item = self._make_item(row)
            item.sync(_ANY_WIDTH_PX)
        return item

    def _code_of(self, part: Part) -> str:
        row = self._model.row_of(part.message_id)
        return "" if row is None else self._column.items[row].code_of(part)
