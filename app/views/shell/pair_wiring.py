"""The pair as the window shows it: in the chip, and in what the composer and an empty chat say of the model."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import STARTER_EYES, STARTER_EYES_NAME, STARTER_FOLDER, STARTER_NAME, Settings
from app.view_models.model_list import PairState, PairView
from app.views.shell.empty_chat import EmptyChat
from app.views.shell.window_parts import WindowParts


class PairWiring(QObject):
    """Until `bind` it shows what will be loaded."""

    def __init__(self, parts: WindowParts, empty_chat: EmptyChat, settings: Settings) -> None:
        super().__init__(parts.window)
        self._chip, self._composer = parts.header.chip, parts.composer
        self._empty_chat, self._settings = empty_chat, settings
        if folder := settings.main_folder:
            name = {STARTER_FOLDER: STARTER_NAME, STARTER_EYES: STARTER_EYES_NAME}.get(folder) or Path(folder).name
            self._show(PairView(name, state=PairState.LOADING))

    def bind(self, models: ModelController, chats: ChatController) -> None:
        def follow() -> None:
            self._composer.ring.set_room(*models.context_room())
            self._show(chats.options.pair_here(models.pair))

        for changed in (models.pair_changed, models.library.changed, chats.options.changed):
            changed.connect(follow)
        follow()

    def _show(self, pair: PairView) -> None:
        folder, has_model = self._settings.main_folder, pair.state != PairState.NO_MODEL
        self._chip.set_pair(pair)
        self._composer.show_for(folder if has_model else "")
        self._empty_chat.show_for(folder == STARTER_FOLDER, has_model)
