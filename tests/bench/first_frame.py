"""The app until its first frame, then no further: `python -m tests.bench.first_frame FOLDER SPAWNED`.

It imports nothing else, so that nothing else is measured.
`SPAWNED` is when the process was asked for. Prints the CPU time of the process and the time by the clock, in ms.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from app.system.qt_imports import read_no_sources


def main(folder: Path, spawned: float) -> None:
    read_no_sources()  # as `app.__main__` does
    from app.application import Application
    from app.system.paths import Paths
    from app.system.qt_application import qt_application

    qt = qt_application()
    application = Application(Paths.for_user(folder))
    figures: dict[str, float] = {}

    def painted() -> None:
        figures["cpu_ms"] = 1000 * time.process_time()
        figures["wall_ms"] = 1000 * (time.monotonic() - spawned)
        qt.exit(0)

    application.window.painted_first.disconnect()  # what comes after it
    application.window.painted_first.connect(painted)
    application.show()
    qt.exec()
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
