"""Whatever a folder or a request holds, the answer is a typed error, and the engine is as good as before."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from huggingface_hub.errors import StrictDataclassError
from tokenizers import Regex, Tokenizer, pre_tokenizers
from transformers import AutoTokenizer

from engine import (
    MAX_DRAFT_TOKENS,
    CannotSee,
    ContextTooLong,
    EmptyConversation,
    EngineError,
    Event,
    Failed,
    InvalidRequest,
    Message,
    MessageRole,
    ModelDamaged,
    ModelFailed,
    ModelHasNoConfig,
    ModelHasNoWeights,
    ModelNotFound,
    ModelReady,
    ModelRunsCode,
    ModelUnsupported,
    Picture,
    PromptProgress,
    Request,
    RequestId,
    Sampling,
    Speculation,
    TokenizerBroken,
)
from engine.models.loading import _load_tokenizer, loading
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import at_once
from tests.helpers.tiny_models import VOCABULARY, byte_tokenizer, rewrite, save_tokenizer

GOOD = Request(tokens=(65, 66, 67), sampling=Sampling(temperature=0), max_tokens=4, speculation=Speculation.off())


def user(text: str) -> tuple[Message, ...]:
    return (Message(MessageRole.USER, text),)


def seeing(picture: Picture) -> Request:
    return Request(messages=(Message(MessageRole.USER, "What is it?", pictures=(picture,)),))


def edit_config(folder: Path, **changes: object) -> None:
    rewrite(folder / "config.json", **changes)


def truncate_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def garble_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(b"\xff" * 4096)


def panic(folder: Path) -> None:
    """A pre-tokenizer whose pattern exhausts the regex engine on some text; the library panics instead of raising."""
    tokenizer = byte_tokenizer()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex("(a+)+$"), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    save_tokenizer(folder, tokenizer)


MODEL_FAULTS: dict[str, tuple[Callable[[Path], object], type[EngineError]]] = {
    "missing folder": (shutil.rmtree, ModelNotFound),
    "no config": (lambda folder: (folder / "config.json").unlink(), ModelHasNoConfig),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), ModelHasNoWeights),
    "truncated weights": (truncate_weights, ModelDamaged),
    "garbled header": (garble_header, ModelDamaged),
    "config is no JSON": (lambda folder: (folder / "config.json").write_text("{"), ModelDamaged),
    "config contradicts weights": (lambda folder: edit_config(folder, num_hidden_layers=3), ModelDamaged),
    "unknown architecture": (lambda folder: edit_config(folder, model_type="nosuch"), ModelUnsupported),
    "architecture with a path": (lambda folder: edit_config(folder, model_type="../../evil"), ModelUnsupported),
    "wants to run code": (lambda folder: edit_config(folder, model_file="evil.py"), ModelRunsCode),
    "tokenizer is no JSON": (lambda folder: (folder / "tokenizer.json").write_text("{"), TokenizerBroken),
}


@pytest.mark.costly
@pytest.mark.parametrize("fault", MODEL_FAULTS)
@pytest.mark.expect_log("could not load")
def test_a_bad_folder_is_refused_by_type_and_the_engine_goes_on(
    client: EngineClient, zoo: Zoo, tmp_path: Path, fault: str
) -> None:
    damage, expected = MODEL_FAULTS[fault]
    folder = tmp_path / "model"
    shutil.copytree(zoo.main, folder)
    damage(folder)

    answer = client.load(folder)

    assert isinstance(answer, ModelFailed)
    assert type(answer.error) is expected
    assert isinstance(client.load(zoo.main), ModelReady)
    assert len(client.run(GOOD).tokens) == 4


@pytest.mark.parametrize("model_type", ["qwen3", "step3p5"])
def test_a_config_that_only_transformers_refuses_is_no_fault_of_the_tokenizer(
    zoo: Zoo, tmp_path: Path, model_type: str
) -> None:
    """Such as one whose lists say something of a head's layer, too; mlx-lm reads that far and no further."""
    shutil.copytree(zoo.main, tmp_path / "model")
    usual = _load_tokenizer(tmp_path / "model", VOCABULARY)
    edit_config(tmp_path / "model", layer_types=["full_attention"] * 9, model_type=model_type)
    with pytest.raises(StrictDataclassError):
        AutoTokenizer.from_pretrained(tmp_path / "model")

    tokenizer = _load_tokenizer(tmp_path / "model", VOCABULARY)

    assert tokenizer.encode("Hello, 한국") == usual.encode("Hello, 한국")
    assert tokenizer.eos_token_ids == usual.eos_token_ids


def test_a_tokenizer_that_panics_fails_the_request_only(client: EngineClient, zoo: Zoo, tmp_path: Path) -> None:
    """The tokenizer library's Rust panics are BaseExceptions: `except Exception` would let them end the thread."""
    folder = tmp_path / "panics"
    shutil.copytree(zoo.main, folder)
    panic(folder)
    with pytest.raises(BaseException) as raised:  # noqa: PT011
        Tokenizer.from_file(str(folder / "tokenizer.json")).encode("a" * 200 + "b")
    assert not isinstance(raised.value, Exception)

    assert isinstance(client.load(folder), ModelReady)
    failed = client.run(Request(messages=user("a" * 200 + "b"))).failed

    assert isinstance(failed.error, TokenizerBroken)
    assert len(client.run(GOOD).tokens) == 4


REQUEST_FAULTS: dict[str, tuple[Request, type[EngineError]]] = {
    "nothing at all": (Request(), EmptyConversation),
    "only a system prompt": (Request(messages=(Message(MessageRole.SYSTEM, "x"),)), EmptyConversation),
    "picture for a model of text": (seeing(Picture(2, 1, b"abcdef", "x")), CannotSee),
    "picture of too few bytes": (seeing(Picture(2, 1, b"abcde", "x")), InvalidRequest),
    "picture that the model has made": (
        Request(messages=(Message(MessageRole.ASSISTANT, "x", pictures=(Picture(2, 1, b"abcdef", "x"),)),)),
        InvalidRequest,
    ),
    "picture without a digest": (seeing(Picture(2, 1, b"abcdef", "")), InvalidRequest),
    "picture of a detail in words": (seeing(Picture(2, 1, b"abcdef", "x", "low")), InvalidRequest),  # type: ignore[arg-type]
    "picture too wide": (seeing(Picture(8193, 1, b"abc" * 8193, "x")), InvalidRequest),
    "both kinds of prompt": (Request(messages=user("x"), tokens=(1,)), InvalidRequest),
    "token out of the vocabulary": (Request(tokens=(1, 288)), InvalidRequest),
    "prompt longer than the context": (Request(tokens=(65,) * 2048), ContextTooLong),
    "seed below": (Request(tokens=(1,), sampling=Sampling(seed=-1)), InvalidRequest),
    "seed above": (Request(tokens=(1,), sampling=Sampling(seed=2**64)), InvalidRequest),
    "temperature": (Request(tokens=(1,), sampling=Sampling(temperature=-0.1)), InvalidRequest),
    "temperature is no number": (Request(tokens=(1,), sampling=Sampling(temperature=float("nan"))), InvalidRequest),
    "top-p": (Request(tokens=(1,), sampling=Sampling(top_p=1.5)), InvalidRequest),
    "top-k": (Request(tokens=(1,), sampling=Sampling(top_k=-1)), InvalidRequest),
    "min-p": (Request(tokens=(1,), sampling=Sampling(min_p=2)), InvalidRequest),
    "penalty": (Request(tokens=(1,), sampling=Sampling(repetition_penalty=0)), InvalidRequest),
    "max tokens": (Request(tokens=(1,), max_tokens=0), InvalidRequest),
    "seed is a time": (Request(tokens=(1,), sampling=Sampling(seed=1.5e9)), InvalidRequest),  # type: ignore[arg-type]
    "seed is a flag": (Request(tokens=(1,), sampling=Sampling(seed=True)), InvalidRequest),
    "no sampling": (Request(tokens=(1,), sampling=None), InvalidRequest),  # type: ignore[arg-type]
    "no speculation": (Request(tokens=(1,), speculation=None), InvalidRequest),  # type: ignore[arg-type]
    "no request": (None, InvalidRequest),  # type: ignore[dict-item]
    "temperature too small to divide by": (Request(tokens=(1,), sampling=Sampling(temperature=1e-38)), InvalidRequest),
    "top-p too small": (Request(tokens=(1,), sampling=Sampling(top_p=1e-46)), InvalidRequest),
    "penalty is infinite": (Request(tokens=(1,), sampling=Sampling(presence_penalty=-math.inf)), InvalidRequest),
    "bias without a value": (Request(tokens=(1,), sampling=Sampling(logit_bias=((1,),))), InvalidRequest),  # type: ignore[arg-type]
    "bias is no number": (Request(tokens=(1,), sampling=Sampling(logit_bias=((1, math.nan),))), InvalidRequest),
    "bias of a token above": (Request(tokens=(1,), sampling=Sampling(logit_bias=((9999, 1.0),))), InvalidRequest),
    "token is a fraction": (Request(tokens=(1, 2.0)), InvalidRequest),  # type: ignore[arg-type]
    "tokens can change": (Request(tokens=[1, 2]), InvalidRequest),  # type: ignore[arg-type]
    "message is text": (Request(messages=("hello",)), InvalidRequest),  # type: ignore[arg-type]
    "message says nothing": (Request(messages=(Message(MessageRole.USER, None),)), InvalidRequest),  # type: ignore[arg-type]
    "half a character": (Request(messages=user("a\ud800b")), InvalidRequest),
    "a role is text": (Request(messages=(Message("user", "x"),)), InvalidRequest),  # type: ignore[arg-type]
    "token is a flag": (Request(tokens=(True,)), InvalidRequest),
    "mode is text": (Request(tokens=(1,), speculation=Speculation("off")), InvalidRequest),  # type: ignore[arg-type]
    "thinking is a number": (Request(tokens=(1,), thinking=1), InvalidRequest),  # type: ignore[arg-type]
    "messages can change": (Request(messages=[], tokens=(1,)), InvalidRequest),  # type: ignore[arg-type]
    "bias of a token below": (Request(tokens=(1,), sampling=Sampling(logit_bias=((-1, 1.0),))), InvalidRequest),
    "token below the vocabulary": (Request(tokens=(1, -1)), InvalidRequest),
    "thinking tokens below": (Request(tokens=(1,), thinking_tokens=-1), InvalidRequest),
    "keys of four bits": (Request(tokens=(1,), kv_bits=4), InvalidRequest),
    "keys of a flag": (Request(tokens=(1,), kv_bits=True), InvalidRequest),
    "thinking tokens are a flag": (Request(tokens=(1,), thinking_tokens=True), InvalidRequest),
    "stop is text": (Request(tokens=(1,), stop="stop"), InvalidRequest),  # type: ignore[arg-type]
    "draft length": (Request(tokens=(1,), speculation=Speculation.fixed(0)), InvalidRequest),
    "draft length above": (Request(tokens=(1,), speculation=Speculation.fixed(MAX_DRAFT_TOKENS + 1)), InvalidRequest),
}


def test_bad_requests_are_refused_by_type_and_the_engine_goes_on(client: EngineClient) -> None:
    refused = {fault: type(client.run(request).failed.error) for fault, (request, _) in REQUEST_FAULTS.items()}

    assert refused == {fault: expected for fault, (_, expected) in REQUEST_FAULTS.items()}
    assert len(client.run(GOOD).tokens) == 4


def test_a_bad_request_harms_nobody_beside_it(client: EngineClient) -> None:
    """Refused while a reply is being written, in whatever way it is bad."""
    refused: list[Event] = []

    def submit_all(request_id: RequestId, event: Event) -> None:
        if isinstance(event, PromptProgress):
            for bad, _ in REQUEST_FAULTS.values():
                client.engine.submit(bad, refused.append)

    assert client.run(GOOD, on_event=submit_all).tokens == client.run(GOOD).tokens
    client.run(GOOD)
    assert sum(isinstance(event, Failed) for event in refused) == len(REQUEST_FAULTS)


BORDERS = {
    "all at their lowest": Sampling(0.001, 1e-6, 1, 1.0, 0.01, -10.0, -10.0, ((257, -100.0),), 1.0, 0.0, 0),
    "all at their highest": Sampling(10, 1.0, 10**400, 1.0, 10, 10, 10, ((257, 100.0), (257, 100)), 1, 0.5, 2**64 - 1),
    "greedy with all": Sampling(0, 0, 5, 0, 10, -10, 10, ((0, 100.0), (287, -100.0)), 1.0, 0.1),
}


@pytest.mark.costly
@pytest.mark.parametrize("sampling", BORDERS.values(), ids=BORDERS)
def test_what_is_just_allowed_is_written(client: EngineClient, sampling: Sampling) -> None:
    """Also a limit on length without end, and a stop string that no text can hold."""
    for speculation in (Speculation.off(), Speculation.fixed(MAX_DRAFT_TOKENS)):
        asked = Request(tokens=(65, 66), sampling=sampling, speculation=speculation, stop=("", "\ud800"))
        assert 0 < len(client.run(replace(asked, max_tokens=12)).tokens) <= 12
    assert client.run(replace(asked, tokens=(65,) * 2040, max_tokens=10**5000)).finished


def test_a_folder_that_vanishes_while_it_is_loaded_is_told_as_such(zoo: Zoo, tmp_path: Path) -> None:
    """Between any two slices."""
    for slices_before in range(1, 40):
        folder = tmp_path / str(slices_before)
        shutil.copytree(zoo.main, folder)
        slices = loading(folder)
        if sum(1 for _ in islice(slices, slices_before)) < slices_before:
            return  # it was loaded before
        shutil.rmtree(folder)
        with pytest.raises((ModelNotFound, ModelDamaged, TokenizerBroken)):
            at_once(slices)
