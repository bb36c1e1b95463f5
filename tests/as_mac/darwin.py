"""app and engine run as on a Mac, with stand-ins for its libraries: `pytest -p tests.as_mac.darwin`.

`sys.platform` is "darwin" to them, and to nobody else. The run fails if a condition that asks for a Mac never came out
as it does on one: what follows would run for the first time there.
"""

from __future__ import annotations

import ast
import ctypes
import subprocess
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest
from PySide6.QtWidgets import QMenu

from tests.helpers.fake_objc import FakeObjectiveC

ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("app", "engine")
_HERE = "".join(sys.platform)  # another object than what a test sets
_entered = set[str]()


def _platform() -> str:
    return "darwin" if sys.platform is _HERE else sys.platform


def _judge(place: str, of_mac: bool, came_out: Any) -> Any:
    if bool(came_out) is of_mac:
        _entered.add(place)
    return came_out


class _Conditions(ast.NodeTransformer):
    """Has each condition that asks for a Mac tell how it came out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.places = set[str]()

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._noted(node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return self._noted(node)

    def _noted(self, node: ast.expr) -> ast.expr:
        asked = [each for each in ("_platform() == 'darwin'", "_platform() != 'darwin'") if each in ast.unparse(node)]
        if not asked:
            self.generic_visit(node)
            return node
        place = f"{self._path.relative_to(ROOT)}:{node.lineno}"
        self.places.add(place)
        arguments: list[ast.expr] = [ast.Constant(place), ast.Constant("==" in asked[0]), node]
        return ast.copy_location(ast.Call(ast.Name("_judge", ast.Load()), arguments, []), node)


def _changed(path: Path) -> tuple[ast.Module, set[str]]:
    conditions = _Conditions(path)
    tree = conditions.visit(ast.parse(path.read_text("utf-8").replace("sys.platform", "_platform()")))
    return ast.fix_missing_locations(tree), conditions.places


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.get_filename(fullname))
        code: CodeType = compile(_changed(path)[0], path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(_platform=_platform, _judge=_judge)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname.partition(".")[0] in _FOLDERS else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


class _Mac(FakeObjectiveC):
    """A cool Mac on mains, which shows notifications of apps only; a test's process is none."""

    def __init__(self) -> None:
        super().__init__()
        self.objc._NSConcreteGlobalBlock = self.objc.objc_getClass

    def answer(self, receiver: int, name: str, first: int) -> int | None:
        return 0 if name in ("thermalState", "isLowPowerModeEnabled", "UTF8String") else receiver


def _brand(name: bytes, text: Any, _size: object, _new: object, _new_size: int) -> int:
    if name != b"machdep.cpu.brand_string":
        return -1
    text.value = b"Apple M3"
    return 0


def _identify(into: Any, _patience_s: object) -> int:
    into.raw = bytes(range(16))
    return 0


def _statistics(_host: object, _flavor: int, words: Any, _count: object) -> int:
    words._obj[0] = 1 << 20  # free pages
    return 0


_OF_LIBSYSTEM = {
    "sysctlbyname": _brand,
    "gethostuuid": _identify,
    "mach_host_self": lambda: 7,
    "host_statistics64": _statistics,
    "proc_pid_rusage": lambda _pid, _flavor, _into: 0,
}
_library = ctypes.CDLL


def _library_of_mac(name: str | None = None, *arguments: Any, **options: Any) -> Any:
    if str(name).startswith(("/System/Library/", "/usr/lib/libobjc.", "/usr/lib/libSystem.")):
        return _Mac()(str(name))
    found = _library(None if name == "/usr/lib/libproc.dylib" else name, *arguments, **options)
    vars(found).update(_OF_LIBSYSTEM if found._name is None else {})
    return found


class _Popen(subprocess.Popen[Any]):
    def __init__(self, args: Any, *arguments: Any, **options: Any) -> None:
        is_of_macos = str(args[0]) in ("/usr/bin/xattr", "/usr/bin/tmutil")
        super().__init__(["true"] if is_of_macos else args, *arguments, **options)


sys.platform = _HERE
sys.meta_path.insert(0, _Finder())
subprocess.Popen = _Popen  # type: ignore[misc]
ctypes.CDLL = _library_of_mac  # type: ignore[assignment, misc]
QMenu.setAsDockMenu = lambda _self: None  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Of pytest-xdist: what its processes entered."""
    _entered.update(node.workeroutput["entered"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["entered"] = list(_entered)
        return
    files = [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*.py")]
    missed = {place for path in files for place in _changed(path)[1]} - _entered
    for place in sorted(missed):
        session.config.get_terminal_writer().line(f"\nnever as on a Mac: {place}", red=True)
    if missed and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
