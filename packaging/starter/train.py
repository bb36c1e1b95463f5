"""Trains the starter pair from the guide: one command, CPU only, seeded.

    python packaging/starter/train.py            # both models, into resources/starter
    python packaging/starter/train.py --only draft

The tokenizer comes first, then the main model from data, then the draft, which learns the main model's law on the same
kind of data. What the data looks like is in chats.py; what the result is worth is measured by evaluate.py.
"""

import argparse
import math
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from chats import ChatMaker
from corpus import Guide, load_guide
from export import export, size_bytes
from model import Model, Shape
from safetensors.torch import load_file
from tokenizer import VOCABULARY, train_tokenizer
from tokenizers import Tokenizer
from torch import Tensor, nn

ROOT = Path(__file__).parents[2]
SEED = 20_240_607
MAIN = Shape(VOCABULARY, width=256, layers=6, heads=4, kv_heads=2, head_width=64, hidden=640, dropout=0.1)
DRAFT = Shape(VOCABULARY, width=128, layers=2, heads=4, kv_heads=2, head_width=32, hidden=384, dropout=0.0)


@dataclass(frozen=True)
class Plan:
    """How long and how fast one model learns."""

    steps: int
    rate: float
    seed: int
    short: tuple[int, int] = (16, 256)  # rows, tokens in a row
    long: tuple[int, int] = (2, 2048)  # the last part of the steps: long chats must stay sane
    long_share: float = 0.12
    warm_up: int = 100
    decay: float = 0.1
    average: float = 0.998  # weights kept are a moving average: smoother than the last step's

    def shape_at(self, step: int) -> tuple[int, int]:
        return self.long if step >= self.steps * (1 - self.long_share) else self.short

    def rate_at(self, step: int) -> float:
        warm_up = min(self.warm_up, self.steps // 10)
        if step < warm_up:
            return self.rate * (step + 1) / warm_up
        done = (step - warm_up) / max(1, self.steps - warm_up)
        return self.rate * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * done)))


class AnswerLoss(nn.Module):
    """Cross-entropy of the next token, by weight: answers count, questions a little."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, chats: Tensor, weights: Tensor) -> Tensor:
        return data_loss(self.model(tokens[:, :-1], chats[:, :-1]), tokens, weights)


class LawLoss(nn.Module):
    """The draft is worth what the main model would have said: it learns the whole law at every place of an answer."""

    def __init__(self, model: Model, teacher: Model) -> None:
        super().__init__()
        self.model, self.teacher = model, teacher.requires_grad_(requires_grad=False)

    def forward(self, tokens: Tensor, chats: Tensor, weights: Tensor) -> Tensor:
        logits = self.model(tokens[:, :-1], chats[:, :-1])
        law = self.teacher(tokens[:, :-1], chats[:, :-1]).float().softmax(-1)
        each = -(law * logits.float().log_softmax(-1)).sum(-1)
        answers = (weights >= 1.0).float()
        return 0.8 * (each * answers).sum() / answers.sum() + 0.2 * data_loss(logits, tokens, weights)


def data_loss(logits: Tensor, tokens: Tensor, weights: Tensor) -> Tensor:
    each = F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    return (each * weights.flatten()).sum() / weights.sum()


def optimizers(model: Model, plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for the matrices between the layers, which learns in about half the steps; AdamW for the rest."""
    inner = [w for name, w in model.named_parameters() if w.ndim == 2 and "embed" not in name]
    outer = [{"params": [w for w in model.parameters() if w.ndim == 1], "weight_decay": 0.0}]
    outer.append({"params": [model.model.embed_tokens.weight], "weight_decay": plan.decay})
    muon = torch.optim.Muon(inner, lr=plan.rate, weight_decay=plan.decay, adjust_lr_fn="match_rms_adamw")
    return [muon, torch.optim.AdamW(outer, lr=plan.rate, betas=(0.9, 0.95), fused=True)]


class Training:
    """One model's way through its plan."""

    def __init__(self, model: Model, plan: Plan, maker: ChatMaker, loss: nn.Module, name: str) -> None:
        self.model, self.plan, self.maker, self.name = model, plan, maker, name
        self.loss = torch.compile(loss, dynamic=False)
        self.averaged = deepcopy(model).eval()
        self.optimizers = optimizers(model, plan)
        self.started_s = time.monotonic()

    def run(self, keep: Callable[[Model], None]) -> Model:
        self.model.train()
        shown = 0.0
        for step in range(self.plan.steps):
            value = self._step(step)
            shown = value if step == 0 else 0.95 * shown + 0.05 * value
            if step % 25 == 0:
                print(f"{self.name} {step}/{self.plan.steps} loss {shown:.4f} {self._elapsed_s():.0f} s", flush=True)
            if step % 50 == 49:
                keep(self.averaged)
        keep(self.averaged)
        return self.averaged

    def _step(self, step: int) -> float:
        tokens, chats, weights = map(torch.from_numpy, self.maker.batch(*self.plan.shape_at(step)))
        with torch.autocast("cpu", torch.bfloat16):
            loss = self.loss(tokens, chats, weights)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.plan.rate_at(step)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self._average(step)
        return loss.item()

    @torch.no_grad()
    def _average(self, step: int) -> None:
        keep = min(self.plan.average, (step + 1) / (step + 10))
        for average, now in zip(self.averaged.parameters(), self.model.parameters(), strict=True):
            average.lerp_(now, 1 - keep)

    def _elapsed_s(self) -> float:
        return time.monotonic() - self.started_s


def train_main(guide: Guide, folder: Path, plan: Plan, resume: int) -> None:
    model = first_model(MAIN, folder, plan, resume)
    tokenizer = saved_tokenizer(folder) if resume else train_tokenizer(guide)
    maker = ChatMaker(guide, tokenizer, plan.seed, opening_share=0.75)
    Training(model, plan, maker, AnswerLoss(model), "main").run(lambda average: export(average, tokenizer, folder))


def train_draft(guide: Guide, folder: Path, main_folder: Path, plan: Plan, resume: int) -> None:
    model = first_model(DRAFT, folder, plan, resume)
    tokenizer = saved_tokenizer(main_folder)
    maker = ChatMaker(guide, tokenizer, plan.seed, opening_share=0.3)
    loss = LawLoss(model, saved_model(main_folder, MAIN))
    Training(model, plan, maker, loss, "draft").run(lambda average: export(average, tokenizer, folder))


def first_model(shape: Shape, folder: Path, plan: Plan, resume: int) -> Model:
    torch.manual_seed(plan.seed)
    return saved_model(folder, shape) if resume else Model(shape)


def saved_model(folder: Path, shape: Shape) -> Model:
    model = Model(shape)
    model.load_state_dict({name: value.float() for name, value in load_file(folder / "model.safetensors").items()})
    return model.eval()


def saved_tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def main() -> None:
    options = _options()
    guide = load_guide()
    main_folder, draft_folder = options.out / "main", options.out / "draft"
    seed = SEED + 10 * options.resume
    if options.only != "draft":
        plan = Plan(options.main_steps, options.main_rate, seed, long_share=options.long_share)
        train_main(guide, main_folder, plan, options.resume)
    if options.only != "main":
        plan = Plan(options.draft_steps, options.draft_rate, seed + 1, long_share=options.long_share)
        train_draft(guide, draft_folder, main_folder, plan, options.resume)
    print(f"{size_bytes(options.out) / 1e6:.1f} MB in {options.out}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "resources" / "starter")
    parser.add_argument("--only", choices=("main", "draft"), help="the draft needs a trained main")
    parser.add_argument(
        "--resume", type=int, default=0, help="go on from --out for this many-th time, with other chats"
    )
    parser.add_argument("--long-share", type=float, default=0.12, help="of the steps, with long chats")
    parser.add_argument("--main-steps", type=int, default=1800)
    parser.add_argument("--main-rate", type=float, default=2e-3)
    parser.add_argument("--draft-steps", type=int, default=500)
    parser.add_argument("--draft-rate", type=float, default=4e-3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
