"""The controllers of attachments, exports and imports, and the token counters."""

from __future__ import annotations

from app.bridge import EngineBridge
from app.controllers.attachments import AttachmentController, TypedTokens
from app.controllers.chat import ChatController
from app.controllers.exports import ExportController
from app.controllers.imports import ImportController
from app.controllers.models import ModelController
from app.storage import Storage
from app.system.worker import Deliver
from engine import ChatEngine


class FileControllers:
    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        models: ModelController,
        chats: ChatController,
        deliver: Deliver,
    ) -> None:
        self.attachments = AttachmentController(engine, bridge, storage, models, chats, deliver)
        self.typed = TypedTokens(engine, bridge, models, chats)
        self.shared = TypedTokens(engine, bridge, models, chats)  # of what all chats of a project begin with
        self.exports = ExportController(storage, deliver, chats.options, chats.documents, chats.keep, chats)
        self.imports = ImportController(storage, chats, deliver)

    def close(self) -> None:
        for controller in (self.attachments, self.exports, self.imports):
            controller.close()
