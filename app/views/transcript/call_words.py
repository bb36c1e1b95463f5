"""Tools in words: a call in a line, a question for consent. Names, arguments and results come from elsewhere."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QObject

from app.markup.calls import named_values, with_unseen
from app.tools.definitions import Answer, AskReason
from app.view_models.tools import CallState, CallView, ConsentView
from app.words import formats
from app.words.replies import SEPARATOR, waits_text
from app.words.tools import tool_words

_LONGEST_NAME = 80  # of what a call is about, in its line
_LEAST_SECONDS = 0.05  # less would be shown as 0.0
_LONGEST_REASON = 160
_GOES_BY = {  # of tools that are built in
    "calculator": "expression",
    "search_chats": "query",
    "search_files": "query",
    "read_file": "path",
    "list_folder": "path",
    "fetch_page": "address",
}
_APP = "Hunch"


@dataclass(frozen=True, slots=True)
class CallWords:
    title: str  # "Read notes.md"
    detail: str = ""  # "0.2 s", or how it ended
    is_fault: bool = False

    @property
    def text(self) -> str:
        return SEPARATOR.join(filter(None, (self.title, self.detail)))


def call_words(call: CallView) -> CallWords:
    title = _built_in(call) or tool_name(call)
    seconds = ""
    if call.seconds >= _LEAST_SECONDS:
        seconds = formats.fill(QCoreApplication.translate("Tools", "%1 s"), formats.number(call.seconds, 1))
    if call.state is CallState.FAILED:
        failed = QCoreApplication.translate("Tools", "failed")
        return CallWords(title, formats.labelled(failed, _reason(call)) if call.result else failed, is_fault=True)
    running = QCoreApplication.translate("Tools", "running…")
    detail = {
        CallState.RUNNING: seconds if call.seconds >= 1 else running,
        CallState.WAITS: waits_text(),
        CallState.DECLINED: QCoreApplication.translate("Tools", "declined"),
        CallState.STOPPED: QCoreApplication.translate("Tools", "stopped"),
        CallState.UNKNOWN: QCoreApplication.translate("Tools", "not known whether it ran"),
    }.get(call.state, seconds)
    return CallWords(title, detail)


def _reason(call: CallView) -> str:
    """The beginning of what the tool said."""
    line = next(filter(None, map(str.strip, call.result.splitlines())), "")
    return _short(line, _LONGEST_REASON)


def _short(text: str, most: int) -> str:
    text = "".join(shown for shown, _ in with_unseen(" ".join(text.split())))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def tool_name(call: CallView) -> str:
    """Whose it is, and its name."""
    if not call.server and (own := tool_words(call.tool)[0]):
        return SEPARATOR.join((_APP, own))
    return SEPARATOR.join(_short(name, _LONGEST_NAME) for name in (call.server, call.tool) if name)


def _built_in(call: CallView) -> str:
    """ "" for a server's tool, or one that is not known."""
    if call.server:
        return ""
    is_over = call.state is CallState.DONE
    about = _about(call)
    if not about and call.tool == "list_folder":
        about = QCoreApplication.translate("Tools", "what you chose")
    if not about and call.tool != "time":
        return ""
    done, to_do = {
        "calculator": (
            QCoreApplication.translate("Tools", "Calculated %1"),
            QCoreApplication.translate("Tools", "Calculate %1"),
        ),
        "time": (
            QCoreApplication.translate("Tools", "Looked up the date and time"),
            QCoreApplication.translate("Tools", "Look up the date and time"),
        ),
        "search_chats": (
            QCoreApplication.translate("Tools", "Searched your chats for %1"),
            QCoreApplication.translate("Tools", "Search your chats for %1"),
        ),
        "search_files": (
            QCoreApplication.translate("Tools", "Searched the documents for %1"),
            QCoreApplication.translate("Tools", "Search the documents for %1"),
        ),
        "read_file": (
            QCoreApplication.translate("Tools", "Read %1"),
            QCoreApplication.translate("Tools", "Read %1", "to do"),
        ),
        "list_folder": (
            QCoreApplication.translate("Tools", "Listed %1"),
            QCoreApplication.translate("Tools", "List %1"),
        ),
        "fetch_page": (
            QCoreApplication.translate("Tools", "Loaded %1"),
            QCoreApplication.translate("Tools", "Load %1"),
        ),
    }.get(call.tool, ("", ""))
    return formats.fill(done if is_over else to_do, about)


def _about(call: CallView) -> str:
    """The argument that the tool goes by, whatever others there are; of a path its last part."""
    try:
        values = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    value = values.get(_GOES_BY.get(call.tool)) if isinstance(values, dict) else None
    text = value.strip() if isinstance(value, str) else ""
    is_path = text.startswith(("/", "~", "./")) and "\n" not in text
    return _short(text.rstrip("/").rpartition("/")[2] if is_path else text, _LONGEST_NAME)


class ConsentSpan(StrEnum):
    """How a piece of a question is written."""

    TOOL = "tool"  # whose it is, and its name
    SENTENCE = "sentence"
    NAME = "name"  # of an argument
    VALUE = "value"
    UNSEEN = "unseen"  # the name of a character that cannot be seen


@dataclass(frozen=True, slots=True)
class Span:
    kind: ConsentSpan
    text: str


ConsentLine = tuple[Span, ...]


def consent_title(consent: ConsentView) -> str:
    if consent.reason is AskReason.STEPS:
        return QCoreApplication.translate("Tools", "Go on?")
    names = dict.fromkeys(call.server for call in consent.calls)
    server = next(iter(names)) if len(names) == 1 else ""
    who = _short(server, _LONGEST_NAME) or _APP
    count = len(consent.calls)
    if count > 1:
        return _Calls().wants(who if len(names) == 1 else _APP, count)
    if words := _built_in(consent.calls[0]):
        return formats.fill(QCoreApplication.translate("Tools", "%1?"), words)
    sentence = QCoreApplication.translate("Tools", "Allow %1 to use %2?")
    return formats.fill(sentence, who, _short(consent.calls[0].tool, _LONGEST_NAME))


class _Calls(QObject):
    """Plural forms are only read from the source where an object says them."""

    def wants(self, who: str, count: int) -> str:
        return formats.fill(self.tr("Allow %1 to make %Ln call(s)?", "", count), who)


def consent_why(consent: ConsentView) -> str:
    """Why it asks, where that is not because it is new."""
    return {
        AskReason.CHANGED: QCoreApplication.translate(
            "Tools", "This tool has changed since you allowed it. Both descriptions are below."
        ),
        AskReason.OUTSIDE: QCoreApplication.translate(
            "Tools", "You allowed this, but the chat has read content from outside, which may have asked for it."
        ),
        AskReason.REPEAT: QCoreApplication.translate(
            "Tools", "An equal call was sent before Hunch ended, and may have run already."
        ),
        AskReason.MANY: QCoreApplication.translate(
            "Tools", "Many calls have run without a question. Is this still what you want?"
        ),
        AskReason.STEPS: QCoreApplication.translate("Tools", "This reply has taken many steps."),
    }.get(consent.reason, "")


def consent_lines(consent: ConsentView) -> tuple[ConsentLine, ...]:
    """All that there is to decide by: every call with each of its arguments, whole."""
    lines: list[ConsentLine] = []
    for call in consent.calls:
        lines.append(tuple(_spans(ConsentSpan.TOOL, _whole_name(call))))
        lines.append((Span(ConsentSpan.SENTENCE, _what_it_does(call)),))
        lines.extend(_argument_lines(call))
    if consent.reason is AskReason.CHANGED:
        for before, now in consent.changed:
            lines.append((Span(ConsentSpan.TOOL, QCoreApplication.translate("Tools", "When you allowed it")),))
            lines.append(tuple(_spans(ConsentSpan.VALUE, before)))
            lines.append((Span(ConsentSpan.TOOL, QCoreApplication.translate("Tools", "Now")),))
            lines.append(tuple(_spans(ConsentSpan.VALUE, now)))
    return tuple(lines)


def _whole_name(call: CallView) -> str:
    own = tool_words(call.tool)[0] if not call.server else ""
    return SEPARATOR.join(" ".join(name.split()) for name in (call.server or _APP, own or call.tool))


def _argument_lines(call: CallView) -> list[ConsentLine]:
    lines: list[ConsentLine] = []
    named = named_values(call.arguments or "{}")
    for name, value in named:
        if name or len(named) > 1:
            lines.append(tuple(_spans(ConsentSpan.NAME, name.replace("\n", "\\n"))))
        lines.append(tuple(_spans(ConsentSpan.VALUE, value)))
    if not lines:
        lines.append((Span(ConsentSpan.NAME, QCoreApplication.translate("Tools", "No arguments")),))
    return lines


def _spans(kind: ConsentSpan, text: str) -> list[Span]:
    return [Span(ConsentSpan.UNSEEN if is_unseen else kind, shown) for shown, is_unseen in with_unseen(text)]


def _what_it_does(call: CallView) -> str:
    if not call.server:
        own = {
            "read_file": QCoreApplication.translate("Tools", "Reads this file, and nothing else."),
            "list_folder": QCoreApplication.translate("Tools", "Reads the names of what is in this folder."),
            "fetch_page": QCoreApplication.translate("Tools", "Loads this page. Its server sees your IP address."),
            "search_chats": QCoreApplication.translate("Tools", "Searches your chats and their attachments."),
        }.get(call.tool, "")
        if own:
            return own
    if call.reads_only:
        return QCoreApplication.translate("Tools", "Only reads, says its server. Hunch cannot check that.")
    return QCoreApplication.translate("Tools", "It may change or send something.")


def answer_text(answer: Answer, reason: AskReason) -> str:
    if reason is AskReason.STEPS:
        now = answer is Answer.DONT
        return (
            QCoreApplication.translate("Tools", "Answer now") if now else QCoreApplication.translate("Tools", "Go on")
        )
    return {
        Answer.DONT: QCoreApplication.translate("Tools", "Don't allow"),
        Answer.ONCE: QCoreApplication.translate("Tools", "Allow once"),
        Answer.CHAT: QCoreApplication.translate("Tools", "In this chat"),
        Answer.ALWAYS: QCoreApplication.translate("Tools", "Always"),
    }[answer]


def answer_explained(answer: Answer, consent: ConsentView) -> str:
    """For tooltips and screen readers."""
    if consent.reason is AskReason.STEPS:
        return ""
    tools = formats.listed(*dict.fromkeys(tool_name(call) for call in consent.calls))
    sentence = {
        Answer.DONT: QCoreApplication.translate("Tools", "%1 is not called, and the model is told so"),
        Answer.ONCE: QCoreApplication.translate("Tools", "Allow %1 once, with these arguments"),
        Answer.CHAT: QCoreApplication.translate("Tools", "Allow %1 in this chat, with any arguments"),
        Answer.ALWAYS: QCoreApplication.translate("Tools", "Allow %1 in every chat, with any arguments"),
    }[answer]
    if all(not call.server and call.tool == "fetch_page" for call in consent.calls):
        sentence = {
            Answer.CHAT: QCoreApplication.translate("Tools", "Allow %1 in this chat, for addresses on this server"),
            Answer.ALWAYS: QCoreApplication.translate("Tools", "Allow %1 in every chat, for addresses on this server"),
        }.get(answer, sentence)
    return formats.fill(sentence, tools)
