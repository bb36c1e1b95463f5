"""The interface in four languages: complete, switched while it runs, nothing cut off."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.views.settings.window import SettingsWindow
from app.views.transcript.message_footer import MessageFooter
from app.views.transcript.status_parts import NoticePart
from app.views.widgets.buttons import PillButton
from app.words.languages import LANGUAGES, SOURCES, compile_stale, system_language
from app.words.notices_for_errors import STORAGE_TABLE, TABLE
from engine import NoModelLoaded
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.stillness import still

ROOT = SOURCES.parent
# Names and notations that are the same in every language.


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translations", ROOT / "i18n" / "translations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot, with_starter=True) as harness:
        yield harness


def texts(root: QWidget) -> list[str]:
    labels = [label.text() for label in root.findChildren(QLabel) if label.isVisibleTo(root)]
    buttons = [button.text() for button in root.findChildren(PillButton) if button.isVisibleTo(root)]
    return [text for text in labels + buttons if text.strip()]


def windows(harness: AppHarness) -> tuple[QWidget, SettingsWindow]:
    settings = harness.show_settings()
    return harness.window, settings


def switch(harness: AppHarness, language: str) -> None:
    harness.application.settings.language = language
    still()


def test_words_that_are_not_used_are_found(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = script.refused_words((SOURCES / "terms.md").read_text("utf-8"))
    assert set(refused) == set(LANGUAGES)
    assert "foreseen" in refused["en"]
    monkeypatch.setattr(script, "_texts", lambda: {"en": ["Foreseen words"], "ko": ["맞힌 말"]})
    monkeypatch.setattr(script, "_not_up_to_date", list)
    assert script.problems() == ["en: “foreseen” is not used (terms.md): Foreseen words"]


@pytest.mark.parametrize(
    ("text", "changed", "problem"),
    [
        ("%1 삭제</translation>", "삭제</translation>", "placeholders differ: Delete %1"),
        ("%1 서버를 찾을", "%1을(를) 찾을", "two particles: %1 not found. This Mac may be offline."),
        ("도구 서버(MCP)", "도구 서버 (MCP)", "punctuation as in English: Tool servers (MCP)"),
        ("삭제하는 중…", "삭제하는 중", "an ellipsis is lost: deleting…"),
        (
            "<source>%Ln download",
            "<source>%n download",
            "a count is %Ln, so that its digits are grouped: %n download(s)",
        ),
    ],
)
def test_a_lost_placeholder_a_count_without_groups_and_two_particles_are_found(
    script: ModuleType, tmp_path: Path, text: str, changed: str, problem: str
) -> None:
    source = script.ts_file("ko").read_text(encoding="utf-8")
    assert text in source
    broken = tmp_path / "hunch_ko.ts"
    broken.write_text(source.replace(text, changed), encoding="utf-8")
    assert problem in script.ts_problems(broken)


def test_the_other_of_two_macs_is_not_just_any_other() -> None:
    messages = ElementTree.parse(SOURCES / "hunch_ja.ts").iter("message")
    texts = [each.findtext("translation", "") for each in messages if "The other Mac" in each.findtext("source", "")]
    assert len(texts) > 5
    assert [text for text in texts if "ほかの Mac" in text] == []


def test_what_was_stopped_is_not_said_to_be_interrupted() -> None:
    messages = ElementTree.parse(SOURCES / "hunch_ko.ts").iter("message")
    said = {each.findtext("translation") for each in messages if each.findtext("source") in ("Stopped", "stopped")}
    assert said == {"중지됨"}


def test_every_notice_speaks_korean_in_one_way() -> None:
    contexts = ElementTree.parse(SOURCES / "hunch_ko.ts").iter("context")
    messages = next(each for each in contexts if each.findtext("name") == "Messages").iter("message")
    said = {each.findtext("source", ""): each.findtext("translation", "") for each in messages}
    titles = {row.title for row in (*TABLE, *STORAGE_TABLE)}
    assert sorted(said[title] for title in titles if not said[title].endswith("요")) == []


def test_a_switch_reaches_every_part_and_comes_back(harness: AppHarness, qtbot: QtBot) -> None:
    guide = "".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "packaging" / "starter" / "guide").glob("*.jsonl"))
    )
    facts = [json.loads(line) for line in guide.splitlines()]
    for language, key in (("en", "en"), ("ko", "ko"), ("ja", "ja"), ("zh_CN", "zh")):
        switch(harness, language)
        taught = {question.lower() for fact in facts for question in fact[key]["ask"]}
        asked = [button.text() for button in harness.window.empty_chat.questions]
        assert [question for question in asked if question.lower() not in taught] == []

    harness.application.settings.language = "en"
    still()
    harness.ask(qtbot, "Hello")
    before = [text for window in windows(harness) for text in texts(window)]
    menu_before = harness.window.menu.new_chat.text()
    for language in ("ko", "ja", "zh_CN"):
        switch(harness, language)
        assert harness.window.menu.new_chat.text() != menu_before
    harness.application.settings.language = "en"
    still()
    assert [text for window in windows(harness) for text in texts(window)] == before

    harness.ask(qtbot, "Hello")
    harness.window.show_problem(NoModelLoaded())
    rows = harness.window.sidebar.chats.model()
    assert (harness.window.banner.title.text(), rows.index(0, 0).data()) == ("No model loaded", "Today")
    harness.application.settings.language = "ko"
    still()
    assert (harness.window.banner.title.text(), rows.index(0, 0).data()) == ("불러온 모델이 없어요", "오늘")

    harness.ask(qtbot, "Question")
    harness.chats.edits.delete(harness.chats.transcript.messages[-1].id)
    harness.wait_until_stored(qtbot)
    for language in LANGUAGES:
        harness.application.settings.language = language
        harness.chats.edits.deleted.emit(0, 12345)
        assert "12,345" in harness.window.banner.sentence.text()


def test_a_count_whose_plural_forms_would_be_lost_is_found(script: ModuleType, tmp_path: Path) -> None:
    code = 'a = QCoreApplication.translate("Chat", "%Ln message(s)")\nb = translate("Chat", "Plain")\n'
    (tmp_path / "words.py").write_text(code, encoding="utf-8")
    assert script.unseen_plurals(tmp_path) == ["words.py:1: a text with a count needs self.tr"]


def test_a_text_that_would_stay_english_is_found(script: ModuleType, tmp_path: Path) -> None:
    code = "a = f\"{self.tr('Chat')}\"\nb = f'{word.translate(marks)}'\nc = self.tr('Chat')\n"
    (tmp_path / "words.py").write_text(code, encoding="utf-8")
    assert script.unseen_texts(tmp_path) == ["words.py:1: a text inside an f-string is not translated"]


def test_a_reply_cut_by_another_model_says_so_in_every_language(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Hello")
    reply_id, said = harness.chats.transcript.messages[-1].id, dict[tuple[str, str], str]()
    for language, text in product(("en", "ko", "ja", "zh_CN"), ("", "Half an answer")):
        harness.chats.transcript.change(reply_id, text=text, stats=None, status=ReplyStatus.MODEL_CHANGED)
        switch(harness, language)
        (notice,) = [each for each in harness.window.findChildren(NoticePart) if each.isVisible()]
        shown = [each for each in harness.window.findChildren(MessageFooter) if each.isVisible()]
        (footer,) = [each for each in shown if each.message_id == reply_id]
        assert notice.buttons[0].isVisible()
        model = harness.chats.transcript.messages[-1].model
        assert footer.accessibleName() == model  # and nothing of having been stopped
        said[language, text] = notice.words
    for text in ("", "Half an answer"):
        assert len({words for (_, of), words in said.items() if of == text}) == 4
        assert "Model changed" in said["en", text]
        assert "모델이 바뀌었어요" in said["ko", text]
        assert ".." not in said["en", text]  # a title gets a full stop, a sentence has one
        assert "." not in said["ja", text] + said["zh_CN", text]


def test_only_stale_files_are_compiled(tmp_path: Path) -> None:
    sources, compiled = tmp_path / "i18n", tmp_path / "build"
    sources.mkdir()
    for language in ("ko", "ja"):
        (sources / f"hunch_{language}.ts").write_bytes((SOURCES / f"hunch_{language}.ts").read_bytes())
    assert len(compile_stale(sources, compiled)) == 2
    assert compile_stale(sources, compiled) == []
    later = (compiled / "hunch_ko.qm").stat().st_mtime + 5
    os.utime(sources / "hunch_ko.ts", (later, later))
    assert compile_stale(sources, compiled) == [compiled / "hunch_ko.qm"]


def test_an_unknown_system_language_means_english() -> None:
    assert system_language() == "en"  # the tests run in the C locale
