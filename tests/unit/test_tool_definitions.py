"""What a server says of a tool, as it is shown and given to the model."""

from __future__ import annotations

import pytest

from app.tools.definitions import Tool


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u202e", "\U000e0041", "\ufe00", "\U000e0100", "\u3164", "\u2800", "\u034f"]
)
def test_a_description_has_no_words_that_only_a_model_sees(hidden: str) -> None:
    made = Tool.of("files", f"re{hidden}ad", f"Reads.{hidden * 3}", {"description": f"a{hidden}b"})
    assert hidden not in made.name + made.description + made.schema


def test_keys_stay_in_the_servers_order_and_another_order_is_no_difference() -> None:
    about = {"path": {"type": "string"}, "at": {"type": "integer"}}
    one, other = (
        Tool.of("files", "read", "Reads.", {"type": "object", "properties": dict(pairs)})
        for pairs in (about.items(), reversed(about.items()))
    )
    assert list(one.definition()["function"]["parameters"]["properties"]) == ["path", "at"]
    assert (one.digest, one.schema == other.schema) == (other.digest, False)
