"""Notices at a start: repair, unreadable settings, crash, another running Hunch, new version, Applications."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.controllers.updates import Updates
from app.settings import STARTER_FOLDER, Settings
from app.system import bundle
from app.system.crash_marker import SessionMark
from app.system.only_instance import OnlyInstance
from app.system.paths import APP_NAME
from app.system.updates import Channel, UpdateNotice, update_command
from app.system.worker import Deliver, ask_once
from app.theme import Theme
from app.views.shell.shell_window import ShellWindow
from app.views.widgets import clipboard
from app.views.widgets.banner import Banner, BannerText
from app.views.widgets.dialog import Dialog, DialogText
from app.words.formats import count, fill
from app.words.languages import Translation, compiled_sentences

_PATIENCE_MS = 1500
_SILENT_MS = 1000  # an end takes about that long
_LOOK_MS = 100
_log = logging.getLogger(__name__)


class Opening(QTimer):
    """Shows that the chats are being opened, if that takes long: a large file, or a slow disk."""

    def __init__(self, banner: Banner) -> None:
        super().__init__(banner, singleShot=True, interval=_PATIENCE_MS)
        self._banner = banner
        self.timeout.connect(lambda: banner.show_warning(opening))

    def watch(self, *outcomes: Callable[[Any], None]) -> list[Callable[[Any], None]]:
        """Each of the outcomes ends it."""
        self.start()
        return [partial(self._end, outcome) for outcome in outcomes]

    def _end(self, outcome: Callable[[Any], None], result: Any) -> None:
        self.stop()
        self._banner.withdraw(opening)
        outcome(result)


def show(
    banner: Banner,
    settings: Settings,
    mark: SessionMark,
    starter: Path,
    problem: Callable[[], BannerText] | None,
    show_report: Callable[[], None],
) -> None:
    """Show one notice: `problem` of the chats first, then one about a skipped model."""
    left_out = leave_out_suspect(settings, mark, starter)
    if problem is not None:
        banner.show_warning(problem)
    elif settings.file.is_unread or settings.file.set_aside:
        banner.show_warning(lambda: settings_problem(settings.file.set_aside))
    elif mark.ended_badly and left_out is None:
        banner.show_info(crashed, show_report)
    if left_out is not None:
        banner.show_warning(left_out, behind=True)


def refuse_newer_database(theme: Theme, window: QWidget) -> None:
    sentence = QCoreApplication.translate("Application", "Your chats need a newer Hunch.")
    act = QCoreApplication.translate("Application", "Close")
    dialog = Dialog(theme, window, lambda: DialogText(APP_NAME, sentence, act=act))
    dialog.finished.connect(window.close)
    dialog.open()


def unexpected(summary: str) -> BannerText:
    title = QCoreApplication.translate("Application", "Something went wrong in Hunch")
    return BannerText(summary, title, button=QCoreApplication.translate("Application", "Show Report"))


def opening() -> BannerText:
    sentence = QCoreApplication.translate("Application", "You can already type.")
    return BannerText(sentence, QCoreApplication.translate("Application", "Opening your chats…"))


def open_elsewhere(machine: str) -> Callable[[], BannerText]:
    def text() -> BannerText:
        title = fill(QCoreApplication.translate("Application", "Your chats are open on %1"), machine)
        sentence = QCoreApplication.translate("Application", "Quit Hunch there, or words may be lost.")
        hint = QCoreApplication.translate("Application", "If it is not running there, open them here.")
        return BannerText(sentence, title, hint, button=QCoreApplication.translate("Application", "Open Here"))

    return text


def repaired(saved_messages: int, from_copies: int, damaged_file: str, folder: str) -> BannerText:
    sentence = QCoreApplication.translate("Application", "Messages recovered: %1 (%2 from backups).")
    hint = QCoreApplication.translate(
        "Application", "The damaged file, with deleted content, stays in %2 as %1 for 30 days."
    )
    title = QCoreApplication.translate("Application", "Chats repaired")
    return BannerText(
        fill(sentence, count(saved_messages), count(from_copies)), title, fill(hint, damaged_file, folder)
    )


def not_kept() -> BannerText:
    sentence = QCoreApplication.translate("Application", "New chats are lost when you quit.")
    return BannerText(sentence, QCoreApplication.translate("Application", "Not saving chats"))


def settings_problem(set_aside: str) -> BannerText:
    """`set_aside`: where a damaged file is kept; "": the file could not be read."""
    if not set_aside:
        sentence = QCoreApplication.translate(
            "Application",
            "Using defaults. The file is unchanged.",
        )
        return BannerText(sentence, QCoreApplication.translate("Application", "Settings not read"))
    sentence = QCoreApplication.translate("Application", "The old file is kept as %1.")
    return BannerText(fill(sentence, set_aside), QCoreApplication.translate("Application", "Some settings were reset"))


def not_saved(settings: Settings) -> BannerText:
    sentence = QCoreApplication.translate("Application", "Settings apply until you quit.")
    hint = QCoreApplication.translate("Application", "They are too large. Delete presets or shorten system prompts.")
    title = QCoreApplication.translate("Application", "Settings not saved")
    return BannerText(sentence, title, hint if settings.are_too_large else "")


def replaced(model: str) -> BannerText:
    sentence = QCoreApplication.translate("Application", "Hunch quit while loading %1. Using the starter pair.")
    title = QCoreApplication.translate("Application", "Another model is loaded")
    return BannerText(fill(sentence, model), title)


def without_draft(model: str) -> BannerText:
    sentence = QCoreApplication.translate(
        "Application",
        "Hunch quit while loading the draft %1.",
    )
    return BannerText(fill(sentence, model), QCoreApplication.translate("Application", "No draft model"))


def leave_out_suspect(settings: Settings, mark: SessionMark, starter: Path) -> Callable[[], BannerText] | None:
    """If the last run crashed while loading a model of the chosen pair, use another one; returns the notice.

    One that was being exchanged for this pair, or that another program had asked for, is not loaded again anyway.
    """
    suspect = Path(mark.was_loading)
    chosen = settings.draft_folder if mark.was_draft else settings.main_folder
    if not mark.was_loading or starter in suspect.parents or suspect != Path(chosen):
        return None
    if mark.was_draft:
        settings.draft_folder = ""
        return lambda: without_draft(suspect.name)
    settings.main_folder = settings.draft_folder = STARTER_FOLDER
    return lambda: replaced(suspect.name)


def crashed() -> BannerText:
    sentence = QCoreApplication.translate("Application", "Hunch quit unexpectedly. Your chats are safe.")
    return BannerText(sentence, button=QCoreApplication.translate("Application", "Show Report"))


class WaitingStart(QObject):
    """Waits for another Hunch that holds the chats without answering: it is ending, or hangs."""

    def __init__(self, instance: OnlyInstance) -> None:
        super().__init__()
        self._instance = instance
        self._loop = QEventLoop()
        self._translation: Translation | None = None
        self.dialog: Dialog | None = None
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self._try)
        self._silence = QTimer(self, singleShot=True, interval=_SILENT_MS)
        self._silence.timeout.connect(self._show)
        instance.answered.connect(self._loop.quit)

    def wait(self) -> bool:
        """True once the other has ended; False if it answers, or the user gives up."""
        self._look.start()
        self._silence.start()
        self._loop.exec()
        self._look.stop()
        self._silence.stop()
        if self.dialog is not None and self._translation is not None:
            self.dialog.finished.disconnect(self._loop.quit)
            self.dialog.close()
            self._translation.remove()
        return self._instance.is_first

    def _try(self) -> None:
        if self._instance.take():
            self._loop.quit()

    def _show(self) -> None:
        self._translation = Translation(compiled_sentences())
        self._translation.switch("")  # the settings are the other's until it has ended
        theme = Theme(self)
        theme.set_language(self._translation.language)
        self.dialog = Dialog(theme, None, self._text)
        self.dialog.finished.connect(self._loop.quit)
        self.dialog.show()

    def _text(self) -> DialogText:
        if self._instance.other_machine:
            sentence = fill(self.tr("Your chats are open on %1."), self._instance.other_machine)
            return DialogText(APP_NAME, sentence, self.tr("Quit Hunch there first."), cancel=self.tr("Quit Hunch"))
        return DialogText(
            APP_NAME,
            self.tr("Another copy of Hunch has your chats open and is not responding."),
            self.tr("Force quit it if it does not quit by itself."),
            cancel=self.tr("Quit Hunch"),
        )


class UpdateOffer(QObject):
    def __init__(
        self, window: ShellWindow, theme: Theme, updates: Updates, channel: Channel, translation: Translation
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._updates = updates  # keeps the object alive
        self._channel = channel
        self._translation = translation
        updates.found.connect(self._offer)

    def _offer(self, notice: UpdateNotice) -> None:
        self._window.banner.show_offer(lambda: _available(notice), lambda: self._show_notes(notice))

    def _show_notes(self, notice: UpdateNotice) -> None:
        command = update_command()
        dialog = Dialog(self._theme, self._window, lambda: _notes(notice, self._translation.language, command))
        dialog.accepted.connect(lambda: self._open(notice))
        dialog.other_chosen.connect(lambda: clipboard.copy(command, self._window))
        dialog.open()

    def _open(self, notice: UpdateNotice) -> None:
        QDesktopServices.openUrl(QUrl(self._channel.pages + notice.page, QUrl.ParsingMode.StrictMode))


def _available(notice: UpdateNotice) -> BannerText:
    return BannerText(
        fill(QCoreApplication.translate("Updates", "Hunch %1 is available"), notice.version),
        button=QCoreApplication.translate("Updates", "What's New"),
    )


def _notes(notice: UpdateNotice, language: str, command: str) -> DialogText:
    how = QCoreApplication.translate("Updates", "To update, run in a terminal: %1")
    return DialogText(
        fill(QCoreApplication.translate("Updates", "Hunch %1"), notice.version),
        notice.notes_in(language),
        fill(how, command) if command else "",
        act=QCoreApplication.translate("Updates", "Open Page"),
        cancel=QCoreApplication.translate("Updates", "Close"),
        other=QCoreApplication.translate("Updates", "Copy Command") if command else "",
    )


class _PlaceOffer(QObject):
    """Runs an accepted offer on its own thread, since the disk may be slow."""

    def __init__(self, window: ShellWindow, deliver: Deliver) -> None:
        super().__init__(window)
        self._banner = window.banner
        self._deliver = deliver

    def _do(self, job: Callable[[], Path], done: Callable[[Path], None], refused: Callable[[], BannerText]) -> None:
        ask_once("a place in Applications", self._deliver, job, done, partial(self._on_refused, refused))

    def _on_refused(self, refused: Callable[[], BannerText], error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error
        _log.warning("not put into Applications: %s", error.strerror)
        self._banner.show_warning(refused)


class MoveOffer(_PlaceOffer):
    """Offers to move Hunch.app to Applications if it runs from a disk image or a temporary mount."""

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
    """Offers once to write a Hunch.app, if a tool installed Hunch."""

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
