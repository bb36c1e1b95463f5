"""What a row of a hub's models says, in the words of the source, whose plurals come with the translations."""

from __future__ import annotations

import pytest

from app.words.hub import hub_record
from app.words.pairs import drafter_text
from engine import HubModel, drafter_names


@pytest.mark.costly
@pytest.mark.parametrize("downloads", [2**31 - 1, 2**31, 2**53 - 1])
def test_more_downloads_than_qt_can_count_are_said_all_the_same(downloads: int) -> None:
    """The row is painted, and an exception in a paint ends the process."""
    assert hub_record(HubModel("org/model", downloads=downloads)) == "org · 2,147,483,647 download(s)"


def test_every_kind_of_drafter_has_a_name() -> None:
    names = {drafter_text(kind) for kind in drafter_names()}
    assert len(names) == len(drafter_names())
