"""Settings → Chat: the key that sends, how the next word is drawn, how long replies may be, what comes before them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QMimeData, QRegularExpression, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.controllers.chat_options import ChatOptions
from app.option_checks import LONGEST_THINKING
from app.settings import Settings
from app.theme import Theme
from app.view_models.chat_options import Scope
from app.view_models.model_list import PairView
from app.views.widgets.buttons import ChoiceButton, PillButton
from app.views.widgets.cards import Card, Page, Row
from app.views.widgets.composing import Composing
from app.views.widgets.fields import NUMBER_PX, LineField, NumberField, Segments, Switch, WholeField, field_style
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import LongText
from app.views.widgets.tooltips import show_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import count, fill, number, rounded_up, sentences


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


_NUMBERS = {"temperature": 0.1, "top_p": 0.05, "min_p": 0.01, "repetition_penalty": 0.05}
LONGEST_PROMPT = 100_000  # characters that can be typed; what came from elsewhere may be longer


class SamplingPage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings, options: ChatOptions, pair: Callable[[], PairView]) -> None:
        """`pair` tells which pair is loaded; `show_words` is to be called when that changes."""
        super().__init__(theme)
        self._settings, self._options, self._pair = settings, options, pair
        self._rows: dict[str, Row] = {}
        self._show_value: dict[str, Callable[[], None]] = {}
        self.fields: dict[str, QWidget] = {}
        for name, step in _NUMBERS.items():
            self._add_number(name, step)
        self._add_whole("top_k")
        self._add_optional("seed")
        self._add_switch("fastest")
        self._add_optional("max_tokens")
        self._add_optional("context_tokens")
        self._add_choice("thinking", ThinkingField(theme))
        self._add_choice("picture_detail", DetailField(theme))
        self._prompt_words = TextLabel(theme, TextStyle.BODY)
        self._prompt_explained = TextLabel(theme, TextStyle.FINE)
        self.prompt = PromptField(theme)
        self.reset = PillButton(theme)
        self._arrange()
        self._connect()
        self._retranslate()

    def _arrange(self) -> None:
        draw, reply = Card(self.theme), Card(self.theme)
        for name in (*_NUMBERS, "top_k", "seed", "fastest"):
            draw.add(self._rows[name])
        for name in ("max_tokens", "context_tokens", "thinking", "picture_detail"):
            reply.add(self._rows[name])
        prompt = Card(self.theme)
        prompt.column.setSpacing(2)
        prompt.column.addWidget(self._prompt_words)
        prompt.column.addWidget(self._prompt_explained)
        prompt.column.addSpacing(6)
        prompt.column.addWidget(self.prompt)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.reset)
        self.column.addWidget(prompt)
        self.column.addWidget(draw)
        self.column.addWidget(reply)
        self.column.addLayout(foot)
        self.end()

    def _connect(self) -> None:
        self.prompt.set_text(self._settings.system_prompt)
        self.prompt.textChanged.connect(lambda: self._settings.put("system_prompt", self.prompt.text()))
        self.reset.clicked.connect(self._reset)
        self._settings.changed.connect(self._on_changed)
        self._options.changed.connect(self.show_words)

    def show_words(self) -> None:
        """With what the open chat has instead, where that is another value."""
        for name, (title, explanation) in self._words().items():
            self._rows[name].set_words(title, sentences(explanation, self._in_force(name)))

    def _in_force(self, name: str) -> str:
        view = self._options.view(Scope.CHAT)
        sentence = {
            "chat": self.tr("Now %1, this chat's."),
            "preset": self.tr("Now %1, this preset's."),
            "model": self.tr("Now %1, this model's."),
        }.get("chat" if name in view.own else view.sources.get(name, ""))
        value = view.own.get(name, view.otherwise[name])
        if sentence is None or value == getattr(self._settings, name):
            return ""
        return fill(sentence, self._value_text(name, value))

    def _value_text(self, name: str, value: float | str | None) -> str:
        if value is None:
            return self._hints()[name].lower()
        if value == "off" or isinstance(value, bool):
            return self.tr("on") if value is True else self.tr("off")
        if name == "picture_detail":
            return detail_words(value).lower()
        if name == "thinking" or isinstance(value, str):
            return thinking_words(value).lower()
        return number(value, 0 if isinstance(value, int) else 2)

    def _on_changed(self, name: str) -> None:
        if name in self._show_value:
            self._show_value[name]()
        self.show_words()

    def _reset(self) -> None:
        for name in self._rows:
            self._settings.reset(name)

    def _limits(self, name: str) -> tuple[float, float]:
        """The bounds of an option, read from its check, which clamps."""
        check = Settings.options()[name].check
        return check(-1e9), check(1e9)

    def _add_number(self, name: str, step: float) -> None:
        field = NumberField(self.theme, self._limits(name), step, NUMBER_PX)
        field.valueChanged.connect(lambda value: setattr(self._settings, name, round(value, 2)))
        self._keep(name, field, lambda: field.setValue(getattr(self._settings, name)))

    def _add_whole(self, name: str) -> None:
        low, high = self._limits(name)
        field = WholeField(self.theme, int(low), int(high), NUMBER_PX)
        field.valueChanged.connect(lambda value: setattr(self._settings, name, value))
        self._keep(name, field, lambda: field.setValue(getattr(self._settings, name)))

    def _add_optional(self, name: str) -> None:
        """A whole number that may be left out; longer than a spin box can hold."""
        field = LineField(self.theme, NUMBER_PX)
        field.setAlignment(Qt.AlignmentFlag.AlignRight)
        field.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,20}"), field))

        def keep() -> None:
            setattr(self._settings, name, int(field.text()) if field.text() else None)
            show()

        def show() -> None:
            value = getattr(self._settings, name)
            field.setText("" if value is None else str(value))

        field.editingFinished.connect(keep)
        self._keep(name, field, show)

    def _add_switch(self, name: str) -> None:
        switch = Switch(self.theme)
        switch.toggled.connect(lambda on: setattr(self._settings, name, on))
        self._keep(name, switch, lambda: switch.setChecked(getattr(self._settings, name)))

    def _add_choice(self, name: str, field: ThinkingField | DetailField) -> None:
        field.chosen.connect(lambda value: setattr(self._settings, name, value))
        self._keep(name, field, lambda: field.set_value(getattr(self._settings, name)))

    def _keep(self, name: str, field: QWidget, show: Callable[[], None]) -> None:
        self.fields[name] = field
        self._show_value[name] = show
        self._rows[name] = Row(self.theme, field)
        show()

    def _retranslate(self) -> None:
        self.show_words()
        self._prompt_words.setText(self.tr("System prompt"))
        self._prompt_explained.setText(self.tr("Sent at the start of every chat."))
        self.prompt.setPlaceholderText(self.tr("Example: Answer briefly, in Korean."))
        self.prompt.setAccessibleName(self.tr("System prompt"))
        self.reset.setText(self.tr("Restore defaults"))
        for name, hint in self._hints().items():
            field = self.fields[name]
            assert isinstance(field, LineField)
            field.setPlaceholderText(hint)

    def _hints(self) -> dict[str, str]:
        return {
            "seed": self.tr("Random"),
            "max_tokens": self.tr("No limit"),
            "context_tokens": self.tr("Same as model"),
        }

    def _words(self) -> dict[str, tuple[str, str]]:
        return {
            "temperature": (self.tr("Temperature"), self.tr("0 is predictable; higher is freer.")),
            "top_p": (self.tr("Top-p"), self.tr("Limits choices to this total probability.")),
            "min_p": (self.tr("Min-p"), self.tr("Skips words below this share of the likeliest.")),
            "repetition_penalty": (self.tr("Repetition penalty"), self.tr("1 is off; higher avoids repeats.")),
            "top_k": (self.tr("Top-k"), self.tr("Limits choices to this many; 0 is off.")),
            "seed": (
                self.tr("Seed"),
                self._seed_explained(),
            ),
            "fastest": (
                self.tr("Fastest drafting"),
                self.tr("Faster, but seeds no longer fix the text."),
            ),
            "max_tokens": (self.tr("Reply limit"), self.tr("In tokens.")),
            "context_tokens": (
                self.tr("Context limit"),
                self.tr("In tokens. Less saves memory."),
            ),
            "thinking": (self.tr("Think first"), self.tr("For models that can think.")),
            "picture_detail": (self.tr("Picture detail"), self.tr("For models that see. Lower is faster.")),
        }

    def _seed_explained(self) -> str:
        if self._settings.fastest:
            return self.tr("Text still varies while “Fastest drafting” is on.")
        pair = self._pair()
        if pair.tie_nats is None:
            return self.tr("Same seed, same reply, but for near-ties.")
        if not pair.tie_nats:
            return self.tr("Same seed, same reply with any draft.")
        told = self.tr("Same seed, same reply, but for near-ties (under %1 nats).")
        return fill(told, rounded_up(pair.tie_nats))


class PromptField(Composing, LongText):
    """A few lines of text in the look of the other fields."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setTabChangesFocus(True)
        self._most = LONGEST_PROMPT
        theme.changed.connect(self._restyle)
        self._restyle()

    def set_text(self, text: str) -> None:
        """Replaces all, which nobody is told of: what is set is known."""
        with QSignalBlocker(self):
            super().set_text(text)
        self._most = max(LONGEST_PROMPT, self.document().characterCount() - 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_return and self.composed:
            event.accept()  # it ends the composition, and is no line break
        elif (is_return or event.text().isprintable()) and self._fitting(event.text()) != event.text():
            event.accept()
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        event.setCommitString(self._fitting(event.commitString()), event.replacementStart(), event.replacementLength())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self._insert(self._fitting(source.text()))

    def _fitting(self, text: str) -> str:
        """What of it can be inserted; where that is not all, it is said."""
        cursor = self.textCursor()
        kept = self.document().characterCount() - 1 - (cursor.selectionEnd() - cursor.selectionStart())
        fitting = text[: max(0, self._most - kept)]
        if fitting != text:
            told = self.tr("Cut to %1 characters.")
            show_tooltip(self.mapToGlobal(self.rect().center()), fill(told, number(self._most)), self)
        return fitting

    def _restyle(self) -> None:
        self.setFont(self._theme.ui_font())
        self.setStyleSheet(field_style(self._theme))
        self.setFixedHeight(self._theme.px(88))


class DetailField(Translated, Segments):
    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._retranslate()

    def _retranslate(self) -> None:
        self.set_choices([(each, detail_words(each)) for each in ("low", "normal", "high")])


def detail_words(value: object) -> str:
    return {
        "low": QCoreApplication.translate("DetailField", "Low"),
        "high": QCoreApplication.translate("DetailField", "High"),
    }.get(str(value), QCoreApplication.translate("DetailField", "Normal"))


_LIMIT = "limit"
_USUAL_LIMIT = 1024
_TOKENS_PX = 76


class ThinkingField(Translated, QWidget):
    chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._limits = True
        self.choice = ChoiceButton(theme, self)
        self.tokens = WholeField(theme, 1, LONGEST_THINKING, _TOKENS_PX)
        self.tokens.setValue(_USUAL_LIMIT)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.choice)
        row.addWidget(self.tokens)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.choice)
        self.choice.chosen.connect(self._on_chosen)
        self.tokens.valueChanged.connect(lambda tokens: self.chosen.emit(tokens))  # noqa: PLW0108  another signature
        self._retranslate()

    def offer_limit(self, offered: bool) -> None:
        """Where the model cannot be held to one, only if it is set all the same."""
        if offered != self._limits:
            self._limits = offered
            self._retranslate()

    def set_value(self, value: object) -> None:
        limit = value if isinstance(value, int) else None
        self.choice.set_value(value if limit is None else _LIMIT)
        if limit is not None:
            self.tokens.blockSignals(True)
            self.tokens.setValue(limit)
            self.tokens.blockSignals(False)
        self.tokens.setVisible(limit is not None)
        self._retranslate()

    def setAccessibleName(self, name: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleName(name)

    def setAccessibleDescription(self, words: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleDescription(words)

    def _on_chosen(self, value: object) -> None:
        self.chosen.emit(self.tokens.value() if value == _LIMIT else value)

    def _retranslate(self) -> None:
        limit = [(_LIMIT, self.tr("Up to a limit"))] if self._limits or self.choice.value == _LIMIT else []
        self.choice.set_choices([*((each, thinking_words(each)) for each in ("free", "off", "short")), *limit])
        self.tokens.setAccessibleName(self.tr("Tokens of thinking"))


def thinking_words(value: object) -> str:
    if isinstance(value, int):
        return fill(QCoreApplication.translate("ThinkingField", "Up to %1 tokens"), count(value))
    return {
        "free": QCoreApplication.translate("ThinkingField", "As the model decides"),
        "short": QCoreApplication.translate("ThinkingField", "Briefly"),
    }.get(str(value), QCoreApplication.translate("ThinkingField", "No"))
