"""Shows a file or folder in the system's file manager, without opening or starting it."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices


def reveal(path: Path | str) -> None:
    """Show a folder, or a file in its folder; on a Mac selected in the enclosing folder.

    Opening a folder there whose name ends as an app's does would start it.
    """
    path = Path(path)
    if sys.platform == "darwin":
        QProcess.startDetached("/usr/bin/open", ["-R", str(path)])
    else:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path if path.is_dir() else path.parent)))
