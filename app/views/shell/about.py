"""About Hunch: its mark, version, what it is, and what it is built on."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.mark import Mark
from app.words.formats import fill


def show_about(theme: Theme, parent: QWidget) -> Dialog:
    dialog = Dialog(theme, parent, _words)
    dialog.content.addSpacing(4)
    dialog.content.addWidget(Mark(theme), 0, Qt.AlignmentFlag.AlignLeft)
    dialog.open()
    return dialog


def _words() -> DialogText:
    return DialogText(
        fill(QCoreApplication.translate("About", "Hunch %1"), _version()).strip(),
        QCoreApplication.translate(
            "About", "Chat with language models on your Mac. A small draft guesses, the main model checks."
        ),
        QCoreApplication.translate("About", "Apache License 2.0. Built on MLX and Qt."),
        act=QCoreApplication.translate("About", "Close"),
    )


def _version() -> str:
    try:
        return version("hunch")
    except PackageNotFoundError:  # run from a folder of sources
        return ""
