"""Trains a tiny model that sees, and its draft: shapes, colours, counts and handwritten digits, in four languages.

    python -m pip install --no-deps --target build/digits scikit-learn    # for its digits only
    PYTHONPATH=build/digits python packaging/starter/seeing.py --out build/seeing
    PYTHONPATH=build/digits python packaging/starter/seeing.py --out build/seeing --only tower --resume 1 --rate 4e-3

In the venv of the starter's training, on the CPU, seeded. Pictures are drawn in scenes.py, chats about them made in
scene_chats.py. Of the digits every eighth is never trained on.
"""

import argparse
import gzip
import importlib.util
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from eyes import DRAFT, KNOWN, TEXT, TOWER, Naming, Text, Tower, seen
from plan import Plan
from scene_chats import ChatMaker, PictureMaker, train_tokenizer
from scene_export import export_draft, export_main
from scenes import Array, Scene, scene
from torch import Tensor, nn
from training import Training

SEED = 20_261_126
ROWS = (24, 128)  # chats, tokens: some turns, and room for a second picture
PICTURES = (128, 0)
LOOKED_AT, HELD_OUT = 8000, 600  # pictures that chats are about
CHECKED = 150  # chats, of each check


def _plan(steps: int, rate: float, rows: tuple[int, int], seed: int) -> Plan:
    return Plan(steps, rate, seed, rows, rows, 0.0, 40, 0.02, compiled=False, half=False, average=0.99)


PLANS = {
    "tower": _plan(1500, 6e-3, PICTURES, SEED),
    "main": _plan(900, 6e-3, ROWS, SEED + 1),
    "draft": _plan(400, 6e-3, ROWS, SEED + 2),
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
    """`rows`: of all pictures, by the tower, which learns no more."""

    def __init__(self, text: Text, rows: Tensor) -> None:
        super().__init__()
        self.text, self.rows = text, rows

    def forward(self, tokens: Tensor, places: Tensor, answers: Tensor) -> Tensor:
        learned = answers[:, 1:] > 0
        states = self.text(tokens[:, :-1], seen(places[:, :-1]), self.rows, places[:, :-1])[learned]
        return F.cross_entropy(self.text.logits(states), tokens[:, 1:][learned])


class DraftLoss(nn.Module):
    """A draft reads the text alone."""

    def __init__(self, text: Text) -> None:
        super().__init__()
        self.text = text

    def forward(self, tokens: Tensor, places: Tensor, answers: Tensor) -> Tensor:
        tokens, answers = _without_pictures(tokens, places, answers)
        learned = answers[:, 1:] > 0
        states = self.text(tokens[:, :-1], seen(torch.full_like(tokens[:, :-1], -1)))[learned]
        return F.cross_entropy(self.text.logits(states), tokens[:, 1:][learned])


def _without_pictures(tokens: Tensor, places: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
    """What is behind a picture moves up to what is before it, as in the engine."""
    order = (places >= 0).to(torch.int8).argsort(dim=1, stable=True)
    kept = torch.where(places >= 0, 0, tokens)
    return kept.gather(1, order), answers.gather(1, order)


class Check:
    """How many of what a model tells about pictures that it does not learn from is right."""

    def __init__(self, part: str, tower: Tower | None = None) -> None:
        self._digits, self._part = [digit for index, digit in enumerate(digits()) if not index % UNSEEN], part
        self._scenes, self._rows = looked_at(tower, self.pictures(), HELD_OUT) if tower else ([], torch.zeros(0))

    def pictures(self) -> PictureMaker:
        return PictureMaker(self._digits, SEED - 1, again=0, varied=False)

    @torch.no_grad()
    def naming(self, naming: Naming) -> None:
        patches, known = map(torch.from_numpy, self.pictures().batch(HELD_OUT))
        told = naming.told(naming.tower(patches))
        known[known[:, 3] >= 0, 2] = -100  # of a digit no number is told
        right = [(told[:, at] == known[:, at])[known[:, at] >= 0].float().mean().item() for at in range(len(KNOWN))]
        print(self._part, "right, of shapes, colours, numbers and digits:", *(round(share, 3) for share in right))

    @torch.no_grad()
    def answers(self, text: Text) -> None:
        maker = ChatMaker(train_tokenizer(), self._scenes, SEED - 2)
        tokens, places, answers = map(torch.from_numpy, maker.batch(CHECKED, ROWS[1]))
        states = text(tokens[:, :-1], seen(places[:, :-1]), self._rows, places[:, :-1])
        missed = set(answers[:, 1:][text.logits(states).argmax(-1) != tokens[:, 1:]].tolist())
        asked, right = Counter[str](), Counter[str]()
        for number, groups in enumerate(maker.asked, 1):
            for group in ("all", *groups):
                asked[group] += 1
                right[group] += number not in missed
        print(self._part, "right:", {group: round(right[group] / asked[group], 3) for group in sorted(asked)})


@torch.no_grad()
def looked_at(tower: Tower, maker: PictureMaker, count: int) -> tuple[list[Scene], Tensor]:
    """Pictures, and what the tower makes of them."""
    scenes, rows = list[Scene](), list[Tensor]()
    while len(scenes) < count:
        shown = [maker.new() for _ in range(200)]
        scenes += [made for made, _ in shown]
        rows.append(tower(torch.from_numpy(np.stack([patches for _, patches in shown]))))
    return scenes, torch.cat(rows)


def train_tower(out: Path, plan: Plan, *, resume: bool) -> None:
    naming, check = Naming(Tower(TOWER, TEXT.width), TEXT.width), Check("tower")
    naming.tower.whiten(torch.from_numpy(PictureMaker(taught(), plan.seed, again=0).batch(500)[0]))
    if resume:
        naming.load_state_dict(torch.load(out / "tower.pt", weights_only=True))

    def keep(average: nn.Module) -> None:
        assert isinstance(average, Naming)
        torch.save(average.state_dict(), out / "tower.pt")
        check.naming(average)

    Training(naming, plan, PictureMaker(taught(), plan.seed), NamesLoss(naming), "tower").run(keep)


def train_main(out: Path, plan: Plan, *, resume: bool) -> None:
    tokenizer, tower = train_tokenizer(), _learned_tower(out)
    text, check = Text(TEXT, tokenizer.get_vocab_size()), Check("main", tower)
    if resume:
        text.load_state_dict(torch.load(out / "main.pt", weights_only=True))
    scenes, rows = looked_at(tower, PictureMaker(taught(), plan.seed), LOOKED_AT)

    def keep(average: nn.Module) -> None:
        assert isinstance(average, Text)
        torch.save(average.state_dict(), out / "main.pt")
        export_main(average, tower, tokenizer, out / "main")
        check.answers(average)

    Training(text, plan, ChatMaker(tokenizer, scenes, plan.seed), AnswerLoss(text, rows), "main").run(keep)


def train_draft(out: Path, plan: Plan) -> None:
    tokenizer, random, known = train_tokenizer(), np.random.default_rng(plan.seed), taught()
    draft, scenes = Text(DRAFT, tokenizer.get_vocab_size()), [scene(random, known) for _ in range(LOOKED_AT)]
    learning = Training(draft, plan, ChatMaker(tokenizer, scenes, plan.seed), DraftLoss(draft), "draft")
    learning.run(lambda average: export_draft(average, tokenizer, out / "draft"))


def taught() -> list[tuple[Array, int]]:
    return [digit for index, digit in enumerate(digits()) if index % UNSEEN]


def _learned_tower(out: Path) -> Tower:
    naming = Naming(Tower(TOWER, TEXT.width), TEXT.width)
    naming.load_state_dict(torch.load(out / "tower.pt", weights_only=True))
    return naming.tower


def train(part: str, out: Path, plan: Plan, *, resume: bool) -> None:
    torch.manual_seed(plan.seed)
    out.mkdir(parents=True, exist_ok=True)
    if part == "tower":
        train_tower(out, plan, resume=resume)
    elif part == "main":
        train_main(out, plan, resume=resume)
    else:
        train_draft(out, plan)


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains a tiny model that sees, and its draft.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, help="of each part, instead of its own")
    parser.add_argument("--rate", type=float, help="instead of each part's own")
    parser.add_argument("--only", nargs="+", choices=tuple(PLANS))
    parser.add_argument("--resume", type=int, default=0, help="go on from what is there; the how manieth time")
    options = parser.parse_args()
    given = {"steps": options.steps, "rate": options.rate}
    changes = {name: value for name, value in given.items() if value is not None}
    for part, plan in PLANS.items():
        if part in (options.only or PLANS):
            wanted = replace(plan, seed=plan.seed + 10 * options.resume, **changes)
            train(part, options.out, wanted, resume=options.resume > 0)


if __name__ == "__main__":
    main()
