"""bfcl-eval's questions (simple, multiple, irrelevance) asked of a real model by us and by mlx-lm.

Forwards over all 990 would take a day here, so what could make a difference is compared piece by piece: the prompt's
tokens of every question; the calls that are found in a text, for the right call of every question, for what the model
really said to some, and for both with faults in them; and the package's own verdict on these calls.
"""

from __future__ import annotations

from tests.bench.openblas import put_in_front

put_in_front()  # before MLX

import json  # noqa: E402
import logging  # noqa: E402
import random  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from mlx_lm import stream_generate  # noqa: E402
from mlx_lm.generate import TextStateMachine, make_text_state_machine  # noqa: E402
from mlx_lm.server import ToolCallFormatter  # noqa: E402
from mlx_lm.utils import load_tokenizer  # noqa: E402

from app.tools.definitions import Tool  # noqa: E402
from engine import Engine, Message, MessageRole, Request, Sampling, ToolCalled  # noqa: E402
from engine.decoding.prompt import encode, prompt_tokens  # noqa: E402
from engine.decoding.text import TextDecoder  # noqa: E402
from engine.decoding.tool_calls import ToolSyntax  # noqa: E402
from tests.helpers.engine_client import EngineClient  # noqa: E402
from tests.helpers.loading import load_model  # noqa: E402

_PYTHON = Path("build/bfcl/bin/python")
_PACKAGES = ("bfcl-eval==2026.3.23", "filelock==3.20.0", "tenacity==9.2.1", "tree_sitter==0.21.3")
_PARSERS = ("tree-sitter-java==0.21.0", "tree-sitter-javascript==0.21.4")
_MOST_TOKENS = 160  # of a reply
_FAULTS = 4  # texts with a fault, of each text
_POINT = 0.01
_PUT_IN = ('"', "}", "{", ",", "\\", "\n", " ", "é", "<tool_call>", "</tool_call>")

Calls = list[dict[str, Any]]  # each "name" and "arguments"


@dataclass(frozen=True)
class Question:
    id: str
    set: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    right: Calls  # a right answer

    @property
    def request(self) -> Request:
        messages = tuple(Message(MessageRole(each["role"]), each["content"]) for each in self.messages)
        return Request(messages, tools=tuple(self.tools), sampling=Sampling(0.0), max_tokens=_MOST_TOKENS)


class Sides:
    def __init__(self, folder: Path) -> None:
        self._ours = load_model(folder)
        self._tokenizer = load_tokenizer(folder)
        self._states = make_text_state_machine(self._tokenizer)
        self._engine = EngineClient(Engine())
        self._engine.load(folder)
        self.equal = 0  # replies

    def our_prompt(self, asked: Question) -> list[int]:
        return prompt_tokens(asked.request, self._ours)

    def their_prompt(self, asked: Question) -> list[int]:
        return list(self._tokenizer.apply_chat_template(asked.messages, tools=asked.tools, add_generation_prompt=True))

    def written(self, asked: Question) -> str:
        """The right calls as the model's template writes them."""
        calls = [{"type": "function", "function": each} for each in asked.right]
        chat = [*asked.messages, {"role": "assistant", "content": "", "tool_calls": calls}]
        text = str(self._tokenizer.apply_chat_template(chat, tools=asked.tools, tokenize=False))
        return text[text.rindex(self._tokenizer.tool_call_start) :].removesuffix("<|im_end|>\n")

    def replies(self, asked: Question) -> Iterator[str]:
        """What the model says, greedily, by us and by mlx-lm; once, if that is equal."""
        reply = self._engine.run(asked.request)
        ours = str(self._tokenizer.decode(reply.tokens)).removesuffix(self._tokenizer.eos_token)
        prompt = self.their_prompt(asked)
        pieces = stream_generate(self._ours.network, self._tokenizer, prompt, max_tokens=_MOST_TOKENS)
        theirs = "".join(each.text for each in pieces)
        called = [each.call for each in reply.events if isinstance(each, ToolCalled)]
        assert [each.name for each in called] == [each["name"] for each in self.our_calls(ours, asked.tools)]
        self.equal += ours == theirs
        print(f"  {asked.id}: {'equal' if ours == theirs else 'unlike'}, {len(called)} calls", flush=True)
        yield from dict.fromkeys((ours, theirs))

    def our_calls(self, text: str, tools: list[dict[str, Any]]) -> Calls:
        reply = TextDecoder(self._ours, [], (), tools=ToolSyntax(self._ours, tools))
        spans = [span for token in encode(text, self._ours) for span in reply.push(token)] + reply.finish()
        calls = [span.call for span in spans if span.call]
        return [{"name": each.name, "arguments": json.loads(each.arguments)} for each in calls]

    def their_calls(self, text: str, tools: list[dict[str, Any]]) -> Calls | None:
        """As mlx-lm's server reads a reply; None where it fails at a call, or what it makes of one is none."""
        state = self._states.make_state("normal")
        state, segments = TextStateMachine.split(state, text)
        state, rest, last = TextStateMachine.flush(state)
        found = [""]
        for at, said in (*segments, (last, rest)):
            if at == "tool":
                found[-1] += said
            elif found[-1]:
                found.append("")
        try:
            made = [
                each["function"] for each in ToolCallFormatter(self._tokenizer.tool_parser, tools)(filter(None, found))
            ]
            calls = [{"name": each["name"], "arguments": json.loads(each["arguments"])} for each in made]
        except (KeyError, TypeError, AttributeError):
            return None
        are_calls = all(isinstance(each["name"], str) and isinstance(each["arguments"], dict) for each in calls)
        return calls if are_calls and "NaN" not in str(made) else None


def main(folder: str, real: str) -> None:
    """`real`: how many questions the model really answers, by us and by mlx-lm."""
    logging.disable(logging.WARNING)  # mlx-lm warns of each call that it cannot read
    questions = [Question(**each) for each in _run("questions")]
    sides = Sides(Path(folder))
    unlike = [each.id for each in questions if sides.our_prompt(each) != sides.their_prompt(each)]
    assert not unlike, f"{len(unlike)} prompts differ: {unlike[:5]}"
    tools = [each["function"] for asked in questions for each in asked.tools]
    same = sum(json.dumps(_in_the_app(each)) == json.dumps(each) for each in tools)
    print(f"{len(questions)} prompts of equal tokens; {same} of {len(tools)} tools are the same in the app", flush=True)
    chance = random.Random(1)
    written = [(each, sides.written(each)) for each in questions if each.right]
    print(_compared(sides, "right calls", written))
    print(_compared(sides, "right calls with faults", _with_faults(written, chance)), flush=True)
    sample = _sample(questions, int(real))
    if not sample:
        return
    said = [(each, text) for each in sample for text in sides.replies(each)]
    print(f"{sides.equal} of {len(sample)} replies equal", flush=True)
    print(_compared(sides, "replies", said))
    print(_compared(sides, "replies with faults", _with_faults(said, chance)))


def _in_the_app(function: dict[str, Any]) -> Any:
    """As the app describes a server's tool to the model: cleaned, and of bounded length."""
    given = Tool.of("", function["name"], function["description"], function["parameters"])
    return given.definition()["function"]


def _compared(sides: Sides, what: str, texts: Sequence[tuple[Question, str]]) -> str:
    ours = [sides.our_calls(text, each.tools) for each, text in texts]
    theirs = [sides.their_calls(text, each.tools) for each, text in texts]
    for (each, text), mine, other in zip(texts, ours, theirs, strict=True):
        assert other is None or mine == other, f"{each.id}: {mine} is not {other}, of {text!r}"
    asked = [each for each, _ in texts]
    right = [_right(asked, calls) for calls in (ours, [each or [] for each in theirs])]
    assert abs(right[0] - right[1]) <= _POINT, right
    none = theirs.count(None)
    return (
        f"{what}: {len(texts)} texts, {sum(map(len, ours))} calls, equal but for {none} that mlx-lm fails at; "
        f"right {right[0]:.1%} and {right[1]:.1%}"
    )


def _sample(questions: Sequence[Question], count: int) -> list[Question]:
    """As many of each kind of set, evenly, in turns."""
    kinds = Counter(each.set.partition("_")[0] for each in questions)
    wanted = count // len(kinds)
    of_kinds = [[each for each in questions if each.set.startswith(kind)] for kind in kinds]
    return [of_kind[at * len(of_kind) // wanted] for at in range(wanted) for of_kind in of_kinds]


def _with_faults(texts: Sequence[tuple[Question, str]], chance: random.Random) -> list[tuple[Question, str]]:
    return [(each, _with_fault(text, chance)) for each, text in texts for _ in range(_FAULTS)]


def _with_fault(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    faulty = (
        text[:at],
        text[:at] + text[at + chance.randrange(1, 4) :],
        text[:at] + chance.choice(_PUT_IN) + text[at:],
        f"I look.\n{text}\n{text} So.",
        text.replace("</tool_call>", ""),
        text.replace('"', "'"),
        text.replace("\n", ""),
        text.replace("arguments", "parameters"),
        text.replace(": ", ":\n\t"),
        text.replace("<tool_call>\n", "<tool_call>[").replace("\n</tool_call>", "]</tool_call>"),
    )
    return chance.choice(faulty)


def _run(*arguments: str) -> list[dict[str, Any]]:
    if not list(_PYTHON.parent.parent.glob("lib/*/site-packages/tree_sitter_javascript")):
        subprocess.run([sys.executable, "-m", "venv", _PYTHON.parent.parent], check=True)
        subprocess.run([_PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", *_PACKAGES, *_PARSERS], check=True)
    command = [str(_PYTHON), "-m", "tests.clients.with_bfcl", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return [json.loads(line) for line in ended.stdout.splitlines()]


def _right(asked: Sequence[Question], calls: Sequence[Calls]) -> float:
    """The share that the package calls right."""
    lines = [{"id": each.id, "set": each.set, "calls": made} for each, made in zip(asked, calls, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "calls.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        verdicts = _run("verdicts", str(file))
    assert len(verdicts) == len(lines)
    return sum(each["right"] is True for each in verdicts) / len(verdicts)


if __name__ == "__main__":
    main(*sys.argv[1:])
