"""What a hub may say, and that nothing else becomes a file: choose_files under arbitrary JSON."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.view_models.downloads import repository_in, revision_in
from engine import HubMisbehaved, NothingToInstall
from engine.hub.repository import MAX_FILES, choose_files, is_source, listed_files
from engine.hub.staging import STAGING, alone_with, clean_up, staging_of, target_of
from engine.models.names import is_repository

NAMES = [
    *("config.json", "model.safetensors", "tokenizer.json", "a/b.json", "../x.json", "x.py", "", "."),
    *("\0.json", "é.json"),
]
GOOD = [
    {"type": "file", "path": "config.json", "size": 1, "oid": "0" * 40},
    {"type": "file", "path": "model.safetensors", "size": 1, "oid": "0" * 40, "lfs": {"oid": "a" * 64, "size": 9}},
]
scalars = (
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.text() | st.sampled_from(["0" * 40, "a" * 64])
)
entries = st.lists(
    scalars
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["file", "directory", 3]),
            "path": st.sampled_from(NAMES) | st.text() | scalars,
            "size": scalars,
            "oid": scalars,
            "lfs": scalars | st.dictionaries(st.sampled_from(["oid", "size"]), scalars),
        },
    ),
    max_size=4,
)


@settings(max_examples=500, deadline=None)
@given(extra=entries)
@example(extra=[{"path": "config.json/", "size": 1, "oid": "0" * 40}])
def test_whatever_a_hub_lists_only_plain_names_and_real_checksums_come_out(extra: list[object]) -> None:
    with contextlib.suppress(HubMisbehaved, NothingToInstall):
        for file in choose_files("org/name", [*GOOD, *extra]):
            assert "/" not in file.name
            assert not file.name.startswith(".")
            assert file.name.isascii()
            assert not file.name.endswith(".py")
            assert len(file.checksum) in {40, 64}
            assert int(file.checksum, 16) >= 0
            assert file.size_bytes >= 0


def test_small_files_come_first_and_the_large_ones_checksum_is_of_its_content() -> None:
    config, weights = choose_files("org/name", reversed(GOOD))
    assert (config.name, weights.name) == ("config.json", "model.safetensors")
    assert (weights.size_bytes, weights.checksum) == (9, "a" * 64)


def test_a_time_in_the_name_of_a_file_that_is_not_fetched_refuses_no_model() -> None:
    """As logs of a training have it."""
    logs = [{"path": f"runs/2026-05-01 12:30:00/{name}", "size": 1, "oid": "0" * 40} for name in ("log", "a.json")]
    assert choose_files("org/name", [*GOOD, *logs]) == choose_files("org/name", GOOD)
    assert [file.is_installed for file in listed_files("org/name", [*GOOD, *logs])] == [True, True, False, False]


def test_a_list_without_end_is_refused() -> None:
    many = [{"path": f"{number}.json", "size": 1, "oid": "0" * 40} for number in range(MAX_FILES)]
    with pytest.raises(HubMisbehaved):
        choose_files("org/name", [*GOOD, *many])


@settings(max_examples=300, deadline=None)
@given(name=st.text(alphabet="ab/.-_\\: \n", max_size=12))
def test_a_repository_name_is_two_plain_parts(name: str) -> None:
    if is_repository(name):
        first, second = name.split("/")
        assert all(part and part[0] not in ".-" and part.strip() == part for part in (first, second))
        assert not set(name) & set("\\: \n")


def test_a_drafter_within_a_repository_lies_where_no_repository_can(tmp_path: Path) -> None:
    source = "org/name/mtp"
    assert is_source(source)
    assert not is_repository(source)
    target = target_of(tmp_path, source)
    assert target.parent == target_of(tmp_path, "org/name").parent
    assert not is_source(str(target.relative_to(tmp_path)))
    assert staging_of(tmp_path, source) != staging_of(tmp_path, "org/name")


@settings(max_examples=300, deadline=None)
@given(name=st.text(alphabet="ab/.-_\\: \nmtp", max_size=14))
def test_what_can_be_installed_never_leads_out_of_the_folder(name: str) -> None:
    if is_source(name):
        root = Path("/models")
        assert len(target_of(root, name).relative_to(root).parts) == 2
        assert ".." not in name.split("/")


# What a person types or pastes as the repository to install.


NAME = "mlx-community/Qwen3-0.6B-4bit"
PAGE = f"https://hub.test/{NAME}"


@pytest.mark.parametrize(
    ("typed", "repository", "revision"),
    [
        *((typed, NAME, "") for typed in (NAME, f"  {NAME}\n", PAGE, f"{PAGE}/", f"{PAGE}#use", f"hub.test/{NAME}")),
        (f"https://hub.test/models/{NAME}", NAME, ""),
        (f"http://127.0.0.1:8090/{NAME}", NAME, ""),
        (f"{PAGE}/tree/main", NAME, "main"),
        (f"{PAGE}/blob/main/config.json?download=true", NAME, "main"),
        (f"{PAGE}/tree/v1.0?x=1", NAME, "v1.0"),
        (f"{PAGE}/tree/refs%2Fpr%2F5", NAME, "refs/pr/5"),
        (f"{PAGE}/discussions/tree/5", NAME, ""),
        (f"{NAME}/mtp", f"{NAME}/mtp", ""),
        (f"{PAGE}/tree/main/mtp", f"{NAME}/mtp", "main"),
        (f"{PAGE}/blob/main/mtp/config.json", f"{NAME}/mtp", "main"),
        (f"{NAME}/original", NAME, ""),
        (f"{PAGE}/tree/mtp", NAME, "mtp"),  # a branch
        *(
            (typed, "", "")
            for typed in ("", "Qwen3", "/", "a/", "/b", "a b/c", "https://hub.test/", "nonsense /tree/main")
        ),
        *((typed, "", "") for typed in ("https://hub.test/datasets/a/b", "ftp://h.test/a/b")),
    ],
)
def test_a_name_or_the_address_of_a_page(typed: str, repository: str, revision: str) -> None:
    assert (repository_in(typed), revision_in(typed)) == (repository, revision)


def test_a_link_in_the_place_of_the_downloads_is_not_followed(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "trash-mine").mkdir(parents=True)
    root = tmp_path / "models"
    root.mkdir()
    (root / STAGING).symlink_to(theirs)
    clean_up(root)
    (root / STAGING).symlink_to(theirs)
    with alone_with(root, "org/name"):
        assert (root / STAGING).is_dir()
        assert not (root / STAGING).is_symlink()
    assert list(theirs.iterdir()) == [theirs / "trash-mine"]
