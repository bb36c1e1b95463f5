"""Places that were found are counted, and walked as if they were listed."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from app.view_models.transcript import TranscriptMessage, TranscriptModel
from app.views.transcript.finder import FoundPlace, FoundPlaces, NotRead, PartRead

COUNTS = st.dictionaries(st.sampled_from([(0, 0, 0), (2, 0, 0), (2, 0, 3), (2, 1, 0)]), st.integers(0, 3))


def filled(counts: list[dict[tuple[int, int, int], int] | None]) -> tuple[FoundPlaces, list[FoundPlace]]:
    """None: not read yet. The messages are read from the last one on."""
    model = TranscriptModel()
    model.set_messages([TranscriptMessage(number, from_user=True, text="") for number in range(len(counts))])
    found = FoundPlaces(model)
    for number, parts in [*enumerate(counts)][::-1]:
        if parts is not None:
            found.put(number, {address: PartRead(None, count) for address, count in parts.items()})
    listed = [
        FoundPlace(number, address, at)
        for number, parts in enumerate(counts)
        for address in sorted(parts or {})
        for at in range((parts or {})[address])
    ]
    return found, listed


@given(st.lists(COUNTS, max_size=6))
def test_steps_are_those_in_a_list_of_all(counts: list[dict[tuple[int, int, int], int] | None]) -> None:
    found, listed = filled(counts)
    assert (found.count, found.first(), found.number) == (len(listed), next(iter(listed), None), 0)
    if not listed:
        assert found.beside(1) is found.beside(-1) is None
        return
    assert (found.beside(1), found.beside(-1)) == (listed[0], listed[-1])
    for at, place in enumerate(listed):
        found.current = place
        assert found.number == at + 1
        assert found.beside(1) == listed[(at + 1) % len(listed)]
        assert found.beside(-1) == listed[at - 1]
        found.put(0, dict(found.of(0)))
        assert found.number == at + 1


@given(st.lists(st.none() | COUNTS, min_size=1, max_size=6), st.sampled_from([1, -1]))
def test_no_step_passes_what_is_not_read(counts: list[dict[tuple[int, int, int], int] | None], direction: int) -> None:
    found, listed = filled(counts)
    for place in listed:
        found.current = place
        with suppress(NotRead):
            assert found.beside(direction) == listed[(listed.index(place) + direction) % len(listed)]
    found.current = None
    for number in range(len(counts)):
        found.put(number, {})
    assert found.beside(direction) is None


def test_the_next_one_takes_the_place_of_one_that_is_gone() -> None:
    found, listed = filled([{(0, 0, 0): 1}, {(0, 0, 0): 2}, {(0, 0, 0): 1}])
    found.current = listed[2]
    found.put(1, {(0, 0, 0): PartRead(None, 1)})
    assert found.number == 0
    found.replace_lost()
    assert found.current == listed[3]
    found.put(2, {})
    found.replace_lost()
    assert found.current == listed[0]
