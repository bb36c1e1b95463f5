"""The pages that have their picture taken. A new page is one function here, or one line in `PAGES`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QWidget

from app.views.link_dialog import ask_to_open
from app.views.transcript.overlay import OverlayMode
from tests.screenshots.stage import SHOWCASE, Stage, dialog

Page = Callable[[Stage], QWidget]  # brings the page up, and returns the widget to grab

_SEARCHED = {"en": "draft", "ko": "초안", "ja": "ドラフト", "zh_CN": "草稿"}


def empty_chat(stage: Stage) -> QWidget:
    stage.application.chats.new_chat()
    return stage.application.window


def chat(stage: Stage) -> QWidget:
    """A real reply with its real statistics, in the language of the window."""
    stage.open_chat(stage.application.settings.language)
    return stage.application.window


def markdown(stage: Stage) -> QWidget:
    stage.open_chat(SHOWCASE)
    stage.transcript.go_to(None)
    return stage.application.window


def thinking(stage: Stage) -> QWidget:
    """The same reply from its beginning, with its thinking opened."""
    stage.open_chat(SHOWCASE)
    item = stage.transcript.items[-1]
    if not item.opened:
        stage.transcript.toggle_thinking(item.message.id)
    stage.transcript.show_message(stage.transcript.items[0].message.id)
    return stage.application.window


def search(stage: Stage) -> QWidget:
    chat(stage)
    stage.application.window.sidebar.search.setText(_SEARCHED[stage.application.settings.language])
    stage.pause()
    return stage.application.window


def picker(stage: Stage) -> QWidget:
    chat(stage)
    stage.application.window.open_picker()
    return stage.application.window


def inspector(stage: Stage) -> QWidget:
    """With what the draft foresaw marked in the text."""
    chat(stage)
    stage.application.window.inspector.set_wanted(True)
    stage.application.window.overlay.choose(OverlayMode.ACCEPTED)
    return stage.application.window


def race(stage: Stage) -> QWidget:
    """Run to its verdict."""
    chat(stage)
    wiring = stage.application.window.speculation
    wiring.race.trigger()
    assert wiring.race_window is not None
    stage.until(lambda: not stage.application.speculation.race.under_way)
    return wiring.race_window


def trash(stage: Stage) -> QWidget:
    return stage.application.window.sidebar_wiring.show_trash()


def chat_settings(stage: Stage) -> QWidget:
    chat(stage)
    stage.application.window.chat_settings.toggle()
    return stage.application.window


def settings_page(name: str, stage: Stage) -> QWidget:
    window = stage.settings_window
    window.show_page(name)
    return window


def link_dialog(stage: Stage) -> QWidget:
    chat(stage)
    ask_to_open("https://аpple.example/sign-in?from=hunch", stage.application.theme, stage.application.window)
    stage.settle()
    return dialog()


def palette(stage: Stage) -> QWidget:
    chat(stage)
    stage.application.window.menu.palette.trigger()
    return stage.application.window


def quick_ask(stage: Stage) -> QWidget:
    stage.application.window.comfort.outside.open_quick_ask()
    return stage.application.window.comfort.outside.quick_ask


def menu_dialog(name: str, stage: Stage) -> QWidget:
    """One that an entry of the menus opens over the window."""
    chat(stage)
    stage.application.window.menu.actions[name].trigger()
    stage.settle()
    return dialog()


PAGES: dict[str, Page] = {
    "empty-chat": empty_chat,
    "chat": chat,
    "markdown": markdown,
    "thinking": thinking,
    "search": search,
    "picker": picker,
    "inspector": inspector,
    "race": race,
    "chat-settings": chat_settings,
    "trash": trash,
    **{
        f"settings-{name}": partial(settings_page, name)
        for name in ("general", "models", "discover", "speculation", "chat", "appearance", "advanced")
    },
    "palette": palette,
    "quick-ask": quick_ask,
    "shortcuts": partial(menu_dialog, "shortcuts"),
    "about": partial(menu_dialog, "about"),
    "link-dialog": link_dialog,
}
