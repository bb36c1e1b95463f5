"""What a Mac is asked for the folder of models, with a stand-in for its program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.hub import staging


def test_models_are_kept_from_backups_and_from_the_index_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, calls, models = tmp_path / "tmutil", tmp_path / "calls", tmp_path / "models"
    program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    program.chmod(0o755)
    models.mkdir()
    monkeypatch.setattr(staging, "TMUTIL", str(program))
    monkeypatch.setattr(sys, "platform", "linux")
    staging.keep_from_backups(models)
    assert not calls.exists(), "nothing of it on Linux"
    monkeypatch.setattr(sys, "platform", "darwin")
    for _ in range(2):
        staging.keep_from_backups(models)
    assert calls.read_text() == f"addexclusion {models}\n"
    assert (models / ".metadata_never_index").is_file()


def test_a_mac_without_that_program_tries_again_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "TMUTIL", str(tmp_path / "none"))
    monkeypatch.setattr(sys, "platform", "darwin")
    staging.keep_from_backups(tmp_path)
    assert list(tmp_path.iterdir()) == []
