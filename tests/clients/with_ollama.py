"""The ollama package: lists, chat, generate, tools, errors, clients that leave."""

from __future__ import annotations

import json
from importlib.metadata import version

import ollama

from tests.clients.proof import ADDRESS, CALLER, CITY, KEY, MODEL, QUESTION, refused, wait_until_quiet

TOOL = {"type": "function", "function": {"name": "weather", "description": "Looks.", "parameters": CITY}}
client = ollama.Client(host=ADDRESS)
caller = ollama.Client(host=CALLER, headers={"authorization": f"Bearer {KEY}"})


def lists() -> None:
    names = {f"{MODEL}:latest"}
    assert {model.model for model in client.list().models} == names == {model.model for model in client.ps().models}
    shown = client.show(MODEL)
    assert {"completion", "tools"} <= set(shown.capabilities)
    assert any(name.endswith(".context_length") for name in shown.modelinfo)


def writing() -> None:
    asked = {"model": MODEL, "options": {"temperature": 0, "num_predict": 20}}
    whole = client.chat(messages=[QUESTION], **asked)
    pieces = list(client.chat(messages=[QUESTION], stream=True, **asked))
    assert "".join(piece.message.content for piece in pieces) == whole.message.content != ""
    assert pieces[-1].done
    assert pieces[-1].done_reason == whole.done_reason
    assert pieces[-1].eval_count == whole.eval_count
    assert client.generate(prompt="A draft", **asked).response
    form: dict[str, object] = {"type": "object", "properties": {"rainy": {"type": "boolean"}}, "required": ["rainy"]}
    form["additionalProperties"] = False
    assert list(json.loads(client.chat(messages=[QUESTION], model=MODEL, format=form).message.content)) == ["rainy"]
    assert "".join(piece.response for piece in client.generate(prompt="A draft", stream=True, **asked))


def tools() -> None:
    asked = {"model": "default", "tools": [TOOL]}
    for answers in (
        [caller.chat(messages=[QUESTION], **asked)],
        caller.chat(messages=[QUESTION], stream=True, **asked),
    ):
        messages = [answer.message for answer in answers]
        (call,) = [call for message in messages for call in message.tool_calls or []]
        assert call.function.arguments == {"city": "x"}
    turns = [QUESTION, *messages, {"role": "tool", "tool_name": "weather", "content": "Rain."}]
    assert caller.chat(messages=turns, **asked).message.content


def errors() -> None:
    with refused(ollama.ResponseError, status_code=404):
        client.chat(model="llama9", messages=[QUESTION])
    with refused(ollama.ResponseError, status_code=403):
        client.pull("llama9")
    with refused(ollama.ResponseError, status_code=401):
        ollama.Client(host=CALLER).list()


def leave() -> None:
    stream = client.chat(model=MODEL, messages=[QUESTION], stream=True, options={"num_predict": -1, "temperature": 3})
    next(stream)
    stream.close()
    wait_until_quiet()


if __name__ == "__main__":
    for show in (lists, writing, tools, errors, leave):
        show()
    print(f"ollama {version('ollama')}")
