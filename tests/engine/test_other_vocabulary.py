"""Drafts whose tokens are others than the main model's: they read and draft by what tokens say, and change no text."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest

from engine import (
    Acceptance,
    DraftingState,
    DraftVocabularyDiffers,
    Engine,
    ModelFailed,
    ModelReady,
    Request,
    Sampling,
    Speculation,
)
from engine.models.loading import DraftTranslation
from engine.models.token_map import TokenMap
from tests.engine.test_exactness import SAMPLINGS
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import load_draft, load_model
from tests.helpers.samples import fair
from tests.helpers.tiny_models import build, byte_tokenizer, noised, qwen3_config, save, shuffled
from tests.unit.test_token_map import table

ORDER = random.Random(5).sample(range(256), 256)
PROMPTS = [tuple(range(40, 80)), (256, 3, 3, 90, 41, 5, 250, 257, 18)]
REJECTION = replace(Speculation.fixed(4), acceptance=Acceptance.REJECTION)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A main model without padding, and a near copy of it in four vocabularies."""
    folder = tmp_path_factory.mktemp("vocabularies")
    config, short = qwen3_config(vocab_size=259), qwen3_config(vocab_size=258)
    network = build(config)
    near = noised(network, config, noise=0.05)
    return {
        "main": save(network, config, folder / "main"),
        "same": save(near, config, folder / "same"),
        "shuffled": save(shuffled(near, config, ORDER), config, folder / "shuffled", byte_tokenizer(ORDER)),
        "lacking": save(near, config, folder / "lacking", byte_tokenizer(without=range(90, 110))),
        "short": save(build(short), short, folder / "short"),
        "strange": save(near, config, folder / "strange", byte_tokenizer(without=range(60, 90))),
    }


@pytest.fixture(scope="module")
def client(folders: dict[str, Path]) -> Iterator[EngineClient]:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(folders["main"]), ModelReady)
    yield client
    assert engine.close()


def request(prompt: tuple[int, ...], sampling: Sampling, speculation: Speculation) -> Request:
    return Request(tokens=prompt, sampling=sampling, speculation=speculation, max_tokens=24)


@pytest.mark.parametrize("draft", fair(["shuffled", "lacking", "short"], "lacking"))
def test_the_text_is_plain_decodings(client: EngineClient, folders: dict[str, Path], draft: str) -> None:
    """INVARIANT: the same seed, the same tokens, whatever the vocabulary of the draft."""
    assert isinstance(client.set_draft(folders[draft]), ModelReady)
    for prompt, sampling in [(PROMPTS[0], SAMPLINGS[0]), (PROMPTS[1], SAMPLINGS[2]), (PROMPTS[0], SAMPLINGS[4])]:
        plain = client.run(request(prompt, sampling, Speculation.off()))
        assert len(set(plain.tokens)) > 8
        for speculation in (Speculation.fixed(3), Speculation.auto()):
            drafted = client.run(request(prompt, sampling, speculation))
            assert drafted.tokens == plain.tokens, (draft, sampling, speculation)


def test_a_draft_in_another_vocabulary_is_accepted_as_often(client: EngineClient, folders: dict[str, Path]) -> None:
    """Every id differs, and not one drafted token: the noise goes by the main model's tokens and positions."""
    seen = {}
    for draft in ("same", "shuffled", "lacking"):
        assert isinstance(client.set_draft(folders[draft]), ModelReady)
        for temperature in (0.0, 1.0):
            sampling = Sampling(temperature=temperature, seed=4)
            stats = client.run(request(PROMPTS[0], sampling, Speculation.fixed(4))).stats
            assert stats.drafting is DraftingState.ACTIVE
            seen[draft, temperature] = (stats.rounds, stats.drafted, stats.accepted)
    for temperature in (0.0, 1.0):
        assert seen["shuffled", temperature] == seen["same", temperature]
        assert seen["lacking", temperature][2] > seen["same", temperature][2] / 3


def test_rejection_keeps_its_distribution(client: EngineClient, folders: dict[str, Path]) -> None:
    """The draft's distribution is over the main model's tokens, without those that it lacks."""
    client.set_draft(folders["lacking"])
    written = client.run(request(PROMPTS[0], Sampling(temperature=1.0, seed=2), REJECTION))
    assert written.stats.accepted > 0


@pytest.mark.expect_log("could not load")
def test_too_few_shared_tokens_are_refused_with_their_number(client: EngineClient, folders: dict[str, Path]) -> None:
    answer = client.set_draft(folders["strange"])
    assert isinstance(answer, ModelFailed)
    assert isinstance(answer.error, DraftVocabularyDiffers)
    assert (answer.error.main_tokens, answer.error.draft_tokens, answer.error.shared_tokens) == (259, 259, 229)


def test_a_draft_of_the_same_tokens_is_not_translated(folders: dict[str, Path]) -> None:
    main = load_model(folders["main"])
    assert load_draft(folders["same"], main).translation is None
    translation = load_draft(folders["short"], main).translation  # it has no row for the last token
    assert translation is not None
    assert translation.tokens.shared == 258
    assert max(translation.tokens.spell(range(259))) < 258


# A draft's logits and tokens as the main model's, beside the tokens' texts.


MAIN = ("a", "b", "ab", "c")
DRAFT = ("c", "x", "a", "b", "y")


def translation(main_rows: int) -> DraftTranslation:
    return DraftTranslation(TokenMap(table(*MAIN), table(*DRAFT), len(DRAFT)), main_rows)


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_each_shared_token_has_the_drafts_logit_and_others_no_chance(dtype: mx.Dtype) -> None:
    """The main model's output has two rows of padding."""
    told = translation(len(MAIN) + 2).logits(mx.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], dtype=dtype))
    assert told.dtype == dtype
    none = -math.inf
    assert told.tolist() == [[3, 4, none, 1, none, none], [8, 9, none, 6, none, none]]


def test_what_it_drafted_it_reads_as_its_own() -> None:
    mapped = translation(len(MAIN))
    assert mapped.drafted(mx.array([3, 0, 1], dtype=mx.uint32)).tolist() == [0, 2, 3]
    assert mapped.tokens.spell([3, 0, 1]) == [0, 2, 3]
