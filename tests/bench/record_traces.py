"""Records what two real models say along texts of ours: `python -m tests.bench.record_traces MAIN DRAFT`.

Both read the texts (help pages in four languages, code, code after a change), a forward each. Of each token both
models' best 32 are kept with their log-probabilities, and no text, in `tests/bench/traces.npz`
(`tests/helpers/traces.py` reads it). Every second text is held out.
"""

from __future__ import annotations

from tests.bench.openblas import put_in_front

FAST = put_in_front()  # before anything that imports MLX

import sys  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import mlx.core as mx  # noqa: E402
import numpy as np  # noqa: E402
from mlx_lm import load  # noqa: E402

from tests.helpers.traces import BEST, FILE, Array, coded  # noqa: E402

TOKENS = 140  # of each text
ROOT = Path(__file__).resolve().parents[2]
_LANGUAGES = {"prose": "en", "korean": "ko", "japanese": "ja", "chinese": "zh_CN"}
_CODE = (
    "engine/decoding/accept.py",
    "engine/drafting/plans.py",
    "engine/caches/window.py",
    "engine/drafting/controller.py",
    "engine/decoding/sources.py",
    "engine/drafting/acceptance.py",
    "engine/caches/base.py",
    "engine/drafting/pass_ratio.py",
)
_RENAMED = (
    ("engine/decoding/scores.py", "tokens", "ids"),
    ("engine/drafting/acceptance.py", "average", "mean"),
    ("engine/caches/hooks.py", "module", "part"),
    ("engine/drafting/costs.py", "_s", "_seconds"),
    ("engine/decoding/sequence.py", "caches", "kept"),
    ("engine/drafting/controller.py", "rates", "shares"),
    ("engine/drafting/proposers/lookup.py", "tokens", "words"),
    ("engine/decoding/round.py", "verdict", "answer"),
)


@dataclass(frozen=True)
class Text:
    kind: str
    held_out: bool
    question: str
    answer: str


def texts() -> Iterator[Text]:
    """One of each kind in turn."""
    pages = [path.name for path in sorted((ROOT / "resources" / "help" / "en").glob("*.md"))]
    for number, (page, code, (changed, old, new)) in enumerate(zip(pages, _CODE, _RENAMED, strict=True)):
        held_out = bool(number % 2)
        for kind, language in _LANGUAGES.items():
            title, answer = (ROOT / "resources" / "help" / language / page).read_text("utf-8").split("\n\n", 1)
            yield Text(kind, held_out, title.removeprefix("# "), answer)
        module = (ROOT / code).read_text("utf-8")
        asked = "Write a Python module: " + module.splitlines()[0].strip('"')
        yield Text("code", held_out, asked, f"```python\n{behind_imports(module)}")
        source = behind_imports((ROOT / changed).read_text("utf-8"))[:600]
        asked = f"Rename `{old}` to `{new}`:\n```python\n{source}\n```"
        yield Text("edits", held_out, asked, f"```python\n{source.replace(old, new)}\n```")


def behind_imports(module: str) -> str:
    return module.split("\n\n\n", 1)[1]


def best_along(network: Any, tokenizer: Any, text: Text) -> tuple[Array, Array]:
    """Ids and log-probabilities of the best 32 at each token of the answer (tokens, 32), the likeliest first."""
    said = [{"role": "user", "content": text.question}]
    before = list(tokenizer.apply_chat_template(said, add_generation_prompt=True))
    answer = tokenizer.encode(text.answer, add_special_tokens=False)[:TOKENS]
    states = network.model(mx.array([[*before, *answer[:-1]]]))[0, len(before) - 1 :]
    tied = network.args.tie_word_embeddings
    logits = network.model.embed_tokens.as_linear(states) if tied else network.lm_head(states)
    logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    ids = mx.argpartition(-logprobs, kth=BEST, axis=-1)[:, :BEST]
    values = mx.take_along_axis(logprobs, ids, axis=-1)
    order = mx.argsort(-values, axis=-1)
    ids, values = mx.take_along_axis(ids, order, axis=-1), mx.take_along_axis(values, order, axis=-1)
    mx.eval(ids, values)
    mx.clear_cache()
    return np.array(ids), np.array(values)


def recorded(main: str, draft: str, about: str) -> Iterator[str]:
    """Says how far it is. What is there so far is written after each text."""
    (network, tokenizer), drafting = load(main)[:2], load(draft)[0]
    done, columns = list[Text](), {"main": list[Any](), "draft": list[Any](), "ranks": list[Any]()}
    for text in texts():
        ids, values = best_along(network, tokenizer, text)
        draft_ids, draft_values = best_along(drafting, tokenizer, text)
        done.append(text)
        columns["main"].append(coded(values))
        columns["draft"].append(coded(draft_values))
        columns["ranks"].append(ranks_of(ids, draft_ids))
        write(done, columns, about)
        agreed = (ids[:, 0] == draft_ids[:, 0]).mean()
        yield f"{len(done)} texts; {text.kind}: {len(ids)} tokens, {agreed:.2f} of the likeliest agree"


def ranks_of(ids: Array, among: Array) -> Array:
    """The place of each token in the same row of `among`; 32 where it is not there."""
    same = ids[:, :, None] == among[:, None, :]
    return np.where(same.any(axis=-1), same.argmax(axis=-1), BEST).astype(np.uint8)


def write(done: Sequence[Text], columns: dict[str, list[Any]], about: str) -> None:
    kept: dict[str, Any] = {
        "about": np.array(about),
        "kind": np.array([text.kind for text in done]),
        "held_out": np.array([text.held_out for text in done]),
        "tokens": np.array([len(rows) for rows in columns["main"]], np.int32),
    }
    kept |= {name: np.concatenate(rows) for name, rows in columns.items()}
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    _, larger, smaller = sys.argv
    for progress in recorded(larger, smaller, f"{Path(larger).name} and {Path(smaller).name}"):
        print(progress, flush=True)  # noqa: T201
