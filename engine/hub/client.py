"""HTTP with a hub: requests, the meaning of answers, and which failures are tried again.

The token is sent to the hub's own origin only. No cookies, no telemetry, no files: writer.py writes those.
"""

from __future__ import annotations

import json
import logging
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from engine.api.errors import (
    AccessDenied,
    DownloadError,
    FileMissing,
    HubCannotSearch,
    HubMisbehaved,
    HubOffline,
    HubSilence,
    HubUnreachable,
    RepositoryNotFound,
    TokenInClear,
)
from engine.api.hub import PUBLIC_HUB, HubAccess
from engine.hub.repository import RemoteFile, choose_files, parts_of
from engine.hub.stop import (
    BEFORE_ANY_ANSWER,
    Connections,
    Patience,
    Retries,
    StopSignal,
    TryAgain,
    reason_of,
    seconds_asked,
    unreachable,
    without_password,
)
from engine.models.model_files import KIB, MIB
from engine.models.names import is_commit

if TYPE_CHECKING:
    import httpcore2
    import httpx2
from engine.hub.stop import StopKind, Stopped

_ANSWER_LIMIT_BYTES = 4 * MIB  # a page with a thousand files is a tenth of it
_PIECE_BYTES = 256 * KIB  # of a file
_MAX_PAGES = 100
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hub:
    endpoint: str = PUBLIC_HUB
    token: str | None = field(default=None, repr=False)
    token_in_clear: bool = False  # also over plain http to another machine: the user has agreed
    mirrors: tuple[str, ...] = ()
    proxy: str = field(default="", repr=False)  # its address may contain a password
    offline: bool = False

    @classmethod
    def of(cls, access: HubAccess) -> Hub:
        return cls(
            access.endpoint.strip() or PUBLIC_HUB,
            access.token.strip() or None,
            access.token_in_clear,
            tuple(mirror.strip() for mirror in access.mirrors if mirror.strip()),
            access.proxy.strip(),
            access.offline,
        )

    def places(self) -> list[Hub]:
        """The hub itself, then its mirrors: those are run by others, and never sent the token."""
        return [self, *(replace(self, endpoint=mirror, token=None, mirrors=()) for mirror in self.mirrors)]


class _NotJson(Exception):
    pass


class HubClient:
    """One client, for one download with all its threads, one search or one page. `about` is in its errors."""

    def __init__(
        self, hub: Hub, about: str, stop: StopSignal, patience: Patience, retries: Retries | None = None
    ) -> None:
        self.repository = about
        self._hub = hub
        self._stop = stop
        self._connections = Connections(stop)
        self._retries = retries or Retries(stop)
        self._patience = patience
        if hub.offline:
            raise HubOffline(without_password(about))
        self._http = self._open()

    def close(self) -> None:
        self._http.close()

    def list_files(self, revision: str) -> tuple[str, list[RemoteFile]]:
        """The commit of `revision`, and its files."""
        info, _ = self.ask(f"api/models/{self._names[0]}/revision/{quote(revision, safe='')}")
        commit = self.commit_of(info)
        return commit, choose_files(self.repository, self.entries(commit))

    def commit_of(self, info: object) -> str:
        commit = info.get("sha") if isinstance(info, dict) else None
        if not isinstance(commit, str) or not is_commit(commit):
            raise HubMisbehaved(self.repository, f"revision {str(commit)[:80]!r}")
        return commit

    def entries(self, commit: str) -> Iterator[object]:
        """The entries of the repository at that commit, page by page; none is kept."""
        url: str | None = self._url(f"api/models/{self._names[0]}/tree/{commit}?recursive=true&expand=false")
        for _ in range(_MAX_PAGES):
            if url is None:
                return
            page, following = self._json(url)
            url = None if following is None else self._same_origin(following)
            if not isinstance(page, list):
                raise HubMisbehaved(self.repository, "a list of files that is no list")
            yield from page
        if url is not None:
            raise HubMisbehaved(self.repository, "a list of files without end")

    def ask(self, path: str) -> tuple[object, str | None]:
        """An answer in JSON, and the path of its next page.

        A mirror may return an address of the hub that it mirrors; the path is asked for at the mirror.
        """
        answer, following = self._json(self._url(path))
        return answer, _path_of(following)

    def ask_list(self, path: str) -> tuple[list[object], str | None]:
        """The same of a hub that may have no such list. Raises HubCannotSearch."""
        try:
            answer, following = self._patiently(self._url(path))
        except (_NotJson, RepositoryNotFound) as error:
            raise HubCannotSearch(self.repository, self.endpoint) from error
        if not isinstance(answer, list):
            raise HubCannotSearch(self.repository, self.endpoint)
        return answer, _path_of(following)

    @property
    def _names(self) -> tuple[str, str]:
        return parts_of(self.repository)

    @property
    def endpoint(self) -> str:
        return self._hub.endpoint

    @property
    def file_tries(self) -> int:
        return self._patience.file_tries

    def head_of(self, commit: str, name: str, most_bytes: int) -> bytes:
        """The beginning of a small file; empty if there is none, or no access (a gated model)."""

        def read() -> bytes:
            data = bytearray()
            with self.open_file(commit, name, 0) as response:
                for chunk in self._pieces(response, response.iter_raw()):
                    self._stop.check()
                    data += chunk
                    if len(data) >= most_bytes:
                        break
            return bytes(data[:most_bytes])

        try:
            return self.persist(read, lambda: 0, self._patience.question_tries)
        except (RepositoryNotFound, FileMissing, AccessDenied):
            return b""

    @contextmanager
    def open_file(self, commit: str, name: str, start: int) -> Iterator[httpx2.Response]:
        headers = {"Range": f"bytes={start}-"} if start else {}
        repository, inside = self._names
        path = f"{inside}/{name}" if inside else name
        with self._get(self._url(f"{repository}/resolve/{commit}/{quote(path)}"), headers, name) as response:
            yield response

    def body_of(self, response: httpx2.Response) -> Iterator[bytes]:
        """The body of a file's answer, as it arrives.

        If its length is known, all but the first piece is read from the connection itself: an HTTP parser would copy
        every byte three more times. The connection is not reused then.
        """
        pieces = self._pieces(response, response.iter_raw())
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
        yield from self._pieces(response, rest, anew=True)  # the time until the first piece does not count as speed

    @staticmethod
    def _pieces(response: httpx2.Response, pieces: Iterable[bytes], *, anew: bool = False) -> Iterator[bytes]:
        from engine.hub.connecting import progressing

        return progressing(response.extensions["network_stream"], pieces, anew=anew)

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

    def persist(self, attempt: Callable[[], T], progress: Callable[[], int], tries: int) -> T:
        """Repeats an attempt that raises TryAgain, until `tries` in a row fail without any progress."""
        best, failures, silent = progress(), 0, 0
        while True:
            self._stop.check()
            try:
                return attempt()
            except TryAgain as error:
                self._stop.check()  # then we closed the connection
                if progress() > best:
                    best, failures, silent = progress(), 0, 0
                failures, silent = failures + 1, silent + (error.reason is HubSilence.TIMED_OUT)
                lost = failures >= tries or silent >= self._patience.silent_tries
                if lost or error.asked_s > self._patience.longest_asked_s:
                    raise unreachable(self.repository, self._hub.endpoint, error, error.reason) from error
                asked_s, busy = error.asked_s, error.hub_is_busy
            self._retries.wait(max(asked_s, self._patience.delay_s(failures)), busy)

    def _open(self) -> httpx2.Client:
        import httpx2

        from engine.hub.connecting import make_leavable, trusted

        for name in ("httpx2", "httpcore2"):  # they log addresses, signed ones included, and headers
            logging.getLogger(name).setLevel(logging.WARNING)
        try:
            url = httpx2.URL(self._hub.endpoint)
            if url.scheme not in {"http", "https"} or not url.host or url.userinfo or not 0 < (url.port or 1) < 65536:
                raise ValueError("not an address")
        except (ValueError, httpx2.InvalidURL) as error:
            raise unreachable(self.repository, self._hub.endpoint, error, HubSilence.ADDRESS) from error
        try:
            http = httpx2.Client(
                headers={"User-Agent": "hunch", "Accept-Encoding": "identity"},
                timeout=self._timeout(of_file=False),
                follow_redirects=True,  # drops Authorization when the origin changes
                max_redirects=5,
                proxy=self._hub.proxy or None,  # None: as in the environment
                mounts=dict.fromkeys(_LOOPBACK),  # never through a proxy
                verify=True if platform.system() == "Darwin" else trusted(),
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:  # its address is invalid, or of an unknown kind
            raise unreachable(self.repository, self._hub.endpoint, error, HubSilence.PROXY) from error
        except OSError as error:
            raise unreachable(self.repository, self._hub.endpoint, error, HubSilence.CERTIFICATE) from error
        make_leavable(http, self._stop)
        return http

    def _timeout(self, *, of_file: bool) -> httpx2.Timeout:
        import httpx2

        patience = self._patience
        return httpx2.Timeout(patience.first_byte_s if of_file else patience.read_s, connect=patience.connect_s)

    def _url(self, path: str) -> str:
        return f"{self._hub.endpoint.rstrip('/')}/{path}"

    def _json(self, url: str) -> tuple[object, httpx2.URL | None]:
        """The answer, and the address of the next page."""
        try:
            return self._patiently(url)
        except _NotJson as error:
            raise HubMisbehaved(self.repository, f"not JSON: {error}") from error

    def _patiently(self, url: str) -> tuple[object, httpx2.URL | None]:
        return self.persist(lambda: self._json_once(url), lambda: 0, self._patience.question_tries)

    def _json_once(self, url: str) -> tuple[object, httpx2.URL | None]:
        with self._get(url, {}) as response:
            data = bytearray()
            for chunk in self._pieces(response, response.iter_bytes()):
                data += chunk
                self._stop.check()
                if len(data) > _ANSWER_LIMIT_BYTES:
                    raise HubMisbehaved(self.repository, "an endless answer")
            following = response.links.get("next", {}).get("url")
            try:
                return json.loads(data), response.url.join(following) if following else None
            except (ValueError, RecursionError) as error:
                raise _NotJson(str(error)[:100]) from error

    def _same_origin(self, url: httpx2.URL) -> str:
        if url.origin != self._http.build_request("GET", self._hub.endpoint).url.origin:
            raise HubMisbehaved(self.repository, f"a next page elsewhere: {url.host[:100]}")
        return str(url)

    @contextmanager
    def _get(self, url: str, headers: Mapping[str, str], file: str = "") -> Iterator[httpx2.Response]:
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
            raise HubMisbehaved(self.repository, f"a redirect to {str(error)[:200]}") from error
        except (httpx2.TransportError, httpcore2.NetworkError, httpcore2.TimeoutException) as error:
            self._stop.check()  # then we closed the connection
            raise TryAgain(f"{type(error).__name__}: {error}", reason=self._reason(error)) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise HubMisbehaved(self.repository, f"{type(error).__name__}: {str(error)[:200]}") from error

    def _reason(self, error: Exception) -> HubSilence:
        """Through a proxy, only the proxy can be unreachable or refuse."""
        reason = reason_of(error)
        by_proxy = bool(self._hub.proxy) and not self._is_here()
        return HubSilence.PROXY if by_proxy and reason in BEFORE_ANY_ANSWER else reason

    def _authorization(self) -> dict[str, str]:
        token = self._hub.token
        if not token:
            return {}
        if not (token.isascii() and token.isprintable()):
            raise AccessDenied(self.repository, gated=False)
        if not (self._hub.token_in_clear or self._is_private()):
            raise TokenInClear(self.repository, self._hub.endpoint)
        return {"Authorization": f"Bearer {token}"}

    def _is_private(self) -> bool:
        """Whether the connection cannot be read on its way to the hub."""
        return self._hub.endpoint.startswith("https:") or self._is_here()

    def _is_here(self) -> bool:
        return self._http.build_request("GET", self._hub.endpoint).url.host in _LOOPBACK_NAMES

    def _check(self, response: httpx2.Response, file: str) -> None:
        schemes = [step.url.scheme for step in (*response.history, response)]
        if "https" in schemes and schemes[-1] == "http":
            raise HubMisbehaved(self.repository, "a redirect away from https")
        if response.status_code in {200, 206, 416}:
            return
        asked_s = seconds_asked(response.headers, time.time())
        raise self._refusal(response.status_code, response.headers.get("X-Error-Code", ""), asked_s, file)

    def _refusal(self, status: int, code: str, asked_s: float, file: str) -> DownloadError | TryAgain:
        if code == "GatedRepo":
            return AccessDenied(self.repository, gated=True)
        if code in {"RepoNotFound", "RevisionNotFound"} or (status == 404 and not file):
            return RepositoryNotFound(self.repository)
        if status == 404:
            return FileMissing(self.repository, file)
        if status in {401, 403}:
            return AccessDenied(self.repository, gated=False)
        if status in _BUSY:
            return TryAgain(f"HTTP {status}", asked_s, HubSilence.BUSY)
        return HubMisbehaved(self.repository, f"HTTP {status}")


def from_any(places: list[Hub], ask: Callable[[Hub], T]) -> T:
    """From the hub, or if it cannot be reached from the first mirror that can."""
    for hub in places[:-1]:
        with suppress(HubUnreachable, HubCannotSearch):
            return ask(hub)
    return ask(places[-1])


def _path_of(url: httpx2.URL | None) -> str | None:
    return None if url is None else url.raw_path.decode("ascii").lstrip("/")


class JsonQuestion:
    """Asked once, on the caller's thread. No token is sent, nor anything else that differs between users."""

    def __init__(self, address: str, access: HubAccess) -> None:
        endpoint, _, self._name = address.rpartition("/")
        self._hub = Hub(endpoint, proxy=access.proxy.strip(), offline=access.offline)
        self._stop = StopSignal()

    def ask(self) -> object:
        """None after `stop`. Raises DownloadError."""
        try:
            client = HubClient(self._hub, self._hub.endpoint, self._stop, Patience(question_tries=1))
            try:
                return client.ask(self._name)[0]
            finally:
                client.close()
        except Stopped:
            return None

    def stop(self) -> None:
        """From any thread: `ask` returns within a moment."""
        self._stop.request(StopKind.CANCEL)
