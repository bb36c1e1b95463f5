"""The list of what was deleted: painting a row, and its keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import FOOTER_PX, RADIUS_ROW, UI_PX, Theme
from app.view_models.trash_list import DELETION, Deletion, TrashListModel
from app.views.widgets.scrolling import ThinScrollBars
from app.words.trash import deletion_detail, deletion_title

Index = QModelIndex | QPersistentModelIndex


class TrashList(QListView):
    restore_requested = Signal()
    forget_requested = Signal()

    def __init__(self, theme: Theme, model: TrashListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setModel(model)
        self.setItemDelegate(_DeletionDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.doubleClicked.connect(lambda _index: self.restore_requested.emit())
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        ThinScrollBars(self, theme)

    def chosen(self) -> Sequence[Deletion]:
        return [index.data(DELETION) for index in sorted(self.selectedIndexes(), key=lambda index: index.row())]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.restore_requested.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
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
        self._paint_ground(painter, area, option.state)
        words = " ".join(deletion.words.split())
        texts = (deletion_title(deletion), deletion_detail(deletion), words)
        place = area.adjusted(theme.px(12), theme.px(8), -theme.px(12), 0)
        for text, font, color in zip(
            texts, self._fonts(), (colors.text, colors.secondary, colors.secondary), strict=True
        ):
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(color)
            line = QRect(place.left(), place.top(), place.width(), metrics.height())
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, shown)
            place.setTop(line.bottom() + theme.px(2))
        painter.restore()

    def _paint_ground(self, painter: QPainter, area: QRect, state: QStyle.StateFlag) -> None:
        colors = self._list.theme.palette
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        ring = chosen and self._list.hasFocus()
        painter.setPen(QPen(colors.ink, 2) if ring else Qt.PenStyle.NoPen)
        painter.setBrush(colors.hover if chosen or state & QStyle.StateFlag.State_MouseOver else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)
