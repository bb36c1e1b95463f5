"""The rule of tests/conftest.py: no warning or error of ours is logged unless the test expects it."""

from __future__ import annotations

import logging

import pytest

from tests.conftest import LogTrap


@pytest.mark.parametrize(
    ("level", "expected", "kept"),
    [
        (logging.INFO, [], []),
        (logging.WARNING, [], ["WARNING engine.x: the disk is full"]),
        (logging.ERROR, ["memory"], ["ERROR engine.x: the disk is full"]),
        (logging.ERROR, ["memory", "disk is"], []),
    ],
)
def test_trap_keeps_what_is_unexpected(level: int, expected: list[str], kept: list[str]) -> None:
    trap = LogTrap(expected)
    logger = logging.Logger("engine.x")
    logger.addHandler(trap)
    logger.log(level, "the %s is full", "disk")
    assert trap.kept == kept


@pytest.mark.expect_log("only this")
def test_trap_listens_to_the_app_and_the_engine() -> None:
    for name in ("app", "engine"):
        traps = [handler for handler in logging.getLogger(name).handlers if isinstance(handler, LogTrap)]
        assert [trap.expected for trap in traps] == [["only this"]]
