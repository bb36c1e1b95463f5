"""For schemathesis: what it makes from a vendor's schema, with the model that is here and short answers.

Of every three bodies one keeps its other fields, one has a plain question among them, and one is the plain question
with one more field, so that some are answered. What OpenAI's schema wants as strings in an answer, and OpenAI's server
gives as null where a request has none, is in each request. Nothing is streamed that is described: the schemas of chats
and of responses are those of an event's data.
"""

from __future__ import annotations

import json
from typing import Any

import schemathesis

QUESTION = [{"role": "user", "content": "x"}]
SHORT = {"max_tokens": 3, "max_completion_tokens": 3, "max_output_tokens": 3}
NEEDED = {"model", "stream", "prompt_cache_key", "safety_identifier", "messages", "input", "prompt", "max_tokens"}


@schemathesis.hook  # type: ignore[untyped-decorator]
def map_body(context: Any, body: Any) -> Any:
    path = context.operation.path
    if not isinstance(body, dict) or context.operation.method.upper() != "POST":
        return body
    body = body | {"model": "default"} | {name: most for name, most in SHORT.items() if name in body}
    if path == "/responses":
        body |= {"prompt_cache_key": "x", "safety_identifier": "x"}
    if path in {"/chat/completions", "/responses"}:
        body["stream"] = False
    kind = len(json.dumps(body, default=str)) % 3
    if kind:
        body |= {name: QUESTION for name in ("messages", "input") if name in body}
        body |= {"prompt": "x"} if path == "/completions" else {}
    if kind == 2:
        further = sorted(set(body) - NEEDED)[:1]
        body = {name: value for name, value in body.items() if name in NEEDED or name in further}
    return body
