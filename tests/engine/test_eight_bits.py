"""Keys and values at 8 bits: what is stored, what attention gets, and that chats of 8 and of 16 bits keep apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest
from mlx_lm.models.base import scaled_dot_product_attention
from mlx_lm.models.cache import CacheList, KVCache, QuantizedKVCache

from engine import Engine, ModelReady, Request, Sampling, Speculation
from engine.caches.base import TAIL_TOKENS
from engine.caches.eight_bits import CODED_TAIL_TOKENS, CodedCache, EightBitCache, at_eight_bits
from engine.caches.making import CacheMaker, eight_bits_of
from engine.caches.window import SLACK_TOKENS, WindowCache
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from engine.models.memory import memory_need
from engine.runtime import pair
from tests.engine import batch_harness as batches
from tests.families.configs import FAIR_PART, FAMILIES, config
from tests.families.harness import GREEDY, PROMPT, WARM, Errant, build, loaded, reply
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import make_pair, save

NO_KEYS = {"mamba2", "recurrent_gemma", "deepseek_v41", "falcon_mamba", "mamba", "rwkv7"}
AS_THEY_ARE = {"deepseek_v32", "glm_moe_dsa", "minimax_m3_vl"}  # they write to the arrays of their caches
TOKENS = 40
MIXED = (16, 8, 8)


def rows(tokens: int, depth: int, seed: int = 0) -> tuple[mx.array, mx.array]:
    mx.random.seed(seed)
    return mx.random.normal((1, 2, tokens, depth)), mx.random.normal((1, 2, tokens, depth))


@pytest.mark.parametrize("depth", [64, 96, 128, 80, 16])
def test_rows_are_those_of_mlx_lm_s_quantized_cache(depth: int) -> None:
    """Heads that no group divides are filled up with zeros."""
    ours = EightBitCache()
    keys, values = ours.update_and_fetch(*rows(5, depth))
    assert keys.shape == values.shape == (1, 2, 5, depth)
    assert mx.allclose(keys, rows(5, depth)[0], atol=0.02)
    if depth % 32 == 0:
        group = 64 if depth % 64 == 0 else 32
        theirs = QuantizedKVCache(group_size=group, bits=8)
        (codes, scales, offsets), _ = theirs.update_and_fetch(*rows(5, depth))
        assert mx.array_equal(keys, mx.dequantize(codes, scales, offsets, group_size=group, bits=8))
    assert ours.offset == 5
    shared = ours.keys_and_values()
    assert mx.array_equal(shared[0], keys)
    assert mx.array_equal(shared[1], values)


@pytest.mark.parametrize("width", [1, 5, SLACK_TOKENS + CODED_TAIL_TOKENS])
@pytest.mark.parametrize("depth", [64, 96])
def test_attention_over_codes_is_that_over_decoded_rows(depth: int, width: int) -> None:
    results = []
    queries = mx.random.normal((1, 4, width, depth), key=mx.random.key(3))
    for cache in (CodedCache(), EightBitCache()):
        cache.update_and_fetch(*rows(70, depth))
        mask = cache.make_mask(width, return_array=False, window_size=None)
        keys, values = cache.update_and_fetch(*rows(width, depth, seed=1))
        assert isinstance(keys, tuple) is isinstance(cache, CodedCache)
        results.append(scaled_dot_product_attention(queries * 1, keys, values, cache=cache, scale=0.1, mask=mask))
    assert mx.allclose(results[0], results[1], atol=1e-5)


def test_a_draft_never_takes_a_round_across_the_width_that_computes_otherwise() -> None:
    network = build("qwen3", head_dim=32)
    caches = CacheMaker(network, CodedCache)()
    assert caches.tail_tokens == CODED_TAIL_TOKENS < TAIL_TOKENS
    widest = rows(caches.tail_tokens + SLACK_TOKENS, 32)
    assert isinstance(CodedCache().update_and_fetch(*widest)[0], tuple)
    for uncached, ready in ((CODED_TAIL_TOKENS, True), (CODED_TAIL_TOKENS + 1, False)):
        assert Sequence(loaded(network, CodedCache), list(range(uncached))).ready is ready
    assert CacheMaker(network, EightBitCache)().tail_tokens == CacheMaker(network)().tail_tokens == TAIL_TOKENS


def test_heads_of_two_sizes_are_decoded() -> None:
    cache = CodedCache()
    keys, values = cache.update_and_fetch(rows(3, 96)[0], rows(3, 64)[1])
    assert (keys.shape[-1], values.shape[-1]) == (96, 64)
    assert not hasattr(cache, "bits")


def test_windows_and_states_stay_as_they_are() -> None:
    layers = [at_eight_bits(layer, EightBitCache) for layer in (KVCache(), WindowCache(4), CacheList(KVCache()))]
    assert [type(layer) for layer in layers] == [EightBitCache, WindowCache, CacheList]
    assert type(layers[2].caches[0]) is EightBitCache


@pytest.mark.parametrize("family", FAIR_PART)
def test_which_families_have_rows_at_8_bits(family: str) -> None:
    kind = eight_bits_of(build(family))
    assert kind is (None if family in NO_KEYS | AS_THEY_ARE else EightBitCache)


def test_layers_with_very_large_keys_keep_16_bits(tmp_path: Path) -> None:
    """As in Qwen2.5, where a bias makes them: found as the model is loaded, and counted in what it needs."""
    network = build("qwen2")
    bias = network.layers[1].self_attn.k_proj.bias
    network.layers[1].self_attn.k_proj.bias = mx.where(mx.arange(bias.size) == 3, 150.0, bias)
    model = load_model(save(network, config("qwen2"), tmp_path))

    kinds = [type(layer) for layer in model.with_eight_bits().make_caches().layers]
    assert kinds == [KVCache if at == 1 else EightBitCache for at in range(len(network.layers))]
    need = memory_need(network, CacheMaker(network, EightBitCache, [1])().layers)
    assert model.with_eight_bits().need == need != memory_need(network, CacheMaker(network, EightBitCache)().layers)


def check(family: str, kind: type[EightBitCache]) -> None:
    """Every count of accepted tokens, greedy and seeded."""
    model = loaded(build(family), kind)
    for sampling in (GREEDY, WARM):
        plain = reply(model, sampling, tokens=TOKENS)
        truth = [*PROMPT, *plain.tokens]
        drafted = reply(model, sampling, Errant(truth), lambda number: number % 8 + 1, TOKENS)
        assert drafted.tokens == plain.tokens
        assert len(drafted.accepted) > 2


@pytest.mark.parametrize("kind", [EightBitCache, CodedCache])
def test_the_text_never_depends_on_the_draft(kind: type[EightBitCache]) -> None:
    check("qwen3", kind)


@pytest.mark.families
@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in NO_KEYS | AS_THEY_ARE])
def test_in_no_family_the_text_depends_on_the_draft(family: str) -> None:
    if family != "phi3small":  # it does not speculate
        check(family, CodedCache)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineClient]:
    main, draft = make_pair(tmp_path_factory.mktemp("pair"), head_dim=64)
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(main, draft), ModelReady)
    yield client
    assert engine.close()


def asked(kv_bits: int | None, tokens: int = 12) -> Request:
    prompt = tuple(range(40, 80))
    return Request(
        tokens=prompt,
        sampling=GREEDY,
        speculation=Speculation.off(),
        max_tokens=tokens,
        kv_bits=kv_bits,
    )


def test_kept_rows_of_16_bits_are_none_of_8(client: EngineClient) -> None:
    cached = [client.run(asked(bits)).stats.cached_tokens for bits in (16, 8, 16, 8, None)]
    assert cached == [0, 0, 39, 39, 39]  # nothing said: 16, as memory is not what limits a tiny model


def test_replies_of_8_and_of_16_bits_are_in_no_batch_together(main: LoadedModel) -> None:
    """Each says what it says alone; those of the same bits share forwards again."""
    requests = [replace(asked(bits), sampling=Sampling(temperature=0.9, seed=seed)) for seed, bits in enumerate(MIXED)]
    alone = [batches.written({"main": main}, "", request)[0].tokens for request in requests]
    harness = batches.Harness(main)
    heard = [harness.submit(request) for request in requests[:2]]
    harness.until_written(heard[1], 4)
    assert harness.batched == 0
    heard.append(harness.submit(requests[2]))
    harness.scheduler.cancel(heard[0].queued.id)
    harness.until_written(heard[2], 4)
    assert harness.batched == 2
    harness.run_dry()
    assert [reply.tokens for reply in heard[1:]] == alone[1:]


def test_8_bits_are_taken_where_memory_limits_the_context(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = main.need.at(main.info.context_tokens)
    found = {}
    for bytes_here in (whole, whole - 1):
        monkeypatch.setattr(pair, "most_bytes", lambda size=bytes_here: size)
        harness = batches.Harness(main)
        heard = [harness.submit(asked(bits)) for bits in (None, 16, 8)]
        harness.run_dry()
        found[bytes_here] = [reply.reply.sequence.model.identity != main.identity for reply in heard]
    assert found == {whole: [False, False, True], whole - 1: [True, False, True]}


def test_a_draft_changes_no_bits(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor the text with them: memory counts as without it."""
    monkeypatch.setattr(pair, "most_bytes", lambda: main.need.at(main.info.context_tokens))
    for draft in (None, main):
        assert batches.Harness(main, draft).scheduler.pair.at(None)[0] is main


def test_a_draft_model_keeps_as_many_bits_as_its_main_model(main: LoadedModel) -> None:
    harness = batches.Harness(main, main)
    for bits in (8, 16):
        harness.submit(replace(asked(bits), speculation=Speculation.fixed(3)))
        harness.run_dry()
    kept = [kept.sequence for kept in harness.scheduler.pair.store.kept]
    kinds = [type(each.caches.layers[0]) for each in kept]
    assert sorted(kind.__name__ for kind in kinds) == ["EightBitCache"] * 2 + ["KVCache"] * 2
