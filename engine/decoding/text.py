"""Text to tokens: the chat template. Tokens to text: detokenizing, stop strings and thinking spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from engine.api.errors import EmptyConversation, EngineError, TemplateFailed, TokenizerBroken
from engine.api.types import Message, MessageRole, Request, SpanKind
from engine.decoding.sequence import common_prefix
from engine.decoding.sources import Run, Sources
from engine.models import encoding
from engine.models.watch import Aborted, Question, TooLong, never

if TYPE_CHECKING:
    from mlx_lm.tokenizer_utils import StreamingDetokenizer

    from engine.models.loading import LoadedModel

_ANNOUNCEMENT_TOKENS = 64  # at most; a marker further back is quoted text


@dataclass(frozen=True, slots=True)
class Prompt:
    """The tokens that a reply continues."""

    tokens: list[int]
    turn_end: int  # see `turn_end`
    begin: int  # see `reply_begin`


def prompt_tokens(request: Request, model: LoadedModel, aborted: Question = never) -> list[int]:
    """The tokens that the reply continues. Raises Aborted soon after `aborted` returns True."""
    if request.tokens:
        return list(request.tokens)
    if not request.messages or request.messages[-1].role is MessageRole.SYSTEM:
        raise EmptyConversation
    try:
        tokens = _render(request, model, aborted)
    except (EngineError, Aborted):
        raise
    except (Exception, TooLong) as error:
        raise TemplateFailed(f"{type(error).__name__}: {error}"[:500]) from error
    except BaseException as error:
        raise TokenizerBroken(model.info.folder, f"{type(error).__name__}: {error}"[:500]) from error
    if not tokens:
        raise EmptyConversation
    return tokens


def turn_end(
    request: Request, model: LoadedModel, prompt: list[int], aborted: Question = never, *, exact: bool = True
) -> int:
    """How many tokens of `prompt` stay the same in another reply or the next turn: all but the generation prompt.

    Templates may open or close a thinking span there, and drop it from the turn once it is history. Not `exact`: by the
    usual length of the generation prompt, without rendering the chat once more.
    """
    asked = request.messages[:-1] if goes_on(request) else request.messages
    whole = len(prompt) - 1
    if not asked or not model.tokenizer.has_chat_template:
        return whole
    if not exact:
        return (
            whole if goes_on(request) else max(0, len(prompt) - _announcement_tokens(model, request.thinking, aborted))
        )
    try:
        before = _with_template(asked, model, request.thinking, aborted, announced=False, unfinished=False)
    except (Exception, TooLong):  # noqa: BLE001  some templates require an answer after the question
        return whole
    return min(common_prefix(before, prompt), whole)


def reply_begin(
    request: Request, model: LoadedModel, prompt: list[int], turn_end_at: int, aborted: Question = never
) -> int:
    """Where in the prompt the reply begins: its generation prompt, or the message that is continued. 0: not known.

    `turn_end_at` is the result of `turn_end`.
    """
    whole = len(prompt) - 1
    if goes_on(request) and turn_end_at == whole and model.tokenizer.has_thinking:
        turn_end_at = turn_end(request, model, prompt, aborted)
    return turn_end_at if turn_end_at < whole else 0


def _announcement_tokens(model: LoadedModel, thinking: bool, aborted: Question) -> int:
    """Length in tokens of the generation prompt, found by rendering a short question; at least 1."""
    known = model.announcements
    if thinking not in known:
        question = Request(messages=(Message(MessageRole.USER, "x"),), thinking=thinking)
        try:
            prompt = prompt_tokens(question, model, aborted)
            known[thinking] = len(prompt) - turn_end(question, model, prompt, aborted)
        except EngineError:
            known[thinking] = 1
    return known[thinking]


def encode(text: str, model: LoadedModel, aborted: Question = never, *, special: bool = True) -> list[int]:
    """`special`: add the tokens that begin a text (BOS); a template writes them itself."""
    try:
        return encoding.encode(model.tokenizer, text, special=special, aborted=aborted)
    except Aborted:
        raise
    except BaseException as error:
        raise TokenizerBroken(model.info.folder, f"{type(error).__name__}: {error}"[:500]) from error


def spared_tokens(model: LoadedModel) -> list[int]:
    """Tokens that XTC must not exclude: the ends of a reply and line breaks.

    Some files name end tokens outside the vocabulary.
    """
    named = [*model.ends, *model.tokenizer.encode("\n", add_special_tokens=False)]
    return [token for token in named if type(token) is int and 0 <= token < model.logit_width]


def _render(request: Request, model: LoadedModel, aborted: Question) -> list[int]:
    if not model.tokenizer.has_chat_template:
        return encode("\n\n".join(message.content for message in request.messages), model, aborted)
    unfinished = goes_on(request)
    return _with_template(
        request.messages, model, request.thinking, aborted, announced=not unfinished, unfinished=unfinished
    )


def _with_template(
    messages: Sequence[Message],
    model: LoadedModel,
    thinking: bool,
    aborted: Question,
    *,
    announced: bool,
    unfinished: bool,
) -> list[int]:
    """`announced`: add the generation prompt; `unfinished`: continue the last message."""
    turns = [_as_dict(message) for message in messages]
    variables = {"add_generation_prompt": announced, "enable_thinking": thinking}
    if model.template is None:  # a renderer of mlx-lm's or transformers' own
        render = partial(model.tokenizer.apply_chat_template, turns, continue_final_message=unfinished, **variables)
        return list(encoding.apart(render, aborted))
    text = model.template.render(turns, unfinished=unfinished, aborted=aborted, **variables)
    return encode(text, model, aborted, special=False)


def goes_on(request: Request) -> bool:
    """Whether an unfinished reply is continued."""
    return bool(request.messages) and request.messages[-1].role is MessageRole.ASSISTANT


def _as_dict(message: Message) -> dict[str, str]:
    return {"role": message.role.value, "content": message.content}


@dataclass(frozen=True, slots=True)
class Span:
    kind: SpanKind
    text: str
    runs: tuple[Run, ...] = field(default=(), compare=False)  # the tokens of its characters


class ReplyText:
    """Turns committed tokens into spans of text; holds back text that may still become a stop string or a marker."""

    def __init__(
        self,
        model: LoadedModel,
        prompt: Sequence[int],
        stops: Sequence[str],
        *,
        within: bool = False,
        begin: int = 0,
    ) -> None:
        """`within`: the prompt ends in the middle of a text, so leading spaces and line breaks are kept.

        `begin`: the prompt belongs to the reply from there on (`reply_begin`); markers before it may be quoted.
        """
        self._detokenizer = model.tokenizer.detokenizer
        if within:
            _lead_in(self._detokenizer, model)
        self._stops = tuple(stop for stop in stops if stop)
        self._opens, self._closes = _thinking_markers(model)
        begun = prompt[begin:] if within else prompt[begin:][-_ANNOUNCEMENT_TOKENS:]
        self._kind = SpanKind.THINKING if _ends_thinking(model, begun) else SpanKind.ANSWER
        self._held = ""
        self._sources = Sources()  # of the held text
        self._fresh = not within  # nothing of this span was returned yet: leading blank lines are dropped
        self.stopped = False  # a stop string was found; all later text is dropped

    def push(self, token: int) -> list[Span]:
        self._detokenizer.add_token(token)
        self._sources.count_token()
        return self._take(self._detokenizer.last_segment)

    def finish(self) -> list[Span]:
        """The rest of the text, after the last token."""
        self._detokenizer.finalize()
        spans = self._take(self._detokenizer.last_segment)
        if not self.stopped and self._held:
            spans.extend(self._span(len(self._held)))
        return spans

    def _take(self, text: str) -> list[Span]:
        if self.stopped:
            return []
        self._held += text
        self._sources.add(len(text))
        spans: list[Span] = []
        while (found := self._first_marker()) is not None:
            at, marker = found
            spans.extend(self._span(at))
            self._drop(len(marker))
            if marker in self._stops:
                self.stopped, self._held = True, ""
                return spans
            self._kind = SpanKind.THINKING if marker == self._opens else SpanKind.ANSWER
            self._fresh = True
        certain = len(self._held) - _possible_start(self._held, self._markers())
        spans.extend(self._span(certain))
        return spans

    def _markers(self) -> tuple[str, ...]:
        marker = self._closes if self._kind is SpanKind.THINKING else self._opens
        return (*self._stops, marker) if marker else self._stops

    def _first_marker(self) -> tuple[int, str] | None:
        found = [(at, marker) for marker in self._markers() if (at := self._held.find(marker)) >= 0]
        return min(found, key=lambda pair: (pair[0], -len(pair[1]))) if found else None

    def _span(self, chars: int) -> list[Span]:
        """The first `chars` characters of the held text, as a span; they are held no longer."""
        if self._fresh and self._opens:
            blank = chars - len(self._held[:chars].lstrip("\n"))
            self._drop(blank)
            chars -= blank
        if not chars:
            return []
        self._fresh = False
        text = self._held[:chars]
        return [Span(self._kind, text, self._drop(chars))]

    def _drop(self, chars: int) -> tuple[Run, ...]:
        self._held = self._held[chars:]
        return self._sources.take(chars)


def _lead_in(detokenizer: StreamingDetokenizer, model: LoadedModel) -> None:
    """Feed one word first: detokenizers drop the space before the first word."""
    for token in model.tokenizer.encode("x", add_special_tokens=False):
        detokenizer.add_token(token)
    _ = detokenizer.last_segment


def _possible_start(text: str, markers: Sequence[str]) -> int:
    """Length of the longest suffix of `text` that is a prefix of a marker."""
    longest = 0
    for marker in markers:
        for length in range(min(len(marker) - 1, len(text)), longest, -1):
            if text.endswith(marker[:length]):
                longest = length
                break
    return longest


def _thinking_markers(model: LoadedModel) -> tuple[str, str]:
    tokenizer = model.tokenizer
    return (tokenizer.think_start, tokenizer.think_end) if tokenizer.has_thinking else ("", "")


def _ends_thinking(model: LoadedModel, begun: Sequence[int]) -> bool:
    """Whether the reply's part of the prompt leaves a thinking span open. Some templates open one themselves."""
    tokenizer = model.tokenizer
    if not tokenizer.has_thinking:
        return False
    tokens = list(begun)
    return _last_index(tokens, tokenizer.think_start_tokens) > _last_index(tokens, tokenizer.think_end_tokens)


def _last_index(tokens: list[int], wanted: Sequence[int]) -> int:
    width = len(wanted)
    starts = range(len(tokens) - width, -1, -1)
    return next((at for at in starts if tuple(tokens[at : at + width]) == tuple(wanted)), -1)
