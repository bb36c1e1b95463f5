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
import json
import os
import secrets
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

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
            file.write(secrets.token_hex(32) + "\n")
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
    return Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def signature(message: bytes, secret: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(secret).sign(message)


def _secret(file: Path) -> bytes:
    return bytes.fromhex(file.read_text("ascii"))


if __name__ == "__main__":
    sys.exit(main())
