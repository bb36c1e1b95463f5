"""How sentences follow each other in each script."""

import pytest

from app.words.formats import sentences


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
