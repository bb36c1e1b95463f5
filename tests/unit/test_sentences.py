"""How sentences, and the parts of a list, follow each other in each script."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale

from app.words.formats import labelled, listed, quoted, sentences, spoken


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


@pytest.fixture
def usual_locale() -> Iterator[None]:
    before = QLocale()
    yield
    QLocale.setDefault(before)


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
