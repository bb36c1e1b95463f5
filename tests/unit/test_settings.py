"""Options: limits, saving, damage, and the token's own file."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.chat_options import resolve
from app.controllers.pair_loading import Helpers, StarterPair
from app.settings import STARTER_EYES, STARTER_MOST_TOKENS, STARTER_TEMPERATURE, Settings, as_setting, from_setting
from app.storage.left_words import Left, LeftWords, UnsentFile
from app.storage.pair_records import PairRecords
from app.system.crash_marker import SessionMark
from app.views.shell.start_notices import not_saved
from engine import (
    MAX_DRAFT_TOKENS,
    MAX_SEED,
    LoadAborted,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelRole,
    Sampling,
    Speculation,
)
from tests.helpers.fake_engine import model_info

pytestmark = pytest.mark.usefixtures("qapp")


def make(folder: Path) -> Settings:
    return Settings(folder / "settings.json", folder / "hub_token")


def refuse() -> NoReturn:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def refuse_reads(disk: pytest.MonkeyPatch, name: str, times: int = 1_000) -> None:
    """The disk does not give the file of that name, so many times."""
    original, left = os.open, [times]

    def opened(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        if Path(path).name == name and not flags & (os.O_WRONLY | os.O_RDWR) and left[0]:
            left[0] -= 1
            refuse()
        return original(path, flags, *arguments, **options)

    disk.setattr(os, "open", opened)


def refuse_changes(disk: pytest.MonkeyPatch, name: str) -> None:
    """The disk neither replaces nor removes the file of that name."""
    replace, unlink = Path.replace, Path.unlink

    def replaced(path: Path, target: Path) -> Path:
        return refuse() if target.name == name else replace(path, target)

    def removed(path: Path, missing_ok: bool = False) -> None:
        refuse() if path.name == name else unlink(path, missing_ok)

    disk.setattr(Path, "replace", replaced)
    disk.setattr(Path, "unlink", removed)


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
        ("temperature", 0.0005, 0.0),
        ("temperature", 0.001, 0.001),
        ("top_p", 0.0, 0.01),
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
def test_impossible_values_are_replaced_and_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stored = {"appearance": "purple", "temperature": "hot", "sidebar_visible": "yes", "model_folders": [1], "top_k": 7}
    (tmp_path / "settings.json").write_text(json.dumps(stored))
    settings = make(tmp_path)
    assert (settings.appearance, settings.temperature, settings.sidebar_visible) == ("auto", 0.7, True)
    assert (settings.model_folders, settings.top_k) == ((), 7)
    assert "purple" not in caplog.text
    assert json.loads((tmp_path / settings.file.set_aside).read_text()) == stored  # the next save writes over the other
    assert settings.save()
    assert make(tmp_path).file.set_aside == ""


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("presets", [{"id": "a", "name": "A", "values": {"top_k": 3}}], [{"id": "b", "name": "B", "steps": [1]}]),
        ("prompts", [{"id": "a", "name": "A", "text": "Sum up", "icon": "x"}], [{"id": "b", "blocks": []}]),
        ("model_defaults", {"/m": {"top_k": 3}}, {"/n": [3]}),
        ("last_drafts", {"/m": "/n"}, {"/o": ["/p", "/q"]}),
    ],
)
@pytest.mark.expect_log("a part of setting")
def test_what_is_left_out_of_a_list_is_kept_aside(tmp_path: Path, name: str, right: Any, wrong: Any) -> None:
    """A preset of a newer version, say: the next save writes without it."""
    stored = {name: right + wrong if isinstance(right, list) else right | wrong}
    (tmp_path / "settings.json").write_text(json.dumps(stored))
    settings = make(tmp_path)
    assert json.loads(json.dumps(settings.values)) == {name: right}
    assert json.loads((tmp_path / settings.file.set_aside).read_text()) == stored
    assert settings.save()
    assert make(tmp_path).file.set_aside == ""


def test_an_address_that_is_completed_or_there_twice_is_not_set_aside(tmp_path: Path) -> None:
    stored = {"hub_mirrors": ["m.example", "https://m.example"], "hub_proxy": "p.example:80"}
    (tmp_path / "settings.json").write_text(json.dumps(stored))
    settings = make(tmp_path)
    assert (settings.hub_mirrors, settings.file.set_aside) == (("https://m.example",), "")


def test_unknown_keys_are_kept_for_the_version_that_knows_them(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"from_tomorrow": {"a": 1}, "top_k": 3}')
    settings = make(tmp_path)
    settings.top_k = 4
    settings.save()
    assert json.loads((tmp_path / "settings.json").read_text()) == {"from_tomorrow": {"a": 1}, "top_k": 4}


def test_a_mark_of_byte_order_in_front_is_no_damage(tmp_path: Path) -> None:
    """Some editors put one there."""
    (tmp_path / "settings.json").write_text('{"top_k": 4}', encoding="utf-8-sig")
    (tmp_path / "hub_token").write_text("hf_token", encoding="utf-8-sig")
    settings = make(tmp_path)
    assert (settings.top_k, settings.hub_token, settings.file.set_aside) == (4, "hf_token", "")


@pytest.mark.parametrize("damage", [b'{"top_k": 3', b"[]", b"\0\0\0", b"", b"\xff\xfe\x00{"])
@pytest.mark.expect_log("settings file is damaged")
def test_damaged_file_gives_defaults_and_is_kept_aside(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(damage)
    settings = make(tmp_path)
    assert settings.top_k == 0
    assert (tmp_path / settings.file.set_aside).read_bytes() == damage


@pytest.mark.expect_log("settings file is damaged")
def test_each_damaged_file_is_kept_under_a_name_of_its_own_and_only_the_last_few(tmp_path: Path) -> None:
    names = []
    for number in range(7):
        (tmp_path / "settings.json").write_text(f"damage {number}")
        names.append(make(tmp_path).file.set_aside)
    kept = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert kept == {names[number]: f"damage {number}" for number in range(2, 7)}


@pytest.mark.expect_log("settings file is damaged")
def test_the_last_damaged_file_is_kept_although_the_clock_was_set_back(tmp_path: Path) -> None:
    for year in range(2091, 2099):
        (tmp_path / f"settings-aside-{year}-01-01-000000-000000.json").write_text("earlier")
    (tmp_path / "settings.json").write_text("now")
    aside = make(tmp_path).file.set_aside
    assert (tmp_path / aside).read_text() == "now"
    assert len(list(tmp_path.glob("settings-aside-*.json"))) == 5


_STORED = {"system_prompt": "Be brief.", "presets": [{"id": "a", "name": "Mine", "values": {}}], "from_tomorrow": 1}


def test_a_read_that_fails_once_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.json").write_text(json.dumps(_STORED))
    refuse_reads(monkeypatch, "settings.json", times=2)
    settings = make(tmp_path)
    assert (settings.system_prompt, settings.file.is_unread, settings.file.set_aside) == ("Be brief.", False, "")
    assert [file.name for file in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.expect_log("settings cannot be read", "settings cannot be saved")
def test_a_file_that_cannot_be_read_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.json").write_text(json.dumps(_STORED))
    with monkeypatch.context() as disk:
        refuse_reads(disk, "settings.json")
        settings = make(tmp_path)
        assert (settings.system_prompt, settings.file.is_unread) == ("", True)
        settings.top_k = 3
        assert not settings.save()
    assert json.loads((tmp_path / "settings.json").read_text()) == _STORED
    assert [file.name for file in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.expect_log("settings cannot be read")
def test_a_file_that_can_be_read_again_takes_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.json").write_text(json.dumps(_STORED))
    with monkeypatch.context() as disk:
        refuse_reads(disk, "settings.json")
        settings = make(tmp_path)
    settings.system_prompt = "Be long."
    assert settings.save()
    settings.top_k = 3
    assert settings.save()
    assert json.loads((tmp_path / "settings.json").read_text()) == _STORED | {"system_prompt": "Be long.", "top_k": 3}
    (copy,) = tmp_path.glob("settings-aside-*.json")
    assert json.loads(copy.read_text()) == _STORED
    assert not make(tmp_path).file.is_unread


@pytest.mark.expect_log("settings file is damaged", "settings cannot be read", "settings cannot be saved")
def test_a_damaged_file_that_stays_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.json").write_text("{")
    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", lambda *_: refuse())
        settings = make(tmp_path)
        settings.top_k = 3
        assert not settings.save()
    assert (tmp_path / "settings.json").read_text() == "{"
    assert settings.save()
    assert (make(tmp_path).top_k, (tmp_path / settings.file.set_aside).read_text()) == (3, "{")


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


def test_what_comes_with_the_app_is_found_wherever_an_update_has_put_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (new / "eyes" / "main").mkdir(parents=True)
    (new / "main").mkdir()
    stored = as_setting(str(old / "eyes" / "main"), old / "main")
    assert from_setting(stored, new / "main") == str(new / "eyes" / "main")
    (new / "eyes" / "main").rmdir()  # the update has another
    assert from_setting(stored, new / "main") == str(new / "main")
    assert stored == STARTER_EYES
    assert as_setting("/models/Own", old / "main") == from_setting("/models/Own", new / "main") == "/models/Own"


def test_the_starter_pair_draws_with_little_chance_until_somebody_wants_more(tmp_path: Path) -> None:
    settings = make(tmp_path)
    assert settings.sampling().temperature == STARTER_TEMPERATURE
    assert resolve(settings).values["max_tokens"] == STARTER_MOST_TOKENS
    assert resolve(settings, {"max_tokens": 9}).values["max_tokens"] == 9
    assert resolve(settings, main="/models/Other").values["max_tokens"] is None
    settings.temperature = 1.1
    assert settings.sampling().temperature == 1.1
    settings.reset("temperature")
    settings.main_folder = "/models/Main-8B"
    assert settings.sampling().temperature == 0.7
    settings.save()


def test_every_default_is_a_value_that_its_own_check_accepts() -> None:
    for option in Settings.options().values():
        assert option.check(option.default) == option.default


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", "NaN", "1" * 400, "1" * 5000, "[" * 20_000 + "]" * 20_000])
@pytest.mark.parametrize("name", ["top_k", "temperature", "max_tokens", "from_tomorrow"])
@pytest.mark.expect_log("is not possible, the default is used", "settings file is damaged")
def test_numbers_and_depths_that_nobody_meant_do_no_harm(tmp_path: Path, name: str, value: str) -> None:
    (tmp_path / "settings.json").write_text(f'{{"{name}": {value}, "language": "ko"}}')
    settings = make(tmp_path)
    assert (settings.top_k, settings.temperature) in ((0, 0.7), (1000, 0.7), (0, 2.0))
    assert settings.language == "ko" or settings.file.set_aside
    assert settings.save()
    make(tmp_path)


def test_half_of_a_character_in_the_file_does_not_stop_saving(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"system_prompt": "\\ud83d"}')
    assert make(tmp_path).system_prompt == "?"  # nor is it in the way of what encodes it
    assert make(tmp_path).save()
    assert make(tmp_path).system_prompt == "?"


@pytest.mark.expect_log("settings file is damaged")
def test_a_folder_in_the_files_place_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "settings.json" / "inside").mkdir(parents=True)
    settings = make(tmp_path)
    settings.language = "ja"
    assert settings.save()
    assert (tmp_path / settings.file.set_aside / "inside").is_dir()
    assert make(tmp_path).language == "ja"


@pytest.mark.expect_log("settings cannot be saved", "settings cannot be read")
def test_settings_that_cannot_be_saved_hold_and_say_so_once(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "home").touch()  # a file where the folder should be
    settings = make(tmp_path / "home")
    said: list[None] = []
    settings.not_saved.connect(lambda: said.append(None))
    settings.language = "ko"
    settings.hub_token = "hf_secret"
    assert not settings.save()
    assert not settings.save()
    assert (settings.language, len(said)) == ("ko", 1)


@pytest.mark.expect_log("the settings cannot be saved")
def test_what_the_next_start_would_not_read_is_not_written(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make(tmp_path)
    settings.top_k = 4
    settings.save()
    monkeypatch.setattr("app.settings.MOST_BYTES", 10_000)
    settings.presets = ({"id": "a", "name": "Long", "values": {"system_prompt": "x" * 10_000}},)
    with qtbot.waitSignal(settings.not_saved):
        assert not settings.save()
    assert "too large" in not_saved(settings).hint
    assert (make(tmp_path).top_k, make(tmp_path).presets) == (4, ())
    settings.presets = ()
    with qtbot.waitSignal(settings.saved_after_all):
        assert settings.save()


@pytest.mark.expect_log("settings cannot be saved")
@pytest.mark.parametrize("token", ["hf_new", ""])
def test_a_refused_token_is_retried(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    """One that is taken away, too: it would be back at the next start. The other settings are stored meanwhile."""
    make(tmp_path).hub_token = "hf_old"
    settings = make(tmp_path)
    settings.language = "ko"
    with monkeypatch.context() as disk:
        refuse_changes(disk, "hub_token")
        with qtbot.waitSignal(settings.not_saved):
            settings.hub_token = token
        assert not settings.save()
    assert (make(tmp_path).hub_token, make(tmp_path).language) == ("hf_old", "ko")
    assert settings.save()
    assert make(tmp_path).hub_token == token


@pytest.mark.expect_log("what was measured of pairs cannot be read")
def test_pairs_that_cannot_be_read_are_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pairs.json"
    PairRecords(file, "here").put_off("Main", "Draft", off=True)
    refused: list[int] = []
    with monkeypatch.context() as disk:
        refuse_reads(disk, "pairs.json")
        records = PairRecords(file, "here", refused=lambda: refused.append(1))
        records.put_gain("Main", "Other", 1.5)
        records.try_again()
    assert len(refused) == 2
    assert PairRecords(file, "here").get("Main", "Draft").off
    records.put_gain("Main", "Third", 2.0)
    again = PairRecords(file, "here")
    assert (again.get("Main", "Draft").off, again.get("Main", "Other").gain) == (True, 1.5)


def test_words_for_a_later_start_stay_until_it_has_taken_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "unsent.txt"
    UnsentFile(file).add("of the first run")
    with monkeypatch.context() as disk:
        refuse_reads(disk, "unsent.txt")
        UnsentFile(file).add("of the second")
        assert UnsentFile(file).words() == ""
    assert UnsentFile(file).words() == "of the first run\n\nof the second"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    UnsentFile(file).forget()
    assert UnsentFile(file).words() == ""


def test_more_words_for_a_later_start_than_it_reads_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.left_words._MOST_BYTES", 200)
    waiting = UnsentFile(tmp_path / "unsent")
    waiting.add("Hello")
    with pytest.raises(OSError, match="too large"):
        waiting.add("x" * 200)
    assert waiting.words() == "Hello"
    left = LeftWords(tmp_path / "left.json")
    assert left.leave(Left({0: "Hello"}))
    before = (tmp_path / "left.json").read_bytes()
    assert (left.leave(Left({0: "x" * 200})), (tmp_path / "left.json").read_bytes()) == (False, before)


def test_a_mark_that_the_disk_does_not_give_stops_no_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "running").write_text("/models/a")
    with monkeypatch.context() as disk:
        refuse_reads(disk, "running", times=2)
        assert SessionMark(tmp_path / "running").was_loading == "/models/a"
    (tmp_path / "running").write_text("")
    with monkeypatch.context() as disk:
        disk.setattr(os, "stat", lambda *_, **__: refuse())
        assert not SessionMark(tmp_path / "running").was_loading


def test_only_the_end_of_the_load_under_way_takes_its_mark_away(tmp_path: Path) -> None:
    """Others may be refused meanwhile."""
    mark = SessionMark(tmp_path / "running")

    def seen() -> tuple[str, bool]:
        again = SessionMark(tmp_path / "running")
        return again.was_loading, again.was_draft

    mark.note(ModelLoading(ModelRole.MAIN, "/models/a"))
    mark.note(ModelFailed(ModelRole.MAIN, "/models/a", LoadAborted("/models/a"), began=False))
    mark.note(ModelFailed(ModelRole.DRAFT, "/models/a", LoadAborted("/models/a")))
    assert seen() == ("/models/a", False)
    mark.note(ModelReady(ModelRole.MAIN, model_info("/models/a")))
    assert seen() == ("", False)
    mark.note(ModelLoading(ModelRole.DRAFT, "/models/b"))
    assert seen() == ("/models/b", True)
    mark.note(ModelFailed(ModelRole.DRAFT, "/models/b", LoadAborted("/models/b")))
    assert seen() == ("", False)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"/models/a\nb", b"\0" * 100])
def test_a_damaged_mark_of_the_last_run_says_only_that_it_ended_badly(tmp_path: Path, mark: bytes) -> None:
    (tmp_path / "running").write_bytes(mark)
    session = SessionMark(tmp_path / "running")
    assert (session.ended_badly, session.was_loading) == (True, "")
    session.end()
    assert not (tmp_path / "running").exists()


def test_a_model_whose_name_has_another_space_is_known_after_a_crash(tmp_path: Path) -> None:
    SessionMark(tmp_path / "running").set_loading("/models/大きい\u3000モデル\u00a04")
    assert SessionMark(tmp_path / "running").was_loading == "/models/大きい\u3000モデル\u00a04"


def test_a_folder_in_the_marks_place_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "running").mkdir()
    session = SessionMark(tmp_path / "running")
    session.set_loading("/models/a")
    session.end()


@pytest.mark.parametrize("lacks", ["fingerprint", "address", "identity"])
def test_a_machine_that_helps_as_another_version_stores_it_keeps_no_model_from_loading(
    tmp_path: Path, lacks: str
) -> None:
    """Nor has the engine make a key in whatever folder the app runs in."""
    settings = make(tmp_path)
    helpers = Helpers(settings, StarterPair(tmp_path / "main", tmp_path / "draft"))
    stored = {"name": "Studio", "fingerprint": "ab", "address": "studio.local:1", "identity": str(tmp_path)}
    settings.helped_models = {"/large": stored, "/other": {name: stored[name] for name in stored if name != lacks}}
    assert [each.machine.fingerprint for each in helpers.of("/large")] == ["ab"]
    assert helpers.of("/other") == ()


def test_a_model_that_stays_when_all_is_reset_keeps_the_machine_that_helps_it(tmp_path: Path) -> None:
    """Without it the model would not fit at the next start."""
    settings = make(tmp_path)
    settings.main_folder, settings.helped_models = "/models/large", {"/models/large": {"name": "Studio"}}

    settings.reset_all()

    assert (settings.main_folder, list(settings.helped_models)) == ("/models/large", ["/models/large"])
