"""Settings → Chat: the key that sends, how the next word is drawn, how long replies may be, what comes before them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QHBoxLayout

from app.controllers.chat_options import ChatOptions
from app.settings import Settings
from app.theme import Theme
from app.view_models.chat_options import Scope
from app.view_models.model_list import PairView
from app.views.settings.options import BoundOption, OptionRow, PromptField, make_field
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton, PillButton
from app.views.widgets.cards import Card, Page, SettingRow, Words
from app.views.widgets.fields import Switch, take_typed
from app.views.widgets.labels import describe
from app.views.widgets.translated import Translated
from app.words.formats import fill, sentences
from app.words.options import option_name, value_words

_DRAWING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed", "fastest")  # as for a chat
_REPLY = ("max_tokens", "context_tokens", "long_chats", "thinking", "picture_detail", "kv_bits")


class ChatCard(Translated, Card):
    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme)
        self._settings = settings
        self.send_key = ChoiceButton(theme)
        self.titles = Switch(theme)
        self.notifications = Switch(theme)
        self.words = Switch(theme)
        self._key_row = OptionRow(theme, settings, "send_key", self.send_key)
        self._titles_row = OptionRow(theme, settings, "automatic_titles", self.titles)
        self._notifications_row = OptionRow(theme, settings, "notifications", self.notifications)
        self._words_row = OptionRow(theme, settings, "notification_words", self.words)
        self.add(self._key_row, self._titles_row, self._notifications_row, self._words_row)
        settings.changed.connect(self._show)
        self._show()
        self._retranslate()

    def _show(self) -> None:
        self.words.setEnabled(self._settings.notifications)

    def _retranslate(self) -> None:
        self._key_row.set_words(self.tr("Send with"), self.tr("Shift-Return starts a new line."))
        self._titles_row.set_words(self.tr("Automatic titles"))
        self._notifications_row.set_words(self.tr("Notifications"), self.tr("When a reply finishes in the background."))
        self._words_row.set_words(self.tr("Show the reply in notifications"))
        both = "⌘↩" if sys.platform == "darwin" else self.tr("Ctrl+Return")
        self.send_key.set_choices((("return", self.tr("Return")), ("control_return", both)))


class SamplingPage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings, options: ChatOptions, pair: Callable[[], PairView]) -> None:
        """`pair` returns the loaded pair; `show_words` is to be called when that changes."""
        super().__init__(theme)
        self._settings = settings
        self._options = options
        self._pair = pair
        self.fields = {name: make_field(theme, name) for name in (*_DRAWING, *_REPLY)}
        self.rows = {name: SettingRow(theme, field) for name, field in self.fields.items()}
        self._prompt_words = Words(theme)
        self.prompt = PromptField(theme)
        self.first = Card(theme)
        self.reset = PillButton(theme)
        self._before: dict[str, Any] = {}  # what was reset, until something else is changed
        self._arrange()
        for name, field in (*self.fields.items(), ("system_prompt", self.prompt)):
            BoundOption(settings, name, field)
        self.reset.clicked.connect(self._reset)
        settings.changed.connect(self._on_changed)
        options.changed.connect(self.show_words)
        self._retranslate()

    def _arrange(self) -> None:
        arrange(self.first.column, self._prompt_words.column, spacing=2)
        self.first.column.addSpacing(6)
        self.first.column.addWidget(self.prompt)
        self.column.addWidget(self.first)
        for names in (_DRAWING, _REPLY):
            card = Card(self.theme)
            card.add(*(self.rows[name] for name in names))
            self.column.addWidget(card)
        self.column.addLayout(arrange(QHBoxLayout(), 1, self.reset))
        self.end()

    def show_words(self) -> None:
        """With what the open chat has instead, where that is another value."""
        for name, explanation in self._explanations().items():
            self.rows[name].set_words(option_name(name), sentences(explanation, self._in_force(name)))

    def _in_force(self, name: str) -> str:
        view = self._options.view(Scope.CHAT)
        sentence = {
            "chat": self.tr("Now %1, this chat's."),
            "preset": self.tr("Now %1, this preset's."),
            "model": self.tr("Now %1, this model's."),
            "project": self.tr("Now %1, this project's."),
        }.get("chat" if name in view.own else view.sources.get(name, ""))
        value = view.own.get(name, view.otherwise[name])
        if sentence is None or value == self._settings.in_force(name):
            return ""
        return fill(sentence, value_words(name, value))

    def _on_changed(self, name: str) -> None:
        if name in self.rows:
            self._before = {}
        self._retranslate()

    def _reset(self) -> None:
        take_typed(self)
        if before := self._before:
            for name, value in before.items():
                self._settings.put(name, value)
            return
        values = self._settings.values
        before = {name: values[name] for name in self.rows if name in values}
        for name in before:
            self._settings.reset(name)
        self._before = before
        self._retranslate()

    def _retranslate(self) -> None:
        self.show_words()
        self._prompt_words.set_words(option_name("system_prompt"), self.tr("Starts every chat."))
        describe(self.prompt, self.tr("Example: Answer briefly, in Korean."), option_name("system_prompt"))
        self.reset.setText(self.tr("Undo") if self._before else self.tr("Restore defaults"))

    def _explanations(self) -> dict[str, str]:
        return {
            "temperature": self.tr("0 is predictable; higher is freer."),
            "top_p": self.tr("Limits choices to this total probability."),
            "min_p": self.tr("Skips words below this share of the likeliest."),
            "repetition_penalty": self.tr("1 is off; higher avoids repeats."),
            "top_k": self.tr("Limits choices to this many; 0 is off."),
            "seed": self._seed_explained(),
            "fastest": self.tr("Faster, but seeds no longer fix the text."),
            "max_tokens": self.tr("In tokens."),
            "context_tokens": self.tr("In tokens. Less saves memory."),
            "long_chats": self.tr("What happens to messages that no longer fit."),
            "thinking": self.tr("For models that can think."),
            "picture_detail": self.tr("For models that see. Lower is faster."),
            "kv_bits": self.tr("Half holds almost twice the context; replies may differ slightly."),
        }

    def _seed_explained(self) -> str:
        if self._settings.fastest:
            return self.tr("Text still varies while “Fastest drafting” is on.")
        if self._pair().exact:
            return self.tr("Same seed, same reply with any draft.")
        return self.tr("Same seed, same reply, except where two words are nearly tied.")
