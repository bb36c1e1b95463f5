"""How .venv is made, with interpreters and an uv that only write down what they are asked for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.project import ROOT

_LOCK, _DEV_LOCK, _UV_LOCK = "requirements.lock", "requirements-dev.lock", "requirements-uv.lock"
_TOOLS = ("sh", "dirname", "cmp", "cp", "mkdir", "chmod", "cat", "echo")
# Answers questions as the real interpreter would after this change; asked for anything else, it writes that down.
_INTERPRETER = """#!/bin/sh
[ "$1" = -c ] && exec '{python}' -I -S -c 'import sys, platform; {change}; exec(sys.argv.pop(1))' "$2" "$3"
echo "$@" >> calls
"""
_NEW = 'sys.version_info = (3, 15, 1); platform.python_version = lambda: "3.15.1"'
_OLD = 'sys.version_info = (3, 9, 2); platform.python_version = lambda: "3.9.2"'
_TOO_OLD_FOR_UV = 'sys.version_info = (3, 7, 3); platform.python_version = lambda: "3.7.3"'
_WITHOUT_VENV = 'sys.modules["ensurepip"] = None'
_UV = """#!/bin/sh
echo "$@" >> calls
[ "$1" != "{fails}" ] || exit 1
mkdir -p .venv/bin
echo '#!/bin/sh' > .venv/bin/python
echo 'echo "$@" >> calls' >> .venv/bin/python
chmod +x .venv/bin/python
"""
_TOLD = 'echo "for $MACOSX_DEPLOYMENT_TARGET $SYSTEM_VERSION_COMPAT" >> calls'
# As the old interpreter's venv and pip do: with the first comes a Python, with the second uv.
_OLD_INTERPRETER = (
    _INTERPRETER
    + """case "$*" in *build/uv*) ;; *) exit 1 ;; esac
mkdir -p build/uv/bin
cat > build/uv/bin/python <<'END'
#!/bin/sh
echo "build/uv $@" >> calls
{pip}
cp "$(dirname "$0")/../../../uv" build/uv/bin/uv
END
chmod +x build/uv/bin/python
"""
)


@dataclass
class Machine:
    """A checkout with nothing made yet, and a PATH with nothing but what a test puts there."""

    root: Path
    path: Path

    def has(self, program: str, script: str) -> None:
        (self.path / program).write_text(script)
        (self.path / program).chmod(0o755)

    def bootstrap(self, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.path / "sh", self.root / "packaging" / "bootstrap.sh", *options],
            env={"PATH": str(self.path)},
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def calls(self) -> list[str]:
        return (self.root / "calls").read_text().splitlines()

    @property
    def installed(self) -> Path:
        return self.root / ".venv" / "installed.lock"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "checkout", tmp_path / "bin")
    made.path.mkdir()
    for tool in _TOOLS:
        (made.path / tool).symlink_to(str(shutil.which(tool)))
    (made.root / "packaging").mkdir(parents=True)
    for name in ("bootstrap.sh", _LOCK, _DEV_LOCK, _UV_LOCK):
        shutil.copy(ROOT / "packaging" / name, made.root / "packaging" / name)
    return made


def _interpreter(change: str) -> str:
    return _INTERPRETER.format(python=sys.executable, change=change)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_TOO_OLD_FOR_UV, "python3 is Python 3.7.3"),
        (f"{_OLD}; {_WITHOUT_VENV}", "python3 is Python 3.9.2"),
        (f"{_NEW}; {_WITHOUT_VENV}", "python3 is Python 3.15.1, for which there is no MLX yet"),
    ],
)
def test_another_python_is_refused_with_what_to_install(machine: Machine, change: str, told: str) -> None:
    machine.has("python3", _interpreter(change))
    done = machine.bootstrap()
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "3.11 to 3.14" in done.stderr
    assert told in done.stderr


def with_old_python(machine: Machine, change: str = _OLD, pip: str = "") -> None:
    """As on a new Mac: nothing but /usr/bin/python3, with which uv can be installed."""
    machine.has("python3", _OLD_INTERPRETER.format(python=sys.executable, change=change, pip=pip))
    (machine.root / "uv").write_text(_UV.format(fails="nothing"))
    (machine.root / "uv").chmod(0o755)


@pytest.mark.parametrize("change", [_OLD, _NEW])
def test_old_python_installs_uv_which_fetches_a_newer_python(machine: Machine, change: str) -> None:
    with_old_python(machine, change)
    done = machine.bootstrap()
    assert (done.returncode, done.stderr) == (0, "")
    made, installed, venv, filled, _openblas = machine.calls()
    assert made == "-m venv --clear build/uv"
    assert installed.startswith("build/uv -m pip install")
    assert installed.endswith(f"--require-hashes --only-binary :all: -r packaging/{_UV_LOCK}")
    assert venv == "venv --quiet --clear --python 3.13 .venv"
    assert filled.endswith(f"--require-hashes --only-binary :all: -r packaging/{_LOCK}")
    assert "GitHub" in done.stdout, "what is fetched from where is said"
    (machine.root / "calls").unlink()
    assert machine.bootstrap("dev").returncode == 0
    assert not [call for call in machine.calls() if "build/uv" in call], "it is used again"


def test_uv_that_was_fetched_by_half_is_fetched_anew(machine: Machine) -> None:
    with_old_python(machine, pip="touch build/uv/bin/uv; exit 1")
    done = machine.bootstrap()
    assert done.returncode != 0
    assert "python3 is Python 3.9.2" in done.stderr
    with_old_python(machine)
    assert machine.bootstrap().returncode == 0


def on_a_mac(machine: Machine, *, apple_silicon: bool, darwin: str = "24.6.0") -> None:
    """Programs lie where macOS has them: only `uname` is in /usr/bin, which stands on every PATH."""
    machine.has("uname", f"#!/bin/sh\n[ $1 = -r ] && echo {darwin} || echo Darwin\n")
    machine.has("sysctl", f"#!/bin/sh\n[ $2 = hw.optional.arm64 ] && echo {int(apple_silicon)}\n")
    sbin = machine.root.parent / "usr" / "sbin"
    sbin.mkdir(parents=True, exist_ok=True)
    (machine.path / "sysctl").rename(sbin / "sysctl")
    script = machine.root / "packaging" / "bootstrap.sh"
    script.write_text(script.read_text().replace("/usr/sbin/", f"{sbin}/"))


def test_a_mac_gets_a_python_for_apple_silicon_also_under_rosetta(machine: Machine) -> None:
    on_a_mac(machine, apple_silicon=True)
    with_old_python(
        machine, f'import ensurepip, venv; {_OLD}; sys.platform = "darwin"; platform.machine = lambda: "x86_64"'
    )
    assert machine.bootstrap().returncode == 0
    assert "venv --quiet --clear --python cpython-3.13-macos-aarch64-none .venv" in machine.calls()


@pytest.mark.parametrize(
    ("darwin", "macos", "compat"),
    [("23.4.0", "14.4", 0), ("24.6.0", "15.0", 1), ("25.1.0", "15.0", 1), ("25.2.0", "26.2", 0), ("26.0.0", "26.2", 0)],
)
def test_wheels_are_those_of_the_system_whatever_the_python_was_built_for(
    machine: Machine, darwin: str, macos: str, compat: int
) -> None:
    on_a_mac(machine, apple_silicon=True, darwin=darwin)
    machine.has("uv", _UV.format(fails="nothing").replace("\n", f"\n{_TOLD}\n", 1))
    assert machine.bootstrap().returncode == 0
    (filled,) = [call for call in machine.calls() if "--require-hashes" in call]
    assert "--python-platform aarch64-apple-darwin" in filled
    assert f"for {macos} {compat}" in machine.calls()


def test_a_mac_with_an_intel_processor_is_refused(machine: Machine) -> None:
    on_a_mac(machine, apple_silicon=False)
    with_old_python(machine)
    done = machine.bootstrap()
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "needs a Mac with Apple silicon" in done.stderr
    assert not (machine.root / "calls").exists()


def test_name_on_path_that_does_not_run_is_passed_over(machine: Machine) -> None:
    machine.has("python3.13", "#!/bin/sh\necho 'python3.13: not chosen' >&2\nexit 127\n")
    machine.has("python3", _interpreter("pass"))
    machine.has("uv", _UV.format(fails="venv"))
    machine.bootstrap()
    assert "--python python3 .venv" in machine.calls()[0]
    assert machine.calls()[-1] == "-m venv --clear .venv", "pip takes over where uv finds no way"
    machine.has("python3", _interpreter(_WITHOUT_VENV))
    (machine.path / "uv").unlink()
    done = machine.bootstrap()
    assert done.returncode != 0
    assert f"sudo apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv" in done.stderr


def test_uv_makes_and_fills_the_venv_where_there_is_one(machine: Machine) -> None:
    machine.has("uv", _UV.format(fails="pip"))
    assert machine.bootstrap().returncode != 0
    assert not machine.installed.exists()
    machine.has("uv", _UV.format(fails="nothing"))
    assert machine.bootstrap().returncode == 0
    made, *_, filled, openblas = machine.calls()
    assert made.startswith("venv")
    assert "--require-hashes" in filled
    assert filled.endswith(f"-r packaging/{_LOCK}")
    assert openblas == "packaging/openblas.py"
    assert machine.installed.read_bytes() == (ROOT / "packaging" / "requirements.lock").read_bytes()


def test_versions_that_were_changed_by_half_are_installed_anew_when_the_lock_is_the_old_one_again(
    machine: Machine,
) -> None:
    machine.has("uv", _UV.format(fails="nothing"))
    machine.bootstrap()
    lock = machine.root / "packaging" / _LOCK
    former = lock.read_text()
    lock.write_text("newer")
    machine.has("uv", _UV.format(fails="pip"))
    assert machine.bootstrap().returncode != 0
    lock.write_text(former)
    assert machine.bootstrap().returncode != 0, "it is tried"
    machine.has("uv", _UV.format(fails="nothing"))
    assert machine.bootstrap().returncode == 0
    assert machine.installed.read_text() == former


def test_folders_that_the_shell_looks_into_are_not_taken_for_the_checkout(machine: Machine) -> None:
    """As where pypa's `packaging` lies in one of them; make starts the script by a relative path."""
    elsewhere = machine.root.parent / "elsewhere"
    (elsewhere / "packaging").mkdir(parents=True)
    machine.has("uv", _UV.format(fails="nothing"))
    done = subprocess.run(
        [machine.path / "sh", "packaging/bootstrap.sh"],
        cwd=machine.root,
        env={"PATH": str(machine.path), "CDPATH": str(elsewhere)},
        check=False,
    )
    assert done.returncode == 0
    assert machine.installed.exists()


def test_developers_get_their_tools_on_top(machine: Machine) -> None:
    machine.has("uv", _UV.format(fails="nothing"))
    assert machine.bootstrap().returncode == 0
    assert machine.bootstrap("dev").returncode == 0
    assert [call.rpartition("/")[2] for call in machine.calls() if "--require-hashes" in call] == [_LOCK, _DEV_LOCK]
    assert machine.installed.read_bytes() == (ROOT / "packaging" / _DEV_LOCK).read_bytes()


@pytest.mark.parametrize(
    ("installed", "option", "runs"),
    [(_LOCK, "", False), (_DEV_LOCK, "", False), (_LOCK, "dev", True), ("older", "", True)],
)
def test_nothing_runs_while_everything_is_installed(machine: Machine, installed: str, option: str, runs: bool) -> None:
    (machine.root / "packaging" / "older").write_text("")
    machine.has("uv", _UV.format(fails="nothing"))
    machine.bootstrap()
    (machine.root / "calls").write_text("")
    shutil.copy(machine.root / "packaging" / installed, machine.installed)
    done = machine.bootstrap(option)
    assert bool(machine.calls()) == runs
    assert runs or (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_app_is_set_up_even_where_openblas_is_not(machine: Machine) -> None:
    machine.has("uv", _UV.format(fails="nothing").replace('"$@" >> calls\' >>', '"$@" >> calls; exit 1\' >>'))
    done = machine.bootstrap()
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "OpenBLAS" in done.stderr
    assert machine.installed.exists()
