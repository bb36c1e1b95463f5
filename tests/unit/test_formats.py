"""Figures with their units, sentences and lists, as a person reads them in each language."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QDate, QDateTime, QLocale, QTime

from app.storage import Deletion
from app.words import formats, pairs
from app.words.formats import labelled, listed, moment, quoted, sentences, size, spoken
from app.words.tools import who_can
from app.words.trash import deletion_detail

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 bytes"),
        (1000, "1.0 kB"),
        (12_345, "12.3 kB"),
        (999_400_000, "999 MB"),
        (999_600_000, "1.0 GB"),
        (8_812_000_000, "8.8 GB"),
        (99_960_000_000, "100 GB"),
    ],
)
def test_a_size_has_three_digits_at_most_and_stays_beside_its_unit(size_bytes: int, words: str) -> None:
    assert size(size_bytes) == words.replace(" ", NBSP)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (0, ""),
        (700_000, "0.7M"),
        (9_960_000, "10M"),
        (135_000_000, "135M"),
        (999_885_952, "1.0B"),  # of Gemma 3 1B
        (8_184_000_000, "8.2B"),
        (99_960_000_000, "100B"),
        (1_026_000_000_000, "1.0T"),
    ],
)
def test_a_count_of_parameters_is_what_everybody_writes(parameters: int, words: str) -> None:
    assert pairs.parameters_text(parameters) == words


@pytest.mark.parametrize(
    ("language", "words"), [("ko", "8.8 GB"), ("ja", "8.8 GB"), ("zh_CN", "8.8 GB"), ("de", "8,8 GB")]
)
def test_a_size_is_written_as_the_language_has_it(usual_locale: None, language: str, words: str) -> None:
    QLocale.setDefault(QLocale(language))
    assert size(8_812_000_000) == words.replace(" ", NBSP)


def test_a_moment_of_today_is_a_time_and_another_a_day(usual_locale: None, monkeypatch: pytest.MonkeyPatch) -> None:
    QLocale.setDefault(QLocale("ko"))
    at = QDateTime(QDate(2026, 3, 9), QTime(14, 32))
    for today, words in ((at.date(), "오후 2:32"), (at.date().addDays(1), "26. 3. 9.")):
        monkeypatch.setattr(formats, "QDate", SimpleNamespace(currentDate=lambda today=today: today))
        assert moment(at.toSecsSinceEpoch() + 0.9) == words
    assert moment(0.0) == ""


@pytest.mark.parametrize(("ago_s", "left"), [(0, 30), (29.7 * 86_400, 1), (31 * 86_400, 0)])
def test_of_what_was_deleted_a_day_that_has_begun_counts(ago_s: float, left: int) -> None:
    assert deletion_detail(Deletion(time.time() - ago_s, 1, "Tea", True)).split(" · ")[-1] == f"{left} day(s) left"


@pytest.mark.parametrize(("sentence", "words"), [("%1-bit", "4\u2011bit"), ("%1 ビット", f"4{NBSP}ビット")])
def test_no_line_ends_between_bits_and_their_number(sentence: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "QCoreApplication", SimpleNamespace(translate=lambda *_: sentence))
    assert pairs.precision_text(4) == words
    assert pairs.precision_text(4, method="MXFP4") == f"{words} MXFP4"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("One.", "Two."), "One. Two."),
        (("하나예요.", "둘이에요."), "하나예요. 둘이에요."),
        (("同じです。", "速いです。"), "同じです。速いです。"),
        (("相同吗？", "", "相同！", "Yes."), "相同吗？相同！Yes."),
        ((), ""),
    ],
)
def test_a_full_width_full_stop_brings_its_own_space(texts: tuple[str, ...], said: str) -> None:
    assert sentences(*texts) == said


@pytest.mark.costly
@pytest.mark.parametrize(
    ("language", "parts", "said"),
    [
        ("en", ("Not found", "It is gone.", "Why?"), ("Not found. It is gone. Why?", "a, b", "a: b", "“a”")),
        ("ko", ("없음", "사라졌어요."), ("없음. 사라졌어요.", "a, b", "a: b", "‘a’")),
        ("ja", ("見つかりません", "", "ありません。"), ("見つかりません。ありません。", "a、b", "a：b", "「a」")),
        ("zh_CN", ("找不到", "没有。"), ("找不到。没有。", "a、b", "a：b", "“a”")),
    ],
)
def test_each_language_has_its_own_marks(
    usual_locale: None, language: str, parts: tuple[str, ...], said: tuple[str, ...]
) -> None:
    QLocale.setDefault(QLocale(language))
    assert (spoken(*parts), listed("a", "", "b"), labelled("a", "b"), quoted("a")) == said
    assert pairs.languages_text(("ja", "ko")) == listed("日本語", "한국어")


def test_of_many_models_that_can_use_tools_some_are_named_and_the_rest_is_marked() -> None:
    assert who_can(("a/One", "b/Two", "c/Three", "d/Four")) == "Installed and able to: One, Two, Three …."
