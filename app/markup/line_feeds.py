"""Line ends of a text that comes in pieces."""

from __future__ import annotations


class LineFeeds:
    """Makes every line end a line feed; a carriage return and its line feed may come in two pieces."""

    def __init__(self) -> None:
        self._after_return = False

    def of(self, piece: str) -> str:
        if not piece:
            return piece
        added = piece.removeprefix("\n") if self._after_return else piece
        self._after_return = piece.endswith("\r")
        return added.replace("\r\n", "\n").replace("\r", "\n")
