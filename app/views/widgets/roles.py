"""What screen readers are told of widgets that paint themselves.

A widget class names its `accessible_role`, and may say its value in `accessible_value()`. Buttons do not need it: those
of Qt say themselves whether they are pressed, checked, or one of several.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget


class _Described(QAccessibleWidget):
    def role(self) -> QAccessible.Role:
        role: QAccessible.Role = getattr(self.widget(), "accessible_role", QAccessible.Role.Client)
        return role

    def text(self, kind: QAccessible.Text) -> str:
        value = getattr(self.widget(), "accessible_value", None)
        if kind == QAccessible.Text.Value and value is not None:
            return str(value())
        return super().text(kind)


def _describe(_class_name: str, widget: QObject) -> QAccessibleInterface | None:
    if isinstance(widget, QWidget) and hasattr(widget, "accessible_role"):
        return _Described(widget)
    return None


_installed: list[bool] = []


def install_roles() -> None:
    """Once in a process; later calls do nothing."""
    if not _installed:
        _installed.append(True)
        QAccessible.installFactory(_describe)
