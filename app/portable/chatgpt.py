"""ChatGPT's export: conversations as a tree of nodes, many of which are hidden."""

from __future__ import annotations

import heapq
import json
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.markup.fences import fenced
from app.portable.beside import asset_of, is_wanted, wanted
from app.portable.json_stream import loads
from app.portable.markdown import one_line
from app.portable.problems import Unreadable, WhyNotRead
from app.portable.reading import (
    LONGEST_RESULT,
    MOST_NODES,
    list_at,
    name_at,
    note,
    number_at,
    object_at,
    options_with,
    text_at,
    time_at,
)
from app.storage.parts import Attachment, Call, Parts, Result, all_parts, content_of, of_kind
from app.storage.portable import PortableChat, PortableMessage

_ROLES = ("user", "assistant")
_LANGUAGES = {"unknown": "", "json": "json"}
_SAID_TO_ALL = ("", "all", "assistant")
_CREATE = "canmore.create_textdoc"
_UPDATE = "canmore.update_textdoc"
_CODE = "code/"
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_WITHIN = "\ue202"  # between the parts of what stands for a source, a thing or a link
_STANDS_FOR = re.compile(f"( ?)(\ue200(\\w{{1,40}}){_WITHIN}?([^\ue200\ue201]*)\ue201|【\\d[^【】†\\n]*†[^【】\\n]*】)")
_LINK = re.compile(r"https?://[^\s<>]+")


def is_chatgpt(found: dict[str, Any]) -> bool:
    return isinstance(found.get("mapping"), dict)


def chat_of(found: dict[str, Any]) -> PortableChat:
    """Raises Unreadable."""
    if len(found["mapping"]) > MOST_NODES:
        raise Unreadable(WhyNotRead.TOO_LARGE)
    began = time_at(found, "create_time")
    node_kinds = _kinds(object_at(each, "message") for each in found["mapping"].values())
    nodes: dict[Hashable, _Node] = {
        key: _node(value, began, kind)
        for (key, value), kind in zip(found["mapping"].items(), node_kinds, strict=True)
        if isinstance(value, dict)
    }
    messages, seen_as = _ordered(nodes)
    if not messages:
        raise Unreadable(WhyNotRead.EMPTY)
    messages, numbers = _joined(messages)
    shown = seen_as.get(text_at(found, "current_node"))
    origin = name_at(found, "conversation_id") or name_at(found, "id") or f"{began}:{name_at(found, 'title')}"
    return PortableChat(
        origin=f"chatgpt:{origin}",
        title=name_at(found, "title"),
        messages=messages,
        shown=numbers.get(shown) if shown is not None else None,
        renamed=True,
        created_at=began,
        updated_at=time_at(found, "update_time") or began,
        options=options_with(_instructions(found["mapping"].values())),
    )


def _instructions(nodes: Iterable[Any]) -> str:
    """The user's custom instructions, or the system message: the first with text."""
    for node in nodes:
        message = object_at(node, "message")
        content = object_at(message, "content")
        role = text_at(object_at(message, "author"), "role")
        said = object_at(object_at(message, "metadata"), "user_context_message_data")
        instructions = [text_at(said, "about_user_message"), text_at(said, "about_model_message")]
        if role == "system" and text_at(content, "content_type") == "text":
            instructions.append(_parts(list_at(content, "parts"), is_user=False).text)
        if words := "\n\n".join(filter(None, (each.strip() for each in instructions))):
            return words
    return ""


def _node(found: dict[str, Any], began: float, kind: str) -> _Node:
    """`kind`: type of the document in the canvas."""
    parent = found.get("parent")
    message = found.get("message")
    above = parent if isinstance(parent, str) else None
    if not isinstance(message, dict):
        return _Node(above, None)
    key = found.get("id")
    step = _step(message, key if isinstance(key, str) else "", above or "", began)
    return _Node(above, step or _message(message, began, kind))


def _step(found: dict[str, Any], key: str, above: str, began: float) -> PortableMessage | None:
    """A call of a tool, or its result: a part of the reply."""
    author = object_at(found, "author")
    role = text_at(author, "role")
    content = object_at(found, "content")
    recipient = name_at(found, "recipient")
    metadata = object_at(found, "metadata")
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    charts = _charts(object_at(metadata, "aggregate_result")) if role == "tool" else ()
    parts: Parts
    if role == "assistant" and recipient not in _SAID_TO_ALL and not (hidden or _is_for_canvas(found)):
        parts = (Call(key, recipient, _arguments(_raw(found))),)
    elif role == "tool" and not hidden and not _drawn(content) and ((text := _result_text(content)) or charts):
        parts = (Result(above, name_at(author, "name"), text, outside=True), *charts)
    else:
        return None
    model = name_at(metadata, "model_slug") if role == "assistant" else ""
    created_at = time_at(found, "create_time") or began
    return PortableMessage(0, None, "assistant", "", main_name=model, parts=parts, created_at=created_at)


def _charts(made: dict[str, Any]) -> Parts:
    """Pictures that code has made."""
    pointers = (text_at(each, "image_url") for each in list_at(made, "messages"))
    return tuple(wanted("", asset_of(each)) for each in pointers if each)


def _arguments(text: str) -> str:
    """As a JSON object; code and the like is one value of it."""
    try:
        is_object = isinstance(loads(text), dict)
    except Unreadable:
        is_object = False
    return text if is_object else json.dumps({"input": text}, ensure_ascii=False)


def _result_text(content: dict[str, Any]) -> str:
    texts = [_said(content, is_user=True).text, *(text_at(content, name) for name in ("text", "result"))]
    return next((each.strip() for each in texts if each.strip()), "")[:LONGEST_RESULT]


def _message(found: dict[str, Any], began: float, kind: str) -> PortableMessage | None:
    """The message; None for hidden ones. Pictures of a tool join the reply."""
    role = text_at(object_at(found, "author"), "role")
    metadata = object_at(found, "metadata")
    drawn = _drawn(object_at(found, "content")) if role == "tool" else ()
    if drawn:
        created_at = time_at(found, "create_time") or began
        return PortableMessage(0, None, "assistant", "", parts=drawn, created_at=created_at)
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    for_canvas = role == "assistant" and _is_for_canvas(found)
    if role not in _ROLES or hidden or not (for_canvas or text_at(found, "recipient") in _SAID_TO_ALL):
        return None
    is_user = role == "user"
    content = object_at(found, "content")
    said = _Said(_text_of(found, kind)) if for_canvas else _said(content, is_user=is_user)
    said.text = _as_shown(said.text, list_at(metadata, "content_references"))
    said.attachments = tuple(_with_files(said.attachments, list_at(metadata, "attachments")))
    said.thinking_s = number_at(metadata, "finished_duration_sec")
    if not (said.text or said.thinking or said.thinking_s or said.attachments):
        return None
    return PortableMessage(
        number=0,
        parent=None,
        role=role,
        text=said.text,
        thinking=said.thinking,
        thinking_s=said.thinking_s,
        main_name=name_at(metadata, "model_slug") if role == "assistant" else "",
        parts=said.attachments,
        created_at=time_at(found, "create_time") or began,
    )


def _as_shown(text: str, references: list[Any]) -> str:
    """With the words that ChatGPT's page shows in place of its marks; some marks have none."""
    known = {text_at(each, "matched_text"): text_at(each, "alt") or _source(each) for each in references}

    def words(mark: re.Match[str]) -> str:
        if mark[3] is None and mark[2] not in known:  # perhaps the user's own words
            return mark[0]
        shown = known.get(mark[2]) or _named_in(mark[3], mark[4])
        return mark[1] + shown if shown else ""

    return _STANDS_FOR.sub(words, text).strip()


def _source(reference: Any) -> str:
    """A page as a link, a file by its name; of others nothing."""
    name = one_line(next(filter(None, (name_at(reference, each) for each in ("attribution", "title", "name"))), ""))
    link = _LINK.fullmatch(text_at(reference, "url"))
    said = f"[{name}](<{link[0]}>)" if link else name
    return f"({said})" if name else ""


def _named_in(kind: str, said: str) -> str:
    """A thing's name, or a link's text."""
    if kind == "url":
        return said.partition(_WITHIN)[0]
    try:
        found = loads(said) if kind == "entity" else None
    except Unreadable:
        return ""
    return text_at({"name": found[1]}, "name") if isinstance(found, list) and len(found) > 1 else ""


def _with_files(pictures: Iterable[Attachment], files: list[Any]) -> Iterator[Attachment]:
    """Attachments: pictures by the names of their files, other files as notes."""
    names = {name_at(each, "id") or index: name_at(each, "name") for index, each in enumerate(files)}
    for each in pictures:
        yield replace(each, name=names.pop(each.text, "") or each.name) if is_wanted(each) else each
    yield from (note(name) for name in names.values() if name)


def _drawn(content: dict[str, Any]) -> tuple[Attachment, ...]:
    """Pictures that a tool has drawn; those of visited pages have no such mark."""
    marks = (object_at(each, "metadata") for each in list_at(content, "parts"))
    made = any(object_at(each, "dalle") or object_at(each, "generation") for each in marks)
    return tuple(filter(is_wanted, _said(content, is_user=False).attachments)) if made else ()


@dataclass(slots=True)
class _Said:
    text: str = ""
    thinking: str = ""
    thinking_s: float = 0.0
    attachments: tuple[Attachment, ...] = field(default_factory=tuple)


def _said(content: dict[str, Any], *, is_user: bool) -> _Said:
    kind = text_at(content, "content_type")
    if kind == "thoughts":
        thoughts = [text_at(each, "content") or text_at(each, "summary") for each in list_at(content, "thoughts")]
        return _Said(thinking="\n\n".join(filter(None, thoughts)))
    if kind == "code":
        language = name_at(content, "language")
        text = text_at(content, "text")
        return _Said(fenced(text, _LANGUAGES.get(language, language)) if text else "")
    if kind in ("text", "multimodal_text"):
        return _parts(list_at(content, "parts"), is_user=is_user)
    return _Said()


def _parts(parts: list[Any], *, is_user: bool) -> _Said:
    """Texts and pictures; notes for audio and the like."""
    texts = []
    pictures = []
    notes = []
    for part in parts:
        if isinstance(part, str):
            texts.append(text_at({"part": part}, "part"))
        elif text := text_at(part, "text"):  # what was spoken
            texts.append(text)
        elif kind := name_at(part, "content_type"):
            name = kind.removesuffix("_asset_pointer").replace("_", " ")
            if name == "image":
                pictures.append(wanted("", asset_of(text_at(part, "asset_pointer"))))
                continue
            notes.append(note(name))
            texts += [] if is_user else [f"[{name}]"]
    text = "\n\n".join(filter(None, (each.strip() for each in texts)))
    return _Said(text, attachments=(*pictures, *(notes if is_user else ())))


def _is_for_canvas(message: dict[str, Any]) -> bool:
    """Whether it contains a canvas document, or a change of one."""
    return text_at(message, "recipient") in (_CREATE, _UPDATE)


def _kinds(messages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The type of the last created document at each message, since updates do not have it."""
    kind = ""
    for message in messages:
        if text_at(message, "recipient") == _CREATE:
            kind = name_at(_canvas_said(message), "type")
        yield kind


def _text_of(message: dict[str, Any], kind: str) -> str:
    """A document with its name, or an update's new text; unreadable JSON stays."""
    found = _canvas_said(message)
    if isinstance(found.get("content"), str):
        return _named(name_at(found, "name"), _document(text_at(found, "content"), name_at(found, "type")))
    if isinstance(found.get("updates"), list):
        written = (text_at(each, "replacement") for each in found["updates"])
        return "\n\n".join(filter(None, (_document(each, kind) for each in written)))
    raw = _raw(message)
    return fenced(raw, "json") if raw.strip() else ""


def _named(name: str, document: str) -> str:
    return "\n\n".join(filter(None, (f"**{one_line(name)}**" if name else "", document)))


def _document(content: str, kind: str) -> str:
    """Code in a fence; other documents are Markdown."""
    if not kind.startswith(_CODE) or not content.strip():
        return content.strip()
    language = _LANGUAGE.fullmatch(kind.removeprefix(_CODE))
    return fenced(content, language[0] if language else "")


def _canvas_said(message: dict[str, Any]) -> dict[str, Any]:
    try:
        found = loads(_raw(message))
    except Unreadable:
        return {}
    return found if isinstance(found, dict) else {}


def _raw(message: dict[str, Any]) -> str:
    """The JSON in a fence."""
    content = object_at(message, "content")
    parts = [each for each in list_at(content, "parts") if isinstance(each, str)]
    return text_at(content, "text") or text_at({"said": "".join(parts)}, "said")


# Their order: every message comes after the one that it answers


@dataclass(frozen=True, slots=True)
class _Node:
    """`message` is None for a hidden node: its children follow its parent."""

    parent: Hashable | None
    message: PortableMessage | None


def _ordered(nodes: Mapping[Hashable, _Node]) -> tuple[tuple[PortableMessage, ...], dict[Hashable, int]]:
    """The messages, numbered from 1, and the number of each node's message. Raises Unreadable."""
    seen_as = _visible(nodes)
    parents = {key: _parent(key, nodes, seen_as) for key, node in nodes.items() if node.message is not None}
    numbers: dict[Hashable, int] = {}
    messages: list[PortableMessage] = []
    for key in _by_time(parents, nodes):
        message = nodes[key].message
        parent = parents[key]
        assert message is not None
        numbers[key] = len(messages) + 1
        messages.append(replace(message, number=len(messages) + 1, parent=numbers.get(parent)))
    shown = {key: numbers[visible] for key, visible in seen_as.items() if visible in numbers}
    return tuple(messages), shown


def _visible(nodes: Mapping[Hashable, _Node]) -> dict[Hashable, Hashable | None]:
    """Each node's nearest visible ancestor, or itself."""
    found: dict[Hashable, Hashable | None] = {}
    for start in nodes:
        path: list[Hashable] = []
        on_path: set[Hashable] = set()
        key: Hashable | None = start
        while key is not None and key in nodes and key not in found and nodes[key].message is None:
            if key in on_path:
                raise Unreadable(WhyNotRead.CIRCLE)
            path.append(key)
            on_path.add(key)
            key = nodes[key].parent
        end = found.get(key, key if key in nodes else None) if key is not None else None
        found |= dict.fromkeys([*path, *([key] if key in nodes else [])], end)
    return found


def _parent(key: Hashable, nodes: Mapping[Hashable, _Node], seen_as: Mapping[Hashable, Hashable | None]) -> Hashable:
    above = nodes[key].parent
    return seen_as.get(above) if above is not None else None


def _by_time(parents: Mapping[Hashable, Hashable | None], nodes: Mapping[Hashable, _Node]) -> list[Hashable]:
    """Messages by time, but parents before children."""
    children: dict[Hashable | None, list[tuple[float, int, Hashable]]] = defaultdict(list)
    for place, (key, parent) in enumerate(parents.items()):
        message = nodes[key].message
        children[parent].append((message.created_at if message else 0.0, place, key))
    waiting = list(children[None])
    heapq.heapify(waiting)
    order: list[Hashable] = []
    while waiting:
        _, _, key = heapq.heappop(waiting)
        order.append(key)
        for child in children.get(key, ()):
            heapq.heappush(waiting, child)
    if len(order) != len(parents):
        raise Unreadable(WhyNotRead.CIRCLE)
    return order


def _joined(messages: tuple[PortableMessage, ...]) -> tuple[tuple[PortableMessage, ...], dict[int, int]]:
    """Joins replies that other apps split, unless the first piece has other children. Returns new numbers, too."""
    answers: dict[int | None, int] = defaultdict(int)
    for message in messages:
        answers[message.parent] += 1
    kept: list[PortableMessage] = []
    numbers: dict[int, int] = {}
    for message in messages:
        parent = numbers.get(message.parent) if message.parent is not None else None
        above = kept[parent - 1] if parent is not None else None
        if above is not None and above.role == message.role == "assistant" and answers[message.parent] == 1:
            kept[above.number - 1] = _merged(above, message)
            numbers[message.number] = above.number
        else:
            numbers[message.number] = len(kept) + 1
            kept.append(replace(message, number=len(kept) + 1, parent=parent))
    return tuple(kept), numbers


def _merged(first: PortableMessage, second: PortableMessage) -> PortableMessage:
    main_name = second.main_name or first.main_name
    calls = of_kind(Call, first.parts)
    if not calls and not of_kind(Call, second.parts):
        return replace(
            first,
            text="\n\n".join(filter(None, (first.text, second.text))),
            thinking="\n\n".join(filter(None, (first.thinking, second.thinking))),
            thinking_s=first.thinking_s + second.thinking_s,
            main_name=main_name,
            parts=first.parts + second.parts,
        )
    known = {each.id for each in calls}
    more = (
        replace(each, id=calls[-1].id) if calls and isinstance(each, Result) and each.id not in known else each
        for each in all_parts(second)
    )
    content = content_of((*all_parts(first), *more))
    return replace(
        first,
        text=content.text,
        thinking=content.thinking,
        thinking_s=content.thinking_s,
        main_name=main_name,
        parts=content.parts,
    )
