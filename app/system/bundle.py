"""Hunch.app: where it is, copying it to Applications, and writing one for an installed package.

An app on a disk image, or mounted by macOS after a download, disappears with the mount, so it can copy itself to
Applications and start from there. A Hunch installed by `uv tool` or `pipx` has no app: one can be written that starts
it, with name and icon. macOS does not quarantine files written on this machine.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QProcess

from app.system import bundle_files
from app.system.build import ROOT, own_version

APPLICATIONS = Path("/Applications")
_NAME = "Hunch.app"
_IS_MAC = sys.platform == "darwin"
_MOUNTED = ("AppTranslocation", "Volumes")
_OPEN = "/usr/bin/open"
_XATTR = "/usr/bin/xattr"
# The app of a Hunch that is installed as a package: a script, because nothing can be compiled here. By the variable
# macOS takes the process, which is Python's, for the app: else Dock and menu bar would name that. A Hunch that was
# installed elsewhere since then is found by its command; `-I` keeps other packages of that name away.
_LAUNCHER = """#!/bin/sh
start() {{
    CFProcessPath="$0" exec "$python" -I -m app "$@"
}}
python={python}
if [ -x "$python" ] && [ -e {mark} ]; then start "$@"; fi
command="$HOME/.local/bin/hunch"
python=$(dirname "$(readlink -f "$command")")/python
if [ -x "$command" ] && "$python" -I -c 'import app.system.bundle_files' 2>/dev/null; then start "$@"; fi
/bin/sh "$(dirname "$0")/../Resources/{alert}" gone
exit 1
"""


def own_bundle(executable: str = sys.executable) -> Path | None:
    """The app's folder; None in a source folder or a tool's environment."""
    return next((each for each in Path(executable).resolve().parents if each.suffix == ".app"), None)


def is_mounted(bundle: Path) -> bool:
    """Both kinds of mount are read-only; a disk that the user keeps apps on is not."""
    return any(name in bundle.parts for name in _MOUNTED) and bool(os.statvfs(bundle).f_flag & os.ST_RDONLY)


def copy_to(folder: Path, bundle: Path) -> Path:
    """Copies without the quarantine mark: the user has allowed this app before, and macOS would mount it again."""

    def fill(new: Path) -> None:
        shutil.copytree(bundle, new, symlinks=True)
        _unmark(new)

    return _put(folder / bundle.name, fill)


def _put(target: Path, fill: Callable[[Path], None]) -> Path:
    """Replace an existing app once the new one is complete. Raises OSError."""
    new, old = (target.with_name(f"{prefix}{target.name}") for prefix in (".new-", ".old-"))
    for rest in (new, old):
        shutil.rmtree(rest, ignore_errors=True)
    try:
        fill(new)
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    finally:
        for rest in (new, old):
            shutil.rmtree(rest, ignore_errors=True)
    return target


def _unmark(bundle: Path) -> None:
    if sys.platform == "darwin":
        with suppress(subprocess.TimeoutExpired):  # it is there all the same
            subprocess.run([_XATTR, "-dr", "com.apple.quarantine", str(bundle)], check=False, timeout=60)


def start(bundle: Path) -> None:
    """Start it in another process, once this one has ended."""
    if sys.platform == "darwin":
        QProcess.startDetached(_OPEN, ["-n", str(bundle)])


def can_write_app() -> bool:
    """Whether a tool installed this Hunch on a Mac: source folders may move, and apps need none."""
    return _IS_MAC and own_bundle() is None and not (ROOT / "pyproject.toml").is_file()


def home_applications() -> Path:
    return Path.home() / "Applications"


def is_in_applications() -> bool:
    return any((folder / _NAME).exists() for folder in (APPLICATIONS, home_applications()))


def write_app(folder: Path, python: str = sys.executable) -> Path:
    """Write an app that starts the installed Hunch, of any version. Raises OSError; never replaces another app."""

    def fill(new: Path) -> None:
        launcher = new / "Contents" / "MacOS" / "Hunch"
        launcher.parent.mkdir(parents=True)
        (new / "Contents" / "Resources").mkdir()
        bundle_files.write(new, own_version())
        command = Path(python).with_name("hunch")  # goes with Hunch, where the Python stays
        mark = command if command.exists() else Path(python)
        quoted = {"python": shlex.quote(python), "mark": shlex.quote(str(mark))}
        launcher.write_text(_LAUNCHER.format(**quoted, alert=bundle_files.ALERT), "utf-8")
        launcher.chmod(0o755)

    folder.mkdir(exist_ok=True)
    app = folder / _NAME
    if os.path.lexists(app) and (app.is_symlink() or not _is_hunch(app)):
        raise FileExistsError(errno.EEXIST, "another app has this name", str(app))
    return _put(app, fill)


def _is_hunch(app: Path) -> bool:
    info = app / "Contents" / "Info.plist"
    return info.is_file() and bundle_files.IDENTIFIER.encode() in info.read_bytes()
