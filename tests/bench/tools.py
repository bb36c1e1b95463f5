"""Rows about tools: how much of a call its grammar forces, and how much the step after it reads again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from engine import Engine, Message, MessageRole, ModelReady, Request, Sampling, ToolCall, ToolCalled
from engine.decoding.constraint import compiled
from engine.decoding.prompt import encode
from engine.decoding.tool_calls import ToolSyntax
from engine.models.loading import LoadedModel
from tests.bench.rows import Row
from tests.bench.setup import BenchSetup
from tests.helpers.callers import MARKS, calling, written
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import load_model


def _tool(name: str, needed: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TEXT: dict[str, Any] = {"type": "string"}
TOOLS = (
    _tool("read_file", ("path",), path=TEXT),
    _tool("search_chats", ("words", "most"), words=TEXT, most={"type": "integer"}),
    _tool("weather", ("city", "unit"), city=TEXT, unit={"enum": ["celsius", "fahrenheit"]}),
    _tool("calculate", ("expression", "digits"), expression=TEXT, digits={"type": "integer"}),
    _tool("fetch_page", ("address", "as_text"), address=TEXT, as_text={"type": "boolean"}),
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {"path": "notes/2026/plan.md"}),
    ("search_chats", {"words": "draft model", "most": 5}),
    ("weather", {"city": "Seoul", "unit": "celsius"}),
    ("calculate", {"expression": "17 * 23", "digits": 2}),
    ("fetch_page", {"address": "https://example.org/a", "as_text": True}),
)


def tools_forced(setup: BenchSetup, runs: int) -> Row:
    """The share of a call's tokens of which its grammar allows no other, with the starter's tokenizer."""
    base = load_model(setup.starter / "main")
    file = str(setup.starter / "main" / "tokenizer.json")
    shares = {parser: forced_share(calling(base, Tokenizer.from_file(file), parser), parser) for parser in MARKS}
    told = ", ".join(f"{parser} {share:.2f}" for parser, share in shares.items())
    return Row("engine.tools.forced", min(shares.values()), "share", "≥ 0.6", f"five calls: {told}")


def forced_share(model: LoadedModel, parser: str) -> float:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    strict = compiled([ToolSyntax(model, TOOLS).grammar((), several=False, strict=list(schemas))], model)
    forced = tokens = 0
    for name, arguments in CALLS:
        matcher = strict.alone.deep_copy()
        left = written(parser, name, arguments, schemas[name]).encode()
        while left:
            row = np.zeros(strict.vocabulary.words, dtype=np.int32)
            matcher.unsafe_compute_mask_ptr(row.ctypes.data, strict.vocabulary.known_words * 4)
            allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
            token = int(allowed[0]) if len(allowed) == 1 else encode(left.decode(), model, special=False)[0]
            forced += len(allowed) == 1 and tokens > 0
            tokens += 1
            said = strict.vocabulary.text(token)
            if not left.startswith(said) or not matcher.try_consume_tokens([token]):
                raise RuntimeError(f"{parser}: {said!r} instead of {left[:40]!r}")
            left = left[len(said) :]
    return forced / tokens


TEMPLATE = (
    "{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for tool_call in m.tool_calls or [] %}{% set tool_call = tool_call.function %}"
    '<tool_call>{"name": "{{ tool_call.name }}", "arguments": {{ tool_call.arguments | tojson }}}</tool_call>'
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tools_read_again(setup: BenchSetup, runs: int) -> Row:
    """The share of a step's prompt that is neither cached nor a result; the template writes calls otherwise."""
    folder = setup.folder / "caller"
    shutil.copytree(setup.starter / "main", folder, dirs_exist_ok=True)
    settings = folder / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"chat_template": TEMPLATE}))
    engine = Engine()
    try:
        client = EngineClient(engine)
        assert isinstance(client.load(folder, setup.draft), ModelReady)
        shares = list(_steps(client.run, load_model(folder)))
    finally:
        engine.close()
    return Row(
        "engine.tools.read_again", max(shares), "share", "≤ 0.05", f"steps: {[round(each, 3) for each in shares]}"
    )


def _steps(run: Callable[[Request], Any], model: LoadedModel) -> Iterator[float]:
    question = Message(MessageRole.USER, "Which of these tools do you need for what you were asked before? " * 4)
    place = _tool("look", ("at",), at={"enum": ["the sky", "the sea", "the hill"]}, unit={"enum": ["km", "miles"]})
    asked = Request((question,), tools=(*TOOLS, place), several_calls=False, sampling=Sampling(0.7, seed=1))
    for _ in CALLS:
        told = run(replace(asked, must_call=("look",)))
        (call,) = (event.call for event in told.events if isinstance(event, ToolCalled))
        assert isinstance(call, ToolCall)
        if len(asked.messages) > 1:
            stats = told.stats
            results = len(encode(asked.messages[-1].content, model, special=False))
            yield max(0, stats.prompt_tokens - stats.cached_tokens - results) / stats.prompt_tokens
        reply = Message(MessageRole.ASSISTANT, told.text(), tool_calls=(call,))
        result = Message(MessageRole.TOOL, "It is blue, and grey in the west. " * 3, tool_call_id=call.id, name="look")
        asked = replace(asked, messages=(*asked.messages, reply, result))


TOOL_ROWS = (tools_forced, tools_read_again)
