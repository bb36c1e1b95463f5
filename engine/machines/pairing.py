"""Pairs two machines by eight digits that one shows and the other's user types.

SPAKE2 with both certificates as identities: a man in the middle has one guess a try, and learns nothing that could be
searched afterwards. Then each keeps the other's certificate, and the digits are of no further use.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
import unicodedata
from typing import Any, TypeVar

from engine.api.ranks import Machine, MachineRefusal
from engine.machines.identity import Identity, fingerprint_of, shown_name
from engine.machines.messages import MemoryOffer, Pong, Proof, RankAnswer, RankRefused, Share
from engine.machines.relay import SILENT_S
from engine.machines.wire import Wire, WireEnded
from engine.models.watch import Question

DIGITS = 8
INVITED_S = 120.0
TRIES = 5
ANSWER_S = SILENT_S  # after which the one that is asked ends the connection
_MAIN = b"main"
_HELPER = b"helper"
_Kind = TypeVar("_Kind", RankAnswer, MemoryOffer, Pong, Proof, Share)


class Declined(Exception):
    """The other side refused, or is to be refused, for this reason."""

    def __init__(self, why: MachineRefusal, detail: str = "") -> None:
        super().__init__(why, detail)
        self.why = why
        self.detail = detail


class Invitation:
    """Digits that hold for two minutes and five tries. Any thread."""

    def __init__(self) -> None:
        self.code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
        self._until = time.monotonic() + INVITED_S
        self._until_by_clock = time.time() + INVITED_S  # a sleeping Mac counts no time in the other
        self._tries = TRIES
        self._lock = threading.Lock()

    @property
    def left_s(self) -> float:
        """0: they no longer hold."""
        left_s = min(self._until - time.monotonic(), self._until_by_clock - time.time())
        return max(0.0, left_s) if self._tries else 0.0

    def take_try(self) -> str:
        """The digits, for one try; raises Declined if there is none left."""
        with self._lock:
            if not self.left_s:
                raise Declined(MachineRefusal.NOT_INVITING)
            self._tries -= 1
            return self.code

    def close(self) -> None:
        """One machine was paired by it. Raises Declined if another one was before."""
        with self._lock:
            if self._until < 0:
                raise Declined(MachineRefusal.NOT_INVITING)
            self._until = -1.0


def ask_to_pair(wire: Wire, identity: Identity, code: str, theirs: bytes, address: str, cancelled: Question) -> Machine:
    """The main's side. `theirs`: the fingerprint of the certificate that the connection was made with.

    Raises Declined, WireBroken or WireEnded. Once the other side has the proof, nothing is cancelled any more.
    """
    digits = "".join(str(unicodedata.decimal(each)) for each in code if each.isdecimal())  # wide ones, too
    if len(digits) != DIGITS:
        raise Declined(MachineRefusal.CODE)  # and costs no try
    exchange = _exchange("SPAKE2_A", digits, bytes.fromhex(identity.fingerprint), theirs)
    wire.send(Share(identity.name, identity.certificate, exchange.start().hex()))
    share = expected(wire, Share)
    if bytes.fromhex(_fingerprint(share)) != theirs:
        raise Declined(MachineRefusal.MISBEHAVED, "another certificate")
    key = _key(exchange, share)
    _check(expected(wire, Proof), key, _HELPER)
    if cancelled():
        raise WireEnded("cancelled")
    wire.send(Proof(_mac(key, _MAIN)))
    expected(wire, RankAnswer)
    machine = Machine(shown_name(share.name), theirs.hex(), address)
    identity.pair_with(machine, share.certificate)
    return machine


def answer_to_pair(wire: Wire, identity: Identity, invitation: Invitation | None, share: Share) -> None:
    """The helper's side, once a Share came. Raises Declined, WireBroken or WireEnded."""
    theirs = bytes.fromhex(_fingerprint(share))
    if invitation is None:
        raise Declined(MachineRefusal.NOT_INVITING)
    code = invitation.take_try()
    exchange = _exchange("SPAKE2_B", code, theirs, bytes.fromhex(identity.fingerprint))
    wire.send(Share(identity.name, identity.certificate, exchange.start().hex()))
    key = _key(exchange, share)
    wire.send(Proof(_mac(key, _HELPER)))
    _check(expected(wire, Proof), key, _MAIN)
    invitation.close()
    identity.pair_with(Machine(shown_name(share.name), theirs.hex(), ""), share.certificate)
    wire.send(RankAnswer(True))


def _exchange(side: str, code: str, main: bytes, helper: bytes) -> Any:
    import spake2  # type: ignore[import-untyped]  # imports cryptography: not before machines are paired

    return getattr(spake2, side)(code.encode(), idA=main, idB=helper)


def _key(exchange: Any, share: Share) -> bytes:
    try:
        return bytes(exchange.finish(bytes.fromhex(share.share)))
    except Exception as error:  # whatever the package makes of bytes that are not trusted
        raise Declined(MachineRefusal.MISBEHAVED, type(error).__name__) from error


def _mac(key: bytes, role: bytes) -> str:
    return hmac.digest(key, role, "sha256").hex()


def _check(proof: Proof, key: bytes, role: bytes) -> None:
    if not hmac.compare_digest(proof.mac.encode("utf-8", "replace"), _mac(key, role).encode()):
        raise Declined(MachineRefusal.CODE)


def _fingerprint(share: Share) -> str:
    try:
        return fingerprint_of(share.certificate)
    except ValueError as error:
        raise Declined(MachineRefusal.MISBEHAVED, "no certificate") from error


def expected(wire: Wire, kind: type[_Kind]) -> _Kind:
    if not wire.arrives(ANSWER_S):
        raise Declined(MachineRefusal.UNREACHABLE, "no answer")
    value = wire.receive()[0]
    if isinstance(value, RankRefused):
        known = {why.value: why for why in MachineRefusal}
        raise Declined(known.get(value.why, MachineRefusal.MISBEHAVED), shown_name(value.detail))
    if not isinstance(value, kind):
        raise Declined(MachineRefusal.MISBEHAVED, type(value).__name__)
    return value
