"""The question before anything is deleted for good."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.widgets.dialog import Dialog, DialogText


def ask_to_forget(
    theme: Theme, parent: QWidget, words: Callable[[], tuple[str, str]], act: Callable[[], None]
) -> Dialog:
    """`words`: the question, and its button."""

    def text() -> DialogText:
        question, button = words()
        warning = QCoreApplication.translate(
            "TrashWindow", "It is also removed from the daily copies. This cannot be undone."
        )
        return DialogText(question, warning, "", button, QCoreApplication.translate("TrashWindow", "Cancel"))

    dialog = Dialog(theme, parent, text, danger=True)
    dialog.accepted.connect(act)
    dialog.open()
    return dialog
