"""Trains a tiny model that sees, and its draft: shapes, colours, counts and handwritten digits, in four languages.

    python -m pip install --no-deps --target build/digits scikit-learn    # for its digits only
    PYTHONPATH=build/digits python packaging/starter/seeing.py --out build/seeing
    PYTHONPATH=build/digits python packaging/starter/seeing.py --out build/seeing --only main --resume 1 --rate 4e-3

In the venv of the starter's training, on the CPU, seeded. Pictures are drawn in scenes.py, chats about them made in
scene_chats.py. Of the digits every eighth is never trained on.
"""

import argparse
import gzip
import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from eyes import DRAFT, TEXT, TOWER, Naming, Seeing, Text, Tower, seen
from plan import Plan
from scene_chats import ChatMaker, PictureMaker, train_tokenizer
from scene_export import export_draft, export_main
from scenes import Array
from torch import Tensor, nn
from training import Training

SEED = 20_261_126
NAMES_SHARE = 1.0  # of the loss that keeps the tower telling pictures apart
ROWS = (32, 128)  # chats, tokens
PICTURES = (64, 0)


def _plan(steps: int, rate: float, rows: tuple[int, int], seed: int) -> Plan:
    return Plan(steps, rate, seed, rows, rows, 0.0, 40, 0.02, compiled=False, half=False, average=0.99)


PLANS = {
    "tower": _plan(500, 6e-3, PICTURES, SEED),
    "main": _plan(700, 6e-3, ROWS, SEED + 1),
    "draft": _plan(300, 6e-3, ROWS, SEED + 2),
}
UNSEEN = 8  # every eighth digit


def digits() -> list[tuple[Array, int]]:
    found = importlib.util.find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("scikit-learn's folder is not on PYTHONPATH")
    file = Path(found.submodule_search_locations[0]) / "datasets" / "data" / "digits.csv.gz"
    with gzip.open(file, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float32)
    return [((line[:64] / 16).reshape(8, 8), int(line[64])) for line in table]


class NamesLoss(nn.Module):
    def __init__(self, naming: Naming) -> None:
        super().__init__()
        self.naming = naming

    def forward(self, patches: Tensor, known: Tensor) -> Tensor:
        return self.naming(self.naming.tower(patches), known)


class AnswerLoss(nn.Module):
    def __init__(self, model: Seeing) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, places: Tensor, learned: Tensor, patches: Tensor, known: Tensor) -> Tensor:
        rows = self.model.naming.tower(patches)
        states = self.model.text(tokens[:, :-1], seen(places[:, :-1]), rows, places[:, :-1])[learned[:, 1:]]
        said = F.cross_entropy(self.model.text.logits(states), tokens[:, 1:][learned[:, 1:]])
        return said + NAMES_SHARE * self.model.naming(rows, known)


class TextLoss(nn.Module):
    """Of a draft: it reads the text alone."""

    def __init__(self, model: Text) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, places: Tensor, learned: Tensor, *_: Tensor) -> Tensor:
        tokens, learned = _without_pictures(tokens, places, learned)
        states = self.model(tokens[:, :-1], seen(torch.full_like(tokens[:, :-1], -1)))[learned[:, 1:]]
        return F.cross_entropy(self.model.logits(states), tokens[:, 1:][learned[:, 1:]])


def _without_pictures(tokens: Tensor, places: Tensor, learned: Tensor) -> tuple[Tensor, Tensor]:
    """What is behind a picture moves up to what is before it, as in the engine."""
    order = (places >= 0).to(torch.int8).argsort(dim=1, stable=True)
    kept = torch.where(places >= 0, 0, tokens)
    return kept.gather(1, order), learned.gather(1, order)


def train(part: str, out: Path, plan: Plan, *, resume: bool) -> None:
    tokenizer, tower_file, main_file = train_tokenizer(), out / "tower.pt", out / "main.pt"
    taught = [digit for index, digit in enumerate(digits()) if index % UNSEEN]
    torch.manual_seed(plan.seed)
    out.mkdir(parents=True, exist_ok=True)
    if part == "tower":
        naming = Naming(Tower(TOWER, TEXT.width), TEXT.width)
        naming.tower.whiten(torch.from_numpy(PictureMaker(taught, plan.seed, again=0).batch(500, 0)[0]))
        learning = Training(naming, plan, PictureMaker(taught, plan.seed), NamesLoss(naming), part)
        learning.run(lambda average: torch.save(average.state_dict(), tower_file))
    elif part == "main":
        model = Seeing(tokenizer.get_vocab_size())
        goes_on, known = (model, main_file) if resume else (model.naming, tower_file)
        goes_on.load_state_dict(torch.load(known, weights_only=True))
        learning = Training(model, plan, ChatMaker(tokenizer, taught, plan.seed), AnswerLoss(model), part)

        def keep(average: nn.Module) -> None:
            torch.save(average.state_dict(), main_file)
            export_main(average, tokenizer, out / part)

        learning.run(keep)
    else:
        draft = Text(DRAFT, tokenizer.get_vocab_size())
        learning = Training(draft, plan, ChatMaker(tokenizer, taught, plan.seed), TextLoss(draft), part)
        learning.run(lambda average: export_draft(average, tokenizer, out / part))


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains a tiny model that sees, and its draft.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, help="of each part, instead of its own")
    parser.add_argument("--rate", type=float, help="instead of each part's own")
    parser.add_argument("--only", nargs="+", choices=tuple(PLANS))
    parser.add_argument("--resume", type=int, default=0, help="main goes on from what is there; the how manieth time")
    options = parser.parse_args()
    given = {"steps": options.steps, "rate": options.rate}
    changes = {name: value for name, value in given.items() if value is not None}
    for part, plan in PLANS.items():
        if part in (options.only or PLANS):
            wanted = replace(plan, seed=plan.seed + 10 * options.resume, **changes)
            train(part, options.out, wanted, resume=options.resume > 0)


if __name__ == "__main__":
    main()
