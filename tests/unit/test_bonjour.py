"""What machines nearby say of themselves, where each may say anything. They are found in `drills/test_bonjour.py`."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zeroconf import ServiceInfo

from engine.machines import discovery
from engine.machines.discovery import KIND, FoundMachine, announced, found_machine
from engine.machines.messages import PROTOCOL

SERVICE = f"{KIND}.local."
RECORD = announced("f" * 64)


def found(*addresses: str, name: str = "Studio", port: int = 7791, record: Any = RECORD) -> FoundMachine | None:
    service = ServiceInfo(
        SERVICE,
        f"{name}.{SERVICE}",
        port=port,
        properties=record,
        server="studio.local.",
        parsed_addresses=list(addresses),
    )
    return found_machine(service)


def test_a_machine_is_known_by_an_id_that_is_another_one_each_time() -> None:
    machine = found("10.0.0.7")
    assert machine is not None
    assert (machine.name, machine.protocol, machine.addresses) == ("Studio", PROTOCOL, ("10.0.0.7:7791",))
    assert machine.is_same_version
    assert [machine.may_be(each * 64) for each in "fe"] == [True, False]
    assert announced("f" * 64) != RECORD


def test_addresses_that_users_know_come_first() -> None:
    machine = found("fd00::7", "10.0.0.7", "169.254.9.7")
    assert machine is not None
    assert machine.addresses == ("10.0.0.7:7791", "169.254.9.7:7791", "[fd00::7]:7791")


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "0.0.0.0", "::", "224.0.0.251", "ff02::fb", "::ffff:10.0.0.7", "fe80::1"]
)
def test_addresses_that_lead_to_no_other_machine_are_not_taken(address: str) -> None:
    """Nor one of a link that is not named."""
    assert found(address) is None


def test_no_machine_has_more_addresses_than_are_tried_or_a_name_that_is_more_than_a_line() -> None:
    machine = found(*(f"10.0.0.{each}" for each in range(1, 100)), name="A\u202eB\u200f" + "x" * 50)
    assert machine is not None
    assert len(machine.addresses) == discovery.MOST_ADDRESSES
    assert machine.name == "AB" + "x" * 50


FIELDS = st.sampled_from(
    [*(f"{name}={said}".encode() for name, said in RECORD.items()), b"id=", b"protocol=1", b"\xff"]
)


@given(parts=st.lists(st.binary(max_size=40) | FIELDS, max_size=6), port=st.integers(0, 65535))
def test_what_is_no_record_of_ours_is_no_machine(parts: list[bytes], port: int) -> None:
    record = b"".join(bytes([len(each)]) + each if len(each) < 200 else each for each in parts)
    machine = found("10.0.0.7", port=port, record=record)
    if machine is not None:
        assert re.fullmatch("[0-9a-f]{32}", machine.id)
        assert machine.addresses == (f"10.0.0.7:{port}",)
        assert port


class Network:
    """Of zeroconf, what a browser calls: every service is one of ours, unless its name is too long for any."""

    def get_service_info(self, kind: str, name: str, _timeout_ms: int) -> ServiceInfo:
        return ServiceInfo(kind, name, port=7791, properties=RECORD, parsed_addresses=["10.0.0.7"], server="a.local.")


def test_no_more_machines_are_kept_than_a_page_shows() -> None:
    reported: list[tuple[FoundMachine, ...]] = []
    browsing = discovery.Browsing(reported.append)
    network: Any = Network()
    names = [f"Mac {number:03}.{SERVICE}" for number in range(100)]
    for name in (f"{'x' * 100}.{SERVICE}", *names):
        browsing.add_service(network, SERVICE, name)
    assert len(reported[-1]) == discovery.MOST_SEEN
    for name in names:
        browsing.remove_service(network, SERVICE, name)
    assert reported[-1] == ()
    browsing.stop()


def test_where_it_is_switched_off_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    heard: list[object] = []
    browsing = discovery.Browsing(heard.append)
    browsing._thread.join(60)
    assert not browsing._thread.is_alive()
    assert heard == []


def test_it_looks_again_where_the_network_fails_and_where_its_addresses_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HUNCH_BONJOUR")
    monkeypatch.setattr(discovery, "_LOOK_S", 0.0)
    addresses = iter([["10.0.0.7"], ["10.0.0.7"], ["10.0.0.7"], ["10.0.0.8"], ["10.0.0.8"]])
    monkeypatch.setattr(discovery, "_own_addresses", lambda: next(addresses))
    begun: list[object] = []

    class Zeroconf:
        def __init__(self) -> None:
            begun.append("begins")
            if len(begun) == 1:
                raise OSError("no network")

        def close(self) -> None:
            begun.append("closes")

    class Service(discovery._Service):
        def _begin(self, zeroconf: object, addresses: Any) -> None:
            begun.append(addresses)
            if addresses == ["10.0.0.8"]:
                self.stop()

    monkeypatch.setattr("zeroconf.Zeroconf", Zeroconf)
    service = Service()
    service._thread.join(60)
    assert not service._thread.is_alive()
    assert begun == ["begins", "begins", ["10.0.0.7"], "closes", "begins", ["10.0.0.8"], "closes"]
