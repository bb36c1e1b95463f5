"""Where characters are on the lines of a block that is laid out."""

from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextLine


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


def _x(answer: object) -> float:
    """PySide returns the position together with the cursor."""
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]
