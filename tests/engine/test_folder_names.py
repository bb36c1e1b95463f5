"""A model's folder may be called anything."""

from __future__ import annotations

import shutil
from pathlib import Path

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from tests.engine.conftest import Zoo
from tests.helpers.loading import load_model


@pytest.mark.costly
@pytest.mark.parametrize("name", ["m[1]", "m*", "m?", "-rf", "R&D %1"])
def test_the_weights_are_those_of_the_folder_itself(zoo: Zoo, tmp_path: Path, name: str) -> None:
    """Also beside one that its name would be a pattern of."""
    folder = tmp_path / name
    shutil.copytree(zoo.main, folder)
    shutil.copytree(zoo.main, tmp_path / "m1")
    (other,) = (tmp_path / "m1").glob("model*.safetensors")
    weights = mx.load(str(other))
    assert isinstance(weights, dict)
    mx.save_safetensors(str(other), {key: mx.zeros_like(value) for key, value in weights.items()})
    loaded, known = (dict(tree_flatten(load_model(each).network.parameters())) for each in (folder, zoo.main))
    assert all(mx.array_equal(loaded[key], known[key]) for key in known)
