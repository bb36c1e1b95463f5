"""Message content, a string or a list of parts, in one normalized form, so that the next turn finds the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from engine.api.types import Message, MessageRole, Picture, PictureDetail
from engine.server.fields import Fields
from engine.server.pictures import SentPictures
from engine.server.problems import Problem, invalid, unsupported

OPENAI_ROLES = {
    "system": MessageRole.SYSTEM,
    "developer": MessageRole.SYSTEM,
    "user": MessageRole.USER,
    "assistant": MessageRole.ASSISTANT,
}
_TEXTS = {"text", "input_text", "output_text", "refusal"}
# OpenAI's words; by "original" a picture has what it has, of which the largest size here is the most.
_DETAILS = {"auto": None, "low": PictureDetail.LOW, "high": PictureDetail.HIGH, "original": PictureDetail.HIGH}


def text_of(fields: Fields, name: str = "content") -> str:
    """The joined text of a string or of parts."""
    value = fields.any(name)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return "".join(text_of_part(part) for part in fields.objects(name))


def seen(fields: Fields, pictures: SentPictures, name: str = "content") -> tuple[str, tuple[Picture, ...]]:
    """Text and pictures of a message; the engine puts pictures before the text."""
    if isinstance(fields.any(name), str | None):
        return text_of(fields, name), ()
    texts = []
    marks = []
    for part in fields.objects(name):
        match part.text("type"):
            case "image_url" | "input_image":
                marks.append(_seen_at(part, pictures))
            case "image":
                marks.append(pictures.add(source_of(part)))
            case _:
                texts.append(text_of_part(part))
    return "".join(texts), tuple(marks)


def _seen_at(part: Fields, pictures: SentPictures) -> Picture:
    url, detail = _url(part)
    try:
        return pictures.add_url(url, detail)
    except Problem as problem:  # Codex leaves out a picture whose place is named, and gives up otherwise
        raise replace(problem, param=part.place("image_url")) from None


def _url(part: Fields) -> tuple[str, PictureDetail | None]:
    """OpenAI's, with its detail: in the part, or in an object of both."""
    value = part.any("image_url")
    said = part
    if isinstance(value, dict):
        said = part.object("image_url") or part
        value = said.any("url")
    if not isinstance(value, str):
        raise part.wrong("image_url", "a data: URL")
    return value, said.one_of("detail", _DETAILS, "auto")


def source_of(part: Fields) -> str:
    """Bytes of an Anthropic image block."""
    source = part.object("source")
    if source is None or source.text("type") != "base64":
        raise unsupported("source", ", but for base64")
    return source.text("data") or ""


def text_of_part(part: Fields) -> str:
    kind = part.text("type") or "text"
    if kind == "document":
        return _document(part)
    if kind == "tool_reference":  # as Claude Code's search for tools finds them
        return f"{part.text('tool_name') or ''}\n"
    if kind not in _TEXTS:
        raise invalid(f"Parts of type '{kind}' are not supported.", "messages", "unsupported_parameter")
    return part.text("refusal" if kind == "refusal" else "text") or ""


def _document(part: Fields) -> str:
    """An Anthropic block's, with its title."""
    source = part.object("source") or Fields({})
    match source.text("type"):
        case "text":
            text = source.text("data") or ""
        case "content":
            text = text_of(source)
        case _:  # by these words Claude Code leaves a file out and goes on; else its chat could not
            message = "Could not process PDF: documents are taken as text only."
            raise invalid(message, "messages", "unsupported_parameter")
    return "\n".join(filter(None, (part.text("title"), text)))


def settled(messages: Sequence[Message]) -> tuple[Message, ...]:
    """System messages at the beginning are joined; one at the end becomes the user's: no template answers it."""
    system = list(takewhile(lambda message: message.role is MessageRole.SYSTEM, messages))
    rest = list(messages[len(system) :])
    if system:
        rest.insert(0, Message(MessageRole.SYSTEM, "\n\n".join(message.content for message in system)))
    if rest and rest[-1].role is MessageRole.SYSTEM:
        rest[-1] = replace(rest[-1], role=MessageRole.USER)
    return tuple(rest)
