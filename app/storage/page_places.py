"""Pages of a database that are lost, which SQLite takes for words, or not in their places, where it does not find them.

Here: places. Not here: what is in the pages (`pages`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

PAGE_BYTES = 4096  # of our files; also where the header cannot be read
LEAF, _INNER = 0x0D, 0x05  # pages of a table: with rows, with the numbers of pages
_TREE_HEAD_BYTES = {0x02: 12, 0x05: 12, 0x0A: 8, LEAF: 8}
_HEADER_BYTES = 100
_LOCKED_BYTE = 1 << 30  # SQLite leaves the page of it as it is
_AHEAD_BYTES = 1 << 20

Child = tuple[int, int, int]  # its number, and between which ids its rows are: above the first, up to the second
Shift = tuple[
    int, int, int
]  # page n is at (n - 1) * page_bytes + shift, where that is from the first place to the last


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number as SQLite writes it, and where it ends. Raises IndexError."""
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    return value << 8 | data[at + 8], at + 9


def page_bytes_of(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size if size in (512 << n for n in range(8)) else PAGE_BYTES


def free_pages(page: Callable[[int], bytes], count: int, page_bytes: int) -> set[int]:
    """Pages of rows that were deleted; they may still hold them."""
    free: set[int] = set()
    trunk = int.from_bytes(page(1)[32:36], "big")
    while 0 < trunk <= count and trunk not in free:
        free.add(trunk)
        numbers = page(trunk)
        leaves = min(int.from_bytes(numbers[4:8], "big"), page_bytes // 4 - 2)
        free.update(int.from_bytes(numbers[8 + 4 * n : 12 + 4 * n], "big") for n in range(leaves))
        trunk = int.from_bytes(numbers[:4], "big")
    return free


def has_lost_page(file: Path, count: int, logged: Mapping[int, bytes]) -> bool:
    """Whether a page in use is all zeros, or cut off: what SQLite misses there it takes for zeros, too.

    `logged` has the pages that are in the log.
    """
    with file.open("rb", buffering=_AHEAD_BYTES) as stream:
        page_bytes = page_bytes_of(stream.read(18))
        zeros = bytes(page_bytes)
        stream.seek(0)
        lost = {number for number in range(1, count + 1) if stream.read(page_bytes) in (zeros, b"")}
        if stream.tell() < count * page_bytes:
            lost.add(stream.tell() // page_bytes + 1)
        lost -= {_LOCKED_BYTE // page_bytes + 1, *logged}

        def page(number: int) -> bytes:
            stream.seek((number - 1) * page_bytes)
            return logged.get(number) or stream.read(page_bytes)

        return bool(lost and lost - free_pages(page, count, page_bytes))


def straightened(data: bytes, page_bytes: int, size: int) -> bytes:
    """The file with its pages in their places again, where bytes were cut out of it or put into it.

    `size`: of the whole file, with zeros behind `data`.
    """
    said = int.from_bytes(data[28:32], "big")
    shifts = _shifts(data, page_bytes, size - said * page_bytes)
    if len(shifts) == 1 and shifts[0][0] == 0:
        return data
    count = -(-(len(data) - shifts[-1][0]) // page_bytes)
    pages = (_page(data, number, page_bytes, shifts) for number in range(count))
    return b"".join(page.ljust(page_bytes, b"\0") for page in pages)


def _shifts(data: bytes, page_bytes: int, in_all: int) -> list[Shift]:
    """Each shift, as far as pages tell it. `in_all`: the last one, if the header is right."""
    shifts: list[Shift] = [(0, 0, 0)]
    for at in _leaves(data, page_bytes):
        shift, first, _ = shifts[-1]
        if (at - shift) % page_bytes == 0:
            shifts[-1] = shift, first, at
            continue
        put_in = (at - shift) % page_bytes
        nearest = shift + (put_in if put_in <= page_bytes // 2 else put_in - page_bytes)
        shifts.append((in_all if (at - in_all) % page_bytes == 0 else nearest, at, at))
    moved_by_pages = len(shifts) == 1 and in_all and in_all % page_bytes == 0
    return _shifts_by_children(data, page_bytes, in_all) if moved_by_pages else shifts


def _shifts_by_children(data: bytes, page_bytes: int, in_all: int) -> list[Shift]:
    """Where whole pages were cut out or put in: by the pages that others point to, and the ids of their rows."""
    children = sorted(
        child for at in range(page_bytes, len(data), page_bytes) for child in _children(data, at, page_bytes)
    )
    here, moved = ([_fits(data, (each[0] - 1) * page_bytes + by, each) for each in children] for by in (0, in_all))
    first = max(range(len(children) + 1), key=lambda n: (sum(here[:n]) + sum(moved[n:]), n))
    if first == len(children):
        return [(0, 0, len(data))]
    last = (children[first - 1][0] - 1) * page_bytes if first else 0
    return [(0, 0, last), (in_all, (children[first][0] - 1) * page_bytes + in_all, len(data))]


def _children(data: bytes, at: int, page_bytes: int) -> Iterator[Child]:
    if data[at] != _INNER or not _is_tree(data, at, page_bytes):
        return
    lowest = 0
    for place in range(at + 12, at + 12 + 2 * int.from_bytes(data[at + 3 : at + 5], "big"), 2):
        cell = at + int.from_bytes(data[place : place + 2], "big")
        with suppress(IndexError):
            highest, _ = varint(data, cell + 4)
            yield int.from_bytes(data[cell : cell + 4], "big"), lowest, highest
            lowest = highest
    yield int.from_bytes(data[at + 8 : at + 12], "big"), lowest, 1 << 63


def _fits(data: bytes, at: int, child: Child) -> bool:
    if not 0 <= at < len(data) - 10 or data[at] != LEAF:
        return 0 <= at < len(data) and data[at] == _INNER
    try:
        _, id_at = varint(data, at + int.from_bytes(data[at + 8 : at + 10], "big"))
        return child[1] < varint(data, id_at)[0] <= child[2]
    except IndexError:
        return False


def _leaves(data: bytes, page_bytes: int) -> Iterator[int]:
    """Where a page with rows begins, or all looks like it."""
    at = data.find(LEAF, _HEADER_BYTES + 1)  # not that of the first page, which is behind the header
    while at >= 0:
        if _is_tree(data, at, page_bytes):
            yield at
            at += page_bytes - 1
        at = data.find(LEAF, at + 1)


def _is_tree(data: bytes, at: int, page_bytes: int) -> bool:
    head = _TREE_HEAD_BYTES.get(data[at]) if 0 <= at < len(data) else None
    if head is None:
        return False
    cells, content = (int.from_bytes(data[at + n : at + n + 2], "big") for n in (3, 5))
    end = at + head + 2 * cells
    if not 0 < cells <= page_bytes // 6 or not head + 2 * cells <= content < page_bytes or end > len(data):
        return False
    return all(content <= int.from_bytes(data[n : n + 2], "big") < page_bytes for n in range(at + head, end, 2))


def _page(data: bytes, number: int, page_bytes: int, shifts: list[Shift]) -> bytes:
    """Between two shifts a page is where it looks like one, or like a piece of a long text."""
    begun = max(n for n, (shift, first, _) in enumerate(shifts) if number * page_bytes + shift >= first)
    near = [number * page_bytes + shift for shift, _, _ in shifts[begun : begun + 2]]
    if near[0] <= shifts[begun][2]:
        near = near[:1]
    fits = [at for at in near if _is_tree(data, at, page_bytes)] or [at for at in near if _is_piece(data, at)] or near
    return data[fits[0] : fits[0] + page_bytes]


def _is_piece(data: bytes, at: int) -> bool:
    """It begins with the number of the next one."""
    return 0 <= at <= len(data) - 4 and int.from_bytes(data[at : at + 4], "big") <= len(data) // 512
