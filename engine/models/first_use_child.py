"""A process that tries a folder's tokenizer and chat template before the app does.

It has limits of time and memory, imports neither MLX nor a window, and reports by its exit status. An exception of a
tokenizer or template is no reason to refuse a model: the engine tries again with other words.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from tokenizers import Tokenizer

from engine.models.children import PROBE, PROBES
from engine.models.model_files import FileError
from engine.models.template_files import templates_in
from engine.models.templates import ChatTemplate
from engine.models.watch import TooLong

GOOD = 0
TOO_LONG = 3
TOO_MUCH = 4
CPU_S = 10
MEMORY_BYTES = 3 << 29
MOST_GROWTH = 64  # tokens or characters for each character
_CHAT = (
    "Hello, world! 안녕하세요. こんにちは。 你好。 Où ? naïve – 3.14 × 2\n\n\tif (x[0] != 'a') { return \"b\"; }  \r\n"
)
_TEXTS = (_CHAT * 4, *(letter * 2000 for letter in "aA1 \n\t.-é가一😀"), "ab" * 1000, " a" * 1000)


def main(folder: Path) -> int:
    _set_limits()
    try:
        _try_tokenizer(folder)
        _try_templates(folder)
    except MemoryError:
        return TOO_MUCH
    except TooLong:
        return TOO_LONG
    return GOOD


def probe(folder: Path) -> int:
    """Print the tokens of each probe, as JSON. Raises what the tokenizer raises."""
    _set_limits()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    found = {name: tokenizer.encode(text, add_special_tokens=False).ids for name, text in PROBES.items()}
    for name, tokens in found.items():
        _check_growth(len(tokens), len(PROBES[name]))
    sys.stdout.write(json.dumps(found))
    sys.stdout.flush()
    return GOOD


def _set_limits() -> None:
    for number in (signal.SIGXCPU, signal.SIGINT):  # the exit status says what ended this process
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # not every system has this limit; the thread below checks it too
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    threading.Thread(target=_watch_memory, daemon=True).start()


def _watch_memory() -> None:
    most = _most_resident_bytes() + MEMORY_BYTES  # Linux counts from the peak of the parent process
    while _most_resident_bytes() < most:
        time.sleep(0.01)
    os._exit(TOO_MUCH)


def _most_resident_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _try_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    if not path.is_file():
        return
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception:  # noqa: BLE001  the library has no exception classes
        return
    for text in _TEXTS:
        with suppress(Exception):
            (encoding,) = tokenizer.encode_batch([text])  # lets other threads run meanwhile
            _check_growth(len(encoding.ids), len(text))
            _check_growth(len(tokenizer.decode_batch([encoding.ids])[0]), len(text))


def _check_growth(produced: int, given: int) -> None:
    if produced > MOST_GROWTH * given:
        raise TooLong(f"{produced} of {given}")


def _try_templates(folder: Path) -> None:
    try:
        sources = templates_in(folder).values()
    except FileError:  # which loading reports
        return
    for source in sources:
        for turns in ([("user", _CHAT)], [("system", "x"), ("user", "a"), ("assistant", _CHAT), ("user", "b")]):
            chat = [{"role": role, "content": content} for role, content in turns]
            try:
                ChatTemplate(source, {"bos_token": "<s>", "eos_token": "</s>"}).render(
                    chat, add_generation_prompt=True, enable_thinking=False
                )
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001  another chat may suit it
                pass


def run(folder: str, how: str = "") -> NoReturn:
    """Try the folder, and end the process with the result as its exit status."""
    status = GOOD
    try:
        status = probe(Path(folder)) if how == PROBE else main(Path(folder))
    except BaseException as error:  # noqa: BLE001  a panic of the tokenizers library is one
        status = TOO_MUCH if isinstance(error, MemoryError) else GOOD
    os._exit(status)  # without waiting for the tokenizer's threads
