"""A chat as Markdown to read: the branch on screen, with who wrote what, when, and what it took."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from app.storage.attachments import Attachment
from app.storage.portable import PortableChat, PortableMessage

_FENCES = re.compile("`{3,}")
_BRACKETS = re.compile(r"[\[\]\\]")
_HTML = re.compile(r"[<>&]")


@dataclass(frozen=True, slots=True)
class MarkdownWords:
    """In the user's language. `stats_line` says what a reply took, `when` writes a moment."""

    you: str
    reply: str
    thinking: str
    attachment: str
    pasted: str
    picture: str
    stats_line: Callable[[PortableMessage], str]
    when: Callable[[float], str]


def markdown_of(chat: PortableChat, words: MarkdownWords, pictures: Mapping[str, str] | None = None) -> str:
    """`pictures`: their files beside it, by digest."""
    parts = [f"# {_line(chat.title)}"]
    for message in branch(chat):
        parts += _message(message, words, pictures or {})
    return "\n\n".join(parts) + "\n"


def branch(chat: PortableChat) -> list[PortableMessage]:
    """From the first message to the one shown, or to the newest."""
    by_number = {message.number: message for message in chat.messages}
    number = chat.shown if chat.shown in by_number else max(by_number, default=None)
    found: list[PortableMessage] = []
    while number is not None:
        found.append(by_number[number])
        number = found[-1].parent
    return found[::-1]


def _message(message: PortableMessage, words: MarkdownWords, pictures: Mapping[str, str]) -> list[str]:
    from_user = message.role == "user"
    name = words.you if from_user else _line(message.main_name) or words.reply
    when = words.when(message.created_at)
    parts = [f"## {name}" + (f" · {when}" if when else "")]
    if message.thinking:
        parts.append("\n".join([f"> *{words.thinking}*", ">", *(f"> {line}" for line in message.thinking.split("\n"))]))
    parts += [_attachment(each, words, pictures.get(each.digest, "")) for each in message.attachments]
    if message.text:
        parts.append(message.text.rstrip("\n"))
    stats = words.stats_line(message)
    return [*parts, f"*{stats}*"] if stats else parts


def _attachment(attachment: Attachment, words: MarkdownWords, file: str) -> str:
    if file:
        return f"![{_line(_BRACKETS.sub(' ', attachment.name)) or words.picture}]({quote(file)})"
    head = f"**{words.attachment}: {_line(attachment.name) or words.pasted}**"
    if not attachment.text:
        return head
    return f"{head}\n\n{fenced(attachment.text)}"


def fenced(text: str, language: str = "") -> str:
    """As code, whatever fences are in it."""
    fence = max(("```", *(found + "`" for found in _FENCES.findall(text))), key=len)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _line(text: str) -> str:
    return " ".join(_HTML.sub(lambda found: f"\\{found[0]}", text).split())
