"""Figures with their units, as a person reads them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QLocale

from app.words import pairs
from app.words.formats import rounded_up, size

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (12_345, "12.3 kB"),
        (290_000_000, "290 MB"),
        (999_400_000, "999 MB"),
        (999_600_000, "1.0 GB"),
        (8_812_000_000, "8.8 GB"),
        (99_960_000_000, "100 GB"),
    ],
)
def test_a_size_has_three_digits_at_most_and_stays_beside_its_unit(size_bytes: int, words: str) -> None:
    assert size(size_bytes) == words.replace(" ", NBSP)


@pytest.mark.parametrize(
    ("language", "words"), [("ko", "8.8 GB"), ("ja", "8.8 GB"), ("zh_CN", "8.8 GB"), ("de", "8,8 GB")]
)
def test_a_size_is_written_as_the_language_has_it(language: str, words: str) -> None:
    before = QLocale()
    QLocale.setDefault(QLocale(language))
    try:
        assert size(8_812_000_000) == words.replace(" ", NBSP)
    finally:
        QLocale.setDefault(before)


@pytest.mark.parametrize(("sentence", "words"), [("%1-bit", "4\u2011bit"), ("%1 ビット", f"4{NBSP}ビット")])
def test_no_line_ends_between_bits_and_their_number(sentence: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "QCoreApplication", SimpleNamespace(translate=lambda *_: sentence))
    assert pairs.precision_text(4) == words
    assert pairs.precision_text(4, method="MXFP4") == f"{words} MXFP4"


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.00008, "0.00008"), (0.000081, "0.00009"), (0.038, "0.04"), (0.099, "0.10"), (1.0, "1"), (2.3, "3")],
)
def test_a_bound_is_rounded_up_to_one_digit(value: float, words: str) -> None:
    assert rounded_up(value) == words
