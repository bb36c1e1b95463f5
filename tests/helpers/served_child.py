"""`python -m tests.helpers.served_child DESCRIPTORS KEY`: a scripted engine, served with few of them.

It writes its port, logs to stderr, and ends with its input.
"""

from __future__ import annotations

import logging
import resource
import sys
from pathlib import Path

from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import MAIN, FakeEngine, Script
from tests.helpers.served import serving


def main(descriptors: str, key: str) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(descriptors), int(descriptors)))
    logging.basicConfig(level=logging.INFO)
    engine = FakeEngine()
    EngineClient(engine).load(Path(MAIN.folder))
    engine.scripts.extend([Script(pieces=("word " * 20_000,) * 20)] * 1000)
    with serving(engine, key=key or None, most_requests=10_000) as served:
        print(served.port, flush=True)  # noqa: T201
        sys.stdin.read()
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
