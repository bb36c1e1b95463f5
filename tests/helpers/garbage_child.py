"""What is set aside, looked at and freed, in a process of its own: in that of the tests a collection takes seconds."""

from __future__ import annotations

import gc
import sys
import weakref

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication

from app.system.qt_application import GuiThreadGarbage


class Knot:
    """Holds itself, and a QObject."""

    def __init__(self) -> None:
        self.self = self
        self.qt = QObject()


def is_looked_at(thing: object) -> bool:
    return any(each is thing for each in gc.get_objects())


def set_aside_what_more_was_imported(garbage: GuiThreadGarbage) -> None:
    later: list[object] = [[]]
    garbage.collect()
    assert is_looked_at(later), "it is set aside though nothing was imported"
    young = weakref.ref(Knot())
    sys.modules["one.more"] = sys
    garbage.collect()  # more may follow
    assert is_looked_at(later), "it is set aside while imports go on"
    garbage.collect()
    assert not is_looked_at(later), "it is never set aside"
    assert young() is None, "what has just become garbage is set aside with the rest"


def import_more(garbage: GuiThreadGarbage, name: str) -> None:
    """Say it has come to rest."""
    sys.modules[name] = sys
    garbage.collect()
    garbage.collect()


def main() -> None:
    app = QApplication([])
    garbage = GuiThreadGarbage(app)
    knot, before = Knot(), list[object]()
    gone = weakref.ref(knot)
    garbage.collect()
    garbage.collect()
    assert not is_looked_at(before), "what was there is looked at again"
    del knot
    gc.collect()
    assert gone() is not None, "it was not set aside"
    set_aside_what_more_was_imported(garbage)
    assert gone() is not None
    app.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    assert gone() is None, "it is kept for ever"
    knot = Knot()
    gone = weakref.ref(knot)
    import_more(garbage, "one.there")
    del knot
    import_more(garbage, "another.there")
    assert gone() is None, "it is kept for ever"
    assert gc.get_freeze_count() > 0


if __name__ == "__main__":
    main()
