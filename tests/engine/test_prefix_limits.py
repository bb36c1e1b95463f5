"""How many conversations are kept on disk, and how much of it: in proportion to what is used."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.models.loading import LoadedModel
from engine.prefix.disk import PrefixDisk
from tests.engine.test_prefix_disk import CHAT, cached, files, read, write


@pytest.fixture(scope="module")
def model(models: dict[str, LoadedModel]) -> LoadedModel:
    return models["hybrid"]


def small_chat(number: int) -> tuple[int, ...]:
    return tuple(10 + (number * 7 + n * (number + 1)) % 250 for n in range(40))


def test_no_more_conversations_are_kept_than_anybody_goes_back_to(dense: LoadedModel, tmp_path: Path) -> None:
    """Whatever the limit in bytes: chats that were left or deleted, and branches, do not pile up."""
    disk = PrefixDisk(tmp_path, conversations=4)
    held = []
    for number in range(10):
        write(dense, disk, small_chat(number))
        held.append(sum(path.stat().st_size for path in files(tmp_path)))

    assert max(held) <= held[3] * 1.01
    assert [cached(dense, tmp_path, small_chat(number)) > 0 for number in range(4, 10)] == [False] * 2 + [True] * 4


@pytest.mark.parametrize("thoughts", [(), (5, 5, 6, 6)])
def test_a_chat_of_many_turns_is_one_conversation(
    model: LoadedModel, tmp_path: Path, thoughts: tuple[int, ...]
) -> None:
    """Also where each turn leaves thoughts behind that the next prompt lacks."""
    disk = PrefixDisk(tmp_path, conversations=2)
    turns = [(*CHAT[:end], *thoughts) for end in range(20, 160, 20)]
    for tokens in (small_chat(1), *turns):
        sequence = read(model, tokens, len(tokens) - (len(thoughts) or 10))
        sequence.conversation = "chat" if tokens in turns else "other"
        for _ in disk.write(sequence):
            pass

    assert len(files(tmp_path)) > 7
    assert cached(model, tmp_path, (*CHAT[:140], 9)) >= 139
    assert cached(model, tmp_path, small_chat(1)) > 0


def test_no_more_is_kept_than_a_share_of_what_the_disk_has_free(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where others have filled it since, so that nothing more can be written."""
    disk = PrefixDisk(tmp_path)
    write(dense, disk, small_chat(0))
    one = sum(path.stat().st_size for path in files(tmp_path))
    usage = shutil.disk_usage(tmp_path)
    free = 22 * one
    monkeypatch.setattr("engine.prefix.disk.shutil.disk_usage", lambda folder: usage._replace(free=free))
    for number in range(1, 8):
        write(dense, disk, small_chat(number))

    assert one < sum(path.stat().st_size for path in files(tmp_path)) <= 2.5 * one
    assert cached(dense, tmp_path, small_chat(7)) > 0
    free = 0
    write(dense, disk, small_chat(8))
    assert files(tmp_path) == []


def test_the_newest_stays_where_the_clock_was_set_back(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, now in enumerate([2e9, 1e9, 5e8]):
        monkeypatch.setattr("engine.prefix.disk.time.time", lambda now=now: now)
        write(dense, PrefixDisk(tmp_path, conversations=2), small_chat(number))

    assert [cached(dense, tmp_path, small_chat(number)) > 0 for number in range(3)] == [False, True, True]


def test_half_of_the_disk_is_the_users_however_much_programs_ask(dense: LoadedModel, tmp_path: Path) -> None:
    """Other programs' requests have no conversation's name. Where there are no others, all of it is theirs."""
    disk = PrefixDisk(tmp_path, conversations=4)
    for number in range(8):
        sequence = read(dense, small_chat(number), 20)
        sequence.conversation = f"chat {number}" if number < 3 else ""
        for _ in disk.write(sequence):
            pass
    kept = [number for number in range(8) if cached(dense, tmp_path, small_chat(number)) > 0]
    assert kept == [1, 2, 6, 7]
    disk = PrefixDisk(tmp_path, conversations=4)  # knows when those were used just now
    disk.keep_only([])
    for number in range(8, 12):
        write(dense, disk, small_chat(number))
    assert [number for number in range(12) if cached(dense, tmp_path, small_chat(number)) > 0] == [8, 9, 10, 11]
