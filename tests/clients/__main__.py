"""`make clients`: our server used by programs that others wrote, which are installed for this alone.

The real server runs over the starter pair, and over a script where a model must call tools. Each program gets a line;
the end is status 1 where one of them failed. `ARGS` names those to run; the agents run only where they are named, and
need Node.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.clients.agents import AGENTS, install
from tests.clients.houses import agents_house, pair_house, scripted_house
from tests.clients.programs import Houses, comply, curl, promtool, python, schemathesis, words

OUT = Path("build/clients")

PROGRAMS: dict[str, Callable[[Houses], str]] = {
    "comply-openai": partial(comply, "openai-chat"),
    "comply-anthropic": partial(comply, "anthropic"),
    "comply-responses": partial(comply, "open-responses"),
    "openai": partial(python, "with_openai"),
    "anthropic": partial(python, "with_anthropic"),
    "ollama": partial(python, "with_ollama"),
    "litellm": partial(python, "with_litellm"),
    "openai-agents": partial(python, "with_openai_agents"),
    "llm": words,
    "curl": curl,
    "schemathesis-openai": partial(schemathesis, "openai", ("/chat/completions", "/completions", "/responses")),
    "schemathesis-anthropic": partial(schemathesis, "anthropic", ("/v1/messages", "/v1/messages/count_tokens")),
    "promtool": promtool,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    everything = PROGRAMS | AGENTS
    parser.add_argument("names", nargs="*", help=f"'agents', or of {', '.join(everything)}")
    names = parser.parse_args().names or list(PROGRAMS)
    names = [each for name in names for each in (AGENTS if name == "agents" else [name])]
    failed = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        agents = any(name in AGENTS for name in names)
        if agents:
            install()
        house = agents_house if agents else pair_house
        pair = stack.enter_context(house(folder, OUT / "pair.log"))
        caller = stack.enter_context(scripted_house(OUT / "caller.log"))
        for name in names:
            failed += not _tell(name, everything[name], Houses(pair, caller, folder))
    return 1 if failed else 0


def _tell(name: str, show: Callable[[Houses], str], houses: Houses) -> bool:
    started = time.monotonic()
    try:
        told, works = show(houses), True
    except Exception as error:  # noqa: BLE001  a program's line, whatever it is
        told, works = str(error) if isinstance(error, AssertionError) else traceback.format_exc(), False
    print(f"{'works' if works else 'FAILS'}  {name:24} {told}  ({time.monotonic() - started:.0f} s)", flush=True)
    return works


if __name__ == "__main__":
    sys.exit(main())
