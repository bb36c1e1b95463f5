"""Characters of documents and of the Markdown that they were written from."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from app.markup.alignment import Alignment
from app.markup.block import BlockKind
from app.markup.blocks import split
from app.markup.copying import length_of
from app.markup.document import DocumentBuilder
from app.theme import Theme
from app.views.transcript.part_context import PartContext

REPLY = """# A *heading* with `code`

The draft **guesses** a few tokens, the [main model](https://example.org/main) checks them.
A second line with \\*escaped\\* marks &amp; an entity,
and \U0001f600 emoji \U0001f468\u200d\U0001f469\u200d\U0001f467 too.

- one item with **bold (paren)**은
- two
  1. nested *item*

> 인용한 문장이에요. **수락률(accept rate)**은 71 %예요.

```python
def f(x):
    return x  # 주석
```

| name | value |
|------|-------|
| accept | 0.7 |

Last words, last words, last words.
"""


def shown(source: str) -> list[tuple[str, QTextDocument, int]]:
    """Each text of a reply as a document, and where it begins in the source."""
    context = PartContext(Theme())
    result = []
    for block in split(source):
        document = QTextDocument()
        if block.kind is BlockKind.CODE:
            document.setPlainText(block.text.removesuffix("\n"))
        else:
            DocumentBuilder(document, context.document_style(), context.formulas).write(block.tokens)
        result.append((str(block.kind), document, block.start))
    return result


def char(document: QTextDocument, place: int, wide: bool) -> str:
    units = document.toRawText().encode("utf-16-le", "surrogatepass")
    return units[2 * place : 2 * place + (4 if wide else 2)].decode("utf-16-le").replace("\u2029", "\n")


def test_every_character_comes_from_the_same_one_in_the_source(qtbot: QtBot) -> None:
    for kind, document, start in shown(REPLY):
        alignment = Alignment(document, REPLY, start)
        found = 0
        for place in range(length_of(document)):
            source = alignment.source_at(place)
            if source is not None:
                wide = REPLY[source] > "\uffff"
                same_half = source == alignment.source_at(place - 1) if place and wide else False
                if not same_half:
                    assert char(document, place, wide) == REPLY[source], (kind, place)
                found += 1
        words = re.sub(r"(•|1\.) {2}|\n", "", document.toPlainText())
        assert found >= 0.95 * len(words), (kind, found, words)


@pytest.mark.parametrize(
    "source",
    [
        "See [the guide](https://example.org/fast_(draft)/fast) **fast**, then go.",
        "See [**the guide**](https://example.org/fast 'fast') **fast**, then go.",
        "See [the guide][fast] **fast**, then go.\n\n[fast]: https://example.org/",
        "At https://a.b [x](https://c.d) **fast**, then go.",
        "Words[^1] [x](https://c.d) **fast**, then go.",
    ],
)
def test_a_word_behind_a_link_is_not_taken_from_its_address(qtbot: QtBot, source: str) -> None:
    _, document, start = shown(source)[0]
    alignment, place = Alignment(document, source, start), document.toPlainText().index("fast, then")
    assert alignment.source_at(place) == source.index("fast**, then")
