"""Consent: who may run which call. One function executes calls, `Gate.execute`, and only with a permit.

A permit is for one call: a tool as it was described, and its arguments. It is used once; a refused one is used, too.
Consents for more than one call hold for a tool as it was described then: where its server describes it otherwise they
end, also if it changes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from app.storage.consents import EVERY_CHAT, Consent
from app.tools.definitions import Answer, AskReason, Tool

MOST_IN_A_ROW = 10  # calls that run without a question between

T = TypeVar("T")
_Key = tuple[str, str, str, str]  # server, tool, digest, arguments


class NoPermit(Exception):
    """The call may not run: it has no permit, or the permit is for another one or was used."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that the model wants. `subject`: what a consent for more calls is limited to."""

    chat_id: int
    tool: Tool
    arguments: str
    subject: str = ""
    free: bool = False  # it reaches nothing, or only what the user typed


@dataclass(frozen=True, slots=True)
class Circumstances:
    outside: bool = False  # words from outside are in the branch: of a server, a file, the web
    elsewhere: bool = False  # some of them are not of the called tool's own server
    is_repeat: bool = False  # an equal call was sent before, and it is not known whether it ran
    in_a_row: int = 0  # calls that ran without a question before this one


@dataclass(frozen=True, slots=True)
class Judgement:
    reason: AskReason | None  # why consent is asked; None: it is not
    former: str = ""  # how the tool was described when consent was given, if it has changed


@dataclass(eq=False, slots=True, frozen=True)
class Permit:
    """For one call. Only the gate that made it knows for which."""


class Consents:
    """Consents for more than one call, by chat; `EVERY_CHAT`: those that hold everywhere. Of this run alone."""

    def __init__(self) -> None:
        self._known: dict[int, dict[tuple[str, str, str], Consent]] = {}

    def of(self, chat_id: int, server: str, tool: str, subject: str) -> Consent | None:
        return self._of_chat(chat_id).get((server, tool, subject))

    def put(self, chat_id: int, consent: Consent) -> None:
        self._of_chat(chat_id)[consent.server, consent.tool, consent.subject] = consent

    def end(self, chat_id: int, server: str, tool: str | None = None) -> None:
        """Of a tool, or of all of the server's, whatever they are limited to."""
        known = self._of_chat(chat_id)
        for key in [key for key in known if key[0] == server and tool in (None, key[1])]:
            del known[key]

    def _of_chat(self, chat_id: int) -> dict[tuple[str, str, str], Consent]:
        return self._known.setdefault(chat_id, {})


class Gate:
    def __init__(self, consents: Consents | None = None) -> None:
        self._consents = consents or Consents()
        self._open: dict[Permit, _Key] = {}

    def judge(self, wanted: Wanted, circumstances: Circumstances) -> Judgement:
        """Whether the user is asked, and why. Ends consents for a tool that has changed."""
        if wanted.free:
            return Judgement(None)
        found = [(chat_id, each) for chat_id in (wanted.chat_id, EVERY_CHAT) if (each := self._of(chat_id, wanted))]
        former = [(chat_id, each) for chat_id, each in found if each.digest != wanted.tool.digest]
        for chat_id, _consent in former:
            self._consents.end(chat_id, wanted.tool.server, wanted.tool.name)
        if len(former) < len(found):
            return Judgement(_reason(wanted.tool, circumstances))
        return Judgement(AskReason.CHANGED, former[0][1].seen) if former else Judgement(AskReason.NEW)

    def permit(self, wanted: Wanted, circumstances: Circumstances) -> Permit | None:
        """For a call without a question; None: the user has to be asked."""
        return None if self.judge(wanted, circumstances).reason is not None else self._permit(wanted)

    def answer(self, wanted: Wanted, answer: Answer) -> Permit | None:
        """The user was shown this call, whole, and has answered. None: it must not run."""
        if answer is Answer.DONT:
            return None
        if answer is not Answer.ONCE and not wanted.free:
            chat_id = EVERY_CHAT if answer is Answer.ALWAYS else wanted.chat_id
            tool = wanted.tool
            consent = Consent(tool.server, tool.name, wanted.subject, tool.digest, described(tool))
            self._consents.put(chat_id, consent)
        return self._permit(wanted)

    def refuse(self, permit: Permit) -> None:
        """It will not be used."""
        self._open.pop(permit, None)

    def execute(self, permit: Permit, tool: Tool, arguments: str, run: Callable[[Tool, str], T]) -> T:
        """`tool`: as its server describes it now. Raises NoPermit; the permit is used then, too."""
        if self._open.pop(permit, None) != _key(tool, arguments):
            raise NoPermit
        return run(tool, arguments)

    def _of(self, chat_id: int, wanted: Wanted) -> Consent | None:
        return self._consents.of(chat_id, wanted.tool.server, wanted.tool.name, wanted.subject)

    def _permit(self, wanted: Wanted) -> Permit:
        permit = Permit()
        self._open[permit] = _key(wanted.tool, wanted.arguments)
        return permit


def _reason(tool: Tool, circumstances: Circumstances) -> AskReason | None:
    """Why a call is asked about for which there is consent."""
    if circumstances.is_repeat:
        return AskReason.REPEAT
    # A tool that only reads sends its arguments all the same, and that it only reads is what its server says.
    sends_on = not tool.reads_only or (tool.server and circumstances.elsewhere)
    if circumstances.outside and sends_on:
        return AskReason.OUTSIDE
    return AskReason.MANY if circumstances.in_a_row >= MOST_IN_A_ROW else None


def _key(tool: Tool, arguments: str) -> _Key:
    return tool.server, tool.name, tool.digest, arguments


def described(tool: Tool) -> str:
    """The whole description that consent is given for, as text."""
    hints = "reads only" if tool.reads_only else ""
    return "\n\n".join(filter(None, (f"{tool.origin} {tool.name}".strip(), tool.description, tool.schema, hints)))


def weightiest(reasons: Iterable[AskReason]) -> AskReason:
    """Of one card for several calls."""
    return min(reasons, key=list(AskReason).index)


def offers(reason: AskReason, tools: Iterable[Tool]) -> tuple[Answer, ...]:
    """What can be answered, in the order to show."""
    if reason in (AskReason.NEW, AskReason.CHANGED):
        reads = all(tool.reads_only for tool in tools)
        first = (Answer.CHAT, Answer.ONCE) if reads else (Answer.ONCE, Answer.CHAT)
        return (*first, Answer.ALWAYS, Answer.DONT)
    return Answer.ONCE, Answer.DONT
