"""locust, in an environment of its own, and installed where it is named: crowds, and what is left of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.clients.programs import Servers, addresses, run
from tests.clients.servers import Server

BIN = Path("build/locust/bin").resolve()
_CLIENTS = (1, 4, 16, 64, 64, 64)
_SECONDS = 15


def install() -> None:
    if not (BIN / "locust").exists():
        subprocess.run([sys.executable, "-m", "venv", BIN.parent], check=True)
        subprocess.run([BIN / "python", "-m", "pip", "install", "--quiet", "locust==2.47.0"], check=True)


def locust(servers: Servers) -> str:
    server, told, held = servers.pair, [], []
    for clients in _CLIENTS:
        before = ends(server)
        read, left, refused = crowd(servers, clients)
        server.wait_until_quiet()
        ended = ends(server) - before
        assert read <= ended <= 2 * (read + left), f"{ended} ends of {read} requests that were answered, {left} left"
        held.append((server.resident_bytes(), *server.threads_and_files()))
        counts = f"{clients}: {read} read, {left} left, {refused} refused, {ended} ends"
        told.append(f"{counts}, {held[-1][0] >> 20} MiB, {held[-1][1]} threads, {held[-1][2]} files")
    assert server.get("/health") is not None
    (memory, threads, files), last = held[-2], held[-1]
    assert last[0] <= 1.05 * memory, told
    assert last[1] <= threads, told
    assert last[2] <= files + 1, told
    return "; ".join(told)


def crowd(servers: Servers, clients: int) -> tuple[int, int, int]:
    """Requests whose answers were read, those that were left, and those that were too many."""
    file = Path(__file__).with_name("with_locust.py")
    amount = ["-u", clients, "-r", clients, "-t", f"{_SECONDS}s", "--stop-timeout", 120]
    command = [BIN / "locust", "-f", file, "--headless", "--skip-log", "--json", *amount]
    said = run(command, servers, addresses(servers) | {"PYTHONPATH": str(Path.cwd())})
    counts = {each["name"]: each["num_requests"] for each in json.loads(said)}
    return counts.get("read", 0), counts.get("left", 0), counts.get("refused", 0)


def ends(server: Server) -> int:
    return int(sum(value for name, value in server.figures().items() if name.startswith("hunch_requests_finished")))
