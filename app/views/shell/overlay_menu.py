"""The View menu's draft marks, their keys, and the explanation at the first reply.

The marks are in `views/transcript/overlay.py`.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QActionGroup

from app.controllers.chat import ChatController
from app.settings import Settings
from app.theme import Theme
from app.view_models.transcript import ReplyStatus
from app.views.shell.shell_window import ShellWindow
from app.views.transcript.overlay import Overlay, OverlayMode
from app.views.transcript.view import TranscriptView
from app.views.widgets.banner import BannerText
from app.views.widgets.held_keys import Menu
from app.words.formats import sentences

TOGGLE = "Ctrl+Shift+D"
NEXT = "Ctrl+Alt+Right"
PREVIOUS = "Ctrl+Alt+Left"
_SHOWING = (OverlayMode.GUESSED, OverlayMode.ACCEPTED)


class OverlayMenu(QObject):
    def __init__(
        self, window: ShellWindow, settings: Settings, theme: Theme, chats: ChatController, view: TranscriptView
    ) -> None:
        super().__init__(window)
        menu = window.menu
        banner = window.banner
        self._window = window
        self._banner = banner
        self._settings = settings
        self._chats = chats
        self.overlay = Overlay(view, chats.transcript, theme)
        self.overlay.set_mode(self.mode)
        self._explanation = self._explain  # one object, which identifies the notice in the banner
        self.shown = menu.add("view", TOGGLE, checkable=True)
        self._entry = menu.add("view")
        self._submenu = Menu(window)
        self._entry.setMenu(self._submenu)
        self.next = menu.add("view", NEXT, repeats=True)
        self.previous = menu.add("view", PREVIOUS, repeats=True)
        self._make_choices()
        self.shown.triggered.connect(self._toggle)
        self.next.triggered.connect(lambda: self._step(1))
        self.previous.triggered.connect(lambda: self._step(-1))
        banner.close_button.pressed.connect(self._note_seen)
        settings.changed.connect(self._on_setting)
        window.language_changed.connect(self._retranslate)
        chats.replies.stored.connect(self._explain_once)
        chats.transcript.message_inserted.connect(self.end_explaining)
        chats.current_chat_changed.connect(self.end_explaining)
        self._retranslate()

    def _make_choices(self) -> None:
        group = QActionGroup(self)
        self.choices = {mode: group.addAction("") for mode in _SHOWING}
        for mode, action in self.choices.items():
            action.setCheckable(True)
            action.triggered.connect(lambda _checked=False, mode=mode: self.choose(mode))
            self._submenu.addAction(action)
        self.choices[OverlayMode.ACCEPTED].setChecked(True)
        self._check()

    @property
    def mode(self) -> OverlayMode:
        kept = self._settings.overlay
        return OverlayMode.ACCEPTED if kept == "corrections" else OverlayMode(kept)

    def choose(self, mode: OverlayMode) -> None:
        self._settings.overlay = str(mode)
        self._settings.overlay_explained = True  # not needed after a choice
        self.end_explaining()

    def _on_setting(self, name: str) -> None:
        if name == "overlay":
            self._check()
            self.overlay.set_mode(self.mode)

    def _check(self) -> None:
        """While the marks are hidden, which of them are shown next stays checked."""
        self.shown.setChecked(self.mode is not OverlayMode.OFF)
        if self.mode in self.choices:
            self.choices[self.mode].setChecked(True)

    def _toggle(self, shown: bool) -> None:
        kind = next(mode for mode, action in self.choices.items() if action.isChecked())
        self.choose(kind if shown else OverlayMode.OFF)
        self._banner.show_info(self._state_text)

    def _state_text(self) -> BannerText:
        """What is marked, and whether any mark is visible: else the key would seem to do nothing."""
        if self.mode is OverlayMode.OFF:
            return BannerText(self.tr("Draft marks are hidden."))
        if self.mode is OverlayMode.GUESSED:
            state = self.tr("Marked: guessed right.")
            has_any = self.overlay.has_guessed_in_sight
            none = self.tr("None in sight.")
        else:
            state = self.tr("Marked: guessed right, corrected.")
            has_any = self.overlay.has_corrections_in_sight
            none = self.tr("No corrections in sight.")
        return BannerText(state if has_any else sentences(state, none))

    def _step(self, delta: int) -> None:
        """Go to the next correction; show the marks first if they are off."""
        if self.mode is not OverlayMode.ACCEPTED:
            self.choose(OverlayMode.ACCEPTED)
        self.overlay.step(delta)
        if not self.overlay.has_corrections_in_sight:
            self._banner.show_info(lambda: BannerText(self.tr("No corrections in sight.")))

    def _explain_once(self) -> None:
        """Explain the marks until the user has seen it; again with the next reply if another notice covered it."""
        if self._settings.overlay_explained or self.mode is not OverlayMode.OFF:
            return
        replies = (each for each in reversed(self._chats.transcript.messages) if not each.from_user)
        message = next(replies, None)
        if message is None or message.status is not ReplyStatus.DONE or not message.drafted:
            return
        self.overlay.show_once(message.id)
        self._banner.show_info(self._explanation, lambda: self.choose(OverlayMode.ACCEPTED), stays=True)

    def _note_seen(self) -> None:
        """The user closed the explanation, or went on while it was shown."""
        if self._banner.shows(self._explanation) and self._window.isActiveWindow():
            self._settings.overlay_explained = True

    def _explain(self) -> BannerText:
        return BannerText(self.tr("Dotted: guessed right. Solid: corrected."), button=self.tr("Always show"))

    def end_explaining(self, *_: object) -> None:
        """Removes the explanation and the marks that it is about."""
        self._note_seen()
        self._banner.withdraw(self._explanation)
        self.overlay.show_once(0)

    def _retranslate(self) -> None:
        self.shown.setText(self.tr("Draft Marks"))
        self._entry.setText(self.tr("Marked Words"))
        self.choices[OverlayMode.GUESSED].setText(self.tr("Guessed Right"))
        self.choices[OverlayMode.ACCEPTED].setText(self.tr("Guessed Right and Corrected"))
        self.next.setText(self.tr("Next Correction"))
        self.previous.setText(self.tr("Previous Correction"))
