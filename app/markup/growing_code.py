"""Highlighting of code that is being written. No Qt.

Reading all of it for each word would cost more every time, so only lines below the last safe place are read: a line
that begins a statement, with all comments and strings closed. That may be wrong; complete code is read again as a whole
(`highlight.spans`).
"""

import re
from time import thread_time

from app.markup.highlight import ColoredSpan, lexer_of, spans

_NEW_THING = re.compile(r"\n\s*\n(?=[^\s}\])])")
_LONG_TAIL = 600  # beyond it any line may be the place
_LONGEST_TAIL = 3000  # beyond it new lines stay plain
_MOST_S = 0.010  # for one reading, or the next one
# Of these a line has the same colours by itself as below the others, where no string goes on.
_LINE_BY_LINE = frozenset({"python", "py", "python3", "diff", "patch", "json", "ini", "toml"})
_PAIRS = (("/*", "*/"), ("<!--", "-->"))
_SAME_AT_BOTH_ENDS = ('"""', "'''", "`")


class GrowingCode:
    def __init__(self, language: str) -> None:
        self._language = language
        self._start = 0
        self._slow = 0  # readings in a row
        lexer_of(language)  # or the first reading of a language would look slow

    def spans(self, code: str) -> tuple[int, list[ColoredSpan]]:
        """Spans from a place on, and that place; earlier spans have not changed."""
        start = self._start
        self._start = self._safe_place(code)
        if self._slow > 1 or len(code) - start > _LONGEST_TAIL:
            return len(code), []
        started_s = thread_time()
        read = spans(code[start:], self._language)
        found = [span._replace(start=span.start + start) for span in read if span.role is not None]
        self._slow = self._slow + 1 if thread_time() - started_s > _MOST_S else 0
        return start, found

    def _safe_place(self, code: str) -> int:
        """The last safe place, or the known one."""
        places = [found.end() for found in _NEW_THING.finditer(code, self._start)]
        if self._language.lower() in _LINE_BY_LINE:
            places.append(code.rfind("\n", self._start) + 1)
        elif len(code) - self._start > _LONG_TAIL:
            places.append(code.rfind("\n", self._start, len(code) - _LONG_TAIL // 3) + 1)
        return next((place for place in sorted(places, reverse=True) if self._is_safe(code, place)), self._start)

    def _is_safe(self, code: str, place: int) -> bool:
        if any(code.count(mark, self._start, place) % 2 for mark in _SAME_AT_BOTH_ENDS):
            return False
        return all(code.count(a, self._start, place) == code.count(b, self._start, place) for a, b in _PAIRS)
