"""Which addresses of the internet are public, and which may be a tool server's. The tool host uses this, too."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit, urlunsplit

_IPV4_WITHIN = (  # networks of IPv6 whose addresses contain one of IPv4, and at which bit it ends
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
    (ipaddress.IPv6Network("::/96"), 0),
)

_LONGEST_ADDRESS = 4_000
_DISPUTED = frozenset("ßς\u200c\u200d")  # in names of hosts: IDNA of 2003 and of 2008 make two names of one with these

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


def may_be_address(address: str) -> bool:
    """Whether it is one by https, or on this machine, without a name and password in it."""
    try:
        url = urlsplit(address)
        host = url.hostname or ""
        _ = url.port
    except ValueError:
        return False
    is_plain = address.isprintable() and " " not in address and len(address) <= _LONGEST_ADDRESS
    is_safe = url.scheme == "https" or (url.scheme == "http" and is_loopback(host))
    return is_plain and is_safe and bool(host) and "@" not in url.netloc


def in_ascii(address: str) -> str:
    """With the name of its host as DNS, certificates and other programs have it. Raises ValueError."""
    url = urlsplit(address)
    host = url.hostname or ""
    if host.isascii():
        return address
    port = "" if url.port is None else f":{url.port}"
    return urlunsplit(url._replace(netloc=ascii_host(host) + port)) if "@" not in url.netloc else address


def ascii_host(host: str) -> str:
    """Raises ValueError, also for what is read in two ways."""
    if _DISPUTED & set(host):
        raise ValueError("a letter that is read in two ways")
    return host if host.isascii() else host.encode("idna").decode()


def may_lead_to(server: str, address: str) -> bool:
    """Whether a tool server may lead to that address: to this machine only if it is there itself."""
    return may_be_address(address) and (_is_here(server) or not _is_here(address))


def _is_here(address: str) -> bool:
    return is_loopback(urlsplit(address).hostname or "")


def same_origin(one: str, other: str) -> bool:
    return _origin(one) == _origin(other)


def _origin(address: str) -> tuple[str, str, int]:
    url = urlsplit(address)
    return url.scheme, url.hostname or "", url.port or {"https": 443}.get(url.scheme, 80)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_public(place: str) -> bool:
    try:
        address = ipaddress.ip_address(place.partition("%")[0])
    except ValueError:
        return False
    return all(_is_global(each) for each in _with_inner(address))


def _with_inner(address: IpAddress) -> list[IpAddress]:
    """The address and any of IPv4 that it contains."""
    found: list[IpAddress] = [address]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return [address.ipv4_mapped]
        found += [
            ipaddress.IPv4Address((int(address) >> bits) & 0xFFFFFFFF)
            for network, bits in _IPV4_WITHIN
            if address in network
        ]
        found += list(address.teredo or ())
    return found


def _is_global(address: IpAddress) -> bool:
    is_special = address.is_multicast or address.is_reserved or address.is_loopback or address.is_link_local
    is_special |= isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    return address.is_global and not is_special
