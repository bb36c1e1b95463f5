"""Asks the model that sees about pictures that it was not trained on, with Hunch's own engine, and prints JSON.

    python packaging/starter/evaluate_seeing.py --pair build/seeing [--pictures 40] [--errors]

Each picture is a new one, digits are those kept out of training (`digits_unseen.txt`), and each is asked all five
questions in each language, in chats of one turn. An answer is right when its text is the right one to the letter.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from evaluate import Asker
from scene_answers import LANGUAGES, TASKS, answer, question
from scenes import Scene, drawn, read_digits, scene

from engine import Picture

UNSEEN = Path(__file__).with_name("digits_unseen.txt")
SEED = 7_000_003  # no seed of the training
HEIGHT = 240


def unseen_scenes(count: int, seed: int = SEED) -> list[tuple[Scene, Picture]]:
    random, digits = np.random.default_rng(seed), read_digits(UNSEEN)
    scenes = [scene(random, digits) for _ in range(count)]
    return [(each, as_picture(each, random)) for each in scenes]


def as_picture(made: Scene, random: np.random.Generator) -> Picture:
    pixels = drawn(made, round(HEIGHT * made.aspect), HEIGHT, random)
    return Picture(pixels.shape[1], HEIGHT, pixels.tobytes(), hashlib.sha256(pixels).hexdigest())


def main() -> int:
    parser = argparse.ArgumentParser(description="Asks about pictures that were not trained on.")
    parser.add_argument("--pair", type=Path, required=True, help="has main/ and draft/")
    parser.add_argument("--pictures", type=int, default=40)
    parser.add_argument("--errors", action="store_true", help="list every wrong reply, too")
    options = parser.parse_args()
    asker, random = Asker(options.pair), np.random.default_rng(SEED)
    asked, right, drafted, accepted = Counter[str](), Counter[str](), 0, 0
    errors = []
    for made, picture in unseen_scenes(options.pictures):
        for task, language in product(TASKS, LANGUAGES):
            text = question(random, task, language)
            reply = asker.ask(text, pictures=(picture,))
            wanted = answer(made, task, language)
            kind = "digit" if made.shape == "digit" else "unknown" if made.shape == "unknown" else "shapes"
            for group in ("all", language, f"{kind}: {task}"):
                asked[group] += 1
                right[group] += reply.text.strip() == wanted
            drafted, accepted = drafted + reply.stats.drafted, accepted + reply.stats.accepted
            if reply.text.strip() != wanted:
                errors.append({"question": text, "reply": reply.text, "right": wanted})
    asker.engine.close()
    report = {group: {"asked": asked[group], "right": round(right[group] / asked[group], 4)} for group in asked}
    shown = {**report, "accept_rate": round(accepted / max(1, drafted), 4)}
    print(json.dumps({**shown, "errors": errors} if options.errors else shown, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
