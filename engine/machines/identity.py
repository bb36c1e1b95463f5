"""This machine's key and certificate, and the machines that it is paired with, in a folder of their own.

Certificates sign themselves, and each side trusts exactly those of the machines that it is paired with.
"""

from __future__ import annotations

import datetime
import fcntl
import hashlib
import json
import os
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from engine.api.errors import InvalidRequest
from engine.api.files import write_atomically
from engine.api.ranks import Machine
from engine.machines.computers import computer_name
from engine.models.model_files import FileError, entries, parse_object, read_limited, start_of

MOST_NAME = 64
_MOST_BYTES = 1 << 20
_KEY = "key.pem"
_CERTIFICATE = "certificate.pem"
_MACHINES = "machines.json"
_WANTED = f"a folder that can be written, with {_KEY} and its {_CERTIFICATE} or neither"


class Identity:
    """Any thread, any process. Created if the folder has none; raises InvalidRequest for unusable files."""

    def __init__(self, folder: Path, name: str = "") -> None:
        self.folder = folder
        self.name = (name or computer_name())[:MOST_NAME]
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _alone(folder):
                if not (folder / _CERTIFICATE).is_file():
                    _make_certificate(folder)
            self.certificate = start_of(folder / _CERTIFICATE, _MOST_BYTES).decode()
            self.fingerprint = fingerprint_of(self.certificate)
            self.server_context()
        except (OSError, ValueError) as error:
            raise InvalidRequest("identity", str(folder), _WANTED) from error

    def machines(self) -> tuple[Machine, ...]:
        """Those that this one is paired with, the newest last."""
        return tuple(machine for machine, _ in self._known())

    def machine(self, fingerprint: str) -> Machine | None:
        """The one with this certificate, if it is paired: any process may have removed it meanwhile."""
        return next((machine for machine in self.machines() if machine.fingerprint == fingerprint), None)

    def pair_with(self, machine: Machine, certificate: str) -> None:
        """Store a pairing; replaces a former one of that machine, whose address stays if it brings none, or at its
        address.
        """
        with _alone(self.folder):
            former = self.machine(machine.fingerprint) or machine
            machine = replace(machine, address=machine.address or former.address)
            others = [known for known in self._known() if known[0].fingerprint != machine.fingerprint]
            if machine.address:
                others = [known for known in others if known[0].address != machine.address]
            self._write([*others, (machine, certificate)])

    def move(self, fingerprint: str, address: str) -> None:
        """Store the address where the machine has proven itself."""
        with _alone(self.folder):
            known = self._known()
            self._write(
                [
                    (replace(machine, address=address) if machine.fingerprint == fingerprint else machine, certificate)
                    for machine, certificate in known
                ]
            )

    def remove(self, fingerprint: str) -> bool:
        """False if it was not paired. From then on neither side's connections are accepted here."""
        with _alone(self.folder):
            known = self._known()
            kept = [each for each in known if each[0].fingerprint != fingerprint]
            self._write(kept)
            return len(kept) < len(known)

    def server_context(self, verify: ssl.VerifyMode = ssl.CERT_OPTIONAL) -> ssl.SSLContext:
        """For one connection. Without `verify` a client may come without a certificate, to be paired, but not with an
        unknown one.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = verify
        return self._prepared(context, (certificate for _, certificate in self._known()), shows=True)

    def client_context(self, machine: Machine | None) -> ssl.SSLContext:
        """To this machine and no other; None: to anyone, without a certificate, to be paired."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE if machine is None else ssl.CERT_REQUIRED
        known = (own for each, own in self._known() if machine and each.fingerprint == machine.fingerprint)
        return self._prepared(context, known, shows=machine is not None)

    def _prepared(self, context: ssl.SSLContext, trusted: Iterable[str], *, shows: bool) -> ssl.SSLContext:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        # All certificates have the same subject. Without this, OpenSSL compares with the first of them alone.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        if shows:
            context.load_cert_chain(self.folder / _CERTIFICATE, self.folder / _KEY)
        for certificate in trusted:
            with suppress(ssl.SSLError):  # what is no certificate is not trusted, and keeps out no other
                context.load_verify_locations(cadata=certificate)
        return context

    def _known(self) -> list[tuple[Machine, str]]:
        """The trusted certificates; unreadable ones are not trusted."""
        try:
            content = parse_object(read_limited(self.folder / _MACHINES, _MOST_BYTES), _MACHINES)
        except FileError:
            return []
        return [known for entry in entries(content, "machines") if (known := _machine(entry)) is not None]

    def _write(self, known: list[tuple[Machine, str]]) -> None:
        """What is there and cannot be read stays beside it. Raises InvalidRequest where the disk refuses."""
        path = self.folder / _MACHINES
        content = [
            {"name": machine.name, "address": machine.address, "certificate": certificate}
            for machine, certificate in known
        ]
        try:
            try:
                parse_object(read_limited(path, _MOST_BYTES), _MACHINES)
            except FileError:
                if path.exists():
                    path.replace(path.with_suffix(".damaged"))
            write_atomically(path, json.dumps({"machines": content}, indent=1), most_bytes=_MOST_BYTES)
        except OSError as error:
            raise InvalidRequest("identity", str(self.folder), _WANTED) from error


def fingerprint(certificate: bytes) -> str:
    """In DER."""
    return hashlib.sha256(certificate).hexdigest()


def fingerprint_of(certificate: str) -> str:
    """In PEM. Raises ValueError if it is none."""
    return fingerprint(ssl.PEM_cert_to_DER_cert(certificate))


def shown_name(name: str) -> str:
    """A name that came from elsewhere, fit for one line."""
    return "".join(character for character in name if character.isprintable()).strip()[:MOST_NAME] or "?"


def _machine(entry: object) -> tuple[Machine, str] | None:
    if not isinstance(entry, dict):
        return None
    name, address, certificate = (entry.get(field) for field in ("name", "address", "certificate"))
    if not isinstance(name, str) or not isinstance(address, str) or not isinstance(certificate, str):
        return None
    try:
        return Machine(shown_name(name), fingerprint_of(certificate), address), certificate
    except ValueError:
        return None


def _make_certificate(folder: Path) -> None:
    """Valid whatever the clocks say: each machine keeps the other's, so nothing has to run out."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Hunch")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))
    builder = builder.not_valid_after(datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC))
    certificate = builder.sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_atomically(folder / _KEY, private)
    write_atomically(folder / _CERTIFICATE, certificate.public_bytes(pem))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other thread or process changes what is in it meanwhile."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some disks of other machines have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
