"""Rows read from the bytes of a SQLite file, page by page, where SQLite itself finds no way to them.

Follows the file format: https://www.sqlite.org/fileformat2.html. Nothing here is trusted: what does not fit is skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.storage.page_places import LEAF, PAGE_BYTES, free_pages, page_bytes_of, straightened, varint

Value = int | float | str | bytes | None

_MOST_PAGES = 1 << 24
_PART_BYTES = 1 << 20
_HEAD_BYTES = 8  # of such a page
_LEAST_CELL_BYTES = 6  # with its pointer
_LOG_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_MAGIC = (0x377F0682, 0x377F0683)


@dataclass(frozen=True, slots=True)
class Frame:
    """One page in the write-ahead log. `sound`: it and all before it have their checksums."""

    number: int
    commits: bool
    data: bytes
    sound: bool


def log_frames(log: Path) -> Iterator[Frame]:
    """The frames of the log that were written since it was last emptied."""
    data = log.read_bytes() if log.exists() else b""
    if len(data) < _LOG_HEADER_BYTES:
        return
    magic, _, page_bytes = struct.unpack(">3I", data[:12])
    order = ">" if magic & 1 else "<"
    sums = _checksum(order, data[:24], (0, 0))
    sound = magic in _MAGIC and sums == struct.unpack(">2I", data[24:32])
    page_bytes = page_bytes if sound else PAGE_BYTES
    # What tells these frames from older ones is in the header, and in each frame too.
    salts = data[16:24] if sound else data[_LOG_HEADER_BYTES + 8 : _LOG_HEADER_BYTES + 16]
    step = _FRAME_HEADER_BYTES + page_bytes
    for at in range(_LOG_HEADER_BYTES, len(data) - step + 1, step):
        head, page = data[at : at + _FRAME_HEADER_BYTES], data[at + _FRAME_HEADER_BYTES : at + step]
        if head[8:16] != salts:
            continue
        if sound:
            sums = _checksum(order, page, _checksum(order, head[:8], sums))
            sound = sums == struct.unpack(">2I", head[16:24])
        number, committed = struct.unpack(">2I", head[:8])
        yield Frame(number, committed > 0, page, sound)


def _checksum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second


def _without_zeros_behind(file: Path) -> bytes:
    """All of it but most zeros at its end: a file of gigabytes may be nothing else."""
    parts: list[bytes] = []
    zeros, behind = bytes(_PART_BYTES), 0
    with file.open("rb") as stream:
        while part := stream.read(_PART_BYTES):
            if part == zeros[: len(part)]:
                behind += len(part)
            else:
                parts += [bytes(behind), part]
                behind = 0
    return b"".join(parts)


class Pages:
    """The pages of a file in their places, with those of its log."""

    def __init__(self, file: Path, log: Path) -> None:
        data = _without_zeros_behind(file)
        self.page_bytes = page_bytes_of(data)
        self._data = straightened(data, self.page_bytes, file.stat().st_size)
        self._later = {frame.number: frame.data for frame in log_frames(log)}
        reserved = self._data[20] if len(self._data) > 20 else 0
        self._usable = self.page_bytes - (reserved if reserved <= 32 else 0)

    def write_to(self, target: Path) -> None:
        with target.open("wb") as file:
            for number in range(1, self.count + 1):
                file.write(self.page(number).ljust(self.page_bytes, b"\0"))

    @cached_property
    def count(self) -> int:
        """Pages behind the end of the file are in the log, or within what the header says: else a number is damaged."""
        in_file = -(-len(self._data) // self.page_bytes)
        most = max(in_file + len(self._later), int.from_bytes(self.page(1)[28:32], "big"))
        return max([in_file, *(number for number in self._later if number <= min(most, _MOST_PAGES))])

    def page(self, number: int) -> bytes:
        later = self._later.get(number)
        at = (number - 1) * self.page_bytes
        return later if later is not None else self._data[at : at + self.page_bytes]

    def rows(self) -> Iterator[tuple[int, list[Value]]]:
        """Each row of each table that can be read, with its id."""
        free = free_pages(self.page, self.count, self.page_bytes)
        for number in range(1, self.count + 1):
            if number not in free:
                yield from self._rows_of(self.page(number), 100 if number == 1 else 0)

    def _rows_of(self, page: bytes, start: int) -> Iterator[tuple[int, list[Value]]]:
        if len(page) < start + _HEAD_BYTES:
            return
        if page[start] == LEAF:
            yield from self._rows_at(page, self._cells_of(page, start))
        elif (cells := int.from_bytes(page[start + 3 : start + 5], "big")) <= self.page_bytes // _LEAST_CELL_BYTES:
            # Its first byte may be the damaged one: then everything else in it fits.
            found = list(self._rows_at(page, self._cells_of(page, start)))
            if len(found) >= cells:
                yield from found

    def _cells_of(self, page: bytes, start: int) -> Iterator[int]:
        """Where its cells are; also behind their number, which may be damaged, up to a place that none can be at."""
        at = start + _HEAD_BYTES
        while at + 2 <= len(page):
            cell = int.from_bytes(page[at : at + 2], "big")
            at += 2
            if cell >= at:
                yield cell
            elif at > start + _HEAD_BYTES + 2 * int.from_bytes(page[start + 3 : start + 5], "big"):
                return

    def _rows_at(self, page: bytes, cells: Iterable[int]) -> Iterator[tuple[int, list[Value]]]:
        for cell in cells:
            try:
                yield self._row(page, cell)
            except (IndexError, ValueError, struct.error):
                continue

    def _row(self, page: bytes, at: int) -> tuple[int, list[Value]]:
        size, at = varint(page, at)
        row_id, at = varint(page, at)
        if not (0 < size < 1 << 30 and 0 <= row_id < 1 << 48):
            raise ValueError(row_id)
        return row_id, _values(self._payload(page, at, size))

    def _payload(self, page: bytes, at: int, size: int) -> bytes:
        usable = self._usable
        if size <= usable - 35:
            return _exactly(page[at : at + size], size)
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= usable - 35 else least
        parts, left = [_exactly(page[at : at + local], local)], size - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        if size > self.count * self.page_bytes:
            raise ValueError(size)
        while left > 0:
            if not 0 < following <= self.count:  # what follows is lost, and stands there as zeros
                parts.append(bytes(left))
                break
            overflow = self.page(following)
            taken = min(left, usable - 4)
            parts.append(overflow[4 : 4 + taken].ljust(taken, b"\0"))
            following, left = int.from_bytes(overflow[:4], "big"), left - taken
        return b"".join(parts)


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError(size)
    return data


def _values(payload: bytes) -> list[Value]:
    head_bytes, at = varint(payload, 0)
    kinds = []
    while at < head_bytes:
        kind, at = varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    at = head_bytes
    for kind in kinds:
        size = _size(kind)
        values.append(_value(kind, _exactly(payload[at : at + size], size)))
        at += size
    return values


def _size(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    if kind in (10, 11):
        raise ValueError(kind)
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        number: float = struct.unpack(">d", data)[0]
        return number
    if kind >= 12:
        return data.decode("utf-8", "replace") if kind % 2 else data
    return int.from_bytes(data, "big", signed=True)
