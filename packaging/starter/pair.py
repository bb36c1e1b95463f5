"""The pair: the main model learns from the guide, the draft the main model's distribution on the same kind of text."""

from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from chats import ChatMaker
from corpus import Guide
from export import export
from model import Model, Shape
from plan import Plan
from safetensors.torch import load_file
from tokenizer import VOCABULARY, train_tokenizer
from tokenizers import Tokenizer
from torch import Tensor, nn
from training import Training

MAIN = Shape(VOCABULARY, width=256, layers=6, heads=4, kv_heads=2, head_width=64, hidden=640, dropout=0.1)
DRAFT = Shape(VOCABULARY, width=128, layers=2, heads=4, kv_heads=2, head_width=32, hidden=384, dropout=0.0)


class AnswerLoss(nn.Module):
    """Cross-entropy of the next token, by weight: answers count, questions a little."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, chats: Tensor, weights: Tensor) -> Tensor:
        return data_loss(self.model(tokens[:, :-1], chats[:, :-1]), tokens, weights)


class DistributionLoss(nn.Module):
    """The draft learns the main model's whole distribution at every place of an answer."""

    def __init__(self, model: Model, teacher: Model) -> None:
        super().__init__()
        self.model, self.teacher = model, teacher.requires_grad_(requires_grad=False)

    def forward(self, tokens: Tensor, chats: Tensor, weights: Tensor) -> Tensor:
        logits = self.model(tokens[:, :-1], chats[:, :-1])
        wanted = self.teacher(tokens[:, :-1], chats[:, :-1]).float().softmax(-1)
        each = -(wanted * logits.float().log_softmax(-1)).sum(-1)
        answers = (weights >= 1.0).float()
        return 0.8 * (each * answers).sum() / answers.sum() + 0.2 * data_loss(logits, tokens, weights)


def data_loss(logits: Tensor, tokens: Tensor, weights: Tensor) -> Tensor:
    each = F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    return (each * weights.flatten()).sum() / weights.sum()


def train_main(guide: Guide, folder: Path, plan: Plan, *, resume: bool) -> None:
    model = _first_model(MAIN, folder, plan, resume=resume)
    tokenizer = saved_tokenizer(folder) if resume else train_tokenizer(guide)
    maker = ChatMaker(guide, tokenizer, plan.seed, opening_share=0.75)
    Training(model, plan, maker, AnswerLoss(model), "main").run(lambda average: export(average, tokenizer, folder))


def train_draft(guide: Guide, folder: Path, main_folder: Path, plan: Plan, *, resume: bool) -> None:
    model = _first_model(DRAFT, folder, plan, resume=resume)
    tokenizer = saved_tokenizer(main_folder)
    maker = ChatMaker(guide, tokenizer, plan.seed, opening_share=0.3)
    loss = DistributionLoss(model, saved_model(main_folder, MAIN))
    Training(model, plan, maker, loss, "draft").run(lambda average: export(average, tokenizer, folder))


def _first_model(shape: Shape, folder: Path, plan: Plan, *, resume: bool) -> Model:
    torch.manual_seed(plan.seed)
    return saved_model(folder, shape) if resume else Model(shape)


def saved_model(folder: Path, shape: Shape) -> Model:
    model = Model(shape)
    model.load_state_dict({name: value.float() for name, value in load_file(folder / "model.safetensors").items()})
    return model.eval()


def saved_tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))
