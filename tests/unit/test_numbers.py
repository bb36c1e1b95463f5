"""Which numbers of a config.json are believed, by the name that they go by."""

from __future__ import annotations

import pytest

from engine.models.model_files import FileError
from engine.models.numbers import check_numbers, check_read_numbers


@pytest.mark.parametrize(
    "config",
    [
        {"sliding_window": 2**40},
        {"moe_intermediate_size": 2**40},
        {"mamba_d_state": -(2**40)},
        {"layers": [[1, 2], [3, {"heads": 2**40}]]},
        {"rope_scaling": {"original_max_position_embeddings": 2**40}},
        {"blocks": {"inner": {"num_layers": 513}}},
    ],
    ids=str,
)
def test_what_a_family_reads_has_bounds_however_deep(config: dict[str, object]) -> None:
    with pytest.raises(FileError, match="is not in"):
        check_read_numbers(config, config.keys())
    check_read_numbers(config, ())


def test_a_list_without_measure_is_not_looked_through() -> None:
    with pytest.raises(FileError, match="is a list of 100000"):
        check_read_numbers({"rope_theta": [1] * 100_000}, ["rope_theta"])
    check_read_numbers({"suppressed": list(range(10_000))}, ["suppressed"])


@pytest.mark.parametrize("index", [-1, 4, 10**6])
def test_an_index_is_one_of_those_that_there_are(index: int) -> None:
    """A device that is asked for another reads beyond its table, which ends the process."""
    part: dict[str, object] = {"altup_active_idx": index, "altup_num_inputs": 4}
    with pytest.raises(FileError, match="is not in"):
        check_numbers(part)
    with pytest.raises(FileError, match="is not in"):
        check_numbers({"text_config": part})
    check_numbers(part | {"altup_active_idx": 3})


def test_numbers_of_real_models_are_within_them() -> None:
    config: dict[str, object] = {
        "rope_theta": 50_000_000_000,
        "rotary_emb_base": 10**12,
        "max_position_embeddings": 10_485_760,
        "sliding_window": 4_294_967,
        "hidden_size": 16_384,
        "vocab_size": 262_400,
        "n_layer": 126,
        "num_experts": 512,
        "eos_token_id": [200_020, 2**40],
        "bos_token_id": -1,
        "initializer_range": 0.02,
        "rope_scaling": {"factor": 40, "original_max_position_embeddings": 4096, "beta_fast": 32},
        "quantization": {"group_size": 64, "bits": 4, "mode": "affine"},
        "max_window_layers": 94,
        "num_nextn_predict_layers": 0,
        "num_layers": None,
        "attn_layers": "all",
    }
    check_numbers(config)
    check_read_numbers(config, config.keys() - {"num_layers"})
