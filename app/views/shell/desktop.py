"""Hunch outside its window: Quick Ask, tray icon, notifications, announcements for screen readers."""

from __future__ import annotations

import sys
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QIcon,
    QPainter,
    QPixmap,
    QWindow,
)
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.controllers.chat import ChatController
from app.controllers.chat_lists import Unseen
from app.controllers.exchange import ExchangeController
from app.controllers.models import ModelController
from app.controllers.quick_ask import QuickQuestions
from app.settings import Settings
from app.system.notifications import user_notifications
from app.theme import Theme
from app.view_models.model_list import PairState
from app.view_models.transcript import ReplyStatus
from app.views.shell.quick_ask import QuickAsk
from app.views.shell.shell_window import ShellWindow, is_away
from app.views.widgets.held_keys import Menu
from app.views.widgets.roles import announce
from app.views.widgets.side_window import bring_to_front
from app.words.formats import fill
from app.words.model_names import human_name, pair_name
from app.words.replies import end_sentence, end_sentence_elsewhere

_MOST_CHARACTERS = 140  # of a notification
_SIDES_PX = (16, 22, 32, 44, 64)  # of the icon


class Tray(QObject):
    """The icon in the tray (in the Mac's menu bar): state, and a menu. Off by default.

    The icon also posts the notifications, so it may appear just for one.
    """

    def __init__(self, desktop: Desktop, quick_questions: QuickQuestions, models: ModelController) -> None:
        super().__init__(desktop)
        self._desktop = desktop
        self._asides = quick_questions
        self._models = models
        self.icon = QSystemTrayIcon(mark_icon(), self)
        self.menu = Menu()
        self.menu.aboutToShow.connect(self.fill)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self.fill()

    def fill(self) -> None:
        """Each time that it opens, in the language of now."""
        self.menu.clear()
        for line in self.lines():
            self.menu.addAction(line.replace("&", "&&")).setEnabled(False)
        self.menu.addSeparator()
        self.menu.addAction(self.tr("Open Hunch")).triggered.connect(self._desktop.show_window)
        self.menu.addAction(self.tr("Quick Ask…")).triggered.connect(self._desktop.open_quick_ask)
        self.menu.addAction(self.tr("New Chat")).triggered.connect(self._desktop.new_chat)
        self.menu.addAction(self.tr("Quit Hunch")).triggered.connect(self._desktop.quit_wanted)
        self.icon.setToolTip("\n".join(("Hunch", *self.lines())))

    def lines(self) -> list[str]:
        """What is loaded, and how many replies are being written."""
        pair = self._models.pair
        writing = self._asides.writing()
        main = human_name(pair.main_name)
        names = pair_name(pair.main_name, pair.draft_name)
        loaded = {
            PairState.NO_MODEL: self.tr("No model loaded"),
            PairState.UNLOADED: self.tr("No model in memory"),
            PairState.LOADING: fill(self.tr("Loading %1…"), main),
            PairState.FAILED: fill(self.tr("%1 could not be loaded"), main),
        }.get(pair.state, names)
        n = writing
        return [
            loaded,
            self.tr("%Ln reply(s) being written", "", n) if writing else self.tr("Not writing"),
        ]

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.DoubleClick:
            self._desktop.show_window()


class Dock(QObject):
    """What the Mac's Dock shows of Hunch: how many replies were not seen or wait for an answer, and a menu."""

    def __init__(self, desktop: Desktop, unseen: Unseen, exchanges: ExchangeController) -> None:
        super().__init__(desktop)
        self._desktop = desktop
        self._exchanges = exchanges
        self._unseen = 0
        self.menu = Menu()
        self.menu.aboutToShow.connect(self.fill)
        unseen.counted.connect(self._on_counted)
        exchanges.waits_changed.connect(self._show_badge)
        unseen.count()
        self.fill()
        if sys.platform == "darwin":
            self.menu.setAsDockMenu()

    def _on_counted(self, unseen: int) -> None:
        self._unseen = unseen
        self._show_badge()

    def _show_badge(self) -> None:
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.setBadgeNumber(self._unseen + len(self._exchanges.waiting))

    def fill(self) -> None:
        """Each time that it opens, in the language of now. The system adds its own entries."""
        self.menu.clear()
        self.menu.addAction(self.tr("New Chat")).triggered.connect(self._desktop.new_chat)
        self.menu.addAction(self.tr("Quick Ask…")).triggered.connect(self._desktop.open_quick_ask)


def mark_icon() -> QIcon:
    """The mark in one colour, which the Mac turns over on a dark menu bar."""
    result = QIcon()
    for side_px in _SIDES_PX:
        pixmap = QPixmap(side_px, side_px)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor("black"))
            unit = side_px / 16
            painter.drawRoundedRect(0, round(5 * unit), round(6 * unit), round(6 * unit), 2 * unit, 2 * unit)
            for left, diameter in ((7.2, 4.2), (12.0, 3.0)):
                painter.drawEllipse(round(left * unit), round((8 - diameter / 2) * unit), *[round(diameter * unit)] * 2)
        result.addPixmap(pixmap)
    result.setIsMask(True)
    return result


class Notifications(QObject):
    """Notifications of replies that end while no window is active. A click opens the chat.

    They contain no text of the chat unless the user chose so: they appear on locked screens.
    """

    chat_wanted = Signal(int)
    clicked = Signal(str)  # one of macOS's, from any thread
    refused = Signal(str, str, str)  # by macOS, from any thread

    def __init__(self, settings: Settings, chats: ChatController, icon: QSystemTrayIcon, window: QWidget) -> None:
        super().__init__(window)
        self._settings = settings
        self._chats = chats
        self._icon = icon
        self._window = window
        self._chat_id = 0
        icon.messageClicked.connect(self._on_clicked)
        self.clicked.connect(self._on_named)  # queued: not a lambda's, which runs on the thread that emits
        self.refused.connect(self._show)
        self._of_macos = user_notifications(self.clicked.emit, self.refused.emit)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._on_looked)
        chats.replies.ended.connect(self.notify)

    def notify(self, chat_id: int, message_id: int, status: ReplyStatus) -> None:
        """A reply ended, and not by the user, or waits for an answer."""
        if not self._settings.notifications or not is_away() or status is ReplyStatus.STOPPED:
            return
        if sys.platform != "darwin":  # where the Dock's icon would bounce until the user comes; it has a number
            QApplication.alert(self._window)
        words = self.words(chat_id, message_id, status)
        if self._of_macos is not None and not self._of_macos.is_refused:
            self._of_macos.show(str(chat_id), *words)
        else:
            self._show(str(chat_id), *words)

    def _show(self, name: str, title: str, text: str) -> None:
        """By the icon, without which Qt shows no message."""
        self._chat_id = int(name)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._icon.show()
            self._icon.showMessage(title, text, self._icon.icon())

    def words(self, chat_id: int, message_id: int, status: ReplyStatus) -> tuple[str, str]:
        """Title and text."""
        ended = end_sentence(status)
        if not self._settings.notification_words:
            return "Hunch", ended
        title, reply = self._chats.quick_questions.words_of(chat_id, message_id)
        if status in (ReplyStatus.FAILED, ReplyStatus.WAITS_FOR_YOU):
            return title or "Hunch", ended
        begins = " ".join(reply[: 4 * _MOST_CHARACTERS].split())
        cut = begins[: _MOST_CHARACTERS - 1] + "…" if len(begins) > _MOST_CHARACTERS else begins
        # Linux desktops read the text of a notification as markup, images included.
        shown = cut.replace("<", "‹") if sys.platform.startswith("linux") else cut
        return title or "Hunch", shown or ended

    def _on_looked(self, window: QWindow | None) -> None:
        """The user is back: hide an icon that was shown only for a message."""
        if window is None:
            return
        self._chats.unseen.look()
        if self._icon.isVisible() and not self._settings.tray_icon:
            self._icon.hide()

    def _on_named(self, name: str) -> None:
        self.chat_wanted.emit(int(name))

    def _on_clicked(self) -> None:
        self._icon.setVisible(self._settings.tray_icon)
        self.chat_wanted.emit(self._chat_id)


class Desktop(QObject):
    quit_wanted = Signal()

    def __init__(
        self, window: ShellWindow, theme: Theme, settings: Settings, chats: ChatController, models: ModelController
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._chats = chats
        self._models = models
        self._quick_ask: QuickAsk | None = None
        self._waiting: set[int] = set()  # messages that wait for an answer
        self.tray = Tray(self, chats.quick_questions, models)
        self.dock = Dock(self, chats.unseen, chats.exchanges)
        self.notifications = Notifications(settings, chats, self.tray.icon, window)
        self._connect()
        self._show_tray()

    def _connect(self) -> None:
        window = self._window
        self._chats.deletions.changed.connect(self._chats.unseen.count)
        window.menu.quick_ask.triggered.connect(self.open_quick_ask)
        window.closing.connect(self._keep_unsent)
        window.place_changed.connect(self._chats.unseen.look)
        window.closed.connect(self._end)
        self.notifications.chat_wanted.connect(self._open_chat)
        self._chats.replies.ended.connect(self._announce_end)
        self._chats.exchanges.waits_changed.connect(self._on_waits)
        if sys.platform == "darwin":
            QGuiApplication.instance().applicationStateChanged.connect(self._on_activated)
        self._settings.changed.connect(self._show_tray)

    @property
    def quick_ask(self) -> QuickAsk:
        """Made when it is first asked for."""
        if self._quick_ask is None:
            self._quick_ask = QuickAsk(self._theme, self._chats.quick_questions)
            self._show_settings()
            self._settings.changed.connect(self._show_settings)
            self._quick_ask.chat_wanted.connect(self._open_chat)
            self._quick_ask.quoted.connect(self._quote)
            here = self._quick_ask.edit
            there = self._window.composer.edit
            here.files_given.connect(partial(self._go_on_with, there.files_given))
            here.long_text_given.connect(partial(self._go_on_with, there.long_text_given))
            here.image_given.connect(partial(self._go_on_with, there.image_given))
            self._chats.problem_raised.connect(self._show_window_for_problem)
        return self._quick_ask

    def unsent(self) -> str:
        return self._quick_ask.edit.text_with_composed() if self._quick_ask is not None else ""

    def _keep_unsent(self) -> None:
        if self._quick_ask is not None:
            self._quick_ask.keep_unsent()

    def _show_settings(self) -> None:
        self.quick_ask.show_for(self._models.main_for_words)
        self.quick_ask.edit.sends_with_control = self._settings.send_key == "control_return"

    def show_window(self) -> None:
        bring_to_front(self._window)

    def open_quick_ask(self) -> None:
        self.quick_ask.come_to_front()

    def _show_window_for_problem(self) -> None:
        """Refusals are shown in the main window, which is brought to the front."""
        if self.quick_ask.isActiveWindow():
            self.show_window()

    def _open_chat(self, chat_id: int) -> None:
        self.show_window()
        if chat_id:
            self._chats.open_chat(chat_id)
            if self._chats.chat_id != chat_id:
                self._window.sidebar.show_trash()

    def _quote(self, chat_id: int, words: str) -> None:
        self._open_chat(chat_id)
        if self._chats.chat_id == chat_id:  # it may be in the Trash
            self._window.composer.quote(words)

    def new_chat(self) -> None:
        self.show_window()
        self._window.menu.new_chat.trigger()

    def _go_on_with(self, given: SignalInstance, what: object) -> None:
        """Continue in a new chat of the main window, with the typed text."""
        words = self.quick_ask.take_words()
        self.new_chat()
        if words:
            self._window.composer.edit.insert_text(words)
        given.emit(what)

    def _on_activated(self, state: Qt.ApplicationState) -> None:
        """A click in the Dock reopens a closed window."""
        if state == Qt.ApplicationState.ApplicationActive:
            QTimer.singleShot(0, self, self._show_if_none_is)

    def _show_if_none_is(self) -> None:
        if not any(window.isVisible() for window in QGuiApplication.topLevelWindows()):
            self.show_window()

    def _show_tray(self) -> None:
        self.tray.icon.setVisible(self._settings.tray_icon and QSystemTrayIcon.isSystemTrayAvailable())

    def _end(self) -> None:
        self._chats.unseen.end()
        self.tray.icon.hide()
        if self._quick_ask is not None:
            self._quick_ask.close()

    def _announce_end(self, chat_id: int, _message_id: int, status: ReplyStatus) -> None:
        """Screen readers say once that a reply ended, here, in Quick Ask or elsewhere; not of one that was stopped."""
        if status is ReplyStatus.STOPPED:
            return
        words = end_sentence(status) if self._is_shown(chat_id) else end_sentence_elsewhere(status)
        announce(self._window, words)

    def _is_shown(self, chat_id: int) -> bool:
        return chat_id in (self._chats.chat_id, self._chats.quick_questions.shown_id)

    def _on_waits(self) -> None:
        """Where the chat is shown its question is announced there."""
        waiting = set(self._chats.exchanges.waiting)
        for message_id in waiting - self._waiting:
            reply = self._chats.replies.live.get(message_id)
            if reply is not None:
                self.notifications.notify(reply.chat_id, message_id, ReplyStatus.WAITS_FOR_YOU)
                if not self._is_shown(reply.chat_id):
                    self._announce_end(reply.chat_id, message_id, ReplyStatus.WAITS_FOR_YOU)
        self._waiting = waiting
