"""Options: limits, saving, damage, and the token's own file."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.settings import STARTER_TEMPERATURE, Settings
from engine import MAX_DRAFT_TOKENS, MAX_SEED, Sampling, Speculation

pytestmark = pytest.mark.usefixtures("qapp")


def make(folder: Path) -> Settings:
    return Settings(folder / "settings.json", folder / "hub_token")


def test_saved_values_come_back(tmp_path: Path) -> None:
    settings = make(tmp_path)
    settings.temperature = 0.3
    settings.model_folders = ("/a", "/b")
    settings.seed = MAX_SEED
    settings.save()
    again = make(tmp_path)
    assert (again.temperature, again.model_folders, again.seed) == (0.3, ("/a", "/b"), MAX_SEED)


def test_change_saves_by_itself(tmp_path: Path, qtbot: QtBot) -> None:
    settings = make(tmp_path)
    settings.language = "ko"
    qtbot.waitUntil(lambda: make(tmp_path).language == "ko")


def test_changed_tells_the_name_once(tmp_path: Path) -> None:
    settings = make(tmp_path)
    said: list[str] = []
    settings.changed.connect(said.append)
    settings.top_k = 5
    settings.top_k = 5
    settings.hub_token = "secret"
    assert said == ["top_k", "hub_token"]
    settings.save()


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("temperature", 9, 2.0),
        ("temperature", -1, 0.0),
        ("text_scale", 0.1, 0.85),
        ("speculation_tokens", 99, MAX_DRAFT_TOKENS),
        ("seed", -5, 0),
        ("seed", None, None),
        ("max_tokens", 0, 1),
    ],
)
def test_number_is_kept_within_its_limits(name: str, given: object, kept: object, tmp_path: Path) -> None:
    settings = make(tmp_path)
    setattr(settings, name, given)
    assert getattr(settings, name) == kept
    settings.save()


def test_value_that_cannot_be_is_refused(tmp_path: Path) -> None:
    settings = make(tmp_path)
    with pytest.raises(ValueError, match="purple"):
        settings.appearance = "purple"
    with pytest.raises(ValueError, match="nan"):
        settings.temperature = float("nan")
    assert settings.appearance == "auto"


@pytest.mark.expect_log("is not possible, the default is used")
def test_file_with_impossible_values_gives_defaults_for_those(tmp_path: Path) -> None:
    stored = {"appearance": "purple", "temperature": "hot", "sidebar_visible": "yes", "model_folders": [1], "top_k": 7}
    (tmp_path / "settings.json").write_text(json.dumps(stored))
    settings = make(tmp_path)
    assert (settings.appearance, settings.temperature, settings.sidebar_visible) == ("auto", 0.7, True)
    assert (settings.model_folders, settings.top_k) == ((), 7)


def test_unknown_keys_are_kept_for_the_version_that_knows_them(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"from_tomorrow": {"a": 1}, "top_k": 3}')
    settings = make(tmp_path)
    settings.top_k = 4
    settings.save()
    assert json.loads((tmp_path / "settings.json").read_text()) == {"from_tomorrow": {"a": 1}, "top_k": 4}


@pytest.mark.parametrize("damage", ['{"top_k": 3', "[]", "\0\0\0", ""])
@pytest.mark.expect_log("settings file is damaged")
def test_damaged_file_gives_defaults_and_is_kept_aside(damage: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(damage)
    settings = make(tmp_path)
    assert settings.top_k == 0
    assert (tmp_path / "settings.json.bad").read_text() == damage


@pytest.mark.expect_log("settings file is damaged")
def test_file_that_is_not_text_gives_defaults(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(b"\xff\xfe\x00{")
    assert make(tmp_path).top_k == 0


def test_token_is_for_the_owner_only_and_not_among_the_settings(tmp_path: Path) -> None:
    settings = make(tmp_path)
    settings.hub_token = "hf_secret"
    settings.save()
    assert stat.S_IMODE((tmp_path / "hub_token").stat().st_mode) == 0o600
    assert "hf_secret" not in (tmp_path / "settings.json").read_text()
    assert make(tmp_path).hub_token == "hf_secret"
    settings.hub_token = ""
    assert (settings.hub_token, (tmp_path / "hub_token").exists()) == ("", False)


def test_reset_gives_the_default_back(tmp_path: Path) -> None:
    settings = make(tmp_path)
    settings.system_prompt = "Be brief."
    settings.reset("system_prompt")
    assert settings.system_prompt == ""
    settings.save()


def test_requests_are_built_from_the_options(tmp_path: Path) -> None:
    settings = make(tmp_path)
    settings.temperature, settings.top_p, settings.top_k, settings.min_p = 0.1, 0.2, 3, 0.4
    settings.repetition_penalty, settings.seed = 1.5, 6
    settings.speculation_mode, settings.speculation_tokens = "fixed", 7
    assert settings.sampling() == Sampling(
        temperature=0.1, top_p=0.2, top_k=3, min_p=0.4, repetition_penalty=1.5, seed=6
    )
    assert settings.speculation() == Speculation.fixed(7)
    settings.save()
    QCoreApplication.processEvents()


def test_the_starter_pair_draws_with_little_chance_until_somebody_wants_more(tmp_path: Path) -> None:
    settings = make(tmp_path)
    assert settings.sampling().temperature == STARTER_TEMPERATURE
    settings.temperature = 1.1
    assert settings.sampling().temperature == 1.1
    settings.reset("temperature")
    settings.main_folder = "/models/Main-8B"
    assert settings.sampling().temperature == 0.7
    settings.save()
    QCoreApplication.processEvents()


def test_every_default_is_a_value_that_its_own_check_accepts() -> None:
    for option in Settings.options().values():
        assert option.check(option.default) == option.default
