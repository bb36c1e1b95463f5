"""Accept rates outlive the program, by kind of text and by the weights that they were learnt with."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.drafting.controller import History
from engine.drafting.kept_rates import KeptRates
from engine.drafting.plans import Plan, RoundOutcome
from engine.drafting.text_kind import KindReader, TextKind, script_of

INFO = SimpleNamespace(folder="a folder")
MAIN: Any = SimpleNamespace(identity="main 1", info=INFO)
DRAFT: Any = SimpleNamespace(identity="draft 1", source="draft", info=INFO)
OTHER_WEIGHTS: Any = SimpleNamespace(identity="draft 2", source="draft", info=INFO)


def learn(history: History, kind: TextKind, drafted: int, accepted: int, rounds: int = 100) -> None:
    for _ in range(rounds):
        history.learn(Plan("draft", drafted, grade=kind), RoundOutcome(drafted, accepted))


def restarted(folder: Path, draft: Any = DRAFT) -> History:
    history = History()
    KeptRates(folder).begin(MAIN, draft, history)
    return history


def first_rate(history: History, kind: TextKind) -> float:
    return history.rates_of("draft", kind).by_position(hopeful=True)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With what a run learnt: code is foreseen well, Korean is not."""
    kept, history = KeptRates(tmp_path), History()
    kept.begin(MAIN, DRAFT, history)
    learn(history, TextKind.CODE, 8, 8)
    learn(history, TextKind.KOREAN, 1, 0)
    while kept.has_news:
        kept.write()
    return tmp_path


def test_each_kind_of_text_has_its_own_rate_in_the_next_run(folder: Path) -> None:
    history = restarted(folder)

    assert first_rate(history, TextKind.CODE) > 0.9
    assert first_rate(history, TextKind.KOREAN) < 0.1
    assert first_rate(history, TextKind.CHINESE) == first_rate(History(), TextKind.CHINESE), "never seen: as unknown"
    assert history.longest["draft"] == 8, "drafts may be as long as they were"


def test_a_later_run_unlearns_within_some_rounds(folder: Path) -> None:
    history = restarted(folder)
    learn(history, TextKind.CODE, 1, 0, rounds=16)

    assert first_rate(history, TextKind.CODE) < 0.6


def test_rates_of_other_weights_do_not_count(folder: Path) -> None:
    assert not restarted(folder, OTHER_WEIGHTS).rates


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"rates": {"CODE": [[2, 1]]}}', b"\xff"])
def test_a_damaged_file_is_as_none(folder: Path, damage: bytes) -> None:
    for file in folder.glob("*.json"):
        file.write_bytes(damage)

    assert first_rate(restarted(folder), TextKind.CODE) == first_rate(History(), TextKind.CODE)


def test_what_was_learnt_of_the_former_pair_is_written_when_another_is_loaded(tmp_path: Path) -> None:
    kept, history = KeptRates(tmp_path), History()
    kept.begin(MAIN, DRAFT, history)
    learn(history, TextKind.LATIN, 4, 4)
    kept.begin(MAIN, None, History())

    assert first_rate(restarted(tmp_path), TextKind.LATIN) > 0.9


def test_what_was_just_learnt_is_kept_although_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.drafting.kept_rates._MOST_FILES", 3)
    for number in range(3):
        (tmp_path / f"{number}.json").touch()
        os.utime(tmp_path / f"{number}.json", (4e9 + number, 4e9 + number))
    kept, history = KeptRates(tmp_path), History()
    kept.begin(MAIN, DRAFT, history)
    learn(history, TextKind.LATIN, 4, 4)
    kept.write()
    assert first_rate(restarted(tmp_path), TextKind.LATIN) > 0.9
    assert {file.name for file in tmp_path.iterdir()} > {"1.json", "2.json"}
    assert len(list(tmp_path.iterdir())) == 3


def test_without_a_folder_nothing_is_kept() -> None:
    kept, history = KeptRates(None), History()
    kept.begin(MAIN, DRAFT, history)
    learn(history, TextKind.LATIN, 4, 4)

    assert not kept.has_news


@pytest.mark.parametrize(("published", "rate", "credit"), [(0.0, 0.6, 0.8), (0.5, 0.6, 0.8), (0.9, 0.9, 3.0)])
def test_a_pair_never_used_here_is_expected_to_be_as_published(published: float, rate: float, credit: float) -> None:
    """But not worse than without: tries are paid from a credit. It is full for a draft that is nearly always right."""
    history = History()
    KeptRates(None, lambda _main, _draft: published).begin(MAIN, DRAFT, history)

    assert first_rate(history, TextKind.LATIN) == pytest.approx(rate)
    assert history.credit == history.shared_by(4).credit == credit


def test_a_pair_that_was_good_before_begins_with_all_credit(folder: Path) -> None:
    assert restarted(folder).credit == 3.0


KOREAN = "초안 모델이 몇 토큰을 미리 추측하고 메인 모델이 확인해요."
JAPANESE = "ドラフトモデルが先に予想し、メインモデルが確かめます。"
CHINESE = "草稿模型先猜几个词元，主模型一次验证。"
PROSE = "The draft model guesses a few tokens (often well), and the main model checks them; that is all."
CODE = "def price(width):\n    return _TIMES[width] * (1 + share[width - 1])\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (KOREAN, TextKind.KOREAN),
        (f"Hunch 0.9 {KOREAN} GPU, MLX", TextKind.KOREAN),
        (JAPANESE, TextKind.JAPANESE),
        (CHINESE, TextKind.CHINESE),
        (PROSE, TextKind.LATIN),
        ("Das heißt «Entwurf». Это черновик.", TextKind.LATIN),
        ("", TextKind.LATIN),
    ],
)
def test_prose_is_known_by_its_script(text: str, kind: TextKind) -> None:
    assert script_of(text) is kind


def kinds(asked: list[str], *written: str) -> list[TextKind]:
    """Before the reply, and after each part of it; a token is a character."""
    prompt = [0] * 7
    reader = KindReader(asked, lambda tokens: "".join(map(chr, tokens)), len(prompt))
    tokens, found = list(prompt), [reader.kind(prompt)]
    for part in written:
        for letter in part:
            tokens.append(ord(letter))
            found[len(found) :] = [reader.kind(tokens)]
    ends = [0]
    for part in written:
        ends.append(ends[-1] + len(part))
    return [found[end] for end in ends]


def test_a_reply_is_of_the_kind_of_its_question_then_of_its_own_text() -> None:
    assert kinds([KOREAN], PROSE) == [TextKind.KOREAN, TextKind.LATIN]


def test_code_within_a_reply_is_code_until_its_fence_ends() -> None:
    found = kinds([PROSE], PROSE, f"\n```python\n{CODE}", f"```\n{3 * PROSE}")
    assert found == [TextKind.LATIN, TextKind.LATIN, TextKind.CODE, TextKind.LATIN]


def test_code_about_code_is_an_edit() -> None:
    assert kinds([f"Rename width:\n```\n{CODE}```", PROSE], 4 * CODE)[-1] is TextKind.EDIT
    assert kinds(["Write a function."], 4 * CODE)[-1] is TextKind.CODE
