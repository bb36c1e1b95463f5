"""Calls of strict tools match their parameters wherever the model begins one; the text is the same with any draft."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from engine import Constraint, ConstraintKind, InvalidRequest, Request, Sampling, Speculation, ToolCalled
from engine.decoding.accept import Draft
from engine.decoding.constraint import Grammar, compiled
from engine.decoding.guide import Guide
from engine.decoding.prompt import grammar_of
from engine.decoding.text import TextDecoder
from engine.models.loading import LoadedModel
from engine.runtime.requests import check_request
from tests.engine.batch_harness import Recorder, written
from tests.engine.conftest import WIDTH, close_pair
from tests.engine.test_tool_calls import TEMPLATE
from tests.helpers.loading import load_model
from tests.helpers.round_check import check_rounds
from tests.helpers.tiny_models import save_small

THINKS, THOUGHT, CALLS, CALLED = range(259, 263)
PLACE = {"properties": {"at": {"enum": ["sky", "sea"]}}, "required": ["at"], "additionalProperties": False}
TOOLS: tuple[dict[str, Any], ...] = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", **PLACE}}}
    for name in ("look", "go")
)
NONE = "no draft"
# Text at first, then calls: that token becomes likely, and no end is.
SAMPLING = Sampling(temperature=0.8, seed=3, logit_bias=((CALLS, 3.0), (257, -100.0), (258, -100.0)))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    """Whose markers of calls are tokens, as Qwen's."""
    folder = tmp_path_factory.mktemp("callers")
    return close_pair(folder, "<think>", "</think>", "<tool_call>", "</tool_call>", template=TEMPLATE)


def asking(speculation: Speculation, sampling: Sampling = SAMPLING, prompt: tuple[int, ...] = (65, 66, 67)) -> Request:
    return Request(
        tokens=prompt,
        tools=TOOLS,
        strict_tools=("look", "go"),
        sampling=sampling,
        speculation=speculation,
        max_tokens=90,  # a whole call, and the beginning of another
        trace=True,
    )


def calls(reply: Recorder) -> list[tuple[str, dict[str, Any]]]:
    called = [event.call for event in reply.events if isinstance(event, ToolCalled)]
    return [(call.name, json.loads(call.arguments)) for call in called]


@pytest.mark.costly
@pytest.mark.parametrize("sampling", [SAMPLING, replace(SAMPLING, temperature=0.0)], ids=["sampled", "greedy"])
def test_a_call_matches_and_the_text_is_the_same_with_any_draft(
    models: dict[str, LoadedModel], sampling: Sampling
) -> None:
    (plain,) = written(models, NONE, asking(Speculation.off(), sampling))
    begun = plain.tokens.index(CALLS) + 1
    assert begun > 1
    assert calls(plain)
    assert all(name in ("look", "go") and said["at"] in ("sky", "sea") for name, said in calls(plain))
    (free,) = written(models, NONE, replace(asking(Speculation.off(), sampling), strict_tools=()))
    assert (free.tokens[:begun], calls(free)) == (plain.tokens[:begun], [])
    for draft, length in ((NONE, 2), ("close", 5), ("main", 8)):
        (drafted,) = written(models, draft, asking(Speculation.fixed(length), sampling))
        assert drafted.tokens == plain.tokens
        check_rounds(drafted.finished)
    request = asking(Speculation.fixed(4), sampling)
    beside = written(models, "close", request, replace(request, tools=(), strict_tools=()))
    assert beside[0].tokens == plain.tokens


@pytest.mark.parametrize(("states", "work"), [(60, 200_000), (70, 200_000), (50_000, 100)])
def test_a_call_reaches_the_limits_of_its_grammar_at_the_same_token_with_any_draft(
    models: dict[str, LoadedModel], states: int, work: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is the token that opens the call: what follows it is never free text."""
    monkeypatch.setattr(f"{compiled.__module__}._MOST_STATES", states)
    monkeypatch.setattr(f"{compiled.__module__}._FUEL_A_STEP", work)
    place = {"at": {"type": "string", "pattern": "^([a-z ]*x[a-z ]{25}|[a-z ]*e[a-z ]{24}q)$"}}
    parameters = {"type": "object", "properties": place, "required": ["at"], "additionalProperties": False}
    tools = tuple({**tool, "function": tool["function"] | {"parameters": parameters}} for tool in TOOLS)
    (plain,) = written(models, NONE, replace(asking(Speculation.off()), tools=tools))
    assert isinstance(plain.failed.error, InvalidRequest)
    for draft, length in ((NONE, 3), ("close", 5), ("main", 8)):
        (drafted,) = written(models, draft, replace(asking(Speculation.fixed(length)), tools=tools))
        assert (drafted.text, str(drafted.failed.error)) == (plain.text, str(plain.failed.error))


def allowed(guide: Guide, drafted: Sequence[int]) -> list[int]:
    """How many tokens, in each row."""
    logits = guide.masked(mx.zeros((len(drafted) + 1, WIDTH)), Draft(mx.array(list(drafted), dtype=mx.uint32)))
    return [int(count) for count in np.isfinite(np.array(logits)).sum(axis=1)]


@pytest.mark.parametrize(
    ("before", "begins"),
    [
        ([65, CALLS], 2),
        ([THINKS, CALLS, THOUGHT, CALLS], 4),
        ([65, THINKS, CALLS, THOUGHT, 65, CALLS], 6),
        ([CALLS], 1),
    ],
    ids=["text", "thinking", "thinking later", "at once"],
)
def test_the_marker_restricts_what_follows_it_but_not_in_thinking(
    models: dict[str, LoadedModel], before: list[int], begins: int
) -> None:
    """Row by row, as if the tokens before were committed one by one."""
    main = models["main"]
    drafted = [*before, *main.tokenizer.encode('\n{"name": "')]
    rows = allowed(guide_of(main), drafted)
    assert rows == [WIDTH] * begins + [1] * (len(rows) - begins - 1) + [2]  # the two names differ at once
    for count in range(len(rows)):
        follower = guide_of(main)
        follower.commit(drafted[:count])
        assert allowed(follower, []) == rows[count : count + 1]


def guide_of(model: LoadedModel) -> Guide:
    request = replace(asking(Speculation.off()), thinking=True)
    guide = TextDecoder(model, [65], ()).guide(grammar_of(request, model), may_open=True)
    assert guide is not None
    return guide


def test_other_tools_take_any_object_and_so_does_one_whose_schema_cannot_be_held_to(
    models: dict[str, LoadedModel],
) -> None:
    main, asked = models["main"], asking(Speculation.off())
    grammar = grammar_of(replace(asked, strict_tools=("go",)), main)
    assert grammar is not None
    check_fits(grammar, main, "look")
    odd = {"type": "function", "function": {"name": "odd", "parameters": {"dependentSchemas": {}}}}
    assert grammar_of(replace(asked, tools=(*TOOLS, odd)), main)
    with pytest.raises(InvalidRequest):
        grammar_of(replace(asked, strict_tools=("fly",)), main)
    with pytest.raises(InvalidRequest):
        grammar_of(replace(asked, tools=(odd,), must_call=("odd",)), main)
    loose = grammar_of(replace(asked, tools=(*TOOLS, odd), strict_tools=("odd", "go")), main)
    assert loose is not None
    check_fits(loose, main, "odd")


def check_fits(grammar: Grammar, model: LoadedModel, loose: str) -> None:
    """It holds `go` to its schema, but not `loose`."""
    for name, at, fits in ((loose, "here", True), ("go", "here", False), ("go", "sea", True)):
        tokens = [CALLS, *model.tokenizer.encode(f'\n{{"name": "{name}", "arguments": {{"at": "{at}"}}}}\n'), CALLED]
        assert (grammar.alone.deep_copy().try_consume_tokens(tokens) == len(tokens)) is fits


@pytest.fixture(scope="module")
def spelled(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Whose markers of calls are no tokens."""
    return load_model(save_small(tmp_path_factory.mktemp("spelled"), template=TEMPLATE, vocab_size=WIDTH))


def test_a_model_whose_marker_is_no_token_says_so(models: dict[str, LoadedModel], spelled: LoadedModel) -> None:
    assert models["main"].info.holds_calls
    assert models["main"].info.calls_tools
    assert spelled.info.calls_tools
    assert not spelled.info.holds_calls
    assert grammar_of(asking(Speculation.off()), spelled) is None


@pytest.mark.parametrize("sampling", [SAMPLING, replace(SAMPLING, temperature=0.0)], ids=["sampled", "greedy"])
def test_a_reply_that_may_not_call_does_not_whatever_drafts(models: dict[str, LoadedModel], sampling: Sampling) -> None:
    asked = replace(asking(Speculation.off(), sampling), may_call=False)
    (free,) = written(models, NONE, replace(asked, may_call=True, strict_tools=()))
    (plain,) = written(models, NONE, asked)
    begun = free.tokens.index(CALLS)
    assert plain.tokens[:begun] == free.tokens[:begun]
    assert CALLS not in plain.tokens
    assert not calls(plain)
    for draft, length in ((NONE, 2), ("close", 5), ("main", 8)):
        (drafted,) = written(models, draft, replace(asked, speculation=Speculation.fixed(length)))
        assert drafted.tokens == plain.tokens
    beside = written(models, "close", replace(asked, speculation=Speculation.fixed(4)), asking(Speculation.fixed(4)))
    assert beside[0].tokens == plain.tokens


def test_a_marker_of_several_tokens_is_not_written_to_its_end(spelled: LoadedModel) -> None:
    asked = replace(asking(Speculation.off()), may_call=False)
    guide = TextDecoder(spelled, [65], ()).guide(grammar_of(asked, spelled), may_open=True)
    assert guide is not None
    encode = spelled.tokenizer.encode
    for text, held_back in (("a <tool_call", ">"), (" <tool_call <tool_call", ">"), ("<tool_cal", ""), ("> x", "")):
        guide.commit(encode(text))
        row = np.array(guide.masked(mx.zeros((1, WIDTH)), Draft(mx.array([], dtype=mx.uint32))))[0]
        assert [letter for letter in "abc>< \n" if np.isinf(row[encode(letter)[0]])] == list(held_back)
    answer = replace(asked, constraint=Constraint(ConstraintKind.JSON, '{"enum": ["yes"]}'))
    grammar = grammar_of(answer, spelled)
    assert grammar is not None
    said = encode('"yes"')
    assert grammar.alone.deep_copy().try_consume_tokens(said) == len(said)


def test_a_call_cannot_be_demanded_and_forbidden() -> None:
    with pytest.raises(InvalidRequest, match="may_call"):
        check_request(replace(asking(Speculation.off()), may_call=False, must_call=("look",)))
