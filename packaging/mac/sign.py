"""Seals an app. Run by the Python that has apple-platform-py: sign.py APP ENTITLEMENTS

Ad hoc, or for Apple's notary where HUNCH_P12 names a Developer ID certificate and HUNCH_P12_PASSWORD has its password:
then with the hardened runtime, a time stamp and the entitlements. Ad hoc without them: macOS would refuse libraries
that no common team has signed. The entitlements are for tool servers, whose processes are Hunch to macOS: with the
hardened runtime it asks the user for other apps, calendars and contacts only then.
"""

from __future__ import annotations

import os
import sys

from apple_platform import P12Key, Signer, sign


def main(app: str, entitlements: str) -> None:
    p12 = os.environ.get("HUNCH_P12")
    if p12 is None:
        sign(app)
        return
    signer = Signer(p12=P12Key(path=p12, password=os.environ["HUNCH_P12_PASSWORD"]))
    sign(
        app, signer=signer, entitlements_xml_file=entitlements, code_signature_flags=["runtime"], for_notarization=True
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
