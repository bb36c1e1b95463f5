"""The cask: what it says of the image, in the order and the words that Homebrew asks for; `brew audit` knows more."""

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
ORDER = [
    "version",
    "sha256",
    "url",
    "name",
    "desc",
    "homepage",
    "depends_on",
    "app",
    "binary",
    "uninstall",
    "zap",
    "caveats",
]


@pytest.fixture(params=["", "notarized"])
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    monkeypatch.setattr(sys, "path", [str(ROOT / "packaging" / "mac"), *sys.path])
    (tmp_path / "Hunch.dmg").write_bytes(b"an image")
    address = f"{PAGE}/v#{{version}}/Hunch.dmg"
    written = str(import_module("cask").cask(tmp_path / "Hunch.dmg", address, PAGE, request.param))
    assert ("not notarized" in written) is not bool(request.param)
    return written


def stanzas(cask: str) -> list[tuple[str, str]]:
    """Each with what it says. Raises where something is none, or not closed."""
    match = re.fullmatch(r'cask "hunch" do\n(.*)end\n', cask, re.DOTALL)
    assert match is not None
    found: list[tuple[str, str]] = []
    closing = ""
    for line in match[1].splitlines():
        if closing:
            name, said = found[-1]
            found[-1] = name, f"{said}\n{line.strip()}"
            closing = "" if line == closing else closing
        elif line:
            begun = re.fullmatch(r"  ([a-z0-9_]+) (\S.*)", line)
            assert begun is not None, line
            found.append((begun[1], begun[2]))
            closing = {"[": "  ]", "<<~EOS": "  EOS"}.get(begun[2].rpartition(" ")[2], "")
    assert not closing
    return found


def test_it_says_what_the_image_is(written: str) -> None:
    said = dict(stanzas(written))
    assert said["version"] == f'"{own_version()}"'
    assert said["sha256"] == f'"{hashlib.sha256(b"an image").hexdigest()}"'
    assert said["url"] == f'"{PAGE}/v#{{version}}/Hunch.dmg"'
    assert said["uninstall"] == f'quit: "{IDENTIFIER}"'
    assert "depends_on arch: :arm64\n" in written
    assert "depends_on macos: :sequoia\n" in written  # that or newer, as Info.plist's LSMinimumSystemVersion


def test_its_parts_are_in_homebrews_order_and_its_description_fits(written: str) -> None:
    names = [name for name, _ in stanzas(written)]
    assert names == sorted(names, key=ORDER.index)
    groups = [{line.split()[0] for line in group.splitlines()} for group in re.split(r"\n\n", written)[:3]]
    assert groups == [{"cask", "version", "sha256"}, {"url", "name", "desc", "homepage"}, {"depends_on"}]
    desc = dict(stanzas(written))["desc"].strip('"')
    assert len(desc) <= 80
    assert not re.search(r"(?i)^(an?|the) |hunch|\bmac|\.$", desc)


def test_what_it_removes_is_what_hunch_writes(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):  # of these tests
        monkeypatch.delenv(name, raising=False)
    known = MacOS(APP_NAME, appauthor=False)
    folders = {known.user_data_dir, known.user_cache_dir, known.user_log_dir}
    removed = re.findall(r'"(~/[^"]+)"', dict(stanzas(written))["zap"])
    assert folders <= {str(Path(each).expanduser()) for each in removed}
    assert removed == sorted(removed)
