"""Thousands of short turns in the real window with its real engine: what it holds comes to a height and stays there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE_MOST_BYTES = 64 << 20  # of a tiny model's 128 conversations

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def soak(folder: Path, turns: int, *options: str) -> list[dict[str, int]]:
    """What the window holds after each tenth of the turns."""
    command = [sys.executable, "-m", "tests.helpers.soak_window", str(folder), str(turns), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    for each in told:
        print(each)  # noqa: T201  the drill's report
    assert len(told) == 10
    return told


def least(told: list[dict[str, int]], what: str) -> tuple[int, int]:
    """The least of something in the first and in the second half, which grows where it piles up: by what is in sight,
    and how large, it goes up and down.
    """
    return min(each[what] for each in told[:5]), min(each[what] for each in told[5:])


@pytest.mark.drill
def test_thousands_of_turns_pile_nothing_up(tmp_path: Path) -> None:
    told = soak(tmp_path, turns=3000)
    for what, growth in (("widgets", 1.02), ("qt_objects", 1.02), ("python_blocks", 1.05), ("resident_bytes", 1.1)):
        before, after = least(told[1:], what)  # after some chats all is there that stays
        assert after < growth * before, f"{what}: {[each[what] for each in told]}"
    for what in ("threads", "descriptors"):
        before, after = least(told, what)
        assert after <= before, f"{what}: {[each[what] for each in told]}"
    assert told[-1]["cache_bytes"] < CACHE_MOST_BYTES


@pytest.mark.drill
def test_chats_that_stay_leave_little_in_memory(tmp_path: Path) -> None:
    """2,000 messages in 100 chats; of 64 the engine keeps what it has read in memory, so of those after 70."""
    told = soak(tmp_path, 1000, "--keep", "1", "--chat-turns", "10")
    sizes = [each["resident_bytes"] for each in told]
    assert told[-1]["chats"] == 100
    assert sizes[-1] < 1.05 * sizes[6], sizes
