"""Tries a folder's tokenizer and template in another process before their first use here.

Results are stored by the identities of the files, so each version of them is tried once.
"""

from __future__ import annotations

import hashlib
import logging
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.api.errors import TokenizerBroken
from engine.models.children import OUR_FAULTS, TRY_MODEL, command, environment
from engine.models.first_use_child import CPU_S, GOOD, MEMORY_BYTES, TOO_MUCH
from engine.models.kept_files import read_kept, write_kept
from engine.models.model_files import CONFIG_LIMIT_BYTES, stamp
from engine.models.template_files import template_files

PATIENCE_S = 60.0  # wall time; if a busy machine takes longer, the folder is tried again next time
_BETWEEN_S = 0.01
_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
_MOST_KEPT = 500
# Signals that a bad file can cause. Any other signal came from outside and says nothing about the file.
_OWN_SIGNALS = {-signal.Signals[f"SIG{name}"] for name in ["XCPU", "SEGV", "ABRT", "BUS", "ILL", "FPE", "TRAP", "SYS"]}
_KILLED = -signal.SIGKILL  # by a user, or by a system short of memory, perhaps because of the file

_log = logging.getLogger(__name__)


class FirstUse:
    """`file` stores the results, as exit statuses; None: only in memory."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        kept: Any = {} if file is None else read_kept(file, CONFIG_LIMIT_BYTES)
        self._answers: dict[str, int] = kept.get("answers", {})

    def check(self, folder: Path, on_try: Callable[[], None] = lambda: None) -> Generator[None, None, None]:
        """Try the files in slices; closing the generator ends the process. Raises TokenizerBroken if they are bad.

        `on_try` is called if the result is not known yet. A try without a result raises nothing; if the process was
        killed twice TokenizerBroken is raised, but not stored.
        """
        identity = identity_of(folder)
        status = self._answers.get(identity)
        if status is None:
            on_try()
            status = yield from self._tried(folder)
            if status is None or status in OUR_FAULTS or (status < 0 and status not in {*_OWN_SIGNALS, _KILLED}):
                level = logging.WARNING if status in OUR_FAULTS else logging.INFO
                _log.log(level, "a tokenizer could not be tried to the end: %s", status)
                return
            if status != _KILLED:
                self._keep(identity, status)
        if problem := _problem(status):
            raise TokenizerBroken(str(folder), problem)

    @staticmethod
    def _tried(folder: Path) -> Generator[None, None, int | None]:
        """The exit status; None without a result. A process that was killed is tried once more."""
        status = yield from _try(folder)
        return (yield from _try(folder)) if status == _KILLED else status

    def _keep(self, identity: str, status: int) -> None:
        self._answers = dict([*self._answers.items(), (identity, status)][-_MOST_KEPT:])
        if self._file is not None:
            try:
                write_kept(self._file, {"answers": self._answers}, CONFIG_LIMIT_BYTES)
            except (OSError, ValueError) as error:  # ValueError: an invalid file name
                _log.info("the answer is not kept: %s", error)


def _try(folder: Path) -> Generator[None, None, int | None]:
    """The exit status; None without a result."""
    try:
        child = subprocess.Popen(
            command(TRY_MODEL, str(folder)),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        _log.info("a tokenizer is not tried: %s", error)
        return None
    until_s = time.monotonic() + PATIENCE_S
    try:
        while child.poll() is None and time.monotonic() < until_s:
            time.sleep(_BETWEEN_S)
            yield
        return child.poll()
    finally:
        child.kill()
        child.wait()


def _problem(status: int) -> str:
    """What is wrong, for the log; "" if nothing is."""
    if status == _KILLED:
        return "tokenizer or chat template: the process that tried it was killed"
    if status == TOO_MUCH:
        return f"tokenizer or chat template: more than {MEMORY_BYTES} bytes of memory"
    if status != GOOD:
        return f"tokenizer or chat template: more than {CPU_S} seconds, or a crash ({status})"
    return ""


def identity_of(folder: Path) -> str:
    identities = []
    for path in (*(folder / name for name in _FILES), *template_files(folder)):
        with suppress(OSError):
            identities.append((path.name, *stamp(path.stat())))
    return hashlib.blake2b(repr((str(folder), identities)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
