"""`make cluster-demo`: two apps on one machine, each with a folder and a loopback address, and a pointer.

Each is given 60 % of the memory that the model needs, so it fits neither. They are paired, the model runs over both and
writes what it wrote alone before, and the one that lends is killed. The same with one app, and without a screen, is
`test_two_macs.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PySide6.QtTest import QTest

from app.settings import Settings
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.view_models.machines import AskingState
from app.view_models.model_list import PairState
from app.views.settings.machines import MachinesPage
from engine import memory_fit
from engine.models import fit, memory
from engine.models.inspect import inspect_model
from tests.end2end.person import Person, wait, x11_pointer
from tests.helpers.lent import free_port
from tests.helpers.ranks import rank_folder
from tests.helpers.tiny_models import VOCABULARY

LENDS_AT = "127.0.0.2"  # the other one has 127.0.0.1
SHARE = 0.6  # of what the model needs with a chat


def limit_memory(model: Path) -> None:
    """From now on this process has too little for the model."""
    most = int(SHARE * memory_fit(inspect_model(model), fit.LEAST_CONTEXT_TOKENS, 1 << 40).needed_bytes)
    fit.physical_bytes = lambda: fit.SYSTEM_BYTES + most  # type: ignore[assignment]
    memory.most_bytes = lambda: most  # type: ignore[assignment]


def person_with(folder: Path, model: Path) -> Person:
    paths = Paths.for_user(folder)
    shutil.copytree(model, main := paths.models / "made" / "main")
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.automatic_titles, settings.max_tokens = "en", False, 24
    settings.temperature, settings.seed, settings.main_folder = 0.8, 7, str(main)
    settings.save()
    return Person(folder, x11_pointer)


def is_ready(person: Person) -> bool:
    return person.application.models.pair.state is PairState.READY


def machines_page(person: Person) -> MachinesPage:
    window = person.application.show_settings("machines")
    assert window is not None
    page = window.pages["machines"]
    assert isinstance(page, MachinesPage)
    return page


def reply(person: Person) -> str:
    person.application.come_to_front()
    person.application.chats.new_chat()
    person.ask("What is a draft model?")
    return person.application.chats.transcript.messages[-1].text


def lend(folder: Path, model: Path) -> None:
    """Until it is killed."""
    limit_memory(model)
    person = person_with(folder, model)
    page, lending = machines_page(person), person.application.machines.lending
    lending.host, lending.port = LENDS_AT, free_port()
    person.click(page.lend.on)
    wait(lambda: lending.is_ready)
    person.click(page.lend.new_code)
    wait(lambda: lending.state.code)
    sys.stdout.write(f"{LENDS_AT}:{lending.port} {lending.state.code}\n")
    sys.stdout.flush()
    while True:
        QTest.qWait(100)


def use(folder: Path, model: Path) -> None:
    command = [sys.executable, "-m", "tests.end2end.two_apps", "lend", str(folder / "there"), str(model)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        person = person_with(folder / "here", model)
        models = person.application.models
        wait(lambda: is_ready(person))
        alone = reply(person)
        models.eject()
        wait(lambda: models.pair.state is PairState.UNLOADED)
        limit_memory(model)
        models.wake()
        wait(lambda: models.pair.state is PairState.FAILED)
        sys.stdout.write(f"alone: {person.application.window.banner.sentence.text()}\n")
        assert other.stdout is not None
        address, code = other.stdout.readline().split()
        page, machines = machines_page(person), person.application.machines
        for field, words in ((page.pairing.address, address), (page.pairing.code, code)):
            person.click(field)
            QTest.keyClicks(field, words)
        person.click(page.pairing.pair)
        wait(lambda: machines.pairing.state is AskingState.DONE)
        wait(page.plan.run.isEnabled)
        sys.stdout.write(f"paired with {machines.pairing.name} at {address}\n{page.plan.plan.text()}\n")
        person.click(page.plan.run)
        wait(lambda: models.pair.helper is not None and is_ready(person))
        assert reply(person) == alone
        sys.stdout.write("the same words over two as on one\n")
    finally:
        other.kill()
        other.wait()
    wait(lambda: models.pair.state is PairState.FAILED)
    sys.stdout.write(f"the plug is pulled: {person.application.window.banner.sentence.text()}\n")
    person.leave()


if __name__ == "__main__":
    screen = qt_application()
    if sys.argv[1:2] == ["lend"]:
        lend(*map(Path, sys.argv[2:]))
    with tempfile.TemporaryDirectory(prefix="hunch-two-apps-") as made:
        sizes = {"vocab_size": VOCABULARY, "intermediate_size": 4096}  # weights are most of what is needed
        use(Path(made), rank_folder("qwen2", Path(made), **sizes)[0])
