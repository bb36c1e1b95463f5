"""Texts of control tokens in what users, files, tools and clients wrote: they are encoded as ordinary text.

`marked` puts a mark into each of them before a chat is rendered, and wherever a text could be part of one together with
what a template writes beside it. `pieces` cuts the rendered chat at the marks that are within the text of a control
token, and drops all others. So the control tokens of a prompt are those that the template writes, and a chat without
such texts is encoded whole.
"""

from __future__ import annotations

import re
import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Any

from engine.models.vocabulary import is_control

_MARK = f"!{secrets.randbits(64)}!"  # as it is in JSON, in any case, and before other characters when keys are sorted
_LONGEST = 256  # characters of a control token that are looked at
_MOST_BEGINNINGS = 256


class ControlWords:
    """The texts of a tokenizer's control tokens."""

    def __init__(self, words: Iterable[str] = (), normalized: Callable[[str], str] | None = None) -> None:
        """`normalized`: what the tokenizer makes of a text before it looks for some of them; None: nothing."""
        spelt = set(words) if normalized is None else {form for word in words for form in (word, normalized(word))}
        self._words = {word[:_LONGEST] for word in spelt if len(word) > 1}
        self._normalized = normalized
        self._sorted = sorted({word.lower() for word in self._words})  # templates may change the case of a text
        self._backwards = sorted(word[::-1] for word in self._sorted)
        self._shapes = "\n".join({_shape(word) for word in self._sorted})
        self._firsts = {word[0] for word in self._sorted}
        self._lasts = {word[-1] for word in self._sorted}
        self._longest = max(map(len, self._sorted), default=0)
        self._begin = re.compile(_beginnings(self._sorted), re.IGNORECASE)

    @classmethod
    def of(cls, tokenizer: Any) -> ControlWords:
        """Of mlx-lm's wrapper of one."""
        added = getattr(tokenizer, "added_tokens_decoder", {}).values()
        control = [token for token in added if is_control(token.content, token.special)]
        normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
        texts = [token.content for token in control]
        if normalizer is None or not any(token.normalized for token in control):
            return cls(texts)
        return cls(texts, normalizer.normalize_str)

    def marked(self, value: Any, named: Collection[str] | None = None) -> Any:
        """A text, or JSON with its keys, with marks.

        `named`: what the template knows by name, and so has to find as it is; None: mark whole words only.
        """
        if isinstance(value, str):
            return self._marked(value, named)
        if isinstance(value, list):
            return [self.marked(item, named) for item in value]
        if isinstance(value, dict):
            return {self.marked(key, named): self.marked(item, named) for key, item in value.items()}
        return value

    def pieces(self, marked: str) -> list[str]:
        """Each is to be encoded as what follows the one before it."""
        parts = marked.split(_MARK)
        marks = list(accumulate(map(len, parts[:-1])))
        if not marks:
            return parts
        text = "".join(parts)
        cuts = {0, len(text)}
        for start, end in self._found(text):
            at = bisect_right(marks, start)
            if at < len(marks) and marks[at] < end and text[start:end] in self._words:
                cuts.add(marks[at])
        return [text[start:end] for start, end in pairwise(sorted(cuts))] or [text]

    def _marked(self, text: str, named: Collection[str] | None) -> str:
        places = {start + 1 for start, _ in self._found(text)}
        if self._normalized is not None:
            normal = self._normalized(text)
            found = {start + 1 for start, _ in self._found(normal)}
            if len(found) > len(places):
                text = normal
                places = found
        if named is not None and text not in named:
            places.update(self._edges(text))
        if not places:
            return text
        return _MARK.join(text[start:end] for start, end in pairwise([0, *sorted(places), len(text)]))

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        """(start, end) of every word in it, in any case; they may overlap."""
        for match in self._begin.finditer(text):
            start = match.start()
            for end in range(start + 2, min(start + self._longest, len(text)) + 1):
                piece = text[start:end].lower()
                word = _first_with(self._sorted, piece)
                if not word:
                    break
                if word == piece:
                    yield start, end

    def _edges(self, text: str) -> Iterator[int]:
        """Where it could be part of a word that begins before it or ends after it."""
        bare = text.strip()
        if not bare:
            return
        start = text.index(bare[0])
        head = bare[: self._longest].lower()
        tail = bare[-self._longest :].lower()
        if not self._lasts.isdisjoint(head):
            ends = (head[: at + 1][::-1] for at, letter in enumerate(head) if letter in self._lasts)
            if any(_first_with(self._backwards, end) for end in ends):
                yield start
        # Not at the start, if it can be both: sorted keys stay in their order.
        if len(bare) < self._longest and _shape(head) in self._shapes:
            yield start + len(bare)
        elif not self._firsts.isdisjoint(tail):
            begins = (tail[at:] for at, letter in enumerate(tail) if letter in self._firsts)
            if any(_first_with(self._sorted, begin) for begin in begins):
                yield start + len(bare)


def _first_with(words: list[str], start: str) -> str:
    """The first of the sorted words that begins with `start`; "" if none does."""
    at = bisect_left(words, start)
    return words[at] if at < len(words) and words[at].startswith(start) else ""


def _beginnings(words: list[str]) -> str:
    """A pattern of the first character of each, where it goes on as one of them; of many, as far as that is cheap."""
    for length in (_LONGEST, 4):
        begins = sorted({word[:length] for word in words})
        if len(begins) <= _MOST_BEGINNINGS:
            return "|".join(f"{re.escape(begin[0])}(?={re.escape(begin[1:])})" for begin in begins) or "(?!)"
    return f"[{''.join(re.escape(first) for first in sorted({word[0] for word in words}))}]"


def _shape(word: str) -> str:
    """Alike for words that differ in numbers: some vocabularies have thousands."""
    return word if word.isalpha() else re.sub(r"\d+", "0", word)
