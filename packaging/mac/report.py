"""Steps that look at Hunch on a Mac, each until its deadline, and the report of what they saw. on_a_mac.py has them.

The report has no path of the home, no name of the user or the Mac and no serial number: `Scrubber`. Only the standard
library, and Python 3.9.
"""

from __future__ import annotations

import getpass
import os
import pwd
import re
import signal
import subprocess
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

# subjects
CHECKOUT = "checkout"
APP = "app"
BOTH = (CHECKOUT, APP)
# states
SEEN = "seen"
FAILED = "failed"
NOT_SEEN = "not seen"
_LONGEST_LINE = 400
_OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "ARGS")  # of `make mac-report`: another make is not given them
_NAMES_OF_HOSTS = ("Computer", "LocalHost", "Host")
_OF_ANY_MAC = re.compile(r"(?i)|localhost|i?mac(?:book)?(?:[ -]?(?:pro|air|mini|studio|neo|\d+|\(\d+\)))*")


class Failure(Exception):
    """What was looked at is not as expected."""


class Unseen(Exception):
    """It cannot be looked at here."""


class Done(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def last_words(self) -> str:
        lines = [line for line in (self.err.strip() or self.out.strip()).splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"exit status {self.status}"


@dataclass(frozen=True)
class Subject:
    """A Hunch that is looked at."""

    name: str
    command: tuple[str, ...]
    app: Path | None = None


@dataclass
class Point:
    """What came of a step."""

    step: str
    of: str
    expected: str
    state: str = NOT_SEEN
    lines: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Scrubber:
    """Leaves out of a text what could tell whose Mac this is. The one place: whatever a step says goes through it."""

    _KINDS = (
        (re.compile(r"(?:/private)?/var/folders/[^\s\"',;:)]*"), "<temporary>"),
        (re.compile(r"/(?:Users|home)/[^/\s\"',;:)]+"), "~"),
        (re.compile(r"/Volumes/[^/\s\"',;:)]+"), "<volume>"),
        (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
        (re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.IGNORECASE), "<address>"),
        (re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"), "<address>"),
        (re.compile(r"\b[\w-]+\.(?:local|lan|home)\b", re.IGNORECASE), "<host>"),
        (re.compile(r"\b(?!127\.0\.0\.1\b)\d{1,3}(?:\.\d{1,3}){3}\b"), "<address>"),
    )

    def __init__(self, places: dict[str, str], names: dict[str, str]) -> None:
        """What is put instead of each path, and of each name where it is a whole word. The longest first."""
        kept = {_composed(path).rstrip("/"): word for path, word in places.items() if path.startswith("/")}
        self._places = sorted(((path, word) for path, word in kept.items() if path), key=lambda each: -len(each[0]))
        words = {_composed(name).strip(): word for name, word in names.items() if len(name.strip()) > 1}
        self._names = [(_whole(name), words[name]) for name in sorted(words, key=len, reverse=True)]

    def clean(self, text: str) -> str:
        """Lines are cut afterwards, so that no part of a name is left at an end."""
        text = _composed(text)
        for path, word in self._places:
            text = text.replace(path, word)
        for pattern, word in (*self._names, *self._KINDS):
            text = pattern.sub(word, text)
        return "".join(f"{line[:_LONGEST_LINE]}\n" for line in text.splitlines())


def _whole(name: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _composed(text: str) -> str:
    """Syllables and accents as one letter: files' names on a Mac have them in parts."""
    return unicodedata.normalize("NFC", text)


def report(facts: Iterable[tuple[str, str]], points: Iterable[Point], seconds: float) -> str:
    """In Markdown, not scrubbed."""
    points = list(points)
    counts = ", ".join(f"{sum(each.state == state for each in points)} {state}" for state in (SEEN, FAILED, NOT_SEEN))
    lines = ["# Hunch on a Mac", "", f"{counts}, in {seconds / 60:.1f} minutes.", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {_cell(value)} |" for name, value in facts if value]
    lines += ["", "| step | of | | s |", "|---|---|---|--:|"]
    lines += [f"| {each.step} | {each.of} | {each.state} | {each.seconds:.0f} |" for each in points]
    for each in points:
        lines += ["", f"## {each.step}, {each.of}: {each.state}", "", f"Expected: {each.expected}.", ""]
        lines += [f"- {' '.join(line.split())}" for line in each.lines]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")


class Run:
    """Steps, one after the other, each until its own deadline. What a step started ends with it."""

    def __init__(self, checkout: Path, root: Path, minutes: float, say: Callable[[str], None] = print) -> None:
        """`root` is where macOS's own programs are below: "/"."""
        self.checkout = checkout
        self.work = checkout / "build" / "mac-report"
        self.python = checkout / ".venv" / "bin" / "python"
        self.starter = checkout / "resources" / "starter"
        self.pair: tuple[Path, Path] = self.starter / "main", self.starter / "draft"
        self.image: Path | None = None
        self.sleeps = False
        self.points: list[Point] = []
        self.facts: list[tuple[str, str]] = []
        self.begun_at = time.time()
        self._root = root
        self._say = say
        self._minutes = minutes
        self._over_at = time.monotonic() + 60 * minutes
        self._deadline = self._over_at
        self._children: list[subprocess.Popen[str]] = []
        self._lines: list[str] = []

    def profile(self, subject: Subject) -> Path:
        """Where the pair is measured."""
        return self.work / f"{subject.name}-profile"

    def left(self, most: float = float("inf")) -> float:
        """Seconds until the step ends. Raises Failure where it is over."""
        left = min(most, self._deadline - time.monotonic())
        if left <= 0:
            raise Failure("not finished in its time")
        return left

    def note(self, line: str) -> None:
        """A figure of the step: kept also where it fails later."""
        self._lines.append(line)

    def take(self, step: Step, subject: Subject, written: Callable[[], None]) -> None:
        point = Point(step.name, subject.name, step.expected)
        started = time.monotonic()
        self._deadline = min(self._over_at, started + step.seconds)
        self._lines = point.lines
        self.points.append(point)
        try:
            if self._over_at <= started:
                raise Unseen(f"the {self._minutes:.0f} minutes were over")
            step.take(self, subject)
            point.state = SEEN
        except Unseen as why:
            point.lines.append(str(why))
        except KeyboardInterrupt:
            point.lines.append("stopped by Ctrl-C")
            raise
        except Exception as error:  # noqa: BLE001  the next step goes on
            point.state = FAILED
            point.lines.append(str(error) if isinstance(error, Failure) else f"{type(error).__name__}: {error}")
        finally:
            self._end_children()
            point.seconds = time.monotonic() - started
            written()
            last = f": {point.lines[-1]}" if point.lines and point.state != SEEN else ""
            self._say(f"{point.state:8}  {step.name}, {subject.name} ({point.seconds:.0f} s){last}")

    def start(self, command: Iterable[object], **options: Any) -> subprocess.Popen[str]:
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        outer = {name: value for name, value in os.environ.items() if name not in _OF_MAKE}
        environment = {**outer, "HUNCH_BONJOUR": "0", **options.pop("more", {})}  # asks for no Local Network
        environment = options.pop("env", environment)
        child = subprocess.Popen(
            [str(word) for word in command],
            cwd=options.pop("cwd", self.checkout),
            env=environment,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            **options,
        )
        self._children.append(child)
        return child

    def call(self, *command: object, said: str | None = None, within: float = float("inf"), **options: Any) -> Done:
        if said is not None:
            options["stdin"] = subprocess.PIPE
        seconds = self.left(within)
        child = self.start(command, **options)
        try:
            out, err = child.communicate(said, timeout=seconds)
        except subprocess.TimeoutExpired:
            self._kill(child)
            raise Failure(f"{Path(str(command[0])).name}: no end in {seconds:.0f} s") from None
        self._children.remove(child)
        return Done(child.returncode, out or "", err or "")

    def mac(self, program: str, *arguments: object, **options: Any) -> Done:
        """One of macOS's own, by its whole path."""
        return self.call(self.program(program), *arguments, **options)

    def program(self, path: str) -> Path:
        if not (self._root / path).exists():
            raise Unseen(f"there is no /{path}")
        return self._root / path

    def wait_for(self, there: Callable[[], bool], what: str, most: float = float("inf"), every: float = 0.2) -> None:
        until = time.monotonic() + self.left(most)
        while not there():
            if time.monotonic() >= until:
                raise Failure(what)
            time.sleep(every)

    def _end_children(self) -> None:
        for child in self._children:
            self._kill(child)
        self._children.clear()

    def _kill(self, child: subprocess.Popen[str]) -> None:
        """With all that it has started: they are a group of their own, whose number is another's once it has ended."""
        if child.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                child.wait(10)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()


@dataclass(frozen=True)
class Step:
    take: Callable[[Run, Subject], None]
    of: tuple[str, ...]
    seconds: float

    @property
    def name(self) -> str:
        return self.take.__name__

    @property
    def expected(self) -> str:
        return " ".join((self.take.__doc__ or "").split()).rstrip(".")


STEPS: list[Step] = []  # in this order


def step(*of: str, seconds: float) -> Callable[[Callable[[Run, Subject], None]], Callable[[Run, Subject], None]]:
    """A function whose docstring says what is expected. It raises Failure, or Unseen."""

    def keep(take: Callable[[Run, Subject], None]) -> Callable[[Run, Subject], None]:
        STEPS.append(Step(take, of, seconds))
        return take

    return keep


def scrubber_for(run: Run) -> Scrubber:
    said = partial(said_by, run)
    places = dict[str, str]()
    for path, word in ((Path.home(), "~"), (run.checkout, "<checkout>"), (tempfile.gettempdir(), "<temporary>")):
        places.update({str(path): word, os.path.realpath(path): word})
    hosts = {os.uname().nodename, *(said("usr/sbin/scutil", "--get", f"{each}Name") for each in _NAMES_OF_HOSTS)}
    hosts |= {host.partition(".")[0] for host in hosts}
    users = {getpass.getuser(), *(os.environ.get(each, "") for each in ("USER", "LOGNAME"))}
    with suppress(KeyError):
        user = pwd.getpwuid(os.getuid())
        users |= {user.pw_name, user.pw_gecos.partition(",")[0]}
    numbers = re.findall(
        r'"IOPlatform(?:SerialNumber|UUID)" = "([^"]+)"', said("usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
    )
    own = {host for host in hosts if not _OF_ANY_MAC.fullmatch(host)}
    names = {**dict.fromkeys(users, "<user>"), **dict.fromkeys(own, "<host>"), **dict.fromkeys(numbers, "<id>")}
    return Scrubber(places, names)


def said_by(run: Run, program: str, *arguments: str) -> str:
    """ "" where it says nothing."""
    with suppress(Unseen, Failure):
        done = run.mac(program, *arguments, within=30)
        return "" if done.status else done.out.strip()
    return ""
