"""A chip for one attachment: name, size, tokens. It can be removed in the composer, and opened in sent messages."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QImage,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from app.theme import FOOTER_PX, RADIUS_CARD, UI_PX, Theme
from app.view_models.attached import AttachedRow
from app.view_models.transcript import AttachmentKind
from app.views.icons import icon
from app.views.widgets.buttons import IconButton, PaintedButton
from app.views.widgets.held_keys import REMOVE_KEYS, Menu, popup_menu
from app.views.widgets.roles import announce
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import fill, listed, percent, size

_NAME_PX = 220
_PAD_PX = 10
_BUTTON_PX = 20
PICTURE_PX = 64
_DENSITY = 2  # of thumbnails
_UNSEEN_OPACITY = 0.35
_NEAR = (QEvent.Type.Enter, QEvent.Type.Leave, QEvent.Type.FocusIn, QEvent.Type.FocusOut)


def picture_title(name: str) -> str:
    return name or QCoreApplication.translate("AttachmentChip", "Picture")


def picture_size(width: int, height: int) -> str:
    return f"{width} × {height}"


class AttachmentChip(Translated, PaintedButton):
    """Return and a click open it; where it can be removed, Delete and a small button remove it.

    A picture is its thumbnail: a square where it can be removed, with the button on it while the pointer is there,
    and in its own shape in sent messages.
    """

    remove_requested = Signal()
    put_back_requested = Signal()

    def __init__(self, theme: Theme, row: AttachedRow, parent: QWidget, *, removable: bool, most_px: int = 0) -> None:
        """`most_px`: the height of a picture in its own shape; 0: as high as its thumbnail."""
        super().__init__(theme, parent)
        self._row = row
        self._most_px = most_px
        self._is_found = False
        self._is_unseen = False
        self._thumbnail = _thumbnail(row)
        self.close_button = IconButton(theme, "x", _BUTTON_PX, self) if removable else None
        self.setCursor(Qt.CursorShape.ArrowCursor)
        if self.close_button is not None:
            self.close_button.clicked.connect(self.remove_requested)
        self._retranslate()

    def set_row(self, row: AttachedRow) -> None:
        if row != self._row:
            self._row = row
            self._thumbnail = _thumbnail(row)
            self._retranslate()
            self._show_button()

    def set_unseen(self, unseen: bool) -> None:
        """Dim a picture that the chosen model cannot see; screen readers get it as text."""
        if (unseen := unseen and self._row.is_picture) != self._is_unseen:
            self._is_unseen = unseen
            self._retranslate()

    def set_found(self, found: bool) -> None:
        """Whether a search has found something in it; screen readers say so."""
        if found != self._is_found:
            self._is_found = found
            self._retranslate()
            if found:
                announce(self, self.accessibleName())

    def _retranslate(self) -> None:
        unseen = self.tr("this model cannot see it") if self._is_unseen else ""
        words = listed(self.title(), self.detail(), self.tr("contains a match") if self._is_found else "", unseen)
        self.setAccessibleName(words)
        set_tooltip(self, words)
        if self.close_button is not None:
            self.close_button.set_name(fill(self.tr("Remove %1"), self.title()))
        self.updateGeometry()
        self.update()

    def title(self) -> str:
        if self._row.is_picture:
            return picture_title(self._row.name)
        found = self._row.kind is AttachmentKind.PASSAGES
        return self._row.name or (self.tr("From the documents") if found else self.tr("Pasted text"))

    def detail(self) -> str:
        row = self._row
        if row.kind is AttachmentKind.NOTE:
            return self.tr("not imported")
        if row.kind is AttachmentKind.SEARCHED:
            return self.tr("searched") if row.progress is None else self.tr("Reading…")
        if row.attachment is None:
            share = row.progress
            return self.tr("Reading…") if share is None else fill(self.tr("Reading… %1"), percent(share))
        tokens = "" if row.tokens is None else self.tr("%Ln token(s)", "", row.tokens)
        if row.is_picture:
            pixels = picture_size(row.attachment.width, row.attachment.height)
            return " · ".join((pixels, tokens) if row.tokens else (pixels,))
        return " · ".join(part for part in (size(row.size_bytes), tokens) if part)

    def sizeHint(self) -> QSize:
        theme = self.theme
        if self._row.is_picture:
            side = QSize(theme.px(PICTURE_PX), theme.px(PICTURE_PX))
            if self.close_button is not None or self._thumbnail.isNull():
                return side
            size = self._thumbnail.size() * (theme.scale / _DENSITY)
            if self._most_px and size.height() > theme.px(self._most_px):
                size.scale(size.width(), theme.px(self._most_px), Qt.AspectRatioMode.KeepAspectRatio)
            return size.expandedTo(side / 2)
        name = QFontMetrics(theme.ui_font(UI_PX)).horizontalAdvance(self.title())
        detail = QFontMetrics(theme.ui_font(FOOTER_PX, tabular=True)).horizontalAdvance(self.detail())
        close = theme.px(_BUTTON_PX + 4) if self.close_button is not None else 0
        width = theme.px(_PAD_PX + 16 + 8) + min(name, theme.px(_NAME_PX)) + theme.px(8) + detail + close
        return QSize(width + theme.px(_PAD_PX), theme.px(32))

    def height_at(self, width_px: int) -> int:
        """A picture keeps its shape where it is narrower than it likes to be."""
        hint = self.sizeHint()
        if self._row.is_picture and width_px < hint.width():
            return max(1, hint.height() * width_px // hint.width())
        return hint.height()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.close_button is not None:
            side = self.close_button.sizeHint().width()
            edge = self.theme.px(2 if self._row.is_picture else 6)
            top = edge if self._row.is_picture else (self.height() - side) // 2
            self.close_button.setGeometry(self.width() - side - edge, top, side, side)
            self._show_button()

    def _show_button(self) -> None:
        """On a picture only with the pointer or the focus: it would hide what it lies on."""
        if self.close_button is not None:
            near = self.underMouse() or self.hasFocus() or self.close_button.hasFocus()
            self.close_button.setVisible(near or not self._row.is_picture)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in _NEAR:
            self._show_button()
        return done

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in REMOVE_KEYS and self.close_button is not None:
            if not event.isAutoRepeat():  # a key that is held would remove all of them
                self.remove_requested.emit()
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu().popup(event.globalPos())

    def menu(self) -> Menu:
        menu = popup_menu(self, self.theme)
        menu.addAction(self.tr("Open")).triggered.connect(self.click)
        if self.close_button is not None:
            if self._row.attachment is not None and not self._row.is_picture:
                menu.addAction(self.tr("Insert into Message")).triggered.connect(self.put_back_requested)
            menu.addAction(self.tr("Remove")).triggered.connect(self.remove_requested)
        return menu

    def corner_radius(self) -> float:
        return RADIUS_CARD

    def paint_content(self, painter: QPainter) -> None:
        theme = self.theme
        colors = self.theme.palette
        if self._row.is_picture:
            self._paint_picture(painter)
            return
        self.fill(painter, colors.bubble if self.close_button is None else colors.hover)
        if self._is_found:
            self._paint_found(painter)
        if self.underMouse() or self.isDown():
            self.fill(painter, colors.hover)
        side = theme.px(16)
        left = theme.px(_PAD_PX)
        icon("file-text", colors.secondary).paint(painter, QRect(left, (self.height() - side) // 2, side, side))
        area = self.rect().adjusted(left + side + theme.px(8), 0, -theme.px(_PAD_PX), 0)
        if self.close_button is not None:
            area.setRight(self.close_button.x() - theme.px(4))
        self._paint_words(painter, area)

    def _paint_picture(self, painter: QPainter) -> None:
        colors = self.theme.palette
        area = QRectF(self.rect())
        self.fill(painter, colors.bubble)
        frame = QPainterPath()
        frame.addRoundedRect(area, RADIUS_CARD, RADIUS_CARD)
        painter.save()
        painter.setClipPath(frame)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setOpacity(_UNSEEN_OPACITY if self._is_unseen else 1.0)
        shown = QRectF(self._thumbnail.rect())
        fills = self.close_button is not None
        how = Qt.AspectRatioMode.KeepAspectRatioByExpanding if fills else Qt.AspectRatioMode.KeepAspectRatio
        place = QRectF(QPointF(), shown.size().scaled(area.size(), how))
        place.moveCenter(area.center())
        painter.drawPixmap(place, self._thumbnail, shown)
        painter.restore()
        if self.close_button is not None and self.close_button.isVisible():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.surface)
            painter.drawEllipse(QRectF(self.close_button.geometry()))
        painter.setPen(QPen(colors.text, 2) if self._is_found else QPen(colors.hairline, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        if self._is_unseen:
            self._paint_unseen(painter)

    def _paint_unseen(self, painter: QPainter) -> None:
        """A sign, since dimming alone could be the picture's own."""
        colors = self.theme.palette
        side = self.theme.px(20)
        edge = self.theme.px(4)
        badge = QRect(edge, self.height() - side - edge, side, side)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.surface)
        painter.drawEllipse(QRectF(badge))
        icon("eye-off", colors.text).paint(painter, badge.adjusted(3, 3, -3, -3))

    def _paint_found(self, painter: QPainter) -> None:
        """A line around it on a tint: not by colour alone."""
        colors = self.theme.palette
        painter.setPen(QPen(colors.text, 1))
        painter.setBrush(colors.found)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)

    def _paint_words(self, painter: QPainter, area: QRect) -> None:
        """The figures are shown whole; the name gets the room that is left."""
        theme = self.theme
        colors = self.theme.palette
        small = theme.ui_font(FOOTER_PX, tabular=True)
        detail_px = QFontMetrics(small).horizontalAdvance(self.detail())
        name_px = max(0, area.width() - detail_px - theme.px(8))
        metrics = QFontMetrics(theme.ui_font(UI_PX))
        name = metrics.elidedText(self.title(), Qt.TextElideMode.ElideMiddle, name_px + 1)
        painter.setFont(theme.ui_font(UI_PX))
        painter.setPen(colors.text)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
        painter.setFont(small)
        painter.setPen(colors.text if self._is_found else colors.secondary)  # the tint is dark for the latter
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self.detail())


def _thumbnail(row: AttachedRow) -> QPixmap:
    if row.attachment is None or not row.attachment.thumbnail:
        return QPixmap()
    data = QByteArray.fromBase64(row.attachment.thumbnail.encode())
    return QPixmap.fromImage(QImage.fromData(data, "JPEG"))  # type: ignore[arg-type]
