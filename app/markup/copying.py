"""Ranges of documents as text or as Markdown, by reading back what `DocumentBuilder` wrote."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from PySide6.QtGui import QFont, QTextBlock, QTextCharFormat, QTextDocument, QTextTable, QTextTableCell

from app.markup.block import LIST, QUOTE
from app.markup.document import CODE, HEADING, INSIDE, MARKER, NOTE, OBJECT, RULE
from app.markup.inline_formula import TEX
from app.markup.lines import blocks_in, fragments
from app.markup.links import cited
from app.markup.long_lines import LINE_SEPARATOR, goes_on

_TICKS = re.compile("`+")
_MARKED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<"})
_STEP = "    "  # of what is in an item: less is not within a number of two digits
_TASKS = {"☐": "- [ ]", "☑": "- [x]", "•": "-"}


_Format = tuple[str, Callable[[QTextCharFormat], bool]]
_FORMATS: Sequence[_Format] = (
    ("**", lambda form: form.fontWeight() == QFont.Weight.Bold),
    ("*", QTextCharFormat.fontItalic),
    ("~~", QTextCharFormat.fontStrikeOut),
)


@dataclass(frozen=True, slots=True)
class _Run:
    """Characters of one format."""

    text: str
    form: QTextCharFormat


def length_of(document: QTextDocument) -> int:
    return document.characterCount() - 1


def table_of(document: QTextDocument) -> QTextTable | None:
    """A document has one table and nothing else, or none."""
    frames = document.rootFrame().childFrames()
    return frames[0] if frames and isinstance(frames[0], QTextTable) else None


def plain_text(document: QTextDocument, start: int, end: int) -> str:
    table = table_of(document)
    if table is not None:
        rows = ((_cell_runs(cell, start, end) for cell in cells) for cells in _reached(table, start, end))
        return "\n".join("\t".join("".join(map(_plain, runs)).replace("\n", " ") for runs in row) for row in rows)
    result: list[str] = []
    for block, runs in _blocks(document, start, end):
        if result and not goes_on(block):
            result.append("\n")
        result.append("".join(map(_plain, runs)))
    return "".join(result)


def markdown(document: QTextDocument, start: int, end: int) -> str:
    table = table_of(document)
    if table is not None:
        return _markdown_table(table, start, end)
    result: list[str] = []
    above: QTextBlock | None = None
    for block, runs in _blocks(document, start, end):
        if above is not None:
            result.append(_between(above, block))
        result.append(_markdown_block(block, runs))
        above = block
    lines = "".join(result).split("\n")
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip(" "))]  # of the item that it begins in: it would be code
    within = list(takewhile(lambda line: not line or line.startswith(indent), lines))
    return "\n".join([line.removeprefix(indent) for line in within] + lines[len(within) :])


def _between(above: QTextBlock, block: QTextBlock) -> str:
    """An item follows the one above; all else is a paragraph of its own, in the same quotes."""
    first = next(iter(fragments(block)), None)
    is_item = first is not None and first.charFormat().boolProperty(MARKER)
    insides = [_inside(above), _inside(block)]
    if is_item and all(LIST in inside for inside in insides):
        return "\n"
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(*insides, strict=False))
    return f"\n{_indent(kind for kind, _ in shared).rstrip()}\n"


def _inside(block: QTextBlock) -> str:
    return str(block.blockFormat().property(INSIDE) or "")


def _indent(inside: Iterable[str]) -> str:
    return "".join("> " if each == QUOTE else _STEP for each in inside)


def _blocks(document: QTextDocument, start: int, end: int) -> Iterator[tuple[QTextBlock, list[_Run]]]:
    for block in blocks_in(document, start, max(end, start + 1)):
        yield block, list(_runs(block, start, end))


def _reached(table: QTextTable, start: int, end: int) -> list[list[QTextTableCell]]:
    """The cells of the rows that are reached; of a single row those that are reached."""
    every = [[table.cellAt(row, column) for column in range(table.columns())] for row in range(table.rows())]
    within = [[cell for cell in row if cell.lastPosition() >= start and cell.firstPosition() < end] for row in every]
    rows = [at for at, cells in enumerate(within) if cells]
    return [every[at] for at in rows] if len(rows) > 1 else [within[at] for at in rows]


def _cell_runs(cell: QTextTableCell, start: int, end: int) -> list[_Run]:
    return list(_runs(cell.firstCursorPosition().block(), start, end))


def _runs(block: QTextBlock, start: int, end: int) -> Iterator[_Run]:
    for fragment in fragments(block):
        first = max(start - fragment.position(), 0)
        last = min(end - fragment.position(), fragment.length())
        if first == 0 and last == fragment.length():
            yield _Run(fragment.text(), fragment.charFormat())
        elif first < last:
            # Positions count UTF-16 units.
            units = fragment.text().encode("utf-16-le", "surrogatepass")[2 * first : 2 * last]
            yield _Run(units.decode("utf-16-le", "replace"), fragment.charFormat())


def _plain(run: _Run) -> str:
    text = run.text.replace(LINE_SEPARATOR, "\n")
    if OBJECT in text and (tex := run.form.property(TEX)):
        return text.replace(OBJECT, str(tex))
    if run.form.boolProperty(NOTE):
        return f"[{text}]"
    return text.rstrip("\u00a0") + " " if run.form.boolProperty(MARKER) else text


def _markdown_block(block: QTextBlock, runs: list[_Run]) -> str:
    form = block.blockFormat()
    inside = _inside(block)
    if form.boolProperty(RULE):
        return _indent(inside) + "---"
    marker = ""
    if runs and runs[0].form.boolProperty(MARKER):
        mark = runs[0].text.strip("\u00a0")
        marker = f"{_TASKS.get(mark, mark)} " if inside.endswith(LIST) else f"[^{mark}]: "
        inside = inside[:-1]
        runs = runs[1:]
    heading = "#" * form.intProperty(HEADING)
    text = _markdown_runs(runs).replace("\n", "<br>" if heading else f"\n{_indent(inside)}{' ' * len(marker)}")
    return f"{_indent(inside)}{marker}{heading}{' ' if heading else ''}{text}"


def _markdown_runs(runs: Iterable[_Run]) -> str:
    result: list[str] = []
    for address, group in groupby(runs, key=_address):
        words = _formatted(group, _FORMATS)
        result.append(f"[{words}]({address})" if address else words)
    return "".join(result)


def _address(run: _Run) -> str:
    """Of a link whose words are others."""
    address = run.form.anchorHref()
    return "" if run.form.boolProperty(NOTE) or cited(address) or run.text == address else address


def _formatted(runs: Iterable[_Run], formats: Sequence[_Format]) -> str:
    """The formats are nested in this order: marks of two that end at the same place are read as others."""
    if not formats:
        return "".join(map(_markdown_words, runs))
    mark, has = formats[0]
    result: list[str] = []
    for is_marked, group in groupby(runs, key=lambda run: has(run.form)):
        words = _formatted(group, formats[1:])
        inner = words.strip()
        result.append(words.replace(inner, f"{mark}{inner}{mark}") if is_marked and inner else words)
    return "".join(result)


def _markdown_words(run: _Run) -> str:
    text = run.text.replace(LINE_SEPARATOR, "\n")
    form = run.form
    if OBJECT in text and (tex := form.property(TEX)):
        return text.replace(OBJECT, f"${str(tex).strip()}$")
    if form.boolProperty(NOTE):
        return f"[^{text}]"
    if form.boolProperty(CODE):
        fence = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
        apart = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{fence}{apart}{text}{apart}{fence}"
    return text if form.isAnchor() and not _address(run) else text.translate(_MARKED)


def _markdown_table(table: QTextTable, start: int, end: int) -> str:
    """With the whole head, without which it would be no table; of a single cell its words."""
    rows = _reached(table, start, end)
    if not rows:
        return ""
    if [len(cells) for cells in rows] == [1]:
        return _markdown_runs(_cell_runs(rows[0][0], start, end))
    columns = [cell.column() for cell in rows[0]]
    head = _markdown_row(_cell_runs(table.cellAt(0, column), 0, length_of(table.document())) for column in columns)
    body = [_markdown_row(_cell_runs(cell, start, end) for cell in cells) for cells in rows if cells[0].row() > 0]
    return "\n".join([head, "|" + " --- |" * len(columns), *body])


def _markdown_row(cells: Iterable[list[_Run]]) -> str:
    """A bar in a cell would end it, and a new line the row."""
    return "| " + " | ".join(_markdown_runs(runs).replace("|", "\\|").replace("\n", "<br>") for runs in cells) + " |"
