"""Why a server failed, as an exception within the host; the last lines of its stderr."""

from __future__ import annotations

from collections import deque

from app.tools.wire import DETAIL_CHARACTERS, TAIL_LINE_BYTES, TAIL_LINES, Problem


class HostFailure(Exception):
    def __init__(self, problem: Problem, detail: str = "") -> None:
        super().__init__(problem.value)
        self.problem = problem
        self.detail = detail[:DETAIL_CHARACTERS]


class Tail:
    """The last lines of a stream of bytes, in bounded memory and linear time."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._line = bytearray()

    def add(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._grow(first)
        for each in others[-TAIL_LINES - 1 :]:
            self._lines.append(bytes(self._line))
            self._line.clear()
            self._grow(each)

    def lines(self) -> list[str]:
        every = [*self._lines, bytes(self._line)] if self._line else [*self._lines]
        return [each.decode("utf-8", "replace").rstrip("\r") for each in every[-TAIL_LINES:]]

    def _grow(self, more: bytes) -> None:
        self._line += more[: TAIL_LINE_BYTES - len(self._line)]
