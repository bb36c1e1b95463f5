"""The folder of kept caches: what is damaged, foreign, half written or too much, and who may read it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import mlx.core as mx
import pytest

from engine import Engine, Message, MessageRole, ModelReady, Request, Sampling, Speculation
from engine.caches.checkpoints import Checkpoint, Rows, arrays_in, rows_between
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from engine.models.model_files import FileError
from engine.prefix.disk import PrefixDisk
from engine.prefix.file import Segment, read_index, read_segment, write_segment
from engine.prefix.memory import PrefixStore
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.loading import load_model
from tests.helpers.samples import fair
from tests.helpers.tiny_families import FAMILIES

CHAT = tuple(40 + (7 * n) % 90 for n in range(300))


@pytest.fixture(scope="module")
def model(models: dict[str, LoadedModel]) -> LoadedModel:
    return models["hybrid"]


def write(model: LoadedModel, disk: PrefixDisk, tokens: tuple[int, ...] = CHAT, turn_end: int | None = None) -> None:
    for _ in disk.write(read(model, tokens, len(tokens) // 2 if turn_end is None else turn_end)):
        pass


_read: dict[tuple[str, tuple[int, ...], int], Sequence] = {}


def read(model: LoadedModel, tokens: tuple[int, ...], turn_end: int) -> Sequence:
    """All but the last token; nobody may go on with it."""
    key = model.identity, tokens, turn_end
    if key not in _read:
        sequence = _read[key] = Sequence(model, list(tokens))
        sequence.turn_end = turn_end
        while sequence.uncached > 1:
            sequence.prefill_chunk()
    return _read[key]


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    yield
    _read.clear()


def cached(model: LoadedModel, folder: Path, tokens: tuple[int, ...] = CHAT) -> int:
    return PrefixStore(disk=PrefixDisk(folder)).take(model, list(tokens)).caches.position


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*/*.safetensors"), key=lambda path: int(path.stem.rpartition("-")[2]))


def starts(folder: Path) -> list[int]:
    return [int(path.stem.rpartition("-")[2]) for path in files(folder)]


def test_what_is_there_is_not_written_again(model: LoadedModel, tmp_path: Path) -> None:
    """Nor is what branches have in common."""
    disk = PrefixDisk(tmp_path)
    for tokens in (CHAT, (*CHAT[:200], *CHAT[:80])):
        write(model, disk, tokens, 150)
    before = files(tmp_path)
    assert starts(tmp_path) == [0, 150, 200]
    for tokens in (CHAT, (*CHAT[:200], *CHAT[:80])):
        write(model, PrefixDisk(tmp_path), tokens, 150)
    assert files(tmp_path) == before


def test_where_a_stretch_was_only_cut_there_is_no_checkpoint(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.prefix.disk._LONGEST_SEGMENT_TOKENS", 100)
    write(model, PrefixDisk(tmp_path), CHAT, 0)
    segments = [read_index(path) for path in files(tmp_path)]
    assert [(each.start, each.end, each.has_checkpoint) for each in segments] == [
        (0, 100, False),
        (100, 200, False),
        (200, 299, True),
    ]
    assert cached(model, tmp_path, CHAT[:250]) == 0
    assert cached(model, tmp_path) == 299


def test_stretches_of_a_chat_that_began_otherwise_are_not_taken(dense: LoadedModel, tmp_path: Path) -> None:
    """Though each token in them is the same: what stands in a row depends on all tokens before."""
    write(dense, PrefixDisk(tmp_path / "one"), CHAT[:151], 0)
    other = (99, *CHAT[1:151])
    for tokens in (other, (*other, *CHAT[151:])):
        write(dense, PrefixDisk(tmp_path / "other"), tokens, 0)
    (beginning,) = files(tmp_path / "one")
    for path in files(tmp_path / "other"):
        shutil.copy(path, beginning.parent)
    assert cached(dense, tmp_path / "one") == 150
    assert cached(dense, tmp_path / "one", (*other, *CHAT[151:])) == 299


def overlapping(model: LoadedModel, folder: Path) -> None:
    """Stretches of one chat, [0, 199) and [99, 299): two processes wrote, each while it saw no file of the other."""
    write(model, PrefixDisk(folder), CHAT[:200], 0)
    (beginning,) = files(folder)
    elsewhere = folder / "elsewhere"
    for end in (100, 300):
        write(model, PrefixDisk(elsewhere), CHAT[:end], 0)
    shutil.copy(files(elsewhere)[1], beginning.parent)
    shutil.rmtree(elsewhere)


@pytest.mark.parametrize("kind", ["dense", "hybrid"])
def test_stretches_that_overlap_follow_on_one_another(folders: dict[str, Path], kind: str, tmp_path: Path) -> None:
    model = load_model(folders[kind])
    overlapping(model, tmp_path)
    assert starts(tmp_path) == [0, 99]
    restored = PrefixStore(disk=PrefixDisk(tmp_path)).take(model, list(CHAT))
    fresh = Sequence(model, list(CHAT))

    assert restored.caches.position == 299
    there = restored.feed(mx.array(CHAT[-1:]))
    here = fresh.feed(mx.array(CHAT))[-1:]
    assert mx.allclose(there, here, rtol=1e-4, atol=1e-4 * float(mx.std(here).item()))  # type: ignore[arg-type]


def test_of_a_stretch_where_two_chats_part_only_the_rows_before_that_are_taken(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it began in mid-chat, and others follow on it."""
    monkeypatch.setattr("engine.prefix.disk._LONGEST_SEGMENT_TOKENS", 50)
    branch = (*CHAT[:80], *CHAT[:40])
    for tokens in (CHAT[:121], branch):
        write(dense, PrefixDisk(tmp_path), tokens, 0)
    assert starts(tmp_path) == [0, 50, 80, 100]
    restored = PrefixStore(disk=PrefixDisk(tmp_path)).take(dense, list(branch))
    assert restored.caches.position == 119
    there, here = (rows_between(each.caches, 0, 119) for each in (restored, read(dense, branch, 0)))
    assert all(mx.allclose(one, other) for one, other in zip(arrays_in(there), arrays_in(here), strict=True))


@pytest.mark.parametrize(
    "changed",
    [
        lambda rows: [[array[..., :3] for array in arrays] for arrays in rows],
        lambda rows: [[array[..., :-5, :] for array in arrays] for arrays in rows],
        lambda rows: [rows[1], *rows],
    ],
    ids=["narrower", "fewer rows", "one cache more"],
)
@pytest.mark.expect_log("dropping a kept cache", "a kept cache does not fit")
def test_a_kept_cache_of_another_shape_costs_nothing_but_time(
    dense: LoadedModel, tmp_path: Path, changed: Callable[[Rows], Rows]
) -> None:
    """Whole in itself, of this model by its name, and yet of no use: as after an update that forgot to say so."""
    for end in (150, 300):
        write(dense, PrefixDisk(tmp_path), CHAT[:end], 0)
    beginning, rest = files(tmp_path)
    rows, checkpoint = read_segment(rest)
    for _ in write_segment(read_index(rest), changed(rows), checkpoint):
        pass
    sequence = PrefixStore(disk=PrefixDisk(tmp_path)).take(dense, list(CHAT))

    assert not beginning.exists()  # which of the two does not fit is not known
    assert not rest.exists()
    assert sequence.caches.position == 0
    assert mx.array_equal(sequence.feed(mx.array(CHAT)), Sequence(dense, list(CHAT)).feed(mx.array(CHAT)))


def test_what_memory_holds_is_not_read(model: LoadedModel, tmp_path: Path) -> None:
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    sequence = Sequence(model, list(CHAT))
    sequence.prefill_chunk()
    store.put(sequence)
    while store.has_unwritten:
        store.write_step()
    (path,) = files(tmp_path)
    flip(path)
    assert store.take(model, list(CHAT)).caches.position == 299
    assert path.exists()


@pytest.mark.parametrize(("short_of", "written"), [(0, True), (1, False)])
def test_a_chat_may_take_half_of_the_disk(dense: LoadedModel, tmp_path: Path, short_of: int, written: bool) -> None:
    sequence = Sequence(dense, list(CHAT))
    sequence.prefill_chunk()
    rows = 299 * sequence.caches.nbytes // sequence.caches.layers[0].keys.shape[2]
    write(dense, PrefixDisk(tmp_path, limit_bytes=2 * rows - short_of))
    assert bool(files(tmp_path)) is written


class Clock:
    """A second passes only when it is told to."""

    now = 1_000_000_000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("engine.prefix.disk.time.time", lambda: clock.now)
    return clock


CHATS = [tuple(first + n % 50 for n in range(100)) for first in (10, 70, 130)]


@pytest.mark.parametrize("kind", ["dense", "hybrid"])
@pytest.mark.parametrize("use", ["read", "grow"])
def test_a_chat_that_goes_on_stays_when_another_has_to_go(
    folders: dict[str, Path], kind: str, use: str, tmp_path: Path, clock: Clock
) -> None:
    model, disk = load_model(folders[kind]), PrefixDisk(tmp_path)
    for chat in CHATS[:2]:
        write(model, disk, chat)
        clock.now += 1
    if use == "read":
        assert PrefixStore(disk=disk).take(model, list(CHATS[0])).caches.position == 99
    else:
        write(model, disk, (*CHATS[0], *CHATS[2][:20]))
    clock.now += 1
    held = sum(path.stat().st_size for path in files(tmp_path))
    write(model, PrefixDisk(tmp_path, limit_bytes=held + 1000), CHATS[2])
    assert [cached(model, tmp_path, chat) >= 90 for chat in CHATS] == [True, False, True]


@pytest.mark.parametrize(("short_of", "left"), [(0, [0, 0, 50, 50]), (1, [0, 0, 50])])
def test_of_a_chat_the_end_goes_first_and_no_more_than_has_to(
    model: LoadedModel, tmp_path: Path, short_of: int, left: list[int], clock: Clock
) -> None:
    for chat in CHATS[:2]:
        write(model, PrefixDisk(tmp_path / "all"), chat)
    limit = sum(path.stat().st_size for path in files(tmp_path / "all")) - short_of
    for chat in CHATS[:2]:
        write(model, PrefixDisk(tmp_path / "some", limit_bytes=limit), chat)
        clock.now += 1
    assert starts(tmp_path / "some") == left
    assert cached(model, tmp_path / "some", CHATS[0]) == (50 if short_of else 99)
    assert cached(model, tmp_path / "some", CHATS[1]) == 99


@pytest.mark.parametrize(
    ("process", "is_others", "stays"),
    [
        ("own", False, True),
        ("12", True, True),
        ("0x", False, False),
        ("9" * 30, False, False),
        ("99999999", False, False),
    ],
)
def test_a_half_file_stays_as_long_as_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, process: str, is_others: bool, stays: bool
) -> None:
    """Whichever user's it is."""
    PrefixDisk(tmp_path)
    (version,) = tmp_path.glob("*")
    half = version / "model" / f"a-0.{process.replace('own', str(os.getpid()))}.part"
    half.parent.mkdir()
    half.write_bytes(b"x")

    def refuse(*arguments: object) -> None:
        raise PermissionError

    if is_others:
        monkeypatch.setattr("engine.prefix.disk.os.kill", refuse)
    PrefixDisk(tmp_path)
    assert half.exists() is stays


def test_nobody_else_may_read_it(model: LoadedModel, tmp_path: Path) -> None:
    folder = tmp_path / "prefixes"
    write(model, PrefixDisk(folder))

    assert {path.stat().st_mode & 0o777 for path in files(folder)} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.glob("*"), *folder.glob("*/*"))} == {0o700}


def shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-2000] ^= 1
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def make_foreign(path: Path) -> None:
    path.write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")


def lie(path: Path) -> None:
    """About the tokens: the file is consistent in itself but for the checksum."""
    path.write_bytes(path.read_bytes().replace(b'"tokens": "40', b'"tokens": "41', 1))


def huge_header(path: Path) -> None:
    path.write_bytes(b"\xff" * 64)


@pytest.mark.parametrize("damage", [shorten, flip, empty, make_foreign, huge_header, lie], ids=lambda f: f.__name__)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.expect_log("dropping a kept cache", "a kept cache could not be read")
def test_a_damaged_file_is_ignored_and_removed(
    model: LoadedModel, tmp_path: Path, damage: Callable[[Path], None], which: int
) -> None:
    write(model, PrefixDisk(tmp_path))
    path = files(tmp_path)[which]
    whole = path.read_bytes()
    damage(path)
    changed = path.read_bytes() != whole

    assert cached(model, tmp_path) in ({0, len(CHAT) // 2} if changed else {len(CHAT) - 1})
    assert not changed or damage is lie or not path.exists()
    assert cached(model, tmp_path) in {0, len(CHAT) // 2, len(CHAT) - 1}


def test_a_folder_that_another_program_has_removed_is_made_again(dense: LoadedModel, tmp_path: Path) -> None:
    """Programs that clean disks empty the folders of caches while an app runs."""
    folder = tmp_path / "prefixes"
    disk = PrefixDisk(folder)
    shutil.rmtree(folder)
    write(dense, disk)
    assert cached(dense, folder) == len(CHAT) - 1
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.glob("*"), *folder.glob("*/*/"))} == {0o700}


@pytest.mark.expect_log("a kept cache does not fit")
def test_a_file_that_is_cut_once_it_is_checked_is_not_used(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLX reads the arrays later, those of the recurrent layers last."""

    def cut_once_read(path: Path) -> tuple[Rows, Checkpoint | None]:
        segment = read_segment(path)
        shorten(path)
        return segment

    write(model, PrefixDisk(tmp_path))
    monkeypatch.setattr("engine.prefix.disk.read_segment", cut_once_read)
    assert cached(model, tmp_path) == 0


@pytest.mark.slow
def test_kill_while_writing_leaves_nothing_that_can_be_read(folders: dict[str, Path], tmp_path: Path) -> None:
    """Killed in the first and in the second file; then the next process finds only whole files, and no half ones."""
    child = (
        "import os, signal, sys, pathlib\n"
        "from tests.engine.test_prefix_disk import CHAT\n"
        "from tests.helpers.loading import load_model\n"
        "from engine.prefix.disk import PrefixDisk\n"
        "from engine.decoding.sequence import Sequence\n"
        "model = load_model(sys.argv[1])\n"
        "sequence = Sequence(model, list(CHAT)); sequence.turn_end = 150\n"
        "while sequence.uncached > 1: sequence.prefill_chunk()\n"
        "for at, _ in enumerate(PrefixDisk(pathlib.Path(sys.argv[2])).write(sequence)):\n"
        "    if at == int(sys.argv[3]): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    model = load_model(folders["hybrid"])
    steps_a_file = sum(1 for _ in PrefixDisk(tmp_path / "counted").write(read(model, CHAT, 150))) // 2
    for in_second in (False, True):
        steps = steps_a_file // 2 + in_second * steps_a_file
        run = subprocess.run(
            [sys.executable, "-c", child, folders["hybrid"], tmp_path / "cut", str(steps)], check=False
        )
        assert run.returncode == -signal.SIGKILL
        assert list((tmp_path / "cut").glob("*/*/*.part"))
        for path in files(tmp_path / "cut"):
            assert read_segment(path)
        assert cached(model, tmp_path / "cut") == (150 if in_second else 0)
        assert not list((tmp_path / "cut").glob("*/*/*.part"))


@pytest.mark.parametrize("kind", fair(FAMILIES, "hybrid"))
def test_yesterdays_chat_goes_on_in_another_engine(folders: dict[str, Path], kind: str, tmp_path: Path) -> None:
    first = talk(folders[kind], tmp_path, CHAT[:100])
    grown = (*CHAT[:100], *first.tokens, 50, 51, 52)
    warm, cold = talk(folders[kind], tmp_path, grown), talk(folders[kind], None, grown)

    assert warm.stats.cached_tokens == len(grown) - 4
    assert cold.stats.cached_tokens == 0
    assert warm.text() == cold.text()
    assert warm.tokens == cold.tokens


def talk(folder: Path, cache_folder: Path | None, tokens: tuple[int, ...]) -> Outcome:
    engine = Engine(cache_folder)
    client = EngineClient(engine)
    assert isinstance(client.load(folder, folder), ModelReady)
    asked = Request(tokens=tokens, sampling=Sampling(temperature=0), max_tokens=20, speculation=Speculation.fixed(3))
    outcome = client.run(asked)
    assert engine.close()
    return outcome


@pytest.mark.parametrize("kind", fair(FAMILIES, "hybrid"))
def test_another_short_question_leaves_a_chat_its_cache(folders: dict[str, Path], kind: str) -> None:
    """Few as its tokens are, they are another turn's: only the template's first words are shared."""
    asked, other = ((Message(MessageRole.USER, said),) for said in ("Sea", "Fog"))
    engine = Engine()
    client = EngineClient(engine)
    client.load(folders[kind])
    *_, again = (
        client.run(Request(messages=said, sampling=Sampling(temperature=0), max_tokens=40))
        for said in (asked, other, asked)
    )
    assert engine.close()
    announced = len(b"assistant\n") + 1  # a token a byte, and one for <|im_start|>
    assert again.stats.cached_tokens >= again.stats.prompt_tokens - announced


@pytest.mark.expect_log("dropping a kept cache")
def test_a_file_may_go_at_any_moment(dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program that shares the folder evicts, too: what is read, what is too much, what a dead process left."""

    def gone(path: Path) -> Segment:
        path.unlink()
        raise FileError(f"{path.name}: gone")

    write(dense, PrefixDisk(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr("engine.prefix.disk.read_index", gone)
        assert cached(dense, tmp_path) == 0

    write(dense, PrefixDisk(tmp_path))
    listed = PrefixDisk._files

    def listed_and_gone(disk: PrefixDisk) -> dict[Path, os.stat_result]:
        found = listed(disk)
        for path in found:
            path.unlink(missing_ok=True)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(PrefixDisk, "_files", listed_and_gone)
        PrefixDisk(tmp_path, limit_bytes=1)
    assert files(tmp_path) == []

    write(dense, PrefixDisk(tmp_path))
    half = files(tmp_path)[0].with_suffix(".999.part")
    half.write_bytes(b"")

    def dead_and_gone(process: str) -> bool:
        half.unlink()
        return False

    monkeypatch.setattr("engine.prefix.disk._is_alive", dead_and_gone)
    PrefixDisk(tmp_path)
    assert len(files(tmp_path)) > 0
