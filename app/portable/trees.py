"""Messages of other apps put into an order in which every message comes after the one that it answers."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from app.portable.problems import Unreadable, WhyNotRead
from app.storage.portable import PortableMessage

MOST_NODES = 200_000


@dataclass(frozen=True, slots=True)
class Node:
    """`message` is None for one that is not shown: what answers it answers the one before it."""

    parent: Hashable | None
    message: PortableMessage | None


def ordered(nodes: Mapping[Hashable, Node]) -> tuple[tuple[PortableMessage, ...], dict[Hashable, int]]:
    """The messages, numbered from 1, and the number under which each node is seen. Raises Unreadable."""
    if len(nodes) > MOST_NODES:
        raise Unreadable(WhyNotRead.TOO_LARGE)
    seen_as = _visible(nodes)
    parents = {key: _parent(key, nodes, seen_as) for key, node in nodes.items() if node.message is not None}
    numbers: dict[Hashable, int] = {}
    messages: list[PortableMessage] = []
    for key in _parents_first(parents, nodes):
        message = nodes[key].message
        parent = parents[key]
        assert message is not None
        numbers[key] = len(messages) + 1
        messages.append(replace(message, number=len(messages) + 1, parent=numbers.get(parent)))
    shown = {key: numbers[visible] for key, visible in seen_as.items() if visible in numbers}
    return tuple(messages), shown


def _visible(nodes: Mapping[Hashable, Node]) -> dict[Hashable, Hashable | None]:
    """Each node, or the nearest one above it that is seen."""
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


def _parent(key: Hashable, nodes: Mapping[Hashable, Node], seen_as: Mapping[Hashable, Hashable | None]) -> Hashable:
    above = nodes[key].parent
    return seen_as.get(above) if above is not None else None


def _parents_first(parents: Mapping[Hashable, Hashable | None], nodes: Mapping[Hashable, Node]) -> list[Hashable]:
    """By time as far as that goes."""
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


def joined(messages: tuple[PortableMessage, ...]) -> tuple[tuple[PortableMessage, ...], dict[int, int]]:
    """Replies that other apps keep in pieces become one, where nothing else answers the first piece.

    Also returns the new number of each old one.
    """
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
    return replace(
        first,
        text="\n\n".join(filter(None, (first.text, second.text))),
        thinking="\n\n".join(filter(None, (first.thinking, second.thinking))),
        thinking_s=first.thinking_s + second.thinking_s,
        main_name=second.main_name or first.main_name,
        parts=first.parts + second.parts,
    )
