"""How a model learns: its plan, its optimizers and the loop, for the pair and for the drafters alike."""

import math
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import torch
from chats import ChatMaker
from torch import nn


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


def optimizers(model: nn.Module, plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for the matrices between the layers, which learns in about half the steps; AdamW for the rest."""
    named = dict(model.named_parameters())
    inner = [w for name, w in named.items() if w.ndim == 2 and "embed" not in name]
    outer = [{"params": [w for w in named.values() if w.ndim == 1], "weight_decay": 0.0}]
    outer.append({"params": [w for name, w in named.items() if "embed" in name], "weight_decay": plan.decay})
    muon = torch.optim.Muon(inner, lr=plan.rate, weight_decay=plan.decay, adjust_lr_fn="match_rms_adamw")
    return [muon, torch.optim.AdamW(outer, lr=plan.rate, betas=(0.9, 0.95), fused=True)]


class Training:
    """One model's way through its plan."""

    def __init__(self, model: nn.Module, plan: Plan, maker: ChatMaker, loss: nn.Module, name: str) -> None:
        self.model, self.plan, self.maker, self.name = model, plan, maker, name
        self.loss = torch.compile(loss, dynamic=False)
        self.averaged = deepcopy(model).eval()
        self.optimizers = optimizers(model, plan)
        self.started_s = time.monotonic()

    def run(self, keep: Callable[[nn.Module], None]) -> nn.Module:
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
