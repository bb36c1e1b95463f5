"""Every page of the app: what takes the focus has a name and a true role, and Tab reaches all of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.views.link_dialog import ask_to_open
from app.views.shell.help_menu import show_about
from app.views.shell.shortcuts import show_shortcuts
from app.views.widgets.fields import SegmentButton
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.stillness import still
from tests.helpers.window_pages import SETTINGS_PAGES, activity

# What says only that there is something.
_VAGUE = {QAccessible.Role.NoRole, QAccessible.Role.Client, QAccessible.Role.Pane}

_RING_OF_MACOS = Qt.WidgetAttribute.WA_MacShowFocusRect


def focusable(window: QWidget) -> list[QWidget]:
    """All that Tab must reach; of radio buttons only the checked one, from which arrow keys lead to the others."""
    return [each for each in window.findChildren(QWidget) if _takes_tab(each, window)]


def _takes_tab(widget: QWidget, window: QWidget) -> bool:
    if not widget.isVisibleTo(window) or not widget.isEnabled() or widget.window() is not window:
        return False
    if isinstance(widget, SegmentButton) and not widget.isChecked():
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


def unheard(window: QWidget) -> list[str]:
    """What paints words itself in a role that macOS passes over."""
    named = [each for each in window.findChildren(QWidget) if each.isVisible() and each.accessibleName()]
    painted = [each for each in named if not any(inner.isVisible() for inner in each.findChildren(QWidget))]
    told = {each: QAccessible.queryAccessibleInterface(each) for each in painted if each.window() is window}
    return [describe(each) for each in told if told[each].role() in _VAGUE]


def unreached(window: QWidget) -> list[str]:
    seen = reached(window)
    return [describe(each) for each in focusable(window) if each not in seen and not _leads_to(each, seen)]


def _leads_to(widget: QWidget, seen: list[QWidget]) -> bool:
    """A spin box is reached in its line."""
    return any(widget.isAncestorOf(each) for each in seen) and not isinstance(widget, QAbstractScrollArea)


def check(window: QWidget, qtbot: QtBot) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    still()
    assert unnamed(window) == []
    assert unheard(window) == []
    two_rings = [each for each in focusable(window) if each.testAttribute(_RING_OF_MACOS)]
    assert list(map(describe, two_rings)) == []
    assert unreached(window) == []
    assert len(focusable(window)) > 0


def test_tab_goes_through_the_settings_from_the_top_the_models_and_the_empty_chat(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, with_starter=True) as harness:
        check(harness.window, qtbot)
        chats = harness.window.sidebar.chats
        assert chats not in reached(harness.window), "there is none"
        harness.ask(qtbot, "Hello")
        assert chats in reached(harness.window)
        harness.application.chats.delete_chats([harness.chats.chat_id])
        qtbot.waitUntil(lambda: chats not in reached(harness.window))
        harness.application.settings.model_folders = (str(tmp_path),)  # its row is made later than those below
        for page in SETTINGS_PAGES:
            window = harness.show_settings(page)
            window.resize(1100, 900)
            check(window, qtbot)
            shown = window.pages[page]
            seen = [each for each in reached(window) if shown.isAncestorOf(each)]
            content = shown.widget()
            assert content is not None
            middles = [each.mapTo(content, each.rect().center()).y() for each in seen]
            assert all(later >= earlier - 6 for earlier, later in pairwise(middles)), [describe(each) for each in seen]
            assert len(seen) > (page != "tools")  # without servers it has one field
        window.close()
        for tab in ("yours", "find"):
            models = harness.show_models(tab)
            check(harness.window, qtbot)
            seen = [each for each in reached(harness.window) if models.isAncestorOf(each)]
            assert isinstance(seen[0], SegmentButton), [describe(each) for each in seen]


def open_quick_ask(harness: AppHarness) -> QWidget:
    quick = harness.window.tools.desktop.quick_ask
    quick.come_to_front()
    return quick


def open_reset(harness: AppHarness) -> QWidget:
    window = harness.show_settings("advanced")
    return window.advanced.ask_to_reset()


def open_link(harness: AppHarness) -> QWidget:
    dialog = ask_to_open("https://example.org", harness.application.theme, harness.window)
    assert dialog is not None
    return dialog


DIALOGS: dict[str, Callable[[AppHarness], QWidget]] = {
    "quick ask": open_quick_ask,
    "reset": open_reset,
    "link": open_link,
    "about": lambda harness: show_about(harness.application.theme, harness.window),
    "shortcuts": lambda harness: show_shortcuts(harness.application.theme, harness.window.menu, harness.window),
}


def test_tab_goes_through_the_picker_and_on(harness: AppHarness, qtbot: QtBot) -> None:
    window = harness.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.composer.take_focus()
    window.open_picker()
    still()
    stops = [each for each in window.picker.findChildren(QWidget) if _takes_tab(each, window)]
    seen: list[QWidget] = []
    while window.picker.isVisible():
        now = QApplication.focusWidget()
        assert now is not None
        seen.append(now)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    assert (seen[0], set(seen)) == (window.picker.field, set(stops))
    assert window.picker.window() is window, "input methods of macOS write into the window in front"
    window.open_picker()
    window.open_picker()  # once more closes it
    assert not window.picker.isVisible()


def test_tab_goes_through_a_chat_its_requests_and_dialogs(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Hello")
    window = harness.window
    window.resize(1500, 900)
    # Sidebar, header, messages, composer; each from its top left, and a ring shows in the list of chats.
    assert window.transcript is not None
    window.banner.hide()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.composer.take_focus()
    parts = [window.composer, window.sidebar, window.header, window.transcript, window.composer]
    seen: list[QWidget] = [window.composer.edit]
    rings = []
    while len(seen) < 40:
        QTest.keyClick(seen[-1], Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        assert now is not None
        rings += [window.sidebar.chats.has_ring] if now is window.sidebar.chats else []
        if now is window.composer.edit:
            break
        seen.append(now)
    order = [next(at for at, part in enumerate(parts) if part is each or part.isAncestorOf(each)) for each in seen]
    assert order == sorted(order), [describe(each) for each in seen]
    assert set(order) == {0, 1, 2, 3}
    assert rings == [True]

    window.inspector.set_wanted(True)
    check(harness.window, qtbot)
    check(activity(harness), qtbot)

    for name, opened in DIALOGS.items():
        dialog = opened(harness)
        still()
        check(dialog, qtbot)
        QTest.keyClick(QApplication.focusWidget() or dialog, Qt.Key.Key_Escape)
        assert not dialog.isVisible(), name
