"""Trains drafters for the starter's main model. They draft from its hidden states, with its own embedding and head.

DFlash (block 8, z-lab's dialect): a block is the newest token and seven masks; the mask at place k drafts the token k
places on. It learns the law of the main model at each of these places, over answers as the main model writes them.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from chats import ChatMaker
from model import CONTEXT, NORM_EPS, ROPE_BASE, FeedForward, Model, Shape, rotation
from safetensors.torch import load_file, save_file
from tokenizer import PAD_ID
from torch import Tensor, nn
from training import Plan, Training

BLOCK = 8
TAPS = (2, 4)  # layers of the main model whose output is read
MASK_ID = PAD_ID  # a token that no chat has
DRAFTER = Shape(0, width=256, layers=2, heads=4, kv_heads=2, head_width=32, hidden=256, dropout=0.0)
FADE = 4.0  # places: the loss of each weighs exp(-1 / FADE) of that of the one before
ANCHORS = 32  # blocks in a row of 256 tokens
NAME = "Hunch Starter DFlash"


@dataclass(frozen=True)
class Blocks:
    """Where blocks begin, and what they may see."""

    anchors: Tensor  # (rows, blocks), places of the newest tokens
    sees: Tensor  # (rows, blocks, length): tokens of the same chat, before the newest


class Attention(nn.Module):
    """Queries of the blocks; keys and values of the context and of the query's own block."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.q_proj = nn.Linear(shape.width, shape.heads * shape.head_width, bias=False)
        self.k_proj = nn.Linear(shape.width, shape.kv_heads * shape.head_width, bias=False)
        self.v_proj = nn.Linear(shape.width, shape.kv_heads * shape.head_width, bias=False)
        self.o_proj = nn.Linear(shape.heads * shape.head_width, shape.width, bias=False)
        self.q_norm = nn.RMSNorm(shape.head_width, eps=NORM_EPS)
        self.k_norm = nn.RMSNorm(shape.head_width, eps=NORM_EPS)

    def forward(self, x: Tensor, context: Tensor, blocks: Blocks) -> Tensor:
        """`x` (rows, blocks, BLOCK, width), `context` (rows, length, width)."""
        length = context.shape[1]
        turn = rotation(length + BLOCK, self.shape.head_width)
        places = blocks.anchors[..., None] + torch.arange(BLOCK)
        q = _turned(self.q_norm(self._heads(self.q_proj(x))), turn, places)
        own_k = _turned(self.k_norm(self._heads(self.k_proj(x))), turn, places)
        k = _turned(self.k_norm(self._heads(self.k_proj(context))), turn, torch.arange(length))
        q = q.unflatten(-2, (self.shape.kv_heads, -1))
        seen = torch.einsum("rbqngd,rknd->rngbqk", q, k)
        own = torch.einsum("rbqngd,rbknd->rngbqk", q, own_k)
        seen = seen.float().masked_fill(~blocks.sees[:, None, None, :, None], -torch.inf)
        shares = torch.cat((seen, own.float()), -1).mul(self.shape.head_width**-0.5).softmax(-1).to(x.dtype)
        mixed = torch.einsum("rngbqk,rknd->rbqngd", shares[..., :length], self._heads(self.v_proj(context)))
        mixed = mixed + torch.einsum("rngbqk,rbknd->rbqngd", shares[..., length:], self._heads(self.v_proj(x)))
        return self.o_proj(mixed.flatten(-3))

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.shape.head_width))


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.input_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.post_attention_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)

    def forward(self, x: Tensor, context: Tensor, blocks: Blocks) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), context, blocks)
        return x + self.mlp(self.post_attention_layernorm(x))


class Drafter(nn.Module):
    """Parameter names are those that z-lab publishes."""

    def __init__(self, shape: Shape, main: Model) -> None:
        super().__init__()
        self.shape = shape
        self.fc = nn.Linear(len(TAPS) * main.shape.width, shape.width, bias=False)
        self.hidden_norm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.01 if name.endswith(("o_proj.weight", "down_proj.weight")) else 0.02)
        self.norm.weight.data.copy_(main.model.norm.weight)  # the head is used to rows of this size

    def forward(self, rows: Tensor, states: Tensor, blocks: Blocks) -> Tensor:
        """What the head is given, from embedded `rows` of blocks and the main model's `states`."""
        context = self.hidden_norm(self.fc(states))
        for layer in self.layers:
            rows = layer(rows, context, blocks)
        return self.norm(rows)

    def config(self, main: Shape) -> dict:
        shape = self.shape
        return {
            "architectures": ["DFlashDraftModel"],
            "model_type": "qwen3",
            "block_size": BLOCK,
            "dflash_config": {"mask_token_id": MASK_ID, "target_layer_ids": list(TAPS)},
            "num_target_layers": main.layers,
            "vocab_size": main.vocabulary,
            "hidden_size": shape.width,
            "num_hidden_layers": shape.layers,
            "layer_types": ["full_attention"] * shape.layers,
            "num_attention_heads": shape.heads,
            "num_key_value_heads": shape.kv_heads,
            "head_dim": shape.head_width,
            "intermediate_size": shape.hidden,
            "hidden_act": "silu",
            "rms_norm_eps": NORM_EPS,
            "rope_theta": ROPE_BASE,
            "max_position_embeddings": CONTEXT,
            "attention_bias": False,
            "tie_word_embeddings": True,
            "torch_dtype": "float16",
        }


class BlockLoss(nn.Module):
    """Cross-entropy with the main model's law at every place of a block, earlier places weighted more."""

    def __init__(self, drafter: Drafter, main: Model) -> None:
        super().__init__()
        self.drafter, self.main = drafter, main.requires_grad_(requires_grad=False)

    def forward(self, tokens: Tensor, chats: Tensor, weights: Tensor) -> Tensor:
        tokens, chats = tokens.long(), chats[:, :-1]
        states, last = self._main_states(tokens[:, :-1], chats)
        written = written_by(self._head(last).argmax(-1), tokens[:, 1:], weights)
        blocks = self._blocks(written, chats)
        places = blocks.anchors[..., None] + torch.arange(BLOCK - 1)
        inside = places < written.shape[1]
        places = places.clamp(max=written.shape[1] - 1).flatten(1)
        counts = (written.gather(1, places).view_as(inside) & inside).cumprod(-1)
        masks = torch.full((*blocks.anchors.shape, BLOCK - 1), MASK_ID)
        block = torch.cat((tokens.gather(1, blocks.anchors)[..., None], masks), -1)
        drafted = self.drafter(self.main.model.embed_tokens(block), states, blocks)[:, :, 1:]
        law = self._head(last.gather(1, places[..., None].expand(-1, -1, last.shape[-1]))).float().softmax(-1)
        each = -(law * self._head(drafted).float().flatten(1, 2).log_softmax(-1)).sum(-1).view_as(counts)
        share = counts * torch.exp(-torch.arange(BLOCK - 1) / FADE)
        return (each * share).sum() / share.sum().clamp(min=1.0)

    @torch.no_grad()
    def _main_states(self, tokens: Tensor, chats: Tensor) -> tuple[Tensor, Tensor]:
        """Of each token what the tapped layers return, and what the head is given."""
        backbone, taps = self.main.model, []
        mask = (chats[:, :, None] == chats[:, None, :]).tril()[:, None]
        turn = rotation(tokens.shape[1], self.main.shape.head_width)
        x = backbone.embed_tokens(tokens)
        for number, layer in enumerate(backbone.layers):
            x = layer(x, turn, mask)
            taps += [x] if number in TAPS else []
        return torch.cat(taps, -1), backbone.norm(x)

    def _head(self, states: Tensor) -> Tensor:
        return F.linear(states, self.main.model.embed_tokens.weight)

    def _blocks(self, written: Tensor, chats: Tensor) -> Blocks:
        """At random tokens of answers, behind which the answer goes on."""
        begins = written & F.pad(written, (1, 0))[:, :-1]
        drawn = ANCHORS * written.shape[1] // 256
        anchors = torch.multinomial(begins.float() + 1e-9, drawn, replacement=True)
        before = torch.arange(written.shape[1]) < anchors[..., None]
        return Blocks(anchors, before & (chats[:, None] == chats.gather(1, anchors)[..., None]))


def written_by(drawn: Tensor, following: Tensor, weights: Tensor) -> Tensor:
    """Where `following` is of an answer that the main model writes itself: up to the first token it would not draw."""
    answers = weights >= 1.0
    strange = (answers & (drawn != following)).long().cumsum(-1)
    before = torch.where(answers, 0, strange).cummax(-1).values
    return answers & (strange == before)


def _turned(x: Tensor, turn: tuple[Tensor, Tensor], places: Tensor) -> Tensor:
    """`x` (…, heads, width) at `places` (…): rotary position embedding, halves convention."""
    cos, sin = (part[places][..., None, :] for part in turn)
    first, second = x.float().chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).to(x.dtype)


def train_dflash(main: Model, maker: ChatMaker, folder: Path, plan: Plan, *, resume: bool) -> None:
    torch.manual_seed(plan.seed)
    drafter = Drafter(DRAFTER, main)
    if resume:
        drafter.load_state_dict(load_weights(folder))
    loss = BlockLoss(drafter, main)
    Training(drafter, plan, maker, loss, "dflash").run(lambda average: export_drafter(average, main.shape, folder))


def load_weights(folder: Path) -> dict[str, Tensor]:
    return {name: value.float() for name, value in load_file(folder / "model.safetensors").items()}


def export_drafter(drafter: Drafter, main: Shape, folder: Path) -> None:
    """As z-lab publishes them: no embedding, no head, no tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().to(torch.float16).contiguous() for name, value in drafter.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes for the owner only
    (folder / "config.json").write_text(json.dumps(drafter.config(main), indent=2) + "\n", "utf-8")
    (folder / "hunch.json").write_text(json.dumps({"name": NAME}) + "\n", "utf-8")
