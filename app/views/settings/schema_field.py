"""The field of a chat's schema: free text, a ready schema, or one of one's own, checked as it is typed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controllers.schemas import (
    SchemaFault,
    SchemaKind,
    SchemaProblem,
    columns_in,
    keys_schema,
    kind_of,
    list_schema,
    problem_of,
    table_schema,
)
from app.option_checks import LONGEST_SCHEMA
from app.theme import Theme
from app.views.settings.options import PromptField
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.fields import LineField
from app.views.widgets.labels import TextLabel, TextStyle, describe, say
from app.views.widgets.translated import Translated
from app.words.formats import fill, number
from app.words.options import no_form_words

_READY = {SchemaKind.NONE: "", SchemaKind.LIST: list_schema(), SchemaKind.KEYS: keys_schema()}


class SchemaField(Translated, QWidget):
    chosen = Signal(object)  # a schema, or "" for free text; not while something is wrong with what is typed

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._schema = ""
        self._problem: SchemaProblem | None = None
        self._unable = ""  # the model that cannot be held to a schema
        self.choice = ChoiceButton(theme, self)
        self.choice.set_value(SchemaKind.NONE)
        self.columns = LineField(theme, parent=self)
        self.own = SchemaText(theme)
        self.fault = TextLabel(theme, TextStyle.FAULT, self)
        column = arrange(QVBoxLayout(self), spacing=6, margins=(0, 0, 0, 0))
        column.addWidget(self.choice, 0, Qt.AlignmentFlag.AlignLeft)
        arrange(column, self.columns, self.own, self.fault)
        self.setFocusProxy(self.choice)
        self.choice.chosen.connect(lambda kind: self._choose(SchemaKind(kind)))
        self.columns.textChanged.connect(self._take_columns)
        self.own.chosen.connect(self._take_own)
        self._show_parts()
        self._retranslate()

    def set_value(self, schema: str) -> None:
        is_typed = self.isVisible() or self._problem is not None  # perhaps something else, with a fault
        if schema != self._schema or not is_typed:
            self._show(schema)

    def leave(self) -> None:
        """What is typed with a fault belongs to nothing that is shown next."""
        self._show(self._schema)

    def _show(self, schema: str) -> None:
        self._schema = schema
        kind, columns = kind_of(schema)
        self.choice.set_value(kind)
        if columns != columns_in(self.columns.text()):
            self.columns.setText(", ".join(columns))
        self.own.set_value(schema)
        self._problem = None
        self._show_parts()

    def set_possible(self, possible: bool, model_name: str) -> None:
        """Whether the model can be held to a schema."""
        self._unable = "" if possible else model_name
        self._show_parts()

    def setAccessibleName(self, name: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleName(name)

    def setAccessibleDescription(self, words: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleDescription(words)

    def _choose(self, kind: SchemaKind) -> None:
        self._problem = None
        if kind in _READY:
            self._take(_READY[kind])
        elif kind is SchemaKind.TABLE:
            self._take_columns()
            self._show_parts()
            self.columns.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.own.set_value(self._schema)
            self._show_parts()
            self.own.setFocus(Qt.FocusReason.OtherFocusReason)
        self._show_parts()

    def _take_columns(self) -> None:
        columns = columns_in(self.columns.text())
        if self.choice.value == SchemaKind.TABLE and columns:
            self._take(table_schema(columns))

    def _take_own(self) -> None:
        text = self.own.text().strip()
        self._problem = problem_of(text) if text else None
        if self._problem is None:
            self._take(text)
        self._show_parts()

    def _take(self, schema: str) -> None:
        if schema != self._schema:
            self._schema = schema
            self.chosen.emit(schema)

    def _show_parts(self) -> None:
        self.columns.setVisible(self.choice.value == SchemaKind.TABLE)
        self.own.setVisible(self.choice.value == SchemaKind.OWN)
        unable = self._unable and self._schema
        say(self.fault, no_form_words(self._unable) if unable else self._words_of(self._problem))
        self.own.setAccessibleDescription(self.fault.text())

    def _words_of(self, problem: SchemaProblem | None) -> str:
        if problem is None:
            return ""
        match problem.fault:
            case SchemaFault.TOO_LONG:
                return fill(self.tr("Too long: at most %1 characters."), number(LONGEST_SCHEMA))
            case SchemaFault.NO_JSON if not self._schema:
                return fill(self.tr("Not JSON: look at line %1."), number(problem.line))
            case SchemaFault.NO_JSON:
                return fill(
                    self.tr("Not JSON: look at line %1. The last schema that worked stays."), number(problem.line)
                )
            case SchemaFault.NO_OBJECT:
                return self.tr("A JSON schema is an object, in braces. The last schema that worked stays.")
        return fill(self.tr("Replies cannot be held to this: %1"), problem.detail)

    def _retranslate(self) -> None:
        self.choice.set_choices(
            (
                (SchemaKind.NONE, self.tr("Free text")),
                (SchemaKind.LIST, self.tr("List")),
                (SchemaKind.TABLE, self.tr("Table")),
                (SchemaKind.KEYS, self.tr("Keys and values")),
                (SchemaKind.OWN, self.tr("JSON schema")),
            )
        )
        describe(self.columns, self.tr("Columns: name, year, price"), self.tr("Columns"))
        describe(self.own, '{"type": "array", "items": {"type": "string"}}', self.tr("JSON schema"))
        self._show_parts()


class SchemaText(PromptField):
    def _restyle(self) -> None:
        super()._restyle()
        self.setFont(self._theme.mono_font())
        self.setFixedHeight(self._theme.px(140))
