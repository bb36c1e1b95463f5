"""Why files were not attached, in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.documents.problems import NotAttached, WhyNot
from app.words.formats import count, fill, labelled, size
from app.words.notices import Notice

_MOST_NAMED = 4


def not_attached(problems: Sequence[NotAttached]) -> Notice:
    """Of one file, or of several that were dropped together."""
    if len(problems) == 1:
        return _of_one(problems[0])
    title = fill(QCoreApplication.translate("Files", "Files not attached: %1"), count(len(problems)))
    lines = [labelled(problem.name, _sentence(problem)) for problem in problems[:_MOST_NAMED]]
    more = len(problems) - _MOST_NAMED
    if more > 0:
        lines.append(fill(QCoreApplication.translate("Files", "And %1 more."), count(more)))
    return Notice(title, "\n".join(lines))


def _of_one(problem: NotAttached) -> Notice:
    title = QCoreApplication.translate("Files", "%1 not attached")
    nameless = QCoreApplication.translate("Files", "Not attached")
    return Notice(fill(title, problem.name) if problem.name else nameless, _sentence(problem), _hint(problem.why))


def _sentence(problem: NotAttached) -> str:
    sentence = {
        WhyNot.IMAGE: QCoreApplication.translate("Files", "Not PNG, JPEG, GIF, WebP or BMP."),
        WhyNot.PICTURE_TOO_LARGE: QCoreApplication.translate("Files", "Too many pixels."),
        WhyNot.PICTURE_TOO_NARROW: QCoreApplication.translate("Files", "Too narrow to make out."),
        WhyNot.PICTURE_DAMAGED: QCoreApplication.translate("Files", "Damaged."),
        WhyNot.NOT_STORED: QCoreApplication.translate("Files", "Not saved."),
        WhyNot.BINARY: QCoreApplication.translate("Files", "No readable text."),
        WhyNot.FOLDER: QCoreApplication.translate("Files", "A folder."),
        WhyNot.EMPTY: QCoreApplication.translate("Files", "Empty."),
        WhyNot.TOO_LARGE: QCoreApplication.translate("Files", "Larger than %1."),
        WhyNot.TOO_LONG: QCoreApplication.translate("Files", "Longer than %1 characters."),
        WhyNot.TOO_MANY: QCoreApplication.translate("Files", "Up to %1 files per message."),
        WhyNot.GONE: QCoreApplication.translate("Files", "Not found."),
        WhyNot.FORBIDDEN: QCoreApplication.translate("Files", "No permission."),
        WhyNot.UNREADABLE: QCoreApplication.translate("Files", "Not readable."),
        WhyNot.ENCRYPTED: QCoreApplication.translate("Files", "Password-protected."),
        WhyNot.SCANNED: QCoreApplication.translate("Files", "Page images without text."),
        WhyNot.DAMAGED: QCoreApplication.translate("Files", "Damaged."),
        WhyNot.TOO_COMPLEX: QCoreApplication.translate("Files", "Too complex."),
    }[problem.why]
    limit = size(problem.limit) if problem.why is WhyNot.TOO_LARGE else count(problem.limit)
    return fill(sentence, limit)


def _hint(why: WhyNot) -> str:
    return {
        WhyNot.IMAGE: QCoreApplication.translate("Files", "Save it as PNG or JPEG."),
        WhyNot.PICTURE_TOO_LARGE: QCoreApplication.translate("Files", "Up to 64 megapixels."),
        WhyNot.PICTURE_TOO_NARROW: QCoreApplication.translate("Files", "Attach a part."),
        WhyNot.PICTURE_DAMAGED: QCoreApplication.translate("Files", "Resave it in another app."),
        WhyNot.NOT_STORED: QCoreApplication.translate("Files", "Check the disk."),
        WhyNot.BINARY: QCoreApplication.translate("Files", "Attach it as text or PDF."),
        WhyNot.FOLDER: QCoreApplication.translate("Files", "Attach its files."),
        WhyNot.TOO_LARGE: QCoreApplication.translate("Files", "Attach only what you need."),
        WhyNot.TOO_LONG: QCoreApplication.translate("Files", "Attach only what you need."),
        WhyNot.TOO_MANY: QCoreApplication.translate("Files", "Send these, or remove some."),
        WhyNot.FORBIDDEN: QCoreApplication.translate("Files", "Allow access in System Settings."),
        WhyNot.UNREADABLE: QCoreApplication.translate("Files", "Check the disk."),
        WhyNot.ENCRYPTED: QCoreApplication.translate("Files", "Remove the password."),
        WhyNot.SCANNED: QCoreApplication.translate("Files", "Run text recognition (OCR) first."),
        WhyNot.DAMAGED: QCoreApplication.translate("Files", "Resave it in another app."),
        WhyNot.TOO_COMPLEX: QCoreApplication.translate("Files", "Attach fewer pages."),
    }.get(why, "")
