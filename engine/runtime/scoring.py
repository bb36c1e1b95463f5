"""A reply's log-probabilities as events: which token is which, spelled. Engine thread only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from engine.api.events import TokensScored
from engine.api.types import Request, RequestId, TokenScore
from engine.decoding.scores import Score, Scores
from engine.decoding.text import Prompt

if TYPE_CHECKING:
    import mlx.core as mx


class ReplyScores:
    def __init__(self, ends: Collection[int], prompt: Prompt, request: Request) -> None:
        """The prompt has a spelling, and the request says how many tokens of each place are wanted."""
        assert prompt.spelling is not None
        assert request.logprobs is not None
        self.scores = Scores(request.logprobs, len(prompt.tokens))
        self._ends = ends
        self._spell = prompt.spelling
        self._prompt = [TokenScore(prompt.tokens[0], self._spell(prompt.tokens[0]), None)]
        self._reads = request.prompt_logprobs

    def read(self, logits: mx.array, position: int, following: list[int]) -> None:
        """`following`: the prompt's tokens after those that were fed, from `position` on, perhaps once more."""
        del self._prompt[position + 1 :]
        self._prompt.extend(self._spelled(self.scores.of_prompt(logits, following)))

    def events(self, request: RequestId) -> Iterator[TokensScored]:
        """Of the latest round; before the first one of all, the prompt's."""
        if self._reads:
            self._reads = False
            yield TokensScored(request, tuple(self._prompt), of_prompt=True)
        yield TokensScored(request, tuple(self._spelled(self.scores.take())))

    def _spelled(self, scores: Iterable[Score]) -> Iterator[TokenScore]:
        for score in scores:
            likeliest = (TokenScore(token, self._spell(token), logprob) for token, logprob in score.likeliest)
            text = b"" if score.token in self._ends else self._spell(score.token)
            yield TokenScore(score.token, text, score.logprob, tuple(likeliest))
