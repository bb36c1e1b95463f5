"""The starter pair on this machine's GPU and CPU, alone, with its draft and in two processes: a line for each.

Run in .venv, as `python packaging/mac/on_metal.py`. Ends with 1 where a GPU writes other tokens with a draft or in two
processes than alone, or nothing at all. Whether the CPU writes the same is only said: it computes in float32.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "resources" / "starter"
_RUN = """
import runpy, sys, mlx.core as mx
mx.set_default_device(getattr(mx, sys.argv.pop(1)))
runpy.run_module("engine", run_name="__main__")
"""
_ASKED = ["--prompt", "What is speculative decoding?", "--temperature", "0", "--max-tokens", "120", "--json"]
_MOST_S = 300


def main() -> int:
    alone = tokens("gpu")
    print(f"GPU alone: {len(alone)} tokens" if isinstance(alone, list) else f"GPU alone: {alone}")
    compare("CPU alone, in float32", tokens("cpu"), alone)
    drafted = tokens("gpu", "--draft", str(STARTER / "draft"), "--speculate", "4")
    same = compare("GPU with its draft", drafted, alone)
    return 0 if compare("GPU in two processes", tokens("gpu", "--ranks", "2"), alone) and same else 1


def tokens(device: str, *more: str) -> list[int] | str:
    """Or why there are none."""
    command = [sys.executable, "-c", _RUN, device, "generate", "--model", str(STARTER / "main"), *more, *_ASKED]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_MOST_S)
    except subprocess.TimeoutExpired:
        return f"no end in {_MOST_S} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    found: list[int] = json.loads(done.stdout)["tokens"]
    return found


def compare(what: str, found: list[int] | str, alone: list[int] | str) -> bool:
    if isinstance(found, str) or isinstance(alone, str):
        print(f"{what}: {found if isinstance(found, str) else f'{len(found)} tokens'}")
        return False
    pairs = enumerate(zip(found, alone, strict=False), 1)
    parts = next((at for at, (one, other) in pairs if one != other), min(len(found), len(alone)) + 1)
    same = found == alone
    print(f"{what}: {'the same tokens' if same else f'other tokens from the {parts}. on'}")
    return same


if __name__ == "__main__":
    sys.exit(main())
