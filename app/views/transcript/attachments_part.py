"""The chips of what was sent with a message, at the right like its bubble; each opens what it stands for."""

from collections.abc import Iterator

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QWidget

from app.view_models.transcript import Attachments
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Hovered, Part
from app.views.widgets.attachment_chip import AttachmentChip, content_of
from app.words.formats import listed

_GAP_PX = 6
_BELOW_PX = 6
_SHARE = 0.8  # of the column's width, as of bubbles


class AttachmentsPart(Hovered, QWidget):
    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._message_id = 0
        self._shown: Attachments = ()
        self.chips: list[AttachmentChip] = []

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, tuple)
        self._message_id = part.message_id
        if part.content != self._shown:
            self._shown = part.content
            self._make_chips()
        self.setAccessibleName(listed(*(chip.accessibleName() for chip in self.chips)))
        return self._lay(width_px)

    def _make_chips(self) -> None:
        for chip in self.chips:
            chip.hide()
            chip.deleteLater()
        self.chips = [
            AttachmentChip(self._context.theme, content_of(each), self, removable=False) for each in self._shown
        ]
        for number, chip in enumerate(self.chips):
            chip.clicked.connect(lambda _checked=False, number=number: self._open(number))
            chip.setCursor(Qt.CursorShape.PointingHandCursor)
            chip.show()

    def light_found(self, number: int | None) -> None:
        """Shows that a search has found something in this one, and in no other."""
        for each, chip in enumerate(self.chips):
            chip.set_found(each == number)

    def _open(self, number: int) -> None:
        self._context.attachment_requested.emit(self._message_id, number)

    def _lay(self, width_px: int) -> int:
        """Lines of chips, each at the right; the height of all."""
        gap, y = self._context.theme.px(_GAP_PX), 0
        for line in self._lines(round(width_px * _SHARE), gap):
            x = width_px - sum(width for _, width in line) - gap * (len(line) - 1)
            height = line[0][0].sizeHint().height()
            for chip, width in line:
                chip.setGeometry(QRect(x, y, width, height))
                x += width + gap
            y += height + gap
        return y - gap + self._context.theme.px(_BELOW_PX)

    def _lines(self, width_px: int, gap: int) -> Iterator[list[tuple[AttachmentChip, int]]]:
        line: list[tuple[AttachmentChip, int]] = []
        used = 0
        for chip in self.chips:
            width = min(chip.sizeHint().width(), width_px)
            if line and used + width > width_px:
                yield line
                line, used = [], 0
            line.append((chip, width))
            used += width + gap
        if line:
            yield line
