"""The token for the hub: in the keychain where there is one, else in a file for its owner; nowhere else."""

from __future__ import annotations

import errno
import logging
import os
import stat
from pathlib import Path
from typing import NoReturn

import pytest

from app.settings import Settings
from app.system.secrets import Secrets, origin_of

HUB = "https://hub.test"
KEPT = '{"https://hub.test": "hf_canary"}'


class MemoryKeychain:
    """A keychain that may be locked."""

    def __init__(self, locked: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = locked

    def get_password(self, service: str, name: str) -> str | None:
        self._check()
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, password: str) -> None:
        self._check()
        self.kept[service, name] = password

    def delete_password(self, service: str, name: str) -> None:
        self._check()
        del self.kept[service, name]

    def _check(self) -> None:
        if self.locked:
            raise RuntimeError("hf_canary must not be told")


def refuse() -> NoReturn:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hub_token"


def put(secrets: Secrets, token: str, address: str) -> None:
    secrets.keep(token, address)
    secrets.write()


@pytest.mark.parametrize("keychain", [None, MemoryKeychain()], ids=["none", "one"])
def test_a_token_is_in_the_keychain_or_a_file_for_the_owner(file: Path, keychain: MemoryKeychain | None) -> None:
    put(Secrets(file, lambda: keychain), "hf_canary", HUB)
    assert Secrets(file, lambda: keychain).token_for(HUB) == "hf_canary"
    assert file.exists() is (keychain is None)
    assert keychain is not None or stat.S_IMODE(file.stat().st_mode) == 0o600
    for _ in range(2):  # then there is none to delete
        put(Secrets(file, lambda: keychain), "", HUB)
        assert (Secrets(file, lambda: keychain).token_for(HUB), file.exists()) == ("", False)
    assert keychain is None or keychain.kept == {}


def test_a_token_of_a_file_moves_into_the_keychain(file: Path) -> None:
    file.write_text("hf_canary\n")
    keychain = MemoryKeychain()
    assert Secrets(file, lambda: keychain).token_for(HUB) == "hf_canary"
    assert (file.exists(), list(keychain.kept.values())) == (False, [KEPT])


@pytest.mark.expect_log("keychain cannot be")
def test_a_locked_keychain_leaves_the_file_and_tells_nothing(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    keychain = MemoryKeychain(locked=True)
    with caplog.at_level(logging.DEBUG):
        assert Secrets(file, lambda: keychain).token_for(HUB) == ""
        put(Secrets(file, lambda: keychain), "hf_canary", HUB)
        assert Secrets(file, lambda: keychain).token_for(HUB) == "hf_canary"
    assert file.read_text() == KEPT
    assert "hf_canary" not in caplog.text


@pytest.mark.parametrize("text", ["hf\x00a", "a" * 1001, "토큰", "a\nb", ""])
def test_what_is_no_token_is_none(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert Secrets(file).token_for(HUB) == ""


def test_each_origin_has_a_token_of_its_own(file: Path) -> None:
    put(Secrets(file), "hf_canary", f"{HUB}/mirror")
    put(Secrets(file), "hf_other", "https://other.test")
    kept = Secrets(file)
    assert [kept.token_for(each) for each in (HUB, "HTTPS://Hub.Test:443/x", "https://other.test")] == [
        "hf_canary",
        "hf_canary",
        "hf_other",
    ]
    elsewhere = ("http://hub.test", f"{HUB}:8443", "https://hub.test.evil", "https://evil@hub.tests", "", "hub.test")
    assert [kept.token_for(each) for each in elsewhere] == [""] * len(elsewhere)
    put(kept, "", HUB)
    assert kept.origins(HUB) == ("https://other.test",)


def test_the_key_of_the_server_is_told_for_no_hub(file: Path) -> None:
    """And an earlier version's token stays with the hub, whichever of both is asked for first."""
    file.write_text("hf_canary\n")
    secrets = Secrets(file)
    assert secrets.server_key(HUB) == ""
    secrets.keep_server_key("hunch-key", HUB)
    secrets.write()
    kept = Secrets(file)
    assert (kept.server_key(HUB), kept.token_for(HUB), kept.token_for("")) == ("hunch-key", "hf_canary", "")
    assert kept.origins(HUB) == (HUB,)


@pytest.mark.usefixtures("qapp")  # settings are saved by a timer
@pytest.mark.expect_log("the keychain cannot be read")
def test_that_the_server_has_a_key_is_known_while_the_keychain_is_locked(file: Path) -> None:
    keychain = MemoryKeychain()

    def settings() -> Settings:
        return Settings(file.with_name("settings.json"), Secrets(file, lambda: keychain), writer=None)

    changed = settings()
    assert changed.required_key is None
    changed.server_key = "hunch-key"
    assert changed.save()
    keychain.locked = True
    locked = settings()
    locked.reset_all()
    assert locked.required_key == ""
    keychain.locked = False
    changed = settings()
    assert changed.required_key == "hunch-key"
    changed.server_key = ""
    assert changed.save()
    assert settings().required_key is None


@pytest.mark.expect_log("the file of the token cannot be read")
def test_a_file_that_cannot_be_read_is_not_written_over(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the first call of all gives or takes away a token."""
    put(Secrets(file), "hf_canary", HUB)
    giving, taking = Secrets(file), Secrets(file)
    with monkeypatch.context() as disk:
        disk.setattr("app.system.small_file.open_plain", lambda *_: refuse())
        with pytest.raises(OSError, match="Input"):
            put(giving, "hf_other", "https://other.test")
        put(taking, "", HUB)
        assert (giving.token_for("https://other.test"), giving.token_for(HUB)) == ("hf_other", "")
    taking.write()
    assert Secrets(file).token_for(HUB) == "hf_canary"
    giving.write()
    assert Secrets(file).origins(HUB) == (HUB, "https://other.test")


@pytest.mark.parametrize("keychain", [None, MemoryKeychain()], ids=["none", "one"])
def test_what_another_process_has_written_stays(file: Path, keychain: MemoryKeychain | None) -> None:
    one, other = Secrets(file, lambda: keychain), Secrets(file, lambda: keychain)
    put(one, "hf_canary", HUB)
    assert other.token_for(HUB) == "hf_canary"
    one.keep_tool_secret("notes", "grant", "", "first")
    put(one, "", HUB)
    put(other, "hf_other", "https://other.test")
    assert Secrets(file, lambda: keychain).origins("") == ("https://other.test",)

    other.keep_tool_secret("notes", "grant", "", "not written yet")
    assert other.replace_tool_secret("notes", "grant", "first", "late") == "not written yet"
    third = Secrets(file, lambda: keychain)
    assert third.replace_tool_secret("notes", "grant", "not written yet", "last") == "last"
    assert one.replace_tool_secret("notes", "grant", "first", "late") == "last"
    put(one, "hf_canary", HUB)
    assert Secrets(file, lambda: keychain).tool_secret("notes", "grant", "") == "last"


@pytest.mark.expect_log("keychain cannot be")
@pytest.mark.parametrize("unlocked", ["before it is written", "after it is written"])
def test_a_keychain_that_is_locked_at_first_keeps_what_it_has(file: Path, unlocked: str) -> None:
    keychain = MemoryKeychain()
    put(Secrets(file, lambda: keychain), "hf_canary", HUB)
    keychain.locked = True
    secrets = Secrets(file, lambda: keychain)
    secrets.keep("hf_other", "https://other.test")
    keychain.locked = unlocked == "after it is written"
    secrets.write()
    keychain.locked = False
    assert Secrets(file, lambda: keychain).origins(HUB) == (HUB, "https://other.test")
    assert not file.exists()


def test_a_token_that_was_refused_is_written_with_the_next(file: Path) -> None:
    secrets = Secrets(file)
    file.mkdir()
    for token, address in (("hf_canary", HUB), ("hf_other", "https://other.test")):
        with pytest.raises(IsADirectoryError):
            put(secrets, token, address)
    file.rmdir()
    secrets.write()
    assert Secrets(file).origins(HUB) == (HUB, "https://other.test")


@pytest.mark.parametrize("in_keychain", [False, True])
def test_a_token_of_an_earlier_version_belongs_to_the_address_it_was_used_for(file: Path, in_keychain: bool) -> None:
    keychain = MemoryKeychain()
    if in_keychain:
        keychain.kept["Hunch", "hub token"] = "hf_canary"
    else:
        file.write_text("hf_canary\n")
    find = (lambda: keychain) if in_keychain else (lambda: None)
    assert Secrets(file, find).token_for(HUB) == "hf_canary"
    later = Secrets(file, find)
    assert (later.token_for("https://other.test"), later.token_for(HUB)) == ("", "hf_canary")


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("", "https://huggingface.co"),
        ("http://[::1]:80/a", "http://[::1]"),
        ("https://me:pass@hub.test", HUB),
        ("https://hub.test:x", "https://hub.test:x"),
        ("not an address", "not an address"),
    ],
)
def test_an_origin_is_scheme_host_and_port(address: str, origin: str) -> None:
    assert origin_of(address) == origin


@pytest.mark.usefixtures("qapp")  # settings are saved by a timer
def test_the_settings_file_never_holds_it(tmp_path: Path, file: Path) -> None:
    keychain = MemoryKeychain()
    settings = Settings(tmp_path / "settings.json", Secrets(file, lambda: keychain))
    settings.hub_endpoint = HUB
    settings.hub_token = "hf_canary"
    settings.save()
    assert settings.hub_token == "hf_canary"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"hf_canary" in path.read_bytes()]


def test_what_the_next_start_would_not_know_as_a_token_is_not_kept(file: Path) -> None:
    secrets = Secrets(file)
    put(secrets, "hf_canary", HUB)
    for odd in ("x" * 1001, "pässword", "two\nlines"):
        put(secrets, odd, HUB)
        assert (secrets.token_for(HUB), Secrets(file).token_for(HUB)) == ("hf_canary", "hf_canary")
