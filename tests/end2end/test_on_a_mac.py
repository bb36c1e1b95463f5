"""The steps that a user with a Mac takes, of the real app: with stand-ins for macOS's programs alone."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.architecture.project import ROOT
from tests.as_mac.programs import put_programs


@pytest.mark.slow
def test_the_real_app_answers_what_the_steps_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How fast it is here is not judged."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging" / "mac"))
    command = importlib.import_module("on_a_mac")
    monkeypatch.setattr(command, "_WATCHED_S", 0.01)
    file = tmp_path / "report.md"
    steps = "mlx,start,ask,drafters,calibration,race,energy,ends"
    given = ["--of", "checkout", "--only", steps, "--report", str(file), "--minutes", "60"]
    command.main(given, root=put_programs(tmp_path))
    report = file.read_text(encoding="utf-8")
    states = dict(re.findall(r"(?m)^## (\w+), checkout: (.+)$", report))
    assert list(states) == steps.split(",")
    assert {states[name] for name in ("mlx", "ask", "drafters", "ends")} == {"seen"}, report
    for line in (
        r"- second start: window after [\d.]+ s, first token after [\d.]+ s, \d+ tokens/s, accept rate \d+%",
        r"- mtp: the same tokens, [\d.]+ tokens a pass, [\d.]+ on the CPU",
        r"- dspark: the same tokens, [\d.]+ tokens a pass",
        r"- two processes: the same tokens",
        r"- ms a forward by width: 1: [\d.]+, 2: .*, 17: .*, 33: ",
        r"- second beside first: width 1 ",
        r"- greedy: \d+ tokens/s without, \d+ with the draft",
        r"- \d+ tokens/s, \d+ after 0 s hidden",
    ):
        assert re.search(f"(?m)^{line}", report), (line, report)
    assert "question" not in report
