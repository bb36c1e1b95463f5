"""About Hunch: its mark, version, what it is, what it is built on; and the licences of all that."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from app.system import build
from app.theme import Theme
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.mark import Mark
from app.views.widgets.reading_dialog import ReadingDialog
from app.words.formats import fill


def show_about(theme: Theme, parent: QWidget) -> Dialog:
    """`other_chosen`: the user wants to read the licences."""
    dialog = Dialog(theme, parent, _words)
    dialog.content.addSpacing(4)
    dialog.content.addWidget(Mark(theme), 0, Qt.AlignmentFlag.AlignLeft)
    dialog.open()
    return dialog


def _words() -> DialogText:
    version = fill(QCoreApplication.translate("About", "Hunch %1"), build.own_version())
    libraries = " · ".join(f"{name} {number}" for name, number in build.libraries().items())
    made = fill(QCoreApplication.translate("About", "Build %1"), build.build()) if build.build() else ""
    return DialogText(
        version,
        QCoreApplication.translate("About", "A small draft guesses, the main model checks."),
        "\n".join(filter(None, (QCoreApplication.translate("About", "Apache License 2.0."), libraries, made))),
        act=QCoreApplication.translate("About", "Close"),
        other=QCoreApplication.translate("About", "Licenses"),
    )


class LicencesDialog(ReadingDialog):
    """Its text comes later: many files are read for it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._retranslate()

    def _retranslate(self) -> None:
        self.name(self.tr("Licenses"), self.tr("Everything that Hunch is built on"))
