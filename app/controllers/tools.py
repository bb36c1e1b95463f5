"""Tools for chats: which there are, which a chat may use, and running one. `exchange` decides what runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import StorageChanges
from app.controllers.chat_options import FOLDERS, TOOLS, ChatOptions
from app.controllers.models import ModelController
from app.controllers.project_files import Named, ProjectFilesController
from app.controllers.token_counts import count_tokens
from app.storage import Attachment, AttachmentKind, Attachments, Storage
from app.storage.consents import EVERY_CHAT, Consent
from app.storage.project_files import Passage
from app.system.limited_child import Stop
from app.system.worker import ask_once, ignore
from app.tools.builtin.tool import BUILT_IN, BuiltIn, Reach
from app.tools.citing import fitting, passages_text
from app.tools.definitions import Tool, ToolResult, by_flat_name
from app.tools.gate import Consents
from app.tools.wire import ConnectionState
from app.view_models.tools import CanCall, ServerRow, ToolRow
from engine import ChatEngine

_ONLY_DOCUMENTS = "/search_files"
_OF_DOCUMENTS = (_ONLY_DOCUMENTS, "/read_file")  # on in each chat that has documents
_MOST_PASSAGES = 12  # for a message
_MOST_COUNTED = 5_000

Cancel = Callable[[], None]
Listed = Callable[[tuple[Tool, ...]], None]


class ToolSource(Protocol):
    """Servers of tools. All calls and answers are on the GUI thread."""

    def rows(self) -> tuple[ServerRow, ...]:
        """Without their tools."""
        ...

    def name_of(self, server: str) -> str: ...

    def known(self, server: str) -> tuple[Tool, ...]:
        """Its tools as they were listed last."""
        ...

    def listed(self, server: str, done: Listed) -> None:
        """Its tools as it describes them now; () if it does not answer. Starts it."""
        ...

    def call(self, tool: Tool, arguments: str, done: Callable[[ToolResult], None]) -> Cancel:
        """Ended within 100 ms by what is returned."""
        ...


class KeptConsents(Consents):
    """Kept in the database."""

    def __init__(self, storage: Storage, changes: StorageChanges) -> None:
        super().__init__()
        self._storage = storage
        self._changes = changes

    def put(self, chat_id: int, consent: Consent) -> None:
        super().put(chat_id, consent)
        self._store(chat_id, consent)

    def _store(self, chat_id: int, consent: Consent) -> None:
        def again() -> None:
            if consent in self.all(chat_id):  # it was not ended since
                self._store(chat_id, consent)

        self._changes.write(lambda stores: stores.consents.put(chat_id, consent), ignore, again=again)

    def end(self, chat_id: int, server: str, tool: str | None = None) -> None:
        super().end(chat_id, server, tool)
        self._changes.write(lambda stores: stores.consents.end(server, tool, chat_id), ignore)

    def all(self, chat_id: int = EVERY_CHAT) -> tuple[Consent, ...]:
        """That hold in a chat, or in every one."""
        return tuple(self._of_chat(chat_id).values())

    def end_all(self, server: str, tool: str | None = None) -> None:
        """Everywhere, of a tool or of all tools of a server."""
        for chat_id in self._known:
            super().end(chat_id, server, tool)
        self._changes.write(lambda stores: stores.consents.end(server, tool), ignore)

    def _of_chat(self, chat_id: int) -> dict[tuple[str, str, str], Consent]:
        if chat_id not in self._known:
            stored = self._storage.read.consents.of_chat(chat_id)
            self._known[chat_id] = {(each.server, each.tool, each.subject): each for each in stored}
        return self._known[chat_id]


class ToolsController(QObject):
    changed = Signal()  # tools, servers or the open chat's choice

    def __init__(
        self,
        engine: ChatEngine,
        storage: Storage,
        changes: StorageChanges,
        options: ChatOptions,
        documents: ProjectFilesController,
        models: ModelController,
    ) -> None:
        super().__init__(options)
        self._servers: ToolSource | None = None
        self._engine = engine
        self._storage = storage
        self._options = options
        self._documents = documents
        self._without_passages: set[int] = set()  # chats
        self._models = models
        self.consents = KeptConsents(storage, changes)
        self._tokens: dict[str, int] = {}  # of a tool's definition, by its digest
        self._counting: set[str] = set()
        self._has_counted = False  # something that is not shown yet
        self._counted_by = ""
        options.changed.connect(self.changed)
        documents.changed.connect(self.changed)
        models.pair_changed.connect(self._on_pair)

    def use_servers(self, servers: ToolSource) -> None:
        self._servers = servers
        self.changed.emit()

    # What there is, for the views

    def can_call(self) -> CanCall:
        """Whether the model of the next reply can call tools."""
        info = self._models.main_info()
        if info is None:
            return CanCall.NO_MODEL
        return CanCall.YES if info.calls_tools else CanCall.MODEL_CANNOT

    def models_that_can(self) -> tuple[str, ...]:
        """Names of installed models that can call tools."""
        infos = (each.info for each in self._models.library.installed if each.info is not None)
        return tuple(info.name for info in infos if info.drafter is None and info.calls_tools)

    def chat_tools(self) -> tuple[ServerRow, ...]:
        """The groups of tools that the open chat may use: those that are built in first."""
        chosen = set(self.chosen)
        fixed = set(self._of_documents(self._options.chat_id))
        here = [each for each in self._built_in() if each.id in fixed or each.id != _ONLY_DOCUMENTS]
        rows = (replace(row, fixed=row.id in fixed) for row in self._tool_rows(here, chosen))
        built_in = ServerRow(BUILT_IN, "", tools=tuple(rows))
        return (built_in, *(replace(row, tools=self._tool_rows(self._known(row.id), chosen)) for row in self._rows()))

    @property
    def chosen(self) -> tuple[str, ...]:
        """Ids of the tools that the open chat may use."""
        return self.chosen_in(self._options.chat_id)

    def chosen_in(self, chat_id: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._options.texts(chat_id, TOOLS), *self._of_documents(chat_id))))

    def documents_of(self, chat_id: int) -> tuple[int, ...]:
        """The places of a chat's documents."""
        return self._documents.places_of(chat_id, self._options.folder_of(chat_id))

    def documents(self, chat_id: int | None = None) -> Named:
        """Of a chat, or of the open one."""
        return self._documents.by_name(self.documents_of(self._options.chat_id if chat_id is None else chat_id))

    def read_cited(self, name: str, page: int, done: Callable[[str, str, int], None]) -> None:
        """The text and path of a document of the open chat, and the page that the text is of; 0: all, or no such page.

        Nothing where it is none.
        """
        if name in (documents := self.documents()):
            place, file = documents[name]

            def read(text: str) -> None:
                if text or not page:
                    done(text, file.path, page)
                else:
                    self.read_cited(name, 0, done)

            self._documents.text(place, file.id, read, page or None)

    def passages(self, chat_id: int, question: str, context_tokens: int, done: Callable[[Attachments], None]) -> None:
        """For a model that cannot search by itself: what of the documents fits best, as an attachment; () at once where
        there is none to search, or `leave_out_passages` was asked for.
        """
        places = self.documents_of(chat_id)
        if not places or not question or chat_id in self._without_passages or self.can_call() is CanCall.YES:
            done(())
            return

        def found(passages: list[Passage]) -> None:
            text = passages_text(fitting(passages, context_tokens))
            done((Attachment("", AttachmentKind.PASSAGES, text, len(text.encode())),) if text else ())

        self._documents.search(places, question, _MOST_PASSAGES, found)

    def leave_out_passages(self, chat_id: int, leave_out: bool) -> None:
        """From messages of that chat."""
        (self._without_passages.add if leave_out else self._without_passages.discard)(chat_id)

    def _of_documents(self, chat_id: int) -> tuple[str, ...]:
        """Ids of the tools that are on because a chat has documents."""
        return _OF_DOCUMENTS if self.documents_of(chat_id) else ()

    def list_unknown(self) -> None:
        """Ask the servers that are on, and were not asked in this run, for their tools. Starts them."""
        for row in self._rows():
            is_on = row.state in (ConnectionState.STOPPED, ConnectionState.READY)
            if is_on and not self._known(row.id):
                self.listed(row.id, ignore)

    def set_on(self, ids: Iterable[str], on: bool) -> None:
        """Of the open chat."""
        asked = set(ids)
        kept = [each for each in self._options.texts(self._options.chat_id, TOOLS) if each not in asked]
        self._options.choose_texts(TOOLS, [*kept, *(sorted(asked) if on else ())])

    @property
    def chat_id(self) -> int:
        """Of the open chat."""
        return self._options.chat_id

    @property
    def folders(self) -> tuple[str, ...]:
        """Files and folders that the open chat's tools may read."""
        return self._options.texts(self._options.chat_id, FOLDERS)

    def choose_folders(self, paths: Iterable[str]) -> None:
        """Where they are, if they are links: none is followed later."""
        self._options.choose_texts(FOLDERS, (os.path.realpath(each) for each in paths))

    def ask_again(self, tool_id: str) -> None:
        """End the consent to a tool, in every chat and in each."""
        server, _, tool = tool_id.partition("/")
        self.consents.end_all(server, tool)
        self.changed.emit()

    def _rows(self) -> tuple[ServerRow, ...]:
        return tuple(row for row in (self._servers.rows() if self._servers else ()) if not row.is_removed)

    def _known(self, server: str) -> tuple[Tool, ...]:
        return self._servers.known(server) if self._servers else ()

    def _tool_rows(self, tools: Iterable[Tool], chosen: set[str]) -> tuple[ToolRow, ...]:
        return tuple(self._tool_row(each, each.id in chosen) for each in tools)

    def _tool_row(self, tool: Tool, on: bool) -> ToolRow:
        tokens = self._tokens_of(tool)
        always = self._allowed(tool, EVERY_CHAT)
        in_chat = self._options.chat_id != EVERY_CHAT and self._allowed(tool, self._options.chat_id)
        return ToolRow(tool.id, tool.name, tool.description, tokens, on, always, in_chat)

    def _allowed(self, tool: Tool, chat_id: int) -> bool:
        return any((each.server, each.tool) == (tool.server, tool.name) for each in self.consents.all(chat_id))

    def _tokens_of(self, tool: Tool) -> int:
        """0 until it is counted."""
        tokens = self._tokens.get(tool.digest)
        if tokens is None and self._models.main_info() is not None and len(self._tokens) < _MOST_COUNTED:
            self._tokens[tool.digest] = 0
            text = json.dumps(tool.definition(), ensure_ascii=False)
            self._counting.add(tool.digest)
            counted = partial(self._on_counted, self._counted_by, tool.digest)
            count_tokens(self._engine, self._storage.deliver, text, counted)
        return tokens or 0

    def _on_counted(self, by: str, digest: str, tokens: int | None) -> None:
        """All that are being counted are shown at once: a server may have very many."""
        if by != self._counted_by:
            return
        self._counting.discard(digest)
        if tokens is None:
            self._tokens.pop(digest, None)
        else:
            self._tokens[digest] = tokens
            self._has_counted = True
        if self._has_counted and not self._counting:
            self._has_counted = False
            self.changed.emit()

    def _on_pair(self) -> None:
        info = self._models.main_info()
        folder = "" if info is None else info.folder
        if folder != self._counted_by:
            self._counted_by = folder
            self._tokens.clear()
            self._counting.clear()
        self.changed.emit()

    # For requests and calls

    def offered(self, chat_id: int, done: Listed) -> None:
        """The tools that the next request of a chat has, in an order that stays. At once where no server is needed."""
        chosen = set(self.chosen_in(chat_id))
        if not chosen or self.can_call() is not CanCall.YES:
            done(())
            return
        servers = sorted({each.partition("/")[0] for each in chosen})
        found: list[Tool] = []

        def go_on() -> None:
            if not servers:
                done(tuple(by_flat_name(found).values()))
                return
            self.listed(servers.pop(0), add)

        def add(tools: tuple[Tool, ...]) -> None:
            found.extend(each for each in tools if each.id in chosen)
            go_on()

        go_on()

    def listed(self, server: str, done: Listed) -> None:
        """A server's tools as it describes them now."""
        if server == BUILT_IN:
            done(self._built_in())
        elif self._servers is None:
            done(())
        else:
            self._servers.listed(server, done)

    def start(self, tool: Tool, arguments: str, reach: Reach, done: Callable[[ToolResult], None]) -> Cancel:
        """Only `exchange` calls this, by the gate."""
        if tool.server != BUILT_IN:
            assert self._servers is not None
            return self._servers.call(tool, arguments, done)
        from app.tools.builtin.offered import start

        begin = partial(start, tool.name, arguments, reach, lambda result: self._storage.deliver(partial(done, result)))
        self._documents.once_open(self.documents_of(reach.chat_id), begin)
        return reach.stop.ask

    def keep_pictures(self, pictures: tuple[bytes, ...], done: Callable[[Attachments], None]) -> Cancel:
        """Decode and store pictures of a result."""
        from app.tools.pictures import stored

        stop = Stop()
        job = partial(stored, pictures, self._storage.pictures.put, stop)
        ask_once("tool pictures", self._storage.deliver, job, done, lambda _error: done(()))
        return stop.ask

    def reach(self, chat_id: int, typed: frozenset[str]) -> Reach:
        """What a built-in tool may reach for a chat."""
        paths = {place: self._documents.database(place) for place in self.documents_of(chat_id)}
        documents = {name: (paths[place], file.id) for name, (place, file) in self.documents(chat_id).items()}
        folders = tuple(map(Path, self._options.texts(chat_id, FOLDERS)))
        return Reach(chat_id, typed, folders, documents, self._documents.hear_failed, self._storage.another_reader)

    def name_of(self, server: str) -> str:
        return self._servers.name_of(server) if server and self._servers else ""

    def _built_in(self) -> tuple[Tool, ...]:
        return tuple(each.tool for each in built_in_tools().values())


def built_in_tools() -> dict[str, BuiltIn]:
    """By name. Imported only where they are wanted."""
    from app.tools.builtin.offered import BY_NAME

    return BY_NAME
