"""The turns of a chat as the model's template takes them; rendering them is `prompt`'s."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

from engine.api.types import Message, MessageRole, Request, ToolCall
from engine.decoding.tool_calls import call_as_dict
from engine.models.templates import ChatTemplate, Turn
from engine.models.watch import Question, TooLong, never

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

PROBE = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
_SEVERAL = "whether the template takes several calls in a turn"  # key in `LoadedModel.beside`
_ANY_ID = "whether the template takes calls with any id"  # another one
_SYSTEM = "whether the template writes a system message"  # another one
_LATER = "whether the template writes a later system message"  # another one

_ID = re.compile("[A-Za-z0-9]{9}")  # every template takes these

# Variables by which templates keep the thinking of earlier turns, so that a chat with calls is not read again from the
# first of them at each question. Each template names one at most.
_KEEPING_THINKING = {
    "preserve_thinking": True,  # Qwen3.6
    "clear_thinking": False,  # GLM-4.7
    "truncate_history_thinking": False,  # Nemotron 3
    "keep_past_thinking": True,  # LFM2.5
    "drop_thinking": False,  # DeepSeek V4
}


def goes_on(request: Request) -> bool:
    """Whether the request continues an unfinished reply or text."""
    if request.text:
        return True
    last = request.messages[-1] if request.messages else None
    return last is not None and last.role is MessageRole.ASSISTANT and not last.tool_calls


def as_written(request: Request, model: LoadedModel, aborted: Question) -> Request:
    """With calls, their answers and system messages as the model's template takes them."""
    messages = request.messages
    if any(each.tool_calls for each in messages):
        messages = _calls_as_written(messages, model, aborted)
    if any(each.role is MessageRole.SYSTEM for each in messages):
        messages = tuple(_with_system(messages, model, aborted))
    return replace(request, messages=messages)


def takes_several(model: LoadedModel, aborted: Question = never) -> bool:
    """Whether a turn may have several calls: some templates refuse more than one, or leave the others out."""
    return _takes(_SEVERAL, model, aborted, count=2)


def _takes(key: str, model: LoadedModel, aborted: Question, **calls: Any) -> bool:
    if key not in model.beside:
        model.beside[key] = _renders_calls(model, aborted, **calls) or not _renders_calls(model, aborted)
    return bool(model.beside[key])


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


def _renders_calls(model: LoadedModel, aborted: Question, count: int = 1, begin: str = "a2345678") -> bool:
    """`begin`: of their ids, before a digit."""
    if model.template is None:
        return True
    calls = [ToolCall(f"{begin}{at}", "look", f'{{"at": "place{at}"}}') for at in range(count)]
    answers = [{"role": "tool", "content": "x", "tool_call_id": call.id, "name": "look"} for call in calls]
    asked = {"role": "assistant", "content": "", "tool_calls": list(map(call_as_dict, calls))}
    tools = [{"type": "function", "function": PROBE}]
    text = _tried(model.template, [{"role": "user", "content": "x"}, asked, *answers], aborted, tools=tools)
    return all(f"place{at}" in text for at in range(count))


def _calls_as_written(messages: Sequence[Message], model: LoadedModel, aborted: Question) -> tuple[Message, ...]:
    messages = tuple(_answered(messages, any_id=_takes(_ANY_ID, model, aborted, begin="call_")))
    if model.marks.parser == "kimi_k2":
        messages = tuple(_named_by_number(messages))
    if any(len(each.tool_calls) > 1 for each in messages) and not takes_several(model, aborted):
        messages = tuple(_one_by_one(messages))
    return tuple(messages)


def _answered(messages: Sequence[Message], *, any_id: bool) -> Iterator[Message]:
    """Each call of a turn has an id of its own, and each answer that of the call with its id.

    `any_id`: the template takes those of other apps and providers, too.

    Of several with one id the first that has no answer yet; without an id, of the calls since the user's last message
    one of its tool, or the first.
    """
    given = {call.id for message in messages for call in message.tool_calls}
    unused = (each for each in map("{:09}".format, count()) if each not in given)
    waiting: list[tuple[str, ToolCall]] = []  # calls without an answer, by the ids that they had
    for message in messages:
        if message.tool_calls:
            ids = [call.id for call in message.tool_calls]
            kept = [
                each not in ids[:at] and bool(each if any_id else _ID.fullmatch(each)) for at, each in enumerate(ids)
            ]
            own = [each if keeps else next(unused) for each, keeps in zip(ids, kept, strict=True)]
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


def marked_turns(request: Request, model: LoadedModel) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Turns and variables as a template reads them: what users, files, tools and clients wrote is marked."""
    marked = partial(model.control_words.marked, named=None if model.template is None else model.template.names)
    variables = model.effort.at(request.effort, thinks=request.thinking)
    variables |= {name: marked(value) for name, value in request.template_variables.items()}
    if request.tools:
        known = _KEEPING_THINKING if model.template is not None else {}
        variables = {**known, **variables, "tools": marked(list(request.tools))}
    return [_as_dict(message, model, marked) for message in request.messages], variables


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
    opens, closes = model.marks.thinking_texts
    before, found, rest = text.partition(opens) if opens and not model.marks.around else (text, "", "")
    if not found or before.strip():
        return marked(text)
    thinking, closer, answer = rest.partition(closes)
    return before + opens + marked(thinking) + closer + marked(answer)
