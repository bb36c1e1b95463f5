"""Muon in 32 bits, all matrices of one shape at once: torch's own works in bf16, which most CPUs lack."""

from collections import defaultdict
from collections.abc import Iterable
from math import sqrt

import torch
from torch import Tensor

MOMENTUM, NEWTON_STEPS, NEWTON = 0.95, 5, (3.4445, -4.7750, 2.0315)


class Muon(torch.optim.Optimizer):
    """A step is as large as AdamW's would be."""

    def __init__(self, matrices: Iterable[Tensor], lr: float, weight_decay: float) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            shapes = defaultdict[torch.Size, list[Tensor]](list)
            for weight in group["params"]:
                if weight.grad is not None:
                    shapes[weight.shape].append(weight)
            for weights in shapes.values():
                self._move(weights, group["lr"], group["weight_decay"])

    def _move(self, weights: list[Tensor], rate: float, decay: float) -> None:
        slopes = torch.stack([weight.grad for weight in weights if weight.grad is not None])
        held = self.state[weights[0]].setdefault("momentum", torch.zeros_like(slopes))
        held.lerp_(slopes, 1 - MOMENTUM)
        turned = _orthogonal(slopes.lerp(held, MOMENTUM))
        for weight, step in zip(weights, turned, strict=True):
            weight.mul_(1 - rate * decay).sub_(step, alpha=0.2 * sqrt(max(weight.shape)) * rate)


def _orthogonal(x: Tensor) -> Tensor:
    """(matrices, rows, columns) with singular values near one, by Newton and Schulz."""
    if x.shape[1] > x.shape[2]:
        return _orthogonal(x.mT).mT
    a, b, c = NEWTON
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(NEWTON_STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x
