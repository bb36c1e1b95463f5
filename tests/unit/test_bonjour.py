"""What machines nearby say of themselves, where each may say anything; and what is called of macOS, as in its header.

The calls themselves are made in `drills/test_bonjour.py`, where there is a daemon for them.
"""

from __future__ import annotations

import re
import socket
from ctypes import POINTER, c_char_p, c_int, c_int32, c_uint16, c_uint32, c_void_p
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster import bonjour, discovery
from engine.cluster.bonjour import Bonjour, Resolved
from engine.cluster.discovery import FoundMachine, _machines, _Sighting, announced_text
from engine.cluster.operations import PROTOCOL

# As in Apple's dns_sd.h, without its comments.
HEADER = """
DNSServiceErrorType DNSServiceRegister(DNSServiceRef *sdRef, DNSServiceFlags flags, uint32_t interfaceIndex,
    const char *name, const char *regtype, const char *domain, const char *host, uint16_t port, uint16_t txtLen,
    const void *txtRecord, DNSServiceRegisterReply callBack, void *context);
DNSServiceErrorType DNSServiceBrowse(DNSServiceRef *sdRef, DNSServiceFlags flags, uint32_t interfaceIndex,
    const char *regtype, const char *domain, DNSServiceBrowseReply callBack, void *context);
DNSServiceErrorType DNSServiceResolve(DNSServiceRef *sdRef, DNSServiceFlags flags, uint32_t interfaceIndex,
    const char *name, const char *regtype, const char *domain, DNSServiceResolveReply callBack, void *context);
DNSServiceErrorType DNSServiceQueryRecord(DNSServiceRef *sdRef, DNSServiceFlags flags, uint32_t interfaceIndex,
    const char *fullname, uint16_t rrtype, uint16_t rrclass, DNSServiceQueryRecordReply callBack, void *context);
dnssd_sock_t DNSServiceRefSockFD(DNSServiceRef sdRef);
DNSServiceErrorType DNSServiceProcessResult(DNSServiceRef sdRef);
void DNSServiceRefDeallocate(DNSServiceRef sdRef);
void DNSServiceBrowseReply(DNSServiceRef sdRef, DNSServiceFlags flags, uint32_t interfaceIndex,
    DNSServiceErrorType errorCode, const char *serviceName, const char *regtype, const char *replyDomain,
    void *context);
void DNSServiceResolveReply(DNSServiceRef sdRef, DNSServiceFlags flags, uint32_t interfaceIndex,
    DNSServiceErrorType errorCode, const char *fullname, const char *hosttarget, uint16_t port, uint16_t txtLen,
    const unsigned char *txtRecord, void *context);
void DNSServiceQueryRecordReply(DNSServiceRef sdRef, DNSServiceFlags flags, uint32_t interfaceIndex,
    DNSServiceErrorType errorCode, const char *fullname, uint16_t rrtype, uint16_t rrclass, uint16_t rdlen,
    const void *rdata, uint32_t ttl, void *context);
"""
TYPES: dict[str, Any] = {
    "DNSServiceErrorType": c_int32,
    "DNSServiceRef": c_void_p,
    "DNSServiceRef *": POINTER(c_void_p),
    "DNSServiceFlags": c_uint32,
    "DNSServiceBrowseReply": bonjour.BROWSE_REPLY,
    "DNSServiceResolveReply": bonjour.RESOLVE_REPLY,
    "DNSServiceQueryRecordReply": bonjour.RECORD_REPLY,
    "DNSServiceRegisterReply": c_void_p,  # none is given
    "dnssd_sock_t": c_int,
    "uint32_t": c_uint32,
    "uint16_t": c_uint16,
    "const char *": c_char_p,
    "const unsigned char *": c_void_p,  # of a length
    "const void *": c_void_p,
    "void *": c_void_p,
    "void": None,
}
HOST = Resolved(b"studio.local.", 7791, announced_text("f" * 64))


def declared() -> dict[str, tuple[Any, ...]]:
    found = {}
    for result, name, arguments in re.findall(r"(\w+) (\w+)\(([^;]*)\);", HEADER):
        types = [re.sub(r"\s*\w+$", "", each.strip()) for each in arguments.split(",")]
        found[name] = tuple(TYPES[each] for each in (result, *types))
    return found


def test_each_call_has_the_prototype_of_its_header() -> None:
    header = declared()
    assert {name: header[name] for name in bonjour.FUNCTIONS} == bonjour.FUNCTIONS
    for name in ("Browse", "Resolve", "QueryRecord"):
        reply = TYPES[f"DNSService{name}Reply"]
        assert (reply._restype_, *reply._argtypes_) == header[f"DNSService{name}Reply"]


def seen(resolved: Resolved, *addresses: str, name: str = "Studio") -> tuple[FoundMachine, ...]:
    packed = [socket.inet_pton(socket.AF_INET6 if ":" in each else socket.AF_INET, each) for each in addresses]
    return _machines({(name.encode(), 1): _Sighting(1, [], resolved, packed)})


def test_a_machine_is_known_by_an_id_that_is_another_one_each_time() -> None:
    (machine,) = seen(HOST, "10.0.0.7")
    assert (machine.name, machine.protocol, machine.addresses) == ("Studio", PROTOCOL, ("10.0.0.7:7791",))
    assert machine.is_same_version
    assert [machine.may_be(each * 64) for each in "fe"] == [True, False]
    assert announced_text("f" * 64) != HOST.text


def test_one_on_two_interfaces_is_one_machine_with_all_its_addresses() -> None:
    link, own = "fe80::1", socket.inet_pton(socket.AF_INET, "10.0.0.7")
    sightings = {
        (b"Studio", 1): _Sighting(1, [], HOST, [own, socket.inet_pton(socket.AF_INET6, link)]),
        (b"Studio", 2): _Sighting(1, [], HOST, [own, socket.inet_pton(socket.AF_INET, "169.254.9.7")]),
        (b"Studio", 3): _Sighting(1, [], None, []),
    }
    (machine,) = _machines(sightings)
    scope = socket.if_indextoname(1)
    assert machine.addresses == ("10.0.0.7:7791", "169.254.9.7:7791", f"[{link}%{scope}]:7791")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "0.0.0.0", "::", "224.0.0.251", "ff02::fb", "::ffff:10.0.0.7"])
def test_addresses_that_lead_to_no_other_machine_are_not_taken(address: str) -> None:
    assert seen(HOST, address) == ()


def test_no_machine_has_more_addresses_than_are_tried_or_a_name_that_is_more_than_a_line() -> None:
    (machine,) = seen(HOST, *(f"10.0.0.{each}" for each in range(1, 100)), name="A\nB\x1b[31m\u202e" + "x" * 100)
    assert len(machine.addresses) == discovery.MOST_ADDRESSES
    assert machine.name == "AB[31m" + "x" * 58


@pytest.mark.parametrize("host", [b"evil.example.com.", b"local.", b"", b"x" * 300 + b".local."])
def test_no_name_of_the_internet_is_looked_up(host: bytes) -> None:
    assert not discovery._is_local(host)
    assert discovery._is_local(HOST.host)


WORDS = st.sampled_from([b"id=", b"protocol=", b"protocol=1", b"id=" + b"a" * 32, HOST.text, b"\xff", b"\x00"])


@given(parts=st.lists(st.binary(max_size=40) | WORDS, max_size=6), port=st.integers(0, 65535))
def test_what_is_no_record_of_ours_is_no_machine(parts: list[bytes], port: int) -> None:
    text = b"".join(bytes([len(each)]) + each if len(each) < 200 else each for each in parts)
    for machine in seen(Resolved(HOST.host, port, text), "10.0.0.7"):
        assert re.fullmatch("[0-9a-f]{32}", machine.id)
        assert machine.addresses == (f"10.0.0.7:{port}",)
        assert port


def test_where_there_is_no_library_nothing_is_found() -> None:
    with pytest.raises(OSError, match="switched off"):
        Bonjour()
    heard: list[object] = []
    browsing = discovery.Browsing(heard.append)
    browsing._thread.join(60)
    browsing.stop()
    assert heard == []
    assert browsing._stopped.fileno() == -1
