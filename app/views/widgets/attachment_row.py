"""The chips of a message that is written or edited."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.theme import Theme
from app.view_models.attached import AttachedModel, AttachedRow
from app.views.widgets.attachment_chip import AttachmentChip
from app.views.widgets.flow import Flow
from app.views.widgets.scrolling import set_up_scroll_area

_MOST_PX = 144  # two lines of pictures; more scroll


class AttachmentRow(QScrollArea):
    """As high as its chips. Signals carry the numbers of rows."""

    open_requested = Signal(int)
    remove_requested = Signal(int)
    put_back_requested = Signal(int)
    left = Signal()  # the last chip in focus was removed
    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = AttachedModel(self)
        self._sees = True
        self.chips: dict[int, AttachmentChip] = {}
        self._inside = QWidget()
        self._flow = Flow(self._inside)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        set_up_scroll_area(self, theme, self._inside)
        theme.changed.connect(self._fit)
        self._model.changed.connect(self._show)
        self.hide()

    def bind(self, model: AttachedModel) -> None:
        """Replace the shown attachments."""
        self._model.changed.disconnect(self._show)
        self._model = model
        model.changed.connect(self._show)
        self._show()

    def set_sees(self, sees: bool) -> None:
        """Whether the chosen model sees pictures; otherwise they are dimmed."""
        self._sees = sees
        for chip in self.chips.values():
            chip.set_unseen(not sees)

    @property
    def unseen(self) -> int:
        """How many pictures are here that the model cannot see."""
        return 0 if self._sees else sum(row.is_picture for row in self.rows)

    @property
    def rows(self) -> list[AttachedRow]:
        return self._model.rows

    @property
    def is_reading(self) -> bool:
        return self._model.is_reading

    def height_at(self, width_px: int) -> int:
        return min(self._flow.heightForWidth(width_px), self._theme.px(_MOST_PX)) if self.rows else 0

    def _show(self) -> None:
        rows = {row.number: row for row in self._model.rows}
        for number in [number for number in self.chips if number not in rows]:
            self._drop(number)
        for number, row in rows.items():
            if number in self.chips:
                self.chips[number].set_row(row)
                self.chips[number].set_unseen(not self._sees)
            else:
                self._add(row)
        self.setVisible(bool(rows))
        self._fit()
        self.changed.emit()

    def _add(self, row: AttachedRow) -> None:
        number = row.number
        chip = AttachmentChip(self._theme, row, self._inside, removable=True)
        chip.clicked.connect(lambda: self.open_requested.emit(number))
        chip.remove_requested.connect(lambda: self.remove_requested.emit(number))
        chip.put_back_requested.connect(lambda: self.put_back_requested.emit(number))
        chip.set_unseen(not self._sees)
        self.chips[number] = chip
        self._flow.addWidget(chip)
        chip.show()

    def _drop(self, number: int) -> None:
        """The next chip gets the focus, or the previous one, so that a key can remove several."""
        numbers = list(self.chips)
        chip = self.chips[number]
        had_focus = chip.hasFocus() or (chip.close_button is not None and chip.close_button.hasFocus())
        at = numbers.index(number)
        del self.chips[number]
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()
        if had_focus:
            left = list(self.chips.values())
            if left:
                left[min(at, len(left) - 1)].setFocus(Qt.FocusReason.TabFocusReason)
            else:
                self.left.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        height = self._flow.heightForWidth(self.viewport().width())
        self.setFixedHeight(min(height, self._theme.px(_MOST_PX)))
