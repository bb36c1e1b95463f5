"""Text to tokens: the prompt that a reply continues, by the chat template, and the grammar that it has to match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from engine.api.errors import (
    CannotSee,
    EmptyConversation,
    EngineError,
    InvalidRequest,
    TemplateFailed,
    TokenizerBroken,
)
from engine.api.types import Effort, Message, MessageRole, Picture, Request, SightRefusal, ToolCall
from engine.decoding.constraint import Grammar, GrammarPart, compiled, part_of, vocabulary_of
from engine.decoding.sequence import common_prefix
from engine.decoding.steps import Steps, joined, probes
from engine.decoding.tool_calls import ToolSyntax
from engine.decoding.turns import PROBE, as_written, goes_on, marked_turns, takes_several
from engine.models import encoding
from engine.models.vision_config import VisionConfig, read_vision_config
from engine.models.watch import Aborted, Question, TooLong, never
from engine.vision.values import PictureSpan, framed, spelled

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

_SHOWS_RESULTS = "whether the template has a place for pictures of results"  # key in `LoadedModel.beside`
_GENERATION_PROMPTS = "lengths of generation prompts"  # another one
_NOT_SHOWN = "\n\nPicture that is not shown"

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
        return whole if goes_on(request) else max(0, len(prompt) - _generation_prompt_tokens(model, request, aborted))
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


def _generation_prompt_tokens(model: LoadedModel, request: Request, aborted: Question) -> int:
    """Length in tokens of the generation prompt, found by rendering a short question; at least 1."""
    known: dict[tuple[bool, Effort], int] = model.beside.setdefault(_GENERATION_PROMPTS, {})
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
    written = as_written(request, model, aborted)
    turns, variables = encoding.apart(partial(marked_turns, written, model), aborted)
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


def _shows_results(model: LoadedModel, aborted: Question) -> bool:
    if _SHOWS_RESULTS not in model.beside:
        call = ToolCall("a23456789", "look", "{}")
        picture = Picture(64, 64, b"", "x")
        asked = Message(MessageRole.ASSISTANT, "", tool_calls=(call,))
        answer = Message(MessageRole.TOOL, "x", tool_call_id=call.id, name="look", pictures=(picture,))
        chat = Request(
            (Message(MessageRole.USER, "x"), asked, answer), tools=({"type": "function", "function": PROBE},)
        )
        try:
            _with_template(chat, model, aborted, announced=True)
            model.beside[_SHOWS_RESULTS] = True
        except (Exception, TooLong):  # noqa: BLE001  whatever a template raises
            model.beside[_SHOWS_RESULTS] = False
    return bool(model.beside[_SHOWS_RESULTS])


def _pictures_of(request: Request) -> list[Picture]:
    return [picture for message in request.messages for picture in message.pictures]


def _vision_of(model: LoadedModel) -> VisionConfig:
    """The model's vision tower. Raises CannotSee."""
    if model.vision is None:
        read_vision_config(model.info.folder)  # raises what its files say
        raise CannotSee(model.info.folder, SightRefusal.LEFT_OUT)
    return model.vision
