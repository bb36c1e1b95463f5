"""The process that decodes a picture: prints a PNG encoded by itself in a line of JSON, or the reason for failure."""

from __future__ import annotations

import base64
import json
import logging
import os
import sys
from pathlib import Path

from app.documents.picture_files import MOST_READ_BYTES
from app.documents.pictures import LIMITS, SAFE_PIXELS
from app.documents.problems import Refused, WhyNot
from app.system.limited_child import given, set_limits


def main(arguments: list[str]) -> int:
    set_limits(LIMITS)
    logging.disable()
    os.environ["QT_LOGGING_RULES"] = "*=false"
    try:
        said = _decoded(Path(arguments[0]), arguments[1])
    except MemoryError:
        said = {"why": WhyNot.PICTURE_TOO_LARGE, "limit": SAFE_PIXELS}
    except Refused as refused:
        said = {"why": refused.why, "limit": refused.limit}
    except Exception:  # noqa: BLE001  whatever a file that is not trusted makes a library do
        said = {"why": WhyNot.PICTURE_DAMAGED}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    return 0


def _decoded(path: Path, kind: str) -> dict[str, object]:
    from PySide6.QtGui import QImageReader

    from app.documents.picture_values import as_stored, can_read, read_image

    if not can_read(kind):
        raise Refused(WhyNot.IMAGE)
    QImageReader.setAllocationLimit(-(-MOST_READ_BYTES >> 20))
    made = as_stored(read_image(path, kind))
    return {
        "width": made.width,
        "height": made.height,
        "png": base64.b64encode(made.png).decode(),
        "thumbnail": made.thumbnail,
    }


if __name__ == "__main__":
    sys.exit(main(given()))
