"""What the Help menu opens besides the shortcuts: Help, About with licences, the log, and diagnostics to send."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.settings import Option, Settings, comes_with_app
from app.system import build, licences
from app.system.logs import earlier_crash
from app.system.small_file import read_small
from app.system.worker import JobQueue
from app.theme import Theme
from app.views.shell.shell_window import ShellWindow
from app.views.widgets import clipboard
from app.views.widgets.banner import BannerText
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.mark import Mark
from app.views.widgets.reading_dialog import ReadingDialog
from app.words.formats import fill
from app.words.languages import Translation

if TYPE_CHECKING:
    from app.views.shell.help_window import HelpWindow


_LOG_LINES = 300
_HOMES = re.compile(r"/(?:Users|home)/[^/\s:]+")
_TOKEN = re.compile(r"\bhf_\w{6,}")
_HOST = re.compile(r"//(?:[^/]*@)?([^/:]+)")
_HIDDEN = "…"


def diagnostics(settings: Settings, logs: Path) -> Callable[[], str]:
    """The text of Copy Diagnostics and of crash reports, in English.

    Settings are read at once, files when the result is called, on any thread. It contains no text of chats, presets or
    prompts, no tokens, keys or addresses, and no path of the user's home: of the settings only switches, numbers and
    choices, of models the names of their folders, and the log.
    """
    secrets = [each for each in (settings.hub_token, settings.server_key, *_hosts(settings)) if each]
    folders = _folders(settings)
    lines = [*_facts(settings), "", "Settings other than the defaults:", *_changed_settings(settings)]

    def text() -> str:
        parts = ["\n".join(lines)]
        if stacks := earlier_crash(logs):
            parts.append(f"The last crash: {stacks}")
        parts.append(f"The log:\n{_log(logs)}")
        return redacted("\n\n".join(parts), secrets, folders) + "\n"

    return text


def redacted(text: str, secrets: list[str], folders: list[str]) -> str:
    """The text without users' home folders; of `folders` the names stay."""
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    for folder in folders:
        text = text.replace(folder, Path(folder).name)
    for home in dict.fromkeys(_own_homes()):
        text = text.replace(home, "~")
    return _TOKEN.sub(_HIDDEN, _HOMES.sub("~", text))


def _hosts(settings: Settings) -> list[str]:
    """Of hubs and proxies that the user has set: the log says which did not answer."""
    addresses = (settings.hub_endpoint, settings.hub_proxy, *settings.hub_mirrors)
    hosts = [found[1] for each in addresses if (found := _HOST.search(each))]
    return [mark + host for host in hosts for mark in ("//", "@", *([""] if "." in host else []))]  # it may be a word


def _folders(settings: Settings) -> list[str]:
    """Folders of models that the log may name, the longest first."""
    drafts = settings.last_drafts
    known = {settings.main_folder, settings.draft_folder, *settings.recent_models, *drafts, *drafts.values()}
    return sorted((each for each in known | {*settings.model_folders} if "/" in each[1:]), key=len, reverse=True)


def _own_homes() -> list[str]:
    """Home folders, the longest first, since one may contain another."""
    try:
        home = Path.home()
        found = [str(home), str(home.resolve())]
    except (OSError, RuntimeError):  # a user without one
        return []
    return sorted((each for each in found if len(each) > 1), key=len, reverse=True)


def _facts(settings: Settings) -> list[str]:
    made = f" ({build.build()})" if build.build() else ""
    libraries = ", ".join(f"{name} {version}" for name, version in build.libraries().items())
    models = [_model(settings.main_folder), _model(settings.draft_folder) or "none"]
    return [
        f"Hunch {build.own_version()}{made}",
        build.system(),
        libraries,
        f"Window: {QGuiApplication.platformName()}",
        f"Main model: {models[0]}; draft: {models[1]}",
    ]


def _model(folder: str) -> str:
    return folder if comes_with_app(folder) else Path(folder).name


def _changed_settings(settings: Settings) -> list[str]:
    options = settings.options()
    shown = [name for name in settings.values if name in options and _holds_no_words(options[name])]
    return [
        f"  {name} = {value}" for name in sorted(shown) if (value := getattr(settings, name)) != options[name].default
    ] or ["  none"]


def _holds_no_words(option: Option[object]) -> bool:
    """Whether it is a switch, a number or a choice, so that it contains no text."""
    try:
        option.check("any words")
    except (TypeError, ValueError):
        return not isinstance(option.default, tuple | dict)
    return False


def _log(logs: Path) -> str:
    try:
        lines = read_small(logs / "hunch.log").decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return "none"
    return "\n".join(lines[-_LOG_LINES:])


class HelpMenu(QObject):
    """`reader` reads files; dialogs get their text a moment later."""

    def __init__(
        self,
        window: ShellWindow,
        theme: Theme,
        settings: Settings,
        logs: Path,
        reader: JobQueue,
        translation: Translation,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._logs = logs
        self._reader = reader
        self._translation = translation
        self.help: HelpWindow | None = None  # once it was opened
        window.menu.help.triggered.connect(self.show_help)
        window.menu.about.triggered.connect(self.show_about)
        window.menu.show_log.triggered.connect(self.show_log)
        window.menu.copy_diagnostics.triggered.connect(self.copy_diagnostics)

    def show_help(self) -> None:
        if self.help is None:
            # Markdown loads after the first frame.
            from app.views.shell.help_window import HelpWindow

            self.help = HelpWindow(self._theme, self._window.menu, self._translation)
            self._window.closed.connect(self.help.close)
        self.help.come_to_front()

    def show_about(self) -> None:
        dialog = show_about(self._theme, self._window)
        dialog.other_chosen.connect(self.show_licences)

    def show_licences(self) -> LicencesDialog:
        dialog = LicencesDialog(self._theme, self._window)
        self._read(licences.document, dialog.show_text)
        dialog.open()
        return dialog

    def show_log(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._logs)))

    def copy_diagnostics(self) -> None:
        self._read(diagnostics(self._settings, self._logs), self._copy)

    def show_report(self) -> None:
        dialog = ReportDialog(self._theme, self._window)
        self._read(diagnostics(self._settings, self._logs), dialog.show_text)
        dialog.open()

    def _copy(self, text: str) -> None:
        clipboard.copy(text, self._window)
        self._window.banner.show_info(_copied, self.show_report)

    def _read(self, job: Callable[[], str], show: Callable[[str], None]) -> None:
        self._reader.ask(job, partial(_unless_closed, show), _fail)


def _unless_closed(show: Callable[[str], None], text: str) -> None:
    """Call it unless the dialog was closed before its text was read."""
    try:
        show(text)
    except RuntimeError:  # Qt has deleted it
        return


def _fail(error: Exception) -> None:
    raise error


def _copied() -> BannerText:
    sentence = QCoreApplication.translate("Help", "It holds no chats and no tokens.")
    title = QCoreApplication.translate("Help", "Diagnostics copied")
    return BannerText(sentence, title, button=QCoreApplication.translate("Help", "Show"))


class ReportDialog(ReadingDialog):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.copy_button = self.add_button()
        self.copy_button.setEnabled(False)
        self.copy_button.clicked.connect(lambda: clipboard.copy(self.text.text(), self))
        self._retranslate()

    def read_on(self, *, is_whole: bool) -> None:
        self.copy_button.setEnabled(is_whole)

    def _retranslate(self) -> None:
        self.name(
            self.tr("Diagnostics"),
            self.tr("Hunch sends nothing. Copy it into your report."),
        )
        self.copy_button.setText(self.tr("Copy"))


def show_about(theme: Theme, parent: QWidget) -> Dialog:
    """`other_chosen`: the user wants to read the licences."""
    dialog = Dialog(theme, parent, _words)
    dialog.put_above(Mark(theme))
    dialog.open()
    return dialog


def _words() -> DialogText:
    version = fill(QCoreApplication.translate("About", "Hunch %1"), build.own_version())
    libraries = " · ".join(f"{name} {number}" for name, number in build.libraries().items())
    made = fill(QCoreApplication.translate("About", "Build %1"), build.build()) if build.build() else ""
    return DialogText(
        version,
        QCoreApplication.translate("About", "A small draft guesses, the main model checks."),
        "\n".join(filter(None, (QCoreApplication.translate("About", "Apache License 2.0."), libraries, made))),
        act=QCoreApplication.translate("About", "Close"),
        other=QCoreApplication.translate("About", "Licenses"),
    )


class LicencesDialog(ReadingDialog):
    """Its text comes later: many files are read for it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._retranslate()

    def _retranslate(self) -> None:
        self.name(self.tr("Licenses"), self.tr("Everything that Hunch is built on"))
