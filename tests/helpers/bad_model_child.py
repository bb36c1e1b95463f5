"""The engine as an app would have it, with models whose templates and tokenizers are bad: nothing may wait for them.

python -m tests.helpers.bad_model_child FOLDER NAME…: for each name a folder of it is made and loaded without a trial
elsewhere, asked, cancelled and the engine closed. Prints JSON lines: name, the longest gap of a thread that wants to
run every 5 ms, seconds until the cancelled request had ended, seconds until the engine was closed, and how it went.
"""

from __future__ import annotations

import json
import queue
import shutil
import sys
import threading
import time
from pathlib import Path

from engine import Engine, Event, Failed, Finished, Message, MessageRole, ModelFailed, ModelReady, Request
from engine.models.first_use import FirstUse
from tests.helpers.bad_templates import ENDING_TEMPLATES, REFUSED_TEMPLATES
from tests.helpers.bad_tokenizers import BAD_TOKENIZERS, SLOW_TOKENIZERS
from tests.helpers.tiny_models import build, qwen3_config, save

QUESTION = Request(messages=(Message(MessageRole.USER, "a" * 2000 + "ꙮ"),), max_tokens=4)


def main(folder: Path, names: list[str]) -> None:
    FirstUse.check = lambda self, path, on_try=None: iter(())  # type: ignore[assignment, method-assign, return-value]
    config = qwen3_config()
    sound = save(build(config), config, folder / "sound")
    for name in names:
        bad = spoiled(shutil.copytree(sound, folder / name.replace(" ", "-")), name)
        sys.stdout.write(json.dumps([name, *trial(bad)]) + "\n")
        sys.stdout.flush()


def spoiled(folder: Path, name: str) -> Path:
    if template := (ENDING_TEMPLATES | REFUSED_TEMPLATES).get(name):
        (folder / "chat_template.jinja").write_text(template)
    else:
        path = folder / "tokenizer.json"
        path.write_text(json.dumps((BAD_TOKENIZERS | SLOW_TOKENIZERS)[name](json.loads(path.read_text()))))
    return folder


def trial(folder: Path) -> tuple[float, float, float, str]:
    engine, events = Engine(), queue.SimpleQueue[Event]()
    with Heartbeat() as heart:
        engine.load(folder, events.put)
        until(events, (ModelReady, ModelFailed))
        request = engine.submit(QUESTION, events.put)
        time.sleep(0.1)
        started_s = time.monotonic()
        engine.cancel(request)
        end = until(events, (Finished, Failed))
        ended_s = time.monotonic()
        assert engine.close(60)
    outcome = type(end.error).__name__ if isinstance(end, Failed) else "finished"
    return heart.longest_s, ended_s - started_s, time.monotonic() - ended_s, outcome


def until(events: queue.SimpleQueue[Event], kinds: tuple[type[Event], ...]) -> Event:
    while not isinstance(event := events.get(timeout=120), kinds):
        pass
    return event


class Heartbeat:
    """As the thread of a window would notice it: how long it did not get to run."""

    def __enter__(self) -> Heartbeat:
        self.longest_s = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _beat(self) -> None:
        last = time.monotonic()
        while not self._end.wait(0.005):
            now = time.monotonic()
            self.longest_s, last = max(self.longest_s, now - last), now


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
