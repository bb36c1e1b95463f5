"""For the clients' own interpreter, which has nothing of Hunch: no import of it here or beside it in `with_*.py`."""

from __future__ import annotations

import os
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ADDRESS = os.environ.get("HOUSE", "")  # the starter pair, without a key
MODEL = os.environ.get("MODEL", "")
CALLER = os.environ.get("CALLER", "")  # a scripted model that calls tools, with a key
KEY = os.environ.get("KEY", "")
PATIENCE_S = 60.0

QUESTION = {"role": "user", "content": "What is a draft model?"}
LONG = {"role": "user", "content": "a b c " * 120_000}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@contextmanager
def refused(kind: type[Exception], **attributes: object) -> Iterator[None]:
    try:
        yield
    except kind as error:
        found = {name: getattr(error, name) for name in attributes}
        assert found == attributes, (found, error)
    else:
        raise AssertionError(f"no {kind.__name__}")


def wait_until_quiet() -> None:
    """Until the engine has no request any more: a client that has gone is noticed."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def quiet() -> bool:
        with opener.open(f"{ADDRESS}/metrics", timeout=PATIENCE_S) as answer:
            lines = answer.read().decode().splitlines()
        return {"hunch_requests_running 0.0", "hunch_requests_waiting 0.0"} <= set(lines)

    wait_for(quiet, "requests that nobody reads go on")


def wait_for(condition: Callable[[], bool], else_: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, else_
        time.sleep(0.1)
