"""The dialog that asks before a link of a reply is opened, and shows its real target."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from app.words.formats import fill

_ALLOWED = ("http", "https", "mailto")


def ask_to_open(link: str, parent: QWidget) -> QMessageBox | None:
    """The open question; None for a link of a kind that is never followed."""
    url = QUrl(link, QUrl.ParsingMode.StrictMode)
    if url.scheme() not in _ALLOWED or not (url.host() or url.scheme() == "mailto"):
        return None
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Question)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(fill(QCoreApplication.translate("LinkDialog", "Open %1?"), _destination(url)))
    box.setInformativeText(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.accepted.connect(lambda: QDesktopServices.openUrl(url))
    box.open()
    return box


def _destination(url: QUrl) -> str:
    """Encoded, so that a letter that only looks like another one shows itself."""
    if url.scheme() == "mailto":
        return url.path()
    return url.host(QUrl.ComponentFormattingOption.FullyEncoded)
