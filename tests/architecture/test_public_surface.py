"""The engine's public interface grows on purpose only: a new name is also written into engine_surface.txt."""

from __future__ import annotations

from pathlib import Path

import engine

_EXPECTED = Path(__file__).with_name("engine_surface.txt")


def test_the_public_interface_offers_exactly_the_listed_names() -> None:
    assert sorted(engine.__all__) == sorted(_EXPECTED.read_text(encoding="utf-8").split())


def test_every_listed_name_is_there() -> None:
    assert [name for name in engine.__all__ if not hasattr(engine, name)] == []
