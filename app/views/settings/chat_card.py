"""The first card of Settings → Chat: the key that sends, and what is told when a reply is done."""

from __future__ import annotations

import sys

from app.settings import Settings
from app.theme import Theme
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.cards import Card, Row
from app.views.widgets.fields import Switch
from app.views.widgets.translated import Translated


class ChatCard(Translated, Card):
    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme)
        self._settings = settings
        self.send_key = ChoiceButton(theme)
        self.titles = Switch(theme)
        self.notifications = Switch(theme)
        self.words = Switch(theme)
        self._key_row = Row(theme, self.send_key)
        self._titles_row = Row(theme, self.titles)
        self._notifications_row = Row(theme, self.notifications)
        self._words_row = Row(theme, self.words)
        for row in (self._key_row, self._titles_row, self._notifications_row, self._words_row):
            self.add(row)
        self.send_key.chosen.connect(lambda value: setattr(settings, "send_key", value))
        self.titles.toggled.connect(lambda on: setattr(settings, "automatic_titles", on))
        self.notifications.toggled.connect(lambda on: setattr(settings, "notifications", on))
        self.words.toggled.connect(lambda on: setattr(settings, "notification_words", on))
        settings.changed.connect(self._show)
        self._retranslate()

    def _show(self) -> None:
        self.send_key.set_value(self._settings.send_key)
        self.titles.setChecked(self._settings.automatic_titles)
        self.notifications.setChecked(self._settings.notifications)
        self.words.setChecked(self._settings.notification_words)
        self.words.setEnabled(self._settings.notifications)

    def _retranslate(self) -> None:
        self._key_row.set_words(self.tr("Send with"), self.tr("Shift-Return always starts a new line."))
        self._titles_row.set_words(self.tr("Automatic titles"))
        self._notifications_row.set_words(self.tr("Notifications"), self.tr("When a reply finishes in the background."))
        self._words_row.set_words(self.tr("Show previews"))
        both = "⌘↩" if sys.platform == "darwin" else self.tr("Ctrl+Return")
        self.send_key.set_choices((("return", self.tr("Return")), ("control_return", both)))
        self._show()
