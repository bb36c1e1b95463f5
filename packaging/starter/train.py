"""Trains the starter pair from the guide: one command, CPU only, seeded.

    python packaging/starter/train.py            # both models, into resources/starter
    python packaging/starter/train.py --only draft
    python packaging/starter/train.py --drafters-only

The tokenizer comes first, then the main model from data, then the draft, which learns the main model's law on the same
kind of data, and the drafters (drafters.py), which learn it from the main model's hidden states. What the data looks
like is in chats.py; what the result is worth is measured by evaluate.py.
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from chats import ChatMaker
from corpus import Guide, load_guide
from drafters import train_dflash
from export import export, size_bytes
from model import Model, Shape
from safetensors.torch import load_file
from tokenizer import VOCABULARY, train_tokenizer
from tokenizers import Tokenizer
from torch import Tensor, nn
from training import Plan, Training

ROOT = Path(__file__).parents[2]
SEED = 20_240_607
MAIN = Shape(VOCABULARY, width=256, layers=6, heads=4, kv_heads=2, head_width=64, hidden=640, dropout=0.1)
DRAFT = Shape(VOCABULARY, width=128, layers=2, heads=4, kv_heads=2, head_width=32, hidden=384, dropout=0.0)


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


def train_drafters(guide: Guide, folder: Path, main_folder: Path, plan: Plan, resume: int) -> None:
    maker = ChatMaker(guide, saved_tokenizer(main_folder), plan.seed, opening_share=0.1)
    train_dflash(saved_model(main_folder, MAIN), maker, folder, plan, resume=resume > 0)


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
    if options.only in (None, "main"):
        plan = Plan(options.main_steps, options.main_rate, seed, long_share=options.long_share)
        train_main(guide, main_folder, plan, options.resume)
    if options.only in (None, "draft"):
        plan = Plan(options.draft_steps, options.draft_rate, seed + 1, long_share=options.long_share)
        train_draft(guide, draft_folder, main_folder, plan, options.resume)
    if options.only in (None, "drafters"):
        plan = Plan(options.drafter_steps, options.drafter_rate, seed + 2, long_share=options.drafter_long_share)
        train_drafters(guide, options.out / "dflash", main_folder, plan, options.resume)
    print(f"{size_bytes(options.out) / 1e6:.1f} MB in {options.out}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "resources" / "starter")
    parser.add_argument("--only", choices=("main", "draft"), help="the draft needs a trained main")
    parser.add_argument("--drafters-only", dest="only", action="store_const", const="drafters")
    parser.add_argument(
        "--resume", type=int, default=0, help="go on from --out for this many-th time, with other chats"
    )
    parser.add_argument("--long-share", type=float, default=0.12, help="of the steps, with long chats")
    parser.add_argument("--main-steps", type=int, default=1800)
    parser.add_argument("--main-rate", type=float, default=2e-3)
    parser.add_argument("--draft-steps", type=int, default=500)
    parser.add_argument("--draft-rate", type=float, default=4e-3)
    parser.add_argument("--drafter-steps", type=int, default=1100)
    parser.add_argument("--drafter-rate", type=float, default=4e-3)
    parser.add_argument("--drafter-long-share", type=float, default=0.2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
