"""Copies text to the clipboard without control characters, and reports if any were left out."""

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QCursor, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from app.markup.safe_code import safe_code
from app.views.widgets.roles import announce
from app.views.widgets.tooltips import show_tooltip


def copy(text: str, announcer: QObject, *, with_tooltip: bool = True) -> int:
    """Puts it on the clipboard, and says by `announcer` what was left out; returns how many characters that are."""
    safe, left_out = safe_code(text)
    QGuiApplication.clipboard().setText(safe)
    _announce(left_out, announcer, with_tooltip)
    return left_out


def copy_image(image: QImage) -> None:
    QGuiApplication.clipboard().setImage(image)


def safe_mime_data(made: QMimeData, text: str, announcer: QObject) -> QMimeData:
    """The same for a field whose words Qt itself puts there: `made` by its base class, now with `text` alone.

    One that Python made would be deleted by Qt's clipboard after Python has ended, and crash the end.
    """
    made.text()  # it is filled when it is first asked
    made.clear()
    safe, left_out = safe_code(text)
    made.setText(safe)
    _announce(left_out, announcer, with_tooltip=True)
    return made


def left_out_words(left_out: int) -> str:
    return _Words().sentence(left_out)


class _Words(QObject):
    """An object, because plural forms are read of `self.tr` alone."""

    def sentence(self, left_out: int) -> str:
        return self.tr("Copied without %Ln control character(s)", "", left_out)


def _announce(left_out: int, announcer: QObject, with_tooltip: bool) -> None:
    if not left_out:
        return
    if with_tooltip and (window := QApplication.activeWindow()) is not None:
        show_tooltip(QCursor.pos(), left_out_words(left_out), window)
    announce(announcer, left_out_words(left_out))
