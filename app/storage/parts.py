"""The parts of a message: texts, thinking, files, tool calls and results, in order. One schema.

Storage, search, export, import, rescue and copies read it here. A message's last thinking and last text are columns of
their own: they grow while a reply streams. The column `parts` has all parts before these, as a JSON list. The field
`part` names a part's kind; without it the part is a file. Kinds of a newer version are kept unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Protocol, TypeVar

from app.storage.codec import as_name, as_text, is_shallow, like

_OF_PICTURES = ("digest", "width", "height", "thumbnail")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_THUMBNAIL = 64_000


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str
    seconds: float = 0.0


class CallStage(StrEnum):
    """How far a call is. Each is on disk before the next begins, so a crash never leaves a call that ran as ASKED."""

    ASKED = "asked"  # by the model; it has not run
    SENT = "sent"  # to the tool; it may have run
    ANSWERED = "answered"  # its result follows
    DECLINED = "declined"  # by the user
    STOPPED = "stopped"  # by the user; it has not run, or not to its end
    UNKNOWN = "unknown"  # the app ended while it ran

    @classmethod
    def _missing_(cls, value: object) -> CallStage:
        return cls.ANSWERED

    @property
    def is_open(self) -> bool:
        return self in (CallStage.ASKED, CallStage.SENT)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call by the model."""

    id: str
    name: str  # as the model calls the tool
    arguments: str  # a JSON object
    server: str = ""  # name of the tool's server; "": built in, or not known
    tool: str = ""  # as its server calls it; "": not known
    stage: CallStage = CallStage.ANSWERED
    consent: str = ""  # what the user answered; "": not asked


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's result; its pictures follow it, as attachments without a name."""

    id: str  # of the call
    name: str
    text: str
    failed: bool = False
    seconds: float = 0.0
    outside: bool = False  # it has words from outside: of a server, a file or the web


@dataclass(frozen=True, slots=True)
class Summary:
    """The text of its message is a summary of messages before it."""

    messages: int  # how many


@dataclass(frozen=True, slots=True)
class Unknown:
    """A kind of part of a newer version: kept, copied and exported, but not shown."""

    json: str


class AttachmentKind(StrEnum):
    TEXT = "text"  # text or code, from a file
    PDF = "pdf"  # text of a PDF file
    PASTED = "pasted"  # pasted text, without a name
    PICTURE = "picture"  # its bytes are in a file of their own, see `pictures`
    PASSAGES = "passages"  # of documents, found for the message
    SEARCHED = "searched"  # a document of the chat, which is searched instead of read whole: only its name
    NOTE = "note"  # of an imported chat: only the name of a missing file

    @classmethod
    def _missing_(cls, value: object) -> AttachmentKind:
        return cls.TEXT


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file, a picture or a long text."""

    name: str
    kind: AttachmentKind
    text: str
    size_bytes: int  # of the file, or of the pasted text
    tokens: int = 0  # as the main model counted them; 0: not known
    digest: str = ""  # of a picture's file (see `pictures`)
    width: int = 0  # of a picture, in pixels
    height: int = 0
    thumbnail: str = ""  # of a picture: a small JPEG, as base64; a square in those of older versions

    @property
    def is_picture(self) -> bool:
        return self.kind is AttachmentKind.PICTURE

    @property
    def content(self) -> tuple[str, str, str]:
        """What the user has attached; its tokens may be counted later."""
        return self.name, self.text, self.digest


Part = Text | Thinking | Attachment | Call | Result | Summary | Unknown
Parts = tuple[Part, ...]
Attachments = tuple[Attachment, ...]

_FILE = "file"
_KINDS: dict[str, type[Part]] = {
    "text": Text,
    "thinking": Thinking,
    _FILE: Attachment,
    "call": Call,
    "result": Result,
    "summary": Summary,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_EMPTY: dict[str, object] = {
    "str": "",
    "int": 0,
    "float": 0.0,
    "bool": False,
    **dict.fromkeys(("AttachmentKind", "CallStage"), ""),
}
_USUAL = {kind: {each.name: _EMPTY[str(each.type)] for each in fields(kind)} for kind in _NAMES}

P = TypeVar("P", bound=Part)


class MessageColumns(Protocol):
    """A message's columns for its parts."""

    @property
    def text(self) -> str: ...
    @property
    def thinking(self) -> str: ...
    @property
    def thinking_s(self) -> float: ...
    @property
    def parts(self) -> Parts: ...


@dataclass(frozen=True, slots=True)
class Content:
    """A row's columns for a message's parts."""

    text: str = ""
    thinking: str = ""
    thinking_s: float = 0.0
    parts: Parts = ()


def content_of(whole: Sequence[Part]) -> Content:
    """The columns for all parts in order; `all_parts` is the inverse."""
    rest = list(whole)
    text = ""
    thinking = Thinking("")
    if rest and isinstance(last := rest[-1], Text) and last.text:
        text = last.text
        rest.pop()
    if rest and isinstance(last := rest[-1], Thinking) and last.text:
        thinking = last
        rest.pop()
    return Content(text, thinking.text, thinking.seconds, tuple(rest))


def all_parts(message: MessageColumns) -> Parts:
    thinking = (Thinking(message.thinking, message.thinking_s),) if message.thinking else ()
    text = (Text(message.text),) if message.text else ()
    return (*message.parts, *thinking, *text)


def of_kind(kind: type[P], parts: Iterable[Part]) -> tuple[P, ...]:
    return tuple(each for each in parts if isinstance(each, kind))


def settled(parts: Iterable[Part], sent: CallStage = CallStage.UNKNOWN) -> Parts:
    """Parts of a reply that is not running. `sent`: what becomes of calls that were sent and not answered."""
    ends = {CallStage.ASKED: CallStage.STOPPED, CallStage.SENT: sent}
    return tuple(
        replace(each, stage=ends[each.stage]) if isinstance(each, Call) and each.stage.is_open else each
        for each in parts
    )


def searched_texts(text: str, stored: object) -> list[str]:
    """The words of a message, then the name and text of each of its files. `stored`: its column `parts`."""
    if stored is None:
        return [text]
    parts = parts_from_json(stored)
    words = [_searched(each) for each in parts if not isinstance(each, Attachment)]
    files = [f"{each.name}\n{each.text}" for each in of_kind(Attachment, parts)]
    return ["\n\n".join(filter(None, (*words, text))), *files]


def _searched(part: Part) -> str:
    match part:
        case Text(text) | Result(text=text):
            return text
        case Call():
            return "\n".join(filter(None, (part.server, part.tool or part.name, part.arguments)))
        case _:  # thinking is not searched
            return ""


def digests_in(stored: object) -> set[str]:
    """Digests that a row may name, damaged ones too: a false match only keeps a file."""
    return set(_DIGEST.findall(as_text(stored)))


# As JSON


def parts_to_json(parts: Sequence[Part]) -> str | None:
    return json.dumps([part_to_json(each) for each in parts], ensure_ascii=False) if parts else None


def part_to_json(part: Part) -> dict[str, object]:
    if isinstance(part, Unknown):
        values: dict[str, object] = json.loads(part.json)
        return values
    if not isinstance(part, Attachment):
        return {"part": _NAMES[type(part)]} | asdict(part)
    values = asdict(part)
    return values if part.is_picture else {key: each for key, each in values.items() if key not in _OF_PICTURES}


def parts_from_json(text: object) -> Parts:
    """The parts; () if they cannot be read. Never raises."""
    if text is None:
        return ()
    try:
        stored = json.loads(as_text(text))
    except (ValueError, RecursionError):
        return ()
    return parts_of(stored) if isinstance(stored, list) else ()


def attachments_from_json(text: object) -> Attachments:
    """The files of unsent text or an edit. Never raises."""
    return of_kind(Attachment, parts_from_json(text))


def parts_of(stored: Sequence[object]) -> Parts:
    read = (_part(each) for each in stored if isinstance(each, dict))
    return tuple(each for each in read if each is not None)


def _part(stored: dict[str, object]) -> Part | None:
    name = stored.get("part", _FILE)
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        return _unknown(stored)
    values = {key: like(usual, stored.get(key)) for key, usual in _USUAL[kind].items()}
    made = kind(**values)
    if isinstance(made, Call):
        return replace(made, stage=CallStage(made.stage))
    return _checked(made) if isinstance(made, Attachment) else made


def _checked(read: Attachment) -> Attachment:
    made = replace(read, name=as_name(read.name), kind=AttachmentKind(read.kind))
    whole = _DIGEST.fullmatch(made.digest) and made.width and made.height and len(made.thumbnail) <= _MOST_THUMBNAIL
    if made.is_picture and not whole:  # its digest, size or thumbnail is not valid
        return replace(made, kind=AttachmentKind.NOTE, digest="", width=0, height=0, thumbnail="")
    return made if made.is_picture else replace(made, digest="", width=0, height=0, thumbnail="")


def _unknown(stored: dict[str, object]) -> Unknown | None:
    """An unknown part; None if it cannot be written as JSON again."""
    try:
        written = json.dumps(stored, ensure_ascii=False, allow_nan=False) if is_shallow(stored) else ""
    except ValueError:
        return None
    return Unknown(written.encode("utf-8", "replace").decode()) if written else None
