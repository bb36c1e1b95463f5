"""Which tokens each character of a text comes from, while text is held back and markers are cut out."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple


class Run(NamedTuple):
    """`chars` characters decoded from the tokens from `first` to before `end`, counted from the reply's first token."""

    chars: int
    first: int
    end: int


class Sources:
    """Token counts of a text that grows at its end and is taken from its start."""

    def __init__(self) -> None:
        self._runs: deque[Run] = deque()
        self._tokens = 0
        self._silent = 0  # the first token that has no character yet

    def count_token(self) -> None:
        self._tokens += 1

    def add(self, chars: int) -> None:
        """The tokens since the last call added `chars` characters; several tokens may make one character."""
        if chars:
            self._runs.append(Run(chars, min(self._silent, self._tokens - 1), self._tokens))
            self._silent = self._tokens

    def take(self, chars: int) -> tuple[Run, ...]:
        taken: list[Run] = []
        while chars > 0:
            run = self._runs.popleft()
            if run.chars > chars:
                self._runs.appendleft(run._replace(chars=run.chars - chars))
                run = run._replace(chars=chars)
            taken.append(run)
            chars -= run.chars
        return tuple(taken)
