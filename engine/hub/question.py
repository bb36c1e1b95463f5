"""One small answer in JSON from an address that is no hub's, over a hub's connections: proxy, certificates, limits."""

from __future__ import annotations

from engine.api.hub import HubAccess
from engine.hub.client import Hub, HubClient
from engine.hub.stop import Patience, StopKind, Stopped, StopSignal


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
