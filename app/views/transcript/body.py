"""One growing text of a message: of its sections the last is read as it grows, the others when they are seen."""

from dataclasses import dataclass, replace

from app.markup.block import Block, BlockKind
from app.markup.blocks import Splitter
from app.markup.sections import Section
from app.views.transcript.parts import Part


class Body:
    """One growing text (the answer, or the thinking) as parts.

    Of a long text only the last section is read at first; each other one is a part without a widget until it is read.
    """

    def __init__(self, *, secondary: bool) -> None:
        self.secondary = secondary
        self.begin([Section(0, 0)])

    def begin(self, cuts: list[Section]) -> None:
        """Starts anew with a text of which nothing is read yet."""
        self.text = ""  # as far as it was taken
        self.finished = False
        self.above: list[Part] = []  # of all sections but the last
        self.last = cuts[-1]
        self.number = len(cuts) - 1  # of the last section
        self.splitter = splitter_of(self.last)
        self.parts: list[Part] = []  # of the last section

    def finish(self) -> int:
        """The text is complete, and so is code whose end never came; returns the first block that may have changed."""
        first, blocks = self.splitter.finish(), self.splitter.blocks
        for index in range(first, len(blocks)):
            if blocks[index].kind is BlockKind.CODE:
                blocks[index] = replace(blocks[index], closed=True)
        self.finished = True
        return first


@dataclass(frozen=True, slots=True)
class Unread:
    section: Section
    body: Body
    number: int


def blocks_of(unread: Unread) -> list[Block]:
    splitter = splitter_of(unread.section)
    splitter.append(unread.body.text[unread.section.start : unread.section.end], shown=False)
    splitter.finish()
    blocks = splitter.blocks
    if blocks and blocks[-1].kind is BlockKind.CODE and not blocks[-1].closed:
        blocks[-1] = replace(blocks[-1], closed=True, goes_on=True)
    return blocks


def splitter_of(section: Section) -> Splitter:
    splitter = Splitter()
    fence = section.open_fence()
    if fence is not None:
        splitter.resume(fence)
    return splitter
