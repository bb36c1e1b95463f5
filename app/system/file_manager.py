"""Shows a file or folder in the system's file manager, without opening or starting it; opens what cannot be started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices

_READ_ONLY = (".pdf", ".docx")  # kinds whose app reads them; a script or a page would be run


def can_open(path: Path | str) -> bool:
    """Whether `open_file` opens it."""
    return Path(path).suffix.lower() in _READ_ONLY


def open_file(path: Path | str) -> None:
    """In the app that the system has for it; what could be run, or is missing, is only shown where it is."""
    if can_open(path) and Path(path).is_file():
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
    else:
        reveal(path)


def reveal(path: Path | str) -> None:
    """Show a folder, or a file in its folder; on a Mac selected in the enclosing folder. Of what is not there any more
    the folder that is.

    Opening a folder there whose name ends as an app's does would start it.
    """
    path = next(each for each in (Path(path), *Path(path).absolute().parents) if os.path.lexists(each))
    if sys.platform == "darwin":
        QProcess.startDetached("/usr/bin/open", ["-R", str(path)])
    else:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path if path.is_dir() else path.parent)))
