"""The anthropic package: messages, streams, tools, counts, errors, clients that leave."""

from __future__ import annotations

import anthropic

from tests.clients.proof import ADDRESS, CALLER, CITY, KEY, LONG, MODEL, QUESTION, refused, wait_until_quiet

TOOL = {"name": "weather", "description": "Looks.", "input_schema": CITY}
client = anthropic.Anthropic(base_url=ADDRESS, api_key="any", max_retries=0)
caller = anthropic.Anthropic(base_url=CALLER, auth_token=KEY, api_key=None, max_retries=0)


def messages() -> None:
    asked = {"model": MODEL, "max_tokens": 20, "messages": [QUESTION], "extra_body": {"temperature": 0}}
    whole = client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        said = "".join(stream.text_stream)
        last = stream.get_final_message()
    assert said == whole.content[0].text != ""
    assert last.stop_reason == whole.stop_reason
    assert last.usage.output_tokens == whole.usage.output_tokens
    assert last.usage.cache_read_input_tokens > 0
    assert client.messages.count_tokens(model=MODEL, messages=[QUESTION]).input_tokens == (
        last.usage.input_tokens + last.usage.cache_read_input_tokens
    )
    word = said.split()[1]
    cut = client.messages.create(**asked, stop_sequences=[word])
    assert (cut.stop_reason, cut.stop_sequence) == ("stop_sequence", word)
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).display_name


def tools() -> None:
    asked = {"model": "default", "max_tokens": 20, "tools": [TOOL]}
    first = caller.messages.create(**asked, messages=[QUESTION])
    call = next(block for block in first.content if block.type == "tool_use")
    assert (first.stop_reason, call.input) == ("tool_use", {"city": "x"})
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "Rain."}
    turns = [QUESTION, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    assert caller.messages.create(**asked, messages=turns).stop_reason == "end_turn"
    with caller.messages.stream(**asked, messages=[QUESTION]) as stream:
        assert [block.input for block in stream.get_final_message().content if block.type == "tool_use"] == [call.input]


def errors() -> None:
    for stream in (False, True):
        asked = {"model": MODEL, "max_tokens": 20, "messages": [QUESTION], "stream": stream}
        with refused(anthropic.NotFoundError):
            client.messages.create(**asked | {"model": "claude-9"})
        with refused(anthropic.BadRequestError):
            client.messages.create(**asked | {"messages": [LONG]})
    with refused(anthropic.AuthenticationError):
        caller.with_options(auth_token="wrong").messages.create(model="x", max_tokens=1, messages=[QUESTION])


def leave() -> None:
    body = {"model": MODEL, "messages": [QUESTION], "max_tokens": 100_000}
    with client.messages.stream(**body, extra_body={"logit_bias": {"2": -100}}) as stream:
        next(iter(stream))
    wait_until_quiet()


if __name__ == "__main__":
    for show in (messages, tools, errors, leave):
        show()
    print(f"anthropic {anthropic.__version__}")
