"""Offers Hunch a place in Applications: moved there from its disk image, or written where a tool has installed it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject

from app.settings import Settings
from app.system import bundle
from app.system.worker import Deliver, JobThread
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.banner import BannerText

_log = logging.getLogger(__name__)


class _PlaceOffer(QObject):
    """Does what the user agrees to on a thread of its own: a disk may take long."""

    def __init__(self, window: ShellWindow, deliver: Deliver) -> None:
        super().__init__(window)
        self._banner = window.banner
        self._deliver = deliver

    def _do(self, job: Callable[[], Path], done: Callable[[Path], None], refused: Callable[[], BannerText]) -> None:
        worker = JobThread("a place in Applications", self._deliver)
        worker.ask(job, done, partial(self._on_refused, refused))
        worker.close(0.0)  # after that

    def _on_refused(self, refused: Callable[[], BannerText], error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error
        _log.warning("not put into Applications: %s", error.strerror)
        self._banner.show_warning(refused)


class MoveOffer(_PlaceOffer):
    """Where Hunch.app was started from its disk image, or from a place that macOS made up."""

    def __init__(
        self,
        window: ShellWindow,
        deliver: Deliver,
        end: Callable[[], object],
        app: Path,
        folder: Path = bundle.APPLICATIONS,
    ) -> None:
        """`end` ends this run; the next one waits for it."""
        super().__init__(window, deliver)
        self._end = end
        self._copy = partial(bundle.copy_to, folder, app)
        self._banner.show_warning(_offer, self._move, behind=True)

    def _move(self) -> None:
        self._banner.show_info(_moving, stays=True)
        self._do(self._copy, self._on_moved, _refused)

    def _on_moved(self, target: Path) -> None:
        bundle.start(target)
        self._end()


def _offer() -> BannerText:
    return BannerText(
        QCoreApplication.translate("MoveOffer", "It runs from a temporary place, such as a disk image."),
        QCoreApplication.translate("MoveOffer", "Move Hunch to Applications?"),
        button=QCoreApplication.translate("MoveOffer", "Move and Reopen"),
    )


def _moving() -> BannerText:
    return BannerText(QCoreApplication.translate("MoveOffer", "Moving to Applications…"))


def _refused() -> BannerText:
    return BannerText(
        QCoreApplication.translate("MoveOffer", "Drag Hunch to the Applications folder in Finder."),
        QCoreApplication.translate("MoveOffer", "Hunch could not move itself"),
    )


class AppOffer(_PlaceOffer):
    """Once, where a tool installed Hunch, which has no Hunch.app then: one in the user's Applications."""

    def __init__(self, window: ShellWindow, deliver: Deliver, settings: Settings, folder: Path) -> None:
        super().__init__(window, deliver)
        settings.app_offered = True
        write = partial(bundle.write_app, folder)
        self._banner.show_offer(_offer_to_write, lambda: self._do(write, self._on_written, _not_written))

    def _on_written(self, _app: Path) -> None:
        self._banner.show_info(_written)


def _offer_to_write() -> BannerText:
    return BannerText(
        QCoreApplication.translate("AppOffer", "Hunch then opens from Spotlight and the Dock, like any app."),
        QCoreApplication.translate("AppOffer", "Add Hunch to your Applications?"),
        button=QCoreApplication.translate("AppOffer", "Add"),
    )


def _written() -> BannerText:
    sentence = QCoreApplication.translate("AppOffer", "Hunch is in the Applications folder in your home folder.")
    return BannerText(sentence)


def _not_written() -> BannerText:
    return BannerText(
        QCoreApplication.translate("AppOffer", "The Applications folder in your home folder cannot be written to."),
        QCoreApplication.translate("AppOffer", "Hunch was not added"),
    )
