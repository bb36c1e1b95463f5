"""The panel of a chat's own settings: preset, system prompt, sampling, drafting. Every change counts at once.

It lies in the window, so that input methods work in it, and closes when the focus goes elsewhere.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.chat_options import OptionsView, Scope
from app.views.shell.option_fields import OptionField, make_field
from app.views.shell.preset_row import PresetRow
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.cards import Hairline, Page, Row
from app.views.widgets.fields import Segments
from app.views.widgets.focus_before import FocusBefore
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.painting import paint_surface
from app.views.widgets.tab_order import put_in_tab_order
from app.views.widgets.translated import Translated
from app.words.formats import fill

_WIDTH_PX = 400
_DRAFTING = "speculation_mode"
_ROWS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "seed",
    "max_tokens",
    "context_tokens",
    "thinking",
)


class ChatSettings(Translated, QWidget):
    put_requested = Signal(object, str, object)  # Scope, option, value
    drop_requested = Signal(object, tuple)  # Scope, options; none: all
    scope_changed = Signal()
    opened = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._within = parent
        self.focus_before = FocusBefore(parent.setFocus)
        self._theme = theme
        self._model_name = ""
        self._view = OptionsView({}, {}, {}, (), "")
        self.scopes = Segments(theme, self)
        self.scopes.set_value(Scope.CHAT)
        self.close_button = IconButton(theme, "x", 26, self)
        self.presets = PresetRow(theme, self)
        self.page = Page(theme, self)
        self.reset = PillButton(theme, Emphasis.QUIET, parent=self)
        self.fields: dict[str, OptionField] = {
            name: make_field(theme, name) for name in ("system_prompt", *_ROWS, _DRAFTING)
        }
        self._prompt_name = TextLabel(theme, TextStyle.BODY)
        self._prompt_state = TextLabel(theme, TextStyle.FINE)
        self._drafting_name = TextLabel(theme, TextStyle.BODY)
        self._drafting_state = TextLabel(theme, TextStyle.FINE)
        self._rows = {name: Row(theme, self.fields[name]) for name in _ROWS}
        self._arrange()
        self._connect()
        self._retranslate()
        self.hide()

    @property
    def scope(self) -> Scope:
        return Scope(str(self.scopes.value))

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.scopes)
        head.addStretch(1)
        head.addWidget(self.close_button)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 8, 10)
        column.setSpacing(10)
        column.addLayout(head)
        column.addWidget(self.presets)
        column.addWidget(self.page, 1)
        column.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)
        rows = self.page.column
        rows.setContentsMargins(0, 0, 6, 0)
        rows.setSpacing(10)
        self.page.title.hide()
        content = self.page.widget()
        if content is not None:
            content.setAutoFillBackground(False)  # the card shows through
        rows.addLayout(_column(self._prompt_name, self._prompt_state))
        for widget in (self.fields["system_prompt"], Hairline(self._theme)):
            rows.addWidget(widget)
        for row in self._rows.values():
            rows.addWidget(row)
        rows.addWidget(Hairline(self._theme))
        rows.addLayout(_column(self._drafting_name, self._drafting_state))
        rows.addWidget(self.fields[_DRAFTING])
        rows.addStretch(1)

    def _connect(self) -> None:
        for name, field in self.fields.items():
            field.chosen.connect(lambda value, name=name: self._put(name, value))
            field.left.connect(lambda name=name: self.drop_requested.emit(self.scope, _options_of(name)))
        self.scopes.chosen.connect(lambda _scope: self.scope_changed.emit())
        self.close_button.clicked.connect(self.leave)
        self.reset.clicked.connect(lambda: self.drop_requested.emit(self.scope, ()))
        self._theme.changed.connect(self.update)
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def _put(self, name: str, value: object) -> None:
        if name != _DRAFTING:
            self.put_requested.emit(self.scope, name, value)
            return
        assert isinstance(value, tuple)
        for each, part in zip(_options_of(name), value, strict=True):
            self.put_requested.emit(self.scope, each, part)

    # What is shown

    def show_options(self, view: OptionsView, model_name: str) -> None:
        self._view, self._model_name = view, model_name
        values = {**view.otherwise, **view.own}
        for name, field in self.fields.items():
            own = any(each in view.own for each in _options_of(name))
            shown = [values[each] for each in _options_of(name)]
            field.show_value(shown[0] if len(shown) == 1 else tuple(shown), own=own)
        self.presets.show_presets(view.presets, view.preset, changed=bool(view.own))
        self.presets.setVisible(self.scope is Scope.CHAT)
        self._retranslate()

    def _retranslate(self) -> None:
        model = self._model_name or self.tr("This model")
        self.scopes.set_choices(((Scope.CHAT, self.tr("This chat")), (Scope.MODEL, _short(model))))
        self.scopes.setAccessibleName(self.tr("Settings of"))
        self.setAccessibleName(self.tr("Chat settings"))
        self.close_button.set_name(self.tr("Close"))
        self.reset.setText(self.tr("All as in Settings"))
        self.reset.setEnabled(bool(self._view.own or self._view.preset))
        names = self._names()
        for name, row in self._rows.items():
            row.set_words(names[name], self._state(name))
            self.fields[name].name_it(names[name], self._state(name))
        for name, label, state in (
            ("system_prompt", self._prompt_name, self._prompt_state),
            (_DRAFTING, self._drafting_name, self._drafting_state),
        ):
            label.setText(names[name])
            state.setText(self._state(name))
            self.fields[name].name_it(names[name], self._state(name))
        self._hint()

    def _hint(self) -> None:
        hints = {
            "seed": self.tr("Random"),
            "max_tokens": self.tr("No limit"),
            "context_tokens": self.tr("Same as model"),
        }
        for name, words in hints.items():
            set_hint = getattr(self.fields[name].field, "setPlaceholderText", None)
            if set_hint is not None:
                set_hint(words)

    def _state(self, name: str) -> str:
        """Where the value that applies comes from."""
        if any(each in self._view.own for each in _options_of(name)):
            if self.scope is Scope.CHAT:
                return self.tr("Only in this chat")
            return fill(self.tr("With %1, unless a chat says otherwise"), self._model_name)
        return {
            "preset": self.tr("From the preset"),
            "model": fill(self.tr("Default for %1"), self._model_name),
        }.get(self._view.sources.get(name, ""), self.tr("As in Settings"))

    def _names(self) -> dict[str, str]:
        return {
            "system_prompt": self.tr("System prompt"),
            "temperature": self.tr("Temperature"),
            "top_p": self.tr("Top-p"),
            "top_k": self.tr("Top-k"),
            "min_p": self.tr("Min-p"),
            "repetition_penalty": self.tr("Repetition penalty"),
            "seed": self.tr("Seed"),
            "max_tokens": self.tr("Longest reply"),
            "context_tokens": self.tr("Longest context"),
            "thinking": self.tr("Think first"),
            _DRAFTING: self.tr("Drafting"),
        }

    # The panel itself

    def toggle(self, anchor: QWidget) -> None:
        if self.isVisible():
            self.leave()
        else:
            self.focus_before.remember()
            self.open_under(anchor)

    def leave(self) -> None:
        """The focus goes back to where it was."""
        self.hide()
        self.focus_before.give_back()

    def open_under(self, anchor: QWidget) -> None:
        window = self._within
        width = min(self._theme.px(_WIDTH_PX), window.width() - 24)
        at = anchor.mapTo(window, QPoint(0, anchor.height() + 6))
        left = max(12, min(at.x() + (anchor.width() - width) // 2, window.width() - width - 12))
        wanted = self._column.totalMinimumSize().height() + self.page.column.totalSizeHint().height()
        self.setGeometry(left, at.y(), width, max(200, min(wanted, window.height() - at.y() - 12)))
        self.show()
        self.raise_()
        put_in_tab_order(anchor, self)
        self.scopes.setFocus(Qt.FocusReason.TabFocusReason)
        self.opened.emit(True)

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        inside = now is None or now is self or self.isAncestorOf(now) or isinstance(now, QMenu)
        if self.isVisible() and now is not None and not inside and now.window() is self.window():
            self.focus_before.forget()
            self.hide()

    def hideEvent(self, event: object) -> None:
        self.opened.emit(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What is typed beside a field goes nowhere else: the panel would close."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            event.accept()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette)


def _column(*labels: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(2)
    for label in labels:
        column.addWidget(label)
    return column


def _options_of(name: str) -> tuple[str, ...]:
    return ("speculation_mode", "speculation_tokens") if name == _DRAFTING else (name,)


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:11] + "…" + name[-12:]
