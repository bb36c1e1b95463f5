"""Writes markdown-it's tokens into a QTextDocument with our fonts and colours.

Code blocks are widgets of their own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTable,
)

from app.markup.block import LIST, QUOTE
from app.markup.block import NOTE as IN_NOTE
from app.markup.document_style import DocumentStyle
from app.markup.formula import FormulaKey, Formulas, FormulaState, Look
from app.markup.inline_formula import FIXED_HEIGHT, formula_format, make_room, place_format
from app.markup.lines import keep_shapes
from app.markup.links import citations, to_mark, to_note
from app.markup.long_lines import LINE_SEPARATOR
from app.markup.tables import (
    alignment_of,
    cell_format,
    reads_from_right,
    runs_from_right,
    table_format,
    table_rows,
)

RULE = QTextFormat.Property.UserProperty.value + 2  # of a block: it is a horizontal rule
CODE = QTextFormat.Property.UserProperty.value + 4  # of characters: inline code, on a tint

HEADING = QTextFormat.Property.UserProperty.value + 9  # of a block: its level, from 1
INSIDE = QTextFormat.Property.UserProperty.value + 10  # of a block, as `Block.inside`
MARKER = QTextFormat.Property.UserProperty.value + 11  # of characters: a list item's bullet or number
NOTE = QTextFormat.Property.UserProperty.value + 12  # of characters: a note's mark
QUOTE_BARS = QTextFormat.Property.UserProperty.value + 13  # of a block: how far the bars of its quotes are indented

QUOTE_STEP_PX = 16
QUOTE_BAR_PX = 3
OBJECT = "\ufffc"  # stands for a formula in the text

_HEADING_SIZES = {"h1": 1.4, "h2": 1.22, "h3": 1.08}
# Plain ASCII, so that a Korean particle or a Chinese comma right after an address is not taken for a part of it.
_URL = re.compile(r"https?://[!#-&(-;=?-\[\]_a-z~]+")
_AFTER_URL = ".,;:!?)]}'\"*_"
_TASK = re.compile(r"\[([ xX])\]\s+")
_GAP = "\u00a0\u00a0"
_CLOSERS = frozenset({"bullet_list_close", "ordered_list_close", "blockquote_close", "footnote_reference_close"})


@dataclass(slots=True)
class _Container:
    indent_px: float
    kind: str = LIST
    marker: str = ""


class _Containers:
    """Enclosing lists, quotes and notes of the written block, outermost first."""

    def __init__(self, style: DocumentStyle) -> None:
        self._style = style
        self._metrics = QFontMetricsF(style.font)
        self._stack: list[_Container] = []

    def __bool__(self) -> bool:
        return bool(self._stack)

    @property
    def are_secondary(self) -> bool:
        """Whether text in them has the secondary colour."""
        return any(container.kind != LIST for container in self._stack)

    @property
    def is_note(self) -> bool:
        return self._stack[-1].kind == IN_NOTE

    def follow(self, tokens: Sequence[Token], position: int) -> None:
        """Update for a token that opens or closes one, or begins an item."""
        token = tokens[position]
        if token.type in ("bullet_list_open", "ordered_list_open"):
            self._stack.append(_Container(self._list_indent_px(tokens[position:])))
        elif token.type == "blockquote_open":
            self._stack.append(_Container(QUOTE_STEP_PX * self._style.scale, QUOTE))
        elif token.type == "footnote_reference_open":
            label = "" if token.meta.get("continued") else str(token.meta["label"])
            self._stack.append(_Container(self._at_least_a_step(label), IN_NOTE, label))
        elif token.type in _CLOSERS:
            self._stack.pop()
        elif token.type == "list_item_open" and not token.meta.get("continued"):
            self._stack[-1].marker = _marker(token)

    def take_marker(self, children: list[Token]) -> str:
        """The bullet or number of the item, before its first paragraph; a task's box is taken out of its text."""
        if not self._stack or not self._stack[-1].marker:
            return ""
        marker = self._stack[-1].marker
        self._stack[-1].marker = ""
        if children and children[0].type == "text" and (task := _TASK.match(children[0].content)):
            children[0] = children[0].copy(content=children[0].content[task.end() :])
            return "☑" if task[1] in "xX" else "☐"
        return marker

    def block_format(self, marker: str = "", *, tight: bool = False) -> QTextBlockFormat:
        block = QTextBlockFormat()
        block.setLineHeight(self._style.line_px, FIXED_HEIGHT)
        block.setLeftMargin(sum(container.indent_px for container in self._stack))
        block.setTopMargin(round((4 if tight or self._stack else 12) * self._style.scale))
        if bars := self._bars():
            block.setProperty(QUOTE_BARS, bars)
        if self._stack:
            block.setProperty(INSIDE, "".join(container.kind for container in self._stack))
        if marker:
            block.setTextIndent(-self._metrics.horizontalAdvance(marker + _GAP))
        return block

    def _bars(self) -> list[float]:
        starts = accumulate((container.indent_px for container in self._stack), initial=0.0)
        return [start for container, start in zip(self._stack, starts, strict=False) if container.kind == QUOTE]

    def _list_indent_px(self, tokens: Sequence[Token]) -> float:
        level = tokens[0].level
        items = (each for each in tokens if each.type == "list_item_open" and each.level == level + 1)
        return self._at_least_a_step(*map(_marker, items))

    def _at_least_a_step(self, *markers: str) -> float:
        """The usual step; wider only where the list's own numbers are."""
        widths = (self._metrics.horizontalAdvance(marker + _GAP) for marker in markers)
        return max(list_step_px(self._style.font), *widths)


class DocumentBuilder:
    """Writes one block's tokens into one document."""

    def __init__(
        self, document: QTextDocument, style: DocumentStyle, formulas: Formulas, *, is_shown: bool = True
    ) -> None:
        document.clear()
        document.setDocumentMargin(0)
        document.setDefaultFont(style.font)
        document.setUndoRedoEnabled(False)
        self.pending: set[FormulaKey] = set()
        self.overhang_px = 0.0  # how far a formula in the last line reaches below the document
        self._document = document
        self._style = style
        self._formulas = formulas
        self._is_shown = is_shown  # otherwise no formula is drawn for it
        self._cursor = QTextCursor(document)
        self._look = Look(style.font.toString(), style.ratio)
        self._fresh = True  # the document's first block is still unused
        self._containers = _Containers(style)
        self._char_formats = [self._plain_format()]

    def write(self, tokens: Sequence[Token]) -> None:
        self._cursor.beginEditBlock()
        if tokens and tokens[0].type == "table_open":
            self._write_table(table_rows(tokens))
        else:
            for position in range(len(tokens)):
                self._write_one(tokens, position)
        keep_shapes(self._document)
        self._cursor.endEditBlock()

    def _write_one(self, tokens: Sequence[Token], position: int) -> None:
        token = tokens[position]
        if token.type == "hr":
            self._write_rule()
        elif token.type == "inline":
            self._write_paragraph(tokens[position - 1], token)
        else:
            self._containers.follow(tokens, position)

    def _write_paragraph(self, opener: Token, inline: Token) -> None:
        if opener.type == "heading_open":
            self._write_heading(opener, inline)
            return
        children = list(inline.children or [])
        marker = self._containers.take_marker(children)
        block = self._containers.block_format(marker, tight=opener.hidden)
        self._write_words(block, marker, self._plain_format(), children)

    def _indent_at_start(self) -> None:
        """Words that are read from the right are indented from there, with their bullet or number."""
        if self._cursor.block().textDirection() == Qt.LayoutDirection.RightToLeft:
            block = self._cursor.blockFormat()
            block.setRightMargin(block.leftMargin())
            block.setLeftMargin(0)
            self._cursor.setBlockFormat(block)

    def _write_heading(self, opener: Token, inline: Token) -> None:
        factor = _HEADING_SIZES.get(opener.tag, 1.0)
        children = list(inline.children or [])
        marker = self._containers.take_marker(children)
        block = self._containers.block_format(marker)
        block.setLineHeight(round(self._style.font_px * factor * 1.35), FIXED_HEIGHT)
        block.setProperty(HEADING, int(opener.tag[1]))
        char = self._plain_format()
        char.setFontPointSize(self._style.font.pointSizeF() * factor)
        char.setFontWeight(QFont.Weight.DemiBold)
        self._write_words(block, marker, char, children)

    def _write_words(
        self, block: QTextBlockFormat, marker: str, char: QTextCharFormat, children: Sequence[Token]
    ) -> None:
        self._start_block(block)
        if marker:
            self._cursor.insertText(marker + _GAP, self._marker_format(marker))
        self._char_formats = [char]
        self._write_inline(children)
        if self._containers:
            self._indent_at_start()

    def _write_rule(self) -> None:
        block = self._containers.block_format()
        block.setProperty(RULE, True)
        block.setLineHeight(1, FIXED_HEIGHT)
        self._start_block(block)

    def _start_block(self, block: QTextBlockFormat) -> None:
        self.overhang_px = 0.0
        if self._fresh:
            block.setTopMargin(0)
            self._cursor.setBlockFormat(block)
            self._fresh = False
        else:
            self._cursor.insertBlock(block, self._plain_format())

    def _write_inline(self, children: Sequence[Token]) -> None:
        for token in children:
            if token.nesting > 0:
                self._char_formats.append(self._nested_format(token))
            elif token.nesting < 0:
                self._char_formats.pop()
            else:
                self._write_leaf(token)

    def _write_leaf(self, token: Token) -> None:
        if token.type == "text":
            self._write_text(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            self._cursor.insertText(LINE_SEPARATOR, self._char_formats[-1])
        elif token.type == "note_mark":
            self._cursor.insertText(token.content, self._note_mark_format(token.content))
        elif token.type == "code_inline":
            self._cursor.insertText(token.content, self._code_format())
        elif token.type == "image":
            # INVARIANT: a reply never loads anything; an image is its description and its plain address.
            self._cursor.insertText(f"{token.content} ({token.attrGet('src')})".strip(), self._char_formats[-1])
        elif token.type.startswith("math_inline"):
            self._write_formula(token.content, display=token.type.endswith("double"))
        else:
            self._cursor.insertText(token.content, self._char_formats[-1])

    def _write_text(self, text: str) -> None:
        position = 0
        is_link = self._char_formats[-1].isAnchor()  # its words lead where it does
        addresses = () if is_link else (*_urls(text), *citations(text, self._style.cited))
        for start, end, address in sorted(addresses):
            if start >= position:
                self._cursor.insertText(text[position:start], self._char_formats[-1])
                self._cursor.insertText(text[start:end], self._link_format(address))
                position = end
        self._cursor.insertText(text[position:], self._char_formats[-1])

    def _write_formula(self, tex: str, *, display: bool) -> None:
        key = FormulaKey(tex.strip(), self._style.font_px * 1.08, self._style.text.name(), display)
        state = self._formulas.state(key, wanted=self._is_shown)
        if state is FormulaState.FAILED:
            self._cursor.insertText(tex, self._code_format())
            return
        drawing = self._formulas.drawing(key)
        if drawing is None:
            self.pending.add(key)
            width_px = min(len(tex), 24) * self._style.font_px * 0.5
            form = place_format(tex, width_px, self._style.font_px)
        else:
            image = self._formulas.image(key, self._look) if self._is_shown else None
            form = formula_format(tex, drawing, image)
            block = make_room(self._cursor.blockFormat(), drawing)
            self._cursor.setBlockFormat(block)
            # Qt leaves the last block's bottom margin out of the document's height.
            self.overhang_px = block.bottomMargin()
        self._cursor.insertText(OBJECT, form)

    def _plain_format(self) -> QTextCharFormat:
        result = QTextCharFormat()
        result.setForeground(self._style.secondary if self._containers.are_secondary else self._style.text)
        return result

    def _marker_format(self, marker: str) -> QTextCharFormat:
        result = QTextCharFormat()
        result.setForeground(self._style.secondary)
        result.setProperty(MARKER, True)
        if self._containers.is_note:
            result.setAnchor(True)
            result.setAnchorHref(to_mark(marker))
        return result

    def _note_mark_format(self, label: str) -> QTextCharFormat:
        result = self._link_format(to_note(label))
        result.setFontUnderline(False)
        result.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
        result.setProperty(NOTE, True)
        return result

    def _nested_format(self, token: Token) -> QTextCharFormat:
        if token.type == "link_open":
            return self._link_format(str(token.attrGet("href") or ""))
        result = QTextCharFormat(self._char_formats[-1])
        if token.type == "strong_open":
            result.setFontWeight(QFont.Weight.Bold)
        elif token.type == "em_open":
            result.setFontItalic(True)
        elif token.type == "s_open":
            result.setFontStrikeOut(True)
        return result

    def _link_format(self, url: str) -> QTextCharFormat:
        result = QTextCharFormat(self._char_formats[-1])
        result.setAnchor(True)
        result.setAnchorHref(url)
        result.setForeground(self._style.link)
        result.setFontUnderline(True)
        return result

    def _code_format(self) -> QTextCharFormat:
        result = QTextCharFormat(self._char_formats[-1])
        result.setFontFamilies(self._style.mono.families())
        result.setFontPointSize(self._style.mono.pointSizeF())
        result.setProperty(CODE, True)
        return result

    def _write_table(self, rows: list[list[Token]]) -> None:
        columns = max((len(row) for row in rows), default=0)
        if not columns:
            return
        self._shrink_block()
        form = table_format(columns, from_right=reads_from_right(rows))
        table = self._cursor.insertTable(len(rows), columns, form)
        for row_index, row in enumerate(rows):
            for column, cell in enumerate(row):
                self._write_cell(table, row_index, column, cell)
        self._cursor = self._document.rootFrame().lastCursorPosition()
        self._shrink_block()

    def _write_cell(self, table: QTextTable, row: int, column: int, token: Token) -> None:
        cell = table.cellAt(row, column)
        cell.setFormat(cell_format(self._style, header=row == 0, first=column == 0))
        self._cursor = cell.firstCursorPosition()
        block = QTextBlockFormat()
        block.setLineHeight(self._style.line_px, FIXED_HEIGHT)
        head = table.cellAt(0, column).firstCursorPosition().block().textDirection()
        direction = Qt.LayoutDirection.RightToLeft if runs_from_right(table) else head
        block.setAlignment(alignment_of(token, direction))
        self._cursor.setBlockFormat(block)
        char = self._plain_format()
        if row == 0:
            char.setFontWeight(QFont.Weight.DemiBold)
        self._char_formats = [char]
        self._write_inline(token.children or [])

    def _shrink_block(self) -> None:
        """Qt keeps an empty line before and after a table; it is given no height."""
        block = QTextBlockFormat()
        block.setLineHeight(0.1, FIXED_HEIGHT)
        char = QTextCharFormat()
        char.setFontPointSize(1)
        self._cursor.setBlockFormat(block)
        self._cursor.setBlockCharFormat(char)


def list_step_px(font: QFont) -> float:
    """The indentation of a list's text: room for two digits, so that the tenth item does not move the others."""
    return QFontMetricsF(font).horizontalAdvance("10." + _GAP)


def steps_in_px(inside: str, font: QFont, scale: float) -> list[float]:
    """Where the lists and quotes around a block begin (`Block.inside`), and last where it begins itself."""
    steps = (QUOTE_STEP_PX * scale if each == QUOTE else list_step_px(font) for each in inside)
    return list(accumulate(steps, initial=0.0))


def nothing_to_load() -> QImage:
    """The content for any address: None would let Qt open files."""
    return QImage(1, 1, QImage.Format.Format_ARGB32_Premultiplied)


def _urls(text: str) -> Iterator[tuple[int, int, str]]:
    for found in _URL.finditer(text):
        url = _without_sentence_end(found[0])
        yield found.start(), found.start() + len(url), url


def _without_sentence_end(url: str) -> str:
    trimmed = url.rstrip(_AFTER_URL)
    missing = trimmed.count("(") - trimmed.count(")")
    return trimmed + ")" * missing if missing > 0 and url.startswith(trimmed + ")" * missing) else trimmed


def _marker(item: Token) -> str:
    return f"{item.info}." if item.info else "•"
