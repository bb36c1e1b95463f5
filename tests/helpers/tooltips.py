"""What the tooltip says that is shown."""

from __future__ import annotations

from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QApplication, QLabel, QToolTip


def tooltip_label() -> QLabel | None:
    shown = [each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel") and each.isVisible()]
    assert len(shown) <= 1
    return shown[0] if shown and isinstance(shown[0], QLabel) else None


def tooltip_text() -> str:
    """ "" where there is none."""
    if tooltip_label() is None:
        return ""
    return QTextDocumentFragment.fromHtml(QToolTip.text()).toPlainText().replace("\u200b", "")
