"""A connection whose request header does not come in time is closed: uvicorn itself would wait for ever."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_HEADER_BYTES = 64 << 10


class PatientProtocol(H11Protocol):
    header_s = 20.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._expect_nothing()
        elif self._deadline is None and self.conn.our_state is h11.IDLE:
            self._expect_header()

    def _expect_header(self) -> None:
        self._deadline = self.loop.call_later(self.header_s, self._give_up)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()


def patient_protocol(header_s: float) -> type[PatientProtocol]:
    """uvicorn makes the protocols itself, so a class per server carries its limit."""
    return type("Protocol", (PatientProtocol,), {"header_s": header_s})
