"""That a pair is off outlives restarts and other pairs; a gain is noted for the pair that had it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import application
from app.storage import pair_records
from app.storage.pair_records import PairRecords
from app.system.machine import machine_name
from app.system.paths import Paths
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, Script, model_info

OTHER = model_info("/models/Other-Draft-1B", parameters=700_000_000)
MODELS = {model.folder: model for model in (MAIN, DRAFT, OTHER)}


def records(paths: Paths) -> PairRecords:
    return PairRecords(paths.pairs, machine_name())


def gain_kept(app: AppHarness, qtbot: QtBot, draft: str) -> float | None:
    """Once another thread has written it."""
    qtbot.waitUntil(lambda: records(app.paths).get(MAIN.folder, draft).gain is not None)
    return records(app.paths).get(MAIN.folder, draft).gain


def choose_draft(app: AppHarness, folder: str, qtbot: QtBot) -> None:
    app.models.choose_draft(folder)
    pair = app.models
    qtbot.waitUntil(lambda: pair.pair.draft_folder == folder and pair.pair.draft_state != "loading")


def is_off(app: AppHarness) -> bool:
    return app.models.pair.off_for_pair


def test_a_pair_that_was_turned_off_is_off_after_a_restart_and_no_other_is(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, models=MODELS) as app:
        app.models.set_off_for_pair(True)
        choose_draft(app, OTHER.folder, qtbot)
        assert not is_off(app)
        choose_draft(app, DRAFT.folder, qtbot)
        assert is_off(app)
    with open_app(tmp_path, qtbot, models=MODELS) as app:
        assert is_off(app)
        app.ask(qtbot, "One?")
        assert app.engine.requests[-1].speculation.mode == "off"


def test_a_reply_that_two_drafts_shared_is_no_gain_of_either(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, models=MODELS) as app:
        app.ask(qtbot, "One?")
        choose_draft(app, DRAFT.folder, qtbot)
        gain_kept(app, qtbot, DRAFT.folder)
        app.engine.scripts.append(Script(("a",) * 12))
        app.engine.gate.hold()
        assert app.chats.send("Two?")
        app.engine.gate.let_through(6)
        qtbot.waitUntil(lambda: app.chats.transcript.messages[-1].text == "aaaaaa")
        app.models.choose_draft(OTHER.folder)
        app.engine.gate.open()
        app.wait_until_quiet(qtbot)
        assert records(app.paths).get(MAIN.folder, OTHER.folder).gain is None
        app.ask(qtbot, "Three?")
        gain_kept(app, qtbot, OTHER.folder)


def test_what_a_draft_gained_is_shown_where_drafts_are_chosen(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, models=MODELS) as app:

        def gain() -> float | None:
            found = next(each.gain for each in app.models.drafts_for_main() if each.model.folder == DRAFT.folder)
            return found.times if found is not None else None

        assert gain() is None
        app.ask(qtbot, "One?")
        assert gain_kept(app, qtbot, DRAFT.folder) == gain()


@pytest.mark.expect_log("is not kept")
def test_a_choice_that_the_disk_has_refused_is_kept_at_the_end(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(application, "RETRY_INTERVAL_MS", 2**31 - 1)

    def refused(_path: Path, _data: bytes, **_limit: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_app(tmp_path, qtbot, models=MODELS) as app:
        with monkeypatch.context() as disk:
            disk.setattr(pair_records, "write_atomically", refused)
            app.models.set_off_for_pair(True)
            qtbot.waitUntil(lambda: bool(caplog.records))  # it has been heard of
        assert not records(app.paths).get(MAIN.folder, DRAFT.folder).off
        app.close()
        assert records(app.paths).get(MAIN.folder, DRAFT.folder).off
