"""What the drafters of the starter's main model share: what they read of it, where drafts begin, what they learn.

Each kind is a file: dflash.py, and heads.py for EAGLE-3 and MTP. They draft from the main model's hidden states, with
its own embedding and head, and learn its distribution at each place of a draft, over answers as it writes them itself.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from chats import ChatMaker
from model import CONTEXT, NORM_EPS, ROPE_BASE, Model, Shape, rotation
from packed import CONFIG as PACKED
from packed import packed, unpacked
from plan import Plan
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from training import Training

ANCHORS = 32  # drafts in a row of 256 tokens
FADE = 4.0  # places: the loss of each weighs exp(-1 / FADE) of that of the one before


@dataclass(frozen=True)
class Read:
    """What the main model makes of rows of chats."""

    states: Tensor  # (rows, length, layers × width), what the layers that are read return
    last: Tensor  # (rows, length, width), what its head is given
    following: Tensor  # (rows, length, width), the embeddings of the tokens that come next


@dataclass(frozen=True)
class Anchors:
    """The newest tokens, behind which drafts begin."""

    places: Tensor  # (rows, drafts)
    sees: Tensor  # (rows, drafts, length): tokens of the same chat, before the newest


class Drafter(Protocol):
    """What a kind of drafter is besides an nn.Module."""

    name: str  # what the app calls it
    read_layers: tuple[int, ...]  # layers of the main model whose output is read
    depth: int  # places of a draft
    is_packed: bool  # its folder holds matrices in four bits

    def drafted(self, read: Read, tokens: Tensor, anchors: Anchors, embed: Callable[[Tensor], Tensor]) -> Tensor:
        """What the head is given at each place (rows, drafts, depth, width), behind the anchors among `tokens`."""

    def norm_of_head(self) -> Tensor:
        """The weight of the norm before the main model's head."""

    def published(self, name: str) -> str:
        """What a parameter is called in the folder."""

    def config(self) -> dict:
        """config.json"""


class DraftLoss(nn.Module):
    """Cross-entropy with the main model's distribution at every place of a draft, earlier places weighted more."""

    def __init__(self, drafter: nn.Module, main: Model) -> None:
        super().__init__()
        self.drafter, self.main = drafter, main.requires_grad_(requires_grad=False)

    def forward(self, tokens: Tensor, chats: Tensor, weights: Tensor) -> Tensor:
        tokens, chats, depth = tokens.long(), chats[:, :-1], self.drafter.depth
        read = self._read(tokens, chats)
        written = written_by(self._head(read.last).argmax(-1), tokens[:, 1:], weights)
        anchors = drawn_anchors(written, chats)
        places = anchors.places[..., None] + torch.arange(depth)
        inside = places < written.shape[1]
        places = places.clamp(max=written.shape[1] - 1).flatten(1)
        counts = (written.gather(1, places).view_as(inside) & inside).cumprod(-1)
        drafted = self.drafter.drafted(read, tokens, anchors, self.main.model.embed_tokens)
        wanted = self._head(at(read.last, places)).float().softmax(-1)
        each = -(wanted * self._head(drafted).float().flatten(1, 2).log_softmax(-1)).sum(-1).view_as(counts)
        share = counts * torch.exp(-torch.arange(depth) / FADE)
        return (each * share).sum() / share.sum().clamp(min=1.0)

    @torch.no_grad()
    def _read(self, tokens: Tensor, chats: Tensor) -> Read:
        backbone, states = self.main.model, []
        mask = (chats[:, :, None] == chats[:, None, :]).tril()[:, None]
        turn = rotation(tokens.shape[1] - 1, self.main.shape.head_width)
        embedded = backbone.embed_tokens(tokens)
        x = embedded[:, :-1]
        for number, layer in enumerate(backbone.layers):
            x = layer(x, turn, mask)
            states += [x] if number in self.drafter.read_layers else []
        return Read(torch.cat(states, -1) if states else x, backbone.norm(x), embedded[:, 1:])

    def _head(self, states: Tensor) -> Tensor:
        return F.linear(states, self.main.model.embed_tokens.weight)


def drawn_anchors(written: Tensor, chats: Tensor) -> Anchors:
    """Random tokens of answers, behind which the answer goes on."""
    begins = written & F.pad(written, (1, 0))[:, :-1]
    drawn = ANCHORS * written.shape[1] // 256
    places = torch.multinomial(begins.float() + 1e-9, drawn, replacement=True)
    before = torch.arange(written.shape[1]) < places[..., None]
    return Anchors(places, before & (chats[:, None] == chats.gather(1, places)[..., None]))


def written_by(drawn: Tensor, following: Tensor, weights: Tensor) -> Tensor:
    """Where `following` is of an answer that the main model writes itself: up to the first token it would not draw."""
    answers = weights >= 1.0
    strange = (answers & (drawn != following)).long().cumsum(-1)
    before = torch.where(answers, 0, strange).cummax(-1).values
    return answers & (strange == before)


def at(rows: Tensor, places: Tensor) -> Tensor:
    """Of `rows` (rows, length, width) those at `places` (rows, n)."""
    return rows.gather(1, places[..., None].expand(-1, -1, rows.shape[-1]))


def turned(x: Tensor, turn: tuple[Tensor, Tensor], places: Tensor) -> Tensor:
    """`x` (…, heads, width) at `places` (…): rotary position embedding, halves convention."""
    cos, sin = (part[places][..., None, :] for part in turn)
    first, second = x.float().chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).to(x.dtype)


def start(drafter: nn.Module) -> None:
    for name, weight in drafter.named_parameters():
        if weight.ndim == 2:
            nn.init.normal_(weight, std=0.01 if name.endswith(("o_proj.weight", "down_proj.weight")) else 0.02)


def layer_config(shape: Shape) -> dict:
    """What config.json says of a drafter's layers, in the words of HF."""
    return {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_width,
        "intermediate_size": shape.hidden,
        "hidden_act": "silu",
        "rms_norm_eps": NORM_EPS,
        "rope_theta": ROPE_BASE,
        "max_position_embeddings": CONTEXT,
        "tie_word_embeddings": True,
    }


def train(drafter: nn.Module, main: Model, maker: ChatMaker, folder: Path, plan: Plan, *, resume: bool) -> None:
    """From `folder` on, or anew. `drafter` is a Drafter."""
    torch.manual_seed(plan.seed)
    start(drafter)
    drafter.norm_of_head().data.copy_(main.model.norm.weight)  # the head is used to rows of this size
    if resume:
        load(drafter, folder)
    Training(drafter, plan, maker, DraftLoss(drafter, main), folder.name).run(lambda average: export(average, folder))


def load(drafter: nn.Module, folder: Path) -> None:
    held = unpacked(load_file(folder / "model.safetensors"))
    drafter.load_state_dict({name: held[drafter.published(name)] for name in drafter.state_dict()})


def export(drafter: nn.Module, folder: Path) -> None:
    """As such drafters are published: no embedding, no head, no tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {drafter.published(name): value.detach().half() for name, value in drafter.state_dict().items()}
    weights = packed(weights) if drafter.is_packed else weights
    weights = {name: value.contiguous() for name, value in weights.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes for the owner only
    config = drafter.config() | (PACKED if drafter.is_packed else {})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    (folder / "hunch.json").write_text(json.dumps({"name": drafter.name}) + "\n", "utf-8")
