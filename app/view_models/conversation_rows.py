"""Rows of the chat list: headings, folders and their contents, chats, and search results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.storage import ChatSummary, Folder, Listing, Match
from app.storage.searching import SHOWN
from app.words.chat_groups import ChatGroup, group_text
from app.words.formats import count, fill, listed

__all__ = ["ChatSummary", "ConversationRow", "Folder", "FolderTree", "Listing", "Match", "rows_of"]


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A chat, a folder (`folder_id` is set), or the heading of a group (`group` is set); other numbers are 0."""

    chat_id: int = 0
    title: str = ""
    generating: bool = False  # a reply is being written, here or in this folder, which is closed
    pinned: bool = False
    unseen: bool = False  # a reply ended unseen, here or in this closed folder
    unsent: bool = False  # text waits in its field
    match: Match | None = None  # the message that a search found
    continues: bool = False  # another match of the chat above: only its snippet is shown
    is_more: bool = False  # it only says that there are more
    folder_id: int = 0
    opened: bool = False  # of a folder
    inside: int | None = None  # the folder that it is in
    depth: int = 0  # how many folders it is in
    group: ChatGroup | date | None = None

    @property
    def text(self) -> str:
        """The chat's title, or the heading in the interface's language."""
        return self.title if self.group is None else group_text(self.group)

    @property
    def spoken(self) -> str:
        """What a screen reader says."""
        if self.group is not None:
            return group_text(self.group)
        details = [self.title, *self._states()]
        if self.depth:
            details.append(fill(QCoreApplication.translate("ChatRows", "level %1"), count(self.depth + 1)))
        return listed(*details)

    def _states(self) -> Iterator[str]:
        if not self.chat_id:
            yield (
                QCoreApplication.translate("ChatRows", "open folder")
                if self.opened
                else QCoreApplication.translate("ChatRows", "closed folder")
            )
        if self.pinned:
            yield QCoreApplication.translate("ChatRows", "pinned")
        if self.generating:
            yield QCoreApplication.translate("ChatRows", "writing a reply")
        if self.unseen:
            yield QCoreApplication.translate("ChatRows", "new reply")
        if self.unsent:
            yield QCoreApplication.translate("ChatRows", "unsent text")
        yield self.snippet

    @property
    def is_heading(self) -> bool:
        return self.group is not None

    @property
    def snippet(self) -> str:
        if self.is_more:
            return QCoreApplication.translate("ChatRows", "More in this chat")
        return self.match.snippet if self.match is not None else ""

    @property
    def key(self) -> object:
        """Identity of a row, so that a change keeps the selection and the scroll position."""
        place = self.match.message_id if self.match is not None and self.continues else 0
        return self.group or (self.chat_id, self.folder_id, place)


class FolderTree:
    """Folders in the list's order. Those with cyclic or missing parents are at the top."""

    def __init__(self, folders: Iterable[Folder], order: Callable[[Folder], Any] = lambda folder: folder.id) -> None:
        self.folders = {folder.id: folder for folder in sorted(folders, key=order)}
        self.depths: dict[int, int] = {}
        self._parents: dict[int, int | None] = {}
        self._inside: defaultdict[int | None, list[int]] = defaultdict(list)
        stored: defaultdict[int | None, list[int]] = defaultdict(list)
        for folder in self.folders.values():
            stored[folder.parent_id if folder.parent_id in self.folders else None].append(folder.id)
        for number in (*stored[None], *self.folders):  # the rest form cycles
            self._take(number, stored)

    def _take(self, first: int, stored: Mapping[int | None, Sequence[int]]) -> None:
        """A folder of the top and what is in it, unless it was taken."""
        waiting: list[tuple[int, int | None, int]] = [(first, None, 0)]
        while waiting:
            number, parent_id, depth = waiting.pop()
            if number not in self.depths:
                self.depths[number] = depth
                self._parents[number] = parent_id
                self._inside[parent_id].append(number)
                waiting += [(each, number, depth + 1) for each in reversed(stored.get(number, ()))]

    def inside(self, folder_id: int | None) -> list[int]:
        return self._inside[folder_id]

    def in_order(self) -> Iterator[Folder]:
        """Folders, each before its contents."""
        return (self.folders[number] for number in self.depths)

    def parent(self, folder_id: int) -> int | None:
        return self._parents.get(folder_id)

    def around(self, folder_ids: Iterable[int | None]) -> set[int]:
        """These folders and all their ancestors."""
        found: set[int] = set()
        waiting = list(folder_ids)
        while waiting:
            number = waiting.pop()
            if number in self.folders and number not in found:
                found.add(number)
                waiting.append(self._parents[number])
        return found

    def holds(self, folder_id: int, other_id: int | None) -> bool:
        """Whether the other folder is this one or inside it."""
        while other_id is not None and other_id != folder_id:
            other_id = self._parents.get(other_id)
        return other_id == folder_id


def rows_of(listing: Listing, tree: FolderTree, today: date, searching: bool) -> list[ConversationRow]:
    """Rows without marks of running replies; see `with_marks`."""
    if searching:
        return list(_by_group(listing.chats, today))
    filed: defaultdict[int, list[ChatSummary]] = defaultdict(list)
    loose: list[ChatSummary] = []
    for chat in listing.chats:
        folder = tree.folders.get(chat.folder_id or 0)
        (loose if folder is None else filed[folder.id]).append(chat)
    pinned = [chat for chat in loose if chat.pinned]
    others = [chat for chat in loose if not chat.pinned]
    return [
        *_by_group(pinned, today),
        *_folder_rows(tree, filed),
        *_by_group(others, today),
    ]


def with_marks(
    rows: Iterable[ConversationRow], tree: FolderTree, writing: Mapping[int, int | None], unsent: Container[int]
) -> list[ConversationRow]:
    """The rows with marks of running replies and of unsent text. `writing`: chats and folders of these replies."""
    busy = tree.around(writing.values())

    def marked(row: ConversationRow) -> ConversationRow:
        writes = row.chat_id in writing or (row.folder_id in busy and not row.opened)
        waits = row.chat_id in unsent
        is_right = (row.generating, row.unsent) == (writes, waits)
        return row if is_right else replace(row, generating=writes, unsent=waits)

    return [marked(row) for row in rows]


def _folder_rows(tree: FolderTree, filed: Mapping[int, Sequence[ChatSummary]]) -> Iterator[ConversationRow]:
    """Each folder with its folders, then its chats."""
    unseen = tree.around(folder.id for folder in tree.folders.values() if folder.unseen)
    if tree.depths:
        yield ConversationRow(group=ChatGroup.FOLDERS)
    waiting = [(number, False) for number in reversed(tree.inside(None))]  # folder, and whether its chats are next
    while waiting:
        number, chats_next = waiting.pop()
        if chats_next:
            for chat in filed.get(number, ()):
                yield from _chat_rows(chat, inside=number, depth=tree.depths[number] + 1)
        else:
            yield _folder_row(tree, tree.folders[number], number in unseen)
            if tree.folders[number].opened:
                waiting.append((number, True))
                waiting += [(each, False) for each in reversed(tree.inside(number))]


def _folder_row(tree: FolderTree, folder: Folder, unseen: bool) -> ConversationRow:
    return ConversationRow(
        title=folder.name,
        folder_id=folder.id,
        opened=folder.opened,
        unseen=unseen and not folder.opened,
        inside=tree.parent(folder.id),
        depth=tree.depths[folder.id],
    )


def _by_group(chats: Sequence[ChatSummary], today: date) -> Iterator[ConversationRow]:
    for group, members in groupby(chats, key=lambda chat: _group(chat, today)):
        yield ConversationRow(group=group)
        for chat in members:
            yield from _chat_rows(chat, inside=chat.folder_id)


def _chat_rows(chat: ChatSummary, inside: int | None, depth: int = 0) -> Iterator[ConversationRow]:
    """One, or one for each message that a search found in it; the last row may stand for more."""
    for place, match in enumerate(chat.matches[: SHOWN + 1] or (None,)):
        yield ConversationRow(
            chat_id=chat.id,
            title=chat.title,
            pinned=chat.pinned,
            unseen=chat.unseen,
            match=match,
            continues=place > 0,
            is_more=place == SHOWN < len(chat.matches) - 1,
            inside=inside,
            depth=depth,
        )


def _group(chat: ChatSummary, today: date) -> ChatGroup | date:
    if chat.pinned:
        return ChatGroup.PINNED
    day = date.fromtimestamp(chat.updated_at)
    if day >= today:
        return ChatGroup.TODAY
    if day == today - timedelta(days=1):
        return ChatGroup.YESTERDAY
    return ChatGroup.WEEK if day > today - timedelta(days=7) else day.replace(day=1)
