"""Drafts with vocabularies at random: the text is plain decoding's, at any setting, over several turns."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine import Engine, ModelReady, Request, Sampling, Speculation
from tests.helpers.engine_client import EngineClient
from tests.helpers.tiny_models import build, byte_tokenizer, noised, qwen3_config, save, shuffled

DRAFTS, TURNS = 25, 4


def settings_at_random(chance: random.Random) -> tuple[Sampling, Speculation]:
    sampling = Sampling(
        temperature=chance.choice([0.0, 0.5, 1.0]),
        top_p=chance.choice([1.0, 0.9]),
        repetition_penalty=chance.choice([1.0, 1.2]),
        seed=chance.randrange(2**32),
    )
    return sampling, chance.choice([Speculation.auto(), Speculation.fixed(chance.randrange(1, 12))])


@pytest.mark.drill
def test_the_text_is_plain_decodings_whatever_the_vocabulary(tmp_path: Path) -> None:
    chance, config = random.Random(11), qwen3_config(vocab_size=259)
    network = build(config)
    engine = Engine()
    client = EngineClient(engine)
    try:
        assert isinstance(client.load(save(network, config, tmp_path / "main")), ModelReady)
        for number in range(DRAFTS):
            near = noised(network, config, noise=chance.choice([0.02, 0.1, 0.5]), seed=number)
            order = chance.sample(range(256), 256)
            lacking = chance.sample(range(256), chance.randrange(25))
            folder = save(
                shuffled(near, config, order), config, tmp_path / f"draft{number}", byte_tokenizer(order, lacking)
            )
            assert isinstance(client.set_draft(folder), ModelReady)
            tokens = tuple(chance.randrange(259) for _ in range(chance.randrange(1, 120)))
            for _ in range(TURNS):
                sampling, speculation = settings_at_random(chance)
                drafted = client.run(Request(tokens=tokens, sampling=sampling, speculation=speculation, max_tokens=40))
                plain = client.run(
                    Request(tokens=tokens, sampling=sampling, speculation=Speculation.off(), max_tokens=40)
                )
                assert drafted.tokens == plain.tokens, (number, sampling, speculation)
                tokens = (*tokens, *drafted.tokens, *(chance.randrange(256) for _ in range(5)))
    finally:
        assert engine.close()
