"""Signs the notice of a new version, which the app asks for once a day (`app/system/updates.py`).

    python packaging/sign_notice.py new-key KEYFILE                  # once; prints the public key
    python packaging/sign_notice.py sign KEYFILE NOTICE.json > PUBLISHED.json

NOTICE.json: {"version": "0.2.0", "page": "releases/v0.2.0", "notes": {"en": "…", "ko": "…", "ja": "…", "zh_CN": "…"}}
Notes are in each language of the app: plain text, of 400 characters and 8 lines at most. They are read in a dialog, and
the page has more.

The key file holds 32 random bytes in hexadecimal. It belongs to whoever publishes releases, and into no repository: who
has it can tell every user of Hunch to look at a page below the address that the app has built in, and no more.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from app.system.ed25519 import BASE, KEY_BYTES, ORDER, PRIME, Point, times  # noqa: E402
from app.system.updates import NotANotice, notice_of  # noqa: E402
from app.words.languages import LANGUAGES  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="sign_notice.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("new-key", "sign"))
    parser.add_argument("key", type=Path)
    parser.add_argument("notice", type=Path, nargs="?")
    options = parser.parse_args()
    if options.what == "new-key":
        with os.fdopen(os.open(options.key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
        print(public_key(_secret(options.key)).hex())
    else:
        print(json.dumps(published(options.notice.read_text("utf-8"), _secret(options.key))))
    return 0


def published(notice: str, secret: bytes) -> dict[str, str]:
    """What the app reads; it is read once as the app will."""
    missing = LANGUAGES.keys() - notice_of(notice).notes.keys()
    if missing:
        raise NotANotice(f"no notes in {', '.join(sorted(missing))}")
    return {"notice": notice, "signature": base64.b64encode(signature(notice.encode(), secret)).decode()}


def public_key(secret: bytes) -> bytes:
    return encoded(times(_scalar(secret), BASE))


def signature(message: bytes, secret: bytes) -> bytes:
    """RFC 8032, 5.1.6. Not in constant time: nobody watches a release being made."""
    prefix = hashlib.sha512(secret).digest()[KEY_BYTES:]
    once = _number(prefix + message)
    point = encoded(times(once, BASE))
    challenge = _number(point + public_key(secret) + message)
    return point + ((once + challenge * _scalar(secret)) % ORDER).to_bytes(KEY_BYTES, "little")


def encoded(point: Point) -> bytes:
    inverse = pow(point[2], -1, PRIME)
    x, y = point[0] * inverse % PRIME, point[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(KEY_BYTES, "little")


def _scalar(secret: bytes) -> int:
    if len(secret) != KEY_BYTES:
        raise ValueError(f"a key has {KEY_BYTES} bytes")
    number = int.from_bytes(hashlib.sha512(secret).digest()[:KEY_BYTES], "little")
    return number & ((1 << 254) - 8) | 1 << 254


def _number(data: bytes) -> int:
    return int.from_bytes(hashlib.sha512(data).digest(), "little") % ORDER


def _secret(file: Path) -> bytes:
    return bytes.fromhex(file.read_text("ascii"))


if __name__ == "__main__":
    sys.exit(main())
