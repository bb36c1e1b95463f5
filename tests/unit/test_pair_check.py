"""What two models' files say about drafting with one for the other."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.words.pairs import pair_details
from engine import (
    DraftIsMain,
    DraftTooLarge,
    DraftVocabularyDiffers,
    ModelDamaged,
    ModelStore,
    PairCheck,
    PairChecked,
    TokenizerBroken,
    Vocabularies,
)
from engine.models import first_use_child, pair_check
from engine.models.children import PROBES
from engine.models.pair_check import check_pair
from engine.models.pair_check import cuts as real_cuts
from tests.helpers.model_folders import TENSORS, model_files, write_folder

LARGE = {**TENSORS, "model.layers.0.weight": ("F32", (64, 64))}
_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES = {"version": "1.0", "pre_tokenizer": _LEVEL, "decoder": _LEVEL}
LETTERS = sorted(map(chr, [*range(33, 127), *range(161, 173), *range(174, 324)]))
WORDS = [f"w{number}" for number in range(100)]
STEERING = ["<|end|>", "<|start|>"]
SLOW = {"type": "Split", "pattern": {"Regex": "[^!]*[^!]*[^!]*[^!]*[0-9]{5}"}, "behavior": "Isolated", "invert": False}
SLOW_IN_A_ROW = {"type": "Sequence", "pretokenizers": [SLOW] * 60}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the process that uses a tokenizer prints, without starting one."""

    def cuts(folder: Path) -> Any:
        printed = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, suppress(Exception):
            patch.setattr(first_use_child, "_set_limits", lambda: None)
            patch.setattr(sys, "stdout", printed)
            first_use_child.probe(folder)
        return json.loads(printed.getvalue() or "null")

    monkeypatch.setattr(pair_check, "cuts", cuts)


def tokenizer(words: list[str], added: Mapping[str, bool] | list[str], **parts: Any) -> bytes:
    special = added if isinstance(added, Mapping) else dict.fromkeys(added, True)
    entries = [
        {"id": len(words) + at, "content": text, "special": is_special}
        for at, (text, is_special) in enumerate(special.items())
    ]
    vocabulary = {word: at for at, word in enumerate(words)}
    model = {"type": "BPE", "vocab": vocabulary, "merges": parts.pop("merges", [])}
    return json.dumps({"model": model, "added_tokens": entries, **BYTES, **parts}).encode()


def checked(tmp_path: Path, main: bytes, draft: bytes, **files: bytes) -> PairCheck:
    folders = [
        write_folder(tmp_path / "main", model_files(tensors=LARGE) | {"tokenizer.json": main}),
        write_folder(tmp_path / "draft", model_files() | {"tokenizer.json": draft} | files),
    ]
    return check_pair(*folders)


def vocabularies(found: PairCheck) -> Vocabularies:
    assert found.vocabularies is not None
    return found.vocabularies


def test_the_same_tokenizer_shares_all(tmp_path: Path) -> None:
    found = checked(tmp_path, tokenizer(WORDS, STEERING), tokenizer(WORDS, STEERING))
    assert found.error is None
    assert not found.by_text
    assert (vocabularies(found).shared_tokens, vocabularies(found).differing_tokens) == (102, 0)
    assert vocabularies(found).cut_alike
    assert found.ends_alike
    assert found.template_alike
    assert found.main_bytes > found.draft_bytes > 0


def test_tokens_that_only_steer_are_told_from_those_of_texts(tmp_path: Path) -> None:
    """As a family's generations differ: the later one has four tokens more, and no text is cut into them."""
    more = dict.fromkeys(STEERING, True) | {"<think>": False, "</think>": False}
    found = checked(tmp_path, tokenizer(WORDS, STEERING), tokenizer(WORDS, more))
    assert found.error is None
    assert found.by_text
    assert (vocabularies(found).shared_tokens, vocabularies(found).differing_tokens) == (102, 2)
    assert vocabularies(found).differing_text_tokens == 0


def test_every_id_may_differ_where_the_texts_are_shared(tmp_path: Path) -> None:
    found = checked(tmp_path, tokenizer(WORDS, STEERING), tokenizer(WORDS[::-1], STEERING))
    assert found.error is None
    assert (vocabularies(found).shared_tokens, vocabularies(found).differing_text_tokens) == (102, 100)


@pytest.mark.parametrize(("own", "refused"), [(10, False), (11, True)])
def test_nine_tenths_of_the_tokens_are_enough(tmp_path: Path, own: int, refused: bool) -> None:
    words = [f"v{number}" for number in range(own)] + WORDS[own:]
    found = checked(tmp_path, tokenizer(WORDS, []), tokenizer(words, []))
    assert isinstance(found.error, DraftVocabularyDiffers) == refused
    if isinstance(found.error, DraftVocabularyDiffers):
        assert (found.error.main_tokens, found.error.draft_tokens, found.error.shared_tokens) == (100, 100, 89)


def test_spellings_of_two_kinds_are_the_same_text(tmp_path: Path) -> None:
    marked = {"pre_tokenizer": None, "decoder": {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}}
    bytewise, spelt = ["Ġthe", "ê°Ģ", "Ċ", "x", *WORDS[:36]], ["▁the", "가", "<0x0A>", "x", *WORDS[:36]]
    found = checked(tmp_path, tokenizer(bytewise, STEERING), tokenizer(spelt, STEERING, **marked))
    assert found.error is None
    assert vocabularies(found).shared_tokens == 42


def test_other_rules_of_cutting_are_tried_on_texts_of_four_languages(tmp_path: Path) -> None:
    pairs = [["Ġ", "t"], ["h", "e"], ["i", "n"], ["e", "r"]]
    words = LETTERS + ["".join(pair) for pair in pairs]
    found = checked(tmp_path, tokenizer(words, [], merges=pairs), tokenizer(words, [], merges=pairs[:2]))
    assert found.error is None
    assert vocabularies(found).cut_alike is False
    by_language = {probe.language: probe for probe in vocabularies(found).probes}
    assert list(by_language) == list(PROBES)
    assert by_language["en"].main_tokens < by_language["en"].draft_tokens
    assert by_language["ko"].alike
    assert pair_details(found)[1:3] == [
        f"Sample (English): {by_language['en'].main_tokens} tokens, draft {by_language['en'].draft_tokens}",
        "Same end tokens",
    ]


def test_samples_that_are_cut_into_as_many_other_tokens_are_told_apart_from_the_same_ones(tmp_path: Path) -> None:
    lower = {"normalizer": {"type": "Lowercase"}}
    said = pair_details(checked(tmp_path, tokenizer(LETTERS, []), tokenizer(LETTERS, [], **lower)))
    (line,) = (each for each in said if "Sample" in each)
    assert line.startswith("Sample (English): ")
    assert line.endswith(" tokens each, but different")
    same = {"normalizer": {"type": "NFC"}}
    said = pair_details(checked(tmp_path / "nfc", tokenizer(LETTERS, []), tokenizer(LETTERS, [], **same)))
    assert "Same tokens in four languages" in said


def test_a_tokenizer_that_takes_for_ever_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is used in this process keeps all of its other threads from running, the window's too."""
    monkeypatch.setattr(pair_check, "cuts", real_cuts)
    monkeypatch.setattr(pair_check, "_PATIENCE_S", 0.6)
    found: list[PairCheck] = []
    bad = tokenizer(WORDS, [], pre_tokenizer=SLOW_IN_A_ROW)
    thread = threading.Thread(target=lambda: found.append(checked(tmp_path, tokenizer(WORDS, []), bad)), daemon=True)
    thread.start()
    beats = 0
    while thread.is_alive():
        time.sleep(0.01)
        beats += 1
    assert beats > 10  # of some 60: within this process there would be one or two
    assert found[0].error is None
    assert found[0].vocabularies is not None
    assert (found[0].vocabularies.cut_alike, found[0].vocabularies.probes) == (None, ())
    assert "Tokenization could not be compared" in pair_details(found[0])


def test_a_probe_that_died_by_a_fault_of_ours_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.json").write_bytes(tokenizer(WORDS, []))
    with monkeypatch.context() as broken:
        broken.setattr(pair_check, "command", lambda *_: [sys.executable, "-c", "raise SystemExit(1)"])
        assert real_cuts(tmp_path) is None
    assert real_cuts(tmp_path) is not None


def test_ends_and_templates_are_compared_by_what_they_say(tmp_path: Path) -> None:
    first, other = tokenizer(WORDS, STEERING), tokenizer(WORDS, STEERING[::-1])
    ends = {"generation_config.json": b'{"eos_token_id": [100]}'}
    found = checked(tmp_path, first, other, **ends, **{"tokenizer_config.json": b'{"chat_template": "x"}'})
    assert (found.ends_alike, found.template_alike) == (False, False)


def test_what_is_wrong_with_either_is_the_answer(tmp_path: Path) -> None:
    good = tokenizer(WORDS, STEERING)
    found = checked(tmp_path, good, good)
    assert isinstance(check_pair(found.main, found.main).error, DraftIsMain)
    assert isinstance(check_pair(found.draft, found.main).error, DraftTooLarge)
    assert isinstance(check_pair(found.main, tmp_path / "none").error, Exception)
    (tmp_path / "draft" / "tokenizer.json").write_bytes(b"{}")
    assert isinstance(check_pair(found.main, found.draft).error, TokenizerBroken)
    (tmp_path / "draft" / "config.json").write_bytes(b"{")
    assert isinstance(check_pair(found.main, found.draft).error, ModelDamaged)


def test_tokens_of_strangers_break_nothing(tmp_path: Path) -> None:
    odd = ["\U0010fffe", "\U0010ffff", "\ud800", "", "\0", *WORDS]
    found = checked(tmp_path, tokenizer(odd, STEERING), tokenizer(odd[::-1], STEERING))
    assert found.error is None


def test_a_tokenizer_that_lists_no_tokens_is_only_told_apart(tmp_path: Path) -> None:
    found = checked(tmp_path, tokenizer(WORDS, []), tokenizer(WORDS, []))
    (tmp_path / "draft" / "tokenizer.json").unlink()
    (tmp_path / "draft" / "tokenizer.model").write_bytes(b"\x0a")
    found = check_pair(found.main, found.draft)
    assert isinstance(found.error, DraftVocabularyDiffers)
    assert found.error.shared_tokens == -1


def test_the_store_answers_with_an_event(tmp_path: Path) -> None:
    events: list[object] = []
    found = checked(tmp_path, tokenizer(WORDS, STEERING), tokenizer(WORDS, STEERING))
    store = ModelStore(tmp_path / "models", sink=events.append, hub_cache=tmp_path / "none")
    store.check_pair(found.main, found.draft)
    assert store.close()
    assert [event for event in events if isinstance(event, PairChecked)] == [PairChecked(found)]
