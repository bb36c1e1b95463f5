"""Offers once to write a Hunch.app into the user's Applications, where a tool installed Hunch, which has none then."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject

from app.settings import Settings
from app.system.bundle import write_app
from app.system.worker import Worker
from app.views.shell.window_parts import WindowParts
from app.views.widgets.banner import BannerText

_log = logging.getLogger(__name__)


class AppOffer(QObject):
    def __init__(
        self, parts: WindowParts, deliver: Callable[[Callable[[], None]], None], settings: Settings, folder: Path
    ) -> None:
        super().__init__(parts.window)
        self._banner, self._deliver, self._folder = parts.banner, deliver, folder
        settings.app_offered = True
        self._banner.show_offer(_offer, self._write)

    def _write(self) -> None:
        worker = Worker("writing the app", self._deliver)
        worker.ask(partial(write_app, self._folder), self._on_written, self._on_refused)
        worker.close(0.0)  # after that

    def _on_written(self, _app: Path) -> None:
        self._banner.show_info(_written)

    def _on_refused(self, error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error
        _log.warning("the app cannot be written: %s", error.strerror)
        self._banner.show_warning(_refused)


def _offer() -> BannerText:
    return BannerText(
        QCoreApplication.translate("AppOffer", "Hunch then opens from Spotlight and the Dock, like any app."),
        QCoreApplication.translate("AppOffer", "Add Hunch to your Applications?"),
        button=QCoreApplication.translate("AppOffer", "Add"),
    )


def _written() -> BannerText:
    sentence = QCoreApplication.translate("AppOffer", "Hunch is in the Applications folder in your home folder.")
    return BannerText(sentence)


def _refused() -> BannerText:
    return BannerText(
        QCoreApplication.translate("AppOffer", "The Applications folder in your home folder cannot be written to."),
        QCoreApplication.translate("AppOffer", "Hunch was not added"),
    )
