"""A chat as Markdown: the shown branch, with roles, times and figures."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from app.markup.fences import fenced
from app.storage.parts import Attachment, Call, Part, Parts, Result, Summary, Text, Thinking, all_parts, of_kind
from app.storage.portable import PortableChat, PortableMessage

_MARKS = re.compile(r"([\\`*_~\[\]<>&])")
# Code and formulas, which stay as they are but for a fence without an end; then what the app shows otherwise than
# others: HTML is text, and a line of a paragraph ends where it was ended.
_TEX = r"(?:\\[^()\[\]]|[^\\\n]|\n(?![ \t]*(?:\n|```|~~~)))+"
_OTHERWISE = re.compile(
    r"^(?P<before>[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?)(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r".*?(?P<end>^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<mark>`+)(?!`)(?:(?!\n[ \t]*(?:\n|```|~~~)).){1,1000}?(?<!`)(?P=mark)(?!`)"
    rf"|\\\({_TEX}\\\)|\\\[{_TEX}\\\]"
    r"|\$\$.+?\$\$|\$[^\s$](?:[^$\n]*[^\s$])?\$(?!\d)|\\."
    r"|<(?=[a-z/!?])(?!br\s*/?>|https?:|mailto:|[\w.+-]+@)"
    r"|(?<=\S)[ \t]*\n(?=[ \t]*\S)(?![ \t]*(?:[|#>]|```|~~~|(?:[-*+]|\d{1,9}[.)])[ \t]))",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MarkdownWords:
    """Words in the user's language. `stats_line`: figures of a reply; `when`: a time."""

    you: str
    reply: str
    thinking: str
    attachment: str
    pasted: str
    picture: str
    tool: str
    result: str
    summary: str
    files: str
    stats_line: Callable[[PortableMessage], str]
    when: Callable[[float], str]


def markdown_of(chat: PortableChat, words: MarkdownWords, pictures: Mapping[str, str] | None = None) -> str:
    """`pictures`: their files beside it, by digest."""
    parts = [f"# {one_line(chat.title)}"]
    for message in branch(chat):
        parts += _message(message, words, pictures or {})
    return "\n\n".join(parts) + "\n"


def branch(chat: PortableChat) -> list[PortableMessage]:
    """Messages from the first to the shown one, or to the newest."""
    by_number = {message.number: message for message in chat.messages}
    number = chat.shown if chat.shown in by_number else max(by_number, default=None)
    found: list[PortableMessage] = []
    while number is not None:
        found.append(by_number[number])
        number = found[-1].parent
    return found[::-1]


def _message(message: PortableMessage, words: MarkdownWords, pictures: Mapping[str, str]) -> list[str]:
    from_user = message.role == "user"
    name = words.you if from_user else one_line(message.main_name) or words.reply
    if of_kind(Summary, message.parts):
        name = words.summary
    when = words.when(message.created_at)
    parts = [f"## {name}" + (f" · {when}" if when else "")]
    whole = all_parts(message)
    results = _results(whole)
    parts += filter(None, (_part(each, words, pictures, results) for each in whole))
    stats = words.stats_line(message)
    return [*parts, f"*{stats}*"] if stats else parts


def _results(parts: Parts) -> dict[str, list[Result]]:
    """Results by their calls; those without a call are not among them."""
    calls = {each.id for each in of_kind(Call, parts)}
    found: dict[str, list[Result]] = defaultdict(list)
    for each in of_kind(Result, parts):
        if each.id in calls:
            found[each.id].append(each)
    return found


def _part(part: Part, words: MarkdownWords, pictures: Mapping[str, str], results: Mapping[str, list[Result]]) -> str:
    """A part as Markdown; "" for kinds of a newer version, and for results, which are in their calls' blocks."""
    match part:
        case Text(text):
            return _shown(text.rstrip("\n"))
        case Thinking(text):
            return "\n".join([f"> *{words.thinking}*", ">", *(f"> {line}" for line in _shown(text).split("\n"))])
        case Attachment():
            return _attachment(part, words, pictures.get(part.digest, ""))
        case Call():
            name = " · ".join(filter(None, (_in_html(part.server), _in_html(part.tool or part.name))))
            inner = [fenced(part.arguments, "json"), *(fenced(each.text) for each in results.get(part.id, ()))]
            return "\n\n".join([f"<details><summary>{words.tool}: {name}</summary>", *inner, "</details>"])
        case Result() if part.id not in results:
            return f"**{words.result}: {one_line(part.name)}**\n\n{fenced(part.text)}"
        case _:
            return ""


def _shown(text: str) -> str:
    """As the app shows it; and no code goes on into what follows."""

    def changed(found: re.Match[str]) -> str:
        if found["fence"] and not found["end"] and not found["before"].strip():
            return f"{found[0]}\n{found['before']}{found['fence']}"
        if found[0] == "<":
            return "\\<"
        return found[0] if found[0].strip() else "  \n"

    return _OTHERWISE.sub(changed, text.replace("\r\n", "\n").replace("\r", "\n"))


def _attachment(attachment: Attachment, words: MarkdownWords, file: str) -> str:
    if file:
        return f"![{one_line(attachment.name) or words.picture}]({quote(file)})"
    head = f"**{words.attachment}: {one_line(attachment.name) or words.pasted}**"
    if not attachment.text:
        return head
    return f"{head}\n\n{fenced(attachment.text)}"


def _in_html(text: str) -> str:
    """In a line of HTML, where a backslash is only a backslash."""
    return html.escape(" ".join(text.split()))


def one_line(text: str) -> str:
    """A title or a name in Markdown, letter for letter."""
    return " ".join(_MARKS.sub(r"\\\1", text).split())
