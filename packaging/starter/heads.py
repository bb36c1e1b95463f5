"""EAGLE-3 and MTP: heads of one layer that draft token by token, each from their own state at the token before.

A row is made of a state and of the token after it. The states of tokens that were committed are the main model's; in a
draft the head's own states stand in for them. So it is trained on chains of its own states, as it will be used
(training-time test).
"""

from collections.abc import Callable

import torch
from drafters import Anchors, Read, at, layer_config, turned
from model import NORM_EPS, FeedForward, Shape, rotation
from torch import Tensor, nn

DEPTH = 8  # places of a draft that are trained; longer ones are drafted all the same
Rows = tuple[Tensor, Tensor]  # keys and values (…, key-value heads, width)


class Attention(nn.Module):
    def __init__(self, shape: Shape, read_width: int, *, bias: bool) -> None:
        super().__init__()
        self.head_width, self.kv_heads = shape.head_width, shape.kv_heads
        self.q_proj = nn.Linear(read_width, shape.heads * shape.head_width, bias=bias)
        self.k_proj = nn.Linear(read_width, shape.kv_heads * shape.head_width, bias=bias)
        self.v_proj = nn.Linear(read_width, shape.kv_heads * shape.head_width, bias=bias)
        self.o_proj = nn.Linear(shape.heads * shape.head_width, shape.width, bias=False)

    def rows(self, read: Tensor, turn: Rows, places: Tensor) -> Rows:
        return turned(self._heads(self.k_proj(read)), turn, places), self._heads(self.v_proj(read))

    def forward(self, read: Tensor, turn: Rows, places: Tensor, context: Rows, sees: Tensor, own: list[Rows]) -> Tensor:
        """Of `read` (rows, drafts, width), one place of each draft: it sees `context` where it may, and its `own`."""
        q = turned(self._heads(self.q_proj(read)), turn, places).unflatten(-2, (self.kv_heads, -1))
        own_k, own_v = (torch.stack(part, 2) for part in zip(*own, strict=True))
        seen = torch.einsum("rbngd,rknd->rngbk", q, context[0]).float()
        seen = seen.masked_fill(~sees[:, None, None], -torch.inf)
        mine = torch.einsum("rbngd,rbknd->rngbk", q, own_k).float()
        shares = torch.cat((seen, mine), -1).mul(self.head_width**-0.5).softmax(-1).to(read.dtype)
        length = seen.shape[-1]
        mixed = torch.einsum("rngbk,rknd->rbngd", shares[..., :length], context[1])
        mixed = mixed + torch.einsum("rngbk,rbknd->rbngd", shares[..., length:], own_v)
        return self.o_proj(mixed.flatten(-3))

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.head_width))


class Head(nn.Module):
    """What both kinds share: the chain. `begin`, `enter` and `leave` are the kind's own."""

    is_packed = True

    def __init__(self, shape: Shape, read_width: int, *, bias: bool) -> None:
        super().__init__()
        self.shape, self.depth = shape, DEPTH
        self.self_attn = Attention(shape, read_width, bias=bias)
        self.mlp = FeedForward(shape)
        self.input_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.post_attention_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)

    def begin(self, read: Read) -> Tensor:
        """The states that a draft begins with, of what the main model made."""
        raise NotImplementedError

    def enter(self, states: Tensor, embedded: Tensor) -> tuple[Tensor, Tensor]:
        """What attention adds to, and what it reads."""
        raise NotImplementedError

    def leave(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The state that the next place begins with, and what the main model's head is given."""
        raise NotImplementedError

    def drafted(self, read: Read, tokens: Tensor, anchors: Anchors, embed: Callable[[Tensor], Tensor]) -> Tensor:
        """Row p holds state p and token p + 1, so the newest token is in the row before its own place."""
        begun, last = self.begin(read), read.following.shape[1] - 1
        turn = rotation(last + 1, self.shape.head_width)
        context = self.self_attn.rows(self.enter(begun, read.following)[1], turn, torch.arange(last + 1))
        newest = (anchors.places - 1).clamp(min=0)  # where nothing is the main model's own, anchors are anywhere
        sees = anchors.sees & (torch.arange(last + 1) < newest[..., None])
        states, own, given = at(begun, newest), [], []
        for step in range(self.depth):
            places = (newest + step).clamp(max=last)
            rows, entering = self.enter(states, at(read.following, places))
            own.append(self.self_attn.rows(entering, turn, places))
            rows = rows + self.self_attn(entering, turn, places, context, sees, own)
            rows = rows + self.mlp(self.post_attention_layernorm(rows))
            states, leaving = self.leave(rows)
            given.append(leaving)
        return torch.stack(given, 2)


class Eagle(Head):
    """EAGLE-3. Attention reads embedding and state side by side, and adds to the state."""

    name = "Hunch Starter EAGLE-3"
    read_layers = (1, 3, 4)

    def __init__(self, main: Shape) -> None:
        shape = Shape(main.vocabulary, main.width, layers=1, heads=4, kv_heads=2, head_width=32, hidden=448, dropout=0)
        super().__init__(shape, 2 * shape.width, bias=False)
        self.main_layers = main.layers
        self.fc = nn.Linear(len(self.read_layers) * main.width, shape.width, bias=False)
        self.hidden_norm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.norm = nn.RMSNorm(shape.width, eps=NORM_EPS)

    def begin(self, read: Read) -> Tensor:
        return self.fc(read.states)

    def enter(self, states: Tensor, embedded: Tensor) -> tuple[Tensor, Tensor]:
        return states, torch.cat((self.input_layernorm(embedded), self.hidden_norm(states)), -1)

    def leave(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        return rows, self.norm(rows)

    def norm_of_head(self) -> Tensor:
        return self.norm.weight

    def published(self, name: str) -> str:
        """SafeAILab's name of a parameter."""
        return name if name.startswith(("fc.", "norm.")) else f"midlayer.{name}"

    def config(self) -> dict:
        return layer_config(self.shape) | {
            "architectures": ["LlamaForCausalLMEagle3"],
            "model_type": "llama",
            "num_hidden_layers": 1,
            "num_target_layers": self.main_layers,
            "draft_vocab_size": self.shape.vocabulary,
            "eagle_config": {"eagle_aux_hidden_state_layer_ids": [layer + 1 for layer in self.read_layers]},
            "attention_bias": False,
            "torch_dtype": "float16",
        }


class Mtp(Head):
    """As MiMo publishes them: an ordinary layer behind a state and an embedding that are joined."""

    name = "Hunch Starter MTP"
    read_layers = ()

    def __init__(self, main: Shape) -> None:
        shape = Shape(main.vocabulary, main.width, layers=1, heads=4, kv_heads=2, head_width=64, hidden=512, dropout=0)
        super().__init__(shape, shape.width, bias=True)
        self.main_layers = main.layers
        self.input_proj = nn.Linear(2 * shape.width, shape.width, bias=False)
        self.token_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.hidden_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)
        self.final_layernorm = nn.RMSNorm(shape.width, eps=NORM_EPS)

    def begin(self, read: Read) -> Tensor:
        return read.last

    def enter(self, states: Tensor, embedded: Tensor) -> tuple[Tensor, Tensor]:
        rows = self.input_proj(torch.cat((self.hidden_layernorm(states), self.token_layernorm(embedded)), -1))
        return rows, self.input_layernorm(rows)

    def leave(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        normed = self.final_layernorm(rows)
        return normed, normed

    def norm_of_head(self) -> Tensor:
        return self.final_layernorm.weight

    def published(self, name: str) -> str:
        return f"model.mtp_layers.0.{name}"

    def config(self) -> dict:
        text = layer_config(self.shape) | {"model_type": "mimo", "num_hidden_layers": self.main_layers}
        return {
            "architectures": ["MiMoMTP"],
            "model_type": "mimo_mtp",
            "text_config": text | {"num_nextn_predict_layers": 1},
            "torch_dtype": "float16",
        }
