"""What a start may have to tell: a repair, settings that could not be read, a crash."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.views.widgets.banner import BannerText
from app.words.formats import count, fill


def repaired(saved_messages: int, from_copies: int, damaged_file: str, folder: str) -> BannerText:
    sentence = QCoreApplication.translate(
        "Application", "The file with your chats was damaged. Messages recovered: %1, %2 of them from daily copies."
    )
    hint = QCoreApplication.translate(
        "Application", "The damaged file is kept for 30 days as %1 in %2, with what you had deleted from your chats."
    )
    title = QCoreApplication.translate("Application", "Chats repaired")
    return BannerText(
        fill(sentence, count(saved_messages), count(from_copies)), title, fill(hint, damaged_file, folder)
    )


def not_kept() -> BannerText:
    sentence = QCoreApplication.translate(
        "Application", "The chats on your disk stay as they are. What is written now is gone when Hunch is closed."
    )
    return BannerText(sentence, QCoreApplication.translate("Application", "Chatting without saving"))


def settings_problem(set_aside: str) -> BannerText:
    """`set_aside`: where a file is kept that made no sense, or not in all; "": the disk did not give it."""
    if not set_aside:
        sentence = QCoreApplication.translate(
            "Application",
            "Your settings could not be read from the disk, so the defaults are used until Hunch is closed. "
            "Nothing that is in the file is lost.",
        )
        return BannerText(sentence, QCoreApplication.translate("Application", "Settings not read"))
    sentence = QCoreApplication.translate(
        "Application", "What could not be read of your settings is as usual again. The old file is kept as %1."
    )
    return BannerText(fill(sentence, set_aside), QCoreApplication.translate("Application", "Settings put aside"))


def not_saved() -> BannerText:
    sentence = QCoreApplication.translate(
        "Application", "Your settings could not be written to the disk. They hold until Hunch is closed."
    )
    return BannerText(sentence, QCoreApplication.translate("Application", "Settings not saved"))


def replaced(model: str) -> BannerText:
    sentence = QCoreApplication.translate(
        "Application", "Hunch ended while it loaded %1, so the starter pair is loaded this time."
    )
    title = QCoreApplication.translate("Application", "Another model is loaded")
    return BannerText(fill(sentence, model), title)


def crashed() -> BannerText:
    sentence = QCoreApplication.translate("Application", "Hunch did not end properly last time. Your chats are kept.")
    return BannerText(sentence, button=QCoreApplication.translate("Application", "Show Log"))
