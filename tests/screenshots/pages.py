"""The pages that have their picture taken. A new page is one function here, or one line in `PAGES`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.tools.definitions import AskReason
from app.view_models.machines import MachineEntry
from app.view_models.tools import StepView
from app.view_models.transcript import ReplyStatus
from app.views.files.picture_viewer import PictureViewer
from app.views.link_dialog import ask_to_open
from app.views.settings.machines import MachinesPage
from app.views.settings.schema_field import SchemaField
from app.views.settings.tools import ServerCard, ToolsPage
from app.views.shell.chat_tools import ChatToolsPanel
from app.views.transcript.beginning_part import BeginningPart
from app.views.transcript.overlay import OverlayMode
from engine import Machine, StationPhase, StationState
from tests.end2end.test_starter_eyes import unseen
from tests.helpers.event_loop import until
from tests.helpers.window_pages import SETTINGS_PAGES
from tests.screenshots.calls import question
from tests.screenshots.harness import CALLS, LONG, PICTURE, QUESTIONS, SHOWCASE, ScreenshotHarness, dialog
from tests.screenshots.tools import ShownServers, ShownTools

Page = Callable[[ScreenshotHarness], QWidget]  # brings the page up, and returns the widget to grab

_SEARCHED = {"en": "draft", "ko": "초안", "ja": "ドラフト", "zh_CN": "草稿"}

_INSTRUCTIONS = {
    "en": "We sell tea. Answer in two sentences, and name the tea.",
    "ko": "저희는 차를 팝니다. 두 문장으로 답하고 차 이름을 말해 주세요.",
    "ja": "お茶を売っています。2文で答え、お茶の名前を挙げてください。",
    "zh_CN": "我们卖茶叶。请用两句话回答，并说出茶名。",
}


def empty_chat(harness: ScreenshotHarness) -> QWidget:
    harness.application.chats.new_chat()
    return harness.application.window


def chat(harness: ScreenshotHarness) -> QWidget:
    """A real reply with its real statistics, in the language of the window."""
    harness.open_chat(harness.application.settings.language)
    return harness.application.window


def long_chat(harness: ScreenshotHarness) -> QWidget:
    """What the model no longer reads of it."""
    harness.open_chat(LONG)
    line = next(each for each in harness.transcript.findChildren(BeginningPart) if each.isVisible())
    line.click()
    return harness.application.window


def markdown(harness: ScreenshotHarness) -> QWidget:
    harness.open_chat(SHOWCASE)
    harness.transcript.go_to(None)
    return harness.application.window


def scrolled(harness: ScreenshotHarness) -> QWidget:
    """In the middle of a long reply, from where a button leads to its end; a message of many lines is being written."""
    harness.open_chat(SHOWCASE)
    harness.application.window.composer.set_text("\n".join(f"{line}. …" for line in range(1, 31)))
    bar = harness.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    return harness.application.window


def choices(harness: ScreenshotHarness) -> QWidget:
    """What opens from a button that shows one of several."""
    window = harness.settings_window
    window.show_page("general")
    window.general.language.click()
    return window


def thinking(harness: ScreenshotHarness) -> QWidget:
    """The same reply from its beginning, with its thinking opened."""
    harness.open_chat(SHOWCASE)
    item = harness.transcript.items[-1]
    if not item.opened:
        harness.transcript.toggle_thinking(item.message.id)
    harness.transcript.show_message(harness.transcript.items[0].message.id)
    return harness.application.window


def search(harness: ScreenshotHarness) -> QWidget:
    chat(harness)
    harness.application.window.sidebar.search.setText(_SEARCHED[harness.application.settings.language])
    harness.pause()
    return harness.application.window


def picker(harness: ScreenshotHarness) -> QWidget:
    chat(harness)
    harness.application.window.open_picker()
    return harness.application.window


def inspector(harness: ScreenshotHarness) -> QWidget:
    """With what the draft foresaw marked in the text."""
    chat(harness)
    harness.application.window.inspector.set_wanted(True)
    harness.application.window.overlay.choose(OverlayMode.ACCEPTED)
    return harness.application.window


def race(harness: ScreenshotHarness) -> QWidget:
    """Run to its verdict."""
    chat(harness)
    actions = harness.application.window.speculation
    actions.race.trigger()
    assert actions.race_window is not None
    until(lambda: not harness.application.speculation.race.under_way)
    return actions.race_window


def picture(harness: ScreenshotHarness) -> QWidget:
    """A real answer about a picture that the model was not trained on."""
    harness.open_chat(PICTURE + harness.application.settings.language)
    return harness.application.window


def picture_viewer(harness: ScreenshotHarness) -> QWidget:
    picture(harness)
    harness.transcript.context.attachment_requested.emit(harness.application.chats.transcript.messages[0].id, 0)
    (viewer,) = harness.application.window.findChildren(PictureViewer)
    until(lambda: not viewer.page.image.isNull())
    return viewer


def picture_unseen(harness: ScreenshotHarness) -> QWidget:
    """Two that wait for a model that sees, with a question."""
    harness.application.chats.new_chat()
    asked = list(unseen(5))
    harness.attach(asked[1].png, asked[2].png)
    harness.application.window.composer.set_text(
        asked[list(QUESTIONS).index(harness.application.settings.language)].question
    )
    return harness.application.window


def trash(harness: ScreenshotHarness) -> QWidget:
    return harness.application.window.sidebar.show_trash()


def chat_form(harness: ScreenshotHarness) -> QWidget:
    """The form of replies, with a schema that is being typed; and how much a model thinks, beside the message."""
    window = harness.application.window
    window.composer.effort.show_effort("low", ("off", "low", "normal", "high"), "", own=True)
    panel = window.chat_settings.panel
    if not panel.isVisible():
        window.chat_settings.toggle_panel()
    field = panel.fields["schema"].field
    assert isinstance(field, SchemaField)
    field.choice.choose("own")
    field.own.setPlainText('{"type": "array",\n "items"')
    harness.settle()
    panel.page.ensureWidgetVisible(field.fault)
    return window


def chat_settings(harness: ScreenshotHarness) -> QWidget:
    chat(harness)
    harness.application.window.chat_settings.toggle_panel()
    return harness.application.window


def settings_page(name: str, harness: ScreenshotHarness) -> QWidget:
    window = harness.settings_window
    window.show_page(name)
    return window


def models_tab(tab: str, harness: ScreenshotHarness) -> QWidget:
    chat(harness)
    harness.application.show_models(tab)
    if tab == "find":
        found = harness.application.window.models_view.view.discover.list.model()
        until(lambda: bool(found.rowCount()))
    return harness.application.window


def calls(harness: ScreenshotHarness) -> QWidget:
    """A reply that has called tools, with some of its calls opened."""
    harness.open_chat(CALLS)
    item = harness.transcript.items[-1]
    if not item.opened:
        for key in ((3, 0), (6, 0)):
            harness.transcript.context.opening_requested.emit(item.message.id, key)
    harness.transcript.show_message(harness.transcript.items[0].message.id)
    return harness.application.window


def consent(reason: AskReason, harness: ScreenshotHarness) -> QWidget:
    """A question, as it is while a reply waits."""
    harness.application.chats.new_chat()
    harness.open_chat(CALLS)
    asked = question(reason)
    transcript = harness.application.chats.transcript
    transcript.change(
        transcript.messages[-1].id,
        text="",
        steps=(StepView(asked.calls, "I'll tidy up."),),
        status=ReplyStatus.WAITS_FOR_YOU,
        consent=asked,
    )
    harness.transcript.go_to(None)
    return harness.application.window


def tool_servers(harness: ScreenshotHarness) -> QWidget:
    """The page of the settings with servers in every state; one of them shows what it offers."""
    page = ToolsPage(harness.application.theme, ShownTools(harness), ShownServers(harness))
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    scale = harness.application.settings.text_scale
    page.resize(round(600 * scale), round(2000 * scale))
    page.show()
    card = page.cards["github"]
    assert isinstance(card, ServerCard)
    card.offers.click()
    return page


def run_sheet(harness: ScreenshotHarness) -> QWidget:
    """Before a server is switched on."""
    page = tool_servers(harness)
    assert isinstance(page, ToolsPage)
    card = page.cards["files"]
    assert isinstance(card, ServerCard)
    sheet = card.ask()
    sheet.finished.connect(lambda: page.close())  # noqa: PLW0108  it keeps the page, which has no other owner
    return sheet


def tools_panel(harness: ScreenshotHarness) -> QWidget:
    """For the starter pair, which cannot use them."""
    harness.application.chats.new_chat()
    harness.application.window.composer.tools_button.click()
    return harness.application.window


def tools_panel_on(harness: ScreenshotHarness) -> QWidget:
    """For a model that can."""
    harness.application.chats.new_chat()
    window = harness.application.window
    models = harness.application.models
    tools = ShownTools(harness)
    panel = ChatToolsPanel(harness.application.theme, window, tools, models, window.composer.take_focus)
    panel.toggle(window.composer.tools_button)
    return window


def activity(tab: str, harness: ScreenshotHarness) -> QWidget:
    harness.application.window.menu.activity.trigger()
    window = harness.application.window.speculation.activity
    assert window is not None
    window.show_tab(tab)
    return window


def link_dialog(harness: ScreenshotHarness) -> QWidget:
    chat(harness)
    ask_to_open("https://аpple.example/sign-in?from=hunch", harness.application.theme, harness.application.window)
    harness.settle()
    return dialog()


def palette(harness: ScreenshotHarness) -> QWidget:
    chat(harness)
    harness.application.window.menu.palette.trigger()
    return harness.application.window


def quick_ask(harness: ScreenshotHarness) -> QWidget:
    harness.application.window.tools.desktop.open_quick_ask()
    return harness.application.window.tools.desktop.quick_ask


def help_window(harness: ScreenshotHarness) -> QWidget:
    harness.application.window.menu.help.trigger()
    window = harness.application.help.help
    assert window is not None
    window.search.clear()
    window.list.setCurrentRow(1)
    return window


def menu_dialog(name: str, harness: ScreenshotHarness) -> QWidget:
    """One that an entry of the menus opens over the window."""
    chat(harness)
    harness.application.window.menu.actions[name].trigger()
    harness.settle()
    return dialog()


def _project_id(harness: ScreenshotHarness) -> int:
    """A project with instructions and an option of its own, made once."""
    chats = harness.application.chats
    name = {"en": "Tea shop", "ko": "찻집", "ja": "お茶の店", "zh_CN": "茶叶店"}[harness.application.settings.language]
    folders = {each.name: each.id for each in chats.conversations.tree.folders.values()}
    if name not in folders:
        chats.folders.make()
        until(lambda: len(chats.conversations.tree.folders) > len(folders))
        (made,) = chats.conversations.tree.folders.keys() - set(folders.values())
        chats.folders.rename(made, name)
        until(lambda: chats.conversations.tree.folders[made].name == name)
        chats.projects.put_instructions(made, _INSTRUCTIONS[harness.application.settings.language])
        chats.options.put_in_project(made, "temperature", 0.3)
        for file, text in (("prices.txt", "Assam 4\n" * 40), ("book.txt", "tea " * 400_000), ("code.bin", "\0" * 999)):
            (harness.application.paths.data / file).write_text(text)
            chats.documents.add(made, [harness.application.paths.data / file])
        until(lambda: [each.state for each in chats.documents.files(made)] == ["ready", "ready", "unreadable"])
        folders[name] = made
    return folders[name]


def project(harness: ScreenshotHarness) -> QWidget:
    harness.application.window.project_page.show(_project_id(harness))
    harness.pause()
    return harness.application.window


def project_chat(harness: ScreenshotHarness) -> QWidget:
    """A new chat in it: the composer says what is in force."""
    harness.application.chats.new_chat_in(_project_id(harness))
    harness.pause()
    return harness.application.window


def draft_elsewhere(harness: ScreenshotHarness) -> QWidget:
    """With a machine that is paired, as far as the window knows, and drafts."""
    machines = harness.application.machines
    machines.look = lambda: None  # type: ignore[method-assign]
    window = harness.settings_window
    window.show_page("machines")
    machines.entries = (MachineEntry("f" * 64, "MacBook Air", "10.0.0.7:7791", 0.0006),)
    machines.station.state = StationState(StationPhase.READY, "MacBook Air", 212, 163, 3, 1.12, 780_000_000, 48.2)
    machines.station._machines = {"f" * 64: Machine("MacBook Air", "f" * 64, "")}
    machines.station.choose("f" * 64)
    for each in (machines, machines.station):
        each.changed.emit()
    page = window.pages["machines"]
    assert isinstance(page, MachinesPage)
    harness.settle()
    page.ensureWidgetVisible(page.station)
    return window


PAGES: dict[str, Page] = {
    "empty-chat": empty_chat,
    "chat": chat,
    "long-chat": long_chat,
    "markdown": markdown,
    "picture": picture,
    "picture-viewer": picture_viewer,
    "picture-unseen": picture_unseen,
    "scrolled": scrolled,
    "choices": choices,
    "thinking": thinking,
    "search": search,
    "picker": picker,
    "inspector": inspector,
    "race": race,
    "chat-settings": chat_settings,
    "chat-form": chat_form,
    "trash": trash,
    "calls": calls,
    "consent": partial(consent, AskReason.NEW),
    "consent-changed": partial(consent, AskReason.CHANGED),
    "tool-servers": tool_servers,
    "run-sheet": run_sheet,
    "tools-panel": tools_panel,
    "tools-panel-on": tools_panel_on,
    **{f"settings-{name}": partial(settings_page, name) for name in SETTINGS_PAGES},
    "draft-elsewhere": draft_elsewhere,
    **{f"models-{tab}": partial(models_tab, tab) for tab in ("yours", "find")},
    **{f"activity-{tab}": partial(activity, tab) for tab in ("requests", "totals")},
    "project": project,
    "project-chat": project_chat,
    "palette": palette,
    "quick-ask": quick_ask,
    "help": help_window,
    "shortcuts": partial(menu_dialog, "shortcuts"),
    "about": partial(menu_dialog, "about"),
    "link-dialog": link_dialog,
}
