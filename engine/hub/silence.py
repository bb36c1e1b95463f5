"""Why a hub cannot be reached: what a library or a system said, as a reason that can be put into words."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator

from engine.api.errors import HubSilence, HubUnreachable

LEAST_BYTES_PER_S = 256  # of a line that is waited for; one that gives less drips, and is no better than a silent one
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL})
BEFORE_ANY_ANSWER = frozenset({HubSilence.NAME, HubSilence.NO_ROUTE, HubSilence.REFUSED})


class TryAgain(Exception):
    """A failure that may pass: the line, or a busy hub. It may have said how long to wait."""

    def __init__(self, detail: str, asked_s: float = 0.0, reason: HubSilence = HubSilence.BROKE_OFF) -> None:
        super().__init__(detail)
        self.asked_s, self.reason = asked_s, reason

    @property
    def hub_is_busy(self) -> bool:
        return self.reason is HubSilence.BUSY


def unreachable(about: str, endpoint: str, error: Exception, reason: HubSilence) -> HubUnreachable:
    """Errors are logged and shown: a password in an address is in none."""
    return HubUnreachable(without_password(about), without_password(endpoint), str(error), reason)


def without_password(address: str) -> str:
    return re.sub(r"//[^/]*@", "//…@", address)


def reason_of(error: BaseException) -> HubSilence:
    """By what the system said; libraries only wrap that."""
    found = filter(None, map(_reason, _causes(error)))
    return next(found, HubSilence.BROKE_OFF)


def _reason(error: BaseException) -> HubSilence | None:
    import httpcore2
    import httpx2

    kinds: tuple[tuple[tuple[type[BaseException], ...], HubSilence], ...] = (
        ((ssl.SSLCertVerificationError,), HubSilence.CERTIFICATE),
        ((socket.gaierror,), HubSilence.NAME),
        ((ConnectionRefusedError,), HubSilence.REFUSED),
        ((httpx2.ProxyError, httpcore2.ProxyError), HubSilence.PROXY),
        ((TimeoutError, httpx2.TimeoutException, httpcore2.TimeoutException), HubSilence.TIMED_OUT),
    )
    told = next((reason for kind, reason in kinds if isinstance(error, kind)), None)
    if told is None and isinstance(error, OSError) and error.errno in _NO_ROUTE:
        return HubSilence.NO_ROUTE
    return told


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What was raised first comes first."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    return reversed(chain)
