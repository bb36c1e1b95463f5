"""The fields of options that a chat, a model or a project may have of its own, each with where its value comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.chat_options import OptionsView, Scope
from app.view_models.model_list import PairState
from app.views.settings.options import ThinkingField, make_field
from app.views.settings.schema_field import SchemaField
from app.views.settings.speculation_controls import SpeculationControls
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import IconButton
from app.views.widgets.cards import Hairline, SettingRow, Words
from app.views.widgets.fields import take_typed
from app.views.widgets.translated import Translated
from app.words.model_names import human_name
from app.words.options import option_name

_PROMPT = "system_prompt"
_DRAFTING = "speculation_mode"
_SCHEMA = "schema"
_WIDE = (_PROMPT, _SCHEMA, _DRAFTING)
_ROWS = (
    *("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed", "fastest"),
    *("max_tokens", "context_tokens", "long_chats", "thinking", "picture_detail", "kv_bits"),
)


class OptionField(Translated, QWidget):
    """A field, and the button that resets the option."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        kinds: dict[str, Callable[[Theme], SpeculationControls | SchemaField]] = {
            _DRAFTING: SpeculationControls,
            _SCHEMA: SchemaField,
        }
        self.field = kinds[name](theme) if name in kinds else make_field(theme, name)
        self.leave = IconButton(theme, "x", 24)
        kept = self.leave.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.leave.setSizePolicy(kept)
        where = Qt.AlignmentFlag.AlignTop if name in _WIDE else Qt.AlignmentFlag.AlignVCenter
        parts = (self.field, int(name in _WIDE)), (self.leave, 0, where)
        arrange(QHBoxLayout(self), *parts, spacing=4, margins=(0, 0, 0, 0))
        self._retranslate()

    def _retranslate(self) -> None:
        self.leave.set_name(self.tr("As in Settings"))


class OptionForm(Translated, QWidget):
    """`put`: the user has set an option; `dropped`: these are to be as they are without it."""

    put = Signal(str, object)
    dropped = Signal(object)  # names

    def __init__(self, theme: Theme, *, with_prompt: bool = True) -> None:
        super().__init__()
        self._theme = theme
        self.scope = Scope.CHAT  # of what is shown
        self._main = ""  # the main model, as the settings name it
        self._values: Mapping[str, Any] = {}  # of every option, the ones that apply
        self._view = OptionsView({}, {}, {}, {}, "")
        names = (*((_PROMPT,) if with_prompt else ()), *_ROWS, _SCHEMA, _DRAFTING)
        self.fields = {name: OptionField(theme, name) for name in names}
        self._words = {name: Words(theme, beside=True) for name in _WIDE if name in self.fields}
        self.rows = {name: SettingRow(theme, self.fields[name]) for name in _ROWS}
        self._arrange()
        for name, field in self.fields.items():
            field.field.chosen.connect(lambda *values, name=name: self._put(name, *values))
            field.leave.clicked.connect(lambda _checked=False, name=name: self._drop(name))
        self._retranslate()

    def _arrange(self) -> None:
        rows = arrange(QVBoxLayout(self), spacing=10, margins=(0, 0, 0, 0))
        for row in self.rows.values():
            row.keep_height()
        if _PROMPT in self.fields:
            arrange(rows, self._words[_PROMPT].column, self.fields[_PROMPT], Hairline(self._theme))
        arrange(rows, *self.rows.values(), Hairline(self._theme))
        for name in (_SCHEMA, _DRAFTING):
            arrange(rows, self._words[name].column, self.fields[name])

    def _put(self, name: str, *values: object) -> None:
        for each, value in zip(_options_of(name), values, strict=True):
            self.put.emit(each, value)

    def _drop(self, name: str) -> None:
        take_typed(self)
        self.dropped.emit(_options_of(name))

    @property
    def _schema(self) -> SchemaField:
        schema = self.fields[_SCHEMA].field
        assert isinstance(schema, SchemaField)
        return schema

    def leave(self) -> None:
        """Before it shows another chat, model or project: what is typed counts for the one that it shows."""
        take_typed(self)
        self._schema.leave()

    def show_options(self, view: OptionsView, scope: Scope, models: ModelController) -> None:
        """`models`: the fields are for what the main model can do. What was typed for another one counts before."""
        if models.main_setting != self._main:
            self._main = models.main_setting
            self.leave()
        self._view = view
        self.scope = scope
        self._follow(models)
        values = {**view.otherwise, **view.own}
        for name, field in self.fields.items():
            field.leave.setVisible(any(each in view.own for each in _options_of(name)))
            field.field.set_value(*(values[each] for each in _options_of(name)))
        self._values = values
        self.fields["fastest"].field.setEnabled(not self._no_difference())
        self._retranslate()

    def _follow(self, models: ModelController) -> None:
        model = models.main_info()
        efforts = models.efforts()
        thinking = self.fields["thinking"].field
        assert isinstance(thinking, ThinkingField)
        self._schema.set_possible(models.keeps_forms, human_name(models.pair.main_name))
        if efforts:
            is_loaded = models.pair.state is PairState.READY
            thinking.offer(efforts, limits=not is_loaded or (model is not None and model.ends_thinking))
        self.rows["thinking"].setVisible(bool(efforts))
        self.rows["picture_detail"].setVisible(model is not None and model.sees)

    def _retranslate(self) -> None:
        shown: dict[str, SettingRow | Words] = {**self.rows, **self._words}
        for name, words in shown.items():
            source = self._source(name)
            field = self.fields[name].field
            words.set_words(option_name(name), self._state(name, source))
            field.setAccessibleName(option_name(name))
            field.setAccessibleDescription(self._state(name, source or self.tr("As in Settings")))

    def _state(self, name: str, source: str) -> str:
        """Source of the effective value, and whether drafts change the text."""
        fastest = bool(self._values.get("fastest"))
        if name == "seed" and fastest and not self._no_difference():
            return self.tr("Text still varies")
        if name != "fastest":
            return source
        seed_effect = self.tr("Different text each time") if fastest else self.tr("Same seed, same text")
        return self._no_difference() or " · ".join(filter(None, (seed_effect, source)))

    def _no_difference(self) -> str:
        """Why the text does not depend on how drafts are accepted; "" if it does."""
        if not self._values.get("temperature"):
            return self.tr("No effect at temperature 0")
        return self.tr("No effect while drafting is off") if self._values.get(_DRAFTING) == "off" else ""

    def _source(self, name: str) -> str:
        """Source of the effective value; "": the settings."""
        if any(each in self._view.own for each in _options_of(name)):
            return {
                Scope.CHAT: self.tr("This chat only"),
                Scope.MODEL: self.tr("Default for this model"),
                Scope.PROJECT: self.tr("This project"),
            }[self.scope]
        return {
            "preset": self.tr("From preset"),
            "model": self.tr("Default for this model"),
            "project": self.tr("From the project"),
        }.get(self._view.sources.get(name, ""), "")


def _options_of(name: str) -> tuple[str, ...]:
    return ("speculation_mode", "speculation_tokens") if name == _DRAFTING else (name,)
