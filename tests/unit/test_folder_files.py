"""The small files of a folder that others open: plain ones, of a size, with no more tokens than can be loaded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.models.model_files import FileError
from engine.models.networks import MOST_ENDS, MOST_NAMED, check_files
from engine.models.numbers import MOST_ADDED, check_growth

NAMES = (
    "config.json",
    "generation_config.json",
    "hf_quant_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "additional_chat_templates/tool_use.jinja",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["a pipe", "an endless device", "a pipe behind a link"])
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if kind == "an endless device":
        path.symlink_to("/dev/zero")
    elif kind == "a pipe":
        os.mkfifo(path)
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
    with pytest.raises(FileError, match=f"{path.name}: not a file"):
        check_files(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_too_large_to_be_read_is_not_opened(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.truncate(path, 1 << 33)
    with pytest.raises(FileError, match=f"{path.name}: larger than"):
        check_files(tmp_path)


def test_what_nobody_opens_and_links_to_nowhere_do_not_matter(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "README.md")
    os.mkfifo(tmp_path / "model.safetensors")
    (tmp_path / "config.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "vocab.json").mkdir()
    (tmp_path / "generation_config.json").write_text("{")
    check_files(tmp_path)


def many(count: int) -> list[int]:
    return list(range(count))


@pytest.mark.parametrize(
    ("name", "most", "content_of"),
    [
        ("config.json", MOST_ENDS, lambda n: {"eos_token_id": many(n)}),
        ("config.json", MOST_ENDS, lambda n: {"text_config": {"eos_token_id": many(n)}}),
        ("generation_config.json", MOST_ENDS, lambda n: {"eos_token_id": many(n)}),
        ("tokenizer_config.json", MOST_NAMED, lambda n: {"additional_special_tokens": many(n)}),
        ("tokenizer_config.json", MOST_NAMED, lambda n: {"extra_special_tokens": dict.fromkeys(many(n))}),
        ("tokenizer_config.json", MOST_ADDED, lambda n: {"added_tokens_decoder": dict.fromkeys(many(n))}),
        ("special_tokens_map.json", MOST_NAMED, lambda n: {"additional_special_tokens": many(n)}),
        ("added_tokens.json", MOST_ADDED, lambda n: dict.fromkeys(many(n))),
    ],
)
def test_tokens_are_counted(tmp_path: Path, name: str, most: int, content_of: Any) -> None:
    (tmp_path / name).write_text(json.dumps(content_of(most)))
    check_files(tmp_path)
    (tmp_path / name).write_text(json.dumps(content_of(most + 1)))
    with pytest.raises(FileError, match=f"{name}: {most + 1} "):
        check_files(tmp_path)


def test_added_tokens_of_a_tokenizer_are_counted_where_it_is_read() -> None:
    check_growth({"added_tokens": [{}] * MOST_ADDED})
    with pytest.raises(FileError, match="added tokens"):
        check_growth({"added_tokens": [{}] * (MOST_ADDED + 1)})


def test_templates_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "additional_chat_templates"
    folder.mkdir()
    for number in range(65):
        (folder / f"{number}.jinja").touch()
    with pytest.raises(FileError, match="65 files"):
        check_files(tmp_path)
