"""A certificate for this machine alone, and its key: for a hub of the tests that speaks TLS. Nobody else trusts it."""

from __future__ import annotations

import ssl
from pathlib import Path

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
