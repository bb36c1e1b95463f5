"""What is refused before any route is looked at, whoever asks for it in what way."""

from __future__ import annotations

import errno
import json
import socket
import sys
import time
from pathlib import Path

import pytest

from engine import Server, ServerOptions, ServerPhase
from engine.server import service
from tests.helpers.fake_engine import MAIN, FakeEngine
from tests.helpers.served import PATIENCE_S, Served, chat_body, post_bytes, serving

KEY = "a-key-of-a-test"
EVIL = "http://evil.example"


def test_only_names_of_this_machine_are_answered(served: Served) -> None:
    """Any other is refused before a route is looked for."""
    for host in ("localhost", "LOCALHOST:4862", "127.0.0.1", "[::1]:4862", "host.docker.internal"):
        assert served.http.get("/health", headers={"host": host}).status_code == 200, host
    others = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.1.5")
    for host in (*others, "localhost@evil.example"):
        for path in ("/health", "/v1/models", "/nowhere"):
            answer = served.http.get(path, headers={"host": host})
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "host_not_allowed"), host


def test_a_page_of_another_site_starts_nothing(scripted: FakeEngine) -> None:
    origins = [{"origin": origin} for origin in (EVIL, "null", "http://localhost.evil.example")]
    with serving(scripted) as served:
        for headers in (*origins, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
            answer = served.post("/v1/chat/completions", chat_body("x"), headers)
            assert (answer.status_code, answer.json()["error"]["type"]) == (403, "permission_error"), headers
            assert "access-control-allow-origin" not in answer.headers
            preflight = served.http.options("/v1/chat/completions", headers=headers | {"host": "evil.example"})
            assert preflight.status_code == 403
    assert scripted.requests == []


def test_an_origin_may_be_allowed(scripted: FakeEngine) -> None:
    with serving(scripted, origins=("app://notes", "vscode-webview://")) as served:
        for origin in ("app://notes", "vscode-webview://a1b2"):
            sent = "authorization,user-agent,x-server-timeout,x-stainless-helper"  # as browsers name them
            asking = {"origin": origin, "access-control-request-headers": sent}
            preflight = served.http.options("/v1/chat/completions", headers=asking)
            assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, origin)
            assert preflight.headers["access-control-allow-headers"] == sent, "of OpenAI's, Google's, Anthropic's"
            answer = served.post("/v1/chat/completions", chat_body("x"), {"origin": origin})
            assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
            assert answer.headers["vary"] == "Origin"
            read = answer.headers["access-control-expose-headers"].split(", ")
            assert {"x-hunch-ignored", "x-should-retry", "retry-after"} <= {*read}
        assert served.http.get("/v1/models", headers={"origin": "app://notes.evil"}).status_code == 403


def test_a_form_of_a_page_is_no_request(scripted: FakeEngine) -> None:
    """Nor is a body without a type, which is JSON where no page sends it."""
    body = json.dumps(chat_body("x")).encode()
    forms = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
    with serving(scripted) as served:
        of_a_page = [{"origin": f"http://127.0.0.1:{served.port}"}, {"sec-fetch-site": "same-origin"}]
        for headers in (*({"content-type": form} for form in forms), *of_a_page):
            answer = served.http.post("/v1/chat/completions", content=body, headers=headers)
            assert answer.status_code == 415, headers
        assert scripted.requests == []
        assert served.http.post("/v1/chat/completions", content=body).status_code == 200


def test_the_key_is_asked_for_everywhere_but_for_health(scripted: FakeEngine) -> None:
    with serving(scripted, key=KEY) as served:
        assert served.http.get("/health").status_code == 200
        for headers in ({}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}, {"authorization": KEY}):
            assert served.http.get("/v1/models", headers=headers).status_code == 401
            assert served.http.get("/nowhere", headers=headers).status_code == 401
        for headers in ({"authorization": f"Bearer {KEY}"}, {"x-api-key": KEY}):
            assert served.http.get("/v1/models", headers=headers).status_code == 200


@pytest.mark.parametrize("options", [ServerOptions(host="0.0.0.0", port=0), ServerOptions(key="", port=0)])
def test_beyond_this_machine_a_key_is_needed_and_one_that_cannot_be_read_is_none(
    scripted: FakeEngine, options: ServerOptions
) -> None:
    server = Server(scripted, options)
    server.start()
    assert server.stop(PATIENCE_S)
    assert (server.state.phase, server.state.error) == (ServerPhase.FAILED, "KeyMissing")


def test_a_port_that_another_program_holds_on_all_addresses_is_taken_on_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose kernel does not say so; only a platform is made up here."""
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("not asked for"))
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(service, "is_answered", lambda _host, port: port == 4862)
    with pytest.raises(OSError, match="in use") as refused:
        service.listening("127.0.0.1", 4862)
    assert refused.value.errno == errno.EADDRINUSE


def test_who_answers_at_a_port_is_found_out() -> None:
    with socket.create_server(("0.0.0.0", 0)) as other:
        port = other.getsockname()[1]
        assert service.is_answered("127.0.0.1", port)
    assert not service.is_answered("127.0.0.1", port)


def test_a_port_that_is_taken_is_said(scripted: FakeEngine, served: Served) -> None:
    server = Server(scripted, ServerOptions(port=served.port))
    server.start()
    assert server.stop(PATIENCE_S)
    assert (server.state.phase, server.state.error) == (ServerPhase.FAILED, "AddressInUse")


def test_a_body_beyond_the_limit_is_refused_before_it_has_come(scripted: FakeEngine) -> None:
    with serving(scripted, largest_body=1000) as served, served.connect() as connection:
        connection.sendall(post_bytes("/v1/chat/completions", b"{", content_length="1001"))
        assert b" 413 " in connection.recv(1000)


def test_a_body_of_unknown_length_has_the_same_limit(scripted: FakeEngine) -> None:
    with serving(scripted, largest_body=1000) as served:
        answer = served.http.post(
            "/v1/chat/completions", content=iter([b"x" * 600] * 3), headers={"content-type": "application/json"}
        )
        assert answer.status_code == 413


def test_bodies_of_requests_under_way_have_a_limit_together(scripted: FakeEngine) -> None:
    scripted.gate.hold()
    body = chat_body("x" * 900)
    with serving(scripted, most_held=1500) as served:
        with served.connect() as first:
            first.sendall(post_bytes("/v1/chat/completions", json.dumps(body).encode()))
            served.wait_for_requests(1)
            refused = served.post("/v1/chat/completions", body)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.json()["error"]["code"] == "memory_full"
        served.wait_for_requests(0)
        scripted.gate.open()
        assert served.post("/v1/chat/completions", body).status_code == 200


def test_a_body_that_does_not_come_is_given_up(scripted: FakeEngine) -> None:
    with serving(scripted, body_s=0.2) as served, served.connect() as connection:
        connection.sendall(post_bytes("/v1/chat/completions", b'{"a"', content_length="100"))
        assert b" 408 " in connection.recv(1000)


def test_a_header_that_does_not_come_ends_the_connection(scripted: FakeEngine) -> None:
    with serving(scripted, header_s=0.2) as served, served.connect() as silent, served.connect() as slow:
        slow.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: local")
        assert silent.recv(1000) == slow.recv(1000) == b""


def test_what_is_no_json_is_refused(served: Served) -> None:
    deep = (b"[" * 100_000, b'{"a": ' * 200 + b"1" + b"}" * 200)
    endless = b'{"model": "default", "messages": [{"role": "user", "content": "x"}], "a": [-1e999]}'
    for body in (b"", b"{", b"[]", b"1", b'{"a": NaN}', b'{"a": "\\ud800"}', endless, *deep):
        answer = served.http.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error"), body[:9]


def test_no_answer_names_a_folder(served: Served) -> None:
    for answer in (served.http.get("/v1/models"), served.post("/v1/chat/completions", chat_body("x", model="m"))):
        assert str(Path(MAIN.folder).parent) not in answer.text


def test_an_unknown_route_is_an_error_in_the_dialect(served: Served) -> None:
    assert served.http.get("/v1/nowhere").json()["error"]["code"] == "not_found"
    assert served.http.get("/v1/chat/completions").status_code == 405


def test_a_refusal_is_no_reset_whenever_the_body_comes(served: Served) -> None:
    """A client that is still writing may not look for the answer then."""
    head, end, body = post_bytes("/v1/chat/completions", b"x" * 5000, host="evil.example").partition(b"\r\n\r\n")
    for pause_s in (0, 0.0005, 0.001, 0.002, 0.02) * 3:
        with served.connect() as connection:
            connection.sendall(head + end)
            time.sleep(pause_s)
            connection.sendall(body)
            answer = b""
            while piece := connection.recv(1000):
                answer += piece
            assert answer.startswith(b"HTTP/1.1 403")


def test_a_refusal_does_not_wait_for_a_body_that_does_not_come(served: Served) -> None:
    head, end, _ = post_bytes("/v1/chat/completions", b"x" * 5000, host="evil.example").partition(b"\r\n\r\n")
    with served.connect() as connection:
        connection.sendall(head + end)
        assert connection.recv(12) == b"HTTP/1.1 403"
