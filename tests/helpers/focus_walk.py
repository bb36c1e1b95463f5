"""Walking a window by Tab, and what screen readers are told of what is reached."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from app.views.widgets.fields import Segment

# What says only that there is something.
_VAGUE = {QAccessible.Role.NoRole, QAccessible.Role.Client, QAccessible.Role.Pane}


def focusable(window: QWidget) -> list[QWidget]:
    """All that Tab must reach; of radio buttons only the checked one, from which arrow keys lead to the others."""
    return [each for each in window.findChildren(QWidget) if _takes_tab(each, window)]


def _takes_tab(widget: QWidget, window: QWidget) -> bool:
    if not widget.isVisibleTo(window) or not widget.isEnabled() or widget.window() is not window:
        return False
    if isinstance(widget, Segment) and not widget.isChecked():
        return False
    if widget.focusProxy() is not None or not widget.isVisible():
        return False
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def reached(window: QWidget) -> list[QWidget]:
    """In the order in which Tab comes to them, until it comes round."""
    first = focusable(window)[0]
    first.setFocus(Qt.FocusReason.TabFocusReason)
    seen: list[QWidget] = []
    while (now := QApplication.focusWidget()) is not None and now not in seen and len(seen) < 400:
        seen.append(now)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    return seen


def describe(widget: QWidget) -> str:
    told = QAccessible.queryAccessibleInterface(widget)
    return f"{type(widget).__name__} {told.role().name} {told.text(QAccessible.Text.Name)!r}"


def unnamed(window: QWidget) -> list[str]:
    """Those without a name or with a role that says nothing."""
    found = []
    for widget in focusable(window):
        told = QAccessible.queryAccessibleInterface(widget)
        if not told.text(QAccessible.Text.Name).strip() or told.role() in _VAGUE:
            parents = type(widget.parentWidget()).__name__
            found.append(f"{describe(widget)} in {parents}")
    return found


def unreached(window: QWidget) -> list[str]:
    seen = reached(window)
    return [describe(each) for each in focusable(window) if each not in seen and not _leads_to(each, seen)]


def _leads_to(widget: QWidget, seen: list[QWidget]) -> bool:
    """A spin box is reached in its line."""
    return any(widget.isAncestorOf(each) for each in seen) and not isinstance(widget, QAbstractScrollArea)
