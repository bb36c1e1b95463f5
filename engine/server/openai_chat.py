"""OpenAI's chat completions and completions."""

from __future__ import annotations

import secrets
import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from engine.api.events import Event, Finished, PromptProgress, TextDelta, TokensScored, ToolCalled
from engine.api.types import MOST_LOGPROBS, Limits, Message, MessageRole, Request, SpanKind, TokenScore
from engine.server.contents import OPENAI_ROLES, seen, settled, text_of
from engine.server.dialect import CUT, ApiCall, CallContext, sse
from engine.server.fields import Fields
from engine.server.figures import metrics_of, predicted_of, usage_of
from engine.server.parameters import (
    choices_of,
    constraint_of,
    most_tokens_of,
    prediction_of,
    sampling_of,
    several,
    speculation_of,
    stops_of,
    thinking_of,
    within,
)
from engine.server.pictures import SentPictures
from engine.server.problems import invalid
from engine.server.replies import ReplyOutcome
from engine.server.tools import as_openai, openai_calls, openai_tools

_ROLES = {**OPENAI_ROLES, "tool": MessageRole.TOOL}
# Of other services, without effect on the text.
WITHOUT_EFFECT = ("store", "metadata", "user", "service_tier", "prompt_cache_key", "safety_identifier")
_MOST_OF_COMPLETIONS = 5  # log-probabilities of each place
_LEAST = -9999.0  # OpenAI's; -inf, of a token that a model cannot say, is no JSON


class OpenAICall(ApiCall):
    """What both endpoints share: one id, choices, usage at the end."""

    id_prefix = ""
    whole_object = piece_object = ""

    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        self.choices = choices_of(fields)  # of each prompt
        options = fields.object("stream_options")
        self._usage = options is not None and options.flag("include_usage")
        self._progress = fields.flag("return_progress")
        self._began = time.monotonic()
        self._cached: int | None = None  # of the prompt, once it is known
        self._id = f"{self.id_prefix}-{secrets.token_hex(12)}"
        self._created = int(time.time())

    def finish_of(self, finished: Finished, calls: int = 0) -> str:
        if finished.reason in CUT:
            return "length"
        return "tool_calls" if calls else "stop"

    def envelope(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self.model, "choices": choices}

    def whole(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        choices = [self.choice(index, outcome) for index, outcome in enumerate(outcomes)]
        return self.envelope(self.whole_object, choices) | self.figures(outcomes)

    @abstractmethod
    def choice(self, index: int, outcome: ReplyOutcome) -> dict[str, Any]:
        """Of the answer in one piece."""

    def piece(self, *choices: dict[str, Any]) -> dict[str, Any]:
        return self.envelope(self.piece_object, list(choices))

    def closing(self, outcomes: Sequence[ReplyOutcome]) -> Iterable[bytes]:
        if self._usage:
            yield sse(self.piece() | self.figures(outcomes))
        yield b"data: [DONE]\n\n"

    def progress(self, event: PromptProgress) -> Iterable[bytes]:
        """As llama.cpp's; the first event has what was read before."""
        self._cached = event.done_tokens if self._cached is None else self._cached
        if self._progress:
            read = {
                "total": event.total_tokens,
                "cache": self._cached,
                "processed": event.done_tokens,
                "time_ms": round(1000 * (time.monotonic() - self._began)),
            }
            yield sse(self.piece() | {"prompt_progress": read})

    def figures(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        """Of one reply in detail; of several, what they used."""
        ends = [outcome.finished for outcome in outcomes]
        thinking_tokens = sum(outcome.thinking_tokens for outcome in outcomes)
        usage = {"usage": usage_of([end.stats for end in ends], thinking_tokens, self.choices)}
        if self.requests[0].prediction:
            usage["usage"]["completion_tokens_details"] |= predicted_of(ends)
        if len(ends) != 1:
            return usage
        (end,) = ends
        return usage | {"metrics": metrics_of(end.stats)} | self.figures_of(end)


class ChatCompletion(OpenAICall):
    id_prefix = "chatcmpl"
    whole_object = "chat.completion"
    piece_object = "chat.completion.chunk"

    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        fields.refuse("audio", "functions", "function_call")
        fields.ignore(*WITHOUT_EFFECT)
        if not fields.items("messages"):
            raise invalid("'messages' must have at least one message.", "messages")
        tools = openai_tools(fields)
        self._calls = [0] * self.choices
        self._logprobs = chat_logprobs_of(fields)
        self._scored: list[list[TokenScore]] = [[] for _ in self._calls]  # that no piece has had yet
        request = Request(
            messages=settled([_message(each, context.pictures) for each in fields.objects("messages")]),
            constraint=constraint_of(fields.object("response_format"), "response_format"),
            sampling=sampling_of(fields, context.options.sampling),
            speculation=speculation_of(fields, context.state),
            max_tokens=most_tokens_of(fields, "max_completion_tokens", "max_tokens"),
            stop=stops_of(fields),
            logprobs=self._logprobs,
            **tools.asked,
            **thinking_of(fields, fields.text("reasoning_effort"), "reasoning_effort"),
            **prediction_of(fields),
        )
        self.requests = several(request, self.choices)

    def choice(self, index: int, outcome: ReplyOutcome) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(outcome.text),
            "refusal": None,
            "annotations": [],
        }
        if outcome.thinking:
            message["reasoning_content"] = "".join(outcome.thinking)
        if outcome.calls:
            message["tool_calls"] = as_openai(outcome.calls)
            message["content"] = message["content"] or None
        finish = self.finish_of(outcome.finished, len(outcome.calls))
        logprobs = None if self._logprobs is None else chat_logprobs(outcome.scores)
        return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": finish}

    def opening(self, done_tokens: int, total_tokens: int) -> Iterable[bytes]:
        for index in range(len(self.requests)):
            yield sse(self.piece(_delta(index, {"role": "assistant", "content": ""})))

    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        match event:
            case TextDelta(kind=kind, text=text):
                name = "reasoning_content" if kind is SpanKind.THINKING else "content"
                yield sse(self.piece(_delta(index, {name: text}, logprobs=self._new_logprobs(index))))
            case TokensScored(scores=scores):
                self._scored[index].extend(scores)
            case ToolCalled(call=call):
                yield sse(self.piece(_delta(index, {"tool_calls": as_openai([call], self._calls[index])})))
                self._calls[index] += 1
            case Finished():
                finish = self.finish_of(event, self._calls[index])
                yield sse(self.piece(_delta(index, {}, finish, self._new_logprobs(index))))
            case PromptProgress():
                yield from self.progress(event)

    def _new_logprobs(self, index: int) -> dict[str, Any] | None:
        """Of the tokens up to now that are in no piece yet."""
        scores = self._scored[index]
        self._scored[index] = []
        return chat_logprobs(scores) if any(score.text for score in scores) else None


class Completion(OpenAICall):
    id_prefix = "cmpl"
    whole_object = piece_object = "text_completion"

    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        fields.refuse("suffix")
        if (fields.integer("best_of") or 1) > 1:
            fields.refuse("best_of")
        self._echo = fields.flag("echo")
        self._only_scores = self._echo and fields.integer("max_tokens") == 0  # a token is drawn, and not sent
        most = fields.integer("logprobs")
        self._logprobs = None if most is None else within(Limits(0, _MOST_OF_COMPLETIONS), "logprobs", most)
        longest = most_tokens_of(fields, "max_tokens") if "max_tokens" in fields and not self._only_scores else 16
        request = Request(
            sampling=sampling_of(fields, context.options.sampling),
            speculation=speculation_of(fields, context.state),
            max_tokens=1 if self._only_scores else longest,
            stop=stops_of(fields),
            logprobs=(self._logprobs or 0) if self._echo else self._logprobs,
            prompt_logprobs=self._echo,
        )
        prompts = _prompts(fields)
        if len(prompts) * self.choices > context.options.most_requests:
            raise invalid(f"'prompt' and 'n' ask for more than {context.options.most_requests} replies.", "prompt")
        of_prompts = [replace(request, **_prompt(fields, prompt)) for prompt in prompts]
        self.requests = [choice for each in of_prompts for choice in several(each, self.choices)]
        self._scored: list[list[TokenScore]] = [[] for _ in self.requests]  # that no piece has had yet
        self._offsets = [0] * len(self.requests)

    def finish_of(self, finished: Finished, calls: int = 0) -> str:
        return "length" if self._only_scores else super().finish_of(finished, calls)

    def figures(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        figures = super().figures(outcomes)
        if self._only_scores:
            figures["usage"] |= {"completion_tokens": 0, "total_tokens": figures["usage"]["prompt_tokens"]}
        return figures

    def choice(self, index: int, outcome: ReplyOutcome) -> dict[str, Any]:
        finish = self.finish_of(outcome.finished)
        prompt = self._echoed(index, outcome.prompt_scores) if self._echo else ""
        self._scored[index].extend([] if self._only_scores else outcome.scores)
        text = "" if self._only_scores else "".join([*outcome.thinking, *outcome.text])
        return _text_choice(index, prompt + text, finish, self._new_logprobs(index))

    def _echoed(self, index: int, scores: Sequence[TokenScore]) -> str:
        """The prompt as it was sent, or of its tokens. What a tokenizer puts before a text has no place in it."""
        self._scored[index].extend(scores)
        text = self.requests[index].text or b"".join(score.text for score in scores).decode(errors="replace")
        self._offsets[index] = min(0, len(text) - sum(map(characters, scores)))
        return text

    def _new_logprobs(self, index: int) -> dict[str, Any] | None:
        scores = self._scored[index]
        self._scored[index] = []
        if self._logprobs is None or not scores:
            return None
        entry = completion_logprobs(scores, self._offsets[index], self._logprobs)
        self._offsets[index] += sum(map(characters, scores))
        return entry

    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        match event:
            case TokensScored(scores=scores, of_prompt=True):
                text = self._echoed(index, scores)
                yield sse(self.piece(_text_choice(index, text, logprobs=self._new_logprobs(index))))
            case TokensScored(scores=scores) if not self._only_scores:
                self._scored[index].extend(scores)
            case TextDelta(text=text) if not self._only_scores:
                yield sse(self.piece(_text_choice(index, text, logprobs=self._new_logprobs(index))))
            case Finished():
                yield sse(self.piece(_text_choice(index, "", self.finish_of(event), self._new_logprobs(index))))
            case PromptProgress():
                yield from self.progress(event)


def _message(fields: Fields, pictures: SentPictures) -> Message:
    role = fields.one_of("role", _ROLES)
    if role in (MessageRole.USER, MessageRole.TOOL):
        text, marks = seen(fields, pictures)
        message = Message(role, text, pictures=marks)
        if role is MessageRole.USER:
            return message
        return replace(message, tool_call_id=fields.text("tool_call_id") or "", name=fields.text("name") or "")
    if role is MessageRole.SYSTEM:
        return Message(role, text_of(fields))
    thoughts = fields.any("reasoning_content", "reasoning")
    if not isinstance(thoughts, str | None):
        raise fields.wrong("reasoning_content", "a string")
    return Message(role, text_of(fields), thoughts or "", openai_calls(fields))


def _prompts(fields: Fields) -> list[Any]:
    """As they were sent: one, or several in an array. Their choices follow each other in its order."""
    prompt = fields.any("prompt")
    if not isinstance(prompt, list) or not prompt or not all(isinstance(each, str | list) for each in prompt):
        return [prompt]
    return prompt


def _prompt(fields: Fields, prompt: Any) -> dict[str, Any]:
    if isinstance(prompt, str):
        return {"text": prompt}
    if isinstance(prompt, list) and prompt and all(type(token) is int and token >= 0 for token in prompt):
        return {"tokens": tuple(prompt)}
    raise fields.wrong("prompt", "a string, an array of token ids, or an array of either")


_Logprobs = dict[str, Any] | None


def _delta(index: int, delta: dict[str, Any], finish: str | None = None, logprobs: _Logprobs = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}


def _text_choice(index: int, text: str, finish: str | None = None, logprobs: _Logprobs = None) -> dict[str, Any]:
    return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish}


# Log-probabilities, in the forms of a chat's answer and of a completion


def chat_logprobs_of(fields: Fields) -> int | None:
    """How many tokens of each place are wanted; None: none, not even the one that was drawn."""
    most = fields.integer("top_logprobs")
    if not fields.flag("logprobs"):
        if most is not None:
            raise invalid("'top_logprobs' needs 'logprobs'.", "top_logprobs")
        return None
    return within(Limits(0, MOST_LOGPROBS), "top_logprobs", most or 0)


def chat_logprobs(scores: Sequence[TokenScore]) -> dict[str, Any]:
    """Of the tokens that have a text: the end of a reply has none."""
    content = [
        _entry(score) | {"top_logprobs": [_entry(each) for each in score.likeliest]} for score in scores if score.text
    ]
    return {"content": content, "refusal": None}


def _entry(score: TokenScore) -> dict[str, Any]:
    return {"token": shown(score), "logprob": _number(score), "bytes": list(score.text)}


def completion_logprobs(scores: Sequence[TokenScore], offset: int, most: int) -> dict[str, Any]:
    """`offset`: of the first token's text, in characters. The drawn token is among the likeliest in any case."""
    offsets = []
    for score in scores:
        offsets.append(max(0, offset))
        offset += characters(score)
    return {
        "tokens": [shown(score) for score in scores],
        "token_logprobs": [_number(score) for score in scores],
        "top_logprobs": [_by_text(score) for score in scores] if most else None,
        "text_offset": offsets,
    }


def _by_text(score: TokenScore) -> dict[str, float | None] | None:
    if score.logprob is None:
        return None
    likeliest = {shown(each): _number(each) for each in reversed(score.likeliest)}  # of one text the likelier counts
    return {shown(score): _number(score)} | likeliest


def _number(score: TokenScore) -> float | None:
    return None if score.logprob is None else max(score.logprob, _LEAST)


def characters(score: TokenScore) -> int:
    """That begin in it: of a character in several tokens the first one has it."""
    return sum(byte & 0xC0 != 0x80 for byte in score.text)


def shown(score: TokenScore) -> str:
    """A part of a character as no text could be: its bytes."""
    return score.text.decode(errors="backslashreplace")
