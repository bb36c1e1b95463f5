"""Which kept caches a conversation goes on from, which wait, and which go."""

from __future__ import annotations

import gc
import shutil
import weakref
from functools import partial
from pathlib import Path

import mlx.core as mx
import pytest

from engine.caches.checkpoints import bytes_in
from engine.decoding.sequence import CHECKPOINTS, PREFILL_CHUNK_TOKENS, Sequence
from engine.models.loading import LoadedModel
from engine.prefix.disk import PrefixDisk
from engine.prefix.memory import PrefixStore
from engine.runtime.worker import _open_disk
from tests.helpers.loading import load_model
from tests.helpers.tiny_families import FAMILIES

SYSTEM = list(range(100, 140))


def read(model: LoadedModel, tokens: list[int], turn_end: int = 0) -> Sequence:
    """A sequence whose cache holds all of `tokens`, as after a reply whose last token was drawn and never read."""
    sequence = Sequence(model, [*tokens, 7])
    sequence.turn_end = turn_end
    while sequence.uncached > 1:
        sequence.prefill_chunk()
    return sequence


def chat(first: int, length: int = 40) -> list[int]:
    return [first + n % 30 for n in range(length)]


def store_of(*sequences: Sequence) -> PrefixStore:
    store = PrefixStore()
    for sequence in sequences:
        store.put(sequence)
    return store


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_the_chat_that_shares_most_is_taken_and_the_others_stay(dense: LoadedModel, order: tuple[int, ...]) -> None:
    mine = [*SYSTEM, *chat(10)]
    kept = [read(dense, tokens) for tokens in (mine[:60], mine, [*mine[:50], *chat(200)])]
    store = store_of(*(kept[at] for at in order))

    taken = store.take(dense, [*mine, 3, 4, 5])

    assert taken.caches is kept[1].caches
    assert taken.caches.position == len(mine)
    assert {id(left.sequence) for left in store.kept} == {id(kept[0]), id(kept[2])}


@pytest.mark.parametrize(
    ("kept", "asked", "least", "position"),
    [
        ([*SYSTEM, *chat(200, 40)], [*SYSTEM, *chat(10)], 0, 40),  # at least half is shared
        ([*SYSTEM, *chat(200, 41)], [*SYSTEM, *chat(10)], 0, 0),  # the other chat would lose more
        (chat(10, 300), chat(10, 30), 0, 29),  # the last token is fed, to draw what follows
        (chat(10, 300), [*chat(10, 30), 3, 4], 0, 0),
        (chat(10, 300), [*chat(10, 30), 3, 4], 1, 30),
        (chat(10, 300), [*chat(10, 30), 3, 4], 30, 30),
        (chat(10, 300), [*chat(10, 30), 3, 4], 31, 0),
        ([9, 8], [9, 3], 0, 1),
    ],
)
def test_how_much_of_a_chat_another_takes(
    dense: LoadedModel, kept: list[int], asked: list[int], least: int, position: int
) -> None:
    store = store_of(read(dense, kept))
    assert store.take(dense, asked, least).caches.position == position
    assert len(store.kept) == (position == 0)


def test_another_chat_gets_a_copy_of_what_both_begin_with(dense: LoadedModel) -> None:
    """The longest there is; what becomes of either then does not touch the other."""
    tokens, other = [*SYSTEM, *chat(200, 90)], [*SYSTEM, *chat(10)]
    kept = read(dense, tokens)
    store = store_of(read(dense, [*SYSTEM[:20], *chat(60, 90)]), kept, read(dense, [*SYSTEM[:30], *chat(60, 90)]))

    copied = store.take(dense, other, may_copy=True)

    assert copied.caches.position == len(SYSTEM)
    assert len(store.kept) == 3
    for sequence, expected in ((copied, other), (kept, [*tokens, 7])):
        logits = sequence.feed(mx.array(expected[sequence.caches.position :]))[-1]
        sequence.close_step(1)
        alone = Sequence(dense, expected)
        assert mx.allclose(logits, alone.feed(mx.array(expected))[-1], atol=1e-4)


@pytest.mark.parametrize("kind", ["window", "hybrid"])
def test_where_a_cache_holds_more_than_rows_a_copy_ends_at_a_checkpoint(
    models: dict[str, LoadedModel], kind: str
) -> None:
    store = store_of(read(models[kind], [*SYSTEM, *chat(200, 90)]))
    assert store.take(models[kind], [*SYSTEM, *chat(10)], may_copy=True).caches.position == 0

    kept = Sequence(models[kind], [*SYSTEM, *chat(200, 90), 7])
    kept.shared_end = 30
    while kept.uncached > 1:
        kept.prefill_chunk()
    copied = store_of(kept).take(models[kind], [*SYSTEM, *chat(10)], may_copy=True)
    assert (copied.caches.position, copied.checkpoints) == (30, {30: kept.checkpoints[30]})


@pytest.mark.parametrize(("parts_at", "taken"), [(72, True), (71, False)])
def test_a_reply_that_is_written_anew_takes_the_cache_of_the_old_one(
    dense: LoadedModel, parts_at: int, taken: bool
) -> None:
    """Its prompt may part from the old one where the turn ends; the old reply may be however long."""
    turn = [*SYSTEM, *chat(10, 32)]
    sequence = read(dense, [*turn, *chat(200, 400)], turn_end=len(turn))
    store = store_of(sequence)
    position = store.take(dense, [*turn[:parts_at], *chat(10, 30)[::-1]]).caches.position
    assert position == (parts_at if taken else 0)


def test_tokens_that_were_never_read_are_not_taken_for_read(dense: LoadedModel) -> None:
    sequence = read(dense, chat(10))
    sequence.tokens += [8, 9]
    assert store_of(sequence).take(dense, [*sequence.tokens, 5, 6]).caches.position == len(chat(10))


def test_a_state_is_taken_from_the_latest_checkpoint_that_is_shared(models: dict[str, LoadedModel]) -> None:
    model, turns = models["hybrid"], chat(10, 120)
    sequence = Sequence(model, [*turns, 7])
    for end in (40, 80):
        sequence.feed(mx.array(turns[sequence.caches.position : end]))
        sequence.close_step(end - sequence.caches.position)
        sequence.keep_checkpoint()
    sequence.prefill_chunk()
    store = store_of(sequence)

    taken = store.take(model, [*turns[:90], 3, 4])

    assert taken.caches.position == 80
    assert list(taken.checkpoints) == [40, 80]
    assert [kept.sequence for kept in store.kept] == []
    store.put(taken)
    again = store.take(model, [*turns[:79], 3, 4])
    assert again.caches.position == 40
    assert list(again.checkpoints) == [40], "what lies behind is of another text"


def test_the_end_of_the_last_reply_can_be_gone_back_to(models: dict[str, LoadedModel]) -> None:
    """A checkpoint is made there when the chat goes on, and none where it goes on from an earlier one."""
    model = models["hybrid"]
    store = store_of(read(model, chat(10), turn_end=20))
    taken = store.take(model, [*chat(10), 3, 4])
    assert list(taken.checkpoints) == [20, 40]
    assert taken.caches.position == 40
    store.put(taken)
    assert list(store.take(model, [*chat(10, 25), 3, 4]).checkpoints) == [20]


def test_the_checkpoint_where_other_chats_part_stays_and_is_one(models: dict[str, LoadedModel]) -> None:
    sequence = Sequence(models["hybrid"], [*chat(10, 200), 7])
    sequence.shared_end = 30
    for end in range(60, 181, 20):
        sequence.turn_end = end
        sequence.prefill_chunk()
        if end == 60:
            sequence.prefill_chunk()
    assert list(sequence.checkpoints) == [30, 140, 160, 180]
    assert len(sequence.checkpoints) == CHECKPOINTS + 1


def test_a_turn_that_ends_further_on_makes_no_chunk_longer(models: dict[str, LoadedModel]) -> None:
    sequence = Sequence(models["hybrid"], chat(10, PREFILL_CHUNK_TOKENS + 40))
    sequence.turn_end = PREFILL_CHUNK_TOKENS + 20
    positions = []
    while sequence.uncached > 1:
        sequence.prefill_chunk()
        positions.append(sequence.caches.position)
    assert positions == [PREFILL_CHUNK_TOKENS, PREFILL_CHUNK_TOKENS + 20, PREFILL_CHUNK_TOKENS + 39]
    assert list(sequence.checkpoints) == [PREFILL_CHUNK_TOKENS + 20]


@pytest.mark.parametrize(
    ("kind", "read_before", "turn_end", "uncached", "ready"),
    [
        ("dense", 10, 0, 1, True),
        ("dense", 10, 0, 64, True),
        ("dense", 10, 0, 65, False),
        ("dense", 10, 20, 40, True),
        ("hybrid", 10, 20, 40, False),
        ("hybrid", 10, 10, 40, True),
        ("hybrid", 10, 20, 1, True),
    ],
)
def test_a_round_reads_a_short_rest_by_itself(
    models: dict[str, LoadedModel], kind: str, read_before: int, turn_end: int, uncached: int, ready: bool
) -> None:
    """At most 64 tokens, and none before the end of the turn where a checkpoint has to be made there."""
    sequence = read(models[kind], chat(10, read_before))
    sequence.tokens = chat(10, read_before + uncached)
    sequence.turn_end = turn_end
    assert sequence.ready is ready


@pytest.mark.parametrize(("uncached", "ready"), [(1, True), (2, False)])
def test_where_width_matters_a_round_reads_one_token_only(dense: LoadedModel, uncached: int, ready: bool) -> None:
    sequence = read(dense, chat(10))
    sequence.caches.can_roll_back = False
    sequence.tokens = chat(10, 40 + uncached)
    assert sequence.ready is ready


def test_nothing_read_is_not_kept(dense: LoadedModel) -> None:
    store = store_of(Sequence(dense, chat(10)))
    assert not store.kept


def test_the_newest_of_each_model_stays_above_the_limit(models: dict[str, LoadedModel]) -> None:
    """The draft's cache does not push out the main model's."""
    store = PrefixStore(limit_bytes=1)
    kept = [read(models[kind], chat(first)) for kind, first in (("dense", 10), ("dense", 100), ("window", 10))]
    for sequence in kept:
        store.put(sequence)
    assert [each.sequence for each in store.kept] == kept[1:]
    assert store.nbytes > 1
    assert not store.over_limit


def test_no_more_sequences_are_kept_than_anybody_goes_back_to(dense: LoadedModel, tmp_path: Path) -> None:
    """However few bytes they are; what has to be written first may stay half above that, too."""
    store = PrefixStore(sequences=4)
    written = PrefixStore(sequences=4, disk=PrefixDisk(tmp_path))
    for first in range(10, 200, 10):
        for each in (store, written):
            each.put(read(dense, chat(first)))
            assert len(each.kept) <= (4 if each is store else 6)
    assert [kept.sequence.tokens[0] for kept in store.kept] == [160, 170, 180, 190]
    while written.has_unwritten:
        written.write_step()
    assert [kept.sequence.tokens[0] for kept in written.kept] == [160, 170, 180, 190]


@pytest.mark.parametrize(("above", "gone"), [(0, 1), (1, 2)])
def test_no_more_goes_than_has_to(dense: LoadedModel, above: int, gone: int) -> None:
    sequences = [read(dense, chat(first)) for first in (10, 100, 200)]
    one = sequences[0].caches.nbytes
    store = PrefixStore(limit_bytes=2 * one - above)
    for sequence in sequences:
        store.put(sequence)
    assert [kept.sequence for kept in store.kept] == sequences[gone:]
    assert store.nbytes == (3 - gone) * one
    assert not store.over_limit


def test_checkpoints_count_as_memory(models: dict[str, LoadedModel]) -> None:
    sequence = read(models["hybrid"], chat(10), turn_end=20)
    checkpoints = bytes_in(list(sequence.checkpoints.values()))
    assert checkpoints > 0
    assert store_of(sequence).nbytes == sequence.caches.nbytes + checkpoints


def test_other_models_caches_are_dropped(models: dict[str, LoadedModel]) -> None:
    kept = [read(models[kind], chat(10)) for kind in FAMILIES]
    store = store_of(*kept)
    store.drop_other_models(models["window"], None)
    assert [each.sequence.model for each in store.kept] == [models["window"]]
    store.clear()
    assert store.nbytes == 0


def test_of_a_model_that_is_not_loaded_any_more_the_rows_stay_until_they_are_written(
    models: dict[str, LoadedModel], tmp_path: Path
) -> None:
    """But none of its weights. No limit holds them up, and no other model goes on with them."""
    model = load_model(Path(models["hybrid"].info.folder))
    network = weakref.ref(model.network)
    disk = PrefixDisk(tmp_path)
    store = PrefixStore(disk=disk)
    store.put(read(model, chat(10), turn_end=20))
    store.put(read(models["dense"], chat(100)))
    store.drop_other_models(models["dense"], None)
    del model
    gc.collect()
    assert network() is None
    (leaving, _) = store.kept
    with pytest.raises(RuntimeError, match="has gone"):
        leaving.sequence.model.make_caches()
    while store.has_unwritten:
        store.write_step()
    assert [kept.sequence.model for kept in store.kept] == [models["dense"]]
    assert PrefixStore(disk=disk).take(models["hybrid"], [*chat(10), 3]).caches.position == len(chat(10))


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_model_that_is_read_anew_goes_on_from_the_rows_that_it_left(
    kind: str, models: dict[str, LoadedModel], tmp_path: Path
) -> None:
    """As where a draft is cleared and chosen again, before anything of it was written."""
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    store.put(read(models[kind], chat(10), turn_end=20))
    store.drop_other_models(None)
    other = next(model for name, model in models.items() if name != kind)
    assert store.take(other, [*chat(10), 3]).caches.position == 0
    again = load_model(Path(models[kind].info.folder))
    taken = store.take(again, [*chat(10), 3])
    assert taken.model is again
    assert taken.caches.position == len(chat(10))
    assert not store.has_unwritten
    taken.feed(mx.array([3, 4, 5]))
    taken.close_step(1)
    whole = read(models[kind], [*chat(10), 3])
    assert mx.array_equal(taken.feed(mx.array([6])), whole.feed(mx.array([6])))


@pytest.mark.parametrize("written", [True, False])
def test_nobody_is_robbed_of_rows_that_the_disk_has_as_well(
    dense: LoadedModel, tmp_path: Path, *, written: bool
) -> None:
    """A drafter cannot do without the first 15; where they are on the disk, the longer chat keeps its own."""
    kept = read(dense, chat(10, 60))
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    store.put(kept)
    while written and store.has_unwritten:
        store.write_step()
    taken = store.take(dense, [*chat(10, 60)[:15], *chat(200)], least=15)
    assert taken.caches.position == 15
    assert [left.sequence for left in store.kept] == ([kept] if written else [])


@pytest.mark.expect_log("are not kept on disk until")
def test_rows_that_can_no_longer_be_written_go_with_their_model(dense: LoadedModel, tmp_path: Path) -> None:
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    store.put(read(dense, chat(10)))
    store.drop_other_models(None)
    shutil.rmtree(tmp_path)
    tmp_path.touch()
    store.write_step()
    assert store.kept == []


def half_files(folder: Path) -> list[Path]:
    return list(folder.glob("*/*/*.part"))


def test_what_is_being_written_is_aborted_only_when_it_is_taken(dense: LoadedModel, tmp_path: Path) -> None:
    first, second, third = (read(dense, chat(start)) for start in (10, 100, 150))
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    for sequence in (first, second, third):
        store.put(sequence)
    store.write_step()
    begun = half_files(tmp_path)
    assert len(begun) == 1
    store.take(dense, [*chat(100), 3])
    assert half_files(tmp_path) == begun
    store.take(dense, [*chat(10), 3])
    assert half_files(tmp_path) == []
    store.write_step()
    assert len(half_files(tmp_path)) == 1
    store.clear()
    assert half_files(tmp_path) == []
    assert not store.has_unwritten


def test_all_that_waits_is_written_the_least_recently_used_first(dense: LoadedModel, tmp_path: Path) -> None:
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    found = []
    for start in (10, 100, 150):
        store.put(read(dense, chat(start)))
    while store.has_unwritten:
        store.write_step()
        other = PrefixStore(disk=PrefixDisk(tmp_path))
        found.append(tuple(other.take(dense, [*chat(start), 3]).caches.position for start in (10, 100, 150)))
    assert list(dict.fromkeys(found)) == [(0, 0, 0), (40, 0, 0), (40, 40, 0), (40, 40, 40)]
    assert not PrefixStore().has_unwritten


@pytest.mark.parametrize(("patience", "written"), [(0, 0), (3.5, 4), (1e9, None)])
def test_saving_ends_when_all_is_written_or_patience_is_at_its_end(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: float, written: int | None
) -> None:
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    store.put(read(dense, chat(10)))
    steps, write_step = 0, store.write_step

    def counted(_: PrefixStore) -> None:
        nonlocal steps
        steps += 1
        write_step()

    monkeypatch.setattr("engine.prefix.memory.time.perf_counter", lambda: float(steps))
    monkeypatch.setattr(PrefixStore, "write_step", counted)
    store.save(patience)
    assert written is None or steps == written
    assert store.has_unwritten is (written is not None)


@pytest.mark.expect_log("are not kept on disk until")
def test_without_a_disk_the_limit_holds_at_once(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waited above it, to be written, waits no longer."""
    sequences = [read(dense, chat(first)) for first in (10, 70, 130)]
    store = PrefixStore(limit_bytes=2 * sequences[0].caches.nbytes, disk=PrefixDisk(tmp_path))
    for sequence in sequences:
        store.put(sequence)
    assert store.over_limit

    def refuse(*arguments: object, **keywords: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.prefix.file.os.open", refuse)
    store.write_step()
    assert [kept.sequence for kept in store.kept] == sequences[1:]
    assert not store.has_unwritten
    store.write_step()
    assert store.take(dense, [*chat(130), 3]).caches.position == 40


@pytest.mark.expect_log("are not kept on disk until")
def test_after_a_failure_what_was_written_is_read_and_removed_and_the_next_chat_is_tried_again(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a disk was full for a moment."""
    store = PrefixStore(disk=PrefixDisk(tmp_path))

    def put(first: int) -> None:
        sequence = read(dense, chat(first))
        sequence.conversation = str(first)
        store.put(sequence)
        while store.has_unwritten:
            store.write_step()

    def refuse(*arguments: object, **keywords: object) -> int:
        raise OSError(28, "No space left on device")

    put(10)
    with monkeypatch.context() as patch:
        patch.setattr("engine.prefix.file.os.open", refuse)
        put(70)
    assert store.on_disk(dense, [*chat(10), 3]) == 40
    assert store.on_disk(dense, [*chat(70), 3]) == 0
    store.keep_only(["70"])
    assert not list(tmp_path.glob("*/*/*"))
    put(130)
    assert [store.on_disk(dense, [*chat(first), 3]) for first in (10, 70, 130)] == [0, 40, 40]


@pytest.mark.expect_log("caches are not kept on disk")
def test_a_disk_that_takes_nothing_at_the_start_is_tried_again_with_the_next_reply(
    dense: LoadedModel, tmp_path: Path
) -> None:
    (folder := tmp_path / "kept").touch()
    store = PrefixStore(open_disk=partial(_open_disk, folder, 1 << 30))
    store.put(read(dense, chat(10)))
    assert store.on_disk(dense, [*chat(10), 3]) == 0
    folder.unlink()
    store.put(read(dense, chat(70)))
    while store.has_unwritten:
        store.write_step()
    assert [store.on_disk(dense, [*chat(first), 3]) for first in (10, 70)] == [40, 40]


@pytest.mark.expect_log("kept caches could not be removed")
def test_a_folder_that_cannot_be_listed_keeps_no_chat_from_being_forgotten(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    sequence = read(dense, chat(10))
    sequence.conversation = "10"
    store.put(sequence)

    def refuse(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(PrefixDisk, "_files", refuse)
    store.keep_only([])
    assert not store.kept


@pytest.mark.expect_log("are not kept on disk")
def test_caches_that_no_file_can_hold_stay_in_memory(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after any error of a device: they are tried once, and the others are written all the same."""
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    for start in (10, 100):
        store.put(read(dense, chat(start)))

    def refuse(*arguments: object) -> None:
        raise TypeError

    with monkeypatch.context() as patch:
        patch.setattr("engine.prefix.disk.write_segment", refuse)
        store.write_step()
    while store.has_unwritten:
        store.write_step()
    assert len(store.kept) == 2
    other = PrefixStore(disk=PrefixDisk(tmp_path))
    assert [other.take(dense, [*chat(start), 3]).caches.position for start in (10, 100)] == [0, 40]


def test_what_one_owner_left_no_other_takes(dense: LoadedModel, tmp_path: Path) -> None:
    """In no way: whole, in part, as a copy, or from the disk."""
    asked = [*chat(10), 3]
    kept = read(dense, chat(10))
    kept.owner = "a"
    kept.is_continued = True
    disk = PrefixDisk(tmp_path)
    store = PrefixStore(disk=disk)
    store.put(kept)
    for stored in (False, True):
        while stored and store.has_unwritten:
            store.write_step()
        for owner in ("", "b"):
            taken = [
                store.take(dense, asked, owner=owner),
                store.take(dense, asked, 10, owner=owner),
                store.take(dense, [*chat(10, 20), 90, 91], owner=owner, may_copy=True),
                store.from_disk(dense, asked, owner),
            ]
            assert [(each.caches.position, each.owner) for each in taken] == [(0, owner)] * 4
            assert store.on_disk(dense, asked, owner) == 0
        assert [each.sequence for each in store.kept] == [kept]
    assert store.on_disk(dense, asked, "a") == 40
    assert PrefixStore(disk=PrefixDisk(tmp_path)).take(dense, asked, owner="a").caches.position == 40
    copied = store.take(dense, [*chat(10, 15), 90, 91], owner="a", may_copy=True)
    assert (copied.caches.position, copied.owner) == (15, "a")
    assert store.take(dense, asked, owner="a").caches is kept.caches


@pytest.mark.parametrize(("owner", "written"), [("", [True, True, True]), ("a", [False, False, True])])
def test_what_another_program_asks_once_is_not_written(
    dense: LoadedModel, owner: str, written: list[bool], tmp_path: Path
) -> None:
    """Neither is a prompt of which less than half was asked before. The user's chats are written from the first on,
    and so is all that waits when its model is unloaded: it may be used in turns with another.
    """
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    found = []
    for tokens in (chat(10), [*chat(10, 15), *chat(100, 20)], [*chat(10), 3]):
        sequence = store.take(dense, tokens, owner=owner, may_copy=True)
        while sequence.uncached > 1:
            sequence.prefill_chunk()
        store.put(sequence)
        found.append(store.has_unwritten)
        while store.has_unwritten:
            store.write_step()
    assert found == written
    store.drop_other_models()
    assert store.has_unwritten is bool(owner)
    while store.has_unwritten:
        store.write_step()
    assert not store.kept
    assert store.on_disk(dense, [*chat(10, 15), *chat(100, 20)], owner) == 34


@pytest.mark.parametrize(("sequences", "chats"), [(4, 99), (99, 4)])
def test_half_of_the_memory_is_the_users_however_much_programs_ask(
    dense: LoadedModel, sequences: int, chats: int
) -> None:
    """And no program's own is lost to another while the user has more than half."""
    one = read(dense, chat(10)).caches.nbytes
    store = PrefixStore(limit_bytes=chats * one, sequences=sequences)
    for owner, first in [("", 10), ("", 50), ("", 90), *((f"program {at}", 100 + at) for at in range(20))]:
        sequence = read(dense, chat(first))
        sequence.owner = owner
        store.put(sequence)
    owners = [each.sequence.owner for each in store.kept]
    assert owners == ["", "", "program 18", "program 19"]
    assert [each.sequence.tokens[0] for each in store.kept[:2]] == [50, 90]
    store.put(read(dense, chat(70)))
    assert [each.sequence.owner for each in store.kept] == ["", "program 18", "program 19", ""]
    store.evict_oldest()
    assert [each.sequence.owner for each in store.kept] == ["", "program 19", ""]
