"""`make clients`: our server used by programs that others wrote, which are installed for this alone.

The real server runs over the starter pair, and over a script where a model must call tools. Each program gets a line;
the end is status 1 where one of them failed. `ARGS` names those to run; the agents, which need npm, run only where
they are named. `mcp` is the other way around: tool servers of others, used by our tool host. `bfcl` asks a real model,
ours and mlx-lm's, what Berkeley's leaderboard asks about calls.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.clients import browser
from tests.clients.agents import AGENTS, install
from tests.clients.npm import node
from tests.clients.programs import Servers, comply, curl, promtool, python, schemathesis, words
from tests.clients.servers import agents_server, pair_server, scripted_server
from tests.clients.tool_servers import TOOL_SERVERS

OUT = Path("build/clients")
REAL = Path("build/real-pair/draft")

PROGRAMS: dict[str, Callable[[Servers], str]] = {
    "comply-openai": partial(comply, "openai-chat"),
    "comply-anthropic": partial(comply, "anthropic"),
    "comply-responses": partial(comply, "open-responses"),
    "openai": partial(python, "with_openai"),
    "openai-node": partial(node, "with_openai"),
    "anthropic": partial(python, "with_anthropic"),
    "anthropic-node": partial(node, "with_anthropic"),
    "gemini": partial(python, "with_gemini"),
    "ollama": partial(python, "with_ollama"),
    "litellm": partial(python, "with_litellm"),
    "llm": words,
    "curl": curl,
    "schemathesis-openai": partial(schemathesis, "openai", ("/chat/completions", "/completions", "/responses")),
    "schemathesis-anthropic": partial(schemathesis, "anthropic", ("/v1/messages", "/v1/messages/count_tokens")),
    "promtool": promtool,
    "browser": browser.pages,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    everything = PROGRAMS | AGENTS
    parser.add_argument(
        "names", nargs="*", help=f"'agents', 'mcp', 'bfcl', or of {', '.join((*everything, *TOOL_SERVERS))}"
    )
    parser.add_argument("--models", nargs="+", metavar="FOLDER", default=[], help="the agents': main, draft; bfcl's")
    parser.add_argument("--questions", type=int, default=24, help="bfcl: how many are really answered, by both")
    arguments = parser.parse_args()
    names = arguments.names or list(PROGRAMS)
    groups: dict[str, list[str]] = {"agents": list(AGENTS), "mcp": list(TOOL_SERVERS)}
    names = [each for name in names for each in groups.get(name, [name])]
    asked = partial(_bfcl, Path(arguments.models[0]) if arguments.models else REAL, arguments.questions)
    apart = TOOL_SERVERS | {"bfcl": asked}
    failed = sum(not _tell(name, apart[name]) for name in names if name in apart)
    names = [name for name in names if name not in apart]
    if not names:
        return 1 if failed else 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        agents = any(name in AGENTS for name in names)
        if agents:
            install()
        log = OUT / "pair.log"
        served = agents_server(folder, log, *arguments.models) if agents else pair_server(folder, log)
        pair = stack.enter_context(served)
        caller = stack.enter_context(scripted_server(OUT / "caller.log"))
        for name in names:
            failed += not _tell(name, partial(everything[name], Servers(pair, caller, folder)))
    return 1 if failed else 0


def _bfcl(model: Path, questions: int) -> str:
    """In a process of its own, because OpenBLAS has to be loaded before MLX."""
    if not model.is_dir():
        return f"not measured: no model in {model}"
    ended = subprocess.run([sys.executable, "-m", "tests.clients.bfcl", model, str(questions)], check=False)
    assert ended.returncode == 0, f"status {ended.returncode}"
    return f"{model}: as mlx-lm"


def _tell(name: str, show: Callable[[], str]) -> bool:
    started = time.monotonic()
    try:
        told, works = show(), True
    except Exception as error:  # noqa: BLE001  a program's line, whatever it is
        told, works = str(error) if isinstance(error, AssertionError) else traceback.format_exc(), False
    print(f"{'works' if works else 'FAILS'}  {name:24} {told}  ({time.monotonic() - started:.0f} s)", flush=True)
    return works


if __name__ == "__main__":
    sys.exit(main())
