"""Drill: `python -m engine generate` with arguments at random, good, borderline and hostile, and every kind of drafter.

It writes one JSON object whose rounds add up to its tokens and counters, or says in one line why not.
"""

from __future__ import annotations

import json
import random
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from engine import Finished, FinishReason, RequestId, RequestStats
from engine.__main__ import main
from engine.api.types import DraftingState, RoundTrace
from tests.helpers import tiny_drafters, tiny_heads
from tests.helpers.round_check import check_rounds
from tests.helpers.tiny_families import FAMILIES, save_family

CASES = 200
DIGITS = "9" * 5000
HEAD = "qwen3_5"

# Of each argument, what it may be given and what it may not.
GOOD: dict[str, tuple[str, ...]] = {
    "--speculate": ("off", "auto", "1", "4", "16"),
    "--temperature": ("0", "0.001", "0.8", "1e1", " 3 ", "1_0"),
    "--top-p": ("0", "1", "0.000001", "0.5"),
    "--top-k": ("0", "1", "40", DIGITS[:30]),
    "--min-p": ("0", "1", "0.05"),
    "--repetition-penalty": ("0.01", "1", "1.3", "10"),
    "--seed": ("0", "1", str(2**64 - 1)),
    "--max-tokens": ("1", "2", "3", "9", "40"),
    "--stop": ("", "e", "the", "\n", "\0", "\ud800"),
}
BAD: dict[str, tuple[str, ...]] = {
    "--speculate": ("0", "-1", "17", "9999", "1.0", "", "OFF", "\u0664\u0664", "\u00b2", DIGITS),
    "--temperature": ("-1", "nan", "inf", "1e-9", "11", "1e999", "warm", "", "0x1"),
    "--top-p": ("-0.1", "1.1", "nan", "1e-7", "-inf"),
    "--top-k": ("-1", "1.5", DIGITS, "\u00bd"),
    "--min-p": ("-1", "2", "nan", "?"),
    "--repetition-penalty": ("0", "-1", "nan", "inf", "11"),
    "--seed": ("-1", str(2**64), "1.5", DIGITS, "\ud800"),
    "--max-tokens": ("0", "-5", "1e3", DIGITS, ""),
    "--nonsense": ("x",),
    "--tokens": ("[1,", "[true]", "[-1]", "[1.0]", f"[{DIGITS}]", "[99999999]", "[]", "{}", "[" * 50_000, "NaN"),
    "--chat": ("[]", "{}", '[{"role": "user"}]', '[{"role": "me", "content": "x"}]', '[{"role": [], "content": "x"}]'),
    "--prompt": ("\udcff",),
    "--model": ("", "/nonexistent", "/dev/null", "/", "a\udcff", "\0", "x" * 5000),
    "--draft": ("", "/nonexistent", "/dev/null", "/", "\0", "x" * 5000),
}
PROMPTS = (
    ("--tokens", json.dumps([65])),
    ("--tokens", json.dumps(list(range(40, 80)) * 3)),
    ("--tokens", json.dumps([65, 66, 67] * 30)),
    ("--prompt", "x"),
    ("--prompt", ""),
    ("--chat", '[{"role": "system", "content": ""}, {"role": "user", "content": "word \u00e9\uac00"}]'),
)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Path | None]]:
    """Main models of each kind of memory, without a draft, with one, and with each kind of drafter."""
    folder = tmp_path_factory.mktemp("pairs")
    mains = {family: save_family(family, folder / family) for family in FAMILIES}
    head = folder / HEAD
    tiny_heads.save_main_with_head(HEAD, head, tiny_heads.head_weights(HEAD))
    pairs = [(mains["dense"], None), (mains["dense"], mains["dense"]), (mains["hybrid"], mains["dense"]), (head, head)]
    for kind in tiny_drafters.KINDS:
        for family in FAMILIES:
            drafter = tiny_drafters.save_kind(kind, folder / f"{kind}-{family}", FAMILIES[family])
            pairs.append((mains[family], drafter))
    return pairs


def arguments(rnd: random.Random, pair: tuple[Path, Path | None]) -> tuple[list[str], bool]:
    """And whether one of them is bad."""
    model, draft = pair
    chosen = {"--model": str(model), "--max-tokens": "24", "--speculate": rnd.choice(GOOD["--speculate"])}
    if draft is not None:
        chosen["--draft"] = str(draft)
    chosen |= dict([rnd.choice(PROMPTS)])
    chosen |= {name: rnd.choice(GOOD[name]) for name in rnd.sample(sorted(GOOD), rnd.randint(0, 4))}
    is_bad = rnd.random() < 0.3
    if is_bad:
        name = rnd.choice(sorted(BAD))
        chosen[name] = rnd.choice(BAD[name])
    flags = [flag for flag in ("--thinking", "--log") if rnd.random() < 0.2]
    parts = [f"{name}={value}" if rnd.random() < 0.8 else (name, value) for name, value in chosen.items()]
    listed = [word for part in parts for word in ([part] if isinstance(part, str) else part)]
    return ["generate", "--json", "--trace", *flags, *listed], is_bad


def run(arguments: list[str], is_bad: bool, capsys: pytest.CaptureFixture[str]) -> str:
    """Who drafted, or why there was no reply; what does not fit is an assertion that fails."""
    try:
        code: object = main(arguments)
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    if code == 0:
        assert not is_bad
        report: dict[str, Any] = json.loads(out)
        check_rounds(as_told(report))
        assert len(out.splitlines()) == 1
        return str(report["stats"]["proposer"] or "nobody")
    assert code in (1, 2)
    assert is_bad, err
    assert not out
    assert len(err.splitlines()) == 1, err
    assert len(err) < 1000
    return "wrong usage" if code == 2 else str(json.loads(err)["error"])


def as_told(report: dict[str, Any]) -> Finished:
    """The event that the JSON was made of, from the JSON alone."""
    names = {each.name for each in fields(RequestStats)}
    stats = {name: value for name, value in report["stats"].items() if name in names}
    stats["drafting"] = DraftingState(stats["drafting"])
    rounds = tuple(RoundTrace(**each | {"drafted": tuple(each["drafted"])}) for each in report["rounds"])
    tokens = tuple(report["tokens"])
    return Finished(RequestId(0), FinishReason(report["finish"]), RequestStats(**stats), tokens, report["seed"], rounds)


@pytest.mark.parametrize("pair", [0, 1, 4])
@pytest.mark.expect_log("could not load")
def test_a_command_line_at_random(pairs: list[Any], pair: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a draft, with a draft model, with a drafter."""
    given, is_bad = arguments(random.Random(pair), pairs[pair])
    run(given, is_bad, capsys)


@pytest.mark.drill
@pytest.mark.expect_log("could not load")
def test_many_command_lines_at_random(pairs: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    seen: dict[str, int] = {}
    for seed in range(CASES):
        rnd = random.Random(seed)
        given, is_bad = arguments(rnd, pairs[seed % len(pairs)])
        try:
            came = run(given, is_bad, capsys)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {[word[:200] for word in given]}") from error
        seen[came] = seen.get(came, 0) + 1
    print(seen)  # noqa: T201
    assert {"lookup", "draft", "eagle3", "dflash", "dspark", "dflash2", "mtp"} <= seen.keys()
