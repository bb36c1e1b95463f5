"""Editing the title of a chat, or the name of a folder, in its row."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent

from app.theme import Theme
from app.views.shell.chat_rows import EDGE_PX, name_left, row_of
from app.views.widgets.fields import LineField
from app.views.widgets.held_keys import RETURN_KEYS
from app.views.widgets.row_list import RowRing

_FOLDER_EDGE_PX = 5  # from its edge to the words, where a folder's icon stands close before them


class RenameField(LineField):
    """Return or leaving keeps the text, Escape does not. It follows its row, and goes when that goes."""

    def __init__(
        self, chats: RowRing, theme: Theme, row: Callable[[], QModelIndex], text: str, done: Callable[[str], None]
    ) -> None:
        """`row` says where the row is now; `done` is called with a changed text."""
        super().__init__(theme, parent=chats.viewport())
        self._chats, self._reason = chats, chats.reason
        self._theme = theme
        self._row = row
        self._before = text
        self._tell = done
        self._done = False
        self.setText(text)
        self.setGeometry(self._place())
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.returnPressed.connect(lambda: self._finish(keep=True))
        self.editingFinished.connect(lambda: self._finish(keep=True))
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._follow)
        listed, bar = chats.model(), chats.verticalScrollBar()
        for moved in (listed.rowsInserted, listed.rowsRemoved, listed.modelReset, bar.valueChanged, theme.changed):
            moved.connect(self._follow_soon)
        chats.viewport().installEventFilter(self)

    def _place(self) -> QRect:
        """The row from its name on, so that the words stay where they are, and the icon is not covered."""
        index = self._row()
        if not index.isValid():
            return QRect()
        row = row_of(index)
        room = self._theme.px(_FOLDER_EDGE_PX if row.folder_id else EDGE_PX)
        self.setTextMargins(room - self._theme.px(8) - 3, 0, 0, 0)  # less what the field's style keeps free
        before = name_left(self._theme, row) - room
        return self._chats.visualRect(index).adjusted(before, 0, 0, 0)

    def _follow_soon(self) -> None:
        """Delayed to the next event loop pass, because a row moves as a removal and an insertion."""
        self._later.start()

    def _follow(self) -> None:
        place = self._place()
        if place.isValid():
            self.setGeometry(place)
        else:
            self._finish(keep=False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._follow_soon()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The key that ends it does nothing else: Qt would pass Return on to the list, which opens what has it."""
        if event.key() == Qt.Key.Key_Escape:
            self._finish(keep=False)
        else:
            super().keyPressEvent(event)
        if event.key() in RETURN_KEYS:
            event.accept()

    def _finish(self, keep: bool) -> None:
        if self._done:
            return
        self._done = True
        self.commit()
        text = self.text().strip()
        if keep and text and text != self._before:
            self._tell(text)
        if self.hasFocus():
            self._chats.setFocus(self._reason)
        self.deleteLater()
