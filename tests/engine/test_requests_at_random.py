"""More of `tests/drills/test_request_fuzzer.py`, for `make slow`; `make test` has its first ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drills.oracle import Oracle
from tests.drills.test_request_fuzzer import Life, Zoo, oracle, zoo  # noqa: F401  two of them are fixtures


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9, 24))
@pytest.mark.expect_log("a sink raised", "could not load")
def test_more_requests_at_random_are_answered_as_by_mlx_lm(
    seed: int,
    zoo: Zoo,  # noqa: F811
    oracle: Oracle,  # noqa: F811
    tmp_path: Path,
) -> None:
    life = Life(seed, zoo, oracle, tmp_path)
    life.live(actions=16)
    assert life.compared
