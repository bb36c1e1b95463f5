"""What a request must be answered, said by another process: mlx-lm's own decoding loop, caches and detokenizer.

Greedy draws are mlx-lm's. Of other draws only the distribution is the engine's; the rest is mlx-lm's.
It answers pickled questions on stdin with pickled answers on stdout.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from engine import Request

ROOT = Path(__file__).parents[2]
CONTEXT_TOKENS = 2048


@dataclass(frozen=True)
class Question:
    """A request with a seed, to a model."""

    folder: Path
    request: Request


@dataclass(frozen=True)
class Answer:
    """All tokens up to an end token or a limit, stop strings left aside, and their text without the end token."""

    tokens: tuple[int, ...]
    text: str
    prompt: tuple[int, ...]


class Oracle:
    """The other process, as seen from here."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "from tests.drills.oracle import main; main()"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._known: dict[Question, Answer] = {}
        self._lock = threading.Lock()

    def ask(self, question: Question) -> Answer:
        with self._lock:
            if question not in self._known:
                pickle.dump(question, self._to)
                self._to.flush()
                self._known[question] = pickle.load(self._from)
            return self._known[question]

    def close(self) -> None:
        self._to.close()
        self._from.close()
        self._process.wait(60)

    @property
    def _to(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _from(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


def main() -> None:
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a library prints is no answer
    while True:
        try:
            question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(answer(question), answers)
        answers.flush()


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    import mlx.core as mx
    from mlx_lm import load

    mx.disable_compile()
    network, tokenizer, *_ = load(str(folder))
    network.set_dtype(mx.float32)
    return network, tokenizer


def answer(question: Question) -> Answer:
    import mlx.core as mx
    from mlx_lm.generate import generate_step

    network, tokenizer = loaded(question.folder)
    request = question.request
    prompt = list(request.tokens) or rendered(request, tokenizer)
    room = CONTEXT_TOKENS - len(prompt)
    limit = min(request.max_tokens or room, room)
    drawing = Drawing(request, network, tokenizer)
    tokens: list[int] = []
    detokenizer = tokenizer.detokenizer
    words = len(tokenizer.get_vocab())
    for token, _ in generate_step(
        mx.array(prompt),
        network,
        max_tokens=limit,
        prefill_step_size=512,
        sampler=drawing.sample,
        logits_processors=[drawing.see],
    ):
        tokens.append(int(token))
        if token in tokenizer.eos_token_ids:
            break
        if token < words:  # mlx-lm writes "!" for padding
            detokenizer.add_token(int(token))
    detokenizer.finalize()
    return Answer(tuple(tokens), detokenizer.text, tuple(prompt))


def rendered(request: Request, tokenizer: Any) -> list[int]:
    turns = [{"role": message.role.value, "content": message.content} for message in request.messages]
    return list(tokenizer.apply_chat_template(turns, add_generation_prompt=True, enable_thinking=request.thinking))


class Drawing:
    """The draw of each token from mlx-lm's logits: they come by `see`, before mlx-lm asks for a token by `sample`."""

    def __init__(self, request: Request, network: Any, tokenizer: Any) -> None:
        self._request = request
        self._spared = [*tokenizer.eos_token_ids, *tokenizer.encode("\n", add_special_tokens=False)]
        self._seen: tuple[Any, Any] | None = None

    def see(self, tokens: Any, logits: Any) -> Any:
        self._seen = tokens, logits
        return logits

    def sample(self, logprobs: Any) -> Any:
        import mlx.core as mx

        from engine import Sampling
        from engine.decoding.sampling import Sampler

        sampling = self._request.sampling
        if sampling == Sampling(temperature=0, seed=sampling.seed):
            return mx.argmax(logprobs, axis=-1)
        assert self._seen is not None
        assert sampling.seed is not None
        tokens, logits = self._seen
        prefix: list[int] = tokens.tolist()
        drawing = Sampler(sampling, sampling.seed, logits.shape[-1], prefix, self._spared)
        return drawing.draw(logits, len(prefix))
