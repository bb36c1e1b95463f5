"""A message as parts.

Here: which parts a message has, following it while it grows, and where each part stands inside it.
Not here: widgets, scrolling, or where the message stands among others (`message_column.py`).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, takewhile

from PySide6.QtCore import QCoreApplication

from app.markup.block import Block, BlockKind
from app.markup.blocks import Splitter
from app.markup.document import steps_in_px
from app.markup.sections import Section, plain_sections, sections
from app.theme import REPLY_LEADING, REPLY_PX, Theme
from app.view_models.transcript import EditKind, TranscriptMessage, TranscriptModel
from app.views.transcript.editor_part import EditorContent
from app.views.transcript.message_footer import ROW_PX, FooterContent
from app.views.transcript.parts import Bubble, Part, PartKind
from app.views.transcript.status_parts import Fold, NoticeContent, Progress
from app.words import formats

_PART_OF_BLOCK = {
    BlockKind.TEXT: PartKind.TEXT,
    BlockKind.CODE: PartKind.CODE,
    BlockKind.TABLE: PartKind.TABLE,
    BlockKind.FORMULA: PartKind.FORMULA,
}
_GAP_PX = 12
_AROUND_CARDS_PX = 14
_ABOVE_HEADING_PX = 22
_BELOW_HEADING_PX = 8
_IN_LIST_PX = 4
_THOUGHT_INSET_PX = 20


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


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the blocks of a section stand."""

    number: int  # of the section
    start: int  # of the section in the text


class MessageItem:
    """INVARIANT: `parts` in order is what is on screen; `height_px` is the sum of their extents."""

    def __init__(
        self, message: TranscriptMessage, name: Callable[[], str], theme: Theme, release: Callable[[Part], None]
    ) -> None:
        self.message = message
        self._name = name
        self.top_px = 0
        self.height_px = 0
        self.highlighted = False
        self.opened = False
        self.is_read = False  # its text has been cut into parts
        self._theme = theme
        self._release = release
        self._bubble_text: str | None = None
        self._is_bubble: bool | None = None  # whose message its words are shown as; None: not yet
        self._parts: list[Part] = []
        self._tops = [0]
        self._attached: list[Part] = []
        self._head: list[Part] = []
        self._foot: list[Part] = []
        self._before: list[Part] = []  # a field, for another message or in place of this one
        self._after: list[Part] = []

    # A chat opens with an item for each of its messages, and most of them are never looked at.

    @cached_property
    def _answer(self) -> Body:
        return Body(secondary=False)

    @cached_property
    def _thought(self) -> Body:
        return Body(secondary=True)

    @property
    def is_growing(self) -> bool:
        return self.message.under_way

    @property
    def read_chars(self) -> int:
        """The number of characters parsed so far, in all; for tests of the cost."""
        return self._answer.splitter.parsed_chars + self._thought.splitter.parsed_chars

    @property
    def parts(self) -> list[Part]:
        return self._parts

    def top_of(self, index: int) -> int:
        """Where part `index` (or the end, for one past the last) starts below the message's top, its gap included."""
        return self._tops[index]

    def indexes_between(self, top_px: int, bottom_px: int) -> range:
        """The parts that reach into this stretch, counted from the message's top."""
        first = max(0, bisect_right(self._tops, top_px) - 1)
        return range(first, min(len(self._parts), bisect_right(self._tops, bottom_px)))

    def estimate(self, width_px: int) -> None:
        """Sets a height from the text's length alone, before it is parsed."""
        self.height_px = self._estimated_px(self.message.text, width_px) + self._theme.px(ROW_PX)

    def sync(self, width_px: int) -> bool:
        """Updates the parts from the message; returns whether some came or went."""
        self.is_read = True
        self._set_fields()
        attached: object = self.message.attachments
        shown = bool(attached) and not self._is_edited  # there the field has them
        self._set_fixed(self._attached, [(PartKind.ATTACHMENTS, attached, 0)] if shown else [])
        if self._is_edited or self._is_bubble not in (None, self.message.from_user):
            self._drop_words()
        self._is_bubble = self.message.from_user
        if self._is_edited:
            pass  # a field stands in their place
        elif self.message.from_user:
            self._set_bubbles(width_px)
        else:
            self._set_fixed(self._head, self._fold())
            self._sync_body(self._thought, self.message.thinking if self.opened else "", width_px)
            self._sync_body(self._answer, self.message.text, width_px)
            self._space_bodies()
        self._set_fixed(self._foot, [] if self._is_edited else list(self._foot_contents()))
        return self._join_parts()

    def grow(self, width_px: int) -> bool:
        """Like `sync`, where nothing but the text has grown."""
        if not self._answer.text or bool(self.message.thinking) != bool(self._head):  # of either, the first words
            return self.sync(width_px)
        self._sync_body(self._thought, self.message.thinking if self.opened else "", width_px)
        self._sync_body(self._answer, self.message.text, width_px)
        self._space_bodies()
        return self._join_parts()

    @property
    def _is_edited(self) -> bool:
        return self.message.edit is not None and self.message.edit.kind is EditKind.EDIT

    def _set_fields(self) -> None:
        edit = self.message.edit
        field: list[tuple[PartKind, object, int]] = []
        if edit is not None:
            field.append((PartKind.EDITOR, EditorContent(edit.kind, edit.from_user, edit.text), _GAP_PX))
        after = edit is not None and edit.kind is EditKind.AFTER
        self._set_fixed(self._before, [] if after else field)
        self._set_fixed(self._after, field if after else [])

    def _drop_words(self) -> None:
        """Something else takes their place: a field, or the words as the other side's."""
        self._set_fixed(self._head, [])
        self._bubble_text = None
        for body in (self._thought, self._answer):
            self._drop(body.above, 0)
            self._drop(body.parts, 0)
            body.begin([Section(0, 0)])

    def _join_parts(self) -> bool:
        bodies = (*self._thought.above, *self._thought.parts, *self._answer.above, *self._answer.parts)
        parts = [*self._before, *self._attached, *self._head, *bodies, *self._foot, *self._after]
        if parts == self._parts:
            return False  # heights change where parts are measured
        self._parts = parts
        self.sum_up()
        return True

    def read_section(self, indexes: range, width_px: int) -> bool:
        """Reads the last unread section among these parts; returns whether there is one."""
        parts = self._parts[indexes.start : indexes.stop]
        part = next((each for each in reversed(parts) if each.kind is PartKind.UNREAD), None)
        if part is None:
            return False
        assert isinstance(part.content, Unread)
        above = part.content.body.above
        place = above.index(part)
        above[place : place + 1] = self._read_section(part.content, width_px)
        self._space_bodies()
        self._join_parts()
        return True

    def code_of(self, part: Part) -> str:
        """All code of which the part shows the first piece."""
        pieces = takewhile(lambda block: block.continues_code, self._blocks_after(part))
        assert isinstance(part.content, Block)
        return "".join([part.content.text, *(piece.text for piece in pieces)])

    def _blocks_after(self, part: Part) -> Iterator[Block]:
        for below in self._parts[self._parts.index(part) + 1 :]:
            if isinstance(below.content, Block):
                yield below.content
            elif isinstance(below.content, Unread):
                yield from blocks_of(below.content)

    def _read_section(self, unread: Unread, width_px: int) -> list[Part]:
        blocks = blocks_of(unread)
        spot = _Spot(unread.number, unread.section.start)
        return [self._block_part(unread.body, blocks, index, width_px, spot) for index in range(len(blocks))]

    def sum_up(self) -> None:
        """Computes the positions anew; call it after any change of a part's height."""
        self._tops = list(accumulate([part.gap_px + part.height_px for part in self._parts], initial=0))
        self.height_px = self._tops[-1]

    def release_all(self) -> None:
        for part in self._parts:
            self._release(part)

    def _space_bodies(self) -> None:
        thought = self._thought.above or self._thought.parts
        answer = self._answer.above or self._answer.parts
        if thought:
            thought[0].gap_px = self._theme.px(_BELOW_HEADING_PX)
        if answer:
            above = _ABOVE_HEADING_PX if thought else _BELOW_HEADING_PX if self._head else 0
            answer[0].gap_px = self._theme.px(above)

    # Head and foot

    def _fold(self) -> list[tuple[PartKind, object, int]]:
        message = self.message
        if not message.thinking:
            return []
        thinking = self.is_growing and not message.text
        return [(PartKind.FOLD, Fold(round(message.thinking_s), self.opened, thinking), 0)]

    def _foot_contents(self) -> Iterator[tuple[PartKind, object, int]]:
        message = self.message
        waiting = message.under_way and message.empty
        if waiting:
            yield PartKind.PROGRESS, Progress(message.status, message.progress, message.waits_for), 0
        if message.has_notice:
            yield (
                PartKind.NOTICE,
                NoticeContent(
                    message.status, message.error, message.empty, message.read_only, message.needs_larger_model
                ),
                _GAP_PX,
            )
        footer = FooterContent(
            from_user=message.from_user,
            status=message.status,
            stats=None if message.needs_larger_model else message.stats,  # how fast it refused is no praise
            empty=message.empty,
            can_continue=message.can_continue,
            sibling=message.sibling,
            siblings=message.siblings,
            highlighted=self.highlighted,
            model="" if message.from_user else message.model,
            read_only=message.read_only,
        )
        # Progress and no gap are as high as a first line and its gap, so that nothing moves when that comes.
        yield PartKind.FOOTER, footer, 2 if message.from_user else 0 if waiting else 6

    def _set_bubbles(self, width_px: int) -> None:
        text = self.message.text
        if self._head and self._bubble_text is text:
            return
        self._bubble_text = text
        cuts = list(plain_sections(text)) if text or not self.message.attachments else []
        bubbles = [
            Bubble(text[each.start : each.end], number == 0, number == len(cuts) - 1, each.glue)
            for number, each in enumerate(cuts)
        ]
        self._set_fixed(self._head, [(PartKind.BUBBLE, bubble, 0) for bubble in bubbles])
        for number, (part, bubble) in enumerate(zip(self._head, bubbles, strict=True)):
            part.address, part.at = (0, number, 0), cuts[number].start
            if part.measured_width_px < 0:
                part.height_px = self._estimated_px(bubble.text, width_px)

    def _estimated_px(self, text: str, width_px: int) -> int:
        lines = 1 + text.count("\n") + len(text) * REPLY_PX * 0.5 * self._theme.scale / max(1, width_px)
        return round(lines * REPLY_PX * REPLY_LEADING * self._theme.scale)

    def _set_fixed(self, parts: list[Part], contents: list[tuple[PartKind, object, int]]) -> None:
        for index, (kind, content, gap_px) in enumerate(contents):
            if index < len(parts) and parts[index].kind is kind:
                parts[index].set_content(content)
            else:
                self._drop(parts, index)
                parts.append(self._part(kind, content, gap_px))
        self._drop(parts, len(contents))

    def _part(self, kind: PartKind, content: object, gap_px: int) -> Part:
        height = round(REPLY_PX * REPLY_LEADING * self._theme.scale)
        return Part(kind, content, self.message.id, self._name, self._theme.px(gap_px), height_px=height)

    def _drop(self, parts: list[Part], start: int) -> None:
        for part in parts[start:]:
            self._release(part)
        del parts[start:]

    # Text

    def _sync_body(self, body: Body, text: str, width_px: int) -> None:
        if text is not body.text:
            grown = text.startswith(body.text) and not body.finished
            if not (grown and body.text) and text != body.text:
                self._begin_body(body, text, width_px)
        first = len(body.splitter.blocks)
        if len(text) > len(body.text):
            first = body.splitter.append(text[max(len(body.text), body.last.start) :], shown=self.is_growing)
        body.text = text
        if not self.is_growing and not body.finished:
            first = min(first, body.finish())
        self._show_blocks(body, first, width_px)

    def _begin_body(self, body: Body, text: str, width_px: int) -> None:
        self._drop(body.above, 0)
        self._drop(body.parts, 0)
        cuts = sections(text)
        body.begin(cuts)
        for number, section in enumerate(cuts[:-1]):
            part = self._part(PartKind.UNREAD, Unread(section, body, number), _GAP_PX)
            part.address = (1 if body.secondary else 2, number, 0)
            part.at = None if body.secondary else section.start
            part.height_px = self._estimated_px(text[section.start : section.end], width_px)
            body.above.append(part)

    def _show_blocks(self, body: Body, first: int, width_px: int) -> None:
        blocks = body.splitter.blocks
        self._drop(body.parts, len(blocks))
        for index in range(min(first, len(body.parts)), len(blocks)):
            kind = _PART_OF_BLOCK[blocks[index].kind]
            if index < len(body.parts) and body.parts[index].kind is kind:
                body.parts[index].set_content(blocks[index])
                body.parts[index].at = None if body.secondary else body.last.start + blocks[index].start
            else:
                self._drop(body.parts, index)
                spot = _Spot(body.number, body.last.start)
                body.parts.append(self._block_part(body, blocks, index, width_px, spot))

    def _block_part(self, body: Body, blocks: list[Block], index: int, width_px: int, spot: _Spot) -> Part:
        block = blocks[index]
        gap_px = 0 if index == 0 and spot.start == 0 else _gap_px(blocks[index - 1] if index else None, block)
        part = self._part(_PART_OF_BLOCK[block.kind], block, gap_px)
        part.address = (1 if body.secondary else 2, spot.number, index)
        part.at = None if body.secondary else spot.start + block.start
        part.section_start = spot.start
        part.secondary = body.secondary
        part.inset_px = self._theme.px(_THOUGHT_INSET_PX) if body.secondary else 0
        if block.inside and block.kind is not BlockKind.TEXT:
            part.inset_px += round(steps_in_px(block.inside, self._theme.reply_font(), self._theme.scale)[-1])
        part.height_px = _estimated_lines(block, width_px, self._theme.scale) * part.height_px
        return part


def _gap_px(above: Block | None, block: Block) -> int:
    if block.continues_code:
        return 0
    if block.heading:
        return _ABOVE_HEADING_PX
    if above is None:
        return _GAP_PX
    if above.heading:
        return _BELOW_HEADING_PX
    if BlockKind.TEXT is not block.kind or BlockKind.TEXT is not above.kind:
        return _AROUND_CARDS_PX
    return _IN_LIST_PX if block.joined or (above.is_note and block.is_note) else _GAP_PX


def _estimated_lines(block: Block, width_px: int, scale: float) -> int:
    if block.kind is BlockKind.CODE:
        return 2 + block.text.count("\n")
    paragraphs = [token for token in block.tokens if token.type == "inline"]
    per_line = max(1.0, width_px / (REPLY_PX * 0.55 * scale))
    return sum(1 + token.content.count("\n") + int(len(token.content) / per_line) for token in paragraphs) or 1


def message_name(model: TranscriptModel, message_id: int) -> str:
    """What a screen reader calls a message, with its number and theirs as they are now."""
    row, count = model.row_of(message_id), len(model.messages)
    if row is None:
        return ""
    if model.messages[row].from_user:
        words = QCoreApplication.translate("TranscriptView", "Your message, %1 of %2")
    else:
        words = QCoreApplication.translate("TranscriptView", "Reply, message %1 of %2")
    return formats.fill(words, formats.count(row + 1), formats.count(count))
