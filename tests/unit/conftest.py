"""What tests of the storage and of words begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale

from app.storage import Database, Stores
from tests.helpers.storage_owner import Owner


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.db"


@pytest.fixture
def stores(path: Path) -> Iterator[Stores]:
    with closing(Database(path)) as database:
        yield Stores(database)


@pytest.fixture
def owner(path: Path) -> Iterator[Owner]:
    owner = Owner(path)
    owner.open()
    yield owner
    owner.storage.close()


@pytest.fixture
def usual_locale() -> Iterator[None]:
    before = QLocale()
    yield
    QLocale.setDefault(before)
