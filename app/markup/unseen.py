"""Characters that cannot be seen. With them a text can say to a model, or do, what its reader does not see."""

from __future__ import annotations

import re
import unicodedata

# Besides control characters: format characters, such as zero-width ones and those that change the direction of text,
# halves of surrogate pairs, and private and unassigned ones. What joins emoji and letters of some scripts is one, too.
_KINDS = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# Selectors of variants, which can spell any words, and letters without ink.
_NO_INK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _KINDS or _NO_INK.match(character) is not None
