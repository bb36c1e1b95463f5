"""For locust: clients of all dialects, of which a third hangs up at random; every answer that is read is whole."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import requests
from locust import HttpUser, constant, task

from tests.clients.proof import ADDRESS, PATIENCE_S


def _chat(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "/v1/chat/completions": _chat,
    "/v1/completions": lambda text: {"prompt": text, "n": 2},
    "/v1/messages": _chat,
    "/v1/responses": lambda text: {"input": text, "max_output_tokens": 16},
    "/api/chat": lambda text: _chat(text) | {"options": {"num_predict": 12}},
}
PIECE = 64
ENDS = ("[DONE]", "message_stop", "response.completed", "response.incomplete", '"done":true')


def leave(answer: requests.Response) -> None:
    """After some pieces, or after none."""
    with suppress(requests.RequestException):
        for _ in zip(range(random.randrange(8)), answer.iter_content(PIECE), strict=False):
            pass
    answer.close()


class Client(HttpUser):  # type: ignore[misc]
    host = ADDRESS
    wait_time = constant(0)

    @task  # type: ignore[untyped-decorator]
    def ask(self) -> None:
        path, shape = random.choice(list(SHAPES.items()))
        text = "word " * random.choice((1, 5, 50, 300)) + str(random.random())
        body = shape(text) | {"model": "default", "max_tokens": random.choice((1, 8, 40))}
        body["stream"] = streamed = random.random() < 0.6
        leaves = random.random() < 1 / 3
        patience = random.random() if leaves else 10 * PATIENCE_S
        name = "left" if leaves else "read"
        with self.client.post(path, json=body, name=name, stream=True, catch_response=True, timeout=patience) as answer:
            if leaves:
                if answer.raw is not None:  # else it has left before the head came
                    leave(answer)
                answer.success()
            elif answer.status_code == 429:
                answer.request_meta["name"] = "refused"
                answer.success()
                time.sleep(float(answer.headers["retry-after"]))
            elif answer.status_code != 200:
                answer.failure(f"{path}: {answer.status_code} {answer.text[:200]}")
            elif streamed and not any(end in answer.text.replace('": ', '":')[-2000:] for end in ENDS):
                answer.failure(f"{path} ends with {answer.text[-200:]!r}")
            else:
                answer.success()
