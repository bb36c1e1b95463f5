"""The google-genai package: contents, streams, tools, schemas, pictures, counts, errors, clients that leave."""

from __future__ import annotations

import json
import struct
import urllib.request
import zlib
from typing import Literal

from google import genai
from google.genai import errors as google_errors
from google.genai import types
from pydantic import BaseModel

from tests.clients.proof import ADDRESS, CALLER, KEY, LONG, MODEL, QUESTION, refused, wait_until_quiet

ASKED = QUESTION["content"]
TOOL = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="weather",
            description="Looks.",
            parameters=types.Schema(type="OBJECT", properties={"city": types.Schema(type="STRING")}, required=["city"]),
        )
    ]
)


class Place(BaseModel):
    city: Literal["Seoul", "Lisbon"]
    rainy: bool


def made(address: str, key: str) -> genai.Client:
    return genai.Client(api_key=key, vertexai=False, http_options=types.HttpOptions(base_url=address))


client = made(ADDRESS, "any")
caller = made(CALLER, KEY)


def models() -> None:
    assert [model.name for model in client.models.list()] == [f"models/{MODEL}"]
    assert client.models.get(model=MODEL).input_token_limit > 4096


def writing() -> None:
    config = types.GenerateContentConfig(max_output_tokens=20, temperature=0, system_instruction="Be brief.")
    whole = client.models.generate_content(model=MODEL, contents=ASKED, config=config)
    pieces = list(client.models.generate_content_stream(model=MODEL, contents=ASKED, config=config))
    assert "".join(piece.text or "" for piece in pieces) == whole.text != ""
    assert pieces[-1].candidates[0].finish_reason == whole.candidates[0].finish_reason
    used = pieces[-1].usage_metadata
    assert used.candidates_token_count == whole.usage_metadata.candidates_token_count <= 20
    assert used.cached_content_token_count > 0
    assert used.total_token_count == used.prompt_token_count + used.candidates_token_count
    word = whole.text.split()[1]
    cut = client.models.generate_content(
        model=MODEL, contents=ASKED, config=config.model_copy(update={"stop_sequences": [word]})
    )
    assert word not in (cut.text or "")
    talk = client.chats.create(model=MODEL, config=config)
    assert talk.send_message(ASKED).text == whole.text
    assert "".join(piece.text or "" for piece in talk.send_message_stream("And a main model?"))
    assert talk.send_message("Why?").text
    alone = types.GenerateContentConfig(max_output_tokens=1)
    read = client.models.generate_content(model=MODEL, contents=ASKED, config=alone).usage_metadata
    assert client.models.count_tokens(model=MODEL, contents=ASKED).total_tokens == read.prompt_token_count


def arrays() -> None:
    """Without `alt=sse`, which the package always asks for."""
    body = {"contents": [{"parts": [{"text": ASKED}]}], "generationConfig": {"maxOutputTokens": 5, "temperature": 0}}
    request = urllib.request.Request(
        f"{ADDRESS}/v1beta/models/{MODEL}:streamGenerateContent?key=any",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        pieces = json.load(answer)
    assert pieces[-1]["candidates"][0]["finishReason"] == "MAX_TOKENS"


def tools() -> None:
    config = types.GenerateContentConfig(tools=[TOOL])
    question = types.Content(role="user", parts=[types.Part(text="How is it there?")])
    first = caller.models.generate_content(model="default", contents=[question], config=config)
    (call,) = first.function_calls
    assert (call.name, call.args) == ("weather", {"city": "x"})
    result = types.FunctionResponse(id=call.id, name=call.name, response={"result": "Rain."})
    turns = [
        question,
        first.candidates[0].content,
        types.Content(role="user", parts=[types.Part(function_response=result)]),
    ]
    assert caller.models.generate_content(model="default", contents=turns, config=config).text
    pieces = caller.models.generate_content_stream(model="default", contents=[question], config=config)
    (streamed,) = [each for piece in pieces for each in piece.function_calls or []]
    assert streamed.args == call.args

    def weather(city: str) -> str:
        """How it is there."""
        return f"Rain in {city}."

    by_itself = caller.models.generate_content(
        model="default", contents="How is it there?", config=types.GenerateContentConfig(tools=[weather])
    )
    assert by_itself.text
    assert len(by_itself.automatic_function_calling_history) == 3
    thinking = types.ThinkingConfig(include_thoughts=True)
    thought = caller.models.generate_content(
        model="default", contents="x", config=types.GenerateContentConfig(thinking_config=thinking)
    )
    assert any(part.thought for part in thought.candidates[0].content.parts)


def schemas() -> None:
    """Ones that end by themselves: the starter pair knows no JSON."""
    closed = Place.model_json_schema() | {"additionalProperties": False}  # else it would think of ever more fields
    for form in ({"response_schema": Place}, {"response_json_schema": closed}):
        config = types.GenerateContentConfig(response_mime_type="application/json", temperature=0, **form)
        answer = client.models.generate_content(model=MODEL, contents=ASKED, config=config)
        assert Place.model_validate_json(answer.text)
    words = types.Schema(type="STRING", enum=["yes", "no"])
    config = types.GenerateContentConfig(response_mime_type="text/x.enum", response_schema=words)
    assert client.models.generate_content(model=MODEL, contents=ASKED, config=config).text in ("yes", "no")
    visit = types.FunctionDeclaration(name="visit", parameters_json_schema=closed)
    calling = types.FunctionCallingConfig(mode="ANY")
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[visit])],
        tool_config=types.ToolConfig(function_calling_config=calling),
        temperature=0,
    )
    assert Place.model_validate(
        client.models.generate_content(model=MODEL, contents=ASKED, config=config).function_calls[0].args
    )


def pictures() -> None:
    seen = types.Part.from_bytes(data=png(4, 4), mime_type="image/png")
    assert caller.models.generate_content(model="default", contents=[seen, "What is it?"]).text
    with refused(google_errors.ClientError, code=400, status="INVALID_ARGUMENT"):
        client.models.generate_content(model=MODEL, contents=[seen, "What is it?"])
    with refused(google_errors.ClientError, code=400):
        caller.models.generate_content(
            model="default", contents=types.Part.from_uri(file_uri="https://x.example/a.png", mime_type="image/png")
        )


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * 3 * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def errors() -> None:
    for write in (client.models.generate_content, lambda **asked: list(client.models.generate_content_stream(**asked))):
        with refused(google_errors.ClientError, code=404, status="NOT_FOUND"):
            write(model="gemini-9", contents=ASKED)
        with refused(google_errors.ClientError, code=400, status="INVALID_ARGUMENT"):
            write(model=MODEL, contents=LONG["content"])
        with refused(google_errors.ClientError, code=400):
            write(model=MODEL, contents=ASKED, config=types.GenerateContentConfig(temperature=99))
    stranger = made(CALLER, "wrong")  # which closes its connections once it has no name
    with refused(google_errors.ClientError, code=401, status="UNAUTHENTICATED"):
        list(stranger.models.list())
    with refused(google_errors.ClientError, status="UNIMPLEMENTED"):
        client.models.embed_content(model=MODEL, contents="x")


def leave() -> None:
    config = types.GenerateContentConfig(max_output_tokens=100_000, temperature=2)
    stream = client.models.generate_content_stream(model=MODEL, contents=ASKED, config=config)
    next(stream)
    stream.close()
    wait_until_quiet()


if __name__ == "__main__":
    for show in (models, writing, arrays, tools, schemas, pictures, errors, leave):
        show()
    print(f"google-genai {genai.__version__}")
