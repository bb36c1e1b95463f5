"""Somebody in front of the real app: looks at its windows, and has a mouse and a keyboard. Needs a QApplication.

Clicks go to a place of a window, and hit whatever is in sight there.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QScrollArea, QWidget

from app.application import Application
from app.system.paths import Paths
from app.views.models.view import ModelsView
from app.views.widgets.row_list import ChoiceList
from tests.helpers.app_harness import reset_process
from tests.helpers.event_loop import after, until

PLACES = 2000  # looked at until a widget stays where it is
Pointer = Callable[[QWindow, QPoint], None]  # clicks at a place of a window


def qt_pointer(window: QWindow, at: QPoint) -> None:
    """As events of the window system, which Qt delivers to what lies there."""
    QTest.mouseClick(window, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


def x11_pointer(window: QWindow, at: QPoint) -> None:
    """The pointer of an X server, moved by another program.

    That asks the server where the window is: Qt may not have heard yet where the window manager has put it.
    """
    window.raise_()
    after(50)
    place = ["--window", str(int(window.winId())), str(at.x()), str(at.y())]
    subprocess.run(["xdotool", "mousemove", *place, "click", "1"], check=True, timeout=30)


class Person:
    def __init__(self, folder: Path, pointer: Pointer) -> None:
        self.pointer = pointer
        self.application = Application(Paths.for_user(folder), starter=folder / "no-starter")
        opened: list[bool] = []
        self.application.opened.connect(lambda: opened.append(True))
        self.application.show()
        until(lambda: opened)

    def click(self, widget: QWidget, place: Callable[[], QRect] | None = None) -> None:
        """On a widget, or a place of it, once it stays in sight. What is covered cannot be clicked.

        Pages grow and lists move while models are looked at: it is scrolled into sight until it stays there.
        """
        seen: list[QPoint | None] = [None, None]
        while seen[-1] is None or seen[-1] != seen[-2]:
            assert len(seen) < PLACES, f"{widget} is covered or moves"
            seen.append(self._in_sight(widget, place))
        self.pointer(widget.window().windowHandle(), seen[-1])

    def _in_sight(self, widget: QWidget, place: Callable[[], QRect] | None) -> QPoint | None:
        """Where in its window it is seen, a moment after everything around it was scrolled to it."""
        around = widget.parentWidget()
        while around is not None:
            if isinstance(around, QScrollArea):
                around.ensureWidgetVisible(widget)
            around = around.parentWidget()
        after(30)
        window = widget.window()
        at = widget.mapTo(window, (place() if place is not None else widget.rect()).center())
        hit = window.childAt(at) if widget.isVisible() else None
        return at if hit is not None and (hit is widget or widget.isAncestorOf(hit)) else None

    def click_row(self, listed: QAbstractItemView, text: str) -> None:
        """The row of a list that begins with that text, once it can be chosen."""
        model = listed.model()

        def rows() -> list[int]:
            named = [at for at in range(model.rowCount()) if str(model.index(at, 0).data()).startswith(text)]
            if isinstance(listed, ChoiceList):
                named = [at for at in named if listed.value_of(model.index(at, 0)) is not None]
            return named

        until(rows)
        listed.scrollTo(model.index(rows()[0], 0))
        self.click(listed.viewport(), lambda: listed.visualRect(model.index(rows()[0], 0)))

    def open_models(self, tab: str) -> ModelsView:
        """By the button of the sidebar and the tabs."""
        place = self.application.window.models_view
        if not place.is_shown:
            self.click(self.application.window.sidebar.models_button)
            until(lambda: place.is_shown)
        self.click(next(each for each in place.view.tabs.buttons if each.text() == tab))
        return place.view

    def ask(self, text: str) -> None:
        """And wait for the reply."""
        self.send(text)
        until(lambda: not self.application.chats.generating and not self.application.storage.pending)

    def send(self, text: str) -> None:
        chats, edit = self.application.chats, self.application.window.composer.edit
        before = len(chats.transcript.messages)
        self.click(edit)
        QTest.keyClicks(edit, text)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        until(lambda: len(chats.transcript.messages) > before)

    def leave(self) -> None:
        self.application.window.close_at_once()
        reset_process(self.application)
