"""How long it takes to compare two vocabularies of the size of real ones, before either model is loaded."""

from __future__ import annotations

import gc
import itertools
import json
import resource
import statistics
import string
import time
from pathlib import Path

from engine.models.pair_check import _cuts, check_pair
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.model_folders import TENSORS, model_files, write_folder

TOKENS = 151_643


def pair_check_ms(setup: BenchSetup, runs: int) -> Row:
    """Two generations of a family: 151,643 tokens of text, 26 that steer, four of them only in the draft."""
    main = _model(setup.folder / "pair" / "main", 22, weights=64)
    draft = _model(setup.folder / "pair" / "draft", 26, weights=8)
    taken = []
    gc.disable()  # as in the app, where only the thread of the window collects
    for _ in range(max(3, runs)):
        _cuts.cache_clear()  # how the tokenizers cut is asked of processes, and kept
        started = _processor_s()
        check = check_pair(main, draft)
        taken.append(1000 * (_processor_s() - started))
    gc.enable()
    if check.error is not None or check.vocabularies is None or check.vocabularies.differing_tokens != 4:
        raise RuntimeError(f"the two were compared wrongly: {check}")
    value = statistics.median(taken)
    return Row(
        "models.pair_check_ms", value, "ms", "≤ 500", f"two vocabularies of {TOKENS:,} tokens; time of the processor"
    )


def _processor_s() -> float:
    """With what processes took that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _model(folder: Path, steering: int, weights: int) -> Path:
    tensors = {**TENSORS, "model.layers.0.weight": ("F32", (weights, weights))}
    return write_folder(folder, model_files(tensors=tensors) | {"tokenizer.json": tokenizer(steering)})


def tokenizer(steering: int) -> bytes:
    """As a byte-level tokenizer's file is written, merges included."""
    lengths = (itertools.product(string.ascii_letters, repeat=length) for length in (1, 2, 4))
    words = ["".join(letters) for letters in itertools.islice(itertools.chain(*lengths), TOKENS)]
    merges = [[word[: len(word) // 2], word[len(word) // 2 :]] for word in words if len(word) > 1]
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [{"id": TOKENS + at, "content": f"<|{at}|>", "special": True, **plain} for at in range(steering)]
    model = {"type": "BPE", "vocab": dict(zip(words, itertools.count())), "merges": merges}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    parts = {"pre_tokenizer": level, "decoder": level, "version": "1.0"}
    return json.dumps({"model": model, "added_tokens": added, **parts}).encode()


PAIR_CHECK: tuple[Measure, ...] = (pair_check_ms,)
