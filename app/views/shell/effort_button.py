"""The composer's button for how much the model thinks. It is there only where the chosen main model leaves a choice."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.controllers.chat_options import ChatOptions
from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.chat_options import Scope, shown_effort
from app.views.widgets.buttons import IconButton
from app.views.widgets.held_keys import Menu, popup_menu
from app.views.widgets.translated import Translated
from app.words.formats import fill, in_menu
from app.words.model_names import human_name
from app.words.options import option_name, thinking_words

_DOTS = ("low", "normal", "high")
_DOT_PX = 2.5


class EffortButton(Translated, IconButton):
    """Opens a menu of the levels; dots under its icon say which one is chosen."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "lightbulb", parent=parent)
        self._levels: tuple[str, ...] = ()
        self._value: object = "off"
        self._model_name = ""
        self._own = False  # the chat has a level of its own
        self.clicked.connect(self._open_menu)
        self.hide()
        self._retranslate()

    def bind(self, options: ChatOptions, models: ModelController) -> None:
        self._options = options
        self._models = models
        for changed in (options.changed, models.pair_changed, models.library.changed):
            changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        view = self._options.view(Scope.CHAT)
        thinking = {**view.otherwise, **view.own}["thinking"]
        models = self._models
        own = "thinking" in view.own
        self.show_effort(thinking, models.efforts(), human_name(models.pair.main_name), own=own)

    def show_effort(self, value: object, levels: Sequence[str], model_name: str, *, own: bool) -> None:
        """`value` of the option `thinking`; `levels` that the model knows."""
        self._value = shown_effort(value, levels)
        self._levels = tuple(levels)
        self._model_name = model_name
        self._own = own
        self.set_icon("lightbulb-off" if self._value == "off" else "lightbulb")
        self._retranslate()
        self.setVisible(len(levels) > 1)

    def menu(self) -> Menu:
        menu = popup_menu(self, self.theme)
        main = self._options.main  # another may be loaded before one is chosen
        limit = (self._value,) if isinstance(self._value, int) else ()
        for level in (*self._levels, *limit):
            action = menu.addAction(thinking_words(level))
            action.setCheckable(True)
            action.setChecked(level == self._value)
            action.triggered.connect(
                lambda _checked=False, level=level: self._options.put(Scope.CHAT, "thinking", level)
            )
        menu.addSeparator()
        keep = menu.addAction(fill(self.tr("Use for All Chats with %1"), in_menu(self._model_name)))
        keep.setEnabled(self._own)
        keep.triggered.connect(lambda _checked=False: self._options.keep_for_model("thinking", main))
        return menu

    def _open_menu(self) -> None:
        menu = self.menu()
        above = QPoint(0, -menu.sizeHint().height() - 2)
        menu.popup(self.mapToGlobal(above))
        chosen = next((action for action in menu.actions() if action.isChecked()), None)
        if chosen is not None:
            menu.setActiveAction(chosen)

    def _retranslate(self) -> None:
        self.set_name(fill(self.tr("%1: %2"), option_name("thinking"), thinking_words(self._value)))

    def paint_content(self, painter: QPainter) -> None:
        super().paint_content(painter)
        if self._value not in _DOTS:
            return
        colors = self.theme.palette
        side = self.theme.px(_DOT_PX)
        left = self.width() / 2 - side * 2.5
        for at in range(len(_DOTS)):
            faint = QColor(colors.secondary)
            faint.setAlphaF(1.0 if at <= _DOTS.index(str(self._value)) else 0.25)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faint)
            painter.drawEllipse(QRectF(left + at * side * 2, self.height() - side * 2, side, side))
