"""Exchanges: what follows when a reply calls tools, until the model answers.

A step's calls are stored as asked; where the gate wants the user's consent they wait for it, all with one question;
then they run one after another, each stored as sent before it runs and as answered after it; then the reply goes on
with its next request. Nothing but `Gate.execute` runs a call. Tools are listed again before each call, so that consent
is for what runs.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.controllers.asking import Asking
from app.controllers.replies import LiveReply, RunningReplies
from app.controllers.tools import Cancel, ToolsController, built_in_tools
from app.storage import Attachments, ReplyStatus, Storage, Stores
from app.storage.parts import Call, CallStage, Part, Parts, Text, all_parts, of_kind
from app.storage.portable import is_foreign
from app.tools.builtin.tool import BUILT_IN
from app.tools.definitions import Answer, AskReason, Tool, ToolResult
from app.tools.gate import Circumstances, Gate, NoPermit, Permit, Wanted, described, offers, weightiest
from app.tools.steps import (
    KEEPS_CHANGING,
    MOST_CHANGES,
    MOST_STEPS,
    NEARLY_FULL,
    NO_PERMIT,
    NOT_THERE,
    addresses_in,
    answered,
    goes_round,
    is_full,
    key_of,
    object_of,
    sources_of,
    with_call,
    with_note,
    without_running,
)
from app.view_models.tools import ConsentView, call_view
from engine import MessageRole

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Branch:
    """What matters of the messages before a reply."""

    sources: frozenset[str] = frozenset()  # of words that the user did not write: servers; "": files, an imported chat
    typed: frozenset[str] = frozenset()  # addresses in the user's own words; none where others may have written those
    unknown: frozenset[tuple[str, str]] = frozenset()  # calls of which it is not known whether they ran


_UNREADABLE = Branch(frozenset({""}))


@dataclass(eq=False, slots=True)
class _Pending:
    """A call of the present step that is to run."""

    call: Call
    wanted: Wanted
    permit: Permit | None = None
    former: str = ""  # how the tool was described when the consent that it ended was given
    reason: AskReason | None = None
    changes: int = 0  # of its tool, since the model called it


@dataclass(eq=False, slots=True)
class _Exchange:
    reply: LiveReply
    branch: Branch = _UNREADABLE  # until it is read
    tools: dict[str, Tool] = field(default_factory=dict)  # by the names that the model knows
    steps: int = 0  # since the user was asked whether to go on
    in_a_row: int = 0  # calls that ran without a question
    must_answer: bool = False
    pending: list[_Pending] = field(default_factory=list)
    asked: list[_Pending] = field(default_factory=list)  # with the present question
    cancel: Cancel | None = None  # ends the call that runs


class ExchangeController(QObject):
    waits_changed = Signal()  # a reply began or ended to wait for the user

    def __init__(
        self,
        storage: Storage,
        replies: RunningReplies,
        asking: Asking,
        tools: ToolsController,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._replies = replies
        self._asking = asking
        self._tools = tools
        self._gate = Gate(tools.consents)
        self._live: dict[int, _Exchange] = {}  # by message
        replies.called.connect(self._begin_step)
        replies.ended.connect(lambda _chat_id, message_id, _status: self._drop(message_id))

    @property
    def waiting(self) -> tuple[int, ...]:
        """Messages that wait for the user's answer."""
        return tuple(message_id for message_id, each in self._live.items() if each.asked)

    def answer(self, message_id: int, answer: Answer, seen: ConsentView) -> None:
        """The user's answer to the question that they saw; if the message has another one by now, it is ignored."""
        exchange = self._live.get(message_id)
        if exchange is None or exchange.reply.consent != seen or answer not in seen.offers:
            return
        asked = exchange.asked
        exchange.asked = []
        exchange.in_a_row = 0
        if seen.reason is AskReason.STEPS:
            exchange.steps = 1
            exchange.must_answer = answer is Answer.DONT
        parts = exchange.reply.parts
        for each in asked:
            each.permit = self._gate.answer(each.wanted, answer)
            stage = CallStage.DECLINED if each.permit is None else CallStage.ASKED
            each.call = replace(each.call, stage=stage, consent=answer.value)
            parts = with_call(parts, each.call)
        exchange.pending = [each for each in exchange.pending if each.call.stage is CallStage.ASKED]
        self._put(exchange, parts, self._run_next)
        self.waits_changed.emit()
        self._tools.changed.emit()

    def close(self) -> None:
        """End the calls that run."""
        for message_id in list(self._live):
            self._drop(message_id)

    def _drop(self, message_id: int) -> None:
        """The reply ended: nothing of it runs any more."""
        exchange = self._live.pop(message_id, None)
        if exchange is None:
            return
        if exchange.cancel is not None:
            exchange.cancel()
        for each in exchange.pending:
            self._refuse(each)
        if exchange.asked:
            exchange.asked = []
            self.waits_changed.emit()

    def _goes_on(self, exchange: _Exchange) -> bool:
        """What is answered later counts for nothing if it does not."""
        message_id = exchange.reply.message_id
        return self._live.get(message_id) is exchange and message_id in self._replies.live

    def _begin_step(self, message_id: int) -> None:
        reply = self._replies.live[message_id]
        exchange = self._live.setdefault(message_id, _Exchange(reply))
        if exchange.must_answer:
            self._replies.end(message_id, ReplyStatus.DONE)
            return
        exchange.steps += 1
        exchange.tools = self._asking.offered_to(message_id)
        self._put(exchange, tuple(self._named(exchange, each) for each in reply.parts), self._read_branch)

    def _named(self, exchange: _Exchange, part: Part) -> Part:
        tool = exchange.tools.get(part.name) if isinstance(part, Call) and part.stage is CallStage.ASKED else None
        if tool is None or not isinstance(part, Call):
            return part
        return replace(part, server=self._tools.name_of(tool.server), tool=tool.name)

    def _read_branch(self, exchange: _Exchange) -> None:
        if exchange.branch is not _UNREADABLE:
            self._judge_step(exchange)
            return

        def read(branch: Branch) -> None:
            exchange.branch = branch
            if self._goes_on(exchange):
                self._judge_step(exchange)

        chat_id = exchange.reply.chat_id
        has_files = self._asking.begins_with_files(chat_id)
        branch_of = partial(_branch_of, exchange.reply.message_id, chat_id, has_files)
        self._storage.count(branch_of, read, lambda: read(_UNREADABLE))

    def _judge_step(self, exchange: _Exchange) -> None:
        """Which calls run, which are answered without running, and what is asked."""
        parts = exchange.reply.parts
        calls = [each for each in of_kind(Call, parts) if each.stage is CallStage.ASKED]
        for number, call in enumerate(calls):
            result = without_running(call, number, exchange.tools, parts)
            exchange.must_answer |= goes_round(call, parts)
            if result is not None:
                parts = answered(parts, call, result)
            else:
                wanted = self._wanted(exchange, exchange.tools[call.name], call.arguments)
                exchange.pending.append(_Pending(call, wanted))
        self._put(exchange, parts, self._ask_or_run)

    def _wanted(self, exchange: _Exchange, tool: Tool, arguments: str) -> Wanted:
        chat_id = exchange.reply.chat_id
        built_in = built_in_tools().get(tool.name) if tool.server == BUILT_IN else None
        if built_in is None:
            return Wanted(chat_id, tool, arguments)
        values = object_of(arguments) or {}
        free = built_in.is_free(values, self._tools.reach(chat_id, exchange.branch.typed))
        return Wanted(chat_id, tool, arguments, built_in.subject(values), free)

    def _circumstances(self, exchange: _Exchange, pending: _Pending, before: int = 0) -> Circumstances:
        sources = exchange.branch.sources | sources_of(exchange.reply.parts)
        unknown = exchange.branch.unknown | _unknown_in(exchange.reply.parts)
        return Circumstances(
            outside=bool(sources),
            elsewhere=bool(sources - {pending.wanted.tool.server}),
            is_repeat=key_of(pending.call) in unknown,
            in_a_row=exchange.in_a_row + before,
        )

    def _ask_or_run(self, exchange: _Exchange) -> None:
        """One question for all calls of the step that need one."""
        counted = 0
        asked = []
        for each in exchange.pending:
            if each.permit is not None:
                continue
            judgement = self._gate.judge(each.wanted, self._circumstances(exchange, each, counted))
            each.reason = judgement.reason
            each.former = judgement.former
            counted += not each.wanted.free
            if exchange.steps > MOST_STEPS and each.reason is None:
                each.reason = AskReason.STEPS
            if each.reason is not None:
                asked.append(each)
        if asked:
            self._ask(exchange, asked)
        else:
            self._run_next(exchange)

    def _ask(self, exchange: _Exchange, asked: list[_Pending]) -> None:
        exchange.asked = asked
        reason = weightiest(each.reason for each in asked if each.reason is not None)
        tools = [each.wanted.tool for each in asked]
        calls = tuple(replace(call_view(each.call), reads_only=each.wanted.tool.reads_only) for each in asked)
        changed = tuple((each.former, described(each.wanted.tool)) for each in asked if each.former)
        consent = ConsentView(calls, reason, offers(reason, tools), changed)
        reply = exchange.reply
        self._replies.show_steps(reply.message_id, reply.parts, ReplyStatus.WAITS_FOR_YOU, consent)
        self.waits_changed.emit()

    def _run_next(self, exchange: _Exchange) -> None:
        if exchange.pending:
            pending = exchange.pending[0]
            self._tools.listed(pending.wanted.tool.server, partial(self._listed, exchange, pending))
        else:
            self._go_on(exchange)

    def _listed(self, exchange: _Exchange, pending: _Pending, tools: Sequence[Tool]) -> None:
        """What the tool is now. A tool that was described otherwise needs another consent."""
        if not self._goes_on(exchange):
            return
        wanted = pending.wanted.tool
        may_call = wanted.id in self._tools.chosen_in(exchange.reply.chat_id)  # it may have been switched off meanwhile
        tool = next((each for each in tools if each.name == wanted.name and may_call), None)
        if tool is not None and tool.digest == wanted.digest:
            self._send(exchange, pending, tool)
            return
        self._refuse(pending)
        if tool is None:
            self._put_result(exchange, pending, ToolResult(NOT_THERE, failed=True))
        elif pending.changes == MOST_CHANGES:
            self._put_result(exchange, pending, ToolResult(KEEPS_CHANGING, failed=True))
        else:
            pending.changes += 1
            pending.wanted = self._wanted(exchange, tool, pending.wanted.arguments)
            exchange.tools[pending.call.name] = tool
            self._gate.judge(pending.wanted, Circumstances())  # ends consents for what it was
            pending.reason = AskReason.CHANGED
            pending.former = described(wanted)
            self._ask(exchange, [pending])

    def _send(self, exchange: _Exchange, pending: _Pending, tool: Tool) -> None:
        if pending.permit is None:
            pending.permit = self._gate.permit(pending.wanted, self._circumstances(exchange, pending))
            if pending.permit is None:  # a result of this step came from outside
                self._ask_or_run(exchange)
                return
            exchange.in_a_row += not pending.wanted.free
        pending.call = replace(pending.call, stage=CallStage.SENT)
        self._put(exchange, with_call(exchange.reply.parts, pending.call), partial(self._execute, pending, tool))

    def _execute(self, pending: _Pending, tool: Tool, exchange: _Exchange) -> None:
        reach = self._tools.reach(exchange.reply.chat_id, exchange.branch.typed)
        done = partial(self._put_result, exchange, pending)
        permit = pending.permit
        pending.permit = None

        def run(allowed: Tool, arguments: str) -> Cancel:
            return self._tools.start(allowed, arguments, reach, done)

        try:
            if permit is None:
                raise NoPermit
            exchange.cancel = self._gate.execute(permit, tool, pending.wanted.arguments, run)
        except NoPermit:
            _log.error("a call without a permit was refused")
            self._put_result(exchange, pending, ToolResult(NO_PERMIT, failed=True))

    def _put_result(self, exchange: _Exchange, pending: _Pending, result: ToolResult) -> None:
        """Its words first: what stops the reply while its pictures are decoded does not undo the call."""
        if not self._goes_on(exchange) or pending not in exchange.pending:
            return
        exchange.cancel = None
        exchange.pending.remove(pending)
        outside = result.outside or pending.wanted.tool.server != BUILT_IN
        parts = answered(exchange.reply.parts, pending.call, replace(result, outside=outside))
        then = partial(self._keep_pictures, result.pictures) if result.pictures else self._run_next
        self._put(exchange, parts, then)

    def _keep_pictures(self, pictures: tuple[bytes, ...], exchange: _Exchange) -> None:
        def kept(stored: Attachments) -> None:
            if self._goes_on(exchange):
                exchange.cancel = None
                self._put(exchange, (*exchange.reply.parts, *stored), self._run_next)

        exchange.cancel = self._tools.keep_pictures(pictures, kept)

    def _refuse(self, pending: _Pending) -> None:
        if pending.permit is not None:
            self._gate.refuse(pending.permit)
            pending.permit = None

    def _go_on(self, exchange: _Exchange) -> None:
        """With the next request."""
        reply = exchange.reply
        if is_full(reply.stats) and not exchange.must_answer and not self._asking.can_leave_out(reply):
            exchange.must_answer = True
            self._put(exchange, with_note(reply.parts, NEARLY_FULL), self._go_on)
            return
        self._replies.show_steps(reply.message_id, reply.parts, ReplyStatus.QUEUED)
        self._asking.go_on(reply.message_id, may_call=not exchange.must_answer)

    def _put(self, exchange: _Exchange, parts: Parts, then: Callable[[_Exchange], None]) -> None:
        """Show the steps, and store them before the next begins. What the disk refuses ends the reply."""
        message_id = exchange.reply.message_id
        self._replies.show_steps(message_id, parts, ReplyStatus.CALLING)

        def stored(_done: None) -> None:
            if self._goes_on(exchange):
                then(exchange)

        def refused(_problem: object) -> None:
            if self._goes_on(exchange):
                self._replies.end(message_id, ReplyStatus.INTERRUPTED)

        self._storage.write(lambda stores: stores.messages.put_parts(message_id, parts), stored, refused)


def _branch_of(message_id: int, chat_id: int, has_files: bool, stores: Stores) -> Branch:
    """On the thread that reads. What cannot be read counts as from outside."""
    try:
        branch = stores.messages.branch(message_id)
        foreign = is_foreign(stores.states.options(chat_id))
        chat = stores.chats.summary(chat_id)
        projects = stores.folders.projects_around(None if chat is None else chat.folder_id)
    except sqlite3.Error:
        return _UNREADABLE
    outside = has_files or foreign or any(is_foreign(each.options) for each in projects)
    sources: set[str] = {""} if outside else set()
    typed: set[str] = set()
    unknown: set[tuple[str, str]] = set()
    for message in branch:
        sources |= sources_of(message.parts) | ({""} if message.attachments else set())
        if message.role is MessageRole.USER and not foreign:
            typed |= {found for each in of_kind(Text, all_parts(message)) for found in addresses_in(each.text)}
        if message.id != message_id:
            unknown |= _unknown_in(message.parts, CallStage.SENT)
    return Branch(frozenset(sources), frozenset(typed), frozenset(unknown))


def _unknown_in(parts: Parts, *also: CallStage) -> frozenset[tuple[str, str]]:
    """Calls of which it is not known whether they ran."""
    return frozenset(key_of(each) for each in of_kind(Call, parts) if each.stage in (CallStage.UNKNOWN, *also))
