"""Changing messages: edits, inserted messages, roles, deleting.

Typed text is stored 400 ms after the last key until it is saved or cancelled, so it survives leaving the chat and
quitting the app. Attachments are stored at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.controllers.asking import Asking
from app.controllers.changes import Keeping, StorageChanges
from app.controllers.deletions import Deletions
from app.storage import Asked, Attachments, Edit, EditKind, Storage, StoredMessage, Stores
from app.storage.codec import storable
from app.view_models.transcript import EditView, TranscriptMessage, TranscriptModel
from app.view_models.typed import as_message
from engine import MessageRole

_USER = MessageRole.USER
_ASSISTANT = MessageRole.ASSISTANT


class Then(StrEnum):
    """What to do after an edit is saved."""

    NOTHING = "nothing"  # later messages stay
    REPLY = "reply"  # a user's message is asked again, as another version
    CONTINUE = "continue"  # the model goes on from the end of a reply


class MessageChanges(QObject):
    deleted = Signal(int, int)  # message, how many went; deletions.undo brings them back
    saved = Signal(int)  # the edited message
    went_on = Signal(int)  # the saved message: more was typed while it was stored, so its field stays open
    branch_changed = Signal(int)  # of this chat, as stored
    ended = Signal(int)  # saved or cancelled: its field closes

    def __init__(
        self,
        transcript: TranscriptModel,
        asking: Asking,
        storage: Storage,
        changes: StorageChanges,
        keeping: Keeping,
        deletions: Deletions,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._asking = asking
        self._storage = storage
        self._changes = changes
        self._keeping = keeping
        self._deletions = deletions
        self._edits: dict[int, Edit] = {}  # by message; of this run, and of earlier runs in opened chats
        self._ended: set[int] = set()  # edits that were saved or cancelled, though the disk may still have them

    def open_chat(self, chat_id: int) -> None:
        """Load the edits of this chat."""
        self._keeping.keep_due()
        stored = {} if chat_id in self._storage.new_chats else self._storage.read.edits.of_chat(chat_id)
        self._edits = {number: edit for number, edit in stored.items() if number not in self._ended} | self._edits

    def row(self, row: TranscriptMessage) -> TranscriptMessage:
        """The transcript's row of a message, with its edit."""
        edit = self._edits.get(row.id)
        return row if edit is None else replace(row, edit=_shown(edit))

    def begin(self, message_id: int, kind: EditKind = EditKind.EDIT) -> None:
        """Open an edit field for a message, or beside it; an open field stays."""
        message = self._storage.read.messages.message(message_id)
        if message is None or message_id in self._edits:
            return
        role = message.role if kind is EditKind.EDIT else _other(message.role)
        self._put(Edit(message_id, kind, role, message.text if kind is EditKind.EDIT else ""))
        self._show(message_id)

    def type(self, message_id: int, text: str) -> None:
        """The text in the field changed; the screen shows it already."""
        edit = self._edits.get(message_id)
        if edit is not None and edit.text != text:
            self._put(replace(edit, text=text))
            self._transcript.note_edit(message_id, _shown(self._edits[message_id]))

    def is_open(self, message_id: int) -> bool:
        """Whether the message has an edit field."""
        return message_id in self._edits

    def attached(self, message_id: int) -> Attachments:
        """Attachments of the message after saving."""
        edit = self._edits.get(message_id)
        message = self._storage.read.messages.message(message_id)
        if edit is not None and edit.attachments is not None:
            return edit.attachments
        return message.attachments if message is not None and edit is not None and edit.kind is EditKind.EDIT else ()

    def has_attached(self, message_id: int) -> bool:
        """Whether the user has changed the attachments."""
        return message_id in self._edits and self._edits[message_id].attachments is not None

    def attach(self, message_id: int, attachments: Attachments) -> None:
        edit = self._edits.get(message_id)
        if edit is not None:
            self._edits[message_id] = replace(edit, attachments=attachments)
            self._ended.discard(message_id)
            self._keep_attached(self._edits[message_id])

    def set_role(self, message_id: int, from_user: bool) -> None:
        """Set the role that the edited message will have."""
        edit = self._edits.get(message_id)
        if edit is not None:
            self._put(replace(edit, role=_USER if from_user else _ASSISTANT))
            self._show(message_id)

    def cancel(self, message_id: int) -> None:
        self._end(message_id)
        self._show(message_id)

    def save(self, message_id: int, then: Then = Then.NOTHING) -> bool:
        """Store the edit. False: refused at once, and the field stays open.

        If the disk refuses, the text in the field at the time of the next try is stored, unless it was saved meanwhile.
        """
        edit = self._edits.get(message_id)
        message = self._storage.read.messages.message(message_id)
        if edit is None or message is None or not self._asking.is_free(message.chat_id):
            return False
        self._keeping.keep_due()  # before the change that drops it
        text = as_message(storable(edit.text))
        attachments = self.attached(message_id)
        if not (text or attachments):
            return False
        if then is not Then.NOTHING and not self._asking.can_reply():
            return False
        if edit.kind is not EditKind.EDIT:
            place = message.id if edit.kind is EditKind.AFTER else message.parent_id
            self._store(
                lambda stores: stores.messages.insert(message.chat_id, place, edit.role, text, attachments),
                message,
                edit,
                then,
            )
        elif then is Then.REPLY and message.role is _USER:
            self._ask_differently(message, edit, text, attachments)
        elif text == as_message(message.text) and attachments == message.attachments:
            self.cancel(message_id)
            self._go_on(message_id, then)
        else:
            self._store(lambda stores: stores.messages.replace(message, text, attachments), message, edit, then)
        return True

    def _ask_differently(self, message: StoredMessage, edit: Edit, text: str, attachments: Attachments) -> None:
        def stored(asked: Asked) -> None:
            self._forget(message, edit, asked.user_id)

        again = partial(self.save, message.id, Then.REPLY)
        self._asking.ask_differently(message, text, attachments, stored, again)

    def _store(self, change: Callable[[Stores], int], message: StoredMessage, edit: Edit, then: Then) -> None:
        """`change` returns the resulting message."""

        def stored(new_id: int) -> None:
            if not self._forget(message, edit, new_id):
                self._go_on(new_id, then)

        def put(stores: Stores) -> int:
            with stores.database.transaction():
                stores.edits.drop(message.id)
                return change(stores)

        self._asking.store(put, stored, again=partial(self.save, message.id, then), chat_id=message.chat_id)

    def _go_on(self, message_id: int, then: Then) -> None:
        if then is Then.CONTINUE:
            self._asking.continue_reply(message_id)
        elif then is Then.REPLY:
            self._asking.regenerate(message_id)

    def _forget(self, message: StoredMessage, saved: Edit, new_id: int) -> bool:
        """The edit is saved: close the field and show the stored branch.

        Text typed meanwhile becomes an edit of the new message; returns True then.
        """
        now = self._edits.get(message.id)
        self._end(message.id)
        goes_on = now is not None and _words(now) != _words(saved)
        if now is not None and goes_on:
            edit = replace(now, message_id=new_id, kind=EditKind.EDIT)
            self._put(edit)
            self._keep_attached(edit)
        self.branch_changed.emit(message.chat_id)
        self.saved.emit(message.id)
        if goes_on:
            self.went_on.emit(new_id)
        return goes_on

    def drop_attachment(self, message_id: int, place: int) -> None:
        """Make a version without that attachment, unless the message has nothing else."""
        message = self._storage.read.messages.message(message_id)
        if message is None or not can_drop(message.text, len(message.attachments)):
            return
        if not self._asking.is_free(message.chat_id):
            return
        kept = tuple(each for number, each in enumerate(message.attachments) if number != place)
        self._asking.store(
            lambda stores: stores.messages.replace(message, message.text, kept),
            lambda _new_id: self.branch_changed.emit(message.chat_id),
            chat_id=message.chat_id,
        )

    def switch_role(self, message_id: int) -> None:
        """Give the message the other role, unless it is a running reply."""
        message = self._storage.read.messages.message(message_id)
        if message is None or message.status.under_way:
            return
        role = _other(message.role)
        self._changes.write(
            lambda stores: stores.messages.set_role(message_id, role),
            lambda _: self.branch_changed.emit(message.chat_id),
            what=("role", message_id),
        )

    def pin(self, message_id: int, pinned: bool) -> None:
        """Pinned, it stays in the prompt of a long chat, with the exchange that it is in."""
        self._changes.write(
            lambda stores: stores.messages.pin(message_id, pinned),
            lambda _: self._transcript.note_pin(message_id, pinned),
            what=("pinned message", message_id),
        )

    def count_following(self, message_id: int) -> int:
        """Number of messages after it, in all its branches."""
        message = self._storage.read.messages.message(message_id)
        return 0 if message is None else self._storage.read.messages.count_below(message)

    def delete(self, message_id: int, following: bool = False) -> None:
        """Move to the Trash: this message alone, or with all that follows."""
        message = self._storage.read.messages.message(message_id)
        if message is None:
            return
        gone = 1 + self.count_following(message_id) if following else 1

        def done() -> None:
            self._asking.stop_deleted(message.chat_id)
            self.branch_changed.emit(message.chat_id)
            self.deleted.emit(message_id, gone)

        self._deletions.delete_message(message, following, done)

    def _end(self, message_id: int) -> None:
        if self._edits.pop(message_id, None) is not None:
            self._ended.add(message_id)
            for what in ("edit", "attached"):  # also refused ones
                self._keeping.keep((what, message_id), lambda stores: stores.edits.drop(message_id))
            self.ended.emit(message_id)

    def _put(self, edit: Edit) -> None:
        self._ended.discard(edit.message_id)
        self._edits[edit.message_id] = edit
        self._keeping.keep_soon(("edit", edit.message_id), lambda stores: stores.edits.put(edit), edit)

    def _keep_attached(self, edit: Edit) -> None:
        self._keeping.keep(("attached", edit.message_id), lambda stores: stores.edits.put_with_attachments(edit), edit)

    def _show(self, message_id: int) -> None:
        if self._transcript.row_of(message_id) is not None:
            edit = self._edits.get(message_id)
            self._transcript.change(message_id, edit=None if edit is None else _shown(edit))


def _words(edit: Edit) -> tuple[object, ...]:
    """What the user has put into the field."""
    attached = None if edit.attachments is None else [each.content for each in edit.attachments]
    return edit.text, attached


def can_drop(text: str, attachments: int) -> bool:
    return bool(text.strip()) or attachments > 1


def _shown(edit: Edit) -> EditView:
    return EditView(edit.kind, edit.role is _USER, edit.text)


def _other(role: MessageRole) -> MessageRole:
    return _USER if role is _ASSISTANT else _ASSISTANT
