"""The Qwen3 architecture in torch, for training only; parameter names are those of HF and mlx-lm."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from torch import Tensor, nn

CONTEXT = 4096
NORM_EPS = 1e-6
ROPE_BASE = 10000.0


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    hidden: int
    dropout: float

    def config(self, end_id: int, pad_id: int) -> dict:
        """config.json as HF and mlx-lm read it."""
        return {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_width,
            "intermediate_size": self.hidden,
            "hidden_act": "silu",
            "rms_norm_eps": NORM_EPS,
            "rope_theta": ROPE_BASE,
            "max_position_embeddings": CONTEXT,
            "attention_bias": False,
            "tie_word_embeddings": True,
            "eos_token_id": end_id,
            "pad_token_id": pad_id,
            "bos_token_id": None,
            "torch_dtype": "float16",
        }


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.head_width, self.grouped = shape.head_width, shape.heads != shape.kv_heads
        self.q_proj = nn.Linear(shape.width, shape.heads * shape.head_width, bias=False)
        self.k_proj = nn.Linear(shape.width, shape.kv_heads * shape.head_width, bias=False)
        self.v_proj = nn.Linear(shape.width, shape.kv_heads * shape.head_width, bias=False)
        self.o_proj = nn.Linear(shape.heads * shape.head_width, shape.width, bias=False)
        self.q_norm = nn.RMSNorm(shape.head_width, eps=NORM_EPS)
        self.k_norm = nn.RMSNorm(shape.head_width, eps=NORM_EPS)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        q = rotate(self.q_norm(self._heads(self.q_proj(x))), turn)
        k = rotate(self.k_norm(self._heads(self.k_proj(x))), turn)
        v = self._heads(self.v_proj(x))
        # In v's type: attention in fp32 takes three times as long as in bf16.
        mixed = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, mask, enable_gqa=self.grouped)
        return self.o_proj(mixed.transpose(1, 2).flatten(2))

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.head_width)).transpose(1, 2)


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down_proj = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.input_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.post_attention_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        x = x + self.dropout(self.self_attn(self.input_layernorm(x), turn, mask))
        return x + self.dropout(self.mlp(self.post_attention_layernorm(x)))


class Backbone(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, tokens: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        x = self.dropout(self.embed_tokens(tokens))
        for layer in self.layers:
            x = layer(x, turn, mask)
        return self.norm(x)


class Model(nn.Module):
    """Call with tokens and the number of each one's chat: chats packed in one row never see each other."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.model = Backbone(shape)
        self._start()

    def forward(self, tokens: Tensor, chat: Tensor) -> Tensor:
        mask = (chat[:, :, None] == chat[:, None, :]).tril()[:, None]
        turn = rotation(tokens.shape[1], self.shape.head_width)
        return F.linear(self.model(tokens, turn, mask), self.model.embed_tokens.weight)

    def _start(self) -> None:
        last = 0.02 / (2 * self.shape.layers) ** 0.5
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=last if name.endswith(("o_proj.weight", "down_proj.weight")) else 0.02)


def rotation(length: int, head_width: int) -> tuple[Tensor, Tensor]:
    rates = ROPE_BASE ** (-torch.arange(0, head_width, 2).float() / head_width)
    angles = torch.outer(torch.arange(length).float(), rates)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary position embedding, halves convention (mlx: traditional=False)."""
    cos, sin = turn
    first, second = x.float().chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).to(x.dtype)
