"""Showing a file or folder in the system's file manager, which must neither open nor start it."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices


def reveal(path: Path | str) -> None:
    """A folder itself, or the folder that a file is in; on a Mac what holds it, with it chosen.

    Opening a folder there whose name ends as an app's does would start it, whatever has named it so.
    """
    path = Path(path)
    if sys.platform == "darwin":
        QProcess.startDetached("/usr/bin/open", ["-R", str(path)])
    else:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path if path.is_dir() else path.parent)))
