"""A picture in its own window, as large as fits. Space and Escape close it; it can be copied and dragged out."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QAccessible,
    QDrag,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
)
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.transcript import Attachment
from app.views.widgets.arrange import arrange
from app.views.widgets.attachment_chip import picture_size, picture_title
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.clipboard import copy_image
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.translated import Translated

_LEAST = QSize(360, 240)
_MOST_SHARE = 0.8  # of the screen
_DRAGGED = QSize(128, 128)
_EDGE = 18


class PicturePage(QWidget):
    """The picture; empty until it is read."""

    accessible_role = QAccessible.Role.Graphic

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.image = QImage()
        self.file = ""  # that has it, for programs that take files
        self._pressed: QPoint | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(_LEAST)

    def show_image(self, image: QImage, file: str) -> None:
        self.image = image
        self.file = file
        self.update()

    def area(self) -> QRectF:
        """Rectangle of the picture: centred, never enlarged."""
        size = self.image.size()
        if size.width() > self.width() or size.height() > self.height():
            size = size.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        left = (self.width() - size.width()) / 2
        top = (self.height() - size.height()) / 2
        return QRectF(left, top, size.width(), size.height())

    def data(self) -> QMimeData:
        data = QMimeData()
        data.setImageData(self.image)
        if self.file:
            data.setUrls([QUrl.fromLocalFile(self.file)])
        return data

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            if not self.image.isNull():
                painter.drawImage(self.area(), self.image)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        far = QApplication.startDragDistance()
        if self.image.isNull() or self._pressed is None:
            return
        if (event.position().toPoint() - self._pressed).manhattanLength() >= far:
            self._pressed = None
            drag = QDrag(self)
            drag.setMimeData(self.data())
            drag.setPixmap(QPixmap.fromImage(self.image.scaled(_DRAGGED, Qt.AspectRatioMode.KeepAspectRatio)))
            drag.exec(Qt.DropAction.CopyAction)


class PictureViewer(Translated, QDialog):
    remove_requested = Signal()

    def __init__(self, theme: Theme, picture: Attachment, parent: QWidget, *, can_remove: bool) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._picture = picture
        self._is_missing = False
        self.page = PicturePage(self)
        self.facts = TextLabel(theme, TextStyle.SECONDARY, self)
        self.copy = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.remove = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.remove.setVisible(can_remove)
        self.close_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self._arrange()
        self.copy.clicked.connect(self._copy)
        self.remove.clicked.connect(self._remove)
        self.close_button.clicked.connect(self.accept)
        theme.changed.connect(self.update)
        self.close_button.setFocus()  # else Qt gives it to the first button, and Space would remove or copy
        self._retranslate()
        self._fit(parent.screen().availableSize() * _MOST_SHARE)

    def _arrange(self) -> None:
        foot = arrange(QHBoxLayout(), (self.facts, 1), self.copy, self.remove, self.close_button)
        arrange(QVBoxLayout(self), (self.page, 1), foot, spacing=12, margins=(_EDGE, 14, _EDGE, 14))

    def _fit(self, screen: QSize) -> None:
        """Resize the window to the picture, within that much of the screen; buttons never cover it."""
        around = self.sizeHint() - _LEAST
        wanted = QSize(self._picture.width, self._picture.height)
        most = QSize(screen.width(), screen.height() - around.height())
        if wanted.width() > most.width() or wanted.height() > most.height():
            wanted = wanted.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
        least = self.sizeHint().width()
        self.resize(max(least, wanted.width() + 2 * _EDGE), wanted.expandedTo(_LEAST).height() + around.height())

    def show_image(self, image: QImage | None, file: str) -> None:
        """Once it is read. None: it is not there any more."""
        self._is_missing = image is None
        self.page.show_image(image or QImage(), file)
        self._retranslate()

    def _copy(self) -> None:
        if not self.page.image.isNull():
            copy_image(self.page.image)

    def _remove(self) -> None:
        self.remove_requested.emit()
        self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self.accept()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.palette.window)

    def _retranslate(self) -> None:
        picture = self._picture
        title = picture_title(picture.name)
        size = picture_size(picture.width, picture.height)
        set_window_title(self, title)
        self.page.setAccessibleName(f"{title}, {size}")
        in_one_line = size.replace(" ", "\N{NO-BREAK SPACE}")
        self.facts.setText(self.tr("This picture is not on the disk any more.") if self._is_missing else in_one_line)
        self.copy.setText(self.tr("Copy"))
        self.copy.setEnabled(not self.page.image.isNull())
        self.remove.setText(self.tr("Remove from Message"))
        self.close_button.setText(self.tr("Close"))
