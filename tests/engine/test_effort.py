"""How much a model thinks: what its template is told, and a limit of tokens where that knows no low effort."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import Effort, InvalidRequest, Message, MessageRole, Request, inspect_model
from engine.decoding.prompt import prompt_tokens
from engine.models.effort import LOW_THINKING_TOKENS, EffortVariables
from engine.models.loading import LoadedModel
from engine.models.templates import ChatTemplate
from engine.runtime.requests import check_request
from tests.engine.batch_harness import written
from tests.engine.test_thinking_limit import CLOSES, NONE, asking
from tests.helpers.loading import load_model
from tests.helpers.model_folders import model_files, write_folder
from tests.helpers.tiny_models import save_small

QWEN3 = "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>{% endif %}"
GPT_OSS = (
    '{% if reasoning_effort is not defined %}{% set reasoning_effort = "medium" %}{% endif %}{{ reasoning_effort }}'
)
MISTRAL = (
    "{% set reasoning_effort = reasoning_effort if reasoning_effort is defined else 'none' %}"
    "{% if reasoning_effort not in ['none', 'high'] %}{{ raise_exception('no') }}{% endif %}{{ reasoning_effort }}"
)
SEED = "{% if thinking_budget is not defined %}{% set thinking_budget = -1 %}{% endif %}{{ thinking_budget }}"
DEEPSEEK = (
    "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{{ '<think>' if thinking else '</think>' }}"
)
NEMOTRON = "{{ enable_thinking }}{% if low_effort %}{reasoning effort: low}{% endif %}"
GLM = "{% set effort = reasoning_effort if reasoning_effort in ['low', 'high'] else 'max' %}{{ effort }}"
MUSE = "{% set rs = reasoning_strength if reasoning_strength is defined and reasoning_strength else 'high' %}{{ rs }}"
R1 = "{{ messages[-1].reasoning_effort }} enable_thinking {{ 'thinking_budget' }}{{ message.thinking }}<think>"
NAMES: dict[str, tuple[Any, ...]] = {
    "Qwen3": (QWEN3, True, (), {"enable_thinking": False}, {"enable_thinking": True}, {}, {}),
    "gpt-oss": (GPT_OSS, False, ("low", "high"), {}, {}, {"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
    "Mistral": (
        *(MISTRAL, True, ("high",), {"reasoning_effort": "none"}, {"reasoning_effort": "high"}, {}),
        {"reasoning_effort": "high"},
    ),
    "Seed-OSS": (SEED, True, ("low",), {"thinking_budget": 0}, {}, {"thinking_budget": LOW_THINKING_TOKENS}, {}),
    "DeepSeek": (DEEPSEEK, True, (), {"thinking": False}, {"thinking": True}, {}, {}),
    "Nemotron": (
        *(NEMOTRON, True, ("low",), {"enable_thinking": False}, {"enable_thinking": True}, {"low_effort": True}, {}),
    ),
    "GLM": (GLM, False, ("low", "high"), {}, {}, {"reasoning_effort": "low"}, {"reasoning_effort": "max"}),
    "Muse": (MUSE, False, ("low", "high"), {}, {}, {"reasoning_strength": "low"}, {"reasoning_strength": "xhigh"}),
    "R1": (R1, False, (), {}, {}, {}, {}),  # keys of messages and texts are no variables
}


@pytest.mark.parametrize("name", NAMES)
def test_variables_that_a_template_knows(name: str, tmp_path: Path) -> None:
    template, switches, levels, off, on, low, high = NAMES[name]
    assert EffortVariables.of(template) == EffortVariables(off, on, low, high)
    about = inspect_model(write_folder(tmp_path, model_files() | {"chat_template.jinja": template.encode()})).about
    assert (about.thinking, about.thinking_off, about.efforts) == (True, switches, levels)


@pytest.mark.parametrize(
    ("name", "thinks", "effort", "ends"),
    [
        ("gpt-oss", True, Effort.LOW, "low"),
        ("gpt-oss", True, Effort.NORMAL, "medium"),
        ("gpt-oss", False, Effort.HIGH, "medium"),
        ("Mistral", True, Effort.LOW, "high"),
        ("Mistral", False, Effort.HIGH, "none"),
        ("Seed-OSS", True, Effort.LOW, str(LOW_THINKING_TOKENS)),
        ("Seed-OSS", True, Effort.HIGH, "-1"),
        ("Seed-OSS", False, Effort.LOW, "0"),
        ("DeepSeek", True, Effort.NORMAL, "<think>"),
        ("DeepSeek", False, Effort.NORMAL, "</think>"),
        ("Nemotron", True, Effort.LOW, "{reasoning effort: low}"),
    ],
)
def test_templates_are_told(
    thinkers: dict[str, LoadedModel], name: str, thinks: bool, effort: Effort, ends: str
) -> None:
    model = replace(thinkers["main"], template=ChatTemplate(NAMES[name][0], {}))
    asked = Request(messages=(Message(MessageRole.USER, "x"),), thinking=thinks, effort=effort)
    assert str(model.tokenizer.decode(prompt_tokens(asked, model))).endswith(ends)
    if name == "gpt-oss":  # what a client says itself goes first
        asked = replace(asked, template_variables={"reasoning_effort": "minimal"})
        assert str(model.tokenizer.decode(prompt_tokens(asked, model))) == "minimal"


@pytest.mark.parametrize(
    ("name", "levels"),
    [("gpt-oss", ("low", "high")), ("Mistral", ()), ("GLM", ("low",)), ("Qwen3", ()), ("Nemotron", ("low",))],
)
def test_a_loaded_model_offers_only_levels_that_change_its_prompt(
    tmp_path: Path, name: str, levels: tuple[str, ...]
) -> None:
    info = replace(load_model(save_small(tmp_path, template=NAMES[name][0])).info, ends_thinking=False)
    assert info.about.efforts == levels
    assert info.efforts() == tuple(each for each in ("low", "normal", "high") if each in (*levels, "normal"))
    assert replace(info, ends_thinking=True).efforts()[0] == info.efforts(loaded=False)[0] == "low"


def test_low_effort_is_a_limit_where_the_template_knows_none(
    thinkers: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.runtime.reply.LOW_THINKING_TOKENS", 7)

    def thought(models: dict[str, LoadedModel], **changes: Any) -> int:
        (reply,) = written(models, NONE, replace(asking(None), **{"thinking": True, **changes}))
        return reply.tokens.index(CLOSES) if CLOSES in reply.tokens else len(reply.tokens)

    assert thought(thinkers) == 20
    assert thought(thinkers, effort=Effort.LOW) == 7
    assert thought(thinkers, effort=Effort.LOW, thinking_tokens=9) == 9
    assert thought(thinkers, effort=Effort.LOW, thinking=False) == 20
    main = thinkers["main"]
    told = replace(main, info=replace(main.info, about=replace(main.info.about, efforts=(Effort.LOW,))))
    assert thought({**thinkers, "main": told}, effort=Effort.LOW) == 20


def test_an_effort_is_one_of_three() -> None:
    with pytest.raises(InvalidRequest, match="effort"):
        check_request(Request(tokens=(1,), effort="low"))  # type: ignore[arg-type]


@pytest.mark.parametrize("part", ["{%", "{{ '", "'\"", "thinking ", "thinking is ", "{% reasoning_effort '", "a"])
def test_a_template_of_odd_parts_is_read_in_one_pass(part: str) -> None:
    """Time that grew with the square of its length would reach the limit of a test."""
    assert EffortVariables.of("{% " + part * 200_000).off == {}
