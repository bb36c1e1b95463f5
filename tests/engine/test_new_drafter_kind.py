"""A kind of drafter that only this file knows: the program needs no more of one than a network and a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx
import pytest

from app.words.pairs import drafter_text
from engine import (
    DrafterUnsupported,
    Engine,
    HubKind,
    HubQuery,
    ModelReady,
    Request,
    Sampling,
    Speculation,
    inspect_model,
)
from engine.drafting.drafters import loading_any_draft
from engine.drafting.examination import examination
from engine.drafting.proposers.dflash import BlockDrafter
from engine.hub.searches import hub_model, questions
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import KINDS, Kind, is_drafter_folder
from engine.models.drafters import BlockConfig
from engine.models.loading import LoadedModel
from tests.engine.conftest import Zoo
from tests.helpers import tiny_drafters as tiny
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import at_once

CONFIG = tiny.dspark_config(architectures=["NewDrafterModel"], markov_rank=0, enable_confidence_head=False)


class NewDrafter(BlockDrafter):
    """A block with a bias for each token."""

    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        self.token_bias = mx.zeros((config.info.vocabulary_rows,))

    def step_logits(self, base: mx.array, before: mx.array, state: mx.array) -> mx.array:
        return super().step_logits(base + self.token_bias, before, state)


@pytest.fixture(autouse=True)
def row() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            KINDS,
            "new",
            Kind(
                name="New",
                network=f"{__name__}:NewDrafter",
                is_marked=lambda said: said.is_called("newdrafter"),
                in_names=("-new",),
                searched="New",
                tensors="token_bias",
            ),
        )
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bias = {"token_bias": mx.random.normal((tiny.VOCABULARY,), key=mx.random.key(2))}
    return tiny.save_drafter(tmp_path / "new", CONFIG, tiny.block_weights(CONFIG) | bias)


def test_its_folder_is_read_and_a_tensor_of_another_kind_has_no_place(folder: Path) -> None:
    drafter = inspect_model(folder).drafter
    assert drafter is not None
    assert (drafter.kind, drafter.layers) == ("new", (0, 1))
    weights = tiny.block_weights(CONFIG) | {"layer_fusion_weights": mx.zeros((2, 2))}
    with pytest.raises(DrafterUnsupported):
        inspect_model(tiny.save_drafter(folder, CONFIG, weights))


def test_it_is_found_on_hubs_and_has_a_name() -> None:
    listed = hub_model({"id": "org/Qwen3-8B-New"})
    assert listed is not None
    assert listed.drafter == "new"
    assert any("New" in path for path in questions(HubQuery(kind=HubKind.DRAFTER)))
    assert is_drafter_folder("new")
    assert drafter_text("new") == "New drafter"


def test_it_is_loaded_and_drafts(zoo: Zoo, folder: Path) -> None:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(zoo.main, folder), ModelReady)
    hot = Sampling(temperature=3.0, seed=5)  # so hot that the noise, which both share, decides
    asked = Request(tokens=(60, 70, 80, 90), sampling=hot, max_tokens=20, speculation=Speculation.fixed(3))
    drafted = client.run(asked).finished
    assert drafted.stats.accepted > 0
    client.set_draft(None)
    assert client.run(asked).tokens == drafted.tokens
    assert engine.close()


def test_it_is_examined(main: LoadedModel, folder: Path) -> None:
    found = at_once(examination(main, at_once(loading_any_draft(folder, main))))
    assert found is not None
    assert found.per_pass >= 1
