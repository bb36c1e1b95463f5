"""A start beside another Hunch that has the chats and does not answer: it is ending, or hangs."""

from __future__ import annotations

from PySide6.QtCore import QEventLoop, QObject, QTimer

from app.system.only_instance import OnlyInstance
from app.system.paths import APP_NAME
from app.theme import Theme
from app.views.widgets.dialog import Dialog, DialogText
from app.words.languages import Translation, compiled_sentences

_SILENT_MS = 1000  # an end takes about that long
_LOOK_MS = 100


class WaitingStart(QObject):
    def __init__(self, instance: OnlyInstance) -> None:
        super().__init__()
        self._instance = instance
        self._loop = QEventLoop()
        self._translation: Translation | None = None
        self.dialog: Dialog | None = None
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self._try)
        self._silence = QTimer(self, singleShot=True, interval=_SILENT_MS)
        self._silence.timeout.connect(self._show)
        instance.answered.connect(self._loop.quit)

    def wait(self) -> bool:
        """Until the other has ended (True), has answered after all, or the user gives up."""
        self._look.start()
        self._silence.start()
        self._loop.exec()
        self._look.stop()
        self._silence.stop()
        if self.dialog is not None and self._translation is not None:
            self.dialog.finished.disconnect(self._loop.quit)
            self.dialog.close()
            self._translation.remove()
        return self._instance.is_first

    def _try(self) -> None:
        if self._instance.take():
            self._loop.quit()

    def _show(self) -> None:
        self._translation = Translation(compiled_sentences())
        self._translation.switch("")  # the settings are the other's until it has ended
        theme = Theme(self)
        theme.set_language(self._translation.language)
        self.dialog = Dialog(theme, None, self._text)
        self.dialog.finished.connect(self._loop.quit)
        self.dialog.show()

    def _text(self) -> DialogText:
        return DialogText(
            APP_NAME,
            self.tr("Another copy of Hunch has your chats open and is not responding."),
            self.tr("Force quit it if it does not quit by itself."),
            cancel=self.tr("Quit Hunch"),
        )
