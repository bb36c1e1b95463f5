"""Settings → General: language, appearance, size of the text."""

from __future__ import annotations

from app.settings import Settings
from app.theme import Theme
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.cards import Card, Page, Row
from app.views.widgets.fields import Segments
from app.views.widgets.translated import Translated
from app.words.formats import percent
from app.words.languages import LANGUAGES

_SHOWN = ("language", "appearance", "text_scale", "unload_after_min")
_IDLE_MINUTES = (5, 15, 30, 60, 240)
_SCALES = (0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)


class GeneralPage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme)
        self._settings = settings
        self.language = ChoiceButton(theme)
        self.appearance = Segments(theme)
        self.text_scale = ChoiceButton(theme)
        self._language_row = Row(theme, self.language)
        self._appearance_row = Row(theme, self.appearance)
        self._scale_row = Row(theme, self.text_scale)
        card = Card(theme)
        self.unload_after = ChoiceButton(theme)
        self._unload_row = Row(theme, self.unload_after)
        for row in (self._language_row, self._appearance_row, self._scale_row, self._unload_row):
            card.add(row)
        self.column.addWidget(card)
        self.end()
        self._connect()
        self._show()
        self._retranslate()

    def _connect(self) -> None:
        settings = self._settings
        self.language.chosen.connect(lambda value: setattr(settings, "language", value))
        self.appearance.chosen.connect(lambda value: setattr(settings, "appearance", value))
        self.text_scale.chosen.connect(lambda value: setattr(settings, "text_scale", value))
        self.unload_after.chosen.connect(lambda value: setattr(settings, "unload_after_min", value))
        settings.changed.connect(lambda name: self._show() if name in _SHOWN else None)

    def _show(self) -> None:
        self.language.set_value(self._settings.language)
        self.appearance.set_value(self._settings.appearance)
        scale = self._settings.text_scale
        self.text_scale.set_choices([(value, percent(value)) for value in sorted({*_SCALES, scale})])
        self.text_scale.set_value(scale)
        self._show_unload()

    def _show_unload(self) -> None:
        minutes = self._settings.unload_after_min
        choices = sorted({*_IDLE_MINUTES, minutes} - {0})
        # WORKAROUND: lupdate sees that a text has plural forms only in self.tr, and only with a plain name for n.
        self.unload_after.set_choices([(0, self.tr("Never")), *((n, self.tr("%n minute(s)", "", n)) for n in choices)])
        self.unload_after.set_value(minutes)

    def _retranslate(self) -> None:
        self._language_row.set_words(self.tr("Language"), self.tr("Changes at once, menus included."))
        self._appearance_row.set_words(self.tr("Appearance"))
        self._scale_row.set_words(self.tr("Text size"), self.tr("For everything in the window."))
        self._unload_row.set_words(
            self.tr("Unload idle models"),
            self.tr("After this time without a reply. The next message loads them again."),
        )
        self._show_unload()
        self.language.set_choices([("", self.tr("Match system")), *LANGUAGES.items()])
        self.appearance.set_choices((("auto", self.tr("Auto")), ("light", self.tr("Light")), ("dark", self.tr("Dark"))))
