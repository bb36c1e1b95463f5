"""Where Hunch.app lies. From its disk image, or from where macOS mounts an app that a browser downloaded, it goes away
with the mount: it can copy itself to Applications and start from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

APPLICATIONS = Path("/Applications")
_MOUNTED = ("AppTranslocation", "Volumes")
_OPEN = "/usr/bin/open"
_XATTR = "/usr/bin/xattr"


def own_bundle(executable: str = sys.executable) -> Path | None:
    """None where Python itself runs Hunch: from a checkout or a tool's environment."""
    return next((each for each in Path(executable).resolve().parents if each.suffix == ".app"), None)


def is_mounted(bundle: Path) -> bool:
    """Both kinds of mount are read-only; a disk that the user keeps apps on is not."""
    return any(name in bundle.parts for name in _MOUNTED) and bool(os.statvfs(bundle).f_flag & os.ST_RDONLY)


def copy_to(folder: Path, bundle: Path) -> Path:
    """In place of one that is there, which goes when the new one is whole. Raises OSError.

    The user has let this very app start before: what marks it as downloaded would only have macOS mount it again.
    """
    target, new, old = (folder / f"{prefix}{bundle.name}" for prefix in ("", ".new-", ".old-"))
    for rest in (new, old):
        shutil.rmtree(rest, ignore_errors=True)
    try:
        shutil.copytree(bundle, new, symlinks=True)
        _unmark(new)
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
    """A process of its own, which waits until this one has ended."""
    if sys.platform == "darwin":
        subprocess.Popen([_OPEN, "-n", str(bundle)])
