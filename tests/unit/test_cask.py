"""The cask: what it says of the image; `brew audit` looks at its form."""

from __future__ import annotations

import hashlib
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from platformdirs.macos import MacOS

from app.system.build import own_version
from app.system.bundle_files import IDENTIFIER
from app.system.paths import APP_NAME
from tests.architecture.project import ROOT

PAGE = "https://hunch.example"


@pytest.fixture(params=["", "notarized"])
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    monkeypatch.setattr(sys, "path", [str(ROOT / "packaging" / "mac"), *sys.path])
    (tmp_path / "Hunch.dmg").write_bytes(b"an image")
    address = f"{PAGE}/v#{{version}}/Hunch.dmg"
    written = str(import_module("cask").cask(tmp_path / "Hunch.dmg", address, PAGE, request.param))
    assert ("not notarized" in written) is not bool(request.param)
    return written


def test_it_says_what_the_image_is(written: str) -> None:
    for line in (
        f'version "{own_version()}"',
        f'sha256 "{hashlib.sha256(b"an image").hexdigest()}"',
        f'url "{PAGE}/v#{{version}}/Hunch.dmg"',
        f'uninstall quit: "{IDENTIFIER}"',
        "depends_on arch: :arm64",
        "depends_on macos: :sequoia",  # that or newer, as Info.plist's LSMinimumSystemVersion
    ):
        assert f"\n  {line}\n" in written


def test_what_it_removes_is_what_hunch_writes(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):  # of these tests
        monkeypatch.delenv(name, raising=False)
    known = MacOS(APP_NAME, appauthor=False)
    folders = {known.user_data_dir, known.user_cache_dir, known.user_log_dir}
    removed = re.findall(r'"(~/[^"]+)"', written)
    assert folders <= {str(Path(each).expanduser()) for each in removed}
    assert removed == sorted(removed)
