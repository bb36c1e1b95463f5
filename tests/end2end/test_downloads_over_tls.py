"""Downloads over TLS, as from every real hub: exact, resumed, refused, stopped, and not by crumbs."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.tools.builtin.fetch_child import fetched
from engine import DownloadFinished, DownloadStopped, HubMisbehaved, HubSilence, HubUnreachable
from engine.hub import connecting, http
from engine.hub.client import HubClient
from engine.hub.http import Hub
from engine.hub.stop import HubPatience, StopSignal
from tests.end2end.conftest import LARGE, REPO
from tests.end2end.test_downloads import WEIGHTS, assert_installed, held, install, refusal
from tests.helpers.event_recorder import EventRecorder, QuickStore
from tests.helpers.model_folders import model_files, safetensors
from tests.helpers.tinyhub import Fault, TinyHub

_KEY = """
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgibAzOCYf5HU5kri8
MKeKhwByfFDWKMW1A8o0eYrhqWehRANCAARfXnMIi6rItrT8JYfrckEQuTU2ikDx
kQW+WPIBbuXENXznt/Rs7VLolZ+kQtBOgSqPjMqaXUcqE2ObpReG97zm
-----END PRIVATE KEY-----
""".lstrip()
_CERTIFICATE = """
-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABF9ecwiLqsi2tPwl
h+tyQRC5NTaKQPGRBb5Y8gFu5cQ1fOe39GztUuiVn6RC0E6BKo+MyppdRyoTY5ul
F4b3vOajTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBS5ChLc8iVZZzIKq8GAweSWrUXvqjAKBggqhkjOPQQD
AgNIADBFAiEAxFl8jcwCND8XteTNtuyU+eNTVZVO1APyIW3g+dADjbUCIAo8A/Lm
a5FqsS5KLc1ri5i0sOa3T5Z86nY0aY6SnaPL
-----END CERTIFICATE-----
""".lstrip()  # of localhost and 127.0.0.1, until 2120


def serving(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """What a server needs, and the file of the one certificate that its clients have to trust."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    certificate.write_text(_CERTIFICATE)
    key.write_text(_KEY)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


IMPATIENT = HubPatience(question_tries=1, read_s=20.0, connect_s=20.0)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TinyHub]:
    context, certificate = serving(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    connecting.trusted.cache_clear()
    hub = TinyHub(context)
    hub.add(REPO, model_files() | {"model.safetensors": safetensors(LARGE)})
    yield hub
    hub.close()
    connecting.trusted.cache_clear()


def test_what_arrives_is_what_the_hub_has_though_lines_are_cut(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.faults[WEIGHTS] = Fault(times=3, cut_after=700_000)
    install(store, recorder)
    assert_installed(tmp_path, hub)


def test_a_hub_that_nobody_vouches_for_is_not_asked(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    error = refusal(store, recorder)
    assert isinstance(error, HubUnreachable)
    assert error.reason is HubSilence.CERTIFICATE
    assert not hub.seen


def test_a_file_is_never_fetched_in_clear_from_there(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    other = TinyHub()
    other.add(REPO, hub.repositories[REPO])
    hub.faults[WEIGHTS] = Fault(redirect=other.endpoint)
    assert isinstance(refusal(store, recorder), HubMisbehaved)
    other.close()


def test_a_download_from_a_silent_hub_can_be_left_at_once(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    download = held(hub, store, recorder, 700_000)
    store.pause(download)
    assert recorder.wait_for(DownloadStopped).kept_bytes >= 700_000
    hub.faults.clear()
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)


@pytest.mark.parametrize("wish", ["pause", "cancel"])
def test_a_hub_that_does_not_finish_its_greeting_can_be_left_at_once(
    tmp_path: Path, recorder: EventRecorder, wish: str
) -> None:
    class PatientStore(QuickStore):
        tuning = replace(QuickStore.tuning, patience=replace(IMPATIENT, connect_s=600.0))

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        address = f"https://127.0.0.1:{server.getsockname()[1]}"
        store = PatientStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=address)
        download = store.install(REPO)
        line, _ = server.accept()
        line.settimeout(10)
        assert line.recv(1) == b"\x16"  # the first byte of a handshake
        getattr(store, wish)(download)
        assert isinstance(recorder.end_of(download), DownloadStopped)
        line.close()
    assert store.close()


def test_what_waits_in_the_line_is_one_piece(hub: TinyHub) -> None:
    """TLS hands out 16 KiB at a time, and every piece costs its writer as much as a large one."""
    data = safetensors({"a.weight": ("F32", (32, 1024))})  # less than a socket holds
    hub.add(REPO, model_files() | {"model.safetensors": data})
    commit = hub.commit(REPO)
    hub.files_at(REPO, "main")
    client = HubClient(Hub(hub.endpoint), REPO, StopSignal(), IMPATIENT)
    with client.open_file(commit, "model.safetensors", 0) as response:
        assert hub.answered.acquire(timeout=10)
        pieces = list(client.body_of(response))
    client.close()
    assert b"".join(pieces) == data
    assert len(data) > 8 * 16_384
    assert len(pieces) <= 3  # what came with the headers, and the rest


def test_on_a_mac_one_silent_hub_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """There a certificate's verifier is locked for as long as a handshake waits."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(http, "sys", SimpleNamespace(platform="darwin"))
    connecting.trusted.cache_clear()
    threads = []
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        lines = []
        for server in (first, second):
            client = HubClient(Hub(f"https://127.0.0.1:{server.getsockname()[1]}"), REPO, StopSignal(), IMPATIENT)
            threads.append(threading.Thread(target=_ask, args=(client,)))
            threads[-1].start()
            server.settimeout(10)
            lines.append(server.accept()[0])
            lines[-1].settimeout(10)
            assert lines[-1].recv(1) == b"\x16"  # the first byte of a handshake
        for line in lines:
            line.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    connecting.trusted.cache_clear()


def test_a_tool_trusts_a_page_as_downloads_trust_a_hub(
    tmp_path: Path, hub: TinyHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a Mac by what that trusts, which is in no file: of many a Python OpenSSL knows no certificates there."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    certificate = tmp_path / "certificate.pem"
    monkeypatch.setattr("truststore.SSLContext", lambda _protocol: ssl.create_default_context(cafile=certificate))
    assert "config.json" in fetched(f"{hub.endpoint}/api/models/{REPO}/tree/main", typed=True)


def _ask(client: HubClient) -> None:
    with suppress(HubUnreachable):
        client.ask("api/models")
    client.close()
