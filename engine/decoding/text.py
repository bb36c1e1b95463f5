"""Text to tokens: the chat template. Tokens to text: detokenizing, stop strings and thinking spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

from engine.api.errors import (
    CannotSee,
    EmptyConversation,
    EngineError,
    InvalidRequest,
    TemplateFailed,
    TokenizerBroken,
)
from engine.api.types import Effort, Message, MessageRole, Picture, Request, SightRefusal, SpanKind, ToolCall
from engine.decoding.constraint import Grammar, GrammarPart, compiled, part_of, vocabulary_of
from engine.decoding.guide import Guide, ThinkingMarkers
from engine.decoding.sequence import common_prefix
from engine.decoding.sources import Run, Sources
from engine.decoding.steps import Steps, joined, probes
from engine.decoding.tool_calls import ToolSyntax, call_as_dict
from engine.models import encoding
from engine.models.templates import ChatTemplate, Turn
from engine.models.vision_config import VisionConfig, read_vision_config
from engine.models.watch import Aborted, Question, TooLong, never
from engine.vision.values import PictureSpan, framed, spelled

if TYPE_CHECKING:
    from mlx_lm.tokenizer_utils import StreamingDetokenizer

    from engine.models.loading import LoadedModel

_TEXTS = "texts of tokens"  # key of the token texts in `LoadedModel.beside`
_SHOWS_RESULTS = "whether the template has a place for pictures of results"  # key in `LoadedModel.beside`
_SEVERAL = "whether the template takes several calls in a turn"  # another one
_SYSTEM = "whether the template writes a system message"  # another one
_LATER = "whether the template writes a later system message"  # another one
_ANNOUNCEMENTS = "lengths of generation prompts"  # another one
_PROBE = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
_ELEMENT = re.compile(r"<(/?)\w+>")  # also the name of an element
_NOT_SHOWN = "\n\nPicture that is not shown"
_ANNOUNCEMENT_TOKENS = 64  # longest generation prompt; a marker further back is quoted text

# Variables by which templates keep the thinking of earlier turns, so that a chat with calls is not read again from the
# first of them at each question. Each template names one at most.
_KEEPING_THINKING = {
    "preserve_thinking": True,  # Qwen3.6
    "clear_thinking": False,  # GLM-4.7
    "truncate_history_thinking": False,  # Nemotron 3
    "keep_past_thinking": True,  # LFM2.5
    "drop_thinking": False,  # DeepSeek V4
}

OnText = Callable[[str, int], None]  # a text, and the number of tokens before it
Spelling = Callable[[int], bytes]  # the text of a token by itself


@dataclass(frozen=True, slots=True)
class Prompt:
    """The tokens that a reply continues."""

    tokens: list[int]
    turn_end: int  # see `turn_end`
    shared_end: int  # see `shared_end`
    begin: int  # see `reply_begin`
    pictures: tuple[PictureSpan, ...] = ()
    grammar: Grammar | None = None  # of the request's constraint
    spelling: Spelling | None = None  # for a request with `logprobs`
    prediction: Sequence[int] = ()  # the request's predicted text, in tokens
    messages: tuple[Message, ...] = ()  # of the request, without those that are left out
    first: int = 0  # see `truncation.Fitted`


def prompt_tokens(
    request: Request, model: LoadedModel, aborted: Question = never, on_text: OnText = lambda _text, _before: None
) -> list[int]:
    """The tokens that the reply continues. Raises Aborted soon after `aborted` returns True.

    `on_text` gets the prompt's text before it is encoded, if it is known then, or its end and the number of tokens
    before that.
    """
    if request.tools:
        ToolSyntax(model, request.tools)
    if request.tokens:
        return list(request.tokens)
    if request.text:
        on_text(request.text, 0)
        return encode(request.text, model, aborted)
    if not request.messages or request.messages[-1].role is MessageRole.SYSTEM:
        raise EmptyConversation
    try:
        tokens = _render(request, model, aborted, on_text)
    except (EngineError, Aborted):
        raise
    except (Exception, TooLong) as error:
        raise TemplateFailed(f"{type(error).__name__}: {error}"[:500]) from error
    except BaseException as error:
        raise TokenizerBroken(model.info.folder, f"{type(error).__name__}: {error}"[:500]) from error
    if not tokens:
        raise EmptyConversation
    return tokens


def grammar_of(request: Request, model: LoadedModel, aborted: Question = never) -> Grammar | None:
    """The grammar that the reply has to match; None: none. Raises Aborted soon after `aborted` returns True."""
    parts = [part_of(request.constraint)] if request.constraint is not None else []
    if not request.may_call:
        if request.tools and not parts and model.marks.calls is not None and len(model.marks.calls.opening) > 1:
            parts.append(ToolSyntax(model, request.tools).none())
        return _grammar(parts, request, model, aborted) if parts else None
    if request.must_call or (parts and request.tools):  # with tools the model may call one instead
        several = request.several_calls and takes_several(model, aborted)
        parts.append(ToolSyntax(model, request.tools).grammar(request.must_call, several=several))
    if parts:
        return _grammar(parts, request, model, aborted)
    opener = model.call_opener if request.strict_tools else None
    if opener is None:
        return None
    request = replace(request, several_calls=request.several_calls and takes_several(model, aborted))
    return encoding.apart(partial(_strict, request, model, opener), aborted)


def _grammar(parts: Sequence[GrammarPart], request: Request, model: LoadedModel, aborted: Question) -> Grammar:
    grammar: Grammar = encoding.apart(partial(compiled, parts, model), aborted)
    if request.messages and goes_on(request):
        grammar.go_on(request.messages[-1].content)
    return grammar


def _strict(request: Request, model: LoadedModel, opener: int) -> Grammar:
    """The grammar of calls from their opener on, to which all strict tools are held whose schemas can be enforced."""
    syntax = ToolSyntax(model, request.tools)

    def held_to(names: Sequence[str]) -> Grammar:
        return compiled([syntax.grammar((), several=request.several_calls, strict=names)], model, opener)

    def enforceable(name: str) -> bool:
        with suppress(InvalidRequest):
            compiled([syntax.grammar((name,), several=False)], model)
            return True
        return False

    try:
        return held_to(request.strict_tools)
    except InvalidRequest:
        syntax.functions(request.strict_tools)
        return held_to([name for name in request.strict_tools if enforceable(name)])


def spelling_of(model: LoadedModel) -> Spelling:
    try:
        return vocabulary_of(model).text
    except InvalidRequest:  # a tokenizer that cannot be constrained
        return lambda token: str(model.tokenizer.decode([token])).encode(errors="replace")


def turn_end(
    request: Request, model: LoadedModel, prompt: list[int], aborted: Question = never, *, exact: bool = True
) -> int:
    """How many tokens of `prompt` stay the same in another reply or the next turn: all but the generation prompt.

    Templates may open or close a thinking span there, and drop it from the turn once it is history. Not `exact`:
    estimated from the usual length of the generation prompt, without rendering the chat once more.
    """
    asked = request.messages[:-1] if goes_on(request) else request.messages
    whole = len(prompt) - 1
    if not asked or not model.tokenizer.has_chat_template:
        return whole
    if not exact and not request.template_variables:
        return whole if goes_on(request) else max(0, len(prompt) - _announcement_tokens(model, request, aborted))
    try:
        before = _with_template(replace(request, messages=asked), model, aborted, announced=False)
    except (Exception, TooLong):  # noqa: BLE001  some templates require an answer after the question
        return whole
    return min(common_prefix(before, prompt), whole)


def shared_end(request: Request, model: LoadedModel, prompt: list[int], aborted: Question = never) -> int:
    """How many tokens of `prompt` every chat has whose system message begins with the same `shared_characters`.

    Those before the first that depends on what follows there: the end of the message, or more of it.
    """
    if not request.shared_characters or not request.messages or request.messages[0].role is not MessageRole.SYSTEM:
        return 0
    system = replace(request.messages[0], content=request.messages[0].content[: request.shared_characters])
    others = (replace(system, content=system.content + more) for more in ("", "\n\nx"))
    chats = (replace(request, messages=(other, Message(MessageRole.USER, "x"))) for other in others)
    try:
        begun = [_with_template(chat, model, aborted, announced=False) for chat in chats]
    except (Exception, TooLong):  # noqa: BLE001  whatever a template raises
        return 0
    return min(common_prefix(tokens, prompt) for tokens in begun)


def reply_begin(request: Request, model: LoadedModel, prompt: list[int], turn_end_at: int, aborted: Question) -> int:
    """Where in the prompt the reply begins: its generation prompt, or the message that is continued. 0: not known.

    `turn_end_at` is the result of `turn_end`.
    """
    whole = len(prompt) - 1
    if goes_on(request) and turn_end_at == whole and model.marks.thinking is not None:
        turn_end_at = turn_end(request, model, prompt, aborted)
    return turn_end_at if turn_end_at < whole else 0


def _announcement_tokens(model: LoadedModel, request: Request, aborted: Question) -> int:
    """Length in tokens of the generation prompt, found by rendering a short question; at least 1."""
    known: dict[tuple[bool, Effort], int] = model.beside.setdefault(_ANNOUNCEMENTS, {})
    level = request.thinking, request.effort
    if level not in known:
        question = Request(messages=(Message(MessageRole.USER, "x"),), thinking=request.thinking, effort=request.effort)
        try:
            prompt = prompt_tokens(question, model, aborted)
            known[level] = len(prompt) - turn_end(question, model, prompt, aborted)
        except EngineError:
            known[level] = 1
    return known[level]


def encode(text: str, model: LoadedModel, aborted: Question = never, *, special: bool = True) -> list[int]:
    """Texts of control tokens become those tokens, so this is for texts whose author writes the template, too.

    `special`: add the tokens that begin a text (BOS); a template writes them itself.
    """
    return _encode([text], model, aborted, special=special)


def encode_plain(text: str, model: LoadedModel, aborted: Question = never, *, special: bool = False) -> list[int]:
    """Texts of control tokens stay text. `special`: as in `encode`."""
    words = model.control_words
    pieces = encoding.apart(lambda: words.pieces(words.marked(text)), aborted)
    return _encode(pieces, model, aborted, special=special)


def _encode(pieces: Sequence[str], model: LoadedModel, aborted: Question, *, special: bool) -> list[int]:
    try:
        return encoding.encode(model.tokenizer, pieces, special=special, aborted=aborted)
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


def _render(request: Request, model: LoadedModel, aborted: Question, on_text: OnText) -> list[int]:
    if not model.tokenizer.has_chat_template:
        if any(message.pictures for message in request.messages):
            _vision_of(model)
            raise TemplateFailed("there is none, so a picture has no place")
        text = "\n\n".join(message.content for message in request.messages)
        on_text(text, 0)
        return encode_plain(text, model, aborted, special=True)
    unfinished = goes_on(request)
    return _with_template(request, model, aborted, on_text, announced=not unfinished, unfinished=unfinished)


def _with_template(
    request: Request,
    model: LoadedModel,
    aborted: Question,
    on_text: OnText = lambda _text, _before: None,
    *,
    announced: bool,
    unfinished: bool = False,
) -> list[int]:
    """`announced`: add the generation prompt; `unfinished`: continue the last message."""
    rendered = partial(_rendered, model=model, aborted=aborted, announced=announced, unfinished=unfinished)
    pieces = rendered(request)
    if (step := Steps.of(model).before(request)) is not None:
        before, rest = joined(step, pieces, _probed(request, rendered), model)
        if before:
            on_text("".join(rest), len(before))
            return before + _encode(rest, model, aborted, special=False)
    on_text("".join(pieces), 0)
    tokens = _encode(pieces, model, aborted, special=False)
    pictures = _pictures_of(request)
    return spelled(tokens, pictures, _vision_of(model), request.picture_detail) if pictures else tokens


def _rendered(
    request: Request, *, model: LoadedModel, aborted: Question, announced: bool, unfinished: bool
) -> list[str]:
    """The chat's text, in pieces as of `ControlWords.pieces`."""
    vision = _vision_of(model) if _pictures_of(request) else None
    if any(each.tool_calls for each in request.messages):
        request = replace(request, messages=_calls_as_written(request.messages, model, aborted))
    if any(each.role is MessageRole.SYSTEM for each in request.messages):
        request = replace(request, messages=tuple(_with_system(request.messages, model, aborted)))
    turns, variables = encoding.apart(partial(_marked, request, model), aborted)
    variables |= {"enable_thinking": request.thinking, "add_generation_prompt": announced}
    if model.template is None:  # a renderer of mlx-lm's or transformers' own
        variables |= {"continue_final_message": unfinished, "tokenize": False}
        text = str(encoding.apart(partial(model.tokenizer.apply_chat_template, turns, **variables), aborted))
    else:
        text = model.template.render(turns, unfinished=unfinished, aborted=aborted, **variables)
    if vision is not None:
        text = framed(text, vision, lambda token: str(model.tokenizer.convert_ids_to_tokens(token)))
    pieces: list[str] = encoding.apart(partial(model.control_words.pieces, text), aborted)
    return pieces


def _probed(request: Request, rendered: Callable[[Request], list[str]]) -> list[str]:
    """The texts of the chat's `probes`; [] if the template takes none of them."""
    try:
        return ["".join(rendered(probe)) for probe in probes(request)]
    except (Exception, TooLong):  # noqa: BLE001  whatever a template raises
        return []


def with_places(request: Request, model: LoadedModel, aborted: Question = never) -> Request:
    """Pictures in answers of tools stay where the template has a place for them; elsewhere the text says that there
    were some.
    """
    if not any(each.role is MessageRole.TOOL and each.pictures for each in request.messages):
        return request
    if model.vision is None or _shows_results(model, aborted):
        return request
    messages = (
        replace(each, content=each.content + _NOT_SHOWN * len(each.pictures), pictures=())
        if each.role is MessageRole.TOOL
        else each
        for each in request.messages
    )
    return replace(request, messages=tuple(messages))


def takes_several(model: LoadedModel, aborted: Question = never) -> bool:
    """Whether a turn may have several calls: some templates refuse more than one, or leave the others out."""
    if _SEVERAL not in model.beside:
        model.beside[_SEVERAL] = _renders_calls(model, 2, aborted) or not _renders_calls(model, 1, aborted)
    return bool(model.beside[_SEVERAL])


def _with_system(messages: Sequence[Message], model: LoadedModel, aborted: Question) -> list[Message]:
    """System messages for which the template has no place begin the next question, end the one before, or are questions
    themselves.
    """
    turns: list[Message] = []
    moved = False  # the last one
    for at, message in enumerate(messages):
        if (
            moved
            and message.role is MessageRole.ASSISTANT
            and [each.role for each in turns[-2:-1]] == [MessageRole.USER]
        ):
            said = turns.pop().content  # two questions in a row are refused by some
            turns[-1] = replace(turns[-1], content=f"{turns[-1].content}\n\n{said}")
        joined_to = turns.pop().content + "\n\n" if moved and message.role is not MessageRole.ASSISTANT else ""
        moved = message.role is MessageRole.SYSTEM and not _writes_system(model, at > 0, aborted)
        role = MessageRole.USER if moved else message.role
        turns.append(replace(message, role=role, content=joined_to + message.content))
    return turns


def _writes_system(model: LoadedModel, later: bool, aborted: Question) -> bool:
    """Gemma 2's template refuses a system message, Qwen3.5's any but the first, and some leave them out."""
    if model.template is None:
        return True
    key = (_SYSTEM, _LATER)[later]
    if key not in model.beside:
        user = {"role": "user", "content": "x"}
        turns = [user, {"role": "assistant", "content": "x"}] if later else []
        written = _tried(model.template, [*turns, {"role": "system", "content": key}, user], aborted)
        model.beside[key] = key in written or not _tried(model.template, [*turns, user], aborted)
    return bool(model.beside[key])


def _tried(template: ChatTemplate, turns: Sequence[Turn], aborted: Question, **variables: Any) -> str:
    """The chat as it is rendered; "" where the template refuses it."""
    try:
        return template.render(turns, aborted=aborted, **variables)
    except (Exception, TooLong):  # noqa: BLE001  whatever a template raises
        return ""


def _renders_calls(model: LoadedModel, count: int, aborted: Question) -> bool:
    if model.template is None:
        return True
    calls = [ToolCall(f"a2345678{at}", "look", f'{{"at": "place{at}"}}') for at in range(count)]
    answers = [{"role": "tool", "content": "x", "tool_call_id": call.id, "name": "look"} for call in calls]
    asked = {"role": "assistant", "content": "", "tool_calls": list(map(call_as_dict, calls))}
    tools = [{"type": "function", "function": _PROBE}]
    text = _tried(model.template, [{"role": "user", "content": "x"}, asked, *answers], aborted, tools=tools)
    return all(f"place{at}" in text for at in range(count))


def _calls_as_written(messages: Sequence[Message], model: LoadedModel, aborted: Question) -> tuple[Message, ...]:
    """With calls and their answers as the model's template needs them."""
    messages = tuple(_answered(messages))
    if model.marks.parser == "kimi_k2":
        messages = tuple(_named_by_number(messages))
    if any(len(each.tool_calls) > 1 for each in messages) and not takes_several(model, aborted):
        messages = tuple(_one_by_one(messages))
    return tuple(messages)


def _answered(messages: Sequence[Message]) -> Iterator[Message]:
    """Each call of a turn has an id of its own, and each answer that of the call with its id.

    Of several with one id the first that has no answer yet; without an id, of the calls since the user's last message
    one of its tool, or the first.
    """
    given = {call.id for message in messages for call in message.tool_calls}
    unused = (each for each in map("{:09}".format, count()) if each not in given)  # every template takes nine digits
    waiting: list[tuple[str, ToolCall]] = []  # calls without an answer, by the ids that they had
    for message in messages:
        if message.tool_calls:
            ids = [call.id for call in message.tool_calls]
            own = [each if each and each not in ids[:at] else next(unused) for at, each in enumerate(ids)]
            calls = [replace(call, id=each) for call, each in zip(message.tool_calls, own, strict=True)]
            waiting += zip(ids, calls, strict=True)
            yield replace(message, tool_calls=tuple(calls))
        elif found := _asked_by(message, waiting):
            waiting.remove(found)
            yield replace(message, tool_call_id=found[1].id)
        else:
            if message.role is MessageRole.USER:
                waiting.clear()
            yield message


def _asked_by(answer: Message, waiting: Sequence[tuple[str, ToolCall]]) -> tuple[str, ToolCall] | None:
    if answer.role is not MessageRole.TOOL:
        return None
    same = [each for each in waiting if each[0] == answer.tool_call_id]
    if answer.tool_call_id or not waiting:
        return same[0] if same else None
    return next((each for each in waiting if each[1].name == answer.name), waiting[0])


def _one_by_one(messages: Sequence[Message]) -> Iterator[Message]:
    """Each call in a turn of its own, with its answer. A later turn may have calls of the same ids."""
    moved: list[Message] = []  # answers that follow their calls already
    for at, message in enumerate(messages):
        if message.role is MessageRole.ASSISTANT:
            moved = []
        if len(message.tool_calls) < 2:
            if message not in moved:
                yield message
            continue
        following = takewhile(lambda each: each.role is not MessageRole.ASSISTANT, messages[at + 1 :])
        answers = {each.tool_call_id: each for each in following if each.role is MessageRole.TOOL}
        for number, call in enumerate(message.tool_calls):
            said = replace(message, content="", reasoning="") if number else message
            yield replace(said, tool_calls=(call,))
            if (answer := answers.get(call.id)) is not None:
                moved.append(answer)
                yield answer


def _named_by_number(messages: Sequence[Message]) -> Iterator[Message]:
    """Kimi K2's template writes only a call's id, which has the tool's name and counts the chat's calls. The turn of an
    answer begins with the tool's name, which not every client gives.
    """
    named: dict[str, tuple[str, str]] = {}  # id and name by the id that the call has here, the latest of that id
    numbers = count()
    for message in messages:
        for call in message.tool_calls:
            named[call.id] = f"functions.{call.name}:{next(numbers)}", call.name
        calls = tuple(replace(call, id=named[call.id][0]) for call in message.tool_calls)
        number, name = named.get(message.tool_call_id, (message.tool_call_id, ""))
        yield replace(message, tool_calls=calls, tool_call_id=number, name=message.name or name)


def _shows_results(model: LoadedModel, aborted: Question) -> bool:
    if _SHOWS_RESULTS not in model.beside:
        call = ToolCall("a23456789", "look", "{}")
        picture = Picture(64, 64, b"", "x")
        asked = Message(MessageRole.ASSISTANT, "", tool_calls=(call,))
        answer = Message(MessageRole.TOOL, "x", tool_call_id=call.id, name="look", pictures=(picture,))
        chat = Request(
            (Message(MessageRole.USER, "x"), asked, answer), tools=({"type": "function", "function": _PROBE},)
        )
        try:
            _with_template(chat, model, aborted, announced=True)
            model.beside[_SHOWS_RESULTS] = True
        except (Exception, TooLong):  # noqa: BLE001  whatever a template raises
            model.beside[_SHOWS_RESULTS] = False
    return bool(model.beside[_SHOWS_RESULTS])


def _pictures_of(request: Request) -> list[Picture]:
    return [picture for message in request.messages for picture in message.pictures]


def _marked(request: Request, model: LoadedModel) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Turns and variables as a template reads them: what users, files, tools and clients wrote is marked."""
    marked = partial(model.control_words.marked, named=None if model.template is None else model.template.names)
    variables = model.effort.at(request.effort, thinks=request.thinking)
    variables |= {name: marked(value) for name, value in request.template_variables.items()}
    if request.tools:
        known = _KEEPING_THINKING if model.template is not None else {}
        variables = {**known, **variables, "tools": marked(list(request.tools))}
    return [_as_dict(message, model, marked) for message in request.messages], variables


def _vision_of(model: LoadedModel) -> VisionConfig:
    """The model's vision tower. Raises CannotSee."""
    if model.vision is None:
        read_vision_config(model.info.folder)  # raises what its files say
        raise CannotSee(model.info.folder, SightRefusal.LEFT_OUT)
    return model.vision


def goes_on(request: Request) -> bool:
    """Whether the request continues an unfinished reply or text."""
    if request.text:
        return True
    last = request.messages[-1] if request.messages else None
    return last is not None and last.role is MessageRole.ASSISTANT and not last.tool_calls


def _as_dict(message: Message, model: LoadedModel, marked: Callable[[Any], Any]) -> dict[str, Any]:
    """The message as templates read it, without empty keys: some templates test whether a key exists."""
    is_reply = message.role is MessageRole.ASSISTANT
    content = _marked_reply(message.content, model, marked) if is_reply else marked(message.content)
    turn: dict[str, Any] = {"role": message.role.value, "content": content}
    if message.pictures:
        turn["content"] = [*({"type": "image"} for _ in message.pictures), {"type": "text", "text": content}]
    given = {"reasoning_content": message.reasoning, "tool_call_id": message.tool_call_id, "name": message.name}
    turn |= {name: marked(value) for name, value in given.items() if value}
    if message.tool_calls:
        turn["tool_calls"] = [marked(call_as_dict(call)) for call in message.tool_calls]
    return turn


def _marked_reply(text: str, model: LoadedModel, marked: Callable[[str], str]) -> str:
    """Other programs may keep thinking as the beginning of a reply's text: only its two markers are the model's own.

    Templates of models that also mark answers take no markers in a text.
    """
    opens, closes = _thinking_markers(model)
    before, found, rest = text.partition(opens) if opens and not model.marks.around else (text, "", "")
    if not found or before.strip():
        return marked(text)
    thinking, closer, answer = rest.partition(closes)
    return before + opens + marked(thinking) + closer + marked(answer)


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
        self._opens, self._closes = _thinking_markers(model)
        begun = prompt[begin:] if within else prompt[begin:][-_ANNOUNCEMENT_TOKENS:]
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


def _thinking_markers(model: LoadedModel) -> tuple[str, str]:
    marks = model.marks.thinking
    return ("", "") if marks is None else (marks.opens, marks.closes)


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
