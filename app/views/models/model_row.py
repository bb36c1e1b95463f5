"""The card of an installed model, and the row of a folder that models are looked for in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.system.file_manager import reveal
from app.theme import Theme
from app.view_models.installed_list import is_too_large
from app.view_models.model_list import ModelEntry, Upkeep, UpkeepState
from app.views.models.badge import DraftBadge
from app.views.models.model_facts import facts, upkeep_text
from app.views.widgets.buttons import Emphasis, IconButton, OpeningButton, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.flow import Flow
from app.views.widgets.labels import ElidedLabel, NameLabel, TextLabel, TextStyle
from app.words.formats import fill, size
from app.words.model_names import human_name
from app.words.notices_for_errors import reason_text, title_and_reason
from app.words.pairs import fit_text, model_kind, precision_text, seeing_text, source_text

_WORDS_NEED_PX = 240  # beside the buttons
_FIRST = ("use_button", "reload_button", "machines_button", "delete_button", "more_button")
_MORE = ("reveal_button", "template_button", "verify_button", "update_button", "mend_button")
_BUTTONS = (*_FIRST, *_MORE)


class ModelRow(Card):
    """Does not follow the language: the page creates all rows again when the list or the language changes."""

    opened = Signal(bool)

    def __init__(self, theme: Theme, entry: ModelEntry, models: ModelController) -> None:
        super().__init__(theme)
        self._theme = theme
        self._entry = entry
        self._models = models
        self._facts: QWidget | None = None
        self._aside = QWidget(self)
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.details = TextLabel(theme, TextStyle.FINE, text=self._details())
        name = human_name(entry.name)
        self.use_button = _button(theme, self.tr("Use"), fill(self.tr("Use %1"), name))
        self.reload_button = _button(theme, self.tr("Reload"), fill(self.tr("Reload %1"), name))
        self.machines_button = _button(theme, self.tr("Run over 2 Macs…"), fill(self.tr("Run %1 over 2 Macs"), name))
        self.more_button = OpeningButton(theme, 28)
        self.more_button.set_name(fill(self.tr("More about %1"), name))
        self.delete_button = IconButton(theme, "trash-2", 28)
        self.delete_button.set_name(fill(self.tr("Delete %1"), name))
        self._arrange()
        # Not before they have a parent: shown without one, they would be windows for a moment.
        stays = entry.upkeep.state is not UpkeepState.DELETING
        self.use_button.setVisible(stays and entry.error is None and not entry.is_main and not entry.is_draft)
        self.reload_button.setVisible(stays and entry.is_outdated)
        self.machines_button.setVisible(stays and _needs_another(entry))
        self.delete_button.setVisible(stays and entry.can_delete)
        self.reload_button.clicked.connect(lambda: models.reload(entry.folder))
        self.use_button.clicked.connect(lambda: models.use(entry.folder))
        self.more_button.clicked.connect(lambda: self.show_facts(self._facts is None))
        theme.changed.connect(self._place_aside)

    @property
    def folder(self) -> str:
        return self._entry.folder

    @property
    def name(self) -> str:
        return self._entry.name

    def focused_button(self) -> str:
        """The name of the one that has the focus; "" where none has."""
        return next((name for name in _BUTTONS if (button := self._button(name)) and button.hasFocus()), "")

    def focus_button(self, name: str) -> None:
        """That one, or where it cannot be pressed now the first."""
        self.show()  # a layout shows what was added to it later, and takes no focus until then
        button = self._button(name)
        usable = button is not None and button.isVisibleTo(self) and button.isEnabled()
        (button if usable and button else self.more_button).setFocus(Qt.FocusReason.TabFocusReason)

    def _button(self, name: str) -> QWidget | None:
        """Some are made with the facts."""
        button: QWidget | None = getattr(self, name, None) if self._facts is not None or name in _FIRST else None
        return button

    def show_facts(self, visible: bool) -> None:
        """They are made when they are first asked for: most never are."""
        if visible and self._facts is None:
            self._facts = self._make_facts()
            self.column.addWidget(self._facts)
        elif not visible and self._facts is not None:
            self._facts.hide()
            self._facts.deleteLater()
            self._facts = None
        self.more_button.set_opened(visible)
        self.opened.emit(visible)

    def _arrange(self) -> None:
        aside = QHBoxLayout(self._aside)
        aside.setContentsMargins(0, 0, 0, 0)
        aside.setSpacing(8)
        for widget in (self._state_label(), self.use_button, self.delete_button, self.more_button):
            aside.addWidget(widget)
        aside.insertStretch(aside.count() - 1)  # the arrows of all rows are below one another
        self._head.setSpacing(8)
        self._head.addLayout(self._words(), 1)
        self._head.addWidget(self._aside)
        self.column.setContentsMargins(16, 10, 10, 10)
        self.column.setSpacing(8)
        self.column.addLayout(self._head)

    def minimumSizeHint(self) -> QSize:
        """The width that the narrow layout needs, where the buttons are below the words."""
        margins = self.column.contentsMargins()
        aside_px = self._aside.minimumSizeHint().width() + margins.left() + margins.right()
        return QSize(aside_px, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_aside()

    def _place_aside(self) -> None:
        beside = self.width() >= self._theme.px(_WORDS_NEED_PX) + self._aside.sizeHint().width()
        self._head.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._head.setAlignment(self._aside, Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag(0))

    def _state_label(self) -> TextLabel:
        """In place of Use: what it is used as now."""
        used = self.tr("Main model in use") if self._entry.is_main else self.tr("Draft in use")
        text = used if self._is_in_use else ""
        label = TextLabel(self._theme, TextStyle.FINE, self, text=text, wraps=False)
        label.setVisible(self._is_in_use)
        return label

    @property
    def _is_in_use(self) -> bool:
        entry = self._entry
        gone = self._entry.upkeep.state is UpkeepState.DELETING
        return (entry.is_main or entry.is_draft) and not entry.is_checking and not gone

    def _words(self) -> QVBoxLayout:
        name = ElidedLabel(self._theme, TextStyle.HEADING, Qt.TextElideMode.ElideMiddle, self)
        name.setText(human_name(self._entry.name))
        name.set_tooltip_text(self._entry.repository or self._entry.name)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addLayout(self._with_badge(name))
        words.addWidget(self.details)
        if self._entry.is_outdated:
            words.addWidget(TextLabel(self._theme, TextStyle.FINE, text=self.tr("Updated on disk, not reloaded yet.")))
        for button in (self.reload_button, self.machines_button):
            words.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)  # the words need the width
        if (error := self._entry.error) is not None:
            words.addWidget(TextLabel(self._theme, TextStyle.FAULT, text=reason_text(error)))
        elif (error := self._entry.indivisible) is not None and self._entry.drafter is None:
            words.addWidget(TextLabel(self._theme, TextStyle.FINE, text=title_and_reason(error)))
        return words

    def _with_badge(self, name: ElidedLabel) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(name)
        if self._entry.has_draft:
            line.addWidget(DraftBadge(self._theme, self))
        line.addStretch(1)
        return line

    def _details(self) -> str:
        entry = self._entry
        precision = precision_text(entry.bits, entry.full_bits, entry.quantization)
        parts = [*model_kind(entry.drafter), *filter(None, (precision,)), size(entry.size_bytes)]
        parts += [self.tr("can think")] if entry.about.thinking else []
        parts += [seeing_text()] if entry.sees else []
        if not entry.can_delete:  # it is not ours
            parts.append(source_text(entry.source))
        if entry.fit is not None and (entry.drafter is None or is_too_large(entry)):
            parts.append(fit_text(entry.fit.level))  # whether a drafter fits depends on what it drafts for, too
        if entry.upkeep.state is UpkeepState.DELETING:
            parts.append(self.tr("deleting…"))
        elif entry.is_checking:
            parts.append(self.tr("checking…"))
        if entry.upkeep.state is UpkeepState.DAMAGED:
            parts.append(self.tr("damaged"))
        elif entry.upkeep.state is UpkeepState.OUTDATED:
            parts.append(self.tr("update available"))
        return " · ".join(parts)

    def _make_facts(self) -> QWidget:
        panel = QWidget(self)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        for place, (name, fact) in enumerate(facts(self._entry, self._models.library.context_tokens)):
            named = TextLabel(self._theme, TextStyle.FINE, text=name, wraps=False)
            grid.addWidget(named, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self._fact(fact), place, 1)
        inside = QVBoxLayout(panel)
        inside.setContentsMargins(0, 4, 0, 0)
        inside.setSpacing(10)
        inside.addLayout(grid)
        inside.addLayout(self._actions())
        if found := upkeep_text(self._entry.upkeep):
            self.upkeep = TextLabel(self._theme, TextStyle.FINE, text=found)
            inside.addWidget(self.upkeep)
        return panel

    def show_upkeep(self, upkeep: Upkeep) -> None:
        """How far it is; what it has found comes with another row."""
        if self._facts is not None and self._entry.upkeep.state is upkeep.state:
            self.upkeep.setText(upkeep_text(upkeep))
        self._entry = replace(self._entry, upkeep=upkeep)

    def _fact(self, fact: str) -> QWidget:
        """A path has no place where a line could end."""
        if " " not in fact:
            return NameLabel(self._theme, TextStyle.FINE, text=fact)
        label = TextLabel(self._theme, TextStyle.FINE, text=fact)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _actions(self) -> Flow:
        row = Flow()
        library = self._models.library
        self.reveal_button = self._action("folder", self.tr("Show in folder"), reveal)
        self.template_button = self._action("file-text", self.tr("Chat template"), library.read_template)
        self.verify_button = self._verify_action()
        self.update_button = self._action("refresh-cw", self.tr("Check for update"), library.check_for_update)
        self.mend_button = self._action("download", self._mend_text(), library.mend)
        for name in _MORE:
            row.addWidget(getattr(self, name))
        self.template_button.setVisible(self._entry.about.template)
        self.mend_button.setVisible(bool(self._mend_text()))
        state = self._entry.upkeep.state
        busy = state in (UpkeepState.VERIFYING, UpkeepState.ASKING, UpkeepState.DELETING)
        self.verify_button.setEnabled(state not in (UpkeepState.ASKING, UpkeepState.DELETING))
        self.update_button.setEnabled(not busy)
        managed = self._entry.can_delete and bool(self._entry.repository)
        self.verify_button.setVisible(managed)
        self.update_button.setVisible(managed)
        return row

    def _verify_action(self) -> PillButton:
        """Reading gigabytes takes a while: the same button ends it."""
        if self._entry.upkeep.state is UpkeepState.VERIFYING:
            return self._action("x", self.tr("Stop verifying"), self._models.library.stop_verifying)
        return self._action("check", self.tr("Verify"), self._models.library.verify)

    def _mend_text(self) -> str:
        return {UpkeepState.DAMAGED: self.tr("Repair"), UpkeepState.OUTDATED: self.tr("Update")}.get(
            self._entry.upkeep.state, ""
        )

    def _action(self, icon_name: str, text: str, act: Callable[[str], object]) -> PillButton:
        """`act` takes the folder."""
        # A child from the start: shown without a parent, it would be a window for a moment.
        button = PillButton(self._theme, Emphasis.PLAIN, icon_name, self)
        button.setText(text)
        button.clicked.connect(lambda: act(self.folder))
        return button


def _button(theme: Theme, text: str, name: str) -> PillButton:
    """`name`: for screen readers, which do not see beside what it is."""
    button = PillButton(theme, Emphasis.PLAIN)
    button.setText(text)
    button.setAccessibleName(name)
    return button


def _needs_another(entry: ModelEntry) -> bool:
    """Whether it may run over two machines and not on this one."""
    is_model = entry.drafter is None and entry.error is None
    return is_model and is_too_large(entry) and entry.indivisible is None


class FolderRow(QWidget):
    def __init__(self, theme: Theme, path: str) -> None:
        super().__init__()
        name = NameLabel(theme, text=path)
        self.remove_button = IconButton(theme, "x", 28)
        self.remove_button.set_name(fill(self.tr("Stop looking in %1"), path))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(name, 1)
        row.addWidget(self.remove_button)
