"""Rows about chats with pictures."""

from __future__ import annotations

import statistics
from pathlib import Path

from engine import Message, MessageRole, Speculation
from tests.bench.opponents import Ours
from tests.bench.pairs import HEADS, HIDDEN, INTERMEDIATE, LAYERS
from tests.bench.rows import GREEDY, Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.tiny_eyes import asked, picture, save_seeing

_SIDE, _PICTURES = 256, 4  # pixels; a thousand tokens each
_TEXT = {
    "hidden_size": HIDDEN,
    "intermediate_size": INTERMEDIATE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "head_dim": HIDDEN // HEADS,
    "max_position_embeddings": 8192,
}
_VISION = {"depth": 8, "hidden_size": 256, "intermediate_size": 1024, "num_heads": 4, "out_hidden_size": HIDDEN}


def vision_second_turn(setup: BenchSetup, runs: int) -> Row:
    """Neither the tower nor the network looks at a picture again."""
    engine = Ours(_wide(setup.folder / "seer"))
    ratios = []
    for number in range(runs):
        engine.forget()
        seen = [picture(_SIDE, _SIDE, seed=_PICTURES * number + at) for at in range(_PICTURES)]
        chat = (asked("What is to be seen in these?", *seen),)
        cold = engine.run((), 1, Speculation.off(), GREEDY, messages=chat)
        again = (*chat, Message(MessageRole.ASSISTANT, "Patches in all colours."), asked("Which is the brightest?"))
        ratios.append(engine.run((), 1, Speculation.off(), GREEDY, messages=again).first_s / cold.first_s)
    engine.close()
    detail = f"turn 2 behind {_PICTURES} pictures of 1,024 tokens, to the first token"
    return Row("vision.second_turn", statistics.median(ratios), "ratio", "≤ 0.05", detail, ratios)


def _wide(folder: Path) -> Path:
    """A random model of 100 M parameters, and a tower."""
    limits = {"max_pixels": _SIDE**2}
    return save_seeing("qwen3_vl", folder, text=_TEXT, vision=_VISION, pictures=limits)


VISION: tuple[Measure, ...] = (vision_second_turn,)
