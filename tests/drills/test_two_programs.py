"""Two programs on one models folder install, cancel, tidy up, stop and are killed in any order: a model is exact or
absent, and a last install leaves exactly the hub's files: of the version that was begun, if the hub still has it.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine import DownloadFinished
from tests.helpers.event_recorder import EventRecorder, QuickStore, tree
from tests.helpers.model_folders import model_files, safetensors
from tests.helpers.samples import fair
from tests.helpers.tinyhub import Fault, TinyHub

ROOT = Path(__file__).resolve().parents[2]
REPO = "org/tiny"
WEIGHTS = {"a.weight": ("F32", (512, 512))}
# Its patience is long because it is counted by the wall: at the lowest priority beside fifteen busy programs it gets a
# fraction of a second of processor time in a minute. Where it ends all the same, it says what its threads are at.
PROGRAM = """
import faulthandler, random, sys, time
from pathlib import Path
from tests.helpers.event_recorder import EventRecorder, QuickStore
dice = random.Random(int(sys.argv[3]))
store = QuickStore(Path(sys.argv[1]), sink=EventRecorder(), hub_cache=Path(sys.argv[1]) / "none", endpoint=sys.argv[2])
store.scan()
number = 0
for _ in range(6):
    act = dice.choice(("install", "install", "install", "cancel", "pause", "scan"))
    if act == "install":
        number = store.install("org/tiny")
    elif act == "scan":
        store.scan()
    elif number:
        getattr(store, act)(number)
    time.sleep(dice.random() * 0.1)
if not store.close(600):
    faulthandler.dump_traceback(all_threads=True)
    sys.exit(1)
"""


def _is_set_aside(root: Path, versions: list[dict[str, bytes]]) -> bool:
    """Killed between the two renames of an update, so that the model itself is absent: the next start puts it back."""
    formers = [tree(former) for former in (root / ".downloads").glob("*/former")]
    kept = [{name: data for name, data in former.items() if name != "hunch.json"} for former in formers]
    return not (root / REPO).exists() and len(kept) == 1 and kept[0] in versions


@pytest.mark.parametrize("seed", fair([*range(60), 1001], 1001, rest=pytest.mark.drill))
def test_any_order_of_two_programs(seed: int, tmp_path: Path) -> None:
    dice, hub = random.Random(seed), TinyHub()
    root = tmp_path / "models"
    versions = [model_files() | {"model.safetensors": safetensors(WEIGHTS, bytes([n]))} for n in (1, 2)]
    hub.add(REPO, versions[0])
    for _ in range(3):
        hub.faults[f"{REPO}/model.safetensors"] = Fault(times=dice.randrange(3), cut_after=dice.randrange(1_000_000))
        command = [sys.executable, "-c", PROGRAM, str(root), hub.endpoint]
        programs = [subprocess.Popen([*command, str(dice.random())[2:9]], cwd=ROOT) for _ in range(2)]
        for program in programs:
            kill = dice.random() < 0.5
            try:
                program.wait(dice.random() * 1.5 if kill else 700)
            except subprocess.TimeoutExpired:
                program.kill()
            assert program.wait() == 0 or kill, seed
        found = {name: data for name, data in tree(root / REPO).items() if name != "hunch.json"}
        assert found in ({}, *versions) or _is_set_aside(root, versions), (seed, sorted(found))
        hub.repositories[REPO] = dict(dice.choice(versions))
    if forgets := dice.random() < 0.5:
        hub.commits.clear()
    last = QuickStore(root, sink=(recorder := EventRecorder()), hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    end = recorder.end_of(last.install(REPO))
    assert last.close()
    assert isinstance(end, DownloadFinished), (seed, end)
    hub.close()
    left = {name: data for name, data in tree(root / REPO).items() if name != "hunch.json"}
    assert left == hub.repositories[REPO] if forgets else left in versions, seed
    assert not [path for path in (root / ".downloads").iterdir() if path.name.startswith("org")], seed
