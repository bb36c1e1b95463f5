"""Searching the documents of the chat and its project, and reading them; nothing outside of them."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from app.storage.project_files import FileState, reading, search_in
from app.tools.builtin.tool import Arguments, BuiltIn, Reach, Refusal, described, named_as, text_of
from app.tools.citing import CITING, passages_text
from app.tools.definitions import ToolResult, cleaned

_MOST_PASSAGES = 8
_MOST_WORDS = 1_000  # characters of the query
_LISTED = 100
_LONGEST_NAME = 255
_BROKEN = "the documents cannot be read at present"
_LATER = "[Some documents are not read to their ends yet. The user can ask again in a while.]"
_NO_TEXT = {
    FileState.WAITS: "it is not read yet",
    FileState.READING: "it is not read to there yet",
    FileState.UNREADABLE: "it cannot be read",
}


def _search(arguments: Arguments, reach: Reach) -> ToolResult:
    query = text_of(arguments, "query")
    if not query or len(query) > _MOST_WORDS:
        raise Refusal(f"a query of 1 to {_MOST_WORDS} characters is needed")
    if not reach.documents:
        raise Refusal("there are no documents here")
    broken: list[Path] = []

    def failed(path: Path, error: sqlite3.Error) -> None:
        broken.append(path)
        reach.failed(path, error)

    paths = dict.fromkeys(path for path, _ in reach.documents.values())
    names = {place: name for name, place in reach.documents.items()}
    found = search_in(paths, query, _MOST_PASSAGES, failed, names)
    if broken and not found:
        raise Refusal(_BROKEN)
    listed = [cleaned(name, _LONGEST_NAME, lines=False) for name in list(reach.documents)[:_LISTED]]
    text = passages_text(found) or "No passage has these words. The documents are:\n" + "\n".join(listed)
    return ToolResult(f"{text}\n\n{_LATER}" if any(map(_is_read_on, paths)) else text, outside=True)


def _is_read_on(path: Path) -> bool:
    """Whether some of its documents are not read to their ends yet, as they are between replies."""
    with suppress(sqlite3.Error), reading(path) as files:
        return files is not None and files.next_waiting() is not None
    return False


def text_in(name: str, first_page: int | None, last_page: int | None, reach: Reach) -> str | None:
    """Of a document, or some of its pages; None if it is none of the chat's. Raises Refusal."""
    place = named_as(name, reach.documents) or named_as(name.strip("[] "), reach.documents)
    if place is None:
        return None
    path, file_id = place
    try:
        with reading(path) as files:
            file = None if files is None else files.get(file_id)
            if files is None or file is None:
                raise Refusal("it is not there any more")
            if not file.pages and first_page is not None:
                raise Refusal("it has no pages; use start")
            text = files.text_of(file_id, first_page, last_page or first_page)
    except sqlite3.Error as error:
        reach.failed(path, error)
        raise Refusal(_BROKEN) from None
    if not text and (why := _NO_TEXT.get(file.state)):
        raise Refusal(why)
    if not text and file.pages:
        raise Refusal(f"it has {file.pages} pages")
    return f"{text}\n\n[Only this much of it is read so far.]" if file.state is FileState.READING else text


TOOLS = (
    BuiltIn(
        described(
            "search_files",
            "Searches the documents of this chat and its project, and returns the passages that have most of the words"
            f" of the query, each with its file and page or line. {CITING}",
            {"query": {"type": "string", "description": "The question, or words that the answer should have"}},
        ),
        _search,
        is_free=lambda _arguments, _reach: True,
    ),
)
