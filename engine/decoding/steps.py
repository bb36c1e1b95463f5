"""Replies that ended in tool calls, so that the reply to the results continues their very tokens.

A chat that is rendered again seldom has the tokens that the model wrote: templates leave thinking out, sort keys, and
write blanks otherwise. So the prompt of the next step is the tokens of the step before, and what the template writes
from the end of that reply on.
"""

from __future__ import annotations

import hashlib
import json
import threading
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from engine.api.types import Message, MessageRole, Request
from engine.decoding.sequence import common_prefix
from engine.decoding.tool_calls import value_of
from engine.models.loading import LoadedModel

MOST_STEPS = 256
MOST_BYTES = 32 << 20
_STEPS = "steps"  # key of the steps in `LoadedModel.beside`
_Key = tuple[str, ...]  # the owner, and the ids of the calls


@dataclass(frozen=True, slots=True)
class Step:
    """A reply that ended in calls: its prompt's tokens and its own, and the message that they mean."""

    tokens: array[int]
    reply: Message
    prompt: bytes  # digest of what its prompt was rendered from
    conversation: str

    @property
    def nbytes(self) -> int:
        calls = sum(len(call.arguments) for call in self.reply.tool_calls)
        return self.tokens.itemsize * len(self.tokens) + len(self.reply.content) + len(self.reply.reasoning) + calls

    def is_in(self, request: Request) -> bool:
        """Whether `request` is the chat of this step, its reply, and the results of its calls, all as they were."""
        at = _last_call(request)
        said = request.messages[at]
        before = replace(request, messages=request.messages[:at])
        same_thoughts = said.reasoning.strip() in ("", self.reply.reasoning.strip())  # many clients leave them out
        return same_thoughts and _words(said) == _words(self.reply) and _prompt(before) == self.prompt


class Steps:
    """The latest steps of a model, bounded in number and bytes. For any thread."""

    def __init__(self, most: int = MOST_STEPS, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._steps: dict[_Key, Step] = {}  # the oldest first
        self._lock = threading.Lock()

    @classmethod
    def of(cls, model: LoadedModel) -> Steps:
        steps: Steps = model.beside.setdefault(_STEPS, cls())
        return steps

    def keep(self, request: Request, tokens: Sequence[int], reply: Message) -> None:
        """Keep a reply to `request` that ended in calls; `tokens`: its prompt and the reply."""
        if not request.messages or request.messages[-1].role is MessageRole.ASSISTANT or _has_pictures(request):
            return
        key = (request.owner, *(call.id for call in reply.tool_calls))
        step = Step(array("I", tokens), reply, _prompt(request), request.conversation)
        with self._lock:
            self._steps[key] = step
            while len(self._steps) > self._most or sum(each.nbytes for each in self._steps.values()) > self._most_bytes:
                del self._steps[next(iter(self._steps))]

    def before(self, request: Request) -> Step | None:
        """The step whose results `request` ends in; None: it is not known, or not as it was."""
        if _last_call(request) < 0 or _has_pictures(request):
            return None
        key = (request.owner, *(call.id for call in request.messages[_last_call(request)].tool_calls))
        with self._lock:
            step = self._steps.get(key)
        return step if step is not None and step.is_in(request) else None

    def keep_only(self, conversations: Collection[str]) -> None:
        """Delete those of all other conversations; what has no conversation's name stays."""
        with self._lock:
            kept = {"", *conversations}
            self._steps = {key: step for key, step in self._steps.items() if step.conversation in kept}


def probes(request: Request) -> tuple[Request, Request]:
    """`request`, which has a step before it, with another reply in that step, and with another first result.

    Where its rendering and theirs begin to differ, that reply and that result are.
    """
    at = _last_call(request)
    asked = request.messages[at]
    result = request.messages[at + 1]
    call = asked.tool_calls[-1]
    arguments = value_of(call.arguments)
    arguments = json.dumps({**arguments, "_": 0}) if isinstance(arguments, dict) else f"{call.arguments}_"
    calls = (*asked.tool_calls[:-1], replace(call, arguments=arguments))
    said = replace(asked, content=asked.content and f"{asked.content}_", tool_calls=calls)
    answered = replace(result, content="1" if result.content.lstrip().startswith("0") else "0")
    return (
        replace(request, messages=(*request.messages[:at], said, *request.messages[at + 1 :])),
        replace(request, messages=(*request.messages[: at + 1], answered, *request.messages[at + 2 :])),
    )


def joined(step: Step, pieces: Sequence[str], probed: Sequence[str], model: LoadedModel) -> tuple[list[int], list[str]]:
    """The step's tokens up to the end of its reply, and what the template wrote from there on, which does not depend on
    the reply.

    `pieces`: the rendered chat; `probed`: the texts of its `probes`. ([], []) where the end of the reply is not found.
    """
    text = "".join(pieces)
    differ = [common_prefix(text, other) for other in probed]
    if not differ or len(text) in differ:
        return [], []
    begin, end = differ
    tokens = step.tokens.tolist()
    if tokens[-1] in model.ends:
        del tokens[-1]
    found = [at for each in model.ends for at, _ in _places(_word(model, each), pieces, begin, end)]
    calls = model.marks.calls
    if not found and calls is not None and (*tokens[-1:],) == calls.closing:
        found = [after for _, after in _places(_word(model, tokens[-1]), pieces, begin, end)]
    if not found or not probed[0].endswith(text[max(found) :]):
        return [], []
    return tokens, _from(pieces, max(found))


def _places(word: str, pieces: Sequence[str], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """(start, end) of the control token `word` in the joined pieces, from `begin` to `end`.

    Such a text that is no control token is in two pieces.
    """
    offset = 0
    for piece in pieces:
        at = piece.find(word, max(0, begin - offset)) if word else -1
        while 0 <= at <= end - offset - len(word):
            yield offset + at, offset + at + len(word)
            at = piece.find(word, at + len(word))
        offset += len(piece)


def _word(model: LoadedModel, token: int) -> str:
    """The text of an added token, which tokenizers find before all else; "" for any other."""
    added = getattr(model.tokenizer, "added_tokens_decoder", {}).get(token)
    return "" if added is None else str(added.content)


def _from(pieces: Sequence[str], start: int) -> list[str]:
    kept = []
    for piece in pieces:
        if len(piece) > start:
            kept.append(piece[max(0, start) :])
        start -= len(piece)
    return kept


def _last_call(request: Request) -> int:
    """Where the reply is whose results the chat ends in; -1: it ends otherwise."""
    at = len(request.messages) - 1
    while at >= 0 and request.messages[at].role is MessageRole.TOOL:
        at -= 1
    return at if at < len(request.messages) - 1 and at >= 0 and request.messages[at].tool_calls else -1


def _has_pictures(request: Request) -> bool:
    return any(message.pictures for message in request.messages)


def _prompt(request: Request) -> bytes:
    """A digest of all that decides how the chat is rendered."""
    variables = sorted(request.template_variables.items())
    held = (request.messages, request.tools, variables, request.thinking, request.effort)
    return hashlib.blake2b(repr(held).encode(errors="surrogatepass"), digest_size=16).digest()


def _words(reply: Message) -> tuple[str, list[tuple[str, str, str]]]:
    """What a reply said and called, however its arguments are spelled. 1, 1.0 and true are three values."""
    calls = ((call.id, call.name, value_of(call.arguments)) for call in reply.tool_calls)
    return reply.content.strip(), [(number, name, json.dumps(value, sort_keys=True)) for number, name, value in calls]
