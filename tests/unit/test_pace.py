"""Which lines drip, by a clock of the test: waiting counts, and what its reader does between two reads does not."""

from __future__ import annotations

import httpcore2
import httpx2
import pytest

from engine.hub import connecting
from engine.hub.connecting import PacedStream
from engine.hub.http import HubHttp
from engine.hub.stop import LEAST_BYTES_PER_S

TIMEOUT_S = 20.0


class Line(httpcore2.NetworkStream):
    """It gives so many bytes every so many seconds."""

    def __init__(self, piece: int, every_s: float) -> None:
        self.piece, self.every_s, self.now, self.read_bytes = piece, every_s, 0.0, 0

    def monotonic(self) -> float:
        return self.now

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.now += self.every_s
        self.read_bytes += min(max_bytes, self.piece)
        return bytes(min(max_bytes, self.piece))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass


def paced(monkeypatch: pytest.MonkeyPatch, piece: int, every_s: float) -> tuple[Line, PacedStream]:
    line = Line(piece, every_s)
    monkeypatch.setattr(connecting, "time", line)
    return line, PacedStream(line)


@pytest.mark.parametrize("piece", [1, 1000])
def test_a_line_that_drips_or_brings_no_answer_is_silent(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    """Answers that only announce another, or headers, are none, however many there are."""
    line, stream = paced(monkeypatch, piece, 1.0)
    for _ in range(21):  # the first byte, and a timeout after it
        stream.read(1000, TIMEOUT_S)
    with pytest.raises(httpcore2.ReadTimeout):
        stream.read(1000, TIMEOUT_S)
    assert line.now == 21


@pytest.mark.parametrize(("size", "every_s"), [(LEAST_BYTES_PER_S, 1.0), (1 << 16, 0.0)])
def test_a_slow_or_long_answer_is_read(monkeypatch: pytest.MonkeyPatch, size: int, every_s: float) -> None:
    _, stream = paced(monkeypatch, size, every_s)
    pieces = iter(lambda: stream.read(1 << 16, TIMEOUT_S), b"")
    response = httpx2.Response(200, extensions={"network_stream": stream})
    for _, piece in zip(range(1000), HubHttp.pieces(response, pieces), strict=False):
        assert len(piece) == size


def test_they_are_not_read_without_end_however_fast_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    line, stream = paced(monkeypatch, 1 << 16, 0.0)
    while line.read_bytes <= 1 << 20:
        stream.read(1 << 16, TIMEOUT_S)
    with pytest.raises(httpcore2.ReadError, match="and 0 of an answer"):
        stream.read(1 << 16, TIMEOUT_S)


def test_a_reader_that_takes_its_time_is_no_slow_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a limit on all downloads makes it."""
    line, stream = paced(monkeypatch, 1000, 0.01)
    for _ in range(100):
        assert stream.read(1000, TIMEOUT_S)
        line.now += 100


def test_time_before_an_answer_is_the_hubs_to_think(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain timeout is for that; so is a line that is kept for the next question."""
    _, stream = paced(monkeypatch, 5, 15.0)
    for _ in range(10):
        stream.write(b"GET /")
        assert stream.read(1000, TIMEOUT_S)


def test_a_line_without_a_timeout_may_drip(monkeypatch: pytest.MonkeyPatch) -> None:
    _, stream = paced(monkeypatch, 1, 100.0)
    assert all(stream.read(1000) for _ in range(10))
