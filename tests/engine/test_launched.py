"""mlx's own launcher starts the engine on two machines, here both are this one: rank 0 writes, the other follows."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.machines.launched import launched_place, launched_size
from tests.helpers.engine_client import PATIENCE_S
from tests.helpers.ranks import processes_below, rank_folder
from tests.helpers.tiny_models import VOCABULARY

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = Path(sys.executable).parent / "mlx.launch"


def test_only_a_host_file_of_two_makes_a_member_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLX_RANK", "1")
    assert (launched_size(), launched_place()) == (1, None)
    for hosts, place in ((["a"], None), (["a", "b"], 1)):
        (tmp_path / "hosts").write_text(json.dumps(hosts))
        monkeypatch.setenv("MLX_HOSTFILE", str(tmp_path / "hosts"))
        assert launched_place() == place
    monkeypatch.delenv("MLX_RANK")
    assert launched_place() is None
    monkeypatch.setenv("MLX_RANK", "1")
    monkeypatch.setenv("MLX_HOSTFILE", str(tmp_path / "none"))
    assert launched_place() is None


def test_under_the_launcher_one_model_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hosts").write_text('["a", "b"]')
    monkeypatch.setenv("MLX_HOSTFILE", str(tmp_path / "hosts"))
    monkeypatch.setenv("MLX_RANK", "0")
    with pytest.raises(SystemExit) as end:
        main(["serve", "--model", "x", "--models", "y"])
    assert end.value.code == 2
    monkeypatch.setenv("MLX_RANK", "1")
    assert main(["machines", "--identity", str(tmp_path / "machines")]) == 0  # has no model to follow with


def two_free_ports() -> int:
    """The first of two in a row."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as one, suppress(OSError, OverflowError):
            port: int = one.getsockname()[1]
            socket.create_server(("127.0.0.1", port + 1)).close()
            return port


@pytest.mark.slow
def test_the_launcher_of_mlx_starts_both(tmp_path: Path) -> None:
    main, draft = rank_folder("qwen2", tmp_path, vocab_size=VOCABULARY)
    asked = ["--model", str(main), "--tokens", "[1,2,3]", "--temperature", "0", "--max-tokens", "16", "--json"]
    engine = [sys.executable, "-m", "engine", "generate", *asked]
    launched = [
        str(LAUNCH),
        "-n",
        "2",
        "--backend",
        "ring",
        "--starting-port",
        str(two_free_ports()),
        "--cwd",
        str(ROOT),
    ]

    def tokens(command: list[str]) -> list[int]:
        told = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=5 * PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        (line,) = [line for line in told.stdout.splitlines() if line.startswith("{")] or [told.stderr]
        found: list[int] = json.loads(line)["tokens"]
        return found

    alone = tokens([*engine, "--ranks", "2", "--tensor"])
    assert tokens([*launched, *engine, "--draft", str(draft)]) == alone
    assert len(alone) == 16
    assert processes_below(os.getpid()) == []
