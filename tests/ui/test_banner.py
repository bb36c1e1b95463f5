"""Messages over the foot of the transcript: what covers what, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.widgets.banner import Banner, BannerText


@pytest.fixture
def banner(qapp: QApplication) -> Iterator[Banner]:
    parent = QWidget()
    parent.show()
    yield Banner(Theme(), parent)
    parent.close()


def warn(banner: Banner, sentence: str, acts: list[str] | None = None, behind: bool = False) -> None:
    done = (lambda: acts.append(sentence),) if acts is not None else ()
    banner.show_warning(lambda: BannerText(sentence, button="Try again"), *done, behind=behind)


def closed_one_after_another(banner: Banner) -> list[str]:
    seen = []
    while banner.isVisible():
        seen.append(banner.sentence.text())
        banner.close_button.click()
    return seen


def test_a_covered_warning_comes_back(banner: Banner) -> None:
    warn(banner, "not stored")
    banner.show_info(lambda: BannerText("deleted"))
    warn(banner, "no model")
    assert closed_one_after_another(banner) == ["no model", "not stored"]


def test_a_brief_message_leaves_the_warning_when_its_time_is_over(banner: Banner) -> None:
    warn(banner, "not stored")
    banner.show_info(lambda: BannerText("deleted"))
    banner.timer.timeout.emit()
    assert banner.sentence.text() == "not stored"
    assert not banner.timer.isActive()


def test_a_brief_message_stays_while_the_keyboard_is_at_its_button(banner: Banner, qtbot: QtBot) -> None:
    banner.window().activateWindow()
    qtbot.waitUntil(banner.window().isActiveWindow)
    banner.show_info(lambda: BannerText("deleted", button="Undo"), lambda: None)
    banner.button.setFocus()
    banner.timer.timeout.emit()
    assert (banner.isVisible(), banner.timer.isActive()) == (True, True)
    with qtbot.waitSignal(banner.left):
        banner.close_button.click()
    banner.window().setFocus()
    banner.show_info(lambda: BannerText("deleted"))
    with qtbot.assertNotEmitted(banner.left):
        banner.timer.timeout.emit()
    assert not banner.isVisible()


def test_on_another_page_what_was_said_in_passing_goes_and_what_can_be_pressed_stays(banner: Banner) -> None:
    warn(banner, "not stored")
    banner.show_info(lambda: BannerText("deleted", button="Undo"), lambda: None)
    banner.leave_place()
    assert banner.sentence.text() == "deleted"
    banner.show_info(lambda: BannerText("not marked"))
    banner.leave_place()
    assert banner.sentence.text() == "not stored"
    banner.leave_place()
    assert banner.sentence.text() == "not stored"


def test_the_same_warning_is_told_once(banner: Banner) -> None:
    for _ in range(5):
        warn(banner, "not stored")
    assert closed_one_after_another(banner) == ["not stored"]


def test_its_title_is_read_as_a_sentence_of_its_own(banner: Banner) -> None:
    banner.show_info(lambda: BannerText("No model in x.", "Model not found", "Moved?"))
    assert banner.accessibleName() == "Model not found. No model in x. Moved?"


def test_it_is_heard_whenever_it_comes(banner: Banner, announced: list[tuple[object, str]]) -> None:
    warn(banner, "not stored")
    banner.show_info(lambda: BannerText("kept for 30 days", "Deleted"))
    banner.timer.timeout.emit()
    assert announced == [(banner, words) for words in ("not stored.", "Deleted. kept for 30 days.", "not stored.")]


def test_details_are_a_tooltip_and_go_with_their_message(banner: Banner) -> None:
    banner.show_warning(lambda: BannerText("damaged", detail="header is no JSON"))
    assert (banner.toolTip(), banner.sentence.text()) == ("header is no JSON", "damaged")
    warn(banner, "not stored")
    assert banner.toolTip() == ""


def test_what_is_behind_waits_for_the_one_in_front(banner: Banner) -> None:
    warn(banner, "alone", behind=True)
    assert closed_one_after_another(banner) == ["alone"]
    acts: list[str] = []
    warn(banner, "not stored", acts)
    warn(banner, "settings", behind=True)
    assert banner.sentence.text() == "not stored"
    banner.button.click()
    assert acts == ["not stored"]
    assert closed_one_after_another(banner) == ["settings"]


def test_a_button_acts_once_however_often_it_is_clicked(banner: Banner) -> None:
    acts: list[str] = []
    warn(banner, "not stored", acts)
    banner.button.click()
    banner.button.click()
    assert acts == ["not stored"]


def test_what_offers_a_way_out_is_never_dropped(banner: Banner) -> None:
    acts: list[str] = []
    for number in range(6):
        warn(banner, f"button {number}", acts)
        warn(banner, f"none {number}")
    seen = closed_one_after_another(banner)
    assert [each for each in seen if each.startswith("button")] == [f"button {number}" for number in (5, 4, 3, 2, 1, 0)]
    assert [each for each in seen if each.startswith("none")] == ["none 5", "none 4", "none 3", "none 2"]


def refuse(banner: Banner, name: str, acts: list[str], sentence: str = "no room left") -> Callable[[], BannerText]:
    def text() -> BannerText:
        return BannerText(sentence, button="Try again")

    banner.show_refusal(text, lambda: acts.append(name))
    return text


def test_refusals_in_the_same_words_are_tried_again_together(banner: Banner) -> None:
    acts: list[str] = []
    refuse(banner, "rename", acts)
    refuse(banner, "pin", acts)
    warn(banner, "no model")
    refuse(banner, "elsewhere", acts, "locked")
    refuse(banner, "send", acts)
    banner.button.click()
    assert acts == ["rename", "pin", "send"]
    banner.button.click()
    assert acts == ["rename", "pin", "send", "elsewhere"]
    assert closed_one_after_another(banner) == ["no model"]


@pytest.mark.parametrize("covered", [False, True])
def test_of_refusals_in_the_same_words_one_can_be_withdrawn(banner: Banner, covered: bool) -> None:
    acts: list[str] = []
    texts = [refuse(banner, name, acts) for name in ("rename", "send", "pin")]
    if covered:
        warn(banner, "no model")
    banner.withdraw(texts[1])
    if covered:
        banner.close_button.click()
    banner.withdraw(texts[2])
    banner.button.click()
    assert acts == ["rename"]
    assert not banner.isVisible()
