"""Exchanges with tools: calls, their results, further calls and a last answer are the same tokens with any draft.

In every syntax that has a grammar, alone and in a batch. The models are tiny, the tokenizer is the starter's.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from tokenizers import Tokenizer

from engine import Message, MessageRole, Request, Sampling, Speculation, ToolCalled
from engine.caches.making import CacheMaker
from engine.decoding.steps import Steps
from engine.models.loading import LoadedModel
from tests.architecture.project import ROOT
from tests.engine.batch_harness import Harness
from tests.engine.batch_harness import _template as some_model
from tests.helpers.callers import MARKS, calling
from tests.helpers.tiny_models import build, noised, qwen3_config

# A result stands between two turns; what a call is written as is not what the models write, nor in their order.
TEMPLATE = (
    "{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}"
    "{% for m in messages %}{{ m.role }}: {{ m.content }}"
    "{% for c in m.tool_calls or [] %}({{ c.function.arguments | tojson }} {{ c.function.name }}){% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
SAID = "the sky is blue and grey where draft models look for what they may say next"
WORDS = SAID.split()
PLACE = {"enum": ["the sky", "the sea", "a hill"]}
LOOK = {"type": "object", "properties": {"at": PLACE, "far": {"type": "boolean"}}, "required": ["at"]}
SAY = {"type": "object", "properties": {"words": {"type": "string", "maxLength": 9}, "loud": {"type": "boolean"}}}
TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": schema | {"additionalProperties": False}}}
    for name, schema in (("look", LOOK), ("say", SAY))
)
EXCHANGES = 40  # of each syntax
TOGETHER = 4
Exchange = list[tuple[int, ...]]  # the tokens of each step


@cache
def pair(parser: str) -> tuple[LoadedModel, LoadedModel]:
    """A model, and one that is often right about it."""
    file = str(ROOT / "resources" / "starter" / "main" / "tokenizer.json")
    base = calling(some_model(), Tokenizer.from_file(file), parser, template=TEMPLATE)
    width = len(base.tokenizer._tokenizer)
    config = qwen3_config(vocab_size=width, num_hidden_layers=1)
    network = build(config)
    main, draft = (
        replace(base, network=each, logit_width=width, make_caches=CacheMaker(each))
        for each in (network, noised(network, config, 0.05))
    )
    return main, draft


def question(number: int) -> Request:
    chance = random.Random(number)
    asked = " ".join(chance.choices(WORDS, k=chance.randint(3, 20)))
    sampling = Sampling(chance.choice((0.0, 0.8, 1.0)), seed=number, top_p=chance.choice((1.0, 0.95)))
    return Request((Message(MessageRole.USER, asked),), tools=TOOLS, sampling=sampling)


def exchanges(
    models: tuple[LoadedModel, LoadedModel | None], numbers: Sequence[int], speculation: Speculation
) -> list[Exchange]:
    """All at once, step by step: a demanded call, what the model does next, and an answer that may not call."""
    harness = Harness(*models)
    main = models[0]
    (opener, *_) = main.tokenizer.tool_call_start_tokens
    asked = [replace(question(number), speculation=speculation) for number in numbers]
    told: list[Exchange] = [[] for _ in numbers]
    for step in range(3):
        for at, request in enumerate(asked):
            if step == 0:
                asked[at] = replace(request, must_call=("look", "say"), several_calls=numbers[at] % 2 == 0)
            if step == 1:
                bias = replace(request.sampling, logit_bias=((opener, 4.0),))
                asked[at] = replace(request, must_call=(), strict_tools=("look", "say"), sampling=bias, max_tokens=60)
            if step == 2:
                asked[at] = replace(request, may_call=False, max_tokens=20)
        heard = [harness.submit(request) for request in asked]
        harness.run_dry()
        for at, each in enumerate(heard):
            told[at].append(each.tokens)
            calls = tuple(event.call for event in each.events if isinstance(event, ToolCalled))
            reply = Message(MessageRole.ASSISTANT, each.text, tool_calls=calls)
            results = [
                Message(MessageRole.TOOL, f"{WORDS[numbers[at] % 9]} {step}", tool_call_id=call.id) for call in calls
            ]
            more = results or [Message(MessageRole.USER, "And?")]
            asked[at] = replace(asked[at], messages=(*asked[at].messages, reply, *more))
            if step == 0:
                assert calls
                assert Steps.of(main).before(asked[at]) is not None
            if step == 2:
                assert not calls
                assert opener not in each.tokens
    return told


def check(parser: str, numbers: Sequence[int]) -> None:
    main, draft = pair(parser)
    plain = [told for number in numbers for told in exchanges((main, None), [number], Speculation.off())]
    for drafts, speculation in (
        (draft, Speculation.fixed(4)),
        (None, Speculation.fixed(8)),
        (draft, Speculation.auto()),
    ):
        assert [told for at in numbers for told in exchanges((main, drafts), [at], speculation)] == plain
    for drafts in (None, draft):
        assert exchanges((main, drafts), numbers, Speculation.fixed(3)) == plain


@pytest.mark.parametrize("parser", sorted(MARKS))
def test_an_exchange_is_the_same_with_any_draft(parser: str) -> None:
    check(parser, [1])


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, EXCHANGES, TOGETHER))
@pytest.mark.parametrize("parser", sorted(MARKS))
def test_many_exchanges_are_the_same_with_any_draft(parser: str, first: int) -> None:
    check(parser, range(first, first + TOGETHER))
