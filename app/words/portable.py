"""Export and import in words: what was done, what could not be, and the words inside of exported Markdown."""

from __future__ import annotations

import json

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.portable.markdown import MarkdownWords
from app.portable.problems import NotExported, NotImported, WhyNotRead, WhyNotWritten
from app.storage.codec import stats_from_json
from app.storage.portable import PortableMessage
from app.words.formats import count, fill, labelled, quoted, sentences
from app.words.notices import Notice
from app.words.replies import SEPARATOR, footer_line


def not_exported(problem: NotExported) -> Notice:
    sentence, hint = {
        WhyNotWritten.FULL: (
            QCoreApplication.translate("Portable", "The disk with %1 is full."),
            QCoreApplication.translate("Portable", "Free some space, or choose another place."),
        ),
        WhyNotWritten.FORBIDDEN: (
            QCoreApplication.translate("Portable", "No permission to write to %1."),
            QCoreApplication.translate("Portable", "Choose another place."),
        ),
        WhyNotWritten.GONE: (
            QCoreApplication.translate("Portable", "%1 no longer exists."),
            QCoreApplication.translate("Portable", "Choose another place."),
        ),
        WhyNotWritten.DISK: (
            QCoreApplication.translate("Portable", "%1 cannot be written to."),
            QCoreApplication.translate("Portable", "Choose another place."),
        ),
    }[problem.why]
    title = QCoreApplication.translate("Portable", "Not exported")
    return Notice(title, fill(sentence, problem.folder), hint)


def exported_words(name: str, too_many: int, unreadable: int, lost: int) -> tuple[str, str, str, str]:
    """As a banner's text: sentence, title, hint, button. The numbers: of pictures and documents that are not in it."""
    sentence = QCoreApplication.translate("Portable", "Exported to “%1”.")
    left_out = QCoreApplication.translate(
        "Portable",
        "Pictures left out: %1. JSON takes 150 MB of them from each chat and 2 GB in all, Markdown takes all.",
    )
    gone = QCoreApplication.translate("Portable", "Pictures left out because their files are missing or damaged: %1.")
    files = QCoreApplication.translate("Portable", "Files left out because they are gone: %1.")
    all_missing = ((left_out, too_many), (gone, unreadable), (files, lost))
    missing = [fill(words, count(number)) for words, number in all_missing if number]
    return fill(sentence, name), "", sentences(*missing), QCoreApplication.translate("Portable", "Show")


def imported_words(chats: int, grown: int, presets: int) -> tuple[str, str, str, str]:
    """`grown`: chats that were here and have new messages now."""
    new = fill(QCoreApplication.translate("Portable", "Chats imported: %1."), count(chats))
    more = fill(QCoreApplication.translate("Portable", "Chats with new messages: %1."), count(grown))
    with_them = fill(QCoreApplication.translate("Portable", "Presets imported: %1."), count(presets))
    said = [*([more] if grown else []), *([with_them] if presets else [])]
    sentence, *hint = [new, *said] if chats or not said else said
    return sentence, "", sentences(*hint), QCoreApplication.translate("Portable", "Undo")


def not_imported(problem: NotImported) -> str:
    """One line of the list of what cannot be imported."""
    why = _why(problem.why)
    place = f"{problem.file}{SEPARATOR}{quoted(problem.chat)}" if problem.chat else problem.file
    return labelled(place, why) if place else why


def _why(why: WhyNotRead) -> str:
    return {
        WhyNotRead.UNKNOWN: QCoreApplication.translate("Portable", "not a supported chat file"),
        WhyNotRead.EMPTY: QCoreApplication.translate("Portable", "no messages"),
        WhyNotRead.NOT_JSON: QCoreApplication.translate("Portable", "damaged, or not JSON"),
        WhyNotRead.TRUNCATED: QCoreApplication.translate("Portable", "incomplete"),
        WhyNotRead.TOO_LARGE: QCoreApplication.translate("Portable", "too large"),
        WhyNotRead.NEWER: QCoreApplication.translate("Portable", "from a newer Hunch"),
        WhyNotRead.ENCRYPTED: QCoreApplication.translate("Portable", "password-protected"),
        WhyNotRead.GONE: QCoreApplication.translate("Portable", "not found"),
        WhyNotRead.FORBIDDEN: QCoreApplication.translate("Portable", "no permission"),
        WhyNotRead.DISK: QCoreApplication.translate("Portable", "not readable"),
        WhyNotRead.TOO_MUCH: QCoreApplication.translate("Portable", "too complex"),
    }.get(why, QCoreApplication.translate("Portable", "damaged"))


def markdown_words() -> MarkdownWords:
    """In the language of now; the functions may be called by another thread."""
    return MarkdownWords(
        you=QCoreApplication.translate("Portable", "You", "who wrote a message"),
        reply=QCoreApplication.translate("Portable", "Reply"),
        thinking=QCoreApplication.translate("Portable", "Thinking"),
        attachment=QCoreApplication.translate("Portable", "Attachment"),
        picture=QCoreApplication.translate("AttachmentChip", "Picture"),
        tool=QCoreApplication.translate("Portable", "Tool", "that a reply has called"),
        result=QCoreApplication.translate("Portable", "Result", "of a tool"),
        summary=QCoreApplication.translate("BeginningPart", "Summary of earlier messages"),
        files=QCoreApplication.translate("ProjectFilesCard", "Files"),
        pasted=QCoreApplication.translate("AttachmentChip", "Pasted text"),
        stats_line=_stats_line,
        when=_when,
    )


def _stats_line(message: PortableMessage) -> str:
    stats = stats_from_json(json.dumps(message.stats)) if message.stats is not None else None
    if stats is None or not stats.generated_tokens:
        return ""
    line = footer_line(stats)
    return SEPARATOR.join(part for part in (line.gain, line.details) if part)


def _when(moment_s: float) -> str:
    if not moment_s:
        return ""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(moment_s)), QLocale.FormatType.ShortFormat)
