"""Code without what a terminal would act on instead of showing it. No Qt.

Escape sequences, NUL and other control characters, and the marks that make text read in another order than it runs.
Line ends and tabs stay. Joiners and marks of direction that only affect neighbours stay too: words need them.
"""

import re

# It begins with one set of characters, which is what makes a search through megabytes quick.
_ACTED_ON = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069](?:"
    "(?:(?<=\x1b)\\[|(?<=\x9b))[0-?]*[ -/]*[@-~]?"  # control sequences, such as colours and moves of the cursor
    "|(?:(?<=\x1b)[P\\]X^_]|(?<=[\x90\x9d\x98\x9e\x9f]))[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"  # titles, links
    "|(?<=\x1b)[ -/]*[0-~]?"
    ")?"
)


def safe_code(code: str) -> tuple[str, int]:
    """The code to paste, and how many characters were left out."""
    code = code.replace("\r\n", "\n")
    kept = _ACTED_ON.sub("", code)
    return kept, len(code) - len(kept)
