"""Pointer and keys at random over the whole window: nothing raises, warns or hangs, and no chat is damaged."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QContextMenuEvent, QDesktopServices, QDrag, QImage, QInputMethodEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QFileDialog, QMenu, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from app.system import file_manager
from app.tools.builtin.offered import BY_NAME
from engine import FinishReason, OutOfMemory
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script
from tests.helpers.stillness import still
from tests.helpers.tool_calls import MODELS, call, calls

_Key = Qt.Key
_KEYS = (
    *(_Key.Key_Tab, _Key.Key_Backtab, _Key.Key_Return, _Key.Key_Space, _Key.Key_Escape, _Key.Key_Backspace),
    *(_Key.Key_Up, _Key.Key_Down, _Key.Key_Left, _Key.Key_Right, _Key.Key_Home, _Key.Key_End, _Key.Key_PageUp),
    *(_Key.Key_PageDown, _Key.Key_Delete, _Key.Key_F2, _Key.Key_Menu),
)
_MODIFIERS = (Qt.KeyboardModifier.NoModifier,) * 6 + (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)
_WORDS = ("a", "Why?", "한글", "日本", "1", "-1", "9" * 30, "/", "@", "\n", "```\nx\n```", "$x$", "👩‍👩‍👧", "x" * 3000)
_SIZES = ((640, 480), (760, 600), (1000, 700), (1500, 900))
_ARGUMENTS = ("", "{}", '{"expression": "17*23"}', '{"query": "word"}', '{"url": "https://example.com/"}')
_SCRIPTS = (
    Script(),
    Script(("# Title\n\n", "- a\n- b\n\n", "```py\nprint(1)\n```\n", "| a | b |\n|---|---|\n| 1 | $x$ |\n")),
    Script(thinking=("Let me ", "think.")),
    Script((), finish=FinishReason.LENGTH),
    Script(error=OutOfMemory("x")),
    Script(tuple(f"word {number} " for number in range(200))),
)


_STEPS = 500


class Life:
    def __init__(self, app: AppHarness, qtbot: QtBot, seed: int, folder: Path) -> None:
        self._app, self._qtbot, self._rnd, self._folder = app, qtbot, random.Random(seed), folder
        self.done: list[str] = []
        self.closed = False
        app.window.closed.connect(self._on_closed)
        self._acts: list[tuple[int, Callable[[], str]]] = [
            (40, self._click),
            (12, self._press),
            (10, self._type),
            (8, self._choose),
            (6, self._open_menu),
            (4, self._ask),
            (4, self._hold),
            (3, self._wheel),
            (3, self._drag),
            (3, self._paste),
            (2, self._resize),
            (2, self._look),
            (2, self._drop),
        ]

    def _on_closed(self) -> None:
        self.closed = True

    def step(self) -> None:
        self._leave_system_dialogs()
        act = self._rnd.choices([each for _, each in self._acts], [weight for weight, _ in self._acts])[0]
        if QApplication.activePopupWidget() is not None and self._rnd.random() < 0.7:
            act = self._rnd.choice((self._choose, self._choose, self._press))
        done = act()
        print(f"{len(self.done)}: {done}")  # noqa: T201  how a fault is reached
        self.done.append(done)
        still()

    def end(self) -> None:
        self._app.engine.gate.open()
        self._leave_system_dialogs()
        for popup in QApplication.topLevelWidgets():
            if isinstance(popup, QMenu):
                popup.close()
        still()
        if not self.closed:
            self._app.wait_until_quiet(self._qtbot)
            self._look_again()

    def _look_again(self) -> None:
        """What is shown is what is stored."""
        chats = self._app.chats
        chat, before = chats.chat_id, self._shown()
        chats.new_chat()
        self._app.wait_until_quiet(self._qtbot)
        chats.open_chat(chat)
        self._app.wait_until_quiet(self._qtbot)
        assert self._shown() == before

    def _shown(self) -> list[tuple[object, ...]]:
        return [(each.text, each.thinking, each.status) for each in self._app.chats.transcript.messages]

    def _windows(self) -> list[QWidget]:
        """That take the pointer now."""
        alone = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if alone is not None:
            return [alone]
        return [each for each in QApplication.topLevelWidgets() if each.isVisible() and not isinstance(each, QMenu)]

    def _leave_system_dialogs(self) -> None:
        for each in QApplication.topLevelWidgets():
            if isinstance(each, QFileDialog) and each.isVisible():
                if self._rnd.random() < 0.5 and each.acceptMode() is QFileDialog.AcceptMode.AcceptSave:
                    each.selectFile(str(self._folder / f"saved {len(self.done)}"))
                    each.accept()
                else:
                    each.reject()
        still()

    def _part(self, kind: type[QWidget] = QWidget) -> QWidget | None:
        """That a pointer reaches."""
        window = self._rnd.choice(self._windows())
        parts = [each for each in window.findChildren(kind) if each.isVisible() and each.isEnabled()]
        self._rnd.shuffle(parts)
        for part in parts:
            middle = part.mapTo(window, part.rect().center())
            at = window.childAt(middle)
            if at is not None and (at is part or part.isAncestorOf(at)):
                return part
        return None

    def _named(self, part: QWidget) -> str:
        words = part.text() if isinstance(part, QAbstractButton) else ""
        return f"{type(part).__name__} {words or part.accessibleName()!r}"

    def _click(self) -> str:
        kind = self._rnd.choice((QAbstractButton, QAbstractButton, QWidget))
        part = self._part(kind)
        if part is None:
            return "nothing to click"
        name = self._named(part)
        place = QPoint(self._rnd.randrange(part.width()), self._rnd.randrange(part.height()))
        if self._rnd.random() < 0.6:
            place = part.rect().center()
        modifier = self._rnd.choice(_MODIFIERS)
        click = QTest.mouseDClick if self._rnd.random() < 0.1 else QTest.mouseClick
        click(part, Qt.MouseButton.LeftButton, modifier, place)
        return f"click {name} {place.toTuple()} {modifier.name}"

    def _target(self) -> QWidget:
        return QApplication.activePopupWidget() or QApplication.focusWidget() or self._app.window

    def _press(self) -> str:
        key, modifier = self._rnd.choice(_KEYS), self._rnd.choice(_MODIFIERS)
        target = self._target()
        name = self._named(target)
        QTest.keyClick(target, key, modifier)
        return f"key {modifier.name} {key.name} in {name}"

    def _type(self) -> str:
        words, target = self._rnd.choice(_WORDS), self._target()
        name = self._named(target)
        if words.isascii() and words.isprintable():
            QTest.keyClicks(target, words[:40])
        else:
            event = QInputMethodEvent()
            event.setCommitString(words)
            QApplication.sendEvent(target, event)
        return f"type {words[:10]!r} in {name}"

    def _choose(self) -> str:
        """An entry of the menu bar, or of the menu that is open."""
        popup = QApplication.activePopupWidget()
        owner = popup if isinstance(popup, QMenu) else self._app.window
        able = [each for each in _leaves(owner) if each.isEnabled() and each.isVisible() and each.text()]
        if not able:
            return "nothing to choose"
        action = self._rnd.choice(able)
        if action.menuRole() is QAction.MenuRole.QuitRole and self._rnd.random() < 0.8:
            return "stay"
        name = action.text()
        if isinstance(owner, QMenu):
            owner.close()
        action.trigger()
        return f"choose {name}"

    def _open_menu(self) -> str:
        part = self._part()
        if part is None:
            return "no menu"
        name = self._named(part)
        center = part.rect().center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, center, part.mapToGlobal(center))
        takers = (part, part.parentWidget())  # a spin box opens the menu of its line edit
        if not any(isinstance(each, (QScrollBar, QAbstractSpinBox)) for each in takers):  # Qt waits in their menus
            QApplication.sendEvent(part, event)
        return f"menu of {name}"

    def _ask(self) -> str:
        script = self._rnd.choice(_SCRIPTS)
        if self._rnd.random() < 0.2:
            script = calls(call(self._rnd.choice(list(BY_NAME)), self._rnd.choice(_ARGUMENTS)), said="I look.")
        self._app.engine.scripts.append(script)
        if QApplication.activePopupWidget() is None and QApplication.activeModalWidget() is None:
            self._app.window.composer.send(f"{len(self.done)} {self._rnd.choice(_WORDS)}")
        return "ask"

    def _hold(self) -> str:
        gate = self._app.engine.gate
        steps = self._rnd.randrange(4)
        (gate.open if steps == 0 else gate.hold)()
        if steps:
            gate.let_through(steps)
        return f"engine goes on by {steps or 'all'}"

    def _wheel(self) -> str:
        part = self._part()
        if part is None:
            return "no wheel"
        name = self._named(part)
        middle = QPointF(part.rect().center())
        by = QPoint(0, self._rnd.choice((-120, 120, 600, -600)))
        nothing, none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        glob = QPointF(part.mapToGlobal(part.rect().center()))
        event = QWheelEvent(middle, glob, QPoint(), by, nothing, none, Qt.ScrollPhase.NoScrollPhase, False)
        QApplication.sendEvent(part, event)
        return f"wheel over {name}"

    def _drag(self) -> str:
        part = self._part()
        if part is None or QApplication.activePopupWidget() is not None:
            return "no drag"
        name = self._named(part)
        start = QPoint(self._rnd.randrange(part.width()), self._rnd.randrange(part.height()))
        end = QPoint(self._rnd.randrange(part.width()), self._rnd.randrange(part.height()))
        QTest.mousePress(part, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(part, end)
        QTest.mouseRelease(part, Qt.MouseButton.LeftButton, pos=end)
        return f"drag in {name}"

    def _paste(self) -> str:
        clipboard = QApplication.clipboard()
        what = self._rnd.choice(("text", "picture", "file"))
        if what == "picture":
            image = QImage(64, 64, QImage.Format.Format_RGB32)
            image.fill(Qt.GlobalColor.red)
            clipboard.setImage(image)
        else:
            clipboard.setText(self._rnd.choice(_WORDS) if what == "text" else str(self._file()))
        QTest.keyClick(self._target(), _Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        return f"paste {what}"

    def _file(self) -> Path:
        file = self._folder / self._rnd.choice(("a.txt", "b.py", "c.md", "d.bin", "e.pdf"))
        file.write_bytes(self._rnd.choice((b"", b"words\n" * 50, bytes(range(256)))))
        return file

    def _drop(self) -> str:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(self._file()))])
        composer = self._app.window.composer
        if QApplication.activeModalWidget() is None:
            composer.edit.insertFromMimeData(data)
        return "drop a file"

    def _resize(self) -> str:
        window = self._rnd.choice([each for each in QApplication.topLevelWidgets() if each.isVisible()])
        size = self._rnd.choice(_SIZES)
        if isinstance(window, QMenu) or QApplication.activePopupWidget() is not None:
            return "no resize"
        window.resize(*size)
        return f"resize {type(window).__name__} {size}"

    def _look(self) -> str:
        settings = self._app.application.settings
        what = self._rnd.choice(("language", "appearance", "text_scale"))
        values: dict[str, tuple[object, ...]] = {
            "language": ("en", "ko", "ja", "zh_CN"),
            "appearance": ("light", "dark", "auto"),
            "text_scale": (0.8, 1.0, 1.5, 2.0),
        }
        value = self._rnd.choice(values[what])
        setattr(settings, what, value)
        return f"{what} {value}"


def _leaves(owner: QObject) -> list[QAction]:
    if not isinstance(owner, QMenu):
        return [each for each in owner.findChildren(QAction) if each.menu() is None]
    menus = [(each, each.menu()) for each in owner.actions()]
    return [leaf for each, menu in menus for leaf in ([each] if menu is None else _leaves(menu))]


def intact(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(200))
def test_a_life_of_clicks_and_keys(seed: int, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: True)
    monkeypatch.setattr(QDrag, "exec", lambda *_: Qt.DropAction.IgnoreAction)  # it would wait for a real pointer
    monkeypatch.setattr(file_manager, "reveal", lambda _: None)
    monkeypatch.chdir(tmp_path)
    with open_app(tmp_path / "profile", qtbot, models=MODELS) as app, qtbot.capture_exceptions() as caught:
        database = app.paths.database
        life = Life(app, qtbot, seed, tmp_path)
        while not life.closed and len(life.done) < _STEPS:
            life.step()
            assert not caught, caught[0][1]
        life.end()
        assert not caught, caught[0][1]
    assert intact(database)
    with open_app(tmp_path / "profile", qtbot):
        pass  # without a warning in the log
