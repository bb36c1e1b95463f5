"""The fields of the settings' options: one kind for each, in the settings and in the panel of a chat.

Every field emits `chosen` when the user sets it, and shows a value by `set_value`, which emits nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QMimeData, QObject, QRegularExpression, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.option_checks import LONGEST_THINKING
from app.settings import KV_BITS, LONG_CHATS, Settings
from app.theme import Theme
from app.view_models.chat_options import shown_effort
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.cards import SettingRow
from app.views.widgets.composing import Composing
from app.views.widgets.fields import (
    NUMBER_PX,
    LineField,
    NumberField,
    Segments,
    Switch,
    WholeField,
    field_style,
    narrow,
    take_typed,
)
from app.views.widgets.long_text import LongText
from app.views.widgets.tooltips import show_hint
from app.views.widgets.translated import Translated
from app.words.formats import fill, number
from app.words.options import detail_words, empty_words, kv_bits_words, long_chats_words, thinking_words

STEPS = {"temperature": 0.1, "top_p": 0.05, "min_p": 0.01, "repetition_penalty": 0.05}
LONGEST_PROMPT = 100_000  # characters that can be typed; what came from elsewhere may be longer
_LIMIT = "limit"
_USUAL_LIMIT = 1024
_TOKENS_PX = 76


def make_field(theme: Theme, name: str) -> Field:
    """The field of an option, with the limits in its check, which clamps."""
    check = Settings.options()[name].check
    if name in STEPS:
        return NumberField(theme, (check(-1e9), check(1e9)), STEPS[name], NUMBER_PX)
    if name == "top_k":
        return WholeField(theme, check(-1e9), check(1e9), NUMBER_PX)
    kinds: dict[str, Callable[[Theme], Field]] = {
        "fastest": Switch,
        "thinking": ThinkingField,
        "picture_detail": lambda theme: WordedSegments(theme, ("low", "normal", "high"), detail_words),
        "kv_bits": lambda theme: WordedSegments(theme, KV_BITS, kv_bits_words),
        "long_chats": LongChatsField,
        "system_prompt": PromptField,
    }
    return kinds[name](theme) if name in kinds else OptionalField(theme, name)


class BoundOption(QObject):
    """Binds a field to an option of the settings, both ways. A child of the field."""

    def __init__(self, settings: Settings, name: str, field: Field) -> None:
        super().__init__(field)
        self._settings = settings
        self._name = name
        self._field = field
        field.chosen.connect(self._keep)
        settings.changed.connect(self._show)
        self._show(name)

    def _keep(self, value: object) -> None:
        setattr(self._settings, self._name, value)
        self._show(self._name)  # what is beyond the limits is kept at the nearest that is allowed

    def _show(self, changed: str) -> None:
        """Another main model may have another temperature."""
        if changed == "main_folder" and self._name == "temperature":
            take_typed(self._field)
        if changed in (self._name, "main_folder"):
            self._field.set_value(self._settings.in_force(self._name))


class OptionRow(SettingRow):
    """A row whose field shows an option of the settings, and sets it."""

    def __init__(self, theme: Theme, settings: Settings, name: str, field: Field) -> None:
        super().__init__(theme, field)
        BoundOption(settings, name, field)


class _Digits(QRegularExpressionValidator):
    """Up to 20, also the wide ones of input methods."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(QRegularExpression(r"\d{0,20}"), parent)

    def validate(self, text: str, position: int) -> object:
        return super().validate(narrow(text), position)


class OptionalField(Translated, LineField):
    """An optional whole number, of more digits than a spin box can hold."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(theme, NUMBER_PX)
        self._name = name
        self._shown = ""
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setValidator(_Digits(self))
        self.editingFinished.connect(self._finish)
        self._retranslate()

    def set_value(self, value: int | None) -> None:
        shown = "" if value is None else str(value)
        if shown != self._shown:  # else what is being typed would be lost
            self._shown = shown
            self.setText(shown)

    def _finish(self) -> None:
        if self.text() != self._shown:
            self._shown = self.text()
            self.chosen.emit(int(self._shown) if self._shown else None)

    def _retranslate(self) -> None:
        self.setPlaceholderText(empty_words(self._name))


class PromptField(Composing, LongText):
    """A few lines of text in the look of the other fields."""

    chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setTabChangesFocus(True)
        self._most = LONGEST_PROMPT
        self.textChanged.connect(lambda: self.chosen.emit(self.text()))
        theme.follow(self._restyle)

    def set_value(self, value: str) -> None:
        if self.text() != value and not self.is_composing:
            self.set_text(value)

    def set_text(self, text: str) -> None:
        """Replaces all without a signal: the caller knows what it sets."""
        with QSignalBlocker(self):
            super().set_text(text)
        self._most = max(LONGEST_PROMPT, self.document().characterCount() - 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self.ends_composition(event):
            event.accept()
            return
        if (is_return or event.text().isprintable()) and self._fitting(event.text()) != event.text():
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
        """The part of the text that can be inserted; reports if that is not all."""
        cursor = self.textCursor()
        kept = self.document().characterCount() - 1 - (cursor.selectionEnd() - cursor.selectionStart())
        fitting = text[: max(0, self._most - kept)]
        if fitting != text:
            hint = self.tr("Cut to %1 characters.")
            show_hint(self, fill(hint, number(self._most)))
        return fitting

    def _restyle(self) -> None:
        self.setFont(self._theme.ui_font())
        self.setStyleSheet(field_style(self._theme))
        self.setFixedHeight(self._theme.px(88))


class WordedSegments(Translated, Segments):
    """A segment for each of the values, in the words of the language of now."""

    def __init__(self, theme: Theme, values: Sequence[str], words: Callable[[str], str]) -> None:
        super().__init__(theme)
        self._values = values
        self._words = words
        self._retranslate()

    def _retranslate(self) -> None:
        self.set_choices([(each, self._words(each)) for each in self._values])


class LongChatsField(Translated, ChoiceButton):
    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._retranslate()

    def _retranslate(self) -> None:
        self.set_choices([(each, long_chats_words(each)) for each in LONG_CHATS])


class ThinkingField(Translated, QWidget):
    chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._limits = True
        self._levels: tuple[str, ...] = ("off", "low", "normal", "high")
        self.choice = ChoiceButton(theme, self)
        self.tokens = WholeField(theme, 1, LONGEST_THINKING, _TOKENS_PX)
        self.tokens.setValue(_USUAL_LIMIT)
        arrange(QHBoxLayout(self), self.choice, self.tokens, spacing=6, margins=(0, 0, 0, 0))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.choice)
        self.choice.chosen.connect(lambda value: self.chosen.emit(self.tokens.value() if value == _LIMIT else value))
        self.tokens.chosen.connect(self.chosen)
        self._retranslate()

    def offer(self, levels: Sequence[str], *, limits: bool) -> None:
        """Offer a limit only for models that can be held to one, or if one is set."""
        self._levels = tuple(levels)
        self._limits = limits
        self._retranslate()

    def set_value(self, value: object) -> None:
        limit = value if isinstance(value, int) else None
        self.choice.set_value(shown_effort(value, self._levels) if limit is None else _LIMIT)
        if limit is not None:
            self.tokens.set_value(limit)
        self.tokens.setVisible(limit is not None)
        self._retranslate()

    def setAccessibleName(self, name: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleName(name)

    def setAccessibleDescription(self, words: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleDescription(words)

    def _retranslate(self) -> None:
        limit = [(_LIMIT, self.tr("Up to a limit"))] if self._limits or self.choice.value == _LIMIT else []
        self.choice.set_choices([*((each, thinking_words(each)) for each in self._levels), *limit])
        self.tokens.setAccessibleName(self.tr("Tokens of thinking"))


Field = NumberField | WholeField | OptionalField | Switch | Segments | ChoiceButton | ThinkingField | PromptField
