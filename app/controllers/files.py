"""The controllers of attachments, exports and imports, and the token counters."""

from __future__ import annotations

from app.controllers.attachments import AttachmentController
from app.controllers.chat import ChatController
from app.controllers.exports import ExportController
from app.controllers.imports import ImportController
from app.controllers.models import ModelController
from app.controllers.token_counts import TypedTokens
from app.storage import Storage
from engine import ChatEngine


class FileControllers:
    def __init__(
        self,
        engine: ChatEngine,
        storage: Storage,
        models: ModelController,
        chats: ChatController,
    ) -> None:
        self.attachments = AttachmentController(engine, storage, models, chats)
        self.typed = TypedTokens(engine, storage.deliver, models, chats)
        self.shared = TypedTokens(engine, storage.deliver, models, chats)  # of what all chats of a project begin with
        self.exports = ExportController(storage, chats.options, chats.documents, chats.keep, chats)
        self.imports = ImportController(storage, chats)

    def close(self) -> None:
        for controller in (self.attachments, self.exports, self.imports):
            controller.close()
