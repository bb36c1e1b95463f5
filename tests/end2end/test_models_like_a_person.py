"""From nothing to a fast pair, as a person does it: with the real app, its windows and the mouse, and a hub nearby."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.end2end.models_scenario import live
from tests.end2end.person import qt_pointer
from tests.helpers.tinyhub import TinyHub


@pytest.mark.slow
def test_a_pair_is_installed_used_changed_and_deleted(tmp_path: Path, qtbot: QtBot) -> None:
    hub = TinyHub()
    try:
        live(tmp_path, hub, qt_pointer)
    finally:
        hub.close()
