"""The list of what was deleted: painting a row, and its keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import FOOTER_PX, UI_PX, Theme
from app.view_models.trash_list import DELETION, Deletion, TrashListModel
from app.views.widgets.held_keys import RETURN_KEYS, is_held
from app.views.widgets.painting import paint_line, paint_row_ground
from app.views.widgets.row_list import Index, RowRing, set_up_row_list
from app.words.trash import deletion_detail, deletion_title


class TrashList(RowRing, QListView):
    read_requested = Signal()
    forget_requested = Signal()

    def __init__(self, theme: Theme, model: TrashListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setModel(model)
        self.setItemDelegate(_DeletionDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        set_up_row_list(self, theme)
        self.doubleClicked.connect(lambda _index: self.read_requested.emit())

    def chosen(self) -> Sequence[Deletion]:
        return [index.data(DELETION) for index in sorted(self.selectedIndexes(), key=lambda index: index.row())]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_held(event):
            event.accept()
        elif event.key() in RETURN_KEYS:
            self.read_requested.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and not event.isAutoRepeat():
            self.forget_requested.emit()
        else:
            super().keyPressEvent(event)


class _DeletionDelegate(QStyledItemDelegate):
    """Three lines: the title, when and how much, and the latest words of it."""

    def __init__(self, shown: TrashList) -> None:
        super().__init__(shown)
        self._list = shown

    def _fonts(self) -> tuple[QFont, QFont, QFont]:
        theme = self._list.theme
        small = theme.ui_font(FOOTER_PX)
        return theme.ui_font(UI_PX, QFont.Weight.DemiBold), theme.ui_font(FOOTER_PX, tabular=True), small

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        lines = sum(QFontMetrics(font).height() for font in self._fonts())
        return QSize(0, lines + self._list.theme.px(20))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, colors = self._list.theme, self._list.theme.palette
        deletion: Deletion = index.data(DELETION)
        area = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        filled = selected or bool(state & QStyle.StateFlag.State_MouseOver)
        paint_row_ground(painter, area, colors, filled, selected and self._list.has_ring)
        words = " ".join(deletion.words.split())
        texts = (deletion_title(deletion), deletion_detail(deletion), words)
        place = area.adjusted(theme.px(12), theme.px(8), -theme.px(12), 0)
        for text, font, color in zip(
            texts, self._fonts(), (colors.text, colors.secondary, colors.secondary), strict=True
        ):
            line = QRect(place.left(), place.top(), place.width(), QFontMetrics(font).height())
            paint_line(painter, line, text, font, color)
            place.setTop(line.bottom() + theme.px(2))
        painter.restore()
