"""A message as parts: which ones, updating them while it grows, and their positions inside it.

Widgets and scrolling are elsewhere, positions of messages in `message_column.py`.
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
from app.markup.json_text import ShownReply
from app.markup.sections import Section, plain_sections, sections
from app.theme import REPLY_LEADING, REPLY_PX, Theme
from app.view_models.tools import StepView
from app.view_models.transcript import EditKind, ReplyStatus, TranscriptMessage, TranscriptModel
from app.views.transcript.beginning_part import BeginningLine
from app.views.transcript.call_parts import CallContents, CallLine, CallText
from app.views.transcript.consent_part import ConsentContent
from app.views.transcript.message_footer import ROW_PX, FooterContent
from app.views.transcript.parts import Bubble, Part, PartContent, PartKind
from app.views.transcript.selection import Address
from app.views.transcript.status_parts import Fold, NoticeContent, ProgressContent
from app.words import formats

_GAP_PX = 12
_AROUND_CARDS_PX = 14
_ABOVE_HEADING_PX = 22
_BELOW_HEADING_PX = 8
_IN_CALLS = (ReplyStatus.CALLING, ReplyStatus.WAITS_FOR_YOU)  # whose lines and question say so
_IN_LIST_PX = 4
_THOUGHT_INSET_PX = 20
_BETWEEN_CALLS_PX = 2
_ABOVE_CONSENT_PX = 10
_OF_QUESTION: Address = (1 << 30, 0, 0)  # after every step
OF_LINE = -1  # in place of a piece: the line of a call, before what it opens
_MOST_GROWN = 4000  # characters: more at once are cut into sections like a new text


Key = tuple[int, int]  # of what can be opened in a message: the beginning of the addresses below it


class PartMaker:
    """Makes the parts of one message, and releases their widgets when they go."""

    __slots__ = ("_message_id", "_name", "release", "theme")

    def __init__(self, message_id: int, name: Callable[[], str], theme: Theme, release: Callable[[Part], None]) -> None:
        self._message_id = message_id
        self._name = name
        self.theme = theme
        self.release = release

    def part(self, kind: PartKind, content: object, gap_px: int) -> Part:
        height = round(REPLY_PX * REPLY_LEADING * self.theme.scale)
        return Part(kind, content, self._message_id, self._name, self.theme.px(gap_px), height_px=height)

    def drop(self, parts: list[Part], start: int) -> None:
        for part in parts[start:]:
            self.release(part)
        del parts[start:]

    def update(self, parts: list[Part], contents: list[PartContent]) -> None:
        """Update the parts; those of the same kind keep their widgets up to the first difference."""
        for index, (kind, content, gap_px) in enumerate(contents):
            if index < len(parts) and parts[index].kind is kind:
                parts[index].set_content(content)
            else:
                self.drop(parts, index)
                parts.append(self.part(kind, content, gap_px))
        self.drop(parts, len(contents))

    def estimated_px(self, text: str, width_px: int) -> int:
        lines = 1 + text.count("\n") + len(text) * REPLY_PX * 0.5 * self.theme.scale / max(1, width_px)
        return round(lines * REPLY_PX * REPLY_LEADING * self.theme.scale)


class Body:
    """One growing text (answer or thinking) as parts.

    Of a long text only the last section is cut at first; each other section is a part without widget until it is
    needed.
    """

    def __init__(self, maker: PartMaker, number: int, *, secondary: bool) -> None:
        """`number`: the first figure of the addresses of its parts."""
        self._maker = maker
        self._theme = maker.theme
        self._address = number
        self.secondary = secondary
        self.above: list[Part] = []  # of all sections but the last
        self.parts: list[Part] = []  # of the last section
        self.clear()

    def clear(self) -> None:
        self._begin([Section(0, 0)])

    def _begin(self, cuts: list[Section]) -> None:
        """Starts again with a text of which no section is read yet."""
        self._maker.drop(self.above, 0)
        self._maker.drop(self.parts, 0)
        self.text = ""  # as far as it was taken
        self._finished = False
        self._last = cuts[-1]
        self._number = len(cuts) - 1  # of the last section
        self.splitter = Splitter(self._last.open_fence())

    @property
    def first(self) -> Part | None:
        return next(iter(self.above or self.parts), None)

    def sync(self, text: str, width_px: int, *, growing: bool) -> None:
        """Updates the parts from the text, of which only what is new is split if it has grown."""
        if text is not self.text:
            grown = text.startswith(self.text) and not self._finished and len(text) - len(self.text) <= _MOST_GROWN
            if not (grown and self.text) and text != self.text:
                self._put_sections(text, width_px)
        first = len(self.splitter.blocks)
        if len(text) > len(self.text):
            first = self.splitter.append(text[max(len(self.text), self._last.start) :], shown=growing)
        self.text = text
        if not growing and not self._finished:
            first = min(first, self._finish())
        self._show_blocks(first, width_px)

    def read(self, part: Part, width_px: int) -> None:
        """Splits a section that was not read, in place of its part."""
        assert isinstance(part.content, Unread)
        blocks = blocks_of(part.content)
        place = self.above.index(part)
        number = part.content.number
        start = part.content.section.start
        self.above[place : place + 1] = [
            self._block_part(blocks, index, width_px, number, start) for index in range(len(blocks))
        ]

    def _finish(self) -> int:
        """The text is complete, also code without an end; returns the first block that may have changed."""
        first = self.splitter.finish()
        blocks = self.splitter.blocks
        for index in range(first, len(blocks)):
            if blocks[index].kind is BlockKind.CODE:
                blocks[index] = replace(blocks[index], closed=True)
        self._finished = True
        return first

    def _put_sections(self, text: str, width_px: int) -> None:
        cuts = sections(text)
        self._begin(cuts)
        for number, section in enumerate(cuts[:-1]):
            part = self._maker.part(PartKind.UNREAD, Unread(section, self, number), _GAP_PX)
            part.address = (self._address, number, 0)
            part.start = section.start
            part.height_px = self._maker.estimated_px(text[section.start : section.end], width_px)
            self.above.append(part)

    def _show_blocks(self, first: int, width_px: int) -> None:
        blocks = self.splitter.blocks
        parts = self.parts
        start = self._last.start
        self._maker.drop(parts, len(blocks))
        for index in range(min(first, len(parts)), len(blocks)):
            kind = PartKind(blocks[index].kind)
            if index < len(parts) and parts[index].kind is kind:
                parts[index].set_content(blocks[index])
                parts[index].start = start + blocks[index].start
            else:
                self._maker.drop(parts, index)
                parts.append(self._block_part(blocks, index, width_px, self._number, start))

    def _block_part(self, blocks: list[Block], index: int, width_px: int, section: int, start: int) -> Part:
        """`section`: the number of the section that the blocks are of; `start`: where it begins in the text."""
        block = blocks[index]
        gap_px = 0 if index == 0 and start == 0 else _gap_px(blocks[index - 1] if index else None, block)
        part = self._maker.part(PartKind(block.kind), block, gap_px)
        part.address = (self._address, section, index)
        part.start = start + block.start
        part.secondary = self.secondary
        part.inset_px = self._theme.px(_THOUGHT_INSET_PX) if self.secondary else 0
        if block.inside and block.kind is not BlockKind.TEXT:
            part.inset_px += round(steps_in_px(block.inside, self._theme.reply_font(), self._theme.scale)[-1])
        part.height_px = _estimated_lines(block, width_px, self._theme.scale) * part.height_px
        return part


@dataclass(frozen=True, slots=True)
class Unread:
    section: Section
    body: Body
    number: int


def blocks_of(unread: Unread) -> list[Block]:
    splitter = Splitter(unread.section.open_fence())
    splitter.append(unread.body.text[unread.section.start : unread.section.end], shown=False)
    splitter.finish()
    blocks = splitter.blocks
    if blocks and blocks[-1].kind is BlockKind.CODE and not blocks[-1].closed:
        blocks[-1] = replace(blocks[-1], closed=True, goes_on=True)
    return blocks


class StepParts:
    """The parts of one step of a reply: its thinking and text, and the calls that it ended in."""

    def __init__(self, maker: PartMaker, number: int) -> None:
        self.number = number
        self.fold: list[Part] = []
        self.thought = Body(maker, 3 * number + 1, secondary=True)
        self.answer = Body(maker, 3 * number + 2, secondary=False)
        self.calls: list[Part] = []

    @property
    def thinking_key(self) -> Key:
        return 3 * self.number + 1, 0

    def call_key(self, call: int) -> Key:
        return 3 * self.number + 3, call

    @property
    def all(self) -> Iterator[Part]:
        texts = (*self.thought.above, *self.thought.parts, *self.answer.above, *self.answer.parts)
        yield from (*self.fold, *texts, *self.calls)

    def drop(self, maker: PartMaker) -> None:
        maker.drop(self.fold, 0)
        maker.drop(self.calls, 0)
        self.thought.clear()
        self.answer.clear()


class MessageSegment:
    """Neighbouring messages, which are positioned relative to the segment and move together."""

    __slots__ = ("count", "has_read", "height_px", "is_stale", "top_px")

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.top_px = self.height_px = 0
        self.is_stale = True  # a height within it has changed
        self.has_read = False


NOWHERE = MessageSegment()  # for what is in no column


class MessageItem:
    """INVARIANT: `parts` are on the screen in this order; `height_px` is the sum of their extents."""

    segment = NOWHERE
    offset_px = 0  # in the segment

    def __init__(
        self, message: TranscriptMessage, name: Callable[[], str], theme: Theme, release: Callable[[Part], None]
    ) -> None:
        self.message = message
        self.height_px = 0
        self.highlighted = False
        self.opened: set[Key] = set()
        self.is_read = False  # its text has been cut into parts
        self._theme = theme
        self._maker = PartMaker(message.id, name, theme, release)
        self._bubble_text: str | None = None
        self._is_bubble: bool | None = None  # whose message its words are shown as; None: not yet
        self.parts: list[Part] = []
        self._tops = [0]
        self._beginning: list[Part] = []
        self._attached: list[Part] = []
        self._head: list[Part] = []
        self._foot: list[Part] = []
        self._before: list[Part] = []  # the field that this message is edited in, or another is written in
        self._after: list[Part] = []
        self._question: list[Part] = []
        self._consent: ConsentContent | None = None  # what that shows

    # A chat opens with an item for each of its messages, and most of them are never looked at.

    @cached_property
    def _steps(self) -> list[StepParts]:
        return [StepParts(self._maker, 0)]

    @cached_property
    def _call_contents(self) -> CallContents:
        return CallContents()

    @cached_property
    def _json(self) -> ShownReply:
        return ShownReply()

    def _views(self) -> list[StepView]:
        """Its steps, the last one included, which ends in no calls."""
        message = self.message
        return [*message.steps, StepView((), message.text, message.thinking, message.thinking_s)]

    def keys(self) -> set[Key]:
        """Of all that can be opened."""
        views = list(enumerate(self._views()))
        calls = {(3 * step + 3, call) for step, view in views for call in range(len(view.calls))}
        return calls | {(3 * step + 1, 0) for step, view in views if view.thinking}

    def shown_text(self) -> str:
        """Of its answer, with the thinking that is open."""
        opened = (view.thinking for step, view in enumerate(self._views()) if (3 * step + 1, 0) in self.opened)
        return "\n".join((self.message.written, *opened))

    @property
    def top_px(self) -> int:
        return self.segment.top_px + self.offset_px

    def is_of_text(self, part: Part) -> bool:
        """Whether it shows the message's own text, that of its last step."""
        return part.address is not None and part.address[0] in (0, 3 * len(self.message.steps) + 2)

    @staticmethod
    def is_of_answer(part: Part) -> bool:
        """Whether it shows words of the message, and no thinking or call."""
        return part.address is not None and (part.address[0] == 0 or part.address[0] % 3 == 2)

    def top_of(self, index: int) -> int:
        """Where part `index` (or the end, for one past the last) starts below the message's top, its gap included."""
        return self._tops[index]

    def indexes_between(self, top_px: int, bottom_px: int) -> range:
        """The parts that reach into this range, counted from the message's top."""
        first = max(0, bisect_right(self._tops, top_px) - 1)
        return range(first, min(len(self.parts), bisect_right(self._tops, bottom_px)))

    def estimate(self, width_px: int) -> None:
        """Sets a height from the text's length alone, before it is parsed."""
        self.height_px = self._maker.estimated_px(self.message.text, width_px) + self._theme.px(ROW_PX)

    def sync(self, width_px: int) -> bool:
        """Updates the parts from the message; returns whether some came or went."""
        self.is_read = self.segment.has_read = True
        self._set_fields()
        line = BeginningLine(self.message.begins, self.message.summary)
        shows = line.begins or line.summary
        self._maker.update(self._beginning, [(PartKind.BEGINNING, line, 0)] if shows else [])
        attached: object = self.message.attachments
        shown = bool(attached) and not self._is_edited  # there the field has them
        self._maker.update(self._attached, [(PartKind.ATTACHMENTS, attached, 0)] if shown else [])
        if self._is_edited or self._is_bubble not in (None, self.message.from_user):
            self._drop_words()
        self._is_bubble = self.message.from_user
        if self._is_edited:
            pass  # a field is in their place
        elif self.message.from_user:
            self._set_bubbles(width_px)
        else:
            self._sync_steps(width_px)
        self._set_question(width_px)
        self._maker.update(self._foot, [] if self._is_edited else list(self._foot_contents()))
        return self._join_parts()

    def grow(self, width_px: int) -> bool:
        """As `sync`, when only the text has grown."""
        last = self._steps[-1]
        if not last.answer.text or bool(self.message.thinking) != bool(last.fold):  # of either, the first words
            return self.sync(width_px)
        self._sync_texts(last, self._views()[-1], width_px)
        self._space()
        return self._join_parts()

    def _sync_steps(self, width_px: int) -> None:
        steps = self._steps
        message = self.message
        if len(steps) > len(message.steps) + 1:
            self._drop_steps()
        while len(steps) <= len(message.steps):
            steps.append(StepParts(self._maker, len(steps)))
        for step, view in zip(steps, self._views(), strict=True):
            self._sync_step(step, view, width_px)
        self._space()

    def _sync_texts(self, step: StepParts, view: StepView, width_px: int) -> None:
        """Only the last step grows, and is shown as a table or tree where it is JSON."""
        is_last = step is self._steps[-1]
        growing = is_last and self.message.under_way
        step.thought.sync(view.thinking if step.thinking_key in self.opened else "", width_px, growing=growing)
        text = self._json.of(view.text, growing=growing, raw=self.message.raw) if is_last else view.text
        step.answer.sync(text, width_px, growing=growing)

    def _sync_step(self, step: StepParts, view: StepView, width_px: int) -> None:
        thinking = step is self._steps[-1] and self.message.under_way and not view.text
        can_end = thinking and self.message.status is ReplyStatus.STREAMING
        opened = step.thinking_key in self.opened
        fold = Fold(round(view.thinking_s), opened, thinking, can_end, step.thinking_key)
        self._maker.update(step.fold, [(PartKind.FOLD, fold, 0)] if view.thinking else [])
        self._sync_texts(step, view, width_px)
        contents, addresses = self._calls(step, view)
        self._maker.update(step.calls, contents)
        for part, (_, content, gap_px), address in zip(step.calls, contents, addresses, strict=True):
            part.address = address
            part.gap_px = self._theme.px(gap_px)
            part.inset_px = self._theme.px(_THOUGHT_INSET_PX) if address else 0
            if isinstance(content, CallText) and part.measured_width_px < 0:
                part.height_px = self._maker.estimated_px(content.text, width_px)

    def _calls(self, step: StepParts, view: StepView) -> tuple[list[PartContent], list[Address | None]]:
        """What is shown of a step's calls; one that waits for an answer is in the question below them."""
        contents: list[PartContent] = []
        addresses: list[Address | None] = []
        waiting = {call.id for call in self.message.consent.calls} if self.message.consent is not None else set()
        for number, call in enumerate(view.calls):
            key = step.call_key(number)
            if call.id in waiting:
                continue
            opened = key in self.opened
            follows_call = not addresses[-1] if addresses else bool(step.number and not (view.text or view.thinking))
            gap_px = _BETWEEN_CALLS_PX if follows_call else _BELOW_HEADING_PX
            contents.append((PartKind.CALL, CallLine(call, opened, key), gap_px))
            addresses.append(None)
            if opened:
                below = self._call_contents.of(call)
                contents += below
                addresses += [(*key, piece) for piece in range(len(below))]
        return contents, addresses

    def _set_question(self, width_px: int) -> None:
        consent = self.message.consent
        if consent is None:
            self._maker.update(self._question, [])
            return
        if self._consent is None or self._consent.view is not consent:
            self._consent = ConsentContent.of(consent)
        self._maker.update(self._question, [(PartKind.CONSENT, self._consent, _ABOVE_CONSENT_PX)])
        (part,) = self._question
        part.address = _OF_QUESTION
        if part.measured_width_px < 0:
            part.height_px = self._maker.estimated_px(self._consent.text, width_px)

    def hides(self, address: Address) -> bool:
        """Whether it is of a call that is closed."""
        is_of_call = address < _OF_QUESTION and address[0] > 0 and address[0] % 3 == 0 and address[2] != OF_LINE
        return is_of_call and address[:2] not in self.opened

    def line_of(self, address: Address) -> Part | None:
        return next(
            (part for part in self.parts if isinstance(part.content, CallLine) and part.content.key == address[:2]),
            None,
        )

    def texts_of_calls(self) -> Iterator[tuple[Address, CallLine | CallText | Block]]:
        """Of those that are closed, too; for a search."""
        for step, view in enumerate(self.message.steps):
            for number, call in enumerate(view.calls):
                line = self.line_of((3 * step + 3, number, OF_LINE))
                if line is not None and isinstance(line.content, CallLine):
                    yield (*line.content.key, OF_LINE), line.content
                for piece, (_, content, _gap) in enumerate(self._call_contents.of(call)):
                    if isinstance(content, CallText | Block):
                        yield (3 * step + 3, number, piece), content

    @property
    def _is_edited(self) -> bool:
        return self.message.edit is not None and self.message.edit.kind is EditKind.EDIT

    def _set_fields(self) -> None:
        edit = self.message.edit
        field: list[PartContent] = [] if edit is None else [(PartKind.EDITOR, edit, _GAP_PX)]
        after = edit is not None and edit.kind is EditKind.AFTER
        self._maker.update(self._before, [] if after else field)
        self._maker.update(self._after, field if after else [])

    def _drop_words(self) -> None:
        """Something else takes their place: a field, or the words as the other side's."""
        self._maker.update(self._head, [])
        self._bubble_text = None
        self._drop_steps()

    def _drop_steps(self) -> None:
        for step in self._steps:
            step.drop(self._maker)
        self._steps[:] = [StepParts(self._maker, 0)]

    def _join_parts(self) -> bool:
        steps = (part for step in self._steps for part in step.all)
        above = (*self._before, *self._beginning, *self._attached, *self._head)
        parts = [*above, *steps, *self._question, *self._foot, *self._after]
        if parts == self.parts:
            return False  # heights change where parts are measured
        self.parts = parts
        self.sum_up()
        return True

    def read_section(self, indexes: range, width_px: int) -> bool:
        """Cut the last uncut section of these parts; returns whether there was one."""
        parts = self.parts[indexes.start : indexes.stop]
        part = next((each for each in reversed(parts) if each.kind is PartKind.UNREAD), None)
        if part is None:
            return False
        assert isinstance(part.content, Unread)
        part.content.body.read(part, width_px)
        self._space()
        self._join_parts()
        return True

    def code_of(self, part: Part) -> str:
        """The whole code of a part that shows its first piece."""
        pieces = takewhile(lambda block: block.continues_code, self._blocks_after(part))
        assert isinstance(part.content, Block)
        return "".join([part.content.text, *(piece.text for piece in pieces)])

    def _blocks_after(self, part: Part) -> Iterator[Block]:
        for below in self.parts[self.parts.index(part) + 1 :]:
            if isinstance(below.content, Block):
                yield below.content
            elif isinstance(below.content, Unread):
                yield from blocks_of(below.content)

    def sum_up(self) -> None:
        """Recompute positions after a part's height changed."""
        self._tops = list(accumulate([part.gap_px + part.height_px for part in self.parts], initial=0))
        self.height_px = self._tops[-1]
        self.segment.is_stale = True

    def release_all(self) -> None:
        for part in self.parts:
            self._maker.release(part)

    def _space(self) -> None:
        """Sets the gaps above the folds and texts of the steps."""
        for step in self._steps:
            thought = step.thought.first
            answer = step.answer.first
            for fold in step.fold:
                fold.gap_px = self._theme.px(_GAP_PX) if step.number else 0
            if thought is not None:
                thought.gap_px = self._theme.px(_BELOW_HEADING_PX)
            if answer is not None:
                answer.gap_px = self._theme.px(self._above_answer_px(step))

    def _above_answer_px(self, step: StepParts) -> int:
        if step.thought.first is not None:
            return _ABOVE_HEADING_PX
        if step.fold:
            return _BELOW_HEADING_PX
        return _GAP_PX if step.number else 0

    def _foot_contents(self) -> Iterator[PartContent]:
        message = self.message
        has_words = bool(message.text or message.thinking)
        waiting = message.under_way and not has_words and message.status not in _IN_CALLS
        if waiting:
            yield PartKind.PROGRESS, ProgressContent(message.status, message.progress, message.waits_for), 0
        if message.has_notice:
            yield (
                PartKind.NOTICE,
                NoticeContent(message.status, message.error, message.empty, message.needs_larger_model),
                _GAP_PX,
            )
        footer = FooterContent(
            from_user=message.from_user,
            status=message.status,
            stats=None if message.needs_larger_model else message.stats,  # how fast it refused is no praise
            empty=message.empty,
            slowdown=message.slowdown,
            can_continue=message.can_continue,
            sibling=message.sibling,
            siblings=message.siblings,
            highlighted=self.highlighted,
            model="" if message.from_user else message.model,
            summary=message.summary,
            pinned=message.pinned,
        )
        # Progress is as high as a first line with its gap, so that nothing moves when that comes.
        gap_px = 0 if waiting else 6
        yield PartKind.FOOTER, footer, 2 if message.from_user else gap_px

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
        self._maker.update(self._head, [(PartKind.BUBBLE, bubble, 0) for bubble in bubbles])
        for number, (part, bubble) in enumerate(zip(self._head, bubbles, strict=True)):
            part.address = (0, number, 0)
            part.start = cuts[number].start
            if part.measured_width_px < 0:
                part.height_px = self._maker.estimated_px(bubble.text, width_px)


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
    row = model.row_of(message_id)
    count = len(model.messages)
    if row is None:
        return ""
    if model.messages[row].from_user:
        words = QCoreApplication.translate("TranscriptView", "Your message, %1 of %2")
    else:
        words = QCoreApplication.translate("TranscriptView", "Reply, message %1 of %2")
    return formats.fill(words, formats.count(row + 1), formats.count(count))
