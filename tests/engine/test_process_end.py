"""A process that ends while its engine works, as after Ctrl-C: the engine ends first, or MLX aborts the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.engine.conftest import Zoo

ROOT = Path(__file__).resolve().parents[2]
_RUN = """
import sys, threading
from pathlib import Path
from engine import Engine, Request, Sampling, TextDelta
from tests.helpers.engine_client import EngineClient
engine, writes = Engine(), threading.Event()
EngineClient(engine).load(Path(sys.argv[1]))
def sink(event):
    writes.set() if isinstance(event, TextDelta) else print(type(event).__name__, flush=True)
endless = Sampling(temperature=0.7, logit_bias=((257, -100.0),))
engine.submit(Request(tokens=(5, 6, 7), sampling=endless, max_tokens=1900), sink)
writes.wait(60)
raise KeyboardInterrupt
"""


def test_a_process_that_ends_ends_its_engine(zoo: Zoo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(zoo.main)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.split()[-1] == "Finished"
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert done.returncode in (1, 130, -2)  # as Python ends after one
