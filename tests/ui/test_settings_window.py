"""The settings window: each control writes its option, downloads can be held and taken up again."""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from app.settings import STARTER_FOLDER, Settings
from app.system.paths import Paths
from app.view_models.chat_options import Scope
from app.view_models.request_table import RequestRow
from app.views.models.download_row import DownloadRow
from app.views.models.view import FIND, YOURS, ModelsView
from app.views.models.yours import FolderRow, ModelRow, YoursPage
from app.views.settings.advanced import HubCard
from app.views.settings.options import ThinkingField
from app.views.settings.window import SettingsWindow
from app.views.widgets.fields import LineField, NumberField, WholeField
from app.views.widgets.labels import TextLabel
from app.words.model_names import human_name
from engine import ForwardTimes, HubAccess, HubUnreachable, ModelMeasured, open_plain
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import MAIN
from tests.helpers.figures import read
from tests.helpers.stillness import still

REPOSITORY = "mlx-community/Tiny-4bit"


@pytest.fixture
def window(harness: AppHarness) -> SettingsWindow:
    return harness.show_settings()


@pytest.fixture
def view(harness: AppHarness) -> ModelsView:
    return harness.show_models("yours")


@pytest.fixture
def page(view: ModelsView) -> YoursPage:
    return view.yours


@pytest.fixture
def hub(window: SettingsWindow) -> HubCard:
    window.show_page("advanced")
    return window.advanced.hub


def click(button: QAbstractButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def download(page: YoursPage) -> DownloadRow:
    still()  # a layout shows what was added to it a little later
    rows = [row for row in page.findChildren(DownloadRow) if not row.isHidden()]
    assert len(rows) == 1
    return rows[0]


def install(view: ModelsView) -> None:
    """By its name, which does not leave the page; its row is then among what is here."""
    view.show_tab(FIND)
    QTest.keyClicks(view.discover.install.repository, REPOSITORY)
    QTest.keyClick(view.discover.install.repository, Qt.Key.Key_Return)
    assert view.discover.install.repository.text() == ""
    assert view.discover.install.state.text() == f"{human_name(REPOSITORY)}: Downloading"
    view.show_tab(YOURS)


def test_pages_looks_and_language(harness: AppHarness, window: SettingsWindow) -> None:
    harness.application.settings.text_scale = 2.0
    window.resize(720, 480)
    still()
    assert window.width() == 720
    assert (window.list.isVisible(), window.index.isVisible()) == (False, True)
    window.index.choose(list(window.pages).index("advanced"))
    assert window.pages["advanced"].isVisible()
    QTest.keyClick(window.search, Qt.Key.Key_Down)
    assert window.pages["advanced"].isAncestorOf(QApplication.focusWidget() or window)
    window.search.setText("temperature")
    assert (window.list.isVisible(), window.list.count()) == (True, 1)
    QTest.keyClick(window.search, Qt.Key.Key_Return)
    assert window.index.text() == "Chat"

    window.search.clear()
    harness.application.settings.text_scale = 1.0
    window.resize(1000, 700)
    still()
    assert (window.list.isVisible(), window.index.isVisible()) == (True, False)
    window.general.language.chosen.emit("ko")
    still()
    assert harness.application.translation.language == "ko"
    assert window.general.title.text() != "General"
    assert harness.window.sidebar.new_button.text() != "New chat"
    window.general.language.chosen.emit("en")
    still()
    assert window.general.title.text() == "General"
    window.appearance.appearance.chosen.emit("dark")
    window.appearance.text_scale.chosen.emit(2.0)
    assert (harness.application.theme.dark, harness.application.theme.scale) == (True, 2.0)
    window.appearance.text_scale.chosen.emit(1.0)

    pages = window.list
    QTest.mouseClick(pages.viewport(), Qt.MouseButton.LeftButton, pos=pages.visualItemRect(pages.item(1)).center())
    assert (window.shown, pages.hasFocus(), pages.has_ring) == ("models", True, False)
    QTest.keyClick(pages, Qt.Key.Key_Down)
    assert (window.shown, pages.has_ring) == ("chat", True)
    QTest.mouseClick(pages.viewport(), Qt.MouseButton.LeftButton, pos=pages.visualItemRect(pages.item(0)).center())
    assert not pages.has_ring

    window.showMinimized()
    harness.application.show_settings()
    assert not window.isMinimized()

    window.show_page("models")  # where nothing is set: it leads to the models
    QTest.mouseClick(window.pages["models"].buttons["find"], Qt.MouseButton.LeftButton)  # type: ignore[attr-defined]
    assert harness.window.models_view.is_shown
    assert harness.window.models_view.view.tab == "find"

    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()


def test_sampling_fields_write_their_options(harness: AppHarness, window: SettingsWindow, qtbot: QtBot) -> None:
    pair, times = harness.models.pair, ForwardTimes(10**9, False, ((1, 0.04), (2, 0.041)))
    explained = partial(_words_of, window, "Same seed, same reply")
    with qtbot.waitSignal(harness.models.library.changed):
        harness.application.bridge.post(ModelMeasured("/models/another", times, rounding=1.0))
    assert explained().endswith("except where two words are nearly tied.")
    for rounding, told in ((0.0, "same reply with any draft."), (0.00004, "nearly tied.")):
        harness.application.bridge.post(ModelMeasured(pair.main_folder, times, rounding=rounding))
        qtbot.waitUntil(lambda: told in explained())  # noqa: B023

    settings, fields = harness.application.settings, window.sampling.fields
    temperature, top_k, seed, thinking = (fields[name] for name in ("temperature", "top_k", "seed", "thinking"))
    assert isinstance(temperature, NumberField)
    assert isinstance(top_k, WholeField)
    assert isinstance(seed, LineField)
    assert isinstance(thinking, ThinkingField)
    temperature.setValue(1.3)
    top_k.setValue(40)
    seed.setText("18446744073709551615")
    seed.editingFinished.emit()
    thinking.choice.chosen.emit("limit")
    window.sampling.prompt.setPlainText("Be brief.")
    assert (settings.temperature, settings.top_k, settings.seed) == (1.3, 40, 2**64 - 1)
    assert (settings.thinking, settings.system_prompt) == (1024, "Be brief.")
    assert thinking.tokens.isVisibleTo(thinking)
    thinking.tokens.setValue(300)
    assert settings.values["thinking"] == 300
    thinking.choice.chosen.emit("high")
    assert settings.values["thinking"] == "high"
    seed.clear()
    seed.editingFinished.emit()
    assert settings.values["seed"] is None

    temperature, longest = window.sampling.fields["temperature"], window.sampling.fields["max_tokens"]
    assert isinstance(temperature, NumberField)
    assert isinstance(longest, LineField)
    temperature.setValue(99)
    assert harness.application.settings.temperature == 2.0
    longest.setText("0")
    longest.editingFinished.emit()
    assert longest.text() == "1"


def test_defaults_are_restored_until_undo(harness: AppHarness, window: SettingsWindow) -> None:
    settings = harness.application.settings
    settings.temperature, settings.seed, settings.system_prompt = 0.1, 7, "Be brief."
    window.sampling.reset.click()
    assert settings.temperature == Settings.options()["temperature"].default
    assert "seed" not in settings.values
    assert settings.system_prompt == "Be brief."
    field = window.sampling.fields["temperature"]
    assert isinstance(field, NumberField)
    assert field.value() == settings.temperature
    window.sampling.reset.click()  # Undo
    assert (settings.temperature, settings.seed, field.value()) == (0.1, 7, 0.1)
    window.sampling.reset.click()
    settings.put("top_k", 5)
    window.sampling.reset.click()
    assert settings.values.keys().isdisjoint(("temperature", "seed", "top_k"))


def _words_of(window: SettingsWindow, beginning: str) -> str:
    return next(label.text() for label in window.findChildren(TextLabel) if label.text().startswith(beginning))


def test_a_download_from_failure_to_installed(
    harness: AppHarness, view: ModelsView, page: YoursPage, qtbot: QtBot
) -> None:
    harness.store.failures[REPOSITORY] = HubUnreachable(REPOSITORY, "https://hub.example", "timed out")
    install(view)
    qtbot.waitUntil(lambda: "hub.example" in read(download(page).words.text()))
    row = download(page)
    assert (row.try_button.text(), row.bar.isVisible(), row.go_button.isVisible()) == ("Try again", False, False)
    harness.store.failures.clear()
    harness.store.gate.hold()
    click(row.try_button)
    qtbot.waitUntil(lambda: not download(page).try_button.isVisible())
    click(download(page).cancel_button)
    assert all(row.isHidden() for row in page.findChildren(DownloadRow))
    harness.store.gate.open()

    harness.store.gate.hold()
    install(view)
    harness.store.gate.let_through(1)
    qtbot.waitUntil(lambda: "100 MB of 400 MB" in read(download(page).words.text()))
    click(download(page).go_button)
    qtbot.waitUntil(lambda: "Paused" in read(download(page).words.text()))
    harness.store.gate.open()
    click(download(page).go_button)
    qtbot.waitUntil(lambda: any(entry.name == "Tiny-4bit" for entry in harness.models.models))
    row = download(page)
    assert row.words.text() == "Installed"
    assert [button.isVisible() for button in (row.bar, row.go_button, row.try_button)] == [False] * 3
    click(row.use_button)
    qtbot.waitUntil(lambda: harness.models.pair.main_name == "Tiny-4bit")
    qtbot.waitUntil(harness.window.isActiveWindow)
    assert all(row.isHidden() for row in page.findChildren(DownloadRow))


def test_models_are_deleted_and_folders_added(
    harness: AppHarness, page: YoursPage, qtbot: QtBot, tmp_path: Path
) -> None:
    entry = next(entry for entry in harness.models.models if entry.name == "Draft-1B")
    box = page.installed.ask_to_delete(entry)
    box.reject()
    assert any(model.name == "Draft-1B" for model in harness.models.models)
    box = page.installed.ask_to_delete(entry)
    assert box.act_button.text() == "Delete"
    box.act_button.click()
    qtbot.waitUntil(lambda: [model.name for model in harness.models.models] == ["Main-8B"])
    still()
    assert len([row for row in page.findChildren(ModelRow) if not row.isHidden()]) == 1

    harness.models.sources.add_folder(str(tmp_path))
    assert list(harness.store.folders) == [str(tmp_path)]
    rows = page.findChildren(FolderRow)
    assert len(rows) == 1
    click(rows[0].remove_button)
    assert list(harness.store.folders) == []


def test_the_focus_stays_among_the_folders(harness: AppHarness, page: YoursPage, qtbot: QtBot) -> None:
    window = page.window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    harness.application.settings.model_folders = ("/a", "/b")
    still()
    for row in page.folder_rows[:1]:
        row.remove_button.setFocus()
    for _ in range(2):
        focused = QApplication.focusWidget()
        assert focused in [row.remove_button for row in page.folder_rows]
        QTest.keyClick(focused, Qt.Key.Key_Return)
        still()
    assert page.add_folder_button.hasFocus()


def test_a_token_is_not_sent_to_another_address(harness: AppHarness, hub: HubCard) -> None:
    """As a person does it: the token of an earlier run, and only the address is typed anew."""
    settings = harness.application.settings
    hub.token.setText("hf_secret")
    hub.token.editingFinished.emit()
    usual = hub.findChildren(TextLabel)
    harness.store.hubs.clear()
    hub.endpoint.setText("mirror.example")
    hub.endpoint.editingFinished.emit()
    hub.token.editingFinished.emit()
    assert set(harness.store.hubs) == {HubAccess("https://mirror.example")}
    said = [label.text() for label in usual]
    assert "The token for https://huggingface.co is never sent here." in said
    assert hub.token.text() == ""
    hub.token.setText("hf_mirror")
    hub.token.editingFinished.emit()
    assert harness.store.hub == HubAccess("https://mirror.example", "hf_mirror")
    assert not any("never sent here" in label.text() for label in usual)
    settings.hub_endpoint = "mirror.example/api"
    assert (harness.store.hub.token, hub.token.text()) == ("hf_mirror", "hf_mirror")
    settings.hub_endpoint = ""
    assert (harness.store.hub.token, hub.token.text()) == ("hf_secret", "hf_secret")

    hub.endpoint.setText("https://hub.example")
    hub.endpoint.editingFinished.emit()
    hub.token.setText("hf_secret")
    hub.token.editingFinished.emit()
    assert harness.store.hub == HubAccess("https://hub.example", "hf_secret")
    hub.proxy.setText(" proxy.example:3128 ")  # as systems show it
    hub.proxy.editingFinished.emit()
    assert (harness.store.hub.proxy, hub.proxy.text()) == ("http://proxy.example:3128",) * 2
    settings.save()
    assert "hf_secret" not in harness.paths.settings.read_text(encoding="utf-8")

    hub.mirrors.setText("https://mirror.example")
    hub.mirrors.editingFinished.emit()
    hub.offline.click()
    hub.proxy.setText("http://half typ")  # a switch takes no focus from it
    settings.reset("hub_offline")
    assert hub.proxy.text() == "http://half typ"
    settings.reset_all()
    assert (hub.mirrors.text(), hub.offline.isChecked()) == ("https://mirror.example", False)
    assert harness.store.hub.proxy == "http://proxy.example:3128"
    assert settings.hub_endpoint == hub.endpoint.text() == "https://hub.example"  # as its token stays


def test_nor_is_the_token_of_an_earlier_version(tmp_path: Path, qtbot: QtBot) -> None:
    token = Paths.for_user(tmp_path).hub_token
    token.parent.mkdir(parents=True, exist_ok=True)
    token.write_text("hf_secret", "utf-8")
    with open_app(tmp_path, qtbot, put_settings={"hub_endpoint": "https://hub.example"}) as harness:
        assert harness.store.hub == HubAccess("https://hub.example", "hf_secret")
        harness.application.settings.save()
    with open_app(tmp_path, qtbot) as harness:
        window = harness.show_settings("advanced")
        hub = window.advanced.hub
        assert (hub.endpoint.text(), hub.token.text()) == ("https://hub.example", "hf_secret")
        harness.store.hubs.clear()
        hub.endpoint.setText("https://hub.example:8443")
        hub.endpoint.editingFinished.emit()
        assert set(harness.store.hubs) == {HubAccess("https://hub.example:8443")}


@pytest.mark.expect_log("the file of the token cannot be read")
def test_a_token_that_could_not_be_read_stays(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    token = Paths.for_user(tmp_path).hub_token
    token.parent.mkdir(parents=True, exist_ok=True)
    token.write_text("hf_secret", "utf-8")

    def refused(path: Path) -> BinaryIO:
        if path == token:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return open_plain(path)

    with monkeypatch.context() as disk:
        disk.setattr("app.system.small_file.open_plain", refused)
        with open_app(tmp_path, qtbot) as harness:
            window = harness.show_settings("advanced")
            assert window.advanced.hub.token.text() == ""
            disk.undo()
            window.advanced.hub.token.editingFinished.emit()
    assert "hf_secret" in token.read_text("utf-8")


def test_figures_change_while_the_reply_is_written_whatever_the_disk_does(harness: AppHarness, qtbot: QtBot) -> None:
    replies = harness.chats.replies
    harness.engine.gate.hold()
    QTest.keyClicks(harness.window.composer.edit, "Hello")
    harness.press_return()
    qtbot.waitUntil(lambda: len(rows_of(harness)) == 1)
    replies.save_timer.stop()  # nothing is saved meanwhile
    seen: list[int] = []
    for _ in range(3):
        harness.engine.gate.let_through(1)
        before = list(seen)
        qtbot.waitUntil(lambda: rows_of(harness)[0].stats.generated_tokens not in (*before, 0))  # noqa: B023
        seen.append(rows_of(harness)[0].stats.generated_tokens)
    assert seen == sorted(set(seen))
    assert harness.chats.generating
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)


def rows_of(harness: AppHarness) -> list[RequestRow]:
    return harness.chats.requests.rows


def test_a_row_says_what_the_open_chat_has_instead_and_whose_it_is(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, with_starter=True) as app:
        rows, options = app.show_settings("chat").sampling.rows, app.chats.options
        settings = app.application.settings
        temperature = app.show_settings("chat").sampling.fields["temperature"]
        assert isinstance(temperature, NumberField)
        assert (temperature.value(), "Now" in rows["temperature"].explanation.text()) == (0.2, False)
        settings.main_folder = MAIN.folder
        assert temperature.value() == 0.7
        settings.main_folder = STARTER_FOLDER
        temperature.setValue(0.7)
        assert settings.sampling().temperature == 0.7
        settings.reset("temperature")
        assert temperature.value() == 0.2
        options.put(Scope.CHAT, "temperature", 1.5)
        options.put(Scope.CHAT, "top_k", 40)
        options.put(Scope.CHAT, "thinking", 1500)
        said = {name: row.explanation.text() for name, row in rows.items()}
        assert said["temperature"].endswith("Now 1.50, this chat's.")
        assert said["top_k"].endswith("Now 40, this chat's.")
        assert said["thinking"].endswith("Now up to 1,500 tokens, this chat's.")
        assert "Now" not in said["top_p"]
        settings.thinking = "normal"
        options.put(Scope.CHAT, "thinking", "off")
        assert rows["thinking"].explanation.text().endswith("Now off, this chat's.")
        app.chats.folders.make(None)
        qtbot.waitUntil(lambda: bool(app.chats.conversations.tree.folders))
        (folder_id,) = app.chats.conversations.tree.folders
        options.put_in_project(folder_id, "top_p", 0.5)
        options.begin_in(folder_id)
        assert rows["top_p"].explanation.text().endswith("Now 0.50, this project's.")


def test_what_follows_the_system_says_what_that_is(
    harness: AppHarness, window: SettingsWindow, hub: HubCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, look = harness.application.settings, window.appearance

    def said() -> list[str]:
        texts = [look.rows[name].explanation.text() for name in ("appearance", "motion")]
        return [window.general.language.text(), *texts, hub.proxy_row.explanation.text()]

    monkeypatch.setenv("https_proxy", "http://user:secret@proxy.example:3128")
    monkeypatch.setattr(QLocale, "uiLanguages", lambda _locale: ["en-GB"])
    for name, value in (("language", "en"), ("appearance", "light"), ("motion", "off"), ("hub_proxy", "http://other")):
        setattr(settings, name, value)
    assert not any("Now" in text for text in said())
    for name, value in (("language", ""), ("appearance", "auto"), ("motion", "auto"), ("hub_proxy", "")):
        setattr(settings, name, value)
    language, appearance, motion, proxy = said()
    assert (language, proxy) == ("Match system (English)", "Empty: system proxy. Now proxy.example:3128.")
    assert appearance.endswith("Now dark." if harness.application.theme.dark else "Now light.")
    assert motion.endswith("Now on." if harness.application.theme.motion_ms else "Now off.")


def test_another_page_begins_at_its_top(app: AppHarness) -> None:
    window = app.show_settings("advanced")
    window.resize(600, 300)
    still()
    bar = window.advanced.verticalScrollBar()
    bar.setValue(bar.maximum())
    window.show_page("advanced")
    assert bar.value() == bar.maximum() > 0
    window.show_page("general")
    window.show_page("advanced")
    assert bar.value() == 0
