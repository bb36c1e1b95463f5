"""`make cluster-demo`: two apps on one machine, each with a folder and a loopback address, and a pointer.

Each is given a part of the memory that the model needs, so it fits neither. They are paired, and the model runs over
both: as a pipeline it writes what it wrote alone before. The one that lends is killed in the middle of a reply, started
again, and the model writes the same once more. `ARGS=tensor` asks for tensor mode, which two apps without RDMA between
them would not choose. The same with one app, and without a screen, is `test_two_macs.py`. `draft` is the other app of
`test_draft_elsewhere.py`: it lends all it has, and downloads what the first one drafts with, if it lacks that.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.settings import Settings
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.view_models.machines import AskingState
from app.view_models.model_list import PairState
from app.views.settings.machines import MachinesPage
from engine import ModeChoice, RankMode, memory_fit
from engine.models import fit, memory
from engine.models.inspect import inspect_model
from tests.end2end.person import Person, qt_pointer, x11_pointer
from tests.helpers.app_harness import open_page
from tests.helpers.event_loop import after, until
from tests.helpers.ports import free_port
from tests.helpers.ranks import rank_folder
from tests.helpers.tiny_models import VOCABULARY

LENDS_AT = "127.0.0.2"  # the other one has 127.0.0.1
SHARE = 0.6  # of what the model needs with a chat
TOKENS = 24  # of a reply that is compared
QUESTION = "What is a draft model?"


def limit_memory(model: Path) -> None:
    """From now on this process has too little for the model."""
    most = int(SHARE * memory_fit(inspect_model(model), fit.LEAST_CONTEXT_TOKENS, 1 << 40).needed_bytes)
    fit.physical_bytes = lambda: fit.SYSTEM_BYTES + most  # type: ignore[assignment]
    memory.most_bytes = lambda: most  # type: ignore[assignment]


def person_with(folder: Path, model: Path) -> Person:
    paths = Paths.for_user(folder)
    shutil.copytree(model, main := paths.models / "made" / "main", dirs_exist_ok=True)
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.automatic_titles, settings.max_tokens = "en", False, TOKENS
    settings.temperature, settings.seed, settings.main_folder = 0.8, 7, str(main)
    settings.lends_memory = False  # before a port is chosen
    settings.hub_endpoint = "http://127.0.0.1:1"  # nobody is there
    settings.save()
    return Person(folder, qt_pointer if QGuiApplication.platformName() == "offscreen" else x11_pointer)


def is_ready(person: Person) -> bool:
    return person.application.models.pair.state is PairState.READY


def reply(person: Person) -> str:
    person.application.come_to_front()
    person.application.chats.new_chat()
    person.ask(QUESTION)
    return person.application.chats.transcript.messages[-1].text


def started(folder: Path, model: Path, port: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.end2end.two_apps", "lend", str(folder), str(model), str(port)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def lend(folder: Path, model: Path, host: str, port: int) -> None:
    """Until it is killed."""
    person = person_with(folder, model)
    page, lending = open_page(person.application, MachinesPage), person.application.machines.lending
    lending.host, lending.port = host, port
    if not lending.is_on:  # it was killed before
        person.click(page.lend.on)
    until(lambda: lending.is_ready)
    person.click(page.lend.new_code)
    until(lambda: lending.state.code)
    sys.stdout.write(f"{lending.state.code}\n")
    sys.stdout.flush()
    while True:
        after(100)
        if page.lend.wanted_row.isVisible() and lending.coming is None:
            person.click(page.lend.fetch)


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def pair(person: Person, port: int, code: str) -> MachinesPage:
    """As a person does it; returns once a plan is shown that fits."""
    page, machines = open_page(person.application, MachinesPage), person.application.machines
    for field, words in ((page.pairing.address, f"{LENDS_AT}:{port}"), (page.pairing.code, code)):
        person.click(field)
        QTest.keyClicks(field, words)
    person.click(page.pairing.pair)
    until(lambda: machines.pairing.state is AskingState.DONE)
    until(page.plan.run.isEnabled)
    say(f"paired with {machines.pairing.name}")
    return page


def kill_in_mid_reply(person: Person, other: subprocess.Popen[str]) -> None:
    chats, settings = person.application.chats, person.application.settings
    settings.max_tokens = 100 * TOKENS
    chats.new_chat()
    person.send(QUESTION)
    until(lambda: len(chats.transcript.messages[-1].text) > TOKENS)
    other.kill()
    until(lambda: not chats.generating)
    settings.max_tokens = TOKENS
    words = chats.transcript.messages[-1].text
    assert words
    say(f"killed in the middle of a reply: {len(words)} letters are kept")


def use(folder: Path, model: Path, mode: RankMode) -> None:
    port = free_port()
    other = started(folder / "there", model, port)
    try:
        person = person_with(folder / "here", model)
        models = person.application.models
        until(lambda: is_ready(person))
        alone = reply(person)
        models.eject()
        until(lambda: models.pair.state is PairState.UNLOADED)
        limit_memory(model)
        models.wake()
        until(lambda: models.pair.state is PairState.FAILED)
        say(f"alone: {person.application.window.banner.sentence.text()}")
        assert other.stdout is not None
        page = pair(person, port, other.stdout.readline().strip())
        person.click(page.plan.asked_mode.buttons[1 if mode is RankMode.TENSOR else 2])
        until(lambda: person.application.machines.plan.choice == ModeChoice(mode))
        say(f"{page.plan.plan.text()}\n{page.plan.mode.text()}")
        began = time.monotonic()
        person.click(page.plan.run)
        until(lambda: models.pair.helper is not None and is_ready(person))
        say(
            "\n".join(
                filter(
                    None,
                    (f"loaded in {time.monotonic() - began:.1f} s", page.plan.mode.text(), page.plan.mode.toolTip()),
                )
            )
        )
        over_both = reply(person)
        assert mode is RankMode.TENSOR or over_both == alone
        say(f"{'the same words' if over_both == alone else 'other words'} over two as on one")
        kill_in_mid_reply(person, other)
        until(lambda: not is_ready(person))
        other.wait()
        other = started(folder / "there", model, port)
        assert other.stdout is not None
        other.stdout.readline()
        began = time.monotonic()
        assert reply(person) == over_both
        say(f"the other one is back: the same words again, after {time.monotonic() - began:.1f} s")
    finally:
        other.kill()
        other.wait()
    until(lambda: models.pair.state is PairState.FAILED)
    say(f"the plug is pulled: {person.application.window.banner.sentence.text()}")
    person.leave()


if __name__ == "__main__":
    screen = qt_application()
    if sys.argv[1:2] == ["lend"]:
        limit_memory(Path(sys.argv[3]))
        lend(Path(sys.argv[2]), Path(sys.argv[3]), LENDS_AT, int(sys.argv[4]))
    if sys.argv[1:2] == ["draft"]:
        lend(Path(sys.argv[2]), Path(sys.argv[3]), "127.0.0.1", int(sys.argv[4]))
    with tempfile.TemporaryDirectory(prefix="hunch-two-apps-") as made:
        sizes = {"vocab_size": VOCABULARY, "intermediate_size": 4096}  # weights are most of what is needed
        use(Path(made), rank_folder("qwen2", Path(made), **sizes)[0], RankMode(*sys.argv[1:] or ["pipeline"]))
