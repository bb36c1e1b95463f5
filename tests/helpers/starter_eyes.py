"""The tiny model that sees and comes with the starter, and pictures that it was not trained on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

import numpy as np

from engine import Message, MessageRole, Picture
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
