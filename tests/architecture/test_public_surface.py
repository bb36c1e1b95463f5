"""The engine's public interface grows on purpose only: a new name is also written into engine_surface.txt."""

from __future__ import annotations

import ast
from pathlib import Path

import engine

_EXPECTED = Path(__file__).with_name("engine_surface.txt")


def test_the_public_interface_offers_exactly_the_listed_names() -> None:
    imports = ast.parse(Path(str(engine.__file__)).read_text(encoding="utf-8")).body[1:]
    offered = [name.name for statement in imports for name in getattr(statement, "names", ())]
    assert sorted(offered) == sorted(_EXPECTED.read_text(encoding="utf-8").split())
