"""Messages over the foot of the transcript: what covers what, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QWidget

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
    banner._timer.timeout.emit()
    assert banner.sentence.text() == "not stored"
    assert not banner._timer.isActive()


def test_the_same_warning_is_told_once(banner: Banner) -> None:
    for _ in range(5):
        warn(banner, "not stored")
    assert closed_one_after_another(banner) == ["not stored"]


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


def test_many_warnings_leave_the_newest(banner: Banner) -> None:
    for number in range(9):
        warn(banner, str(number))
    assert closed_one_after_another(banner) == ["8", "7", "6", "5"]
