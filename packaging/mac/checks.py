"""Faults of an assembled app that show without a Mac: checks.py APP [IMAGE]. Prints each, or the sizes."""

from __future__ import annotations

import hashlib
import plistlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import licence_texts
import macho
from packaging.utils import canonicalize_name

sys.path.append(str(Path(__file__).resolve().parents[2]))

from app.system.build import DISTRIBUTION, project
from app.system.bundle_files import IDENTIFIER, LANGUAGES, MINIMUM_MACOS
from app.system.licences import TEXTS
from engine.models.mlx_build import FOR_MACOS_26

VERSION = str(project()["version"])
ENTITLEMENTS = Path(__file__).with_name("entitlements.plist")

SDK = (15, 0)  # Qt's: with a newer one macOS 26 draws Qt's controls in a look that Qt is not ready for
MACOS_OF_SECOND_MLX = (26, 2)
_KERNEL = re.compile(rb"NAME(..)([ -~]+)\0", re.DOTALL)  # in a library of Metal, each with the length of its name
_ACCELERATED = b"nax"  # in the names of kernels for neural accelerators
_LEAST_ACCELERATED = 1000
MOST_APP_MB = 660.0
MOST_IMAGE_MB = 220.0
_PYTHON_MB = 37.0, 13.0  # of these, for a Python that is not in it: estimated
_PINNED = re.compile(r"(?m)^([\w.-]+)==([\w.+!-]+)")
_SYSTEM = ("/usr/lib/", "/System/Library/")
_RELATIVE = ("@rpath/", "@loader_path/", "@executable_path/")


def problems(app: Path, image: Path | None = None) -> Iterator[str]:
    yield from _of_code(app)
    yield from _of_description(app)
    yield from _of_seal(app)
    yield from _of_licences(app)
    yield from _of_mlx(app)
    if next(app.rglob("*.pth"), None) is not None:
        yield "there is a .pth file"
    if len(list(app.rglob("hunch_*.qm"))) != len(LANGUAGES):
        yield "not all languages are compiled"
    to_come = (0.0, 0.0) if next(app.rglob("libpython*"), None) else _PYTHON_MB
    for path, most, python in zip((app, image), (MOST_APP_MB, MOST_IMAGE_MB), to_come, strict=True):
        if path is not None and (size := megabytes(path) + python) > most:
            yield f"{path.name}: {size:.0f} MB with a Python, above {most:.0f}"


def _of_mlx(app: Path) -> Iterator[str]:
    """Two builds, each with its kernels; those for neural accelerators in the second."""
    kernels = {_is_second_mlx(path): path for path in app.rglob("mlx.metallib")}
    if set(kernels) != {False, True}:
        yield f"{len(kernels)} builds of MLX, not 2"
    for is_second, path in kernels.items():
        if not (path.parent / "libmlx.dylib").exists():
            yield f"{path.relative_to(app)} is not beside libmlx.dylib"
        yield from (f"{path.relative_to(app)}: {problem}" for problem in of_kernels(path, is_second))


def of_kernels(library: Path, is_second: bool) -> Iterator[str]:
    _, accelerated = kernels_in(library)
    if accelerated < _LEAST_ACCELERATED if is_second else accelerated:
        yield f"{accelerated} kernels are for neural accelerators"


def kernels_in(library: Path) -> tuple[int, int]:
    """How many, and how many of them for neural accelerators."""
    found = _KERNEL.findall(library.read_bytes())
    names = {name for length, name in found if int.from_bytes(length, "little") == len(name) + 1}
    return len(names), sum(_ACCELERATED in name for name in names)


def _is_second_mlx(path: Path) -> bool:
    return FOR_MACOS_26.name in path.parts


def beside_lock(app: Path, lock: Path) -> Iterator[str]:
    """What is in the app's packages, and the lock, or the list of files of a package, does not name."""
    named = dict(_PINNED.findall(lock.read_text(encoding="utf-8")))
    (folder,) = app.rglob("site-packages")
    known: set[Path] = set()
    for package in distributions(path=[str(folder)]):
        name = canonicalize_name(package.name)
        if name != DISTRIBUTION and named.get(name) != package.version:
            yield f"{name} {package.version}: not what the lock names"
        known.update(Path(str(package.locate_file(file))) for file in package.files or [])
    for path in folder.rglob("*"):
        made_here = path.suffix in (".pyc", ".qm") or path.name in ("build.txt", TEXTS, "CodeResources")
        if not path.is_dir() and not made_here and path not in known:
            yield f"{path.relative_to(folder)}: of no package"


def megabytes(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if file.is_file()) / 1e6


def told(app: Path) -> Iterator[str]:
    """For which macOS how many files of code say that they were built: "14.0: 12, 15.0: 27"; and what MLX's have."""
    least = sorted(Counter(code.minimum_macos for code in _binaries(app).values()).items())
    yield f"built for macOS {', '.join(f'{major}.{minor}: {count}' for (major, minor), count in least)}"
    for library in sorted(app.rglob("mlx.metallib"), key=_is_second_mlx):
        of_which = "{} kernels, {} of them for neural accelerators".format(*kernels_in(library))
        yield f"MLX for macOS {'26.2' if _is_second_mlx(library) else '14'}: {of_which}"


def _binaries(app: Path) -> dict[Path, macho.MachO]:
    return {path: code for path in app.rglob("*") if path.is_file() and (code := macho.read_macho(path))}


def _of_code(app: Path) -> Iterator[str]:
    binaries = _binaries(app)
    names = {path.name for path in binaries}
    contents = app / "Contents"
    for path, code in binaries.items():
        place = path.relative_to(app)
        if code.architecture != macho.ARM64:
            yield f"{place}: not for arm64"
        if code.signature is None:
            yield f"{place}: not signed"
        if code.minimum_macos > (MACOS_OF_SECOND_MLX if _is_second_mlx(path) else MINIMUM_MACOS):
            yield f"{place}: needs macOS {code.minimum_macos}"
        yield from (f"{place}: {problem}" for problem in _of_links(code, names))
        if path.parent.name == "MacOS" and code.sdk != SDK:
            yield f"{place}: built with SDK {code.sdk}, Qt with {SDK}"
        is_main = path.parent.name == "MacOS"
        if is_main and code.signature is not None:
            yield from (f"{place}: {problem}" for problem in _of_signature(code.signature))
        sealed = {1: contents / "Info.plist", 3: contents / "_CodeSignature" / "CodeResources"} if is_main else {}
        yield from (f"{place}: {problem}" for problem in macho.unlike_signature(path, sealed))
    signed = {path: code.signature.is_adhoc for path, code in binaries.items() if code.signature is not None}
    if len(set(signed.values())) > 1:  # a hardened runtime loads only what its own team signed
        yield from (f"{path.relative_to(app)}: signed ad hoc, unlike the rest" for path in signed if signed[path])
    if not binaries:
        yield "there is no code in it"


def _of_signature(signature: macho.Signature) -> Iterator[str]:
    """An ad hoc one has neither: macOS would refuse the libraries. The notary wants both."""
    expected = {} if signature.is_adhoc else plistlib.loads(ENTITLEMENTS.read_bytes())
    if signature.entitlements != expected:
        yield f"its entitlements are {signature.entitlements}"
    if signature.is_hardened == signature.is_adhoc:
        yield f"it has {'a' if signature.is_hardened else 'no'} hardened runtime"


def _of_links(code: macho.MachO, names: set[str]) -> Iterator[str]:
    for rpath in code.rpaths:
        if not rpath.startswith(("@loader_path", "@executable_path")):
            yield f"looks for libraries in {rpath}"
    for library in code.libraries:
        if library.startswith(_RELATIVE):
            if Path(library).name not in names:
                yield f"links {library}, which is not there"
        elif not library.startswith(_SYSTEM):
            yield f"links {library}"


def _of_description(app: Path) -> Iterator[str]:
    info = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    expected = {
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleVersion": VERSION,
        "CFBundleShortVersionString": VERSION,
        "LSMinimumSystemVersion": ".".join(map(str, MINIMUM_MACOS)),
        "CFBundleLocalizations": list(LANGUAGES.values()),
        "UIDesignRequiresCompatibility": True,
    }
    yield from (f"Info.plist: {key} is {info.get(key)}" for key, value in expected.items() if info.get(key) != value)
    resources = app / "Contents" / "Resources"
    yield from (f"{name} is missing" for name in LANGUAGES.values() if not (resources / f"{name}.lproj").is_dir())
    if not (resources / f"{info['CFBundleIconFile']}.icns").is_file():
        yield "there is no icon"
    if not (app / "Contents" / "MacOS" / info["CFBundleExecutable"]).is_file():
        yield "there is no executable"


def _of_licences(app: Path) -> Iterator[str]:
    packages = [str(folder) for folder in app.rglob("site-packages")]
    for package in distributions(path=packages):
        component = licence_texts.component_of(package)
        if not component.licence or not all(component.texts) or not component.texts:
            yield f"{component.name}: About has no licence of it"
        for inside in component.crates:
            if not all(map(licence_texts.text_of, licence_texts.chosen(inside))):
                yield f"{component.name}: About has no text of {inside}, as which it names what is in it"


def _of_seal(app: Path) -> Iterator[str]:
    """Every file but the executable and the seal itself is in the seal with its hash."""
    seal = plistlib.loads((app / "Contents" / "_CodeSignature" / "CodeResources").read_bytes())["files2"]
    contents = app / "Contents"
    unsealed = {"MacOS/Hunch", "_CodeSignature/CodeResources", "Info.plist", "PkgInfo"}
    for path in contents.rglob("*"):
        name = str(path.relative_to(contents))
        if path.is_dir() or name in unsealed:
            continue
        entry = seal.get(name)
        if entry is None:
            yield f"{name}: not sealed"
        elif "hash2" in entry and entry["hash2"] != hashlib.sha256(path.read_bytes()).digest():
            yield f"{name}: changed after it was sealed"


def main(app: str, image: str | None = None) -> int:
    found = list(problems(Path(app), Path(image) if image else None))
    for problem in found:
        print(problem)
    for path in filter(None, (app, image)):
        print(f"{megabytes(Path(path)):7.1f} MB  {path}")
    print(*told(Path(app)), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
