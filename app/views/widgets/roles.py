"""Accessibility of widgets that paint themselves, and announcements.

A widget class names its `accessible_role`, and may return its value in `accessible_value()`; a widget with `click()`
can be pressed. Qt's own interface of a combo box has its value in place of its name. Qt's buttons report their state
themselves. A button that expands something in place returns in `shows_more()` whether it is expanded.
"""

from __future__ import annotations

import sys
from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QAccessibleStateChangeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QAccessibleWidget, QWidget

from app.words.formats import listed


class _Described(QAccessibleWidget):
    def role(self) -> QAccessible.Role:
        role: QAccessible.Role = getattr(self.widget(), "accessible_role", QAccessible.Role.Button)
        return role

    def state(self) -> QAccessible.State:
        state = super().state()
        shows_more = getattr(self.widget(), "shows_more", None)
        if shows_more is not None:
            is_open = bool(shows_more())
            state.expandable = True
            state.expanded = is_open
            state.collapsed = not is_open
        return state

    def text(self, kind: QAccessible.Text) -> str:
        widget = self.widget()
        text = super().text(kind)
        value = getattr(widget, "accessible_value", None)
        if kind == QAccessible.Text.Value and value is not None:
            return str(value())
        if kind == QAccessible.Text.Name and not text and isinstance(widget, QAbstractButton):
            return widget.text()
        # WORKAROUND: Qt gives macOS the value of no combo box.
        if kind == QAccessible.Text.Name and self.role() == QAccessible.Role.ComboBox and sys.platform == "darwin":
            return listed(text, self.text(QAccessible.Text.Value))
        return text

    def actionNames(self) -> list[str]:  # noqa: N802
        pressed = [self.pressAction()] if hasattr(self.widget(), "click") else []
        return [*pressed, *super().actionNames()]

    def doAction(self, name: str) -> None:  # noqa: N802
        if name == self.pressAction() and (click := getattr(self.widget(), "click", None)) is not None:
            click()
        else:
            super().doAction(name)


def announce(at: QObject, words: str) -> None:
    """Screen readers say what appears or changes where the focus is not."""
    if words:
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(at, words))


def tell_shows_more(button: QAbstractButton) -> None:
    """What it opens was opened or closed."""
    changed = QAccessible.State()
    changed.expanded = changed.collapsed = True
    QAccessible.updateAccessibility(QAccessibleStateChangeEvent(button, changed))


def _describe(_class_name: str, widget: QObject) -> QAccessibleInterface | None:
    is_ours = hasattr(widget, "accessible_role") or hasattr(widget, "shows_more")
    return _Described(widget) if isinstance(widget, QWidget) and is_ours else None


@cache
def install_roles() -> None:
    """Once in a process; later calls do nothing."""
    QAccessible.installFactory(_describe)
