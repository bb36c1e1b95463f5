"""Copying from the transcript: the selection, a message, or a card's code, as text or as Markdown."""

import html
from collections.abc import Iterator
from dataclasses import dataclass, replace

from PySide6.QtGui import QTextCursor, QTextDocument

from app.markup import copying, json_text, long_lines
from app.markup.block import Block, BlockKind
from app.markup.blocks import in_nested_code
from app.markup.fences import fenced
from app.views.transcript.call_parts import CallText
from app.views.transcript.consent_part import ConsentContent
from app.views.transcript.layout import Layout
from app.views.transcript.message_footer import COPY_CSV, COPY_PLAIN
from app.views.transcript.message_item import MessageItem, Unread, blocks_of
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Bubble, Part
from app.views.transcript.selection import TextRange, TranscriptSelection
from app.views.widgets import clipboard

_ANY_WIDTH_PX = 600  # of documents that are not shown: only heights depend on it

_MOST = 500  # messages converted to text while the window waits


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    glue: str  # separator from the piece above
    code: str | None = None  # the language, if it is code


class _CopiedText:
    """Text of visible parts comes from their documents, that of others from temporary documents.

    Sections of a long reply that were never visible are copied as Markdown, but for code from one into the next.
    """

    def __init__(self, context: PartContext, selection: TranscriptSelection, *, markdown: bool) -> None:
        self._context = context
        self._selection = selection
        self._markdown = markdown

    def of(self, item: MessageItem, row: int, *, answer_only: bool = False) -> str:
        if self._selection.takes_all_of(row) and (self._markdown or item.message.from_user):
            return item.message.written
        pieces: list[_Piece] = []
        parts = filter(item.is_of_answer, item.parts) if answer_only else item.parts
        for piece in (piece for part in parts for piece in self._pieces(part)):
            if pieces and piece.code is not None and pieces[-1].code is not None and not piece.glue:
                pieces[-1] = replace(pieces[-1], text=pieces[-1].text + piece.text)
            else:
                pieces.append(piece)
        return "".join(piece.glue * bool(number) + self._written(piece) for number, piece in enumerate(pieces))

    def _written(self, piece: _Piece) -> str:
        return fenced(piece.text, piece.code) if self._markdown and piece.code is not None else piece.text

    def _pieces(self, part: Part) -> Iterator[_Piece]:
        text_range = self._selection.range_in(part.message_id, part.address)
        content = part.content
        if text_range is None:
            return
        if isinstance(content, Unread):
            yield from self._unread(part, content)
        elif isinstance(content, Bubble | CallText | ConsentContent):
            glue = "\n\n" if isinstance(content, ConsentContent) else content.glue
            yield _Piece(self._plain(part, content.text, text_range), glue)
        elif isinstance(content, Block):
            yield self._block(part, content, text_range)

    def _unread(self, part: Part, unread: Unread) -> Iterator[_Piece]:
        source = unread.body.text[unread.section.start : unread.section.end]
        if unread.section.fence is None and not in_nested_code(source):
            message = self._context.message_of(part.message_id)
            is_table = message is not None and json_text.may_be_json(message.text) and unread.body.text != message.text
            plain = html.unescape(source) if is_table and not self._markdown else source
            yield _Piece(plain.strip("\n"), "\n\n")
            return
        for block in blocks_of(unread):
            yield self._block(part, block, (0, None))

    def _block(self, part: Part, block: Block, text_range: TextRange) -> _Piece:
        if block.kind is BlockKind.CODE:
            return self._code(part, block, text_range)
        read = self._formula if block.kind is BlockKind.FORMULA else self._text
        return _Piece(read(part, block, text_range), block.glue)

    def _plain(self, part: Part, text: str, text_range: TextRange) -> str:
        if text_range == (0, None):
            return text
        return long_lines.text_between(*self._bounded(part.document or _plain_document(text), text_range))

    def _code(self, part: Part, block: Block, text_range: TextRange) -> _Piece:
        code = block.text.removesuffix("\n")
        line_end = block.text[len(code) :] if block.goes_on and text_range[1] is None else ""
        if text_range != (0, None):
            code = long_lines.text_between(*self._bounded(part.document or _plain_document(code), text_range))
        return _Piece(code + line_end, "" if block.continues_code else block.glue, block.language)

    def _formula(self, part: Part, block: Block, text_range: TextRange) -> str:
        document = part.document
        if document is not None and text_range != (0, None):
            return long_lines.text_between(*self._bounded(document, text_range))
        return f"$$\n{block.text}\n$$" if self._markdown else block.text

    def _text(self, part: Part, block: Block, text_range: TextRange) -> str:
        document = part.document or self._context.document_of(block, secondary=part.secondary)
        read = copying.markdown if self._markdown else copying.plain_text
        return read(*self._bounded(document, text_range))

    def _bounded(self, document: QTextDocument, text_range: TextRange) -> tuple[QTextDocument, int, int]:
        length = copying.length_of(document)
        return document, min(text_range[0], length), length if text_range[1] is None else min(text_range[1], length)


def _plain_document(text: str) -> QTextDocument:
    result = QTextDocument()
    long_lines.insert(QTextCursor(result), text)
    return result


class Copier:
    def __init__(self, context: PartContext, layout: Layout, selection: TranscriptSelection) -> None:
        self.context = context
        self._layout = layout
        self._model = layout.model
        self._selection = selection
        context.act_requested.connect(self._on_act)

    def copy(self, message_id: int | None) -> None:
        """Copy the selection, or else the message."""
        if not self._selection.is_empty:
            self.copy_selection(markdown=False)
        elif message_id is not None:
            self.copy_message(message_id)

    def copy_selection(self, *, markdown: bool) -> None:
        self.copy_text(self._read(self._selection, markdown=markdown))

    def copy_text(self, text: str) -> None:
        clipboard.copy(text, self.context)

    def selected_text(self) -> str:
        """The selected text without Markdown."""
        return self._read(self._selection)

    def _read(self, selection: TranscriptSelection, *, markdown: bool = False) -> str:
        """Of very many messages those inside as Markdown."""
        copied = _CopiedText(self.context, selection, markdown=markdown)
        messages = self._model.messages
        rows = selection.rows()
        inside = rows[1:-1] if len(rows) > _MOST else range(0)
        texts = (messages[row].written if row in inside else copied.of(self.item(row), row) for row in rows)
        return "\n\n".join(filter(None, texts))

    def copy_message(self, message_id: int) -> None:
        message = self._model.message(message_id)
        if message is not None:
            self.copy_text(message.written)

    def _copy_as_text(self, message_id: int) -> None:
        """Copy the message as text without Markdown; without thinking and calls that are open."""
        whole = TranscriptSelection(self._model)
        whole.select_message(message_id)
        for row in whole.rows():
            copied = _CopiedText(self.context, whole, markdown=False)
            self.copy_text(copied.of(self.item(row), row, answer_only=True))

    def _on_act(self, message_id: int, act: str) -> None:
        if act == COPY_PLAIN:
            self._copy_as_text(message_id)
        elif act == COPY_CSV:
            self._copy_as_csv(message_id)

    def _copy_as_csv(self, message_id: int) -> None:
        """Copy a reply that is a table."""
        message = self._model.message(message_id)
        table = None if message is None else json_text.table_of(json_text.read(message.text))
        if table is not None:
            self.copy_text(json_text.as_csv(table))

    def item(self, row: int) -> MessageItem:
        """The message's item; a temporary one if it was never visible."""
        item = self._layout.column.items[row]
        if not item.is_read:
            item = self._layout.make_item(row)
            item.sync(_ANY_WIDTH_PX)
        return item
