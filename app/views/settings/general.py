"""Settings → General: the language, when models leave the memory, the icon beside the clock, and updates."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QSystemTrayIcon

from app.settings import Settings
from app.system import updates
from app.theme import Theme
from app.views.settings.options import OptionRow
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.fields import Switch
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.languages import LANGUAGES, system_language

_IDLE_MINUTES = (5, 15, 30, 60, 240)


class GeneralPage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme)
        self._settings = settings
        self.language = ChoiceButton(theme)
        self.unload_after = ChoiceButton(theme)
        self.tray = Switch(theme)
        self.updates = Switch(theme)
        self.language_row = OptionRow(theme, settings, "language", self.language)
        self._unload_row = OptionRow(theme, settings, "unload_after_min", self.unload_after)
        self._tray_row = OptionRow(theme, settings, "tray_icon", self.tray)
        self._updates_row = OptionRow(theme, settings, "tells_updates", self.updates)
        card = Card(theme)
        card.add(self.language_row, self._unload_row)
        if QSystemTrayIcon.isSystemTrayAvailable():
            card.add(self._tray_row)
        if updates.CHANNEL is not None:
            card.add(self._updates_row)
        self.column.addWidget(card)
        self.end()
        settings.changed.connect(self._show)
        self._retranslate()

    def _show(self) -> None:
        minutes = self._settings.unload_after_min
        choices = sorted({*_IDLE_MINUTES, minutes} - {0})
        # WORKAROUND: lupdate sees that a text has plural forms only in self.tr, and only with a plain name for n.
        self.unload_after.set_choices([(0, self.tr("Never")), *((n, self.tr("%Ln minute(s)", "", n)) for n in choices)])

    def _retranslate(self) -> None:
        system = fill(self.tr("Match system (%1)"), LANGUAGES[system_language()])
        self.language.set_choices([("", system), *LANGUAGES.items()])
        self.language_row.set_words(self.tr("Language"))
        self._unload_row.set_words(
            self.tr("Unload idle models"),
            self.tr("Your next message reloads them."),
        )
        beside = self.tr("Menu bar icon") if sys.platform == "darwin" else self.tr("System tray icon")
        self._tray_row.set_words(
            beside,
            self.tr("Keeps Hunch open for Quick Ask."),
        )
        self._updates_row.set_words(
            self.tr("Tell me about updates"),
            self.tr("Asks once a day. Installs nothing."),
        )
        self._show()
