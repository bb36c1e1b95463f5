"""Python's garbage collection, on the GUI thread only.

Left alone, it runs on whichever thread allocates next. When the engine's or the formulas' thread then frees a Qt object
that sat in a cycle, the process dies. MEASURED: a segmentation fault in a formula's thread, each time the tests ran.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_LOOK_EVERY_MS = 500


class GuiThreadGarbage(QObject):
    """Runs due garbage collections from a timer of the GUI thread."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_LOOK_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        """The oldest generation that is due, by Python's own thresholds."""
        due = [generation for generation in range(3) if gc.get_count()[generation] > gc.get_threshold()[generation]]
        if due:
            gc.collect(due[-1])
