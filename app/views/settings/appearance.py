"""Settings → Appearance: light or dark, size of the text, whether anything moves, and figures under replies."""

from __future__ import annotations

from app.settings import Settings
from app.theme import SCALES, Theme
from app.views.settings.options import OptionRow
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.fields import Segments, Switch
from app.views.widgets.translated import Translated
from app.words.formats import percent, sentences


class AppearancePage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme)
        self._settings = settings
        self.appearance = Segments(theme)
        self.text_scale = ChoiceButton(theme)
        self.motion = Segments(theme)
        self.reply_figures = Switch(theme)
        self.rows = {
            "appearance": OptionRow(theme, settings, "appearance", self.appearance),
            "text_scale": OptionRow(theme, settings, "text_scale", self.text_scale),
            "motion": OptionRow(theme, settings, "motion", self.motion),
            "reply_figures": OptionRow(theme, settings, "reply_figures", self.reply_figures),
        }
        card = Card(theme)
        card.add(*self.rows.values())
        self.column.addWidget(card)
        self.end()
        self._connect()
        self._retranslate()

    def _connect(self) -> None:
        self._settings.changed.connect(self._on_setting)
        self.theme.changed.connect(self._show_in_force)

    def _on_setting(self, name: str) -> None:
        if name in self.rows:
            self._show()

    def _show(self) -> None:
        scale = self._settings.text_scale
        self.text_scale.set_choices([(value, percent(value)) for value in sorted({*SCALES, scale})])
        self._show_in_force()

    def _retranslate(self) -> None:
        self.rows["text_scale"].set_words(self.tr("Text size"))
        self.rows["reply_figures"].set_words(
            self.tr("Figures under replies"),
            self.tr("Speed, accept rate, tokens per pass."),
        )
        self.appearance.set_choices((("auto", self.tr("Auto")), ("light", self.tr("Light")), ("dark", self.tr("Dark"))))
        self.motion.set_choices((("auto", self.tr("Auto")), ("on", self.tr("On")), ("off", self.tr("Off"))))
        self._show()

    def _show_in_force(self) -> None:
        """What the system says, where it is followed."""
        look = self.tr("Now dark.") if self.theme.dark else self.tr("Now light.")
        moves = self.tr("Now on.") if self.theme.motion_ms else self.tr("Now off.")
        self.rows["appearance"].set_words(
            self.tr("Appearance"),
            sentences(
                self.tr("Auto matches the system theme."),
                look if self._settings.appearance == "auto" else "",
            ),
        )
        self.rows["motion"].set_words(
            self.tr("Animations"),
            sentences(self.tr("Auto follows Reduce Motion."), moves if self._settings.motion == "auto" else ""),
        )
