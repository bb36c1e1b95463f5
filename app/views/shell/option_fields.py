"""The fields of a chat's options: each shows what applies, says where that comes from, and can be set or left as it is.

Here: making a field for each option. Not here: whose options they are (`chat_settings.py`).
"""

from __future__ import annotations

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.settings import Settings
from app.theme import Theme
from app.views.settings.sampling import PromptField
from app.views.settings.speculation_controls import SpeculationControls
from app.views.widgets.buttons import IconButton
from app.views.widgets.fields import NUMBER_PX, LineField, NumberField, Switch, WholeField
from app.views.widgets.translated import Translated

STEPS = {"temperature": 0.1, "top_p": 0.05, "min_p": 0.01, "repetition_penalty": 0.05}


class OptionField(Translated, QWidget):
    """A field and the button that leaves the option as it is elsewhere."""

    chosen = Signal(object)
    left = Signal()

    def __init__(self, theme: Theme, field: QWidget) -> None:
        super().__init__()
        self.field = field
        self.leave = IconButton(theme, "x", 24)
        kept = self.leave.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.leave.setSizePolicy(kept)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(field, 0)
        row.addWidget(self.leave, 0, Qt.AlignmentFlag.AlignTop)
        self.leave.clicked.connect(self.left)
        self._retranslate()

    def show_value(self, value: object, *, own: bool) -> None:
        self.leave.setVisible(own)
        self.field.blockSignals(True)
        self.put(value)
        self.field.blockSignals(False)

    def put(self, value: object) -> None:
        raise NotImplementedError

    def name_it(self, name: str, state: str) -> None:
        """For screen readers."""
        self.field.setAccessibleName(name)
        self.field.setAccessibleDescription(state)

    def _retranslate(self) -> None:
        self.leave.set_name(self.tr("As in Settings"))


class NumberOption(OptionField):
    def __init__(self, theme: Theme, name: str) -> None:
        check = Settings.options()[name].check
        self.number = NumberField(theme, (check(-1e9), check(1e9)), STEPS[name], NUMBER_PX)
        super().__init__(theme, self.number)
        self.number.valueChanged.connect(lambda value: self.chosen.emit(round(value, 2)))

    def put(self, value: object) -> None:
        self.number.setValue(float(str(value)))


class WholeOption(OptionField):
    def __init__(self, theme: Theme, name: str) -> None:
        check = Settings.options()[name].check
        self.number = WholeField(theme, check(-(10**9)), check(10**9), NUMBER_PX)
        super().__init__(theme, self.number)
        self.number.valueChanged.connect(lambda value: self.chosen.emit(value))  # noqa: PLW0108  another signature

    def put(self, value: object) -> None:
        self.number.setValue(int(str(value)))


class LongNumberOption(OptionField):
    """A whole number that may be left out; longer than a spin box can hold."""

    def __init__(self, theme: Theme) -> None:
        self.line = LineField(theme, NUMBER_PX)
        self.line.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.line.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,20}"), self.line))
        super().__init__(theme, self.line)
        self._shown = ""
        self.line.editingFinished.connect(self._finish)

    def _finish(self) -> None:
        text = self.line.text()
        if text != self._shown:
            self._shown = text
            self.chosen.emit(int(text) if text else None)

    def put(self, value: object) -> None:
        self._shown = "" if value is None else str(value)
        self.line.setText(self._shown)


class SwitchOption(OptionField):
    def __init__(self, theme: Theme) -> None:
        self.switch = Switch(theme)
        super().__init__(theme, self.switch)
        self.switch.toggled.connect(lambda on: self.chosen.emit(on))  # noqa: PLW0108  another signature

    def put(self, value: object) -> None:
        self.switch.setChecked(bool(value))


class PromptOption(OptionField):
    def __init__(self, theme: Theme) -> None:
        self.prompt = PromptField(theme)
        super().__init__(theme, self.prompt)
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.setStretch(0, 1)
        self.prompt.textChanged.connect(lambda: self.chosen.emit(self.prompt.text()))

    def put(self, value: object) -> None:
        if self.prompt.text() != value and not self.prompt.is_composing:
            self.prompt.set_text(str(value))


class DraftingOption(OptionField):
    """Two options of the settings, which belong together: how, and how many tokens."""

    def __init__(self, theme: Theme) -> None:
        self.controls = SpeculationControls(theme)
        super().__init__(theme, self.controls)
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.setStretch(0, 1)
        self.controls.chosen.connect(lambda mode, tokens: self.chosen.emit((mode, tokens)))

    def put(self, value: object) -> None:
        assert isinstance(value, tuple)
        self.controls.set_values(str(value[0]), int(value[1]))


def make_field(theme: Theme, name: str) -> OptionField:
    if name in STEPS:
        return NumberOption(theme, name)
    if name == "top_k":
        return WholeOption(theme, name)
    if name in ("seed", "max_tokens", "context_tokens"):
        return LongNumberOption(theme)
    if name in ("thinking", "fastest"):
        return SwitchOption(theme)
    return PromptOption(theme) if name == "system_prompt" else DraftingOption(theme)
