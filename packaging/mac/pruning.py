"""What the app leaves out of its packages: tools, and parts of Qt and transformers that it never loads."""

from __future__ import annotations

import fnmatch
import shutil
from collections.abc import Iterator
from pathlib import Path

_TOOLS = ("test", "_test*", "_ctypes_test*", "idlelib", "turtledemo", "ensurepip", "lib2to3", "config-*", "pydoc_data")
OF_PYTHON = (*_TOOLS, "tkinter", "_tkinter*", "turtle.py")  # its libraries, Tcl and Tk, are not in the app

# Of the folder of all packages. A folder goes with all that is in it.
_LEFT_OUT = (
    "bin",
    "hf_xet*",  # downloads use our own writer
    "numpy/*/tests",
    "numpy/tests",
    "numpy/f2py",
    "numpy/_core/include",
    "numpy/_core/lib",
    "mlx/include",
    "mlx/share",
    "mlx/lib/cmake",
    "shiboken6/include",
    "shiboken6/lib",
    "*.pyi",
    "*/REQUESTED",
    ".lock",
)
# Networks of transformers run on PyTorch; of its models only configs and tokenizers are read.
_NETWORKS = ("modeling", "modular", "image_", "video_", "feature_extraction", "processing", "convert")
BINDINGS = ("QtCore", "QtGui", "QtNetwork", "QtSvg", "QtWidgets")  # what the app imports
_LIBRARIES = (*BINDINGS, "QtDBus")  # to which QtGui is linked
_PLUGINS = ("platforms", "styles", "imageformats", "iconengines", "tls", "networkinformation", "platforminputcontexts")
_LINUX_PLUGINS = ("xcbglintegrations", "platformthemes", "wayland-*")
_LEFT_OUT_PLUGINS = ("*qpdf*", "*virtualkeyboard*", "*qeglfs*", "*qlinuxfb*", "*qvnc*", "*qvkkhrdisplay*")
_LINUX_LIBRARIES = ("libQt6OpenGL.so*", "libQt6XcbQpa*", "libQt6Wayland*", "libQt6EglFS*", "libicu*")
_LANGUAGES = ("en", "ja", "ko", "zh_CN")
# Of packages, what hardly a start loads: it is compiled when it is, in 0.14 s where
# one needs 37 of them (MEASURED). All of them compiled take 23 MB more, 10 in the image.
_SELDOM = (
    "(pydantic|rich|google|typer|click|fsspec|sentencepiece|dateutil|pip)/",
    "transformers/(?!utils/|models/)[a-z_]+/",
    "transformers/models/(?!auto/)",
    "transformers/(trainer|testing|training|modeling_(?!rope))",
    "mlx_lm/[a-z_]+/",
    "numpy/(ma|polynomial|testing|f2py)/",
    "huggingface_hub/(cli|inference|serialization)/",
    "pygments/lexers/_(?!_init__|mapping)",
)
NOT_COMPILED = f"/site-packages/({'|'.join(_SELDOM)})"


def prune(packages: Path, platform: str) -> None:
    for path in [*_matching(packages, _LEFT_OUT), *_networks(packages / "transformers" / "models")]:
        _remove(path)
    qt = packages / "PySide6"
    _keep(qt, _of_pyside())
    _keep(qt / "Qt", ("lib", "plugins", "translations"))
    _keep(qt / "Qt" / "plugins", _PLUGINS + (_LINUX_PLUGINS if platform == "linux" else ()))
    for path in _matching(qt / "Qt" / "plugins", _LEFT_OUT_PLUGINS):
        _remove(path)
    libraries = [name for each in _LIBRARIES for name in (f"{each}.framework", f"libQt6{each[2:]}.so*")]
    _keep(qt / "Qt" / "lib", (*libraries, *(_LINUX_LIBRARIES if platform == "linux" else ())))
    _keep(qt / "Qt" / "translations", tuple(f"qtbase_{language}.qm" for language in _LANGUAGES))


def _of_pyside() -> tuple[str, ...]:
    return (*(f"{module}.abi3.so" for module in BINDINGS), "Qt", "*.py", "libpyside6.abi3*")


def _networks(models: Path) -> Iterator[Path]:
    for path in models.glob("*/*.py"):
        if path.parent.name != "auto" and path.name.startswith(_NETWORKS):
            yield path


def _matching(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if any(fnmatch.fnmatch(str(path.relative_to(folder)), pattern) for pattern in patterns)
    ]


def _keep(folder: Path, patterns: tuple[str, ...]) -> None:
    for path in folder.iterdir():
        if not any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
