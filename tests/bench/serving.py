"""What the server costs, and what it brings beside mlx-lm's: over HTTP here, the engine in the same process."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from engine import Speculation
from tests.bench import pairs
from tests.bench.opponents import Ours, interleaved
from tests.bench.rows import LENGTH, Compared, Measure, Row, total_rate
from tests.bench.setup import BenchSetup
from tests.clients.servers import quick_model
from tests.helpers.ports import free_port, wait_for_answer
from tests.helpers.served import serving

MLX_LM = (
    "from engine.models.openblas import put_in_front; put_in_front(); from mlx_lm.server import main; main()"  # as ours
)
LONG_WORDS = 4200  # sentences of a prompt of 40,000 tokens


def posted(port: int, path: str, body: dict[str, Any]) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return answer


def server_overhead(setup: BenchSetup, runs: int) -> Row:
    """One client that streams, beside the same requests in this process; each is timed from asking to its end."""
    prompts = setup.guide[:4]
    with serving(setup.ours.engine) as server:
        rounds = interleaved(runs, partial(_streamed, server.port, prompts), partial(_in_process, setup.ours, prompts))
        return Compared(list(rounds)).row("server.overhead", "≥ 0.97")


def _streamed(port: int, prompts: Sequence[Sequence[int]]) -> float:
    body = {"model": "default", "max_tokens": LENGTH, "temperature": 0, "stream": True}
    tokens, asked = 0, time.perf_counter()
    for prompt in prompts:
        whole = body | {"prompt": list(prompt), "stream_options": {"include_usage": True}}
        events = [line for line in posted(port, "/v1/completions", whole) if line.startswith(b"data: {")]
        tokens += json.loads(events[-1][6:])["usage"]["completion_tokens"]
    return tokens / (time.perf_counter() - asked)


def _in_process(ours: Ours, prompts: Sequence[Sequence[int]]) -> float:
    return total_rate([ours.run(prompt, LENGTH, Speculation.auto()) for prompt in prompts])


def server_first_byte_ms(setup: BenchSetup, runs: int) -> Row:
    """From a request's last byte to the first of the answer's head; the prompt has 40,000 tokens and differs each time.

    It is rendered meanwhile, and counted later: it has fewer bytes than the context has tokens. Each comes when nothing
    else is to do: while the model is measured, or the prompt before is still encoded, a wait is up to a step longer.
    """
    ours, waits = Ours(quick_model(setup.folder / "quick")), []
    with serving(ours.engine) as server:
        for number in range(runs + 1):
            waits.append(_head_ms(server.port, number))
            ours.rest()
    ours.close()
    counted = waits[1:]
    return Row("server.first_byte_ms", statistics.median(counted), "ms", "≤ 50", "a prompt of 40,000 tokens", counted)


def _head_ms(port: int, number: int) -> float:
    text = " ".join(f"The word {at} of {number}." for at in range(LONG_WORDS))
    body = {"model": "default", "max_tokens": 1, "stream": True, "messages": [{"role": "user", "content": text}]}
    sent = json.dumps(body).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        connection.sendall(f"{head}content-length: {len(sent)}\r\n\r\n".encode() + sent)
        asked = time.perf_counter()
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        return 1000 * (time.perf_counter() - asked)  # closed now: its prompt is not read on


def server_batch4_noise15_vs_mlx_lm_server(setup: BenchSetup, runs: int) -> Row:
    return _batch4(setup, runs, 0.15, "≥ 1.3")


def server_batch4_noise40_vs_mlx_lm_server(setup: BenchSetup, runs: int) -> Row:
    return _batch4(setup, runs, 0.4, "≥ 1.0")


def _batch4(setup: BenchSetup, runs: int, noise: float, target: str) -> Row:
    """Four clients at once, ours with a draft as wrong as that, beside mlx-lm's server, which batches without only."""
    decode = setup.theirs.tokenizer.decode
    groups = [[decode(prompt) for prompt in setup.guide[at : at + 4]] for at in range(0, 8, 4)]
    setup.ours.set_draft(pairs.noised(setup.draft, setup.folder / f"served-{noise:g}", noise))
    drafted: list[float] = []
    with serving(setup.ours.engine) as ours, _mlx_lm(setup.main) as theirs:
        sides = partial(_four, ours.port, "default", groups, drafted), partial(_four, theirs, str(setup.main), groups)
        rounds = list(interleaved(runs, *sides))
    setup.ours.set_draft(setup.draft)
    detail = f", {statistics.mean(drafted or [0.0]):.2f} of the drafted tokens are accepted"
    return Compared(rounds).row(f"server.batch4_noise{100 * noise:.0f}.vs_mlx_lm_server", target, detail)


def _four(port: int, model: str, groups: Sequence[Sequence[str]], drafted: list[float] | None = None) -> float:
    """Tokens a second of all; nobody streams, so that only the engines differ. Their accept rates go into `drafted`."""

    def ask(prompt: str) -> int:
        body = {"model": model, "prompt": prompt, "max_tokens": LENGTH, "temperature": 0}
        answer = json.load(posted(port, "/v1/completions", body))
        if drafted is not None and (proposed := answer["timings"].get("draft_n")):
            drafted.append(answer["timings"]["draft_n_accepted"] / proposed)
        return int(answer["usage"]["completion_tokens"])

    asked = time.perf_counter()
    with ThreadPoolExecutor(4) as clients:
        tokens = sum(sum(clients.map(ask, group)) for group in groups)
    return tokens / (time.perf_counter() - asked)


@contextmanager
def _mlx_lm(main: Path) -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-c", MLX_LM, "--model", str(main), "--port", str(port), "--log-level", "ERROR"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_answer(f"http://127.0.0.1:{port}/health")
            yield port
        finally:
            process.terminate()


SERVING: tuple[Measure, ...] = (
    server_overhead,
    server_first_byte_ms,
    server_batch4_noise15_vs_mlx_lm_server,
    server_batch4_noise40_vs_mlx_lm_server,
)
