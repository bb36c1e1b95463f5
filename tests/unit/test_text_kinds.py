"""Which language and kind of text a reply counts as in the statistics."""

from __future__ import annotations

import pytest

from app.markup.kinds import ContentKind, Language, kind_of

CODE = "```python\n" + "x = 1\n" * 8 + "```\n"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("A draft model guesses the next words.", Language.ENGLISH),
        ("초안 모델이 다음 토큰을 추측하고, MLX에서 main model이 확인해요.", Language.KOREAN),
        ("ドラフトモデルが次の単語を予測し、メインモデルが確認します。", Language.JAPANESE),
        ("草稿模型猜测接下来的词，主模型一次检查完毕。", Language.CHINESE),
        ("한국어 대화에 漢字가 조금 섞여도 한국어예요.", Language.KOREAN),
        ("這 is a sentence with one Han character in it.", Language.ENGLISH),
        ("", Language.UNKNOWN),
        (CODE, Language.ENGLISH),
        ("다음은 예제 코드예요.\n" + CODE, Language.KOREAN),
    ],
)
def test_language_is_what_most_words_outside_of_code_are_written_in(text: str, language: Language) -> None:
    assert kind_of(text).language is language


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("One sentence.\n\nAnother one.", ContentKind.PROSE),
        ("Here it is:\n\n" + CODE + "\nThat is all.", ContentKind.CODE),
        ("A line.\n" * 30 + CODE, ContentKind.PROSE),
        ("```\nan open fence\nthat never\ncloses", ContentKind.CODE),
        ("Three things:\n\n- one\n- two\n- three", ContentKind.LIST),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ContentKind.LIST),
        ("- one point\n\nAnd then much.\n\nMore of it.\n\nAnd more.", ContentKind.PROSE),
        ("", ContentKind.PROSE),
        ("````\n```\ninside\n```\n````\ntext", ContentKind.CODE),
    ],
)
def test_content_is_told_by_the_lines(text: str, content: ContentKind) -> None:
    assert kind_of(text).content is content
