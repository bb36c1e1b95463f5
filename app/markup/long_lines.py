"""Lines that are too long to lay out at once, as several blocks of a document, and very many lines, as few blocks.

Qt lays out a line as a whole, and one without spaces in quadratic time. So a longer line is kept in several blocks, of
which all but the first are marked as going on with the one above: that end of a block is no line break of the text.

A block takes Qt 2 to 3 µs, so that a million lines held the window for seconds. Of very many lines those of up to
LONGEST_PIECE characters share a block, with Qt's line separator between them: to the user they are lines as any.
"""

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor, QTextDocument, QTextFormat

from app.markup.cuts import LONGEST_PIECE, long_lines, pieces, reach
from app.markup.lines import blocks_in

_MANY_LINES = 10_000
_HAS_CUTS = "has_cuts"  # of a document
LINE_SEPARATOR = "\u2028"  # Qt's line break within a block

GOES_ON = QTextFormat.Property.UserProperty.value + 8  # of a block: it continues the line above


def insert(cursor: QTextCursor, text: str) -> None:
    """Replaces the selection by `text`, as one step of undo."""
    text = _in_few_blocks(text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n"))
    cursor.beginEditBlock()
    cursor.removeSelectedText()
    first = cursor.position()
    position = 0
    for start, end in long_lines(text):
        _insert_short_lines(cursor, text[position:start])
        _insert_long_line(cursor, text[start:end])
        position = end
    _insert_short_lines(cursor, text[position:])
    # What is inserted into the middle of a line may make its block too long.
    for place in (cursor.position(), first):
        _cut_block(cursor.document().findBlock(place))
    cursor.endEditBlock()


def _in_few_blocks(text: str) -> str:
    """Very many lines, so that those of a block are parted softly; anything else as it is."""
    if text.count("\n") <= _MANY_LINES:
        return text
    blocks: list[str] = []
    start = 0
    while (most := reach(text, start, LONGEST_PIECE)) < len(text):
        end = text.rfind("\n", start, most)
        end = text.find("\n", start) if end < 0 else end  # a long line is a block of its own
        if end < 0:  # a long line is the last
            return "\n".join([*blocks, text[start:]])
        blocks.append(text[start:end].replace("\n", LINE_SEPARATOR))
        start = end + 1
    blocks.append(text[start:].replace("\n", LINE_SEPARATOR))
    return "\n".join(blocks)


def _insert_short_lines(cursor: QTextCursor, text: str) -> None:
    head, line_end, rest = text.partition("\n")
    if not line_end or not goes_on(cursor.block()):
        cursor.insertText(text)
        return
    cursor.insertText(head)
    cursor.insertBlock(_marked(cursor.blockFormat(), goes_on=False))
    cursor.insertText(rest)


def _insert_long_line(cursor: QTextCursor, line: str) -> None:
    for number, piece in enumerate(pieces(line)):
        if number:
            _cut(cursor)
        cursor.insertText(piece)


def _cut_block(block: QTextBlock) -> None:
    while block.length() > 2 * LONGEST_PIECE:
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + LONGEST_PIECE)
        _cut(cursor)
        block = cursor.block()


def _cut(cursor: QTextCursor) -> None:
    cursor.document().setProperty(_HAS_CUTS, True)
    cursor.insertBlock(_marked(cursor.blockFormat(), goes_on=True))


def has_cuts(document: QTextDocument) -> bool:
    """Whether a line may have been cut since it was empty. Set before the change is reported."""
    return bool(document.property(_HAS_CUTS))


def forget_cuts(document: QTextDocument) -> None:
    """It is empty."""
    document.setProperty(_HAS_CUTS, False)


def _marked(form: QTextBlockFormat, *, goes_on: bool) -> QTextBlockFormat:
    result = QTextBlockFormat(form)
    if goes_on:
        result.setProperty(GOES_ON, True)
    else:
        result.clearProperty(GOES_ON)
    return result


def goes_on(block: QTextBlock) -> bool:
    return block.blockFormat().boolProperty(GOES_ON)


def line_around(block: QTextBlock) -> tuple[int, int]:
    """Where the line begins and ends that a block is all or a piece of."""
    first = last = block
    while goes_on(first):
        first = first.previous()
    while goes_on(last.next()):
        last = last.next()
    return first.position(), last.position() + last.length() - 1


def text_between(document: QTextDocument, start: int, end: int) -> str:
    """The text of a range, with line breaks only where the text has them."""
    result: list[str] = []
    for block in blocks_in(document, start, end + 1):
        if result and not goes_on(block):
            result.append("\n")
        first = max(0, start - block.position())
        last = min(end - block.position(), block.length() - 1)
        result.append(_part_of(block, first, last))
    return "".join(result).replace(LINE_SEPARATOR, "\n")


def _part_of(block: QTextBlock, first: int, last: int) -> str:
    if first == 0 and last == block.length() - 1:
        return block.text()
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + first)
    cursor.setPosition(block.position() + last, QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText()
