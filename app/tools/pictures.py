"""Pictures in a tool's result: decoded by the process for pictures alone, and stored before anything names them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from app.documents.pictures import kind_of, picture_of
from app.documents.problems import Refused
from app.documents.reading import kept
from app.storage import Attachment, Attachments
from app.system.limited_child import Stop
from app.tools.wire import MOST_PICTURES


def stored(pictures: tuple[bytes, ...], keep: Callable[[bytes], str], stop: Stop) -> Attachments:
    """As attachments without a name; what is no picture is left out. Raises ChildStopped."""
    found = (_stored(data, keep, stop) for data in pictures[:MOST_PICTURES])
    return tuple(each for each in found if each is not None)


def _stored(data: bytes, keep: Callable[[bytes], str], stop: Stop) -> Attachment | None:
    kind = kind_of(data)
    if not kind:
        return None
    with tempfile.TemporaryDirectory(prefix="hunch-picture-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "picture"
        try:
            file.write_bytes(data)
            return kept(picture_of(file, kind, stop), "", keep)
        except (Refused, OSError):
            return None
