"""How a model learns: its optimizers and the loop, for the pair and for the drafters alike."""

import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Protocol

import torch
from muon import Muon
from numpy.typing import NDArray
from plan import Plan
from torch import nn


def optimizers(model: nn.Module, plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for the matrices between the layers, which learns in about half the steps; AdamW for the rest."""
    named = dict(model.named_parameters())
    inner = [w for name, w in named.items() if w.ndim == 2 and "embed" not in name]
    outer = [{"params": [w for w in named.values() if w.ndim == 1], "weight_decay": 0.0}]
    tables = [w for name, w in named.items() if w.ndim == 2 and "embed" in name]
    outer.append({"params": tables, "weight_decay": plan.decay})
    muon = Muon(inner, lr=plan.rate, weight_decay=plan.decay)
    return [muon, torch.optim.AdamW(outer, lr=plan.rate, betas=(0.9, 0.95), fused=True)]


class Maker(Protocol):
    def batch(self, rows: int, length: int) -> tuple[NDArray[Any], ...]: ...


class Training:
    """One model's way through its plan."""

    def __init__(self, model: nn.Module, plan: Plan, maker: Maker, loss: nn.Module, name: str) -> None:
        self.model, self.plan, self.maker, self.name = model, plan, maker, name
        self.loss = torch.compile(loss, dynamic=False) if plan.compiled else loss
        self.averaged = deepcopy(model).eval()
        self.optimizers = optimizers(model, plan)
        self.half = plan.half and torch.backends.cpu.get_cpu_capability().startswith("AVX512")
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
        arrays = map(torch.from_numpy, self.maker.batch(*self.plan.shape_at(step)))
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            loss = self.loss(*arrays)
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
