"""`make peer ARGS=drafters`: replies with drafters, ours beside mlx-vlm's, which is installed for this alone.

One process, one MLX, the same arrays of main model and drafter, sides in turns; texts must be equal where nothing is
drawn. mlx-vlm drafts a block of fixed length, ours as auto chooses: each of its lengths is measured, and its best
counts. Its Qwen3 hands out no hidden states: `_Main` is that model with them, and nothing else. It has no network for
the starter's MTP head, and prompts of one length, since it pads others.
"""

from __future__ import annotations

from tests.bench.openblas import put_in_front

put_in_front()  # before anything that imports MLX

import importlib  # noqa: E402
import json  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import mlx.core as mx  # noqa: E402

from engine import Sampling, Speculation  # noqa: E402
from engine.decoding.accept import integers  # noqa: E402
from tests.bench.drafters import inflate_drafter, unpacked_drafter  # noqa: E402
from tests.bench.opponents import Ours, Run, interleaved, loaded_network  # noqa: E402
from tests.bench.rows import GREEDY, LENGTH, total_rate  # noqa: E402
from tests.bench.setup import BenchSetup  # noqa: E402

_BLOCKS = (3, 5, 8)  # rows, of which the first is the token before
_TARGET = 1.05
_PROMPTS = 6
_TOGETHER = 4
_DRAWN = Sampling(temperature=0.8, seed=7)
_SAMPLINGS = {"greedy": GREEDY, "at 0.8": _DRAWN}
_EAGLE_STATES = "eagle_aux_hidden_state_layer_ids"

vlm: Any = importlib.import_module  # its modules have no types
_LanguageModel: Any = vlm("mlx_vlm.models.qwen3.language").LanguageModel
_caches = vlm("mlx_vlm.models.cache")
_base = vlm("mlx_vlm.models.base")
_state = vlm("mlx_vlm.speculative.cache_state")


class _Main(_LanguageModel):  # type: ignore[misc]
    """Theirs, with the outputs of the layers that are asked for."""

    def __call__(self, inputs: mx.array, cache: Any = None, capture_layer_ids: Sequence[int] = (), **_: Any) -> Any:
        rows, kept = self.model.embed_tokens(inputs), []
        mask = _base.create_attention_mask(rows, cache[0])
        for index, (layer, each) in enumerate(zip(self.model.layers, cache, strict=True)):
            rows = layer(rows, mask, each)
            if index in capture_layer_ids:
                kept.append(rows)
        rows = self.model.norm(rows)
        logits = self.model.embed_tokens.as_linear(rows) if self.args.tie_word_embeddings else self.lm_head(rows)
        return _base.LanguageModelOutput(logits=logits, hidden_states=kept)


class _MainOfEagle(_Main):
    """Its EAGLE-3 asks for a main model that takes rejected rows back itself."""

    rollback_speculative_cache = staticmethod(_state.rollback_speculative_cache)


class Theirs:
    """mlx-vlm's main model, drafter and rounds, with the arrays that our engine has loaded."""

    def __init__(self, main: Path, drafter: Path, kind: str) -> None:
        config = json.loads((main / "config.json").read_text())
        self.ends = config["eos_token_id"]
        self.main = (_MainOfEagle if kind == "eagle3" else _Main)(_config("mlx_vlm.models.qwen3.config", config))
        self.main.update(_loaded(main))
        said = json.loads((drafter / "config.json").read_text())
        self.drafter = _eagle3(said) if kind == "eagle3" else _dflash(said)
        self.drafter.bind(self.main)
        shared = ("embed_tokens", "lm_head")  # the main model's
        own = {name: part for name, part in _loaded(drafter).items() if name not in shared}
        self.drafter.update(own)
        self._rounds = vlm(f"mlx_vlm.speculative.{kind}")
        self._kind = kind
        reads = self.drafter.config
        self._read = reads.capture_layer_ids if kind == "eagle3" else reads.target_layer_ids

    def plain(self, prompt: Sequence[int], sampling: Sampling) -> Run:
        return _timed(lambda: self._plain(prompt, _sampler(sampling)), self.ends)

    def drafted(self, prompt: Sequence[int], block: int, sampling: Sampling) -> Run:
        return _timed(lambda: self._drafted(prompt, block, sampling), self.ends)

    def together(self, prompts: Sequence[Sequence[int]], block: int) -> float:
        """Tokens a second over all, from asking to the last end. A draft is wanted for all kinds."""
        asked, tokens = time.perf_counter(), 0
        cache = [_caches.BatchKVCache([0] * len(prompts)) for _ in self.main.layers]
        first, states = self._read_prompt(prompts, cache, _sampler(GREEDY))
        ended = [False] * len(prompts)
        rounds = getattr(self._rounds, f"_{self._kind}_rounds_batch")
        told = rounds(
            self.main,
            self.drafter,
            cache,
            states,
            first_bonus=first,
            max_tokens=LENGTH,
            sampler=_sampler(GREEDY),
            draft_block_size=block,
            stop_check=lambda _, token: token == self.ends,
            greedy_sampling=True,
        )
        tokens += len(prompts)
        for step in told:
            for row, token in enumerate(step[0]):
                tokens += token is not None and not ended[row]
                ended[row] |= token == self.ends
        return tokens / (time.perf_counter() - asked)

    def _read_prompt(self, prompts: Sequence[Sequence[int]], cache: Any, sampler: Any) -> tuple[mx.array, mx.array]:
        out = self.main(mx.array([list(prompt) for prompt in prompts]), cache=cache, capture_layer_ids=self._read)
        first = sampler(out.logits[:, -1:])[:, 0]
        states = mx.concatenate(out.hidden_states, axis=-1)
        mx.eval(first, states)
        return first, states

    def _plain(self, prompt: Sequence[int], sampler: Any) -> Iterator[int]:
        cache = _caches.make_prompt_cache(self.main)
        token = sampler(self.main(mx.array([list(prompt)]), cache=cache).logits[:, -1:])
        mx.async_eval(token)
        while True:
            following = sampler(self.main(token, cache=cache).logits[:, -1:])
            mx.async_eval(following)
            yield integers(token[0])[0]
            token = following

    def _drafted(self, prompt: Sequence[int], block: int, sampling: Sampling) -> Iterator[int]:
        sampler, cache = _sampler(sampling), _caches.make_prompt_cache(self.main)
        first, states = self._read_prompt([prompt], cache, sampler)
        yield integers(first)[0]
        rounds: Callable[..., Iterator[tuple[int, None]]] = getattr(self._rounds, f"_{self._kind}_rounds")
        more = {"prompt_tokens": mx.array([list(prompt)])} if self._kind == "eagle3" else {}
        for token, _ in rounds(
            self.main,
            self.drafter,
            cache,
            states,
            first_bonus=integers(first)[0],
            max_tokens=LENGTH,
            sampler=sampler,
            draft_block_size=block,
            greedy_sampling=sampling.temperature == 0,
            **more,
        ):
            yield token


def _loaded(folder: Path) -> dict[str, Any]:
    network = loaded_network(folder)
    assert network is not None
    return dict(network.parameters())


def _config(module: str, said: dict[str, Any]) -> Any:
    return vlm(module).ModelConfig.from_dict(said)


def _dflash(said: dict[str, Any]) -> Any:
    package = vlm("mlx_vlm.speculative.drafters.qwen3_dflash")
    return package.Model(package.ModelConfig.from_dict(said))


def _eagle3(said: dict[str, Any]) -> Any:
    package = vlm("mlx_vlm.speculative.drafters.eagle3")
    config = {
        "transformer_layer_config": said,
        _EAGLE_STATES: said["eagle_config"][_EAGLE_STATES],
        "draft_vocab_size": said["draft_vocab_size"],
        "tie_word_embeddings": True,
    }
    return package.Model(package.ModelConfig.from_dict(config))


def _sampler(sampling: Sampling) -> Callable[[mx.array], mx.array]:
    if sampling.temperature == 0:
        return partial(mx.argmax, axis=-1)
    mx.random.seed(sampling.seed or 0)
    return lambda logits: mx.random.categorical(logits / sampling.temperature)


def _timed(tokens: Callable[[], Iterator[int]], end: int) -> Run:
    asked, heard, stamps = time.perf_counter(), list[int](), list[float]()
    for token in tokens():
        heard.append(token)
        stamps.append(time.perf_counter())
        if token == end or len(heard) == LENGTH:
            break
    return Run(tuple(heard), stamps[0] - asked, stamps[-1] - stamps[0])


def main(runs: int = 3) -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        setup = BenchSetup(Path(folder))
        for size in ("small", "113 M"):
            for kind in ("dflash", "eagle3"):
                for case, ratio, detail in _cases(setup, size, kind, runs):
                    missed += ratio < _TARGET
                    print(
                        f"{'MISSED' if ratio < _TARGET else 'met   '} {ratio:.2f}  {case}, {size}: {detail}", flush=True
                    )
    return 1 if missed else 0


def _cases(setup: BenchSetup, size: str, kind: str, runs: int) -> Iterator[tuple[str, float, str]]:
    source = setup.starter / kind
    if size == "small":
        main, drafter = setup.starter / "main", unpacked_drafter(source, setup.folder / f"small {kind}")
    else:
        main, drafter = setup.main, inflate_drafter(source, setup.folder / kind)
    ours = Ours(main, drafter)
    theirs = Theirs(main, drafter, kind)
    prompts = setup.guide[:_PROMPTS]
    for how, sampling in _SAMPLINGS.items():
        yield f"{kind} {how}", *_alone(ours, theirs, prompts, sampling, runs)
    yield f"{kind}, plain", *_plain(ours, theirs, prompts, runs)
    if kind == "dflash":
        yield f"{kind}, four at once", *_together(ours, theirs, _of_one_length(setup), runs)
    ours.close()


def _alone(ours: Ours, theirs: Theirs, prompts: list[list[int]], sampling: Sampling, runs: int) -> tuple[float, str]:
    def all_of(ask: Callable[[Sequence[int]], Run]) -> list[Run]:
        return [ask(prompt) for prompt in prompts]

    sides = [partial(all_of, lambda prompt: ours.run(prompt, LENGTH, Speculation.auto(), sampling))]
    sides += [partial(all_of, partial(theirs.drafted, block=block, sampling=sampling)) for block in _BLOCKS]
    rounds = list(interleaved(runs, *sides))
    if sampling.temperature == 0:
        for told in rounds[0][1:]:
            assert [run.tokens for run in told] == [run.tokens for run in rounds[0][0]], "texts differ"
    rates = [statistics.median(total_rate(told[side]) for told in rounds) for side in range(len(sides))]
    return _said(rates)


def _plain(ours: Ours, theirs: Theirs, prompts: list[list[int]], runs: int) -> tuple[float, str]:
    def all_of(ask: Callable[[Sequence[int]], Run]) -> list[Run]:
        return [ask(prompt) for prompt in prompts]

    sides = (
        partial(all_of, lambda prompt: ours.run(prompt, LENGTH, Speculation.off(), GREEDY)),
        partial(all_of, partial(theirs.plain, sampling=GREEDY)),
    )
    rounds = list(interleaved(runs, *sides))
    ratio = statistics.median(total_rate(mine) / total_rate(other) for mine, other in rounds)
    first = statistics.median(
        statistics.median(run.first_s for run in other) / statistics.median(run.first_s for run in mine)
        for mine, other in rounds
    )
    return ratio, f"rate; of the first token {first:.2f}"


def _together(ours: Ours, theirs: Theirs, prompts: list[list[int]], runs: int) -> tuple[float, str]:
    sides = [lambda: ours.run_together(prompts, LENGTH)]
    sides += [partial(theirs.together, prompts, block) for block in _BLOCKS]
    rounds = list(interleaved(runs, *sides))
    return _said([statistics.median(told[side] for told in rounds) for side in range(len(sides))])


def _said(rates: list[float]) -> tuple[float, str]:
    mine, *others = rates
    lengths = ", ".join(f"{rate:.1f} with {block}" for block, rate in zip(_BLOCKS, others, strict=True))
    return mine / max(others), f"{mine:.1f} tok/s beside {lengths} rows"


def _of_one_length(setup: BenchSetup) -> list[list[int]]:
    by_length: dict[int, list[list[int]]] = {}
    for question, _ in setup.questions(40):
        prompt = setup.rendered([{"role": "user", "content": question}])
        by_length.setdefault(len(prompt), []).append(prompt)
    return max(by_length.values(), key=len)[:_TOGETHER]


if __name__ == "__main__":
    sys.exit(main())
