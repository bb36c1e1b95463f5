"""Signing in to tool servers by OAuth 2.1: the SDK's flow, within limits of ours.

A sign-in registers a client for it alone, and brings a grant: its tokens, that client, and where they are for. A
connection uses and refreshes the grant, and never begins a sign-in. Connections of several processes may have the same
grant, and its refresh token is good once: a refresh holds a lock, and begins with the grant that is stored by then.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.utils import extract_field_from_www_auth, extract_scope_from_www_auth, union_scopes
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from app.tools.host.http import LimitedTransport, is_stream, new_client
from app.tools.host.loopback import Callback
from app.tools.public import same_origin
from app.tools.wire import DETAIL_CHARACTERS, LONGEST_GRANT, ServerFault, ServerProblem, ServerReach, SignInPages

_WITH_RESOURCE = "2025-06-18"  # from this version of the protocol on a token is asked for one resource
_EARLY_S = 10.0  # before a token expires it is refreshed
_REVOKE_S = 10.0
_LOOK_AT_LOCK_S = 0.05
_LONGEST_WAIT_S = 20.0  # for a process that was stopped while it refreshed
_PKCE = "S256"
_SCOPES = re.compile(r"[!#-\[\]-~]+( [!#-\[\]-~]+)*")
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": _WITH_RESOURCE, "capabilities": {}, "clientInfo": {"name": "hunch", "version": ""}},
}

_CLIENT = ("client_id", "client_secret", "token_endpoint_auth_method")  # what is kept of it
_METADATA = ("issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint")

Browse = Callable[[str], None]
Renew = Callable[[str, str], Awaitable[str]]  # a grant and what becomes of it, perhaps nothing; the one that counts now


class Grant(BaseModel):
    """`tokens` None: they were refused. Where the sign-in was is still known."""

    address: str  # of the tool server
    resource: str
    client: OAuthClientInformationFull
    metadata: OAuthMetadata
    tokens: OAuthToken | None
    expires: float | None

    @classmethod
    def read(cls, text: str, address: str) -> Grant | None:
        """None for one that is damaged, or for another address."""
        try:
            grant = cls.model_validate_json(text)
        except ValidationError:
            return None
        return grant if grant.address == address else None

    def text(self) -> str:
        """With what is needed alone. Raises ServerFault."""
        kept = self.model_dump(mode="json")
        kept["client"] = {name: kept["client"][name] for name in _CLIENT}
        kept["metadata"] = {name: kept["metadata"][name] for name in _METADATA}
        text = json.dumps(kept)
        token = self.tokens.access_token if self.tokens is not None else "-"
        if len(text) > LONGEST_GRANT or not (token.isascii() and token.isprintable() and token):
            raise ServerFault(ServerProblem.SIGN_IN_FAILED)
        return text


class _Memory:
    """The SDK's storage. Tokens are also given to `keep`, if there is one."""

    def __init__(self, keep: Callable[[OAuthToken], Awaitable[None]] | None = None) -> None:
        self._keep = keep

    async def get_tokens(self) -> None:
        return None

    async def get_client_info(self) -> None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        if self._keep is not None:
            await self._keep(tokens)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """With the tokens."""


def _metadata(address: str | None = None) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(address or "http://127.0.0.1/")],
        client_name="Hunch",
        token_endpoint_auth_method="none",
    )


def _plain(address: str) -> str:
    """Without its query, which may be a secret."""
    return address.partition("?")[0]


class SignedIn(OAuthClientProvider):
    """What a connection authenticates by: a grant that is refreshed when it has expired or is refused once.

    `fail` is called when the user has to sign in. Without a grant requests go as they are, and with a key of the user's
    that is refused there is no sign-in to offer.
    """

    def __init__(
        self,
        reach: ServerReach,
        http: LimitedTransport,
        fail: Callable[[ServerFault], None],
        renew: Renew,
    ) -> None:
        super().__init__(_plain(reach.address), _metadata(), _Memory(self._keep_tokens))
        self._http = http
        self._fail = fail
        self._renew = renew
        self._lock = reach.lock
        self._has_key = "authorization" in map(str.lower, reach.headers)
        self._text = ""  # of the grant
        self._grant: Grant | None = None
        if reach.grant and not self._has_key:
            self._take(reach.grant)

    def _take(self, text: str) -> None:
        """The grant that is stored now."""
        if text == self._text:
            return
        self._text = text
        self._grant = grant = Grant.read(text, self.context.server_url)
        self.context.clear_tokens()
        if grant is not None:
            self.context.oauth_metadata = grant.metadata
            self.context.client_info = grant.client
            self.context.current_tokens = grant.tokens
            self.context.token_expiry_time = None if grant.expires is None else grant.expires - _EARLY_S
            about = {"resource": grant.resource, "authorization_servers": [str(grant.metadata.issuer)]}
            self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(about)

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if not same_origin(str(request.url), self.context.server_url):
            yield request
            return
        if request.method == "DELETE":  # the end of a session: the host may end before the app has another grant
            self._sign(request)
            yield request
            return
        response: httpx2.Response | None = None
        used = self._token
        has_expired = self.context.current_tokens is not None and not self.context.is_token_valid()
        for is_refused in (has_expired, True):
            if is_refused:
                async with self.context.lock, _alone(self._lock):
                    self._take(await self._renew(self._text, self._text))
                    if self._token == used and self.context.can_refresh_token():
                        await self._take_refreshed((yield await self._refresh_token()))
                if response is not None and self._token in ("", used):
                    break
            used = self._sign(request)
            response = yield request
            if response.status_code != 401 or not used:
                break
        assert response is not None
        self._judge(response)

    @property
    def _token(self) -> str:
        return self.context.current_tokens.access_token if self.context.current_tokens is not None else ""

    def _sign(self, request: httpx2.Request) -> str:
        if self._token:
            request.headers["authorization"] = f"Bearer {self._token}"
        return self._token

    async def _take_refreshed(self, response: httpx2.Response) -> None:
        """A server that cannot answer now leaves the tokens as they are; one that refuses them ends them."""
        if response.status_code in (400, 401, 403):
            self.context.clear_tokens()
            await self._keep_tokens(None)
        elif response.status_code != 200:
            raise httpx2.ConnectError(f"HTTP {response.status_code}")
        else:
            before = self.context.current_tokens, self.context.token_expiry_time
            if not await self._handle_refresh_response(response):
                self.context.current_tokens, self.context.token_expiry_time = before
                raise httpx2.ConnectError("no tokens")

    async def _keep_tokens(self, tokens: OAuthToken | None) -> None:
        if self._grant is not None:
            expires = self.context.token_expiry_time
            if expires is not None:
                self.context.token_expiry_time = expires - _EARLY_S
            self._grant = self._grant.model_copy(update={"tokens": tokens, "expires": expires})
            former = self._text
            self._text = self._grant.text()
            self._take(await self._renew(former, self._text))

    def _judge(self, response: httpx2.Response) -> None:
        challenge = response.headers.get("www-authenticate", "bearer").lower()
        if self._token and (more := _lacking(response)):
            self._http.failure = ServerFault(ServerProblem.SIGN_IN_MORE, more)
        elif response.status_code == 403 or (
            response.status_code == 401 and (self._has_key or "bearer" not in challenge)
        ):
            self._http.failure = ServerFault(ServerProblem.SIGN_IN, str(response.status_code))
        elif response.status_code == 401:
            self._fail(ServerFault(ServerProblem.SIGNED_OUT))


class _BrowserSignIn(OAuthClientProvider):
    """The SDK's flow, which stops at what is not safe, or not where the sign-in was before."""

    def __init__(
        self,
        address: str,
        callback: Callback,
        former: Grant | None,
        show: Callable[[str], Awaitable[None]],
        more: str,
    ) -> None:
        async def browse(url: str) -> None:
            page, _, asked = url.rpartition("?")  # which the SDK puts also after a query of the page's own
            url = f"{page}{'&' if '?' in page else '?'}{asked}"
            self._state = parse_qs(urlsplit(url).query).get("state", [""])[-1]
            if not self._state:
                raise ServerFault(ServerProblem.SIGN_IN_FAILED)
            await show(url)

        async def answer() -> AuthorizationCodeResult:
            found = await callback.answer(self._state)
            if "error" in found:
                raise ServerFault(ServerProblem.SIGN_IN_REFUSED, found["error"])
            return AuthorizationCodeResult(code=found.get("code", ""), state=self._state, iss=found.get("iss"))

        super().__init__(address, _metadata(callback.address), _Memory(), browse, answer)
        self._former = former
        self._state = ""
        tokens = None if former is None else former.tokens
        self._wanted = union_scopes(None if tokens is None else tokens.scope, more) if more else ""

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = super()._auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                if outgoing is not request:
                    self._check(outgoing)
                response = yield outgoing
                if outgoing is request and self._wanted:
                    self._want(response)
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    def _want(self, response: httpx2.Response) -> None:
        """Have the flow ask for what was allowed before and what a call needs, beside what the server asks for."""
        scopes = union_scopes(self._wanted, extract_scope_from_www_auth(response))
        challenge = response.headers.get("www-authenticate", "Bearer")
        response.headers["www-authenticate"] = f'Bearer scope="{scopes}", {challenge}'

    def _check(self, outgoing: httpx2.Request) -> None:
        """Of the flow's own requests, before each. Raises ServerFault."""
        if self.context.protected_resource_metadata is None and not same_origin(
            str(outgoing.url), self.context.server_url
        ):
            raise ServerFault(ServerProblem.NO_SIGN_IN)  # only its own origin says where its sign-in is
        metadata = self.context.oauth_metadata
        if outgoing.method == "GET":
            return
        if metadata is None or _PKCE not in (metadata.code_challenge_methods_supported or ()):
            raise ServerFault(ServerProblem.NO_SIGN_IN)
        if self._former is not None and self._former.metadata.issuer != metadata.issuer:
            raise ServerFault(ServerProblem.SIGN_IN_MOVED, metadata.issuer.host or "")
        if metadata.registration_endpoint is None:
            raise ServerFault(ServerProblem.NO_REGISTRATION)

    def grant(self) -> Grant:
        context = self.context
        assert context.client_info is not None
        assert context.oauth_metadata is not None
        return Grant(
            address=context.server_url,
            resource=context.get_resource_url(),
            client=context.client_info,
            metadata=context.oauth_metadata,
            tokens=context.current_tokens,
            expires=context.token_expiry_time,
        )


async def sign_in(reach: ServerReach, pages: SignInPages, browse: Browse, within_s: float, more: str = "") -> str:
    """The grant; "" from a server that wants none. `browse` gets the page for the user. Raises ServerFault.

    `more`: scopes that a call needs beside those of the present grant, which are asked for again.
    """
    address = _plain(reach.address)
    http = LimitedTransport(reach.address)
    method, content = ("GET", None) if is_stream(reach.address) else ("POST", _HELLO)

    async def show(url: str) -> None:
        await http.check(url)
        browse(url)

    try:
        async with asyncio.timeout(within_s), Callback(pages) as callback:
            provider = _BrowserSignIn(address, callback, Grant.read(reach.grant, address), show, more)
            headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": _WITH_RESOURCE}
            async with (
                new_client(reach.headers, http, provider) as client,
                client.stream(method, reach.address, json=content, headers=headers) as response,
            ):
                status = response.status_code
    except TimeoutError:
        raise ServerFault(ServerProblem.SIGN_IN_LATE, f"{max(1, round(within_s / 60))}") from None
    except OAuthRegistrationError:
        raise ServerFault(ServerProblem.NO_REGISTRATION) from None
    except (OAuthFlowError, ValueError, ArithmeticError):
        raise ServerFault(ServerProblem.SIGN_IN_FAILED) from None
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise http.failure or ServerFault(ServerProblem.UNREACHABLE, str(error) or type(error).__name__) from None
    if provider.context.current_tokens is None:
        if status >= 400:
            raise ServerFault(ServerProblem.NO_SIGN_IN)
        return ""
    if status == 401:
        raise ServerFault(ServerProblem.SIGN_IN_FAILED)
    return provider.grant().text()


async def revoke(reach: ServerReach) -> None:
    """Have the server forget the tokens, if it offers that. Raises nothing."""
    grant = Grant.read(reach.grant, _plain(reach.address))
    if grant is None or grant.tokens is None or grant.metadata.revocation_endpoint is None:
        return
    context = OAuthClientProvider(grant.address, _metadata(), _Memory()).context
    context.client_info = grant.client
    data = {"token": grant.tokens.refresh_token or grant.tokens.access_token, "client_id": grant.client.client_id}
    with suppress(OAuthFlowError, ServerFault, httpx2.HTTPError, httpx2.StreamError, OSError, ValueError):
        data, headers = context.prepare_token_auth(data, {})
        async with asyncio.timeout(_REVOKE_S), new_client({}, LimitedTransport(reach.address)) as client:
            await client.post(str(grant.metadata.revocation_endpoint), data=data, headers=headers)


def _lacking(response: httpx2.Response) -> str:
    """The scopes that a request lacks; "" if it does not say so."""
    scopes = extract_scope_from_www_auth(response) or ""
    is_lacking = response.status_code == 403 and extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return scopes if is_lacking and len(scopes) <= DETAIL_CHARACTERS and _SCOPES.fullmatch(scopes) else ""


@asynccontextmanager
async def _alone(lock: str) -> AsyncIterator[None]:
    """No other process refreshes meanwhile; on a disk without locks one may. "": there is no other."""
    descriptor = -1
    try:
        with suppress(OSError):
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
            async with asyncio.timeout(_LONGEST_WAIT_S):  # its TimeoutError is an OSError
                while not _is_locked(descriptor):
                    await asyncio.sleep(_LOOK_AT_LOCK_S)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
