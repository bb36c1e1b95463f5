"""Where the engine looks for models: the hub as the settings name it, and the folders that the user added."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.settings import Settings
from engine import HubAccess, ModelLibrary


class ModelSources(QObject):
    went_online = Signal()  # the store knows it already

    def __init__(self, store: ModelLibrary, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._settings = settings
        settings.changed.connect(self._on_setting)

    def start(self) -> None:
        self._tell_hub()
        self._store.set_folders(self._settings.model_folders)
        self._store.scan()

    def add_folder(self, path: str) -> None:
        if path not in self._settings.model_folders:
            self._set_folders((*self._settings.model_folders, path))

    def remove_folder(self, path: str) -> None:
        self._set_folders(tuple(each for each in self._settings.model_folders if each != path))

    def set_endpoint(self, typed: str) -> None:
        """The token goes along only where scheme, host and port stay; a hub that had one before has it again."""
        self._settings.hub_endpoint = _as_address(typed.strip())

    def set_token(self, typed: str) -> None:
        """Of the hub at the address in use, and of no other."""
        self._settings.hub_token = typed.strip()

    def set_mirrors(self, typed: Sequence[str]) -> None:
        self._settings.hub_mirrors = tuple(dict.fromkeys(_as_address(mirror) for mirror in typed))

    def set_proxy(self, typed: str) -> None:
        self._settings.hub_proxy = _as_address(typed.strip(), "http")

    def allow_token_in_clear(self, allowed: bool) -> None:
        """Whether the token may go to another machine over plain http, where it can be read on the way."""
        self._settings.hub_token_in_clear = allowed

    def _on_setting(self, name: str) -> None:
        if name.startswith("hub_") or name == "download_limit":
            self._tell_hub()
        if name == "hub_offline" and not self._settings.hub_offline:
            self.went_online.emit()

    def _tell_hub(self) -> None:
        settings = self._settings
        self._store.set_hub(
            HubAccess(
                settings.hub_endpoint,
                settings.hub_token,
                settings.hub_token_in_clear,
                settings.hub_mirrors,
                settings.hub_proxy,
                settings.hub_offline,
            )
        )
        self._store.set_limit(settings.download_limit)

    def _set_folders(self, folders: tuple[str, ...]) -> None:
        self._settings.model_folders = folders
        self._store.set_folders(folders)
        self._store.scan()


def _as_address(typed: str, scheme: str = "https") -> str:
    """Adds the scheme that users leave out."""
    return f"{scheme}://{typed}" if typed and "://" not in typed else typed
