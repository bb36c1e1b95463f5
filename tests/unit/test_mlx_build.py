"""Which build of MLX a Mac imports, on systems that are made up."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from app.system.build import libraries
from engine.models import mlx_build


def on_darwin(monkeypatch: pytest.MonkeyPatch, release: str, wheel: str = "macosx_15_0_arm64") -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "release", lambda: release)
    monkeypatch.setattr(mlx_build, "wheel", lambda: wheel)


@pytest.mark.parametrize(
    ("release", "name"),
    [("23.4.0", "macOS 14.4"), ("24.6.0", "macOS 15.6"), ("25.2.0", "macOS 26.2"), ("26.0.0", "macOS 27.0")],
)
def test_a_mac_s_version_is_its_own_whatever_python_is_told(
    monkeypatch: pytest.MonkeyPatch, release: str, name: str
) -> None:
    on_darwin(monkeypatch, release)
    monkeypatch.setattr(platform, "mac_ver", lambda: ("16.0", ("", "", ""), "arm64"))
    assert mlx_build.system_name() == name


@pytest.mark.parametrize(("release", "is_taken"), [("24.6.0", False), ("25.1.0", False), ("25.2.0", True)])
def test_the_second_build_is_imported_where_it_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, release: str, is_taken: bool
) -> None:
    on_darwin(monkeypatch, release)
    monkeypatch.setattr(sys, "path", list(sys.path))
    mlx_build.prefer_newest(tmp_path / "none")
    for _ in range(2):
        mlx_build.prefer_newest(tmp_path)
    assert sys.path.count(str(tmp_path)) == is_taken
    assert (sys.path[0] == str(tmp_path)) is is_taken
    assert str(tmp_path / "none") not in sys.path


def test_every_process_prefers_it_before_it_imports_mlx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever else of the engine it begins with."""
    (tmp_path / "lib" / mlx_build.FOR_MACOS_26.name).mkdir(parents=True)
    first = (
        "import sys, platform; sys.prefix = sys.argv[1]; sys.platform = 'darwin'; platform.release = lambda: '25.2.0'"
    )
    then = "import engine.api; assert 'mlx.core' not in sys.modules; print(sys.path[0])"
    command = [sys.executable, "-c", f"{first}; {then}", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == str(tmp_path / "lib" / mlx_build.FOR_MACOS_26.name)


def test_about_says_which_one_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    on_darwin(monkeypatch, "25.2.0", "macosx_26_0_arm64")
    monkeypatch.setattr("app.system.build.mlx_wheel", mlx_build.wheel)
    assert libraries()["MLX"].endswith(" (macosx_26_0_arm64)")


def test_what_is_compiled_comes_from_the_second_build_and_the_rest_from_the_first(tmp_path: Path) -> None:
    """As `mlx` is: a package without an __init__.py."""
    for build in ("first", "second"):
        (tmp_path / build / "mlx_like").mkdir(parents=True)
        (tmp_path / build / "mlx_like" / "core.py").write_text(f"BUILD = {build!r}")
    (tmp_path / "first" / "mlx_like" / "nn.py").write_text("from mlx_like.core import BUILD")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path / "second"), str(tmp_path / "first"), *sys.path])
        nn = __import__("mlx_like.nn", fromlist=["BUILD"])
    assert nn.BUILD == "second"
    assert nn.__file__ == str(tmp_path / "first" / "mlx_like" / "nn.py")


@pytest.mark.parametrize(
    ("release", "wheel", "is_refused"),
    [
        ("25.1.0", "macosx_26_0_arm64", True),
        ("25.2.0", "macosx_26_0_arm64", False),
        ("25.1.0", "macosx_15_0_arm64", False),
    ],
)
def test_a_build_that_needs_a_newer_system_is_refused(
    monkeypatch: pytest.MonkeyPatch, release: str, wheel: str, is_refused: bool
) -> None:
    on_darwin(monkeypatch, release, wheel)
    assert mlx_build.is_too_new() is is_refused
