"""What tests of the storage begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import Database, Stores


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.db"


@pytest.fixture
def stores(path: Path) -> Iterator[Stores]:
    with closing(Database(path)) as database:
        yield Stores(database)
