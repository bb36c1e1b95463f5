"""Files and long texts attached to a message that is not sent yet: reading, counting, storing.

A thread reads the files one after another. Attachments are stored by chat, across restarts, until their message is on
disk; so are those of a message that is being edited or inserted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.controllers.asking import block_of
from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.token_counts import count_tokens
from app.documents.picture_values import Image, as_stored, image_of
from app.documents.problems import NotAttached, Refused, WhyNot
from app.documents.reading import MOST_SEARCHED_BYTES, kept, name_of, read_file
from app.storage import Attachment, AttachmentKind, Attachments, EditKind, Storage, Stores
from app.storage.project_files import FileState, ProjectFile
from app.system.limited_child import ChildStopped, Stop
from app.system.worker import JobThread, ignore
from app.view_models.attached import AttachedModel, AttachedRow, attachments_of, row_of
from app.view_models.model_list import PairState
from engine import ChatEngine, PictureDetail, picture_tokens

MOST_FILES = 20
_CLOSE_S = 5.0
_READ_ON_S = 1.0  # at the end of the app, before what is still being read is given up
_PAUSE_MS = 400  # in typing, after which passages are looked for


class _Rows:
    """The attachments, by place: a chat's id, or the negative number of a message's edit field."""

    def __init__(self) -> None:
        self._rows: dict[int, list[AttachedRow]] = defaultdict(list)
        self._numbers = count(1)

    def __getitem__(self, place: int) -> list[AttachedRow]:
        return self._rows[place]

    def put(self, place: int, attachments: Attachments) -> None:
        """In place of what was there."""
        self._rows[place] = [row_of(each, next(self._numbers)) for each in attachments]

    def add(self, place: int, attachment: Attachment) -> None:
        self._rows[place].append(row_of(attachment, next(self._numbers)))

    def begin(self, place: int, name: str) -> int:
        """A file that is to be read; returns the number of its row."""
        self._rows[place].append(AttachedRow(next(self._numbers), name))
        return self._rows[place][-1].number

    def move(self, place: int, to: int) -> None:
        self._rows[to] += self._rows.pop(place)

    def pop(self, place: int) -> list[AttachedRow]:
        return self._rows.pop(place, [])

    def take(self, number: int) -> tuple[int, AttachedRow] | None:
        """Out of its place; returns that with it. None: it was removed already."""
        for place, rows in self._rows.items():
            if (row := next((each for each in rows if each.number == number), None)) is not None:
                self._rows[place] = [each for each in rows if each is not row]
                return place, row
        return None

    def drop(self, *numbers: int) -> None:
        for place, rows in self._rows.items():
            self._rows[place] = [row for row in rows if row.number not in numbers]

    def change(self, number: int, change: Callable[[AttachedRow], AttachedRow]) -> int | None:
        """Returns the row's place; None if it was removed."""
        for place, rows in self._rows.items():
            if any(row.number == number for row in rows):
                self._rows[place] = [change(row) if row.number == number else row for row in rows]
                return place
        return None

    def digests(self) -> set[str]:
        """Digests of all pictures, in all places."""
        return {row.attachment.digest for rows in self._rows.values() for row in rows if row.attachment} - {""}

    def forget_tokens(self) -> None:
        for place, rows in self._rows.items():
            self._rows[place] = [replace(row, tokens=None) for row in rows]


class AttachmentController(QObject):
    """`model` has the rows of the open chat."""

    refused = Signal(object)  # list[NotAttached]: of one drop, paste or choice
    tokens_changed = Signal(int, int)  # of what is attached and not sent; what the model holds, 0: not known
    set_changed = Signal(int)  # of what is attached in this place
    put_back = Signal(str)  # a text that was attached is to go into the message

    def __init__(
        self,
        engine: ChatEngine,
        storage: Storage,
        models: ModelController,
        chats: ChatController,
    ) -> None:
        super().__init__(chats)
        self._engine = engine
        self._storage = storage
        self._models = models
        self._chats = chats
        self.model = AttachedModel(self)
        self._rows = _Rows()
        self._fields: dict[int, AttachedModel] = {}  # by message
        self._stops: dict[int, Stop] = {}  # of the files that are being read
        self._made: dict[int, Attachment] = {}  # read, and not yet taken; written by the reader's thread
        self._paths: dict[int, str] = {}  # of rows that were read from files in this run
        self._problems: list[NotAttached] = []
        self._reader = JobThread("attachment reader", storage.deliver)
        self._counting: set[tuple[int, Attachment]] = set()  # by row: one may get another attachment meanwhile
        self._counted_by: tuple[str, PictureDetail] | None = None  # the main model whose tokens the rows have
        self._typed = ""  # in the composer
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._find_passages)
        models.pair_changed.connect(self._on_pair)
        chats.options.changed.connect(self._on_pair)
        chats.asking.message_sent.connect(self._on_sent)
        chats.deletions.emptied.connect(self._on_emptied)
        chats.documents.changed.connect(lambda _place: self._on_documents())
        chats.edits.ended.connect(self._close_field)
        chats.current_chat_changed.connect(self._on_chat)
        rows = chats.transcript
        came = rows.was_reset, rows.message_inserted, rows.messages_prepended
        for rows_changed in (*came, rows.message_changed, rows.messages_removed):
            rows_changed.connect(lambda *_: self._count_fields())
        self._restore()

    def _restore(self) -> None:
        for chat_id, attachments in self._storage.read.unsent.attachments().items():
            self._rows.put(chat_id, attachments)
        self._on_pair()
        self._storage.write(lambda stores: self._storage.pictures.sweep(stores.database), ignore, ignore)

    def _on_chat(self) -> None:
        self._show()
        self._count_all()
        self._look_again()

    def _on_documents(self) -> None:
        self._show()
        self._look_again()

    def take_over(self, chat_id: int) -> None:
        """What was attached to a message of a deleted chat comes into the open one."""
        for row in self._rows[chat_id]:
            if row.kind is AttachmentKind.SEARCHED:
                self._bring(row.number, -chat_id, row.name, self._chats.chat_id)
        self._rows.move(chat_id, self._chats.chat_id)
        for place in (chat_id, self._chats.chat_id):
            self._changed(place)

    # Fields of messages

    def in_field(self, message_id: int) -> AttachedModel:
        """What the message will have when its field is saved; nothing where that is over."""
        if not self._chats.edits.is_open(message_id):
            return AttachedModel(self)
        if message_id not in self._fields:
            self._fields[message_id] = AttachedModel(self)
            self._rows.put(-message_id, self._chats.edits.attached(message_id))
            self._fields[message_id].set_rows(list(self._rows[-message_id]))
            self._count_all()
        return self._fields[message_id]

    def _count_fields(self) -> None:
        """Those of the branch that is shown, in sight or not."""
        for message in self._chats.transcript.messages:
            if message.edit is not None:
                self.in_field(message.id)
        self._report_tokens()

    def _added_tokens(self, message_id: int) -> int:
        """What the field brings that its message did not have when its tokens were counted."""
        message = self._chats.transcript.message(message_id)
        if message is None or message.edit is None or not message.edit.from_user:
            return 0
        had = message.attachments if message.edit.kind is EditKind.EDIT else ()
        known = {each.content for each in had}
        read = [(row, row.attachment) for row in self._rows[-message_id] if row.attachment is not None]
        return sum(row.tokens or 0 for row, each in read if each.content not in known)

    def _close_field(self, message_id: int) -> None:
        if message_id in self._fields:
            self._stop_reading(self._rows.pop(-message_id))
            self._fields.pop(message_id).set_rows([])

    def _stop_reading(self, rows: Iterable[AttachedRow]) -> None:
        for row in rows:
            if (stop := self._stops.pop(row.number, None)) is not None:
                stop.ask()

    def add_files(
        self, paths: Sequence[str], message_id: int = 0, *, only_end: bool = False, chat_id: int | None = None
    ) -> None:
        """Paths of what was dropped, pasted or chosen; each becomes a row at once, and is read then.

        `chat_id`: not for the open chat.
        """
        place = -message_id or (self._chats.chat_id if chat_id is None else chat_id)
        for path in dict.fromkeys(paths):
            if self._refuses_more(place, name_of(Path(path))):
                break
            self._read(path, place, only_end)
        self.set_changed.emit(place)
        self._show()

    def add_image(self, image: object, message_id: int = 0) -> None:
        """One without a file, which was pasted or dropped."""
        place = -message_id or self._chats.chat_id
        if not isinstance(image, Image) or image.isNull():
            self._refuse(NotAttached("", WhyNot.IMAGE))
        elif not self._refuses_more(place, ""):
            self._begin(place, "", lambda: kept(as_stored(image), "", self._storage.pictures.put), Stop())
            self.set_changed.emit(place)
            self._show()

    def _refuses_more(self, place: int, name: str) -> bool:
        if full := len(self._rows[place]) >= MOST_FILES:
            self._refuse(NotAttached(name, WhyNot.TOO_MANY, MOST_FILES))
        return full

    def add_text(self, text: str, message_id: int = 0) -> None:
        """A long text that was pasted; it is there at once."""
        data = text.encode("utf-8", "replace")
        self.add(Attachment("", AttachmentKind.PASTED, data.decode("utf-8").replace("\0", ""), len(data)), message_id)

    def add(self, attachment: Attachment, message_id: int = 0) -> None:
        place = -message_id or self._chats.chat_id
        self._rows.add(place, attachment)
        self._changed(place)
        self._count_all()

    def remove(self, number: int) -> None:
        if (stop := self._stops.pop(number, None)) is not None:
            stop.ask()
        if (taken := self._rows.take(number)) is None:
            return
        place, row = taken
        if row.kind is AttachmentKind.PASSAGES:
            self._chats.tools.leave_out_passages(place, True)
        elif row.kind is AttachmentKind.SEARCHED and place >= 0:
            self._forget_document(place, row.name)
        self._changed(place)

    def search_in(self, number: int) -> None:
        """Have what is attached searched, instead of read whole by the model. It stays where the disk refuses that."""
        row = self.model.row(number)
        if row is not None and row.attachment is not None:
            self._search(number, self._paths.get(number, ""), row.attachment, self._chats.chat_id)

    def search_in_file(self, path: str) -> None:
        """In one that is too long to attach."""
        number = self._rows.begin(self._chats.chat_id, _name(path))
        self._show()
        self._search(number, path, None, self._chats.chat_id)

    def _search(self, number: int, path: str, attached: Attachment | None, chat_id: int) -> None:
        named = self._chats.tools.documents(chat_id)
        taken = {name for name, (place, _) in named.items() if place != -chat_id}

        def added(file: ProjectFile | None) -> None:
            if file is None:
                if attached is None:
                    self._rows.drop(number)
                    self._show()
                return
            searched = Attachment(file.name, AttachmentKind.SEARCHED, "", file.size_bytes)
            place = self._rows.change(number, lambda _row: row_of(searched, number))
            if place is None:  # removed meanwhile
                self._forget_document(chat_id, file.name)
                return
            if place != chat_id:  # another chat took it over
                self._bring(number, -chat_id, file.name, place)
            self._changed(place)
            self._count_all()

        name, text = (attached.name, attached.text) if attached is not None else ("", "")
        self._chats.documents.add_one(-chat_id, path, name, text, taken, added)

    def _bring(self, number: int, place: int, name: str, chat_id: int) -> None:
        """The document of a row out of a place into a chat's."""

        def taken(path: str, text: str) -> None:
            attached = Attachment(name, AttachmentKind.TEXT, text, 0) if text else None
            self._search(number, path, attached, chat_id)

        self._chats.documents.take(place, name, taken)

    def _on_emptied(self, chats: Sequence[int]) -> None:
        """Nothing is kept that is read for a chat that was deleted for good, nor documents of such messages."""
        for chat_id in chats:
            self._stop_reading(self._rows.pop(chat_id))
        self.forget_documents()

    def forget_documents(self) -> None:
        """Those of chats that no row and no message has."""
        for chat_id, files in self._chats.documents.of_chats().items():
            for file in files:
                self._forget_document(chat_id, file.name)

    def _forget_document(self, chat_id: int, name: str) -> None:
        """Unless another row or a message has it, too."""

        def answered(is_sent: bool) -> None:
            waiting = (row for row in self._rows[chat_id])
            wanted = (row.name == name if row.attachment else row.name in name for row in waiting)
            if not is_sent and not any(wanted):
                self._chats.documents.take(-chat_id, name)

        self._storage.count(lambda stores: stores.messages.has_document(chat_id, name), answered)

    def put_into_message(self, number: int) -> None:
        row = self.model.row(number)
        if row is not None and row.attachment is not None:
            self.remove(number)
            self.put_back.emit(row.attachment.text)

    def show_passages_for(self, text: str) -> None:
        """What of the documents will go with it, for a model that cannot search; as an attachment like any other."""
        self._typed = text.strip()
        self._look_again()
        if not self._typed:
            self._pause.stop()
            self._put_passages(())

    def _look_again(self) -> None:
        if self._typed:
            self._pause.start()

    def _find_passages(self) -> None:
        asked = self._chats.chat_id, self._typed

        def found(passages: Attachments) -> None:
            if asked == (self._chats.chat_id, self._typed):
                self._put_passages(passages)

        self._chats.asking.find_passages(*asked, found)

    def _put_passages(self, passages: Attachments) -> None:
        rows = self._rows[self._chats.chat_id]
        before = [row for row in rows if row.kind is AttachmentKind.PASSAGES]
        if [row.attachment for row in before] != list(passages):
            self._rows.drop(*(row.number for row in before))
            for each in passages:
                self._rows.add(self._chats.chat_id, each)
            self._show()
            self._count_all()

    def _on_sent(self, chat_id: int, _text: str, attached: Sequence[AttachedRow]) -> None:
        """What went with the message is on disk, at once or when it was tried again."""
        self._chats.tools.leave_out_passages(chat_id, False)
        if sent := {row.number for row in attached}:
            self._rows.drop(*sent)
            self._changed(chat_id)

    def read_picture(self, digest: str, done: Callable[[Image | None, str], None]) -> None:
        """One of a stored message: None where it is missing or damaged, and the path of its file; later."""

        def read(_stores: Stores) -> tuple[Image | None, str]:
            data = self._storage.pictures.get(digest)
            file = self._storage.pictures.path(digest)
            return image_of(data) if data is not None else None, str(file or "")

        self._storage.count(read, lambda found: done(*found))

    def close(self) -> bool:
        """What is read in a moment, such as a pasted picture that exists nowhere else, is kept."""
        in_time = self._reader.close(_READ_ON_S)
        for stop in self._stops.values():
            stop.ask()
        for number, attachment in list(self._made.items()):
            self._take(number, attachment)
        return in_time or self._reader.close(_CLOSE_S)

    def _read(self, path: str, place: int, only_end: bool) -> None:
        number = 0
        stop = Stop()
        put = self._storage.pictures.put

        def report(share: float) -> None:
            self._storage.deliver(partial(self._progress, number, share))

        job = partial(read_file, Path(path), stop, report, put, only_end=only_end)
        number = self._begin(place, path, job, stop)
        self._paths[number] = path

    def _begin(self, place: int, path: str, job: Callable[[], Attachment], stop: Stop) -> int:
        """A row for what `job` reads; returns its number."""
        number = self._rows.begin(place, _name(path))
        self._stops[number] = stop

        def make() -> Attachment:
            self._made[number] = made = job()
            return made

        self._reader.ask(make, partial(self._on_read, number), partial(self._on_failed, number, path))
        return number

    def _progress(self, number: int, share: float) -> None:
        self._rows.change(number, lambda row: replace(row, progress=share))
        self._show()

    def _on_read(self, number: int, attachment: Attachment) -> None:
        if self._take(number, attachment):
            self._count_all()
        self._report_refused()
        self._storage.pictures.give_up(attachment.digest)

    def _take(self, number: int, attachment: Attachment) -> bool:
        """False: its row was removed meanwhile."""
        self._made.pop(number, None)
        place = self._rows.change(number, lambda _row: row_of(attachment, number))
        if self._stops.pop(number, None) is None or place is None:
            return False
        self._changed(place)
        return True

    def _on_failed(self, number: int, path: str, error: Exception) -> None:
        wanted = self._stops.pop(number, None) is not None
        place = self._rows.change(number, lambda row: row) or 0
        self._rows.drop(number)
        self._show()
        if wanted and isinstance(error, Refused):
            self._problems.append(_not_attached(path, error, is_open=place == self._chats.chat_id))
        self._report_refused()
        if not isinstance(error, Refused | ChildStopped):
            raise error  # our own mistake, reported like any other

    def _refuse(self, problem: NotAttached) -> None:
        self._problems.append(problem)
        self._report_refused()

    def _report_refused(self) -> None:
        """Of several files together, once the last of them is read."""
        if self._problems and not self._stops:
            problems = self._problems
            self._problems = []
            self.refused.emit(problems)

    def _on_pair(self) -> None:
        """Another main model has other tokens; one that was unloaded keeps what it counted."""
        info = self._models.main_info()
        by = None if info is None else (info.folder, self._chats.options.here.picture_detail)
        if by is not None and self._models.pair.state is PairState.READY and by != self._counted_by:
            self._counted_by = by
            self._counting.clear()
            self._rows.forget_tokens()
        self._show()
        self._count_all()
        self._look_again()

    def _count_all(self) -> None:
        """Asks for the counts that the open chat and the fields lack."""
        if self._models.main_info() is None or self._models.pair.state is not PairState.READY:
            return
        in_fields = [row for message_id in self._fields for row in self._rows[-message_id]]
        for row in (*self._rows[self._chats.chat_id], *in_fields):
            if row.tokens is not None or row.attachment is None or (row.number, row.attachment) in self._counting:
                continue
            self._counting.add((row.number, row.attachment))
            counted = partial(self._on_counted, row.number, row.attachment, self._counted_by)
            if row.attachment.is_picture:
                self._count_picture(row.attachment, counted)
            else:
                count_tokens(self._engine, self._storage.deliver, block_of(row.attachment), counted)

    def _count_picture(self, picture: Attachment, counted: Callable[[int], None]) -> None:
        """From its size alone, by the thread that reads files. A model that does not see takes none."""
        info = self._models.main_info()
        detail = self._chats.options.here.picture_detail

        def count() -> int:
            sees = info is not None and info.sees
            return picture_tokens(info.folder, picture.width, picture.height, detail) if info and sees else 0

        self._reader.ask(count, counted, lambda _error: counted(0))

    def _on_counted(
        self, number: int, what: Attachment, by: tuple[str, PictureDetail] | None, tokens: int | None
    ) -> None:
        if by == self._counted_by:
            self._counting.discard((number, what))
            if tokens is not None:
                self._put_tokens(number, what, tokens)

    def _put_tokens(self, number: int, what: Attachment, tokens: int) -> None:
        place = self._rows.change(number, lambda row: replace(row, tokens=tokens) if row.attachment == what else row)
        self._show()
        # A message that is edited has the tokens, too.
        if place is not None and place < 0 and self._chats.edits.has_attached(-place):
            self._chats.edits.attach(-place, attachments_of(self._rows[place]))

    def _changed(self, place: int) -> None:
        """Has what waits there kept on disk, but for passages, which are looked for again."""
        attachments = attachments_of([row for row in self._rows[place] if row.kind is not AttachmentKind.PASSAGES])
        if place < 0:
            self._chats.edits.attach(-place, attachments)
        else:
            self._chats.keeping.keep_attachments(place, attachments)
        self.set_changed.emit(place)
        self._show()

    def _show(self) -> None:
        self._storage.pictures.take_in_hand(self._rows.digests())
        for message_id, model in self._fields.items():
            model.set_rows(list(self._rows[-message_id]))
        self.model.set_rows([self._as_read(row) for row in self._rows[self._chats.chat_id]])
        self._report_tokens()

    def _as_read(self, row: AttachedRow) -> AttachedRow:
        """With a share done while a document that is to be searched is read."""
        if row.kind is not AttachmentKind.SEARCHED:
            return row
        states = {each.name: each.state for each in self._chats.documents.files(-self._chats.chat_id)}
        reads = states.get(row.name) in (FileState.WAITS, FileState.READING)
        return replace(row, progress=0.0 if reads else None)

    def _report_tokens(self) -> None:
        info = self._models.main_info()
        tokens = self.model.tokens + sum(map(self._added_tokens, self._fields))
        self.tokens_changed.emit(tokens, info.context_tokens or 0 if info is not None else 0)


def _not_attached(path: str, error: Refused, *, is_open: bool) -> NotAttached:
    """With its path where the composer can take it another way: to search in it, or its end alone."""
    has_end = error.why in (WhyNot.TOO_LARGE, WhyNot.TOO_LONG) and Path(path).suffix.lower() not in (".pdf", ".docx")
    can_search = error.why is WhyNot.TOO_LONG or (has_end and _size(path) <= MOST_SEARCHED_BYTES)
    goes_on = is_open and (has_end or can_search)
    return NotAttached(_name(path), error.why, error.limit, path if goes_on else "", can_search, has_end)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _name(path: str) -> str:
    """Of a file; what was pasted has none."""
    return name_of(Path(path)) if path else ""
