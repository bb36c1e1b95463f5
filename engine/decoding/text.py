"""Tokens to text: detokenizing, stop strings, thinking spans and calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from engine.api.types import SpanKind, ToolCall
from engine.decoding.constraint import Grammar
from engine.decoding.guide import Guide, ThinkingMarkers
from engine.decoding.sources import Run, Sources
from engine.decoding.tool_calls import ToolSyntax

if TYPE_CHECKING:
    from mlx_lm.tokenizer_utils import StreamingDetokenizer

    from engine.models.loading import LoadedModel

_TEXTS = "texts of tokens"  # key of the token texts in `LoadedModel.beside`
_ELEMENT = re.compile(r"<(/?)\w+>")  # also the name of an element
_GENERATION_PROMPT_TOKENS = 64  # longest one; a marker further back is quoted text


@dataclass(frozen=True, slots=True)
class TextSpan:
    kind: SpanKind
    text: str
    runs: tuple[Run, ...] = field(default=(), compare=False)  # the tokens that its characters come from
    call: ToolCall | None = None  # if set, the text is empty


class TextDecoder:
    """Turns committed tokens into spans of text; holds back text that may still become a stop string or a marker.

    With `tools`, a call is held back until its end.
    """

    def __init__(
        self,
        model: LoadedModel,
        prompt: Sequence[int],
        stops: Sequence[str],
        *,
        within: bool = False,
        begin: int = 0,
        tools: ToolSyntax | None = None,
        several_calls: bool = True,
    ) -> None:
        """`within`: the prompt ends in the middle of a text, so leading spaces and line breaks are kept.

        `begin`: the prompt belongs to the reply from there on (`reply_begin`); markers before it may be quoted.
        """
        self._model = model
        self._detokenizer = model.tokenizer.detokenizer
        if within:
            _lead_in(self._detokenizer, model)
        self._stops = tuple(stop for stop in stops if stop)
        self._opens, self._closes = model.marks.thinking_texts
        begun = prompt[begin:] if within else prompt[begin:][-_GENERATION_PROMPT_TOKENS:]
        self._kind = SpanKind.THINKING if _ends_thinking(model, begun) else SpanKind.ANSWER
        self._held = ""
        self._sources = Sources()  # tokens of the held text
        # Nothing of a span that a marker or a call began was returned yet: its leading blank lines are dropped.
        self._fresh = not within and bool(self._opens)
        self._wrapped = 0  # how many elements are open that are written as the mark around an answer is, with that one
        self._spoken = within  # more than blanks was returned since the last marker or call
        self._tools = tools
        self._several_calls = several_calls
        self.raw = False  # all is the answer, with its markers: the author of a raw prompt reads them
        self._calling: ToolSyntax | None = None  # if set, the held text begins with the marker of a call
        self.stopped = False  # a stop string was found; all later text is dropped
        self.stop = ""  # that string
        self.unread_calls = 0  # calls that could not be parsed and became text
        self.left_out = False  # calls after the first are not returned

    def guide(self, grammar: Grammar | None, *, may_open: bool, most_thinking: int | None = None) -> Guide | None:
        """The guide of a reply; None if nothing is constrained.

        `may_open`: a reply with a grammar may begin with thinking, if the prompt has not opened it.
        """
        model = self._model
        marks = model.marks.thinking
        if marks is None:
            return None if grammar is None else Guide(grammar)
        begun = self._kind is SpanKind.THINKING
        text = partial(_text_of, model)
        may_open = may_open or grammar is None or grammar.opener is not None
        thinking = ThinkingMarkers(marks.opening, self._closes.encode(), begun, may_open, model.thinking_end, text)
        return Guide(grammar, thinking, most_thinking)

    def push(self, token: int) -> list[TextSpan]:
        self._detokenizer.add_token(token)
        self._sources.count_token()
        return self._take(self._detokenizer.last_segment)

    def finish(self, *, cut: bool = False) -> list[TextSpan]:
        """The rest of the text, after the last token. `cut`: the model did not end it, so a call may lack its end."""
        self._detokenizer.finalize()
        spans = self._take(self._detokenizer.last_segment)
        while (tools := self._calling) is not None and self._kind is SpanKind.THINKING:
            self._calling = None
            first, end, _ = self._held.partition(tools.end or self._held)
            if not cut and tools.calls_in(first + end):
                self._kind = SpanKind.ANSWER
            else:
                spans.extend(self._span(len(tools.start)))
            spans.extend(self._take(""))
        if not self.stopped and self._held:
            chars = len(self._held)
            spans.extend(self._end_of_call(self._calling, chars, cut=cut) if self._calling else self._span(chars))
        return spans

    def _take(self, text: str) -> list[TextSpan]:
        if self.stopped:
            return []
        self._held += text
        self._sources.add(len(text))
        spans: list[TextSpan] = []
        while (found := self._first_marker()) is not None:
            at, marker = found
            if self._calling is not None:
                spans.extend(self._end_of_call(self._calling, at + len(marker)))
                continue
            begins_call = self._tools is not None and marker in self._tools.ends
            if begins_call and self._fresh and self._held[:at].isspace():  # it belongs to the call
                self._drop(at)
                at = 0
            spans.extend(self._span(at))
            if begins_call:
                self._calling = self._tools
                continue
            if self._is_word(marker):
                spans.extend(self._span(len(marker)))
                continue
            self._drop(len(marker))
            if marker in self._stops:
                self.stopped = True
                self.stop = marker
                self._held = ""
                return spans
            self._kind = SpanKind.THINKING if marker == self._opens else SpanKind.ANSWER
            self._fresh = True
            self._spoken = False
        if self._calling is not None:
            return spans
        certain = len(self._held) - _possible_start(self._held, self._markers())
        if self._tools is None or not self._fresh or not self._held[:certain].isspace():
            spans.extend(self._span(certain))
        return spans

    def _end_of_call(self, tools: ToolSyntax, chars: int, *, cut: bool = False) -> list[TextSpan]:
        """Parse the first `chars` characters of the held text, which begin with the marker of a call.

        `cut`: without the marker of its end, where there is one. Some parsers would leave out what is missing.
        """
        self._calling = None
        if self._kind is SpanKind.THINKING:  # it was only thought of; stop strings may follow
            return self._span(len(tools.start))
        calls = () if cut and tools.end else tools.calls_in(self._held[:chars])
        if not calls:
            self.unread_calls += 1
            return self._span(chars)
        self._drop(chars)
        self._fresh = True
        self._spoken = False
        if not self._several_calls:
            self.stopped = True
            self._held = ""
            self.left_out = len(calls) > 1
            calls = calls[:1]
        return [TextSpan(SpanKind.ANSWER, "", call=call) for call in calls]

    def _is_word(self, marker: str) -> bool:
        """Whether the found marker belongs to the answer. The end of a call follows one; some marks are in XML, too."""
        if marker in self._stops:
            return False
        if marker not in self._model.marks.around:
            return self._tools is not None and marker == self._tools.end and self._spoken
        element = _ELEMENT.fullmatch(marker)
        if element is None:
            return False
        ends = bool(element[1])
        if not self._wrapped and (ends or self._spoken):
            return True
        self._wrapped += -1 if ends else 1
        return self._wrapped != (0 if ends else 1)

    def _markers(self) -> tuple[str, ...]:
        if self.raw:
            return self._stops
        tools = self._tools
        thinks = self._kind is SpanKind.THINKING
        if self._calling is not None:
            ends = (end for start, end in self._calling.ends.items() if self._held.startswith(start))
            end = self._closes if thinks else next(ends)
            return (end,) if end else ()
        if thinks:  # some models call without closing it, and end there
            return (*self._stops, self._closes, *([tools.start] if tools is not None and tools.start_is_token else []))
        calls = [] if tools is None else [*tools.ends]
        if tools is not None and len(calls) > 1:
            calls.append(tools.end)  # that of a call without the first marker
        return (*self._stops, *([self._opens] if self._opens else []), *calls, *self._model.marks.around)

    def _first_marker(self) -> tuple[int, str] | None:
        begin = 0 if self._calling is None else len(self._calling.start)
        found = [(at, marker) for marker in self._markers() if (at := self._held.find(marker, begin)) >= 0]
        return min(found, key=lambda pair: (pair[0], -len(pair[1]))) if found else None

    def _span(self, chars: int) -> list[TextSpan]:
        """Release the first `chars` characters of the held text as a span."""
        if self._fresh:
            blank = chars - len(self._held[:chars].lstrip("\n"))
            self._drop(blank)
            chars -= blank
        if not chars:
            return []
        self._fresh = False
        text = self._held[:chars]
        self._spoken = self._spoken or not text.isspace()
        return [TextSpan(SpanKind.ANSWER if self.raw else self._kind, text, self._drop(chars))]

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


def _text_of(model: LoadedModel, token: int) -> bytes:
    """The text of each token, cached for all replies of a model: every token is looked up while a reply thinks."""
    texts: dict[int, bytes] = model.beside.setdefault(_TEXTS, {})
    if token not in texts:
        texts[token] = b""  # of NO_TOKEN, and ids that only the draft has
        with suppress(Exception):  # some tokenizers raise for the output layer's padding
            texts[token] = str(model.tokenizer.decode([token])).encode() if 0 <= token < model.logit_width else b""
    return texts[token]


def _ends_thinking(model: LoadedModel, begun: Sequence[int]) -> bool:
    """Whether the reply's part of the prompt leaves a thinking span open. Some templates open one themselves."""
    marks = model.marks.thinking
    if marks is None:
        return False
    if {*marks.opening}.isdisjoint(model.tokenizer.get_added_vocab().values()):
        # Markers that are spelled may be cut otherwise beside a line break. Names of pictures are no tokens.
        text = str(model.tokenizer.decode([token for token in begun if token < model.logit_width]))
        return text.rfind(marks.opens) > text.rfind(marks.closes)
    return _last(marks.opening, begun) > _last(marks.closing, begun)


def _last(part: tuple[int, ...], tokens: Sequence[int]) -> int:
    """Where `part` begins for the last time; -1: nowhere."""
    places = range(len(tokens) - len(part), -1, -1)
    return next((at for at in places if tuple(tokens[at : at + len(part)]) == part), -1)
