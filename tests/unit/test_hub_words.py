"""What a row of a hub's models says, in the words of the source, whose plurals come with the translations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.words.hub import hub_line, hub_record
from app.words.pairs import drafter_text
from engine import DrafterKind, FitLevel, HubModel


@pytest.mark.parametrize(("downloads", "said"), [(0, "org"), (12_345, "org · 12,345 download(s)")])
def test_what_the_hub_has_not_said_is_left_out(downloads: int, said: str) -> None:
    """The catalog, which stands in for a hub out of reach, knows no downloads."""
    assert hub_record(HubModel("org/model", downloads=downloads)) == said


@pytest.mark.costly
@pytest.mark.parametrize("downloads", [2**31 - 1, 2**31, 2**53 - 1])
def test_more_downloads_than_qt_can_count_are_said_all_the_same(downloads: int) -> None:
    """The row is painted, and an exception in a paint ends the process."""
    assert hub_record(HubModel("org/model", downloads=downloads)) == "org · 2,147,483,647 download(s)"


def test_a_model_that_sees_says_so_beside_its_size() -> None:
    model = HubModel("org/model", size_bytes=4_000_000_000, sees=True)
    assert hub_line(model, FitLevel.FITS) == "4.0\N{NO-BREAK SPACE}GB · sees pictures · runs well"
    assert "sees pictures" not in hub_line(replace(model, sees=False), FitLevel.FITS)


def test_every_kind_of_drafter_has_a_name() -> None:
    names = [drafter_text(kind) for kind in DrafterKind]
    assert len(set(names)) == len(DrafterKind)
