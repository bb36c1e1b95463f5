"""Links that a model wrote: nothing opens without a question that shows where it goes."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.link_dialog import ask_to_open


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    links: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: links.append(url.toString()))
    return links


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_opens_only_after_a_yes(parent: QWidget, opened: list[str]) -> None:
    box = ask_to_open("https://example.org/a?b=c", Theme(parent), parent)
    assert box is not None
    assert "example.org" in box.title.text()
    assert box.sentence.text() == "https://example.org/a?b=c"
    box.cancel_button.click()
    assert opened == []
    box = ask_to_open("https://example.org/a?b=c", Theme(parent), parent)
    assert box is not None
    box.act_button.click()
    assert opened == ["https://example.org/a?b=c"]


def test_a_host_hidden_behind_a_user_name_is_named(parent: QWidget) -> None:
    box = ask_to_open("https://bank.example@evil.example/", Theme(parent), parent)
    assert box is not None
    assert box.title.text() == "Open evil.example?"


@pytest.mark.costly
@pytest.mark.parametrize(
    "link",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https:///nowhere",
        "x",
        "data:text/html,x",
        "//host/x",
        "\\\\host\\share",
        "",
    ],
)
def test_other_kinds_are_never_followed(parent: QWidget, link: str) -> None:
    assert ask_to_open(link, Theme(parent), parent) is None
