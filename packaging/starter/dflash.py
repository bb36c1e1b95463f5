"""DFlash in z-lab's dialect: a block is the newest token and masks; the mask at place k drafts the k-th token on."""

from collections.abc import Callable

import torch
from drafters import Anchors, Read, layer_config, turned
from model import NORM_EPS, FeedForward, Shape, rotation
from tokenizer import PAD_ID
from torch import Tensor, nn

BLOCK = 8
MASK_ID = PAD_ID  # a token that no chat has


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

    def forward(self, x: Tensor, context: Tensor, anchors: Anchors) -> Tensor:
        """`x` (rows, drafts, block, width), `context` (rows, length, width)."""
        length, block = context.shape[1], x.shape[2]
        turn = rotation(length + block, self.shape.head_width)
        places = anchors.places[..., None] + torch.arange(block)
        q = turned(self.q_norm(self._heads(self.q_proj(x))), turn, places)
        own_k = turned(self.k_norm(self._heads(self.k_proj(x))), turn, places)
        k = turned(self.k_norm(self._heads(self.k_proj(context))), turn, torch.arange(length))
        q = q.unflatten(-2, (self.shape.kv_heads, -1))
        seen = torch.einsum("rbqngd,rknd->rngbqk", q, k)
        own = torch.einsum("rbqngd,rbknd->rngbqk", q, own_k)
        seen = seen.float().masked_fill(~anchors.sees[:, None, None, :, None], -torch.inf)
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

    def forward(self, x: Tensor, context: Tensor, anchors: Anchors) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), context, anchors)
        return x + self.mlp(self.post_attention_layernorm(x))


class Dflash(nn.Module):
    """Parameter names are those that z-lab publishes."""

    name = "Hunch Starter DFlash"
    read_layers = (2, 4)
    is_packed = False

    def __init__(self, main: Shape, block: int = BLOCK) -> None:
        super().__init__()
        shape = Shape(main.vocabulary, main.width, layers=2, heads=4, kv_heads=2, head_width=32, hidden=256, dropout=0)
        self.shape, self.main_layers, self.depth = shape, main.layers, block - 1
        self.fc = nn.Linear(len(self.read_layers) * main.width, shape.width, bias=False)
        self.hidden_norm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=NORM_EPS)

    def drafted(self, read: Read, tokens: Tensor, anchors: Anchors, embed: Callable[[Tensor], Tensor]) -> Tensor:
        masks = torch.full((*anchors.places.shape, self.depth), MASK_ID)
        rows = embed(torch.cat((tokens.gather(1, anchors.places)[..., None], masks), -1))
        context = self.hidden_norm(self.fc(read.states))
        for layer in self.layers:
            rows = layer(rows, context, anchors)
        return self.norm(rows)[:, :, 1:]

    def norm_of_head(self) -> Tensor:
        return self.norm.weight

    def published(self, name: str) -> str:
        return name

    def config(self) -> dict:
        return layer_config(self.shape) | {
            "architectures": ["DFlashDraftModel"],
            "model_type": "qwen3",
            "block_size": self.depth + 1,
            "dflash_config": {"mask_token_id": MASK_ID, "target_layer_ids": list(self.read_layers)},
            "num_target_layers": self.main_layers,
            "num_hidden_layers": self.shape.layers,
            "layer_types": ["full_attention"] * self.shape.layers,
            "attention_bias": False,
            "torch_dtype": "float16",
        }
