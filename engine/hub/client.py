"""What is asked of a hub: its lists of models and files, and the files; again where a failure may pass.

http.py sends what is asked; writer.py puts files on the disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlsplit

from engine.api.errors import (
    AccessDenied,
    FileMissing,
    HubCannotSearch,
    HubMisbehaved,
    HubSilence,
    HubUnreachable,
    RepositoryNotFound,
)
from engine.api.hub import HubAccess
from engine.hub.http import Hub, HubHttp
from engine.hub.repository import RemoteFile, choose_files, parts_of
from engine.hub.stop import HubPatience, Retries, StopKind, Stopped, StopSignal, TryAgain, unreachable
from engine.models.model_files import MIB
from engine.models.names import is_commit

if TYPE_CHECKING:
    import httpx2

_ANSWER_LIMIT_BYTES = 4 * MIB  # a page with a thousand files is a tenth of it
_MAX_PAGES = 100

T = TypeVar("T")


class _NotJson(Exception):
    pass


class HubClient:
    """One client, for one download with all its threads, one search or one page. `about` is in its errors."""

    def __init__(
        self, hub: Hub, about: str, stop: StopSignal, patience: HubPatience, retries: Retries | None = None
    ) -> None:
        self.repository = about
        self.named = about  # as the hub writes the name of the repository, once it has listed its files
        self.endpoint = hub.endpoint
        self._stop = stop
        self._retries = retries or Retries(stop)
        self.patience = patience
        self._http = HubHttp(hub, about, stop, patience)

    def close(self) -> None:
        self._http.close()

    def list_files(self, revision: str) -> tuple[str, list[RemoteFile]]:
        """The commit of `revision`, and its files."""
        repository, inside = self._names
        info, _ = self.ask(f"api/models/{repository}/revision/{quote(revision, safe='')}")
        name = info.get("id") if isinstance(info, dict) else None
        if isinstance(name, str) and name.casefold() == repository.casefold():
            self.named = f"{name}/{inside}" if inside else name
        commit = self.commit_of(info)
        return commit, choose_files(self.repository, self.entries(commit))

    def commit_of(self, info: object) -> str:
        commit = info.get("sha") if isinstance(info, dict) else None
        if not isinstance(commit, str) or not is_commit(commit):
            raise HubMisbehaved(self.repository, f"revision {str(commit)[:80]!r}")
        return commit

    def entries(self, commit: str) -> Iterator[object]:
        """The entries of the repository at that commit, page by page; none is kept."""
        url: str | None = self._http.url(f"api/models/{self._names[0]}/tree/{commit}?recursive=true&expand=false")
        for _ in range(_MAX_PAGES):
            if url is None:
                return
            page, following = self._json(url)
            url = None if following is None else self._http.same_origin(following)
            if not isinstance(page, list):
                raise HubMisbehaved(self.repository, "a list of files that is no list")
            yield from page
        if url is not None:
            raise HubMisbehaved(self.repository, "a list of files without end")

    def ask(self, path: str) -> tuple[object, str | None]:
        """An answer in JSON, and the path of its next page.

        A mirror may return an address of the hub that it mirrors; the path is asked for at the mirror.
        """
        answer, following = self._json(self._http.url(path))
        return answer, self._path_of(following)

    def ask_list(self, path: str) -> tuple[list[object], str | None]:
        """The same of a hub that may have no such list. Raises HubCannotSearch."""
        try:
            answer, following = self._patiently(self._http.url(path))
        except (_NotJson, RepositoryNotFound) as error:
            raise HubCannotSearch(self.repository, self.endpoint) from error
        if not isinstance(answer, list):
            raise HubCannotSearch(self.repository, self.endpoint)
        return answer, self._path_of(following)

    def _path_of(self, url: httpx2.URL | None) -> str | None:
        """Below the endpoint, which may have a path of its own."""
        own = urlsplit(self.endpoint).path.strip("/")
        return None if url is None else url.raw_path.decode("ascii").lstrip("/").removeprefix(f"{own}/")

    @property
    def _names(self) -> tuple[str, str]:
        return parts_of(self.repository)

    def head_of(self, commit: str, name: str, most_bytes: int) -> bytes:
        """The beginning of a small file; empty if it is missing or not accessible (a gated model)."""

        def read() -> bytes:
            data = bytearray()
            with self.open_file(commit, name, 0) as response:
                for chunk in self._http.pieces(response, response.iter_raw()):
                    self._stop.check()
                    data += chunk
                    if len(data) >= most_bytes:
                        break
            return bytes(data[:most_bytes])

        try:
            return self.persist(read, lambda: 0, self.patience.question_tries)
        except (RepositoryNotFound, FileMissing, AccessDenied):
            return b""

    def open_file(self, commit: str, name: str, start: int) -> AbstractContextManager[httpx2.Response]:
        headers = {"Range": f"bytes={start}-"} if start else {}
        repository, inside = self._names
        path = f"{inside}/{name}" if inside else name
        return self._http.get(self._http.url(f"{repository}/resolve/{commit}/{quote(path)}"), headers, name)

    def body_of(self, response: httpx2.Response) -> Iterator[bytes]:
        """The body of a file's answer, as it arrives."""
        return self._http.body_of(response)

    def persist(self, attempt: Callable[[], T], progress: Callable[[], int], tries: int) -> T:
        """Repeats an attempt that raises TryAgain, until `tries` in a row fail without any progress."""
        best = progress()
        failures = 0
        silent = 0
        while True:
            self._stop.check()
            try:
                return attempt()
            except TryAgain as error:
                self._stop.check()  # then we closed the connection
                if progress() > best:
                    best = progress()
                    failures = 0
                    silent = 0
                failures = failures + 1
                silent = silent + (error.reason is HubSilence.TIMED_OUT)
                lost = failures >= tries or silent >= self.patience.silent_tries
                if lost or error.asked_s > self.patience.longest_asked_s:
                    raise unreachable(self.repository, self.endpoint, error, error.reason) from error
                asked_s = error.asked_s
                busy = error.reason is HubSilence.BUSY
            self._retries.wait(max(asked_s, self.patience.delay_s(failures)), busy)

    def _json(self, url: str) -> tuple[object, httpx2.URL | None]:
        """The answer, and the address of the next page."""
        try:
            return self._patiently(url)
        except _NotJson as error:
            raise HubMisbehaved(self.repository, f"not JSON: {error}") from error

    def _patiently(self, url: str) -> tuple[object, httpx2.URL | None]:
        return self.persist(lambda: self._json_once(url), lambda: 0, self.patience.question_tries)

    def _json_once(self, url: str) -> tuple[object, httpx2.URL | None]:
        with self._http.get(url, {}) as response:
            data = bytearray()
            for chunk in self._http.pieces(response, response.iter_bytes()):
                data += chunk
                self._stop.check()
                if len(data) > _ANSWER_LIMIT_BYTES:
                    raise HubMisbehaved(self.repository, "an endless answer")
            following = response.links.get("next", {}).get("url")
            try:
                return json.loads(data), response.url.join(following) if following else None
            except (ValueError, RecursionError) as error:
                raise _NotJson(str(error)[:100]) from error


def from_any(places: list[Hub], ask: Callable[[Hub], T]) -> T:
    """From the hub, or if it cannot be reached from the first mirror that can."""
    for hub in places[:-1]:
        with suppress(HubUnreachable, HubCannotSearch):
            return ask(hub)
    return ask(places[-1])


class JsonQuestion:
    """Asked once, on the caller's thread. No token is sent, nor anything else that differs between users."""

    def __init__(self, address: str, access: HubAccess) -> None:
        endpoint, _, self._name = address.rpartition("/")
        self._hub = Hub(endpoint, proxy=access.proxy.strip(), offline=access.offline)
        self._stop = StopSignal()

    def ask(self) -> object:
        """None after `stop`. Raises DownloadError."""
        patience = HubPatience(question_tries=1)
        with suppress(Stopped), closing(HubClient(self._hub, self._hub.endpoint, self._stop, patience)) as client:
            return client.ask(self._name)[0]
        return None

    def stop(self) -> None:
        """From any thread: `ask` returns within a moment."""
        self._stop.request(StopKind.CANCEL)
