"""Assembles Hunch as an app that one can double-click, on macOS or Linux: `make app`.

Every file comes from packaging/requirements.lock, from this repository, or from the Python given with --python (a
relocatable one: python-build-standalone's `install_only_stripped`). The same inputs give the same bytes.

    Hunch.app/Contents/
      MacOS/Hunch                 launcher.c
      Resources/python/           the Python, with all packages in its site-packages
      Resources/Hunch.icns, Assets.car, <language>.lproj/InfoPlist.strings
      Info.plist

`--platform linux` makes the same folders with Linux's wheels, to run them where there is no Mac.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import checks
import icon
import licence_texts
import macho
import pruning
import udif

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT))

from app.system import bundle_files  # noqa: E402
from app.system.licences import TEXTS  # noqa: E402
from app.words.languages import compile_stale  # noqa: E402
from engine.models.mlx_build import FOR_MACOS_26  # noqa: E402

LOCK = ROOT / "packaging" / "requirements.lock"
_EPOCH = 1767225600  # 2026-01-01: of every file, where SOURCE_DATE_EPOCH says nothing
_SOURCES = ("app", "engine", "resources", "i18n")
_OF_SECOND_MLX = ("mlx/core.*.so", "mlx/lib/*.dylib", "mlx/lib/*.metallib", "mlx_metal-*/WHEEL", "mlx_metal-*/METADATA")
_MACOS_OF_FIRST_MLX = (14, 4)  # as promised of a checkout
_CHILD_S = 1200
_TOLD_MB = 1.0  # packages that more than this is left out of are named


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    wheels: str  # uv's name of the platform
    compiler: str  # zig's
    library: str  # Python's, in its folder
    python: str = "3.13"


TARGETS = {
    "mac": Target("mac", "aarch64-apple-darwin", "aarch64-macos.14.0", "libpython3.13.dylib"),
    "linux": Target("linux", "x86_64-manylinux_2_35", "x86_64-linux-gnu.2.28", "libpython3.13.so.1.0"),
}


def main() -> int:
    options = _parse()
    target = TARGETS[options.platform]
    app = options.out / "Hunch.app"
    shutil.rmtree(options.out, ignore_errors=True)
    resources = app / "Contents" / "Resources"
    packages = resources / "python" / "lib" / f"python{target.python}" / "site-packages"
    install(options.tools, target, packages)
    if target.name == "mac":
        install_second_mlx(options.tools, target, resources / "python" / "lib" / FOR_MACOS_26.name)
    forget_build(packages)
    compile_sentences(packages / "i18n")
    leave_out(target, packages)
    if options.python is not None:
        copy_python(options.python, resources / "python", target)
    note_commit(packages / "resources" / "build.txt")
    write_licences(packages, options.python, target)
    write_launcher(options.tools, target, app / "Contents" / "MacOS" / "Hunch")
    no_catalog = icon.add_catalog(ROOT / "resources" / "app_icon.svg", resources)
    if no_catalog:
        print(f"no icon of its own for dark and tinted: {no_catalog}")
    bundle_files.write(app, checks.VERSION)
    compile_modules(resources / "python")
    set_times(app)
    if target.name == "mac":
        sign(options.tools, app)
        set_times(app)
    written = [app, *(file for file in pack(app, with_image=target.name == "mac") if file is not None)]
    for path in written:
        print(f"{checks.megabytes(path):7.1f} MB  {path}")
    if target.name == "mac":
        print(*checks.told(app), sep="\n")
    if options.python is None:
        print("without --python: this app has no Python in it and does not start")
    found = [*checks.beside_lock(app, LOCK), *(checks.problems(*written[::2]) if target.name == "mac" else [])]
    for problem in found:
        print(problem)
    return 1 if found else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Assemble Hunch.app", prog="assemble.py")
    parser.add_argument("--platform", choices=TARGETS, default="mac")
    parser.add_argument("--python", type=Path, help="the folder of a relocatable Python 3.13")
    parser.add_argument("--tools", type=Path, required=True, help="a virtual environment with requirements-mac.lock")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "app")
    return parser.parse_args()


def install(tools: Path, target: Target, packages: Path) -> None:
    """What the lock names, and Hunch itself."""
    install_wheels(tools, target, packages, LOCK, _MACOS_OF_FIRST_MLX)
    with tempfile.TemporaryDirectory() as copy:  # building leaves files in the folder that it builds
        for name in (*_SOURCES, "pyproject.toml", "README.md", "LICENSE"):
            source, ignored = ROOT / name, shutil.ignore_patterns("__pycache__")
            copied = Path(copy) / name
            shutil.copytree(source, copied, ignore=ignored) if source.is_dir() else shutil.copy(source, copied)
        own = ["--python", tools / "bin" / "python", "--no-deps", "--no-build-isolation", copy]
        run([tools / "bin" / "uv", "pip", "install", "--quiet", "--target", packages, *own])


def install_wheels(
    tools: Path, target: Target, folder: Path, lock: Path, macos: tuple[int, int], *, link: str = "copy"
) -> None:
    """Those for `macos`, on a Mac. `link`: to change none of the files, "hardlink" is faster."""
    uv = [tools / "bin" / "uv", "pip", "install", "--quiet", "--target", folder, "--link-mode", link, "--no-deps"]
    uv += ["--python-platform", target.wheels, "--python-version", target.python]
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": ".".join(map(str, macos))}
    run([*uv, "--require-hashes", "--only-binary", ":all:", "-r", lock], environment)


def install_second_mlx(tools: Path, target: Target, folder: Path) -> None:
    """The build with kernels for neural accelerators: what is compiled, and what says which wheel it is."""
    named = re.findall(r"(?ms)^mlx(?:-metal)?==.*?(?=^[a-z])", LOCK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        lock, whole = Path(temporary) / "lock", Path(temporary) / "whole"
        lock.write_text("".join(named), "utf-8")
        install_wheels(tools, target, whole, lock, checks.MACOS_OF_SECOND_MLX)
        for pattern in _OF_SECOND_MLX:
            for file in whole.glob(pattern):
                kept = folder / file.relative_to(whole)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(file, kept)


def forget_build(packages: Path) -> None:
    """When and in which folder Hunch's own package was built, and what its list of files says of that."""
    (folder,) = packages.glob("hunch_chat-*.dist-info")
    names = ("uv_cache.json", "direct_url.json")
    for name in names:
        (folder / name).unlink(missing_ok=True)
    lines = (folder / "RECORD").read_text("utf-8").splitlines(keepends=True)
    (folder / "RECORD").write_text("".join(line for line in lines if not line.split(",")[0].endswith(names)), "utf-8")


def compile_sentences(folder: Path) -> None:
    """By this machine's lrelease: the app's own is for its platform, and left out."""
    compile_stale(folder, folder)
    for source in folder.glob("*.ts"):
        source.unlink()


def leave_out(target: Target, packages: Path) -> None:
    whole = {each.name: checks.megabytes(each) for each in packages.iterdir()}
    pruning.prune(packages, target.name)
    if target.name == "mac":
        for path in packages.rglob("*"):
            if path.is_file():
                macho.thin(path)
    left = {name: checks.megabytes(packages / name) for name in whole}
    for name in sorted(whole, key=lambda name: left[name] - whole[name]):
        if whole[name] - left[name] >= _TOLD_MB:
            print(f"{whole[name] - left[name]:7.1f} MB  of {whole[name]:.1f} left out of {name}")


def copy_python(source: Path, target_folder: Path, target: Target) -> None:
    """The library and the standard library, without what only developers need."""
    library, modules = target_folder / "lib", f"python{target.python}"
    library.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / "lib" / target.library, library / target.library)
    left_out = shutil.ignore_patterns("site-packages", "__pycache__", *pruning.OF_PYTHON)
    shutil.copytree(source / "lib" / modules, library / modules, ignore=left_out, dirs_exist_ok=True)


def note_commit(file: Path) -> None:
    """For About. A folder without git has none."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(git, capture_output=True, check=False, text=True, timeout=_CHILD_S)
    if done.returncode == 0:
        file.write_text(done.stdout)


def write_licences(packages: Path, python: Path | None, target: Target) -> None:
    """For About."""
    text = python / "lib" / f"python{target.python}" / "LICENSE.txt" if python is not None else None
    python_text = text.read_text("utf-8") if text is not None and text.is_file() else sys.copyright
    shipped = list(distributions(path=[str(packages)]))
    document = licence_texts.document(shipped, target.python, python_text)
    (packages / "resources" / TEXTS).write_text(document, "utf-8")


def write_launcher(tools: Path, target: Target, path: Path) -> None:
    path.parent.mkdir(parents=True)
    compiler = [tools / "bin" / "python", "-m", "ziglang", "cc", "-target", target.compiler]
    version = f'-DPYTHON_VERSION="{target.python}"'
    run([*compiler, "-Os", "-s", version, HERE / "launcher.c", "-o", path])
    if target.name == "mac":
        macho.set_sdk(path, checks.SDK)
    for rest in path.parent.iterdir():  # zig leaves debugging files beside it
        if rest != path:
            rest.unlink()


def compile_modules(python: Path) -> None:
    """Now, since a sealed app keeps nothing that it compiles later. Needs a Python of the app's version."""
    for cache in list(python.rglob("__pycache__")):
        shutil.rmtree(cache)
    folder = next((python / "lib").glob("python3.*"))
    compiler = sys.executable if Path(sys.executable).resolve().name == folder.name else shutil.which(folder.name)
    # A shim may be there without the Python that it is for.
    if compiler is None or subprocess.run([compiler, "-V"], capture_output=True, check=False).returncode:
        print(f"not compiled, so each start takes longer: there is no {folder.name} here")
        return
    how = ["-I", "-m", "compileall", "-q", "-j", "0", "-s", python, "--invalidation-mode", "unchecked-hash"]
    how += ["-x", pruning.NOT_COMPILED]
    # It ends with 1 for files that are no Python, which some packages have in their tests.
    subprocess.run([compiler, *how, folder], check=False, timeout=_CHILD_S)


def set_times(folder: Path) -> None:
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", _EPOCH))
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        os.utime(path, (moment, moment), follow_symlinks=False)


def sign(tools: Path, app: Path) -> None:
    run([tools / "bin" / "python", HERE / "sign.py", app, checks.ENTITLEMENTS])


def pack(app: Path, *, with_image: bool) -> list[Path | None]:
    """As a zip and an image, both at the same time."""
    folder = app.parent / "image"
    folder.mkdir()
    try:
        (folder / "Applications").symlink_to("/Applications")
        app.rename(folder / app.name)
        with ThreadPoolExecutor() as pool:
            jobs = [pool.submit(write_zip, folder / app.name, app.with_suffix(".zip"))]
            if with_image:
                jobs.append(pool.submit(write_image, folder, app.with_suffix(".dmg")))
            return [job.result() for job in jobs]
    finally:
        (folder / app.name).rename(app)
        shutil.rmtree(folder)


def write_zip(app: Path, target: Path) -> Path | None:
    """With modes and links, which macOS restores."""
    moment = (2026, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(app.rglob("*")):
            entry = zipfile.ZipInfo(str(path.relative_to(app.parent)), moment)
            entry.create_system, entry.external_attr = 3, path.lstat().st_mode << 16
            if path.is_dir() and not path.is_symlink():
                entry.filename += "/"
                archive.writestr(entry, b"")
            else:
                content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return target


def write_image(folder: Path, image: Path) -> Path | None:
    """Of the app and a link to Applications. None where there is neither hdiutil nor xorrisofs."""
    if shutil.which("hdiutil"):
        what = ["-volname", "Hunch", "-srcfolder", folder, "-format", "ULFO", "-ov", image]
        run(["hdiutil", "create", "-quiet", *what])
    elif shutil.which("xorrisofs"):
        volume = image.with_suffix(".iso")
        date = ["--modification-date=2026010100000000", "--set_all_file_dates", "2026010100000000"]
        run(["xorrisofs", "-quiet", "-D", "-l", "-R", "-V", "Hunch", *date, "-o", volume, folder])
        udif.write_dmg(volume, image)
        volume.unlink()
    else:
        print("no image: that takes hdiutil, or xorrisofs (on Debian: sudo apt install xorriso)")
        return None
    return image


def run(command: Iterable[object], environment: dict[str, str] | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, timeout=_CHILD_S, env=environment)


if __name__ == "__main__":
    sys.exit(main())
