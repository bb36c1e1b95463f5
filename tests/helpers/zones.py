"""Time zones in which summer time begins and ends, whatever the machine's is; their rules are written out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

NEW_YORK = "EST5EDT,M3.2.0,M11.1.0"
LORD_HOWE = "LHST-10:30LHDT-11,M10.1.0,M4.1.0"  # half an hour
KIRIBATI = "LINT-14"


@contextmanager
def in_zone(zone: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        del os.environ["TZ"]
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()
