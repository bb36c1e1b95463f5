"""Signing in to a tool server: real servers on this machine that are right or wrong, and a browser that goes along."""

from __future__ import annotations

import asyncio
import fcntl
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import httpx2
import pytest

from app.controllers.tool_servers import ToolServersController
from app.system.secrets import Secrets
from app.system.worker import IN_PLACE
from app.tools.host import oauth
from app.tools.host.http import LimitedTransport, new_client
from app.tools.host.oauth import SignedIn, sign_in
from app.tools.host_process import ServerFailed, ToolHost, ToolServerState
from app.tools.public import may_lead_to
from app.tools.servers import ServerConfig, ToolServers
from app.tools.wire import ConnectionState, ServerFault, ServerProblem, ServerReach, SignInPages
from tests.helpers.oauth_tool_server import OAuthToolServer, SignInServer, browse, oauth_tool_server, serving
from tests.helpers.served import listens
from tests.helpers.tool_hosts import PATIENCE_S, SHORT, HostUnderTest, wait_until

PAGES = SignInPages("Close <this> page", "Refused page", "Other page", "en")
SIGNED_OUT = ServerFailed(ServerProblem.SIGNED_OUT)


class User:
    """Servers and their secrets as the app has them, and a user with a browser."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.servers = ToolServers(folder / "tools.json", Secrets(folder / "token", lambda: None))
        self.host = HostUnderTest(folder)
        self.host.host = ToolHost(folder, self.servers.reach, self.servers.renew_grant, patience=SHORT)

    def add(self, server: OAuthToolServer, query: str = "") -> ServerConfig:
        added = self.servers.add(ServerConfig("", "Notes", address=server.address + query))
        assert self.servers.confirm(added.id, added.shown)
        found = self.servers.get(added.id)
        assert found is not None
        return found

    def begin(self, config: ServerConfig) -> tuple[str, Callable[[], None], queue.Queue[str | ServerFailed]]:
        """The page in the browser; what cancels it; where its end comes."""
        pages: queue.Queue[str] = queue.Queue()
        ends: queue.Queue[str | ServerFailed] = queue.Queue()
        cancel = self.host.host.sign_in(config, PAGES, pages.put, ends.put)
        return pages.get(timeout=PATIENCE_S), cancel, ends

    def finish(self, config: ServerConfig, page: str, ends: queue.Queue[str | ServerFailed]) -> str:
        """The last page of the browser; the grant is kept."""
        seen = browse(page)
        grant = ends.get(timeout=PATIENCE_S)
        assert isinstance(grant, str)
        self.servers.keep_grant(config.id, grant)
        self.host.host.stop(config.id)
        return seen

    def sign_in(self, config: ServerConfig) -> None:
        page, _, ends = self.begin(config)
        self.finish(config, page, ends)
        assert self.host.tools(config)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    made = User(tmp_path_factory.mktemp("user"))
    made.host.call("")  # its thread is there before the first test
    yield made
    made.host.host.close(60)


def test_from_a_refusal_to_a_call_a_refresh_a_restart_and_the_end(tmp_path: Path) -> None:
    user = User(tmp_path)
    with oauth_tool_server() as server:
        config = user.add(server, "?key=hush")
        assert user.host.ask(config) == SIGNED_OUT
        assert user.host.state(config.id).failure == SIGNED_OUT
        page, _, ends = user.begin(config)
        assert "Close &lt;this&gt; page" in user.finish(config, page, ends)
        assert [tool.name for tool in user.host.tools(config)] == ["act"]
        assert user.host.call(config.id).text == "done"

        first = user.servers.grant(config.id)
        server.sign_in.access.clear()  # it is refused once, and refreshed
        assert user.host.call(config.id).text == "done"
        assert user.servers.grant(config.id) not in ("", first)
        user.servers.write()
        user.host.host.close(60)
        assert server.sign_in.access[-1] not in (tmp_path / "tools.json").read_text()

        again = User(tmp_path)
        server.sign_in.access.clear()
        assert again.host.tools(config)
        assert again.host.call(config.id).text == "done"
        grant = again.servers.grant(config.id)
        again.servers.keep_grant(config.id, "")
        again.host.host.stop(config.id)
        again.host.host.revoke(config, grant)
        assert again.host.ask(config) == SIGNED_OUT
        wait_until(lambda: bool(server.sign_in.revoked), "nothing was revoked")
        again.host.host.close(60)
        assert server.sign_in.revoked == server.sign_in.refresh[-1:]
        assert server.sign_in.faults == []
        assert "hush" not in str((server.sign_in.seen, server.sign_in.clients))


def test_the_app_and_a_terminal_that_refresh_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    """A refresh token is good once: whoever comes second uses what the first has got, and was not told of."""
    one = User(tmp_path)
    with oauth_tool_server() as server:
        config = one.add(server)
        page, _, ends = one.begin(config)
        one.finish(config, page, ends)
        one.servers.write()
        other = User(tmp_path)
        both = (one, other)
        for each in both:
            assert each.host.tools(config)
        for _ in range(3):
            server.sign_in.access.clear()
            results = [each.host.begin_call(config.id)[1] for each in both]
            assert [each.get(timeout=PATIENCE_S).text for each in results] == ["done", "done"]
            assert len(server.sign_in.access) == 1, "the second has refreshed as well"
        one.servers.add(ServerConfig("", "Other", address="https://tools.example"), headers={"X-Key": "hush"})
        one.servers.write()
        for each in (*both, User(tmp_path)):
            grant = each.servers.grant(config.id)
            assert server.sign_in.access[-1] in each.servers.renew_grant(config.id, grant, grant)
        for each in both:
            each.host.host.close(60)
        one.servers.remove(config.id)
        assert not list(tmp_path.glob("*.lock"))


def test_what_the_user_does_in_the_app_counts_in_a_terminal(tmp_path: Path) -> None:
    one = User(tmp_path)
    with oauth_tool_server() as server:
        config = one.add(server)
        one.servers.keep_grant(config.id, signed_in(server))
        one.servers.write()
        other = User(tmp_path)
        assert other.host.tools(config)
        server.sign_in.access.clear()
        server.sign_in.refresh.clear()
        one.servers.keep_grant(config.id, signed_in(server))
        one.servers.write()
        assert other.host.call(config.id).text == "done", "it was signed in to again"
        one.servers.keep_grant(config.id, "")
        one.servers.write()
        server.sign_in.access.clear()
        assert other.host.call(config.id).text.startswith("The user has to sign in")
        assert User(tmp_path).servers.grant(config.id) == ""
        other.host.host.close(60)


def test_two_sign_ins_at_once_and_one_that_is_cancelled(user: User) -> None:
    with oauth_tool_server() as one, oauth_tool_server() as other:
        configs = [user.add(each) for each in (one, other)]
        begun = [user.begin(each) for each in configs]
        for config, (page, _, ends) in reversed(list(zip(configs, begun, strict=True))):
            user.finish(config, page, ends)
        for config, server in zip(configs, (one, other), strict=True):
            assert server.sign_in.access[-1] in user.servers.grant(config.id)
            assert user.host.tools(config)
        first, cancel, first_ends = user.begin(configs[0])
        second, _, second_ends = user.begin(configs[1])
        cancel()
        user.host.host.stop(configs[1].id)
        for ends in (first_ends, second_ends):
            assert ends.get(timeout=PATIENCE_S) == ServerFailed(ServerProblem.STOPPED)
        wait_until(lambda: not (waits(first) or waits(second)), "it still listens")


def test_a_refusal_ends_the_server_until_the_user_signs_in(user: User) -> None:
    with oauth_tool_server() as server:
        config = user.add(server)
        user.sign_in(config)
        server.sign_in.access.clear()
        server.sign_in.refresh.clear()
        assert user.host.call(config.id).text.startswith("The user has to sign in")
        assert user.host.state(config.id).failure == SIGNED_OUT
        grant = user.servers.grant(config.id)
        assert "access-" not in grant
        assert "refresh-" not in grant
        assert server.sign_in.issuer in grant


def test_a_call_that_needs_more_than_was_allowed_has_the_user_sign_in_for_that_too(user: User) -> None:
    with oauth_tool_server("scopes") as server:
        config = user.add(server)
        user.sign_in(config)
        assert user.host.call(config.id).text.startswith("The user has to sign in to the tool server again")
        assert user.host.host.lacking(config.id) == "write"
        assert user.host.tools(config), "all else goes on"
        user.sign_in(config)
        assert server.sign_in.scopes == ["read", "read write"]
        assert (user.host.call(config.id).text, user.host.host.lacking(config.id)) == ("done", "")
        assert server.sign_in.faults == []


def test_a_sign_in_that_is_refused_while_the_server_works_leaves_it_ready(user: User) -> None:
    with oauth_tool_server("scopes") as server:
        config = user.add(server)
        user.sign_in(config)
        server.sign_in.mode = "refuses"
        page, _, ends = user.begin(config)
        browse(page)
        refused = ends.get(timeout=PATIENCE_S)
        assert user.host.state(config.id).failure == refused
        assert user.host.tools(config)
        assert user.host.state(config.id) == ToolServerState(ConnectionState.READY)


@pytest.mark.parametrize(
    ("challenge", "problem"),
    [
        ('Bearer error="insufficient_scope", scope="a b"', ServerProblem.SIGN_IN_MORE),
        ("Bearer scope=a, error=insufficient_scope", ServerProblem.SIGN_IN_MORE),
        ('Bearer error="insufficient_scope"', ServerProblem.SIGN_IN),
        ('Bearer error="insufficient_scope", scope="a\u0007"', ServerProblem.SIGN_IN),
        (f'Bearer error="insufficient_scope", scope="{"a" * 501}"', ServerProblem.SIGN_IN),
        ('Bearer error="invalid_token", scope="a"', ServerProblem.SIGN_IN),
    ],
)
def test_what_is_lacking_is_only_what_a_server_says_so_plainly(challenge: str, problem: ServerProblem) -> None:
    with oauth_tool_server() as server:
        connection = Connection(server, signed_in(server))
        server.forbids = challenge
        assert connection.ask() == [403]
        assert (connection.failures, connection.http.failure and connection.http.failure.problem) == ([], problem)


def test_new_tokens_are_used_before_the_window_has_heard_of_them(tmp_path: Path) -> None:
    calls: queue.Queue[Callable[[], None]] = queue.Queue()  # that the window's thread has not made yet
    servers = ToolServersController(tmp_path, Secrets(tmp_path / "token", lambda: None), calls.put, IN_PLACE)

    def listed() -> None:
        while "_on_listed" not in repr(calls.get(timeout=PATIENCE_S)):
            pass

    with oauth_tool_server() as server:
        servers.add_text(server.address)
        (row,) = servers.rows()
        assert servers.confirm(row.id, row.place)
        servers._servers.keep_grant(row.id, signed_in(server))
        server.sign_in.access.clear()
        servers.list_tools(row.id)
        listed()
        servers.restart(row.id)
        listed()
        assert servers.rows()[0].state is ConnectionState.READY
        servers.close()
        assert server.sign_in.access[-1] in (tmp_path / "token").read_text(), "they are lost with the app's end"


def test_what_is_removed_takes_its_tokens_with_it(tmp_path: Path) -> None:
    user = User(tmp_path)
    with oauth_tool_server() as server:
        config = user.add(server)
        user.servers.keep_grant(config.id, "secret")
        user.servers.write()
        assert "secret" in (tmp_path / "token").read_text()
        assert "secret" not in repr(user.servers.reach(config))
        user.servers.keep_grant(config.id, "")
        assert user.servers.renew_grant(config.id, "secret", "late") == ""
        assert user.servers.grant(config.id) == ""
        user.servers.keep_grant(config.id, "secret")
        user.servers.remove(config.id)
        user.servers.keep_grant(config.id, "late")
        user.servers.write()
        assert not (tmp_path / "token").exists()


# Without a host


def signed_in(server: OAuthToolServer, act: Callable[[str], object] = browse, grant: str = "") -> str:
    """The grant. `act`: what the user does with the page, on another thread. Raises ServerFault."""
    threads: list[threading.Thread] = []

    def show(page: str) -> None:
        threads.append(threading.Thread(target=act, args=(page,)))
        threads[-1].start()

    reach = ServerReach(address=server.address, grant=grant)
    try:
        return asyncio.run(sign_in(reach, PAGES, show, 60))
    finally:
        for thread in threads:
            thread.join()


@pytest.mark.parametrize(
    ("mode", "problem", "detail"),
    [
        ("no_oauth", ServerProblem.NO_SIGN_IN, ""),
        ("leads_away", ServerProblem.NO_SIGN_IN, ""),
        ("forbidden", ServerProblem.NO_SIGN_IN, ""),
        ("no_pkce", ServerProblem.NO_SIGN_IN, ""),
        ("plain_pkce", ServerProblem.NO_SIGN_IN, ""),
        ("no_registration", ServerProblem.NO_REGISTRATION, ""),
        ("registration_refused", ServerProblem.NO_REGISTRATION, ""),
        ("another_issuer", ServerProblem.SIGN_IN_FAILED, ""),
        ("another_resource", ServerProblem.SIGN_IN_FAILED, ""),
        ("page_elsewhere", ServerProblem.ADDRESS, "http://192.168.1.2/authorize"),
        ("refuses", ServerProblem.SIGN_IN_REFUSED, "access_denied"),
        ("no_token", ServerProblem.SIGN_IN_FAILED, ""),
        ("redirects", ServerProblem.SIGN_IN_FAILED, ""),
        ("large", ServerProblem.TOO_LARGE, "8"),
        ("stream", ServerProblem.TOO_LARGE, "8"),
    ],
)
def test_what_is_wrong_is_said_and_brings_nothing(mode: str, problem: ServerProblem, detail: str) -> None:
    pages: list[str] = []
    with oauth_tool_server(mode) as server, pytest.raises(ServerFault) as caught:
        signed_in(server, lambda page: pages.append(browse(page)))
    assert (caught.value.problem, caught.value.detail) == (problem, detail)
    assert ["Refused page" in page for page in pages] == {
        "refuses": [True],
        "no_token": [False],
        "redirects": [False],
    }.get(mode, [])
    assert (server.sign_in.access, server.taken) == ([], [])


def test_only_the_right_answer_ends_it() -> None:
    seen: list[int] = []

    def act(page: str) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        back = asked["redirect_uri"]
        assert urlsplit(back).hostname == "127.0.0.1"
        right = f"code=x&state={asked['state']}"
        for method, wrong in (
            ("GET", f"{back}?code=x"),
            ("GET", f"{back}?code=x&state="),
            ("GET", f"{back}?code=x&state={asked['state'][:-1]}"),
            ("GET", f"{back.replace('callback', 'other')}?{right}"),
            ("POST", f"{back}?{right}"),
        ):
            with pytest.raises(HTTPError) as caught:
                urlopen(Request(wrong, method=method), timeout=60)
            with caught.value as response:
                seen.append(response.status or 0)
                assert "Other page" in response.read().decode()
        browse(page)

    with oauth_tool_server() as server:
        assert server.sign_in.issuer in signed_in(server, act)
    assert seen == [400] * 5


def test_after_its_time_or_its_end_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    clocks: list[tuple[asyncio.AbstractEventLoop, asyncio.Timeout]] = []

    def timeout(within_s: float) -> asyncio.Timeout:
        clocks.append((asyncio.get_running_loop(), asyncio.timeout(within_s)))
        return clocks[-1][1]

    def wait_too_long(page: str) -> None:
        pages.append(page)
        loop, clock = clocks[0]
        loop.call_soon_threadsafe(clock.reschedule, loop.time())

    with oauth_tool_server() as server:
        signed_in(server, lambda page: pages.append(page) or browse(page))  # type: ignore[func-returns-value]
        monkeypatch.setattr(oauth, "asyncio", SimpleNamespace(**vars(asyncio) | {"timeout": timeout}))
        with pytest.raises(ServerFault) as caught:
            signed_in(server, wait_too_long)
        assert (caught.value.problem, caught.value.detail) == (ServerProblem.SIGN_IN_LATE, "1")
    assert len(pages) == 2
    assert not any(map(waits, pages))


def test_another_place_to_sign_in_is_shown_to_nobody_before_signing_out() -> None:
    pages: list[str] = []
    with oauth_tool_server() as server, SignInServer("right") as other, serving(other):
        grant = signed_in(server)
        other.resource = server.address
        server.sign_in = other
        with pytest.raises(ServerFault) as caught:
            signed_in(server, pages.append, grant=grant)
        assert (caught.value.problem, caught.value.detail) == (ServerProblem.SIGN_IN_MOVED, "127.0.0.1")
        assert (pages, other.clients) == ([], {})
        assert other.issuer in signed_in(server)


def test_a_token_that_is_good_for_longer_than_there_is_time_is_none() -> None:
    with oauth_tool_server() as server:
        server.sign_in.expires_s = 10**400
        with pytest.raises(ServerFault) as caught:
            signed_in(server)
    assert caught.value.problem is ServerProblem.SIGN_IN_FAILED


def test_a_server_that_wants_no_sign_in_gets_none() -> None:
    with oauth_tool_server() as server:
        server.sign_in.access.append("")
        assert signed_in(server) == ""


def test_a_server_that_speaks_by_a_stream_is_asked_for_it() -> None:
    with oauth_tool_server() as server:
        server.path = "/sse"
        server.sign_in.resource = server.address
        assert server.sign_in.issuer in signed_in(server)
        assert (server.sign_in.faults, server.taken) == ([], [])


class Connection:
    """One that uses a grant, without the protocol of tools."""

    def __init__(self, server: OAuthToolServer, grant: str = "", lock: str = "", **headers: str) -> None:
        self.reach = ServerReach(address=server.address, headers=headers, grant=grant, lock=lock)
        self.http = LimitedTransport(server.address)
        self.failures: list[ServerProblem] = []
        self.kept: list[str] = []
        self.auth = SignedIn(self.reach, self.http, lambda fault: self.failures.append(fault.problem), self._renew)

    async def _renew(self, former: str, grant: str) -> str:
        self.kept += [grant] * (grant != former)
        return grant

    def ask(self, count: int = 1, method: str = "POST") -> list[int]:
        """Statuses of requests that are made at once."""

        async def ask() -> list[int]:
            async with new_client(self.reach.headers, self.http, self.auth) as client:
                sent = [client.request(method, self.reach.address, json={"method": "x"}) for _ in range(count)]
                return [response.status_code for response in await asyncio.gather(*sent)]

        return asyncio.run(ask())


def test_an_expired_token_is_refreshed_before_it_is_used() -> None:
    with oauth_tool_server() as server:
        server.sign_in.expires_s = 5
        grant = signed_in(server)
        refusals = server.refusals
        server.sign_in.expires_s = 3600
        connection = Connection(server, grant)
        assert connection.ask() == connection.ask() == [202]
        assert (server.refusals, len(connection.kept), connection.failures) == (refusals, 1, [])
        again = Connection(server, connection.kept[0])
        assert (again.ask(), again.kept) == ([202], [])


def test_many_requests_refresh_once() -> None:
    """A refresh token is good once: a second refresh would end the grant."""
    with oauth_tool_server() as server:
        connection = Connection(server, signed_in(server))
        server.sign_in.access.clear()
        assert connection.ask(8) == [202] * 8
        assert len(connection.kept) == 1


def test_a_process_that_was_stopped_while_it_refreshed_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth, "_LONGEST_WAIT_S", 0.01)
    with oauth_tool_server() as server, (tmp_path / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        connection = Connection(server, signed_in(server), lock=str(tmp_path / "lock"))
        server.sign_in.access.clear()
        assert connection.ask() == [202]
        assert len(connection.kept) == 1


def test_the_end_of_a_session_is_worth_no_refresh() -> None:
    """The host that it is from may end before anybody hears of the new tokens."""
    with oauth_tool_server() as server:
        server.sign_in.expires_s = 5
        grant = signed_in(server)
        connection = Connection(server, grant)
        assert (connection.ask(method="DELETE"), connection.kept) == ([405], [])
        again = Connection(server, grant)
        assert (again.ask(), again.failures) == ([202], [])


@pytest.mark.parametrize("mode", ["busy", "no_answer"])
def test_a_sign_in_server_that_is_busy_ends_nothing(mode: str) -> None:
    with oauth_tool_server() as server:
        connection = Connection(server, signed_in(server))
        server.sign_in.access.clear()
        server.sign_in.mode = mode
        with pytest.raises(httpx2.ConnectError):
            connection.ask()
        assert (connection.kept, connection.failures) == ([], [])
        server.sign_in.mode = "right"
        assert connection.ask() == [202]


@pytest.mark.parametrize(
    ("mode", "headers", "offered"),
    [
        ("right", {}, True),
        ("right", {"Authorization": "Bearer mine"}, False),
        ("basic", {}, False),
        ("forbidden", {}, False),
    ],
)
def test_a_sign_in_is_offered_where_there_may_be_one(mode: str, headers: dict[str, str], offered: bool) -> None:
    with oauth_tool_server() as server:
        grant = signed_in(server)
        server.oauth_mode = mode
        server.sign_in.refresh.clear()
        server.sign_in.access.clear()
        connection = Connection(server, grant if headers else "", **headers)
        assert connection.ask() == [403 if mode == "forbidden" else 401]
        assert connection.failures == [ServerProblem.SIGNED_OUT] * offered
        assert (connection.http.failure is None) == offered


def test_a_page_that_has_a_query_of_its_own_keeps_it() -> None:
    with oauth_tool_server("page_with_query") as server:
        assert server.sign_in.issuer in signed_in(server)
        assert server.sign_in.faults == []


def test_tokens_go_to_their_own_origin_alone() -> None:
    async def renew(_former: str, grant: str) -> str:
        return grant

    async def first(auth: SignedIn, address: str) -> str | None:
        flow = auth.async_auth_flow(httpx2.Request("GET", address))
        request = await anext(flow)
        await flow.aclose()
        return request.headers.get("authorization")

    with oauth_tool_server() as server:
        grant = signed_in(server)
        token = f"Bearer {server.sign_in.access[-1]}"
        auth = Connection(server, grant).auth
        assert asyncio.run(first(auth, server.address)) == token
        for other in (server.sign_in.issuer, server.address.replace("http:", "https:"), "http://127.0.0.1/mcp"):
            assert asyncio.run(first(auth, other)) is None
        there = "https://xn--bcher-kva.example/mcp"
        reach = ServerReach(address=there, grant=grant.replace(server.address, there))
        international = SignedIn(reach, LimitedTransport(there), lambda _: None, renew)
        assert asyncio.run(first(international, there)) == token
        elsewhere = ServerReach(address=server.address + "2", grant=grant)
        moved = SignedIn(elsewhere, LimitedTransport(server.address), lambda _: None, renew)
        assert asyncio.run(first(moved, elsewhere.address)) is None, "the address of the server was changed"


@pytest.mark.parametrize(
    ("server", "address", "may"),
    [
        ("https://a.example/mcp", "https://b.example/token", True),
        ("https://a.example/mcp", "http://b.example/token", False),
        ("https://a.example/mcp", "http://127.0.0.1:8080/token", False),
        ("https://a.example/mcp", "https://localhost/token", False),
        ("https://a.example/mcp", "file:///etc/passwd", False),
        ("https://a.example/mcp", "https://me:secret@b.example/", False),
        ("http://localhost:8080/mcp", "http://127.0.0.1:9/token", True),
        ("http://localhost:8080/mcp", "https://b.example/token", True),
    ],
)
def test_a_server_leads_to_this_machine_only_from_it(server: str, address: str, may: bool) -> None:
    assert may_lead_to(server, address) == may
    if not may:
        with pytest.raises(ServerFault) as caught:
            asyncio.run(LimitedTransport(server).check(address))
        assert caught.value.problem is ServerProblem.ADDRESS


def waits(page: str) -> bool:
    """Whether the sign-in of that page still waits."""
    (back,) = parse_qs(urlsplit(page).query)["redirect_uri"]
    return listens(urlsplit(back).port or 0)
