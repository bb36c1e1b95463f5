"""Chats that do not fit the context: their oldest exchanges are left out of the prompt.

An exchange is a user's message and all that follows up to the next one: replies, calls and their results. A cut leaves
at most half of the context, so that the kept caches serve many turns before the next cut; a chat that grows is read
from the same place until then.
"""

from __future__ import annotations

import hashlib
import threading
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from engine.api.types import Message, MessageRole, Request, Truncation
from engine.decoding.prompt import OnText, prompt_tokens
from engine.models.loading import LoadedModel
from engine.models.watch import Question, never

MOST_CUTS = 512
_CUTS = "cuts"  # key of the cuts in `LoadedModel.beside`
_USUAL_BYTES = 4.0  # of a token; only where a search begins
_FAR_BYTES = 16  # a chat with more for each token of the context is too long, whatever its tokenizer
_MESSAGE_BYTES = 16  # of what a template writes around a message, about
_MOST_GUESSES = 6  # after these the search halves

_Key = tuple[str, int, bytes]  # owner, limit, digest of the chat up to where it is read from


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request without the messages that are left out, and its prompt."""

    request: Request
    tokens: list[int]
    first: int = 0  # index of the message from which on nothing is left out; 0: nothing is


def fitted(
    request: Request,
    model: LoadedModel,
    limit: int,
    aborted: Question = never,
    on_text: OnText = lambda _text, _before: None,
) -> Fitted:
    """The request as it fits `limit` tokens with room for the reply; as it is, where leaving out is not allowed.

    What remains begins with a user's turn and takes at most half of the context. System messages at the start,
    exchanges with a kept message and the newest one stay: those may take more, even more than the limit.
    """
    cut = None if request.truncation is Truncation.NONE else _Cut(request, model, aborted)
    if cut is None or not cut.exchanges:
        return Fitted(request, prompt_tokens(request, model, aborted, on_text))
    most = limit - min(request.max_tokens or limit, limit // 4)
    if cut.bytes_without(0) <= _FAR_BYTES * limit:
        tokens = prompt_tokens(request, model, aborted, on_text)
        if len(tokens) <= most:
            return Fitted(request, tokens)
    cuts = _Cuts.of(model)
    keys = _keys(request, limit, cut.firsts)
    counts = range(1, len(keys) + 1)
    known = cut.least(most, cuts.known(keys))
    count = known or cut.least(limit // 2, counts) or counts[-1]
    cuts.keep(keys[count - 1])
    return Fitted(cut.without(count), cut.tokens(count), cut.firsts[count - 1])


def can_truncate(request: Request) -> bool:
    """Whether the request keeps exchanges that another truncation would leave out."""
    left = exchanges(request.messages)[:-1]
    return request.truncation is Truncation.NONE and not all(set(request.kept).intersection(each) for each in left)


def exchanges(messages: Sequence[Message]) -> list[range]:
    """The exchanges of a chat, without the system messages at its start.

    Messages before the first user's are the first exchange.
    """
    begin = next((at for at, each in enumerate(messages) if each.role is not MessageRole.SYSTEM), len(messages))
    starts = [at for at in range(begin, len(messages)) if at == begin or messages[at].role is MessageRole.USER]
    return [range(start, end) for start, end in pairwise([*starts, len(messages)])]


class _Cut:
    """The prompts of a chat without its oldest exchanges, for each number of those that may be left out."""

    def __init__(self, request: Request, model: LoadedModel, aborted: Question) -> None:
        self._request = request
        self._model = model
        self._aborted = aborted
        kept = set(request.kept)
        self.exchanges = [each for each in exchanges(request.messages)[:-1] if kept.isdisjoint(each)]
        self.firsts = [each.stop for each in self.exchanges]  # where the chat is read from without so many
        self._left_out = list(accumulate(sum(map(self._bytes, each)) for each in self.exchanges))
        self._bytes_of_all = sum(map(self._bytes, range(len(request.messages))))
        self._tokens: dict[int, list[int]] = {}

    def bytes_without(self, count: int) -> int:
        return self._bytes_of_all - (self._left_out[count - 1] if count else 0)

    def without(self, count: int) -> Request:
        out = {at for each in self.exchanges[:count] for at in each}
        messages = tuple(each for at, each in enumerate(self._request.messages) if at not in out)
        return replace(self._request, messages=messages, kept=())

    def tokens(self, count: int) -> list[int]:
        if count not in self._tokens:
            self._tokens[count] = prompt_tokens(self.without(count), self._model, self._aborted)
        return self._tokens[count]

    def least(self, target: int, counts: Sequence[int]) -> int | None:
        """The first of these, which rise, with which the prompt has at most `target` tokens."""
        too_few = -1
        enough = len(counts)
        bytes_of_token = _USUAL_BYTES
        guesses = 0
        while enough - too_few > 1:
            at = (too_few + enough) // 2
            if guesses < _MOST_GUESSES:
                at = min(max(bisect_left(counts, self._guess(target * bytes_of_token)), too_few + 1), enough - 1)
            size = len(self.tokens(counts[at]))
            too_few, enough = (too_few, at) if size <= target else (at, enough)
            bytes_of_token = self.bytes_without(counts[at]) / size
            guesses += 1
        return counts[enough] if enough < len(counts) else None

    def _guess(self, size: float) -> int:
        """How many to leave out for so many bytes."""
        return 1 + bisect_left(self._left_out, self._bytes_of_all - size)

    def _bytes(self, at: int) -> int:
        """About as many as its tokens have."""
        message = self._request.messages[at]
        texts = (message.content, *(call.name + call.arguments for call in message.tool_calls))
        return _MESSAGE_BYTES + sum(len(text.encode(errors="replace")) for text in texts) + self._picture_bytes(message)

    def _picture_bytes(self, message: Message) -> int:
        vision = self._model.vision
        if vision is None:
            return 0
        sizes = ((each.width, each.height, each.detail or self._request.picture_detail) for each in message.pictures)
        return sum(round(_USUAL_BYTES * vision.tokens(*size)) for size in sizes)


class _Cuts:
    """Where chats were cut: clients that send a whole chat each time have it read from there again. For any thread."""

    def __init__(self) -> None:
        self._keys: dict[_Key, None] = {}  # the oldest first
        self._lock = threading.Lock()

    @classmethod
    def of(cls, model: LoadedModel) -> _Cuts:
        cuts: _Cuts = model.beside.setdefault(_CUTS, cls())
        return cuts

    def known(self, keys: Sequence[_Key]) -> list[int]:
        """How many exchanges earlier cuts of this chat have left out."""
        with self._lock:
            return [count for count, key in enumerate(keys, start=1) if key in self._keys]

    def keep(self, key: _Key) -> None:
        with self._lock:
            self._keys.pop(key, None)
            self._keys[key] = None
            if len(self._keys) > MOST_CUTS:
                del self._keys[next(iter(self._keys))]


def _keys(request: Request, limit: int, firsts: Sequence[int]) -> list[_Key]:
    """For each place from which the chat may be read, of all up to that message."""
    digest = hashlib.blake2b(digest_size=16)
    found: dict[int, bytes] = {}
    for at, message in enumerate(request.messages):
        digest.update(repr(message).encode(errors="replace"))
        found[at] = digest.digest()
    return [(request.owner, limit, found[first]) for first in firsts]
