"""HTTP with a hub: one GET at a time, what its answer means, and which failures are tried again.

The token is sent to the hub's own origin only. No cookies, no telemetry.
"""

from __future__ import annotations

import logging
import ssl
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.api.errors import (
    AccessDenied,
    DownloadError,
    FileMissing,
    HubMisbehaved,
    HubOffline,
    HubSilence,
    InvalidRequest,
    RepositoryNotFound,
    TokenInClear,
)
from engine.api.hub import PUBLIC_HUB, HubAccess, PeerModel
from engine.api.ranks import Machine
from engine.hub.stop import (
    BEFORE_ANY_ANSWER,
    HubConnections,
    HubPatience,
    StopSignal,
    TryAgain,
    reason_of,
    seconds_asked,
    unreachable,
    without_password,
)
from engine.machines.identity import Identity
from engine.models.model_files import KIB, MIB

if TYPE_CHECKING:
    import httpcore2
    import httpx2

_PIECE_BYTES = 256 * KIB  # of a file
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, *range(520, 528)})  # the last of gateways whose hub is away


@dataclass(frozen=True, slots=True)
class Hub(HubAccess):
    """One that can be asked: its endpoint is not empty."""

    peer: PeerModel | None = None  # it is a paired machine, and no hub

    @classmethod
    def of(cls, access: HubAccess) -> Hub:
        return cls(
            access.endpoint.strip() or PUBLIC_HUB,
            access.token.strip(),
            access.token_in_clear,
            tuple(mirror.strip() for mirror in access.mirrors if mirror.strip()),
            access.proxy.strip(),
            access.offline,
        )

    def places(self) -> list[Hub]:
        """The hub itself, then its mirrors: those are run by others, and never sent the token."""
        return [self, *(replace(self, endpoint=mirror, token="", mirrors=()) for mirror in self.mirrors)]


class HubHttp:
    """The connections to one hub. `about` is in its errors. Raises HubOffline."""

    def __init__(self, hub: Hub, about: str, stop: StopSignal, patience: HubPatience) -> None:
        self._hub = hub
        self._about = about
        self._stop = stop
        self._patience = patience
        self._connections = HubConnections(stop)
        if hub.offline:
            raise HubOffline(without_password(about))
        self._http = self._open()

    def close(self) -> None:
        self._http.close()

    def url(self, path: str) -> str:
        return f"{self._hub.endpoint.rstrip('/')}/{path}"

    def same_origin(self, url: httpx2.URL) -> str:
        if url.origin != self._http.build_request("GET", self._hub.endpoint).url.origin:
            raise HubMisbehaved(self._about, f"a next page elsewhere: {url.host[:100]}")
        return str(url)

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str], file: str = "") -> Iterator[httpx2.Response]:
        """Raises TryAgain, Stopped or a DownloadError for any failure of the connection, also in the body."""
        import httpcore2
        import httpx2

        self._stop.check()
        try:
            with self._http.stream(
                "GET",
                url,
                headers={**headers, **self._authorization()},
                timeout=self._timeout(of_file=bool(file)),
                extensions={"trace": self._connections.watch},
            ) as response:
                self._check(response, file)
                yield response
        except httpx2.UnsupportedProtocol as error:
            raise HubMisbehaved(self._about, f"a redirect to {str(error)[:200]}") from error
        except (httpx2.TransportError, httpcore2.NetworkError, httpcore2.TimeoutException) as error:
            self._stop.check()  # then we closed the connection
            raise TryAgain(f"{type(error).__name__}: {error}", reason=self._reason(error)) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise HubMisbehaved(self._about, f"{type(error).__name__}: {str(error)[:200]}") from error

    def body_of(self, response: httpx2.Response) -> Iterator[bytes]:
        """The body of a file's answer, as it arrives.

        If its length is known, all but the first piece is read from the connection itself: an HTTP parser would copy
        every byte three more times. The connection is not reused then.
        """
        pieces = self.pieces(response, response.iter_raw())
        length = response.headers.get("Content-Length", "")
        if "Transfer-Encoding" in response.headers or not (length.isascii() and length.isdecimal()):
            yield from pieces
            return
        left = int(length)
        for piece in pieces:  # the first piece is what arrived together with the headers
            left -= len(piece)
            yield piece
            if left:
                break
        rest = self._rest(response.extensions["network_stream"], left)
        yield from self.pieces(response, rest, anew=True)  # the time until the first piece does not count as speed

    @staticmethod
    def pieces(response: httpx2.Response, pieces: Iterable[bytes], *, anew: bool = False) -> Iterator[bytes]:
        """`pieces` of an answer; `anew`: reset the time waited before (see `PacedStream`)."""
        stream = response.extensions["network_stream"]
        if anew:
            stream.begin()
        for piece in pieces:
            stream.progress(len(piece))
            yield piece

    def _rest(self, connection: httpcore2.NetworkStream, left: int) -> Iterator[bytes]:
        while left and (piece := self._read(connection, left)):
            left -= len(piece)
            yield piece

    def _read(self, connection: httpcore2.NetworkStream, most_bytes: int) -> bytes:
        """What has arrived, as one piece: TLS returns 16 KiB at a time, and each piece costs its writer as much."""
        import httpcore2

        record = 16 * KIB if connection.get_extra_info("ssl_object") else MIB
        pieces = [connection.read(min(most_bytes, record), timeout=self._patience.read_s)]
        total = len(pieces[0])
        with suppress(httpcore2.NetworkError, httpcore2.TimeoutException):  # raised again by the next call
            while pieces[-1] and total < min(most_bytes, _PIECE_BYTES) and connection.get_extra_info("is_readable"):
                pieces.append(connection.read(min(most_bytes - total, record), timeout=self._patience.read_s))
                total += len(pieces[-1])
        return b"".join(pieces)

    def _open(self) -> httpx2.Client:
        import httpx2

        from engine.hub.connecting import make_leavable

        for name in ("httpx2", "httpcore2"):  # they log addresses, signed ones included, and headers
            logging.getLogger(name).setLevel(logging.WARNING)
        try:
            url = httpx2.URL(self._hub.endpoint)
            if url.scheme not in {"http", "https"} or not url.host or url.userinfo or not 0 < (url.port or 1) < 65536:
                raise ValueError("not an address")
        except (ValueError, httpx2.InvalidURL) as error:
            raise unreachable(self._about, self._hub.endpoint, error, HubSilence.ADDRESS) from error
        try:
            http = httpx2.Client(
                headers={"User-Agent": "hunch", "Accept-Encoding": "identity"},
                timeout=self._timeout(of_file=False),
                follow_redirects=True,  # drops Authorization when the origin changes
                max_redirects=5,
                proxy=self._hub.proxy or None,  # None: as in the environment
                mounts=dict.fromkeys(_LOOPBACK),  # never through a proxy
                trust_env=self._hub.peer is None,
                verify=self._trusted(),
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:  # its address is invalid, or of an unknown kind
            raise unreachable(self._about, self._hub.endpoint, error, HubSilence.PROXY) from error
        except (OSError, InvalidRequest) as error:
            raise unreachable(self._about, self._hub.endpoint, error, HubSilence.CERTIFICATE) from error
        make_leavable(http, self._stop)
        return http

    def _trusted(self) -> ssl.SSLContext | bool:
        """Whose certificates; a paired machine's own, where that supplies the files."""
        from engine.hub.connecting import trusted

        peer = self._hub.peer
        if peer is not None:
            return Identity(Path(peer.identity)).client_context(Machine("", peer.fingerprint, ""))
        return True if sys.platform == "darwin" else trusted()

    def _timeout(self, *, of_file: bool) -> httpx2.Timeout:
        import httpx2

        patience = self._patience
        return httpx2.Timeout(patience.first_byte_s if of_file else patience.read_s, connect=patience.connect_s)

    def _reason(self, error: Exception) -> HubSilence:
        """The reason; with a proxy only the proxy can be unreachable or refuse."""
        reason = reason_of(error)
        by_proxy = bool(self._hub.proxy) and not self._is_here()
        return HubSilence.PROXY if by_proxy and reason in BEFORE_ANY_ANSWER else reason

    def _authorization(self) -> dict[str, str]:
        token = self._hub.token
        if not token:
            return {}
        if not (token.isascii() and token.isprintable()):
            raise AccessDenied(self._about, gated=False)
        if not (self._hub.token_in_clear or self._is_private()):
            raise TokenInClear(self._about, self._hub.endpoint)
        return {"Authorization": f"Bearer {token}"}

    def _is_private(self) -> bool:
        """Whether the connection cannot be read on its way to the hub."""
        return self._hub.endpoint.startswith("https:") or self._is_here()

    def _is_here(self) -> bool:
        return self._http.build_request("GET", self._hub.endpoint).url.host in _LOOPBACK_NAMES

    def _check(self, response: httpx2.Response, file: str) -> None:
        schemes = [step.url.scheme for step in (*response.history, response)]
        if "https" in schemes and schemes[-1] == "http":
            raise HubMisbehaved(self._about, "a redirect away from https")
        if response.status_code in {200, 206, 416}:
            return
        asked_s = seconds_asked(response.headers, time.time())
        raise self._refusal(response.status_code, response.headers.get("X-Error-Code", ""), asked_s, file)

    def _refusal(self, status: int, code: str, asked_s: float, file: str) -> DownloadError | TryAgain:
        if code == "GatedRepo":
            return AccessDenied(self._about, gated=True)
        if code in {"RepoNotFound", "RevisionNotFound"} or (status == 404 and not file):
            return RepositoryNotFound(self._about)
        if status == 404:
            return FileMissing(self._about, file)
        if status in {401, 403}:
            return AccessDenied(self._about, gated=False)
        if status in _BUSY:
            return TryAgain(f"HTTP {status}", asked_s, HubSilence.BUSY)
        return HubMisbehaved(self._about, f"HTTP {status}")
