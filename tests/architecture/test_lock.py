"""The list of what gets installed: every version fixed, every file known by its hash."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.project import ROOT

_LOCK = (ROOT / "packaging" / "requirements.lock").read_text(encoding="utf-8")
_LINUX = {"sys_platform": "linux", "platform_machine": "x86_64"}
_MAC = {"sys_platform": "darwin", "platform_machine": "arm64"}


def _entries() -> list[tuple[Requirement, int]]:
    joined = _LOCK.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [(Requirement(line.split("--hash")[0]), line.count("--hash=sha256:")) for line in lines]


def _versions(platform: dict[str, str]) -> dict[str, str]:
    chosen = [entry for entry, _ in _entries() if entry.marker is None or entry.marker.evaluate(platform)]
    return {canonicalize_name(entry.name): str(entry.specifier).removeprefix("==") for entry in chosen}


def test_every_entry_is_one_version_with_its_hashes() -> None:
    loose = [
        entry.name for entry, hashes in _entries() if not re.match(r"==[\w.]+$", str(entry.specifier)) or not hashes
    ]
    assert loose == []


def test_lock_meets_what_the_project_asks_for_on_both_platforms() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [Requirement(line) for line in project["project"]["dependencies"] + project["dependency-groups"]["dev"]]
    for platform in (_LINUX, _MAC):
        versions = _versions(platform)
        wanted = [one for one in asked if one.marker is None or one.marker.evaluate(platform)]
        unmet = [str(one) for one in wanted if versions[canonicalize_name(one.name)] not in one.specifier]
        assert unmet == []


def test_each_platform_gets_its_own_backend_and_neither_gets_torch() -> None:
    linux, mac = _versions(_LINUX), _versions(_MAC)
    assert ("mlx-cpu" in linux, "mlx-metal" in linux) == (True, False)
    assert ("mlx-cpu" in mac, "mlx-metal" in mac) == (False, True)
    assert "torch" not in linux | mac
    assert linux["pyside6-essentials"] == mac["pyside6-essentials"]
