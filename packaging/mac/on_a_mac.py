"""What a Mac shows of Hunch without hands, in one file to attach to an issue: `packaging/mac/on_a_mac.sh [APP]`.

Each step looks at the checkout or at Hunch.app and ends as seen, failed or not seen, with figures. All of them use
profiles of their own, so no chat of the user is opened. The file has no text of a model, and `Scrubber` leaves out
paths, names and numbers by which the Mac or its user could be known.

Only the standard library, and Python 3.9 as in macOS's own tools: making .venv is one of the steps.
"""

from __future__ import annotations

import argparse
import json
import os
import plistlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

from report import (
    APP,
    BOTH,
    CHECKOUT,
    FAILED,
    STEPS,
    Failure,
    Run,
    Subject,
    Unseen,
    report,
    said_by,
    scrubber_for,
    step,
)

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = (
    "What is speculative decoding?",
    "What is a draft model?",
    "How do I stop a reply?",
    "Where are my chats kept?",
    "초안 모델이 뭐예요?",
    "返事を途中で止めるには？",
    "什么是投机解码？",
    "Why is the draft sometimes parked?",
)
DRAFTED = 4  # tokens at a time, where drafters are compared
TRAINED = ("draft", "dflash", "eagle3", "mtp")  # folders of the starter
_LEAST_OF_CPU = 0.75  # of the tokens a pass there; on a GPU drafters are quantized
_MOST_APART = 0.1  # of two calibrations
_MOST_ERROR = 0.02
_LEAST_GAIN = 0.95  # of tokens/s with the draft on auto; the rest is noise
_LEAST_HIDDEN = 0.8
_SECONDS_TO_WINDOW = 2.0
_WIDTHS = range(1, 17)
_WATCHED_S = 20.0
_AFTER_REPLY_S = 5.0
_ASLEEP_S = 45  # after which `pmset relative wake` wakes the Mac
_ACCELERATED = "macosx_26_0_arm64"  # the wheel of MLX with kernels for neural accelerators

# In a process whose MLX computes on the CPU: the app's command line.
_ON_CPU = """
import runpy, mlx.core as mx
mx.set_default_device(mx.cpu)
runpy.run_module("app", run_name="__main__")
"""
_VERSIONS = """
import platform, sys, mlx.core as mx, mlx_lm, PySide6
from engine.models import mlx_build
print(f"Python {platform.python_version()}, MLX {mx.__version__}", end=", ")
print(f"mlx-lm {mlx_lm.__version__}, Qt {PySide6.__version__}")
print(mx.default_device())
print(mlx_build.wheel())
"""
# Of the kinds that the starter has none of: untrained ones.
_MAKE_DRAFTERS = """
import json, sys
from pathlib import Path
from tests.helpers.tiny_drafters import KINDS, save_kind
made, main, trained = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), sys.argv[3:]
for kind in KINDS:
    if kind not in trained:
        print(save_kind(kind, made / kind, main))
"""


class Opened:
    """A Hunch with its window open, and its server on a port of its own."""

    def __init__(self, run: Run, subject: Subject, profile: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._run = run
        self.profile = profile
        settings = {"server_on": True, "server_port": self._port}
        if run.pair[0].parent != run.starter:
            main, draft = run.pair
            settings.update(main_folder=str(main), draft_folder=str(draft))
        (profile / "data").mkdir(parents=True, exist_ok=True)
        (profile / "data" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        started = time.monotonic()
        self.process = run.start(
            [*subject.command, "--profile-dir", profile], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        run.wait_for(self._answers, "its server does not answer", 90)
        self.seconds = time.monotonic() - started

    @property
    def calibration(self) -> dict[str, Any]:
        """{} until the pair is measured."""
        for file in (self.profile / "cache" / "calibration").glob("*.json"):
            with suppress(OSError, ValueError):
                found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
                return found
        return {}

    def ask(self, question: str = QUESTIONS[0], **fields: Any) -> dict[str, Any]:
        asked = {"model": "default", "temperature": 0, "seed": 1, "max_tokens": 200, **fields}
        asked["messages"] = [{"role": "user", "content": question}]
        return self._http("/v1/chat/completions", json.dumps(asked).encode())

    def speed(self, **fields: Any) -> float:
        """Tokens a second over all questions, as the engine has measured them."""
        timings = [self.ask(question, **fields)["timings"] for question in QUESTIONS]
        return speed_of(timings)

    def is_running(self) -> bool:
        return self.process.poll() is None

    def quit(self) -> float:
        """As the Dock does it. Seconds until the process has ended."""
        started = time.monotonic()
        self.tell("terminate")
        try:
            status = self.process.wait(self._run.left(20))
        except subprocess.TimeoutExpired:
            raise Failure("it is still there 20 s after Quit") from None
        if status:
            raise Failure(f"after Quit its exit status is {status}")
        return time.monotonic() - started

    def tell(self, word: str) -> None:
        """A message of NSRunningApplication: no permission is asked for, as it would be for an Apple event."""
        application = f"$.NSRunningApplication.runningApplicationWithProcessIdentifier({self.process.pid})"
        done = self._run.mac(
            "usr/bin/osascript", "-l", "JavaScript", "-e", f'ObjC.import("AppKit"); {application}.{word}', within=20
        )
        if done.status:
            raise Failure(f"osascript: {done.last_words}")

    def _answers(self) -> bool:
        if not self.is_running():
            raise Failure(f"it has ended with {self.process.returncode}")
        with suppress(OSError, ValueError):
            return "data" in self._http("/v1/models")
        return False

    def _http(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}", body, headers)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=self._run.left(300)) as answer:  # a large model may have to be loaded first
            found: dict[str, Any] = json.load(answer)
        return found


def speed_of(timings: Iterable[dict[str, Any]]) -> float:
    timings = list(timings)
    seconds = sum(float(each["predicted_ms"]) for each in timings) / 1000
    return sum(int(each["predicted_n"]) for each in timings) / seconds if seconds else 0.0


@contextmanager
def always_replying(opened: Opened) -> Iterator[None]:
    """Two replies at a time, so that one is always being written."""
    over = threading.Event()
    threads = [threading.Thread(target=_ask_until, args=(opened, over), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(10)


def _ask_until(opened: Opened, over: threading.Event) -> None:
    with suppress(OSError, ValueError, HTTPException, Failure):  # the step notices that the app has gone
        while not over.is_set():
            opened.ask(max_tokens=400, temperature=1, seed=None)


@step(CHECKOUT, seconds=420)
def setup(run: Run, _subject: Subject) -> None:
    """`packaging/bootstrap.sh` makes .venv."""
    done = run.call("/bin/sh", run.checkout / "packaging" / "bootstrap.sh", "dev")
    if done.status:
        raise Failure(done.last_words)


@step(APP, seconds=120)
def image(run: Run, subject: Subject) -> None:
    """hdiutil verifies and mounts the image, and the app can be copied from it."""
    if run.image is None or subject.app is None:
        raise Unseen("no image was given")
    done = run.mac("usr/bin/hdiutil", "verify", "-quiet", run.image)
    run.note(f"image of {run.image.stat().st_size / 1e6:.0f} MB, hdiutil verify: exit status {done.status}")
    if done.status:
        raise Failure(done.last_words)
    attached = run.mac("usr/bin/hdiutil", "attach", "-nobrowse", "-readonly", "-plist", run.image)
    if attached.status:
        raise Failure(f"hdiutil attach: {attached.last_words}")
    entities = plistlib.loads(attached.out.encode())["system-entities"]
    volume = next(each["mount-point"] for each in entities if "mount-point" in each)
    try:
        copied = run.mac("usr/bin/ditto", f"{volume}/Hunch.app", subject.app)
    finally:
        run.mac("usr/bin/hdiutil", "detach", "-quiet", volume)
    if copied.status:
        raise Failure(f"ditto: {copied.last_words}")


@step(APP, seconds=60)
def gatekeeper(run: Run, subject: Subject) -> None:
    """Noted only: what macOS says of a copy that a browser has downloaded."""
    run.mac("usr/bin/xattr", "-w", "com.apple.quarantine", "0081;00000000;Safari;", subject.app)
    try:
        judged = run.mac("usr/sbin/spctl", "-a", "-vv", subject.app)
    finally:
        run.mac("usr/bin/xattr", "-d", "com.apple.quarantine", subject.app)
    run.note(f"Gatekeeper: {(judged.err or judged.out).strip().splitlines()[0].rpartition(': ')[2]}")


@step(CHECKOUT, seconds=90)
def mlx(run: Run, _subject: Subject) -> None:
    """MLX's wheel for macOS 26 from macOS 26.2 on, else an older one."""
    done = run.call(run.python, "-c", _VERSIONS)
    if done.status:
        raise Failure(done.last_words)
    said, device, wheel = done.out.strip().splitlines()
    run.facts += [("checkout", said), ("MLX of the checkout", f"{wheel}, on {device}")]
    _judge_wheel(run, wheel)


def _judge_wheel(run: Run, wheel: str) -> None:
    run.note(f"MLX: {wheel}")
    done = run.mac("usr/bin/sw_vers", "-productVersion")
    macos = tuple(int(part) for part in re.findall(r"\d+", done.out)[:2])
    if (wheel == _ACCELERATED) != (macos >= (26, 2)):
        raise Failure(f"{wheel} on macOS {done.out.strip()}")


@step(*BOTH, seconds=150)
def start(run: Run, subject: Subject) -> None:
    """Two starts with a reply: the second has its window within two seconds, and drafts are accepted."""
    for nth in ("first", "second"):
        done = run.call(*subject.command, "--smoke", run.work / f"{subject.name}.png")
        if done.status:
            raise Failure(done.last_words)
        found = json.loads(done.out.strip().splitlines()[-1])
        rate = found["accepted"] / found["drafted"] if found["drafted"] else 0.0
        window_s, token_s = found["seconds_to_window"], found["seconds_to_first_token"]
        speed = f"{found['tokens_per_second']:.0f} tokens/s, accept rate {rate:.0%}"
        run.note(f"{nth} start: window after {window_s:.2f} s, first token after {token_s:.2f} s, {speed}")
    if window_s > _SECONDS_TO_WINDOW and "CI" not in os.environ:  # of hosted machines speeds mean nothing
        raise Failure("the window of the second start came late")
    if not found["accepted"]:
        raise Failure("no drafted token was accepted")


@step(CHECKOUT, seconds=240)
def sleep(run: Run, subject: Subject) -> None:
    """Replies go on after this Mac has slept."""
    if not run.sleeps:
        raise Unseen("offered: --sleep lets this Mac sleep for a minute")
    pmset = run.program("usr/bin/pmset")
    opened = Opened(run, subject, run.work / "slept")
    opened.ask()
    # In this session and terminal, because sudo may ask for a password.
    wakes = subprocess.run([run.program("usr/bin/sudo"), pmset, "relative", "wake", str(_ASLEEP_S)], check=False)
    run.note("wakes by itself" if not wakes.returncode else "to be woken by a key")
    with always_replying(opened):
        before = slept_s()
        done = run.call(pmset, "sleepnow")
        if done.status:
            raise Failure(f"pmset sleepnow: {done.last_words}")
        run.wait_for(lambda: slept_s() - before > 2, "this Mac has not slept", 150)
        run.note(f"asleep for {slept_s() - before:.0f} s")
        opened.ask()
    run.note(f"{opened.speed():.0f} tokens/s afterwards")
    opened.quit()


@step(APP, seconds=60)
def libraries(run: Run, subject: Subject) -> None:
    """No library is loaded from outside the app, /usr/lib and /System."""
    shot = run.work / "libraries.png"
    done = run.call(*subject.command, "--smoke", shot, more={"DYLD_PRINT_LIBRARIES": "1"})
    loaded = re.findall(r"(?m)> (/.+)$", done.err)
    if not loaded:
        raise Unseen("dyld names no library: the runtime is hardened")
    own = (str(subject.app), os.path.realpath(str(subject.app)))
    outside = sorted({path for path in loaded if not path.startswith(("/usr/lib/", "/System/", *own))})
    run.note(f"{len(loaded)} libraries, {len(outside)} from outside")
    if outside or done.status:
        raise Failure(", ".join(outside[:10]) or done.last_words)


@step(*BOTH, seconds=90)
def ask(run: Run, subject: Subject) -> None:
    """`ask` answers in Korean, reads stdin, has no Dock icon, and ends by Ctrl-C with 130."""
    answered = _written(run, subject, "초안 모델이 뭐예요?", "--speculate", "auto")
    if not re.search(r"[가-힣]", answered["text"]):
        raise Failure("the reply to a Korean question has no Korean letter")
    by_stdin = run.call(*_ask_command(run, subject, "-"), said=QUESTIONS[0])
    if by_stdin.status:
        raise Failure(f"with stdin: {by_stdin.last_words}")
    _stop_asking(run, subject)


def _stop_asking(run: Run, subject: Subject) -> None:
    """By Ctrl-C, after a look at the list of apps while it writes."""
    output = run.work / "asked.txt"
    with output.open("wb") as file:
        child = run.start(_ask_command(run, subject, QUESTIONS[0], "--speculate=off", most=4000), stdout=file)
    run.wait_for(lambda: output.stat().st_size > 0 or child.poll() is not None, "`ask` writes nothing", 60, 0.02)
    listed = run.mac("usr/bin/lsappinfo", "list").out
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGINT)
    status = child.wait(run.left(20))
    run.note(f"Ctrl-C: exit status {status}")
    if re.search(rf'pid = {child.pid}\b.*?type="Foreground"', listed):
        raise Failure("macOS lists it as an app with a Dock icon")
    if status not in (130, -signal.SIGINT, 0):  # a shell has 130 for the second too; 0: it had written all
        raise Failure("Ctrl-C does not end it with 130")


def _ask_command(run: Run, subject: Subject, question: str, *more: str, most: int = 120) -> list[object]:
    profile = run.work / "asked"
    return [*subject.command, "ask", "--profile-dir", profile, "--max-tokens", most, *more, question]


def _written(run: Run, subject: Subject, question: str, *more: str) -> dict[str, Any]:
    done = run.call(*_ask_command(run, subject, question, "--json", *more), within=120)
    if done.status:
        raise Failure(done.last_words)
    found: dict[str, Any] = json.loads(done.out)
    return found


@step(*BOTH, seconds=360)
def drafters(run: Run, subject: Subject) -> None:
    """With each kind of drafter the same tokens as alone, and of trained ones about as many a pass as on the CPU."""
    cpu = Subject(CHECKOUT, (str(run.python), "-c", _ON_CPU)) if subject.name == CHECKOUT else None
    alone = _drafted(run, subject, "none", "off")
    run.note(f"alone: {len(alone['tokens'])} tokens")
    if cpu is not None:
        on_cpu = _drafted(run, cpu, "none", "off")
        run.note(f"alone on the CPU, which computes in float32: {compared(on_cpu['tokens'], alone['tokens'])}")
    wrong = list[str]()
    for kind, folder, more in _kinds(run):
        try:
            found = _drafted(run, subject, folder, str(DRAFTED), *more)
            there = _drafted(run, cpu, folder, str(DRAFTED)) if cpu is not None and kind in TRAINED else None
        except Failure as why:
            wrong.append(kind)
            run.note(f"{kind}: {why}")
            continue
        gain = found["stats"]["tokens_per_pass"]
        least = 0.0 if there is None else _LEAST_OF_CPU * there["stats"]["tokens_per_pass"]
        beside = "" if there is None else f", {there['stats']['tokens_per_pass']:.2f} on the CPU"
        run.note(f"{kind}: {compared(found['tokens'], alone['tokens'])}, {gain:.2f} tokens a pass{beside}")
        if found["tokens"] != alone["tokens"] or gain < least:
            wrong.append(kind)
    if wrong:
        raise Failure(f"not as expected: {', '.join(wrong)}")


def _kinds(run: Run) -> list[tuple[str, str, tuple[str, ...]]]:
    """(kind, folder, further options): trained ones of the starter, and of each other kind an untrained one."""
    folders = {kind: str(run.starter / kind) for kind in TRAINED}
    if run.python.exists():
        config = run.starter / "main" / "config.json"
        made = run.call(run.python, "-c", _MAKE_DRAFTERS, run.work / "drafters", config, *TRAINED)
        if made.status:
            run.note(f"no untrained drafters: {made.last_words}")
        folders.update({Path(line).name: line for line in made.out.splitlines()})
    alone = [("lookup", "none", ()), ("two processes", "none", ("--ranks=2",))]
    return [*alone, *((kind, folder, ()) for kind, folder in folders.items())]


def _drafted(run: Run, subject: Subject, draft: str, length: str, *more: str) -> dict[str, Any]:
    models = ("--model", str(run.starter / "main"), "--draft", draft)
    return _written(run, subject, QUESTIONS[0], *models, "--speculate", length, "--temperature", "0", *more)


def compared(found: list[int], alone: list[int]) -> str:
    if found == alone:
        return "the same tokens"
    shorter = min(len(found), len(alone))
    at = next((at for at in range(shorter) if found[at] != alone[at]), shorter)
    return f"other tokens from the {at + 1}. on"


@step(*BOTH, seconds=400)
def calibration(run: Run, subject: Subject) -> None:
    """Two measurements, with errors below 2 %, agree in what each width costs beside one token within 10 %. A start
    after that measures nothing.
    """
    if "Battery Power" in run.mac("usr/bin/pmset", "-g", "batt").out:
        raise Unseen("it is measured with the power cable in")
    first = _measured(run, subject, run.profile(subject))
    second = _measured(run, subject, run.work / f"{subject.name}-again")
    kept = _measured(run, subject, run.profile(subject))
    if subject.name == APP:
        system, device, chip, *_, wheel, mlx, mlx_lm = first["machine"]
        run.facts.append((f"MLX of the {subject.name}", f"{wheel} {mlx}, mlx-lm {mlx_lm}, {device}, {chip}, {system}"))
        _judge_wheel(run, wheel)
    shares = {width: _share(second, width) / _share(first, width) for width in _WIDTHS}
    apart = max(shares, key=lambda width: abs(shares[width] - 1))
    ratio = second["verify_s"]["1"] / first["verify_s"]["1"]
    run.note(
        f"second beside first: width 1 {ratio:.2f}; shares of it differ most at {apart}, by {shares[apart] - 1:+.0%}"
    )
    if kept["verify_s"] != first["verify_s"]:
        raise Failure("a second start with the same profile has measured again")
    if max(first["error"], second["error"]) > _MOST_ERROR:
        raise Failure(f"the error is above {_MOST_ERROR}: does something else keep this Mac busy?")
    if abs(shares[apart] - 1) > _MOST_APART:
        raise Failure(f"the prices differ by more than {_MOST_APART:.0%}")


def _share(found: dict[str, Any], width: int) -> float:
    return float(found["verify_s"][str(width)]) / float(found["verify_s"]["1"])


def _measured(run: Run, subject: Subject, profile: Path) -> dict[str, Any]:
    is_new = not profile.exists()
    opened = Opened(run, subject, profile)
    opened.ask()
    run.wait_for(lambda: bool(opened.calibration), "no calibration file appears", 150)
    found = opened.calibration
    if is_new:
        times = {int(width): 1000 * seconds for width, seconds in found["verify_s"].items()}
        widths = sorted(times)
        falls = [b for a, b in (widths[at : at + 2] for at in range(len(widths) - 1)) if times[b] < 0.95 * times[a]]
        run.note(f"ms a forward by width: {', '.join(f'{width}: {times[width]:.3g}' for width in widths)}")
        run.note(f"less than the width before by more than 5 %: {', '.join(map(str, falls)) or 'none'}")
        deep = {width: 1e6 * seconds for width, seconds in found["deep_s"].items()}
        run.note(
            f"µs more for each 1,000 tokens of context: {', '.join(f'{w}: {1000 * s:.0f}' for w, s in deep.items())}"
        )
        token_ms, draft_ms = (1000 * sum(found[name].values()) for name in ("draft_s", "round_s"))
        deep_us = 1e9 * sum(found["draft_deep_s"].values())
        run.note(
            f"a draft: {draft_ms:.2f} ms, and {token_ms:.2f} ms a token; {deep_us:.0f} µs more for 1,000 of context"
        )
        run.note(f"error {found['error']:.3f}, rounding {found['rounding']:.2g} nats")
    opened.quit()
    return found


@step(*BOTH, seconds=300)
def race(run: Run, subject: Subject) -> None:
    """The same texts without and with the draft at one seed, and never slower with it."""
    opened = Opened(run, subject, run.profile(subject))
    opened.ask()
    different = list[str]()
    for name, temperature in (("greedy", 0), ("sampled", 0.8)):
        timings: dict[str, list[dict[str, Any]]] = {"off": [], "auto": []}
        for at, question in enumerate(QUESTIONS):
            texts = set[str]()
            for speculation, taken in timings.items():
                answer = opened.ask(question, temperature=temperature, speculation=speculation)
                texts.add(answer["choices"][0]["message"]["content"])
                taken.append(answer["timings"])
            different += [f"question {at + 1}, {name}"] if len(texts) > 1 else []
        off, auto = speed_of(timings["off"]), speed_of(timings["auto"])
        drafted = sum(each["draft_n"] for each in timings["auto"])
        accepted = sum(each["draft_n_accepted"] for each in timings["auto"])
        rate = f"{accepted / drafted:.0%} of {drafted}" if drafted else "nothing"
        run.note(f"{name}: {off:.0f} tokens/s without, {auto:.0f} with the draft ({auto / off:.2f}×), {rate} accepted")
        if auto < _LEAST_GAIN * off:
            different.append(f"slower with the draft, {name}")
    for count in (2, 4):
        run.note(f"{count} chats at once: {_at_once(opened, count):.0f} tokens/s together")
    opened.quit()
    if different:
        raise Failure(f"not as expected: {', '.join(different)}")


def _at_once(opened: Opened, count: int) -> float:
    written = list[int]()
    threads = [
        threading.Thread(target=lambda question: written.append(_length(opened, question)), args=(question,))
        for question in QUESTIONS[:count]
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(written) / (time.monotonic() - started)


def _length(opened: Opened, question: str) -> int:
    return int(opened.ask(question)["usage"]["completion_tokens"])


@step(*BOTH, seconds=120)
def energy(run: Run, subject: Subject) -> None:
    """pmset names "reply" while one is written and not after; replies of a hidden app are as fast."""
    opened = Opened(run, subject, run.profile(subject))
    opened.ask()
    with always_replying(opened):
        run.wait_for(lambda: "reply" in _held(run, opened), 'pmset names no "reply" while one is written', 15)
    started = time.monotonic()
    run.wait_for(lambda: not _held(run, opened), "an assertion is held 5 s after the last reply", 5)
    run.note(f"named while a reply is written, and no more {time.monotonic() - started:.1f} s after it")
    shown = opened.speed()
    opened.tell("hide")
    time.sleep(_WATCHED_S)  # until App Nap could begin
    hidden = opened.speed()
    run.note(f"{shown:.0f} tokens/s, {hidden:.0f} after {_WATCHED_S:.0f} s hidden")
    opened.quit()
    if hidden < _LEAST_HIDDEN * shown:
        raise Failure("replies are slower while the app is hidden")


def _held(run: Run, opened: Opened) -> list[str]:
    """Reasons of the app's power assertions."""
    said = run.mac("usr/bin/pmset", "-g", "assertions").out
    return re.findall(rf'pid {opened.process.pid}\(.*named: "([^"]*)"', said)


@step(*BOTH, seconds=90)
def rest(run: Run, subject: Subject) -> None:
    """Below 1 % of a processor while the app rests."""
    opened = Opened(run, subject, run.profile(subject))
    opened.ask()
    if not opened.calibration:
        raise Unseen("the pair is still being measured")
    time.sleep(_AFTER_REPLY_S)  # what follows a reply, such as its chat's title
    before = _processor_s(run, opened)
    time.sleep(_WATCHED_S)
    share = (_processor_s(run, opened) - before) / _WATCHED_S
    run.note(f"{share:.2%} of a processor over {_WATCHED_S:.0f} s")
    opened.quit()
    if share > 0.01:
        raise Failure("it works while it rests")


def _processor_s(run: Run, opened: Opened) -> float:
    """As macOS's ps writes it: 1:02.34."""
    said = run.mac("bin/ps", "-o", "time=", "-p", opened.process.pid).out.strip()
    seconds = 0.0
    for part in said.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


@step(*BOTH, seconds=90)
def ends(run: Run, subject: Subject) -> None:
    """A second copy ends and shows the first. Quit ends that while it writes, with 0 and no process left."""
    opened = Opened(run, subject, run.profile(subject))
    run.note(f"{opened.seconds:.1f} s until the server answers")
    second = run.call(*subject.command, "--profile-dir", opened.profile, within=30)
    if second.status or not opened.is_running():
        raise Failure(f"a second copy ends with {second.status}; the first is there: {opened.is_running()}")
    front = run.mac("usr/bin/lsappinfo", "front").out.strip()
    shown = run.mac("usr/bin/lsappinfo", "info", "-only", "pid", front).out
    with always_replying(opened):
        opened.ask()
        run.note(f"Quit while a reply is written: {opened.quit():.1f} s")
    with suppress(ProcessLookupError):
        os.killpg(opened.process.pid, 0)
        raise Failure("a process that it started is left")
    if f'"pid"={opened.process.pid}' not in shown:
        raise Failure("a second start did not bring the first window to the front")


def slept_s() -> float:
    """Grows while the machine sleeps: only one of the two clocks goes on then."""
    return time.time() - time.monotonic()


@step(CHECKOUT, seconds=300)
def fresh(run: Run, _subject: Subject) -> None:
    """`make smoke` of a clone with PATH=/usr/bin:/bin; below Rosetta its Python is for arm64 too."""
    if not (run.checkout / ".git").exists():
        raise Unseen("this is no clone")
    clone = run.work / "clone"
    bare = {"HOME": str(Path.home()), "PATH": "/usr/bin:/bin"}
    done = run.mac("usr/bin/git", "clone", "--quiet", "--local", run.checkout, clone)
    made = run.mac("usr/bin/make", "smoke", cwd=clone, env=bare) if not done.status else done
    if made.status:
        raise Failure(made.last_words)
    run.note("make smoke: a reply")
    if run.mac("usr/bin/arch", "-x86_64", "/usr/bin/true").status:
        run.note("no Rosetta")
        return
    shutil.rmtree(clone / ".venv")
    arch = run.program("usr/bin/arch")
    below = run.call(arch, "-x86_64", "/bin/sh", "packaging/bootstrap.sh", cwd=clone, env=bare)
    if below.status:
        raise Failure(f"below Rosetta: {below.last_words}")
    machine = "import platform; print(platform.machine())"
    said = run.call(arch, "-x86_64", "/bin/sh", "-c", f".venv/bin/python -c '{machine}'", cwd=clone, env=bare)
    run.note(f"below Rosetta: {said.out.strip()}")
    if said.out.strip() != "arm64":
        raise Failure("below Rosetta a Python for Intel is taken")


@step(APP, seconds=60)
def seal(run: Run, subject: Subject) -> None:
    """codesign still verifies the app: nothing was written into it."""
    done = run.mac("usr/bin/codesign", "--verify", "--strict", "-vv", subject.app)
    if done.status:
        raise Failure(done.last_words)


@step(CHECKOUT, seconds=float("inf"))
def tests(run: Run, _subject: Subject) -> None:
    """`make test` is green."""
    child = run.start([run.program("usr/bin/make"), "test"])
    is_over = True
    try:
        out, _ = child.communicate(timeout=max(1.0, run.left() - 20))
    except subprocess.TimeoutExpired:
        is_over = False
        os.killpg(child.pid, signal.SIGINT)  # pytest then says what has failed so far
        with suppress(subprocess.TimeoutExpired):
            out, _ = child.communicate(timeout=15)
    lines = out.strip().splitlines() if child.poll() is not None else []
    red = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    counts = [line.strip("= ") for line in lines if re.search(r"\d+ (passed|failed|errors?)", line)]
    for line in [*counts[-1:], *red[:30]]:
        run.note(line)
    if red:
        raise Failure(f"{len(red)} red")
    if not is_over:
        raise Unseen("not finished in the time that was left")
    if child.returncode:
        raise Failure((lines or ["make test ended without a word"])[-1])


@step(CHECKOUT, seconds=60)
def crashes(run: Run, _subject: Subject) -> None:
    """macOS has written no crash report of Hunch or Python meanwhile."""
    folder = Path.home() / "Library" / "Logs" / "DiagnosticReports"
    new = [file for file in folder.glob("*.ips") if file.stat().st_mtime >= run.begun_at]
    found = [file for file in new if re.match(r"(?i)hunch|python", file.name)]
    for file in found:
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8", errors="replace").partition("\n")[2])
        raised = told.get("exception", {})
        frames = told.get("threads", [{}])[told.get("faultingThread", 0)].get("frames", [])[:8]
        symbols = " < ".join(str(frame.get("symbol", "?")) for frame in frames)
        run.note(f"{told.get('procName')}: {raised.get('type')} {raised.get('signal')}: {symbols}")
    if found:
        raise Failure(f"{len(found)} crash reports")


def machine(run: Run) -> Iterator[tuple[str, str]]:
    said = partial(said_by, run)
    cores = "+".join(filter(None, (said("usr/sbin/sysctl", "-n", f"hw.perflevel{at}.physicalcpu") for at in (0, 1))))
    graphics = re.search(r"Total Number of Cores: (\d+)", said("usr/sbin/system_profiler", "SPDisplaysDataType"))
    memory = int(said("usr/sbin/sysctl", "-n", "hw.memsize") or 0)
    chip = said("usr/sbin/sysctl", "-n", "machdep.cpu.brand_string")
    yield "Mac", f"{said('usr/sbin/sysctl', '-n', 'hw.model')}, {chip}, {cores} cores, {memory / 2**30:.0f} GB"
    yield "GPU", f"{graphics[1]} cores" if graphics else "?"
    system = said("usr/bin/sw_vers", "-productVersion"), said("usr/bin/sw_vers", "-buildVersion")
    yield "macOS", f"{system[0]} ({system[1]}), Darwin {os.uname().release}"
    power = re.search(r"'(.+?)'", said("usr/bin/pmset", "-g", "batt"))
    saves = re.search(r"lowpowermode\s+1", said("usr/bin/pmset", "-g"))
    yield "power", f"{power[1] if power else '?'}{', Low Power Mode' if saves else ''}"
    yield "load", " ".join(f"{each:.1f}" for each in os.getloadavg())
    yield "free disk", f"{shutil.disk_usage(run.checkout).free / 1e9:.0f} GB"
    project = (run.checkout / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'(?m)^version = "(.+)"', project)
    commit = said("usr/bin/git", "rev-parse", "--short", "HEAD")
    changed = ", changed" if said("usr/bin/git", "status", "--porcelain", "--untracked-files=no") else ""
    yield "Hunch", f"{version[1] if version else '?'}, {commit}{changed}"


def subjects(run: Run, given: Path | None) -> Iterator[Subject]:
    yield Subject(CHECKOUT, (str(run.python), "-m", "app"))
    built = [run.checkout / "build" / "app" / name for name in ("Hunch.dmg", "Hunch.app")]
    app = given or next((path for path in built if path.exists()), None)
    if app is not None and app.suffix == ".dmg":
        run.image = app
        app = run.work / "Hunch.app"
    if app is not None:
        yield Subject(APP, (str(app / "Contents" / "MacOS" / "Hunch"),), app)


def main(arguments: list[str] | None = None, root: Path = Path("/"), checkout: Path = ROOT) -> int:
    """`root`: where macOS's own programs are below."""
    options = _parsed(arguments)
    run = Run(checkout, root, options.minutes)
    run.sleeps = options.sleep
    if options.model is not None:
        run.pair = options.model.resolve(), options.draft.resolve()
    shutil.rmtree(run.work, ignore_errors=True)
    run.work.mkdir(parents=True)
    scrubber = scrubber_for(run)
    file = options.report or checkout / "build" / "on-a-mac.md"
    started = time.monotonic()

    def written() -> None:
        told = report(run.facts, run.points, time.monotonic() - started)
        file.write_text(scrubber.clean(told), encoding="utf-8")

    status = 0
    try:
        run.facts += machine(run)
        seen = list(subjects(run, options.app and options.app.resolve()))
        wanted = options.only.split(",") if options.only else [each.name for each in STEPS]
        for each in STEPS:
            if each.name not in wanted and not (each.take is image and run.image is not None):
                continue
            for subject in seen:
                if subject.name in each.of and options.of in (subject.name, None):
                    run.take(each, subject, written)
        status = int(any(point.state == FAILED for point in run.points))
    except KeyboardInterrupt:
        status = 130
    finally:
        written()
        shutil.rmtree(run.work, ignore_errors=True)
    print(f"Attach {file} to an issue, after a look at it.")
    return status


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="packaging/mac/on_a_mac.sh", description=__doc__)
    parser.add_argument("app", type=Path, nargs="?", help="Hunch.app or Hunch.dmg; else what is in build/app")
    parser.add_argument("--model", type=Path, help="a main model to be measured and raced, instead of the starter")
    parser.add_argument("--draft", type=Path, help="its draft")
    parser.add_argument(
        "--sleep", action="store_true", help="let this Mac sleep for a minute, too; asks for a password"
    )
    parser.add_argument("--only", help=f"steps, such as start,race: of {', '.join(each.name for each in STEPS)}")
    parser.add_argument("--of", choices=BOTH)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--report", type=Path, help="else build/on-a-mac.md")
    options = parser.parse_args(arguments)
    if (options.model is None) != (options.draft is None):
        parser.error("--model and --draft belong together")
    if not all(path is None or path.exists() for path in (options.app, options.model, options.draft)):
        parser.error("what is given is not there")
    if options.only and (unknown := set(options.only.split(",")) - {each.name for each in STEPS}):
        parser.error(f"no step: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
