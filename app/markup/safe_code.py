"""Removes from code what a terminal would execute rather than show. No Qt.

Escape sequences, NUL and other control characters, and marks that reorder text. Line ends and tabs stay; so do joiners
and direction marks that only affect neighbours, since words need them.
"""

import re

_CONTROL = "[0-?]*+[ -/]*+[@-~]?+"  # the rest of a sequence such as a colour or a move of the cursor
_STRING = "[^\x07\x1b\x9c\n]*+(?:\x07|\x1b\\\\|\x9c)?+"  # … of a title or a link
_ESCAPED = f"\x1b*+(?:\\[{_CONTROL}|[P\\]X^_]{_STRING}|[ -/]*+[0-~]?+)"  # … of what ESC begins
_BY_ITSELF = "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x8f\x91-\x97\x99\x9a\x9c\u202a-\u202e\u2066-\u2069]"
# It begins with one set of characters, which is what makes a search through megabytes quick. What follows at once is
# part of the same match, and nothing in it is ever tried again: megabytes may hold nothing else.
_ACTED_ON = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
    f"(?:(?<=\x1b){_ESCAPED}|(?<=\x9b){_CONTROL}|(?<=[\x90\x9d\x98\x9e\x9f]){_STRING})?+"
    f"(?:\x1b{_ESCAPED}|\x9b{_CONTROL}|[\x90\x9d\x98\x9e\x9f]{_STRING}|{_BY_ITSELF}++)*+"
)


def safe_code(code: str) -> tuple[str, int]:
    """The code to paste, and how many characters were left out."""
    code = code.replace("\r\n", "\n")
    kept = _ACTED_ON.sub("", code)
    return kept, len(code) - len(kept)
