"""Tokenizers and templates that are new here are tried in a process of their own, and what grows is refused unread."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine import Engine, ModelChecking, ModelDamaged, ModelFailed, ModelReady, TokenizerBroken, inspect_model
from engine.models import first_use
from engine.models.first_use import FirstUse
from engine.models.first_use_child import TOO_LONG
from engine.models.kept_files import write_kept
from engine.models.loading import loading
from engine.models.model_files import FileError
from engine.models.numbers import check_growth
from tests.engine.conftest import Zoo
from tests.helpers.bad_tokenizers import BAD_TOKENIZERS, SLOW_TOKENIZERS
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import at_once
from tests.helpers.samples import fair
from tests.helpers.tiny_models import rewrite

pytestmark = pytest.mark.usefixtures("whole_engine")
ROOT = Path(__file__).resolve().parents[2]
HANGS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def spoiled(zoo: Zoo, folder: Path, name: str) -> Path:
    shutil.copytree(zoo.main, folder)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps((BAD_TOKENIZERS | SLOW_TOKENIZERS)[name](json.loads(path.read_text()))))
    return folder


_GROW = ["copies of a text", *sorted(BAD_TOKENIZERS.keys() - {"copies of a text", "deeply nested"})]


def let_grow(folder: Path) -> None:
    """Each space becomes a thousand letters, which the process that tries it sees at once."""
    grows = {"type": "Replace", "pattern": {"String": " "}, "content": "y" * 1000}
    rewrite(folder / "tokenizer.json", normalizer=grows)


def checked(folder: Path, use: FirstUse) -> None:
    for _ in use.check(folder):
        pass


@pytest.mark.parametrize("name", fair(_GROW, *_GROW[1:]))
def test_what_would_grow_is_refused_before_it_is_tried(zoo: Zoo, tmp_path: Path, name: str) -> None:
    with pytest.raises(TokenizerBroken, match=r"tokenizer\.json"):
        inspect_model(spoiled(zoo, tmp_path / "m", name))


def test_real_tokenizers_do_not_grow() -> None:
    expressions = [{"type": "Replace", "pattern": {"Regex": pattern}, "content": "▁"} for pattern in (" {2,}", "\n+")]
    check_growth({"normalizer": {"type": "Sequence", "normalizers": expressions}})
    check_growth({"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}, "padding": None})
    with pytest.raises(FileError):
        check_growth({"normalizer": {"type": "Sequence", "normalizers": expressions * 10}})


@pytest.mark.slow
def test_a_child_that_grows_ends_itself(zoo: Zoo, tmp_path: Path) -> None:
    """Whatever the look at the file has let pass."""
    with pytest.raises(TokenizerBroken, match="tokenizer or chat template"):
        checked(spoiled(zoo, tmp_path / "m", "long replacements"), FirstUse())


_LARGE_PROGRAM = """
import sys
from engine.models.first_use import FirstUse
from engine.models.first_use_child import TOO_LONG
from engine.models.first_use_child import MEMORY_BYTES
b"x" * (MEMORY_BYTES + (64 << 20))
print(list(FirstUse().check(__import__("pathlib").Path(sys.argv[1])))[:0])
"""


@pytest.mark.slow
def test_how_large_the_program_itself_has_been_does_not_matter(zoo: Zoo) -> None:
    """A process on Linux inherits the peak of the one that started it, and with a real model that is gigabytes."""
    command = [sys.executable, "-c", _LARGE_PROGRAM, str(zoo.main)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)

    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_a_template_without_end_is_refused_once(zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(zoo.main, tmp_path / "m")
    (folder / "chat_template.jinja").write_text(HANGS)
    with pytest.raises(TokenizerBroken):
        checked(folder, FirstUse(tmp_path / "tried.json"))
    monkeypatch.setattr(first_use, "_try", lambda folder: pytest.fail("tried again"))
    with pytest.raises(TokenizerBroken):
        checked(folder, FirstUse(tmp_path / "tried.json"))


def ended_by(number: int, monkeypatch: pytest.MonkeyPatch, times: int = 1) -> None:
    """Have the next processes that try a model be ended by this signal as soon as they have begun."""
    start, left = subprocess.Popen, [number] * times

    def ended(*arguments: Any, **named: Any) -> subprocess.Popen[bytes]:
        child = start(*arguments, **named)
        if left:
            child.send_signal(left.pop())
        return child

    monkeypatch.setattr("engine.models.first_use.subprocess.Popen", ended)


@pytest.mark.expect_log("could not be tried to the end")  # where Python is up already, SIGINT is a KeyboardInterrupt
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_that_the_child_was_ended_from_outside_is_no_answer(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    ended_by(number, monkeypatch)
    before = signal.signal(number, signal.SIG_DFL)  # a child ignores what its parent does
    checked(zoo.main, FirstUse(tmp_path / "tried.json"))
    signal.signal(number, before)
    assert not (tmp_path / "tried.json").exists()


def test_a_model_whose_child_was_killed_is_tried_again_and_if_it_was_killed_twice_refused_this_time(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory may have been short because of it, or of anything else."""
    use = FirstUse(tmp_path / "tried.json")
    ended_by(signal.SIGKILL, monkeypatch, times=2)
    with pytest.raises(TokenizerBroken, match="killed"):
        checked(zoo.main, use)
    assert not (tmp_path / "tried.json").exists()
    ended_by(signal.SIGKILL, monkeypatch)
    checked(zoo.main, use)
    assert answers(tmp_path / "tried.json") == [0]


def answers(kept: Path) -> list[int]:
    return list(json.loads(kept.read_text())["answers"].values())


@pytest.mark.parametrize("number", [signal.SIGXCPU, signal.SIGSEGV])
def test_what_a_child_does_to_itself_is_an_answer(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    ended_by(number, monkeypatch)
    for _ in range(2):
        with pytest.raises(TokenizerBroken, match="crash"):
            checked(zoo.main, FirstUse(tmp_path / "tried.json"))
    assert answers(tmp_path / "tried.json") == [-number]


@pytest.mark.parametrize("status", fair([1, 2], 2))
@pytest.mark.expect_log("could not be tried to the end")
def test_that_the_child_died_by_a_fault_of_ours_is_no_answer(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """It is asked again at the next load."""
    kept, folder = tmp_path / "tried.json", shutil.copytree(zoo.main, tmp_path / "m")
    let_grow(folder)
    with monkeypatch.context() as broken:
        broken.setattr(first_use, "command", lambda *_: [sys.executable, "-c", f"raise SystemExit({status})"])
        checked(folder, FirstUse(kept))
    assert not kept.exists()
    with pytest.raises(TokenizerBroken):
        checked(folder, FirstUse(kept))


@pytest.mark.parametrize("name", ["SIGXCPU", "SIGINT"])
def test_the_exit_status_of_a_child_tells_what_ended_it(name: str) -> None:
    """Also where the program that started it ignores the signal, and though Python has a handler of its own."""
    code = (
        "import os, signal, sys; from engine.models import first_use_child\n"
        "assert not {'mlx', 'mlx_lm', 'transformers', 'PySide6', 'numpy'} & set(sys.modules)\n"  # a small process
        f"signal.signal(signal.{name}, signal.SIG_IGN); first_use_child._set_limits()\n"
        f"os.kill(os.getpid(), signal.{name})"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == -signal.Signals[name]


def test_it_is_asked_again_when_a_file_changes(zoo: Zoo, tmp_path: Path) -> None:
    folder, kept = shutil.copytree(zoo.main, tmp_path / "m"), tmp_path / "tried.json"
    write_kept(kept, {"answers": {first_use.identity_of(folder): 0}}, 1 << 20)
    use = FirstUse(kept)
    assert next(use.check(folder), "done") == "done"  # without a process
    let_grow(folder)
    with pytest.raises(TokenizerBroken):
        checked(folder, use)


def test_aborting_ends_the_child(zoo: Zoo, tmp_path: Path) -> None:
    folder = shutil.copytree(zoo.main, tmp_path / "m")
    (folder / "chat_template.jinja").write_text(HANGS)
    before = children()
    slices = FirstUse().check(folder)
    next(slices)
    slices.close()
    assert children() <= before


def children() -> set[str]:
    """The processes that this one has started; on Linux only."""
    return {number for task in Path("/proc/self/task").glob("*/children") for number in task.read_text().split()}


@pytest.mark.expect_log("could not load")
def test_an_engine_asks_before_it_loads(zoo: Zoo, tmp_path: Path) -> None:
    """Here what was found before it began."""
    kept = tmp_path / "cache" / "tried.json"
    kept.parent.mkdir()
    write_kept(kept, {"answers": {first_use.identity_of(zoo.main): TOO_LONG}}, 1 << 20)
    engine = Engine(kept.parent)
    answer = EngineClient(engine).load(zoo.main)
    assert engine.close()
    assert isinstance(answer, ModelFailed)
    assert isinstance(answer.error, TokenizerBroken)


def test_a_model_that_is_new_says_that_it_is_checked(zoo: Zoo, tmp_path: Path) -> None:
    """Once: the second load of the same files goes on at once."""
    engine = Engine(tmp_path)
    client = EngineClient(engine)
    heard: list[str] = []
    for _ in range(2):
        heard.append("load")
        end = engine.subscribe(lambda event: heard.append("checking") if isinstance(event, ModelChecking) else None)
        assert isinstance(client.load(zoo.main), ModelReady)
        end()
    assert engine.close()
    assert heard == ["load", "checking", "load"]
    assert answers(tmp_path / "tried.json") == [0]


@pytest.mark.parametrize("name", ["generation_config.json", "hf_quant_config.json"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_files_without_end_are_refused_before_anybody_opens_them(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """mlx-lm opens them by itself, and would read them to the end."""
    folder = shutil.copytree(zoo.main, tmp_path / "m")
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    monkeypatch.setattr(first_use, "_try", lambda folder: pytest.fail("tried"))
    with pytest.raises(ModelDamaged, match=f"{name}: not a file"):
        at_once(loading(folder, first_use=FirstUse()))
