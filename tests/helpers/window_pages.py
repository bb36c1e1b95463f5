"""Every page of the app, opened over the harness: what is grabbed, measured and read of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.views.link_dialog import ask_to_open
from tests.helpers.app_harness import AppHarness
from tests.helpers.stillness import still

SETTINGS_PAGES = ("general", "models", "chat", "appearance", "tools", "server", "machines", "advanced")


def dialog() -> QWidget:
    return next(each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible())


def settings_page(name: str) -> Callable[[AppHarness], QWidget]:
    def show(app: AppHarness) -> QWidget:
        window = app.show_settings(name)
        window.resize(window.minimumSize())
        return window

    return show


def inspector(app: AppHarness) -> QWidget:
    app.window.resize(1500, 900)
    app.window.inspector.set_wanted(True)
    return app.window


def picker(app: AppHarness) -> QWidget:
    app.window.open_picker()
    return app.window


def chat_settings(app: AppHarness) -> QWidget:
    app.window.chat_settings.toggle_panel()
    return app.window


def palette(app: AppHarness) -> QWidget:
    app.window.menu.palette.trigger()
    return app.window


def quick_ask(app: AppHarness) -> QWidget:
    app.window.tools.desktop.open_quick_ask()
    return app.window.tools.desktop.quick_ask


def menu_dialog(name: str) -> Callable[[AppHarness], QWidget]:
    def show(app: AppHarness) -> QWidget:
        app.window.menu.actions[name].trigger()
        return dialog()

    return show


def link_dialog(app: AppHarness) -> QWidget:
    ask_to_open("https://example.com/", app.application.theme, app.window)
    return dialog()


def new_chat(app: AppHarness) -> QWidget:
    app.chats.new_chat()
    return app.window


def editor(app: AppHarness) -> QWidget:
    assert app.window.transcript is not None
    app.window.transcript.context.edit_requested.emit(app.chats.transcript.messages[0].id)
    return app.window


def race(app: AppHarness) -> QWidget:
    actions = app.window.speculation
    assert actions is not None
    actions.race.trigger()
    assert actions.race_window is not None
    return actions.race_window


def model_row(app: AppHarness) -> QWidget:
    """With its facts and all that can be done with it."""
    view = app.show_models("yours")
    app.window.resize(app.window.minimumSize())
    row = view.yours.installed.rows[0]
    row.show_facts(True)
    still()
    view.yours.ensureWidgetVisible(row.reveal_button)
    return app.window


def models_tab(tab: str) -> Callable[[AppHarness], QWidget]:
    def show(app: AppHarness) -> QWidget:
        app.show_models(tab)
        return app.window

    return show


def activity(app: AppHarness) -> QWidget:
    app.window.menu.activity.trigger()
    assert app.window.speculation.activity is not None
    return app.window.speculation.activity


def help_window(app: AppHarness) -> QWidget:
    app.window.menu.help.trigger()
    assert app.application.help.help is not None
    return app.application.help.help


PAGES: dict[str, Callable[[AppHarness], QWidget]] = {
    "chat": lambda app: app.window,
    "empty chat": new_chat,
    "inspector": inspector,
    "picker": picker,
    "chat settings": chat_settings,
    "trash": lambda app: app.window.sidebar.show_trash(),
    "palette": palette,
    "quick ask": quick_ask,
    "shortcuts": menu_dialog("shortcuts"),
    "about": menu_dialog("about"),
    "link dialog": link_dialog,
    "import": menu_dialog("import_chats"),
    "export": menu_dialog("export_all"),
    "editor": editor,
    "model row": model_row,
    "race": race,
    "models, yours": models_tab("yours"),
    "models, find": models_tab("find"),
    "activity": activity,
    "help": help_window,
    **{name: settings_page(name) for name in SETTINGS_PAGES},
}
