"""From nothing to a fast pair, as a person does it: with the real app, its windows and the mouse, and a hub nearby that
has the starter pair under the names of the pair that is recommended first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.application import STARTER
from app.settings import Settings
from app.system.paths import Paths
from app.view_models.downloads import DownloadEntry, DownloadState
from app.view_models.model_list import DraftState, PairState
from app.views.models.download_row import DownloadRow
from app.views.models.find import OfferRow
from app.views.models.view import ModelsView
from app.views.models.yours import ModelRow
from app.views.transcript.message_footer import MessageFooter
from app.views.widgets.dialog import Dialog
from app.views.widgets.labels import TextLabel
from app.words.model_names import human_name
from app.words.requests import RequestColumn
from tests.end2end.person import Person, qt_pointer
from tests.helpers.event_loop import until
from tests.helpers.tinyhub import Fault, TinyHub

OTHER = "org/Starter-DFlash"
HELD_BYTES = 200_000
QUESTION = "What is a draft model?"


def model(name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (STARTER / name).iterdir() if path.is_file()}


def prepare(folder: Path, hub: TinyHub) -> None:
    hub.add(OTHER, model("dflash"))
    paths = Paths.for_user(folder)
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.hub_endpoint = "en", hub.endpoint
    settings.main_folder = settings.draft_folder = ""
    settings.speculation_mode, settings.max_tokens = "fixed", 40  # it drafts whatever this machine measures
    settings.save()


@pytest.fixture
def hub() -> Iterator[TinyHub]:
    hub = TinyHub()
    yield hub
    hub.close()


@pytest.mark.slow
@pytest.mark.usefixtures("qtbot")
def test_a_pair_is_installed_used_changed_and_deleted(tmp_path: Path, hub: TinyHub) -> None:
    prepare(tmp_path, hub)
    person = Person(tmp_path, qt_pointer)
    main, draft = install_and_pause(person, hub)
    person.leave()
    person = Person(tmp_path, qt_pointer)
    try:
        resume_and_use(person, hub, f"{human_name(main)} + {human_name(draft)}")
        chat_and_look_at_rates(person)
        swap_the_draft(person, draft)
        delete_the_other(person, tmp_path)
    finally:
        person.leave()


def rows(view: ModelsView) -> list[DownloadRow]:
    return [row for row in view.findChildren(DownloadRow) if row.isVisible()]


def texts(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(TextLabel) if label.isVisible()]


def only_row(view: ModelsView) -> DownloadRow:
    until(lambda: rows(view))
    (row,) = rows(view)
    return row


def on_their_way(entry: DownloadEntry) -> list[str]:
    """The weights that have arrived in part."""
    weights = [file for file in entry.files if file.name.endswith("model.safetensors")]
    return [file.name for file in weights if 0 < file.done_bytes < file.total_bytes]


def install_and_pause(person: Person, hub: TinyHub) -> tuple[str, str]:
    view = person.open_models("Find")
    until(lambda: view.discover.recommended.findChildren(OfferRow))
    offered = view.discover.recommended.findChildren(OfferRow)[0]
    main, draft = offered.offer.main, offered.offer.draft
    for repository, name in ((main, "main"), (draft, "draft")):
        hub.add(repository, model(name))
        # Both halves hold still in the middle, so that both are seen on their way.
        hub.faults[f"{repository}/model.safetensors"] = Fault(times=1, hold_after=HELD_BYTES)
    person.click(offered.install_button)
    assert view.discover.isVisible()  # which shows it, too
    view = person.open_models("Yours")
    row, downloads = only_row(view), person.application.models.downloads
    assert row.name.text() == f"{human_name(main)} + {human_name(draft)}"
    until(lambda: downloads.entries[0].done_bytes > 2 * HELD_BYTES and downloads.entries[0].total_bytes)
    assert downloads.entries[0].state is DownloadState.RUNNING
    assert "of" in row.words.text()
    person.click(row.files_button)
    until(lambda: len(on_their_way(downloads.entries[0])) == 2)  # at the same time
    until(lambda: sum(text.endswith("model.safetensors") for text in texts(row.files)) == 2)
    person.click(row.go_button)
    until(lambda: row.words.text().startswith("Paused"))
    return main, draft


def resume_and_use(person: Person, hub: TinyHub, name: str) -> None:
    view = person.open_models("Yours")
    row, pair = only_row(view), person.application.models
    assert row.name.text() == name
    until(lambda: row.words.text().startswith("Paused"))
    person.click(row.go_button)
    until(row.use_button.isVisible)
    assert row.words.text() == "Installed"
    ranged = [seen for seen in hub.requests_for("model.safetensors") if "Range" in seen.headers]
    assert len(ranged) == 2  # each half went on where it was
    person.click(row.use_button)
    until(lambda: pair.pair.state is PairState.READY and pair.pair.draft_state is DraftState.ACTIVE)
    until(lambda: not pair.downloads.entries or not rows(view))


def chat_and_look_at_rates(person: Person) -> None:
    """Under the reply, and in the window of activity."""
    person.ask(QUESTION)
    stats = person.application.chats.transcript.messages[-1].stats
    assert stats is not None
    assert stats.generated_tokens > 0
    assert 0 < stats.accepted <= stats.drafted
    rate = f"{round(100 * stats.accepted / stats.drafted)}%"
    view = person.application.window.transcript
    assert view is not None
    until(lambda: any(rate in each.accessibleName() for each in view.findChildren(MessageFooter) if each.isVisible()))
    person.application.window.menu.activity.trigger()
    window = person.application.window.speculation.activity
    assert window is not None
    table = window.table
    until(table.isVisible)
    assert table.model().index(0, RequestColumn.ACCEPT_RATE).data() == rate


def swap_the_draft(person: Person, draft: str) -> None:
    """Another one is installed by its name and used; then the first again and the other again, by the picker."""
    view, pair = person.open_models("Find"), person.application.models
    person.click(view.discover.install.repository)
    QTest.keyClicks(view.discover.install.repository, OTHER)
    person.click(view.discover.install.install_button)
    assert view.discover.isVisible()
    view = person.open_models("Yours")
    row = only_row(view)
    until(row.use_button.isVisible)
    person.click(row.use_button)
    until(partial(drafts_with, person, "Starter-DFlash"))
    main, loaded = person.application.window, pair.main_info()
    for name in (draft.rpartition("/")[2], "Starter-DFlash"):
        person.click(main.header.chip)
        person.click_row(main.picker.drafts, human_name(name))
        until(partial(drafts_with, person, name))
        main.picker.close()
    assert pair.main_info() is loaded  # without loading the main model again


def drafts_with(person: Person, name: str) -> bool:
    pair = person.application.models.pair
    return pair.draft_folder.endswith(name) and pair.draft_state is DraftState.ACTIVE


def delete_the_other(person: Person, folder: Path) -> None:
    view, pair = person.open_models("Yours"), person.application.models

    def listed() -> list[ModelRow]:
        found = view.findChildren(ModelRow)
        return [
            row
            for row in found
            if row.isVisible() and human_name("Starter-DFlash") in row.delete_button.accessibleName()
        ]

    until(listed)
    person.click(listed()[0].delete_button)
    until(lambda: any(box.isVisible() for box in view.findChildren(Dialog)))
    (box,) = (each for each in view.findChildren(Dialog) if each.isVisible())
    person.click(box.act_button)
    until(lambda: not (folder / "data" / "models" / OTHER).exists())
    until(lambda: pair.pair.draft_state is DraftState.NONE)
    assert pair.pair.state is PairState.READY
