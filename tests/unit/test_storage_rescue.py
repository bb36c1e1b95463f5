"""Damage that SQLite takes for words, or finds no way through: lost ends, pages of zeros, bytes cut out or put in."""

from __future__ import annotations

import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import Database, rescue
from app.storage.opening import is_sound
from app.storage.search_index import index_path, take_index
from tests.helpers.chat_files import PAGE_BYTES, fill, look, wipe

pytestmark = pytest.mark.expect_log("the database was damaged", "a copy could not be cleaned")

_LONG = 1500  # words of a message that needs pages of its own
_TREE_PAGES = (2, 5, 10, 13)


def pages_of_long_texts(whole: bytes) -> list[int]:
    """The places of pages that hold nothing but words."""
    places = range(PAGE_BYTES, len(whole), PAGE_BYTES)
    return [at for at in places if whole[at] not in _TREE_PAGES and any(whole[at + 4 : at + PAGE_BYTES])]


def damaged(path: Path, content: bytes) -> bool:
    """Whether a start finds out."""
    path.write_bytes(content)
    with closing(Database(path)) as database:
        return database.rescued is not None


@pytest.mark.parametrize("note", ['{"damaged_file": 3, "saved_messages": "x"}', "[" * 100_000, "{}", "3", b"\xff"])
def test_a_damaged_note_of_a_rescue_tells_nothing(tmp_path: Path, note: str | bytes) -> None:
    with closing(Database(tmp_path / "chats.db")) as database:
        database.execute("INSERT INTO notes VALUES ('rescued', ?)", (note,))
        assert database.rescued is None


def test_a_rescue_and_the_index_find_what_is_no_folder_and_no_file_in_their_places(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    texts = fill(path, messages=3, words=3)
    (tmp_path / "chats-rescue").write_text("")
    (index_path(path) / "inside").mkdir(parents=True)
    assert damaged(path, b"\xff" * 200 + path.read_bytes()[200:])
    assert look(path).texts >= texts
    take_index(path)
    assert not index_path(path).exists()


@pytest.mark.parametrize("has_copy", [False, True], ids=["alone", "beside a copy"])
def test_a_page_of_zeros_in_the_middle_of_a_long_text_is_noticed(tmp_path: Path, has_copy: bool) -> None:
    path = tmp_path / "chats.db"
    texts = fill(path, messages=3, words=_LONG)
    if has_copy:
        rescue.copy_if_due(path)
    whole = path.read_bytes()
    places = pages_of_long_texts(whole)
    assert len(places) >= 12
    for at in places[::5]:
        assert damaged(path, whole[:at] + bytes(PAGE_BYTES) + whole[at + PAGE_BYTES :]), f"byte {at}"
        seen = look(path)
        assert len(texts - seen.texts) == (0 if has_copy else 1)
        assert not any("\0" in text for text in seen.texts)
        for each in tmp_path.glob("chats*.db"):
            each.unlink()


def test_a_long_text_that_lost_its_middle_keeps_the_words_before(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    (text,) = fill(path, chats=1, messages=1, words=_LONG)
    whole = path.read_bytes()
    at = pages_of_long_texts(whole)[0]
    assert damaged(path, whole[:at] + bytes(PAGE_BYTES) + whole[at + PAGE_BYTES :])
    (seen,) = look(path).texts
    assert text.startswith(seen.removesuffix(" … "))
    assert 800 < len(seen.removesuffix(" … ")) < PAGE_BYTES


def test_a_file_that_ends_within_a_page_is_not_sound(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    texts = fill(path, messages=3, words=_LONG)
    whole = path.read_bytes()
    for cut in (1, 700, PAGE_BYTES - 1):
        assert damaged(path, whole[:-cut]), f"{cut} bytes"
        assert len(texts - look(path).texts) <= 1
        wipe(path)


def test_pages_that_are_free_or_in_the_log_may_be_zeros(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    fill(path, messages=6, words=_LONG)
    with closing(Database(path)) as database:  # what is deleted is overwritten with zeros
        database.execute("DELETE FROM messages WHERE chat_id = 1")
    free = zeros_in(path)
    assert free > 5
    assert is_sound(path)
    with closing(Database(path)) as database:  # it goes where these were, and a crash leaves it in the log
        words = "INSERT INTO messages (chat_id, role, text, created_at) VALUES (2, 'user', ?, 1)"
        database.execute(words, ("word " * 5000,))
        kept, log = path.read_bytes(), path.with_name("chats.db-wal").read_bytes()
    path.write_bytes(kept)
    path.with_name("chats.db-wal").write_bytes(log)
    assert zeros_in(path) == free
    assert is_sound(path)
    assert zeros_in(path) < free, "the log was needed"


def zeros_in(path: Path) -> int:
    whole = path.read_bytes()
    return sum(not any(whole[at : at + PAGE_BYTES]) for at in range(0, len(whole), PAGE_BYTES))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[bytes, frozenset[str]]:
    path, words = tmp_path_factory.mktemp("filled") / "chats.db", request.param
    texts = fill(path, chats=4, messages=30 if words < _LONG else 8, words=words)
    return path.read_bytes(), texts


@pytest.mark.costly
@pytest.mark.parametrize("filled", [40, _LONG], ids=["short", "long"], indirect=True)
@pytest.mark.parametrize("moved", [-7, -1000, 3, -3 * PAGE_BYTES - 7, 2 * PAGE_BYTES + 5, -2 * PAGE_BYTES, PAGE_BYTES])
def test_bytes_cut_out_or_put_in_cost_only_what_they_touch(
    tmp_path: Path, filled: tuple[bytes, frozenset[str]], moved: int
) -> None:
    path, (whole, texts) = tmp_path / "chats.db", filled
    on_a_page = 10 if len(texts) > 100 else 1
    for at in (5 * PAGE_BYTES + 900, len(whole) // 2):
        rest = whole[at - moved :] if moved < 0 else b"\x5a" * moved + whole[at:]
        assert damaged(path, whole[:at] + rest)
        lost = texts - look(path).texts
        assert len(lost) <= (2 + abs(moved) // PAGE_BYTES) * on_a_page, f"byte {at}: {len(lost)} of {len(texts)}"
        wipe(path)


def test_bytes_cut_out_in_several_places_cost_only_what_they_touch(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    texts = fill(path, messages=40, words=80)
    left = path.read_bytes()
    for at in (len(left) * 3 // 4, len(left) // 2):
        left = left[:at] + left[at + 100 :]
    assert damaged(path, left)
    assert len(texts - look(path).texts) <= 3 * 6


def test_a_large_file_of_zeros_takes_no_memory_and_no_room(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    texts = fill(path)
    rescue.copy_if_due(path)
    with path.open("wb") as file:
        file.truncate(300_000_000)
    tracemalloc.start()
    try:
        assert look(path).texts == texts
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
