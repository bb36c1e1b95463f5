"""The files of other programs in words: which one it is, what became of it, and why not."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.client_files.client_file import Refusal, Written
from app.words.formats import fill


def path_words(path: Path) -> str:
    """From the user's home, as a terminal has it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def written_words(written: Written) -> str:
    path = path_words(written.proposal.path)
    if written.copy is None:
        return fill(QCoreApplication.translate("ClientFiles", "Written to %1."), path)
    sentence = QCoreApplication.translate("ClientFiles", "Written to %1. The former file is beside it as %2.")
    return fill(sentence, path, written.copy.name)


def refusal_words(why: Refusal, path: Path) -> str:
    name = path_words(path)
    match why:
        case Refusal.SAME:
            return fill(QCoreApplication.translate("ClientFiles", "%1 has all of this already."), name)
        case Refusal.UNREADABLE:
            sentence = QCoreApplication.translate("ClientFiles", "%1 has errors or is no text, so it is not changed.")
        case Refusal.NOT_KEPT:
            sentence = QCoreApplication.translate(
                "ClientFiles", "%1 has something else in these places, so it is not changed. Copy the text instead."
            )
        case Refusal.OTHER:
            sentence = QCoreApplication.translate("ClientFiles", "%1 was changed meanwhile, so it is left as it is.")
        case Refusal.DISK:
            sentence = QCoreApplication.translate("ClientFiles", "%1 cannot be read or written.")
    return fill(sentence, name)
