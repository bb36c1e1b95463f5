"""The openai package: chat, completions, responses, tools, schemas, errors, clients that leave."""

from __future__ import annotations

import asyncio
import json
from typing import Literal

import openai
from pydantic import BaseModel, ConfigDict

from tests.clients.proof import ADDRESS, CALLER, CITY, KEY, LONG, MODEL, QUESTION, refused, wait_until_quiet

TOOL = {"type": "function", "function": {"name": "weather", "description": "Looks.", "parameters": CITY}}
client = openai.OpenAI(base_url=f"{ADDRESS}/v1", api_key="any", max_retries=0)
caller = openai.OpenAI(base_url=f"{CALLER}/v1", api_key=KEY, max_retries=0)


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid")  # else the pair would think of ever more fields

    city: Literal["Seoul", "Lisbon"]
    rainy: bool


def models() -> None:
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).id == MODEL


def chat() -> None:
    answer = client.chat.completions.create(model=MODEL, messages=[QUESTION], max_tokens=20, temperature=0)
    stream = client.chat.completions.create(
        model=MODEL,
        messages=[QUESTION],
        max_completion_tokens=20,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
        extra_body={"speculation": "off"},
    )
    chunks = list(stream)
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said == answer.choices[0].message.content != ""
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == answer.choices[0].finish_reason
    assert chunks[-1].usage.completion_tokens == answer.usage.completion_tokens <= 20
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens > 0
    with client.chat.completions.stream(model=MODEL, messages=[QUESTION], temperature=0) as events:
        assert events.get_final_completion().choices[0].message.content.startswith(said)
    two = client.chat.completions.create(model=MODEL, messages=[QUESTION], max_tokens=5, n=2, stop=["x"])
    assert [choice.index for choice in two.choices] == [0, 1]


def completions() -> None:
    assert client.completions.create(model=MODEL, prompt="A draft", max_tokens=5).choices[0].text
    pieces = client.completions.create(model=MODEL, prompt="A draft", max_tokens=5, stream=True)
    assert "".join(piece.choices[0].text for piece in pieces if piece.choices)


def tools() -> None:
    messages = [{"role": "user", "content": "How is it there?"}]
    first = caller.chat.completions.create(model="default", messages=messages, tools=[TOOL])
    (call,) = first.choices[0].message.tool_calls
    assert (first.choices[0].finish_reason, json.loads(call.function.arguments)) == ("tool_calls", {"city": "x"})
    messages += [first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "Rain."}]
    with caller.chat.completions.stream(model="default", messages=messages, tools=[TOOL]) as events:
        last = events.get_final_completion().choices[0]
    assert (last.finish_reason, last.message.tool_calls) == ("stop", None)
    with caller.chat.completions.stream(model="default", messages=messages[:1], tools=[TOOL]) as events:
        (streamed,) = events.get_final_completion().choices[0].message.tool_calls
    assert streamed.function.arguments == call.function.arguments


def schemas() -> None:
    """Ones that end by themselves: the starter pair knows no JSON."""
    parsed = client.chat.completions.parse(model=MODEL, messages=[QUESTION], response_format=Place, temperature=0)
    assert isinstance(parsed.choices[0].message.parsed, Place)
    with client.chat.completions.stream(model=MODEL, messages=[QUESTION], response_format=Place) as events:
        assert isinstance(events.get_final_completion().choices[0].message.parsed, Place)
    answer = client.responses.parse(model=MODEL, input=[QUESTION], text_format=Place)
    assert isinstance(answer.output_parsed, Place)
    function = {"name": "visit", "parameters": Place.model_json_schema()}
    demanded = client.chat.completions.create(
        model=MODEL,
        messages=[QUESTION],
        tools=[{"type": "function", "function": function}],
        tool_choice="required",
        parallel_tool_calls=False,
    )
    (call,) = demanded.choices[0].message.tool_calls
    assert Place.model_validate_json(call.function.arguments)


def responses() -> None:
    whole = client.responses.create(model=MODEL, input="What is a draft model?", temperature=0)
    with client.responses.stream(model=MODEL, input=[QUESTION], temperature=0) as events:
        kinds = [event.type for event in events]
        assert events.get_final_response().output_text == whole.output_text != ""
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    cut = client.responses.create(model=MODEL, input=[QUESTION], max_output_tokens=16)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    flat = {"type": "function", "name": "weather", "parameters": CITY, "strict": False}
    first = caller.responses.create(model="default", input="How is it there?", tools=[flat])
    call = next(item for item in first.output if item.type == "function_call")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "Rain."}
    question = {"role": "user", "content": "How is it there?"}
    second = caller.responses.create(model="default", input=[question, *first.output, result], tools=[flat])
    assert second.output_text
    with caller.responses.stream(model="default", input="How is it there?", tools=[flat]) as events:
        calls = [item for item in events.get_final_response().output if item.type == "function_call"]
    assert [json.loads(call.arguments) for call in calls] == [{"city": "x"}]


def errors() -> None:
    chat = client.chat.completions.create
    for stream in (False, True):
        with refused(openai.NotFoundError, code="model_not_found"):
            chat(model="gpt-9", messages=[QUESTION], stream=stream)
        with refused(openai.BadRequestError, code="context_length_exceeded"):
            chat(model=MODEL, messages=[LONG], stream=stream)
        with refused(openai.BadRequestError, param="temperature"):
            chat(model=MODEL, messages=[QUESTION], temperature=99, stream=stream)
    with refused(openai.BadRequestError):
        client.responses.create(model=MODEL, input="x", previous_response_id="resp_1")
    with refused(openai.AuthenticationError, code="invalid_api_key"):
        caller.with_options(api_key="wrong").models.list()
    with refused(openai.NotFoundError):
        client.embeddings.create(model=MODEL, input="x")


async def leave() -> None:
    other = openai.AsyncOpenAI(base_url=f"{ADDRESS}/v1", api_key="any", max_retries=0)
    body = {"model": MODEL, "messages": [QUESTION], "logit_bias": {"2": -100}, "max_tokens": 100_000}
    stream = await other.chat.completions.create(**body, stream=True)
    await anext(aiter(stream))
    await stream.close()
    with refused(openai.APITimeoutError):
        await other.with_options(timeout=1.0).chat.completions.create(**body)
    wait_until_quiet()


if __name__ == "__main__":
    for show in (models, chat, completions, tools, schemas, responses, errors):
        show()
    asyncio.run(leave())
    print(f"openai {openai.__version__}")
