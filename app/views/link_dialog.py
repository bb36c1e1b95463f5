"""The dialog that asks before a link of a reply is opened, and shows its real target."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.widgets.dialog import Dialog, DialogText, ask
from app.words.formats import fill

_ALLOWED = ("http", "https", "mailto")


def ask_to_open(link: str, theme: Theme, parent: QWidget) -> Dialog | None:
    """Returns the open question; None for a kind of link that is never opened."""
    if not may_open(link):
        return None
    url = _url(link)
    # Opening cannot be undone: the request leaves this machine.
    return ask(theme, parent, lambda: _words(url), lambda: QDesktopServices.openUrl(url))


def open_page(link: str) -> None:
    """In the browser, without a question: the user has just asked for it."""
    if may_open(link):
        QDesktopServices.openUrl(_url(link))


def may_open(link: str) -> bool:
    url = _url(link)
    return url.scheme() in _ALLOWED and bool(url.host() or url.scheme() == "mailto")


def _url(link: str) -> QUrl:
    return QUrl(link, QUrl.ParsingMode.StrictMode)


def _words(url: QUrl) -> DialogText:
    return DialogText(
        fill(QCoreApplication.translate("LinkDialog", "Open %1?"), _destination(url)),
        url.toString(QUrl.ComponentFormattingOption.FullyEncoded),
        act=QCoreApplication.translate("LinkDialog", "Open"),
        cancel=QCoreApplication.translate("LinkDialog", "Cancel"),
    )


def _destination(url: QUrl) -> str:
    """The address, encoded, so that lookalike letters are visible."""
    if url.scheme() == "mailto":
        return url.path()
    return url.host(QUrl.ComponentFormattingOption.FullyEncoded)
