"""Files that are dropped anywhere on the window, and the sign over it that says where they go."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.theme import RADIUS_BUBBLE, TITLE_PX, Theme
from app.views.widgets.mixins import BeforeWidget
from app.views.widgets.translated import Translated

_INSET_PX = 12


class TakesDrops(BeforeWidget):
    """Comes before the Qt class of a window, and leaves drags to its `drop_target` once there is one."""

    drop_target: DropTarget | None = None

    def dragEnterEvent(self, event: QDragEnterEvent | QDragMoveEvent) -> None:
        if self.drop_target is None or not self.drop_target.enters(event):
            event.ignore()

    dragMoveEvent = dragEnterEvent

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        if self.drop_target is not None:
            self.drop_target.sign.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        if self.drop_target is None or not self.drop_target.drops(event):
            event.ignore()


class DropTarget(QObject):
    """Accepts drops anywhere on a window while `takes_files` returns True."""

    files_dropped = Signal(list)  # paths
    image_dropped = Signal(object)  # a QImage that is no file, as from a web page

    def __init__(self, theme: Theme, window: TakesDrops, takes_files: Callable[[], bool] = lambda: True) -> None:
        super().__init__(window)
        self.sign = DropSign(theme, window)
        self._window = window
        self._takes_files = takes_files
        window.setAcceptDrops(True)
        window.drop_target = self

    def enters(self, event: QDragMoveEvent) -> bool:
        if not (takes(event.mimeData()) and self._takes_files()):
            return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.sign.cover(self._window)
        return True

    def drops(self, event: QDropEvent) -> bool:
        self.sign.hide()
        data = event.mimeData()
        if not (takes(data) and self._takes_files()):
            return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if paths := local_files(data):
            self.files_dropped.emit(paths)
        else:
            self.image_dropped.emit(data.imageData())
        return True


def takes(data: QMimeData) -> bool:
    return bool(local_files(data)) or has_picture(data)


def has_picture(data: QMimeData) -> bool:
    """Whether there is a picture that is no file, and no words beside it: a web page gives its address along."""
    return data.hasImage() and (data.hasUrls() or not data.hasText())


def local_files(data: QMimeData) -> list[str]:
    """The paths of files, in their order; addresses of the web are none."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile() and url.toLocalFile()]


class DropSign(Translated, QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._retranslate()
        self.hide()

    def cover(self, window: QWidget) -> None:
        self.setGeometry(window.rect())
        self.show()
        self.raise_()

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Drop files to attach"))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            inset = min(_INSET_PX, self.height() // 12)  # Quick Ask is as low as a line of text
            frame = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
            painter.setOpacity(0.92)
            if self.window().testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground):  # its corners are round
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colors.window)
                painter.drawRoundedRect(self.rect(), RADIUS_BUBBLE, RADIUS_BUBBLE)
                painter.setBrush(Qt.BrushStyle.NoBrush)
            else:
                painter.fillRect(self.rect(), colors.window)
            painter.setOpacity(1.0)
            painter.setPen(QPen(colors.ink, 2, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(frame, RADIUS_BUBBLE, RADIUS_BUBBLE)
            painter.setPen(colors.text)
            painter.setFont(self._theme.ui_font(TITLE_PX))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(frame.adjusted(20, 0, -20, 0), flags, self.accessibleName())
