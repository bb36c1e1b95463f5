"""All rows, and which of them are asked for."""

from __future__ import annotations

from tests.bench.company import COMPANY
from tests.bench.costs import COSTS
from tests.bench.documents import IN_DOCUMENTS
from tests.bench.downloads import DOWNLOADS
from tests.bench.drafters import DRAFTERS
from tests.bench.eight_bits import EIGHT_BITS
from tests.bench.first_replies import FIRST
from tests.bench.long_chats import LONG_CHATS
from tests.bench.long_texts import LONG_TEXTS
from tests.bench.machines import MACHINES
from tests.bench.manuals import IN_MANUALS
from tests.bench.natural import NATURAL
from tests.bench.rows import ROWS
from tests.bench.searching import SEARCHING
from tests.bench.serving import SERVING
from tests.bench.stations import STATIONS
from tests.bench.tensor import TENSOR
from tests.bench.tools import TOOL_ROWS
from tests.bench.window import WINDOW

MEASURES = (
    *(*ROWS, *COSTS, *DRAFTERS, *COMPANY, *SERVING, *MACHINES, *SEARCHING, *LONG_TEXTS, *WINDOW, *NATURAL, *FIRST),
    *(*TOOL_ROWS, *LONG_CHATS, *IN_DOCUMENTS, *IN_MANUALS, *EIGHT_BITS, *TENSOR, *DOWNLOADS, *STATIONS),
)


def is_wanted(function: str, text: str) -> bool:
    """By the function's name; and by the row's id, which is the same name with dots and, mostly, "engine" in front."""
    if function == "natural_rows" and text.startswith("engine.natural."):
        return True
    return text.replace(".", "_") in f"engine_{function}"
