"""A draft of other tokens than the main model's, in the real app: chosen, kept with another main model, cleared."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.system.paths import Paths
from app.view_models.model_list import DraftState, PairState
from tests.end2end.person import Person, qt_pointer, wait
from tests.helpers.tiny_models import build, byte_tokenizer, noised, qwen3_config, save, shuffled

ORDER = random.Random(5).sample(range(256), 256)


def make_models(folder: Path) -> dict[str, str]:
    """Two main models, and a draft that has the same tokens under other numbers."""
    large, small = qwen3_config(vocab_size=259, num_hidden_layers=4), qwen3_config(vocab_size=259)
    draft = shuffled(noised(build(small), small, noise=0.05), small, ORDER)
    made = {
        "First-4L": save(build(large, seed=1), large, folder / "First-4L"),
        "Second-4L": save(build(large, seed=2), large, folder / "Second-4L"),
        "Stranger-2L": save(draft, small, folder / "Stranger-2L", byte_tokenizer(ORDER)),
    }
    return {name: str(path) for name, path in made.items()}


def shows(person: Person, main: str, draft: str) -> bool:
    pair = person.application.models.pair
    states = (PairState.READY, DraftState.ACTIVE if draft else DraftState.NONE)
    return (pair.main_folder, pair.draft_folder, pair.state, pair.draft_state) == (main, draft, *states)


@pytest.mark.slow
def test_it_is_chosen_swapped_and_cleared_in_the_picker(tmp_path: Path, qtbot: QtBot) -> None:
    folders = make_models(tmp_path / "others")
    paths = Paths.for_user(tmp_path)
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.model_folders = "en", (str(tmp_path / "others"),)
    settings.main_folder, settings.draft_folder = folders["First-4L"], ""
    settings.speculation_mode, settings.max_tokens = "fixed", 24
    settings.save()
    person = Person(tmp_path, qt_pointer)
    try:
        wait(partial(shows, person, folders["First-4L"], ""))
        window = person.application.window
        person.click(window.header.chip)
        person.click_row(window.picker.panel.drafts, "Stranger 2L")  # stands there once the files were compared
        wait(partial(shows, person, folders["First-4L"], folders["Stranger-2L"]))
        person.click_row(window.picker.panel.mains, "Second 4L")
        wait(partial(shows, person, folders["Second-4L"], folders["Stranger-2L"]))
        window.picker.panel.close()
        person.ask("hello")
        stats = person.application.chats.transcript.messages[-1].stats
        assert stats is not None
        assert stats.drafted > 0
        person.click(window.header.chip)
        person.click_row(window.picker.panel.drafts, "No draft")
        wait(partial(shows, person, folders["Second-4L"], ""))
        person.click_row(window.picker.panel.mains, "First 4L")
        wait(lambda: person.application.models.pair.main_folder == folders["First-4L"])
        window.picker.panel.close()
    finally:
        person.leave()
