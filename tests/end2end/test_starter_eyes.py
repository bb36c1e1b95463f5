"""The model that sees and comes with Hunch: it is right about pictures that it was not trained on, drafted or not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.documents.picture_values import as_stored, read_image, rgb_of
from app.documents.pictures import kind_of
from app.documents.sent_pictures import Decoder
from engine import Engine, Message, MessageRole, ModelReady, Picture, Request, Sampling, Speculation, inspect_model
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.picture_files import rgb_png

ROOT = Path(__file__).parents[2]
EYES = ROOT / "resources" / "starter" / "eyes"
TRAINING = ROOT / "packaging" / "starter"
SEED = 424_243


@dataclass(frozen=True)
class Asked:
    """A picture as a file, a question about it, and the right answer."""

    png: bytes
    question: str
    right: str
    kind: str

    def message(self, picture: Picture) -> Message:
        return Message(MessageRole.USER, self.question, pictures=(picture,))


def unseen(count: int, seed: int = SEED) -> Iterator[Asked]:
    """Shapes and digits by turns, tasks and languages too."""
    sys.path.insert(0, str(TRAINING))
    try:
        scene_answers, scenes = __import__("scene_answers"), __import__("scenes")
    finally:
        sys.path.remove(str(TRAINING))
    random, digits = np.random.default_rng(seed), scenes.read_digits(TRAINING / "digits_unseen.txt")
    asked = product(("whole", "count", "digit", "colour", "shape"), scene_answers.LANGUAGES)
    for number, (task, language) in enumerate(islice(cycle(asked), count)):
        made = scenes.scene(random, digits, "digit" if number % 3 == 2 else scenes.SHAPES[(number - number // 3) % 6])
        pixels: Any = scenes.drawn(made, round(240 * made.aspect), 240)
        png = rgb_png(pixels.shape[1], 240, pixels.tobytes())
        question = scene_answers.question(random, task, language)
        yield Asked(png, question, scene_answers.answer(made, task, language), made.shape)


GREEDY = Sampling(temperature=0)
SHARE = 0.95
MOST_BYTES = 6_000_000


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(EYES / "main", EYES / "draft"), ModelReady)
    yield client
    assert engine.close()


def read(asked: Asked, folder: Path) -> Picture:
    """What the limited child does, without starting one."""
    (folder / "a").write_bytes(asked.png)
    stored = as_stored(read_image(folder / "a", kind_of(asked.png[:64]) or ""))
    width, height, rgb = rgb_of(stored.png) or (0, 0, b"")
    return Picture(width, height, rgb, sha256(stored.png).hexdigest())


def say(client: EngineClient, messages: tuple[Message, ...], speculation: Speculation) -> Outcome:
    return client.run(Request(messages=messages, sampling=GREEDY, max_tokens=40, speculation=speculation))


def right(client: EngineClient, tmp_path: Path, count: int) -> tuple[int, int, int]:
    """How many of `count` answers are right, how many tokens were drafted and how many accepted."""
    good, drafted, accepted = 0, 0, 0
    for asked in unseen(count):
        messages = (asked.message(read(asked, tmp_path)),)
        drafting, plain = (say(client, messages, how) for how in (Speculation.fixed(4), Speculation.off()))
        assert drafting.tokens == plain.tokens
        good += plain.text().strip() == asked.right
        drafted, accepted = drafted + drafting.stats.drafted, accepted + drafting.stats.accepted
    return good, drafted, accepted


def test_it_is_small_and_sees() -> None:
    assert sum(file.stat().st_size for file in EYES.rglob("*") if file.is_file()) <= MOST_BYTES
    assert inspect_model(EYES / "main").sees
    assert not inspect_model(EYES / "draft").sees


def test_it_is_right_about_new_pictures_with_its_draft_and_without(client: EngineClient, tmp_path: Path) -> None:
    good, drafted, accepted = right(client, tmp_path, 3)
    assert good >= 2
    assert accepted > drafted / 4


@pytest.mark.slow
def test_how_often_it_is_right(client: EngineClient, tmp_path: Path) -> None:
    count = 300
    good, drafted, accepted = right(client, tmp_path, count)
    assert good >= SHARE * count
    assert accepted > drafted / 2


def test_a_file_is_read_as_the_app_reads_it_and_asked_about_again(client: EngineClient, tmp_path: Path) -> None:
    first, second = unseen(2)
    question = first.message(Decoder()(first.png))
    reply = say(client, (question,), Speculation.auto())
    assert reply.text().strip() == first.right
    chat = (question, Message(MessageRole.ASSISTANT, reply.text()), second.message(read(second, tmp_path)))
    assert say(client, chat, Speculation.auto()).text().strip() == second.right
