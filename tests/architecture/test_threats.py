"""Every proof that THREATS.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
_PROOF = re.compile(r"`(\w+/\w+\.py)(?:::(\w+))?`")


def test_every_proof_exists() -> None:
    proofs = _PROOF.findall((TESTS / "THREATS.md").read_text(encoding="utf-8"))
    missing = [
        (file, name)
        for file, name in proofs
        if not (TESTS / file).is_file() or (name and f"def {name}(" not in (TESTS / file).read_text(encoding="utf-8"))
    ]

    assert len(proofs) > 50
    assert missing == []
