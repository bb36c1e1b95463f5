"""The characters of a document: in runs of one format, and where they are on the lines that are laid out."""

from collections.abc import Iterator

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextBlock, QTextDocument, QTextFragment, QTextLine


def line_segments(block: QTextBlock, start: int, end: int) -> Iterator[tuple[QTextLine, float, float]]:
    """Each line that characters `start` to `end` of the block are on, with the left and right of them there."""
    layout = block.layout()
    line_of_start = layout.lineForTextPosition(start)
    for number in range(line_of_start.lineNumber() if line_of_start.isValid() else 0, layout.lineCount()):
        line = layout.lineAt(number)
        if line.textStart() >= end:
            return
        first = max(start, line.textStart())
        last = min(end, line.textStart() + line.textLength())
        if last > first:
            left, right = sorted((_x(line.cursorToX(first)), _x(line.cursorToX(last))))
            yield line, left, right


def line_rects(document: QTextDocument, start: int, end: int) -> Iterator[QRectF]:
    """A rectangle for each line that characters `start` to `end` of the document are on."""
    for block in blocks_in(document, start, end):
        corner = rect_of(block).topLeft()
        last = min(block.length() - 1, end - block.position())
        for line, left, right in line_segments(block, max(0, start - block.position()), last):
            yield QRectF(corner.x() + left, corner.y() + line.y(), right - left, line.height())


def keep_shapes(document: QTextDocument) -> None:
    """Has Qt keep the glyphs of each block, which it would otherwise look for at each painting and question. Before it
    lays them out, or it has them from the next time on only.
    """
    for block in blocks_in(document):
        block.layout().setCacheEnabled(True)


def blocks_in(document: QTextDocument, start: int = 0, end: int | None = None) -> Iterator[QTextBlock]:
    """Those that characters `start` to `end` are in, the last excluded; without an end all from there on."""
    block = document.findBlock(start)
    while block.isValid() and (end is None or block.position() < end):
        yield block
        block = block.next()


def rect_of(block: QTextBlock) -> QRectF:
    """In its document, which is laid out."""
    return block.document().documentLayout().blockBoundingRect(block)


def fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    """The runs of characters of one format."""
    place = block.begin()
    while not place.atEnd():
        yield place.fragment()
        place += 1


def units(text: str) -> int:
    """How long Qt counts it: an emoji is two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _x(answer: object) -> float:
    """PySide returns the position together with the cursor."""
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]
