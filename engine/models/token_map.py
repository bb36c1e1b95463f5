"""How a draft with another vocabulary reads and drafts the main model's tokens: token by token, by their texts.

A token that both have is mapped to one token. Any other is spelt with the longest matching draft tokens, always in the
same way, so the draft's tokens of a text are a prefix of those of a longer text. It drafts only tokens that both have.
Without MLX; `loading.DraftTranslation` does this with arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from engine.models.vocabulary import TokenTable, meanings

LEAST_SHARED = 0.9  # share of the larger vocabulary: with less, too much text would be spelt in pieces
_LONGEST = 256  # letters of a token that is used to spell others
_MOST = 1024  # letters of a token that is spelt: longer ones are abnormal


class TokenMap:
    """From the main model's tokens to the draft's, of which it has `rows`."""

    def __init__(self, main: TokenTable, draft: TokenTable, rows: int) -> None:
        self._main = meanings(main)
        self._draft = {said: token for token, said in reversed(meanings(draft).items()) if token < rows}
        self._tokens = len(main.texts), len(draft.texts)
        first = {said: token for token, said in reversed(self._main.items())}
        own = self._draft
        self.single = {
            token: own[said] for said, token in first.items() if said in own
        }  # the draft's token with the same text
        self._spelt: dict[int, tuple[int, ...]] = {}

    @property
    def shared(self) -> int:
        """Number of tokens that both have."""
        return len(self.single)

    @property
    def highest(self) -> int:
        """The highest draft token that occurs."""
        return max(self._draft.values(), default=-1)

    @property
    def fits(self) -> bool:
        """Whether enough tokens are shared for drafting to pay."""
        return self.shared >= LEAST_SHARED * max(self._tokens)

    def spell(self, tokens: Iterable[int]) -> list[int]:
        """`tokens` of the main model in the draft's vocabulary; at least one for each."""
        return [spelt for token in tokens for spelt in self.spelling(token)]

    def spelling(self, token: int) -> tuple[int, ...]:
        if (single := self.single.get(token)) is not None:
            return (single,)
        if token not in self._spelt:
            self._spelt[token] = tuple(self._pieces(self._main.get(token, "")[:_MOST])) or (self._fallback,)
        return self._spelt[token]

    def _pieces(self, said: str) -> Iterable[int]:
        at = 0
        while at < len(said):
            ends = range(min(len(said), at + self._longest), at, -1)
            end = next((end for end in ends if said[at:end] in self._draft), None)
            if end is not None:
                yield self._draft[said[at:end]]
            at = end or at + 1  # a letter without a draft token is left out

    @cached_property
    def _longest(self) -> int:
        return min(_LONGEST, max(map(len, self._draft), default=0))

    @cached_property
    def _fallback(self) -> int:
        """For padding, and tokens without any letter that the draft has."""
        return self._draft.get(" ", min(self._draft.values(), default=0))
