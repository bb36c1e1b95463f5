"""Gemma 3 with its SigLIP tower, small, in torch, for training only: many pictures and chats at once."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from model import NORM_EPS, ROPE_BASE, rotate, rotation
from torch import Tensor, nn

SIDE, PATCH, MERGE = 64, 16, 1
TOKENS = (SIDE // PATCH // MERGE) ** 2  # that a picture takes
CONTEXT = 2048
KNOWN = (8, 8, 5, 10)  # shapes, colours, counts and digits that pictures are told apart by
LEAST_SPREAD = 0.02  # variance that counts as noise
BY_ROW, BY_PLACE = 0.5, 2.0  # of the loss, for a share of one that is by the mean
HELD = 3  # how many things have their centres in a row's part of the picture: none, one, or more


@dataclass(frozen=True)
class Shape:
    width: int
    layers: int
    hidden: int
    heads: int = 4
    kv_heads: int = 2

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    def config(self, vocabulary: int) -> dict:
        """As HF and mlx-lm read it. No layer has a window."""
        return {
            "model_type": "gemma3_text",
            "vocab_size": vocabulary,
            "hidden_size": self.width,
            "num_hidden_layers": self.layers,
            "intermediate_size": self.hidden,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_width,
            "query_pre_attn_scalar": self.head_width,
            "rms_norm_eps": NORM_EPS,
            "rope_theta": ROPE_BASE,
            "rope_local_base_freq": ROPE_BASE,
            "sliding_window": CONTEXT,
            "sliding_window_pattern": 1,
            "max_position_embeddings": CONTEXT,
        }


TEXT, DRAFT, TOWER = Shape(96, 3, 256), Shape(32, 1, 64), Shape(128, 4, 256)
VISION_CONFIG = {
    "model_type": "siglip_vision_model",
    "hidden_size": TOWER.width,
    "intermediate_size": TOWER.hidden,
    "num_hidden_layers": TOWER.layers,
    "num_attention_heads": TOWER.heads,
    "image_size": SIDE,
    "patch_size": PATCH,
    "layer_norm_eps": NORM_EPS,
}


class Norm(nn.Module):
    """Weights count from one."""

    def __init__(self, width: int, first: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), first))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], 1 + self.weight, NORM_EPS)


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.head_width = shape.head_width
        both = shape.kv_heads * shape.head_width
        self.q_proj, self.o_proj = (nn.Linear(shape.width, shape.width, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(shape.width, both, bias=False) for _ in range(2))
        self.q_norm, self.k_norm = Norm(shape.head_width), Norm(shape.head_width)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        q, k = (
            rotate(part, turn)
            for part in (self.q_norm(self._of(self.q_proj(x))), self.k_norm(self._of(self.k_proj(x))))
        )
        mixed = F.scaled_dot_product_attention(q, k, self._of(self.v_proj(x)), mask, enable_gqa=True)
        return self.o_proj(mixed.transpose(1, 2).flatten(2))

    def _of(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.head_width)).transpose(1, 2)


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(shape.width, shape.hidden, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.gelu(self.gate_proj(x), approximate="tanh") * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn, self.mlp = Attention(shape), FeedForward(shape)
        last = (2 * shape.layers) ** -0.5 - 1
        self.input_layernorm, self.pre_feedforward_layernorm = Norm(shape.width), Norm(shape.width)
        self.post_attention_layernorm, self.post_feedforward_layernorm = (
            Norm(shape.width, last),
            Norm(shape.width, last),
        )

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        x = x + self.post_attention_layernorm(self.self_attn(self.input_layernorm(x), turn, mask))
        return x + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(x)))


class Text(nn.Module):
    def __init__(self, shape: Shape, vocabulary: int) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(vocabulary, shape.width)
        nn.init.normal_(self.embed_tokens.weight, std=shape.width**-0.5)
        self.layers = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.width)

    def forward(self, tokens: Tensor, mask: Tensor, rows: Tensor | None = None, places: Tensor | None = None) -> Tensor:
        """The last states; `places`: for each token the row of a picture that takes its place, or -1."""
        x = self.embed_tokens(tokens) * self.shape.width**0.5
        if rows is not None and places is not None:
            x = torch.where(places[..., None] >= 0, rows[places.clamp(min=0)], x)
        turn = rotation(tokens.shape[1], self.shape.head_width)
        for layer in self.layers:
            x = layer(x, turn, mask)
        return self.norm(x)

    def logits(self, states: Tensor) -> Tensor:
        return F.linear(states, self.embed_tokens.weight)


class TowerAttention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(shape.width, shape.width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        parts = [
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj)
        ]
        return self.out_proj(F.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2))


class TowerFeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(shape.width, shape.hidden), nn.Linear(shape.hidden, shape.width)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


class TowerBlock(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn, self.mlp = TowerAttention(shape), TowerFeedForward(shape)
        self.layer_norm1, self.layer_norm2 = (nn.LayerNorm(shape.width, NORM_EPS) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.self_attn(self.layer_norm1(x))
        return x + self.mlp(self.layer_norm2(x))


class Tower(nn.Module):
    def __init__(self, shape: Shape, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3 * PATCH**2))
        self.register_buffer("whitening", torch.eye(3 * PATCH**2))
        self.patches = nn.Linear(3 * PATCH**2, shape.width)
        self.position_embedding = nn.Parameter(0.3 * torch.randn((SIDE // PATCH) ** 2, shape.width))
        self.layers = nn.ModuleList(TowerBlock(shape) for _ in range(shape.layers))
        self.post_layernorm, self.norm = nn.LayerNorm(shape.width, NORM_EPS), Norm(shape.width)
        self.projection = nn.Linear(shape.width, width, bias=False)

    def forward(self, patches: Tensor) -> Tensor:
        """(pictures × TOKENS, width)."""
        x = self.patches((patches - self.mean) @ self.whitening) + self.position_embedding
        for layer in self.layers:
            x = layer(x)
        side = SIDE // PATCH // MERGE
        pooled = self.post_layernorm(x).unflatten(1, (side, MERGE, side, MERGE)).mean((2, 4)).flatten(0, 2)
        return self.projection(self.norm(pooled))

    def whiten(self, patches: Tensor) -> None:
        """Have all that patches differ by equally large: learned in a fraction of the time. `embedding` has it in."""
        flat = patches.flatten(0, 1)
        spreads, directions = torch.linalg.eigh(torch.cov(flat.T))
        self.mean.copy_(flat.mean(0))
        self.whitening.copy_(directions * (spreads + LEAST_SPREAD).rsqrt())

    def embedding(self) -> tuple[Tensor, Tensor]:
        """Weight and bias for patches as they are."""
        weight = self.patches.weight @ self.whitening.T
        return weight, self.patches.bias - weight @ self.mean


class Naming(nn.Module):
    """What is in each picture, by the mean of its rows and by each, and where: a short way to a tower that sees."""

    def __init__(self, tower: Tower, width: int) -> None:
        super().__init__()
        self.tower = tower
        self.names = nn.ModuleList(nn.Linear(width, count) for count in KNOWN)
        self.held = nn.Linear(width, HELD)

    def forward(self, rows: Tensor, known: Tensor) -> Tensor:
        """The loss; `known`: for each picture the number of each of its names, then what each row holds, or -100."""
        held, told = known[:, len(KNOWN) :].flatten(), rows.new_zeros(())
        for name, each in zip(self.names, known.T[: len(KNOWN)], strict=True):
            told = told + F.cross_entropy(name(self.mean(rows)), each)
            told = told + BY_ROW * F.cross_entropy(name(rows), each.repeat_interleave(TOKENS))
        return told + BY_PLACE * F.cross_entropy(self.held(rows), held)

    def told(self, rows: Tensor) -> Tensor:
        """(pictures, names), by the mean."""
        return torch.stack([name(self.mean(rows)).argmax(-1) for name in self.names], 1)

    @staticmethod
    def mean(rows: Tensor) -> Tensor:
        return rows.unflatten(0, (-1, TOKENS)).mean(1)


def seen(places: Tensor) -> Tensor:
    """(chats, 1, tokens, tokens): each token sees those before it, and a picture's see all of the picture."""
    picture = torch.where(places >= 0, places // TOKENS, -1)
    same = (picture[:, :, None] == picture[:, None, :]) & (picture[:, :, None] >= 0)
    causal = torch.ones(places.shape[1], places.shape[1], dtype=torch.bool).tril()
    return (same | causal)[:, None]
