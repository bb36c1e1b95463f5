"""The token for the hub: in the keychain where there is one, else in a file for its owner; nowhere else."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from app.settings import Settings
from app.system.secrets import Secrets, system_keychain


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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hub_token"


def test_without_a_keychain_a_file_for_the_owner(file: Path) -> None:
    Secrets(file).keep("hf_canary")
    assert Secrets(file).token == "hf_canary"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    Secrets(file).keep("")
    assert (Secrets(file).token, file.exists()) == ("", False)


def test_with_a_keychain_no_file(file: Path) -> None:
    keychain = MemoryKeychain()
    Secrets(file, lambda: keychain).keep("hf_canary")
    assert not file.exists()
    assert Secrets(file, lambda: keychain).token == "hf_canary"
    Secrets(file, lambda: keychain).keep("")
    assert (Secrets(file, lambda: keychain).token, keychain.kept) == ("", {})
    Secrets(file, lambda: keychain).keep("")  # there is none to delete


def test_a_token_of_a_file_moves_into_the_keychain(file: Path) -> None:
    file.write_text("hf_canary\n")
    keychain = MemoryKeychain()
    assert Secrets(file, lambda: keychain).token == "hf_canary"
    assert (file.exists(), list(keychain.kept.values())) == (False, ["hf_canary"])


@pytest.mark.expect_log("keychain cannot be")
def test_a_locked_keychain_leaves_the_file_and_tells_nothing(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    keychain = MemoryKeychain(locked=True)
    with caplog.at_level(logging.DEBUG):
        assert Secrets(file, lambda: keychain).token == ""
        Secrets(file, lambda: keychain).keep("hf_canary")
        assert Secrets(file, lambda: keychain).token == "hf_canary"
    assert file.read_text() == "hf_canary"
    assert "hf_canary" not in caplog.text


@pytest.mark.parametrize("text", ["hf\x00a", "a" * 1001, "토큰", "a\nb", ""])
def test_what_is_no_token_is_none(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert Secrets(file).token == ""


@pytest.mark.usefixtures("qapp")  # settings are saved by a timer
def test_the_settings_file_never_holds_it(tmp_path: Path, file: Path) -> None:
    keychain = MemoryKeychain()
    settings = Settings(tmp_path / "settings.json", Secrets(file, lambda: keychain))
    settings.hub_token = "hf_canary"
    settings.hub_endpoint = "https://hub.test"
    settings.save()
    assert settings.hub_token == "hf_canary"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"hf_canary" in path.read_bytes()]


def test_a_system_without_keyring_has_no_keychain() -> None:
    assert system_keychain() is None
