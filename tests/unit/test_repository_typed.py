"""What a person types or pastes as the repository to install."""

from __future__ import annotations

import pytest

from app.view_models.downloads import repository_in, revision_in

NAME = "mlx-community/Qwen3-0.6B-4bit"


@pytest.mark.parametrize(
    "typed",
    [
        NAME,
        f"  {NAME}\n",
        f"https://hub.test/{NAME}",
        f"https://hub.test/{NAME}/",
        f"https://hub.test/{NAME}/tree/main",
        f"https://hub.test/{NAME}/blob/main/config.json?download=true",
        f"https://hub.test/{NAME}#use",
        f"https://hub.test/models/{NAME}",
        f"http://127.0.0.1:8090/{NAME}",
        f"http://localhost:8090/{NAME}",
        f"hub.test/{NAME}",
    ],
)
def test_a_name_or_the_address_of_a_page(typed: str) -> None:
    assert repository_in(typed) == NAME


@pytest.mark.parametrize(
    "typed",
    ["", "Qwen3", "/", "a/", "/b", "a b/c", "https://hub.test/", "https://hub.test/datasets/a/b", "ftp://h.test/a/b"],
)
def test_nothing_else(typed: str) -> None:
    assert repository_in(typed) == ""


@pytest.mark.parametrize(
    ("typed", "revision"),
    [
        (NAME, ""),
        (f"https://hub.test/{NAME}", ""),
        (f"https://hub.test/{NAME}/tree/main", "main"),
        (f"https://hub.test/{NAME}/tree/v1.0?x=1", "v1.0"),
        (f"https://hub.test/{NAME}/blob/0123abc/config.json", "0123abc"),
        (f"https://hub.test/{NAME}/tree/refs%2Fpr%2F5", "refs/pr/5"),
        (f"https://hub.test/{NAME}/discussions/tree/5", ""),
        ("nonsense /tree/main", ""),
    ],
)
def test_the_revision_of_a_pages_address(typed: str, revision: str) -> None:
    assert revision_in(typed) == revision


@pytest.mark.parametrize(
    "typed",
    [f"{NAME}/mtp", f"https://hub.test/{NAME}/tree/main/mtp", f"https://hub.test/{NAME}/blob/main/mtp/config.json"],
)
def test_the_folder_of_a_drafter_within_a_repository(typed: str) -> None:
    assert repository_in(typed) == f"{NAME}/mtp"
    assert revision_in(typed) == ("main" if "://" in typed else "")


@pytest.mark.parametrize("typed", [f"{NAME}/original", f"https://hub.test/{NAME}/tree/mtp"])
def test_other_folders_and_a_branch_are_none(typed: str) -> None:
    assert repository_in(typed) == NAME
