"""Pictures in prompts: with any draft, in any company and from any kept cache, the text is plain decoding's."""

from __future__ import annotations

import json
import queue
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from engine import (
    CannotSee,
    Engine,
    Event,
    Finished,
    FinishReason,
    Message,
    MessageRole,
    ModelReady,
    Picture,
    PictureDetail,
    PictureTooLarge,
    PromptProgress,
    Request,
    RequestId,
    Sampling,
    SightRefusal,
    Speculation,
    TemplateFailed,
    ToolCall,
    inspect_model,
    picture_tokens,
)
from engine.decoding import sequence as sequences
from engine.decoding.prompt import prompt_tokens, with_places
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from engine.models.templates import ChatTemplate
from engine.models.vision_config import Tower
from engine.vision import seeing as seeing_module
from engine.vision.seeing import ModelVision, SequencePictures
from engine.vision.towers import steps
from engine.vision.towers.tensors import Tensors
from engine.vision.values import FIRST_NAME, spans_in, without_names
from tests.engine.batch_harness import Harness, Recorder
from tests.helpers import tiny_assistants, tiny_drafters
from tests.helpers.engine_client import PATIENCE_S, EngineClient, Outcome
from tests.helpers.loading import load_model
from tests.helpers.tiny_eyes import CONFIGS, PLACEHOLDER, as_picture, asked, picture, save_seeing, save_text_draft

GREEDY = Sampling(temperature=0, logit_bias=((257, -100.0),))
HOT = Sampling(temperature=3.0, seed=5, logit_bias=((257, -100.0),))
SMALL, WIDE = picture(40, 30), picture(90, 20, seed=1)
SHORT = (asked("What is it?", SMALL),)
CHAT = (asked("Compare these two.", SMALL, WIDE), Message(MessageRole.ASSISTANT, "Two of them."), asked("", WIDE))
CHATS = {"short": SHORT, "long": CHAT}
SAMPLINGS = {"greedy": GREEDY, "hot": HOT}
PLAIN = Speculation.off()
SLOW = pytest.mark.slow


def asking(
    messages: tuple[Message, ...], speculation: Speculation = PLAIN, sampling: Sampling = GREEDY, tokens: int = 12
) -> Request:
    return Request(messages=messages, sampling=sampling, max_tokens=tokens, speculation=speculation, trace=True)


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("eyes")
    return {kind: save_seeing(kind, folder / kind) for kind in CONFIGS}


# Quick: the family where most can go wrong. Its states are neither cut nor rolled back without help.
@pytest.fixture(
    scope="module",
    params=[kind if kind == "qwen3_5" else pytest.param(kind, marks=pytest.mark.slow) for kind in CONFIGS],
)
def main(seeing: dict[str, Path], request: pytest.FixtureRequest) -> Path:
    return seeing[request.param]


@pytest.fixture(scope="module")
def client(main: Path) -> Iterator[EngineClient]:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(main), ModelReady)
    yield client
    assert engine.close()


@pytest.fixture(scope="module")
def plain(client: EngineClient) -> dict[tuple[str, str], Outcome]:
    """By chat and sampling; of a cache of their own, as `transient` has it."""
    return {
        (chat, name): client.run(replace(asking(messages, sampling=sampling), transient=True))
        for chat, messages in CHATS.items()
        for name, sampling in SAMPLINGS.items()
    }


def test_what_is_seen_counts(client: EngineClient) -> None:
    requests = (asking((asked("What is it?", picture(40, 30, seed)),)) for seed in (0, 1, 3))
    replies = [client.run(replace(request, transient=True, max_tokens=40)).tokens for request in requests]
    assert len(set(replies)) == 3


DRAFTS = ["draft", "lookup", "dflash", "dspark", "dflash2", "eagle3", "mtp", "assistant"]


@pytest.fixture(scope="module")
def drafters(main: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("drafters")
    text = json.loads((main / "config.json").read_text())["text_config"]
    kinds = {kind: tiny_drafters.save_kind(kind, folder / kind, text) for kind in tiny_drafters.KINDS}
    heads = {"mtp": main} if inspect_model(main).own_drafter is not None else {}
    if main.name in tiny_assistants.MAINS:
        heads["assistant"] = tiny_assistants.save_assistant(main.name, folder / "assistant")
    return {"draft": save_text_draft(folder / "draft"), **kinds, **heads}


def check(client: EngineClient, plain: dict[tuple[str, str], Outcome], speculation: Speculation) -> int:
    """Asks each once more; returns how many tokens were drafted."""
    drafted = 0
    for (chat, sampling), expected in plain.items():
        outcome = client.run(asking(CHATS[chat], speculation, SAMPLINGS[sampling]))
        assert outcome.tokens == expected.tokens, (chat, sampling)
        drafted += outcome.stats.drafted
    return drafted


@pytest.mark.costly
@pytest.mark.parametrize(
    ("kind", "length"),
    [
        pytest.param(kind, length, marks=[] if length == 4 else [pytest.mark.slow])
        for kind in DRAFTS
        for length in (4, 1, 2, 3, 5, 6, 7, 8, 32)
    ],
)
def test_no_text_depends_on_what_drafts(
    client: EngineClient, plain: dict[tuple[str, str], Outcome], drafters: dict[str, Path], kind: str, length: int
) -> None:
    skip_without(drafters, kind)
    with drafting(client, drafters, kind):
        drafted = check(client, plain, Speculation.fixed(length))
    assert drafted or kind == "lookup"


@contextmanager
def drafting(client: EngineClient, drafters: dict[str, Path], kind: str) -> Iterator[None]:
    if kind != "lookup":
        client.set_draft(drafters[kind])
    yield
    client.set_draft(None)


@pytest.mark.parametrize("kind", [pytest.param(each, marks=[] if each == "dflash" else SLOW) for each in DRAFTS[2:]])
def test_a_draft_is_swapped_in_the_midst_of_a_reply(client: EngineClient, drafters: dict[str, Path], kind: str) -> None:
    """Whoever drafts from then on reads the states behind a picture whose rows are gone, or its tokens."""
    skip_without(drafters, kind)
    told, since = queue.SimpleQueue[Event](), list[Event]()
    swaps, done = [drafters[kind], drafters["draft"]], list[Event]()

    def swap(request: RequestId, event: Event) -> None:
        """Twice, with some rounds before, between and after."""
        since.append(event)
        if len(since) == 12 and swaps:
            client.engine.set_draft(swaps.pop(0), told.put)
        with suppress(queue.Empty):
            if isinstance(ready := told.get_nowait(), ModelReady):
                done.append(ready)
                since.clear()
        if len(since) > 30 and len(done) == 2:
            client.engine.cancel(request)

    with drafting(client, drafters, "draft"):
        outcome = client.run(asking(SHORT, Speculation.fixed(4), tokens=4000), swap)
    sources = [each.source for each in outcome.finished.rounds if each.drafted and each.source != "lookup"]
    first, other, again = [source for source, _ in groupby(sources)]
    assert (first, again) == ("draft", "draft") != (other, other)
    assert outcome.tokens == client.run(replace(asking(SHORT, tokens=len(outcome.tokens)), transient=True)).tokens


@pytest.mark.parametrize("kind", [pytest.param(each, marks=[] if each == "draft" else SLOW) for each in DRAFTS])
def test_a_reply_behind_a_picture_is_continued_and_another_put_in_its_place(
    main: Path, client: EngineClient, drafters: dict[str, Path], looks: list[int], kind: str
) -> None:
    """From what is kept: of caches that cannot be cut, the checkpoint behind the picture."""
    skip_without(drafters, kind)
    how, chat = Speculation.fixed(4), (asked("Is it this one?", picture(40, 30, seed=7 + DRAFTS.index(kind))),)
    later = (*chat, Message(MessageRole.ASSISTANT, "It is"))
    ways = later, (*later, asked("Is it?")), (*later, asked("Or not?"))
    model = load_model(main)
    end = max(at for at, token in enumerate(prompt_tokens(asking(chat), model)) if token >= FIRST_NAME)
    with drafting(client, drafters, kind):
        client.run(asking(chat, how))
        looks.clear()
        outcomes = [client.run(asking(way, how)) for way in (*ways, ways[0])]
    assert main.name == "gemma3" or not looks  # its windows cannot be cut back
    plain = [client.run(replace(asking(way), transient=True)).tokens for way in ways]
    assert [each.tokens for each in outcomes] == [*plain, plain[0]]
    cached = [each.stats.cached_tokens for each in outcomes]
    assert main.name == "gemma3" or min(cached) > end


def alone(harness: Harness, request: Request) -> Recorder:
    recorder = harness.submit(request)
    harness.run_dry()
    return recorder


def skip_without(drafters: dict[str, Path], kind: str) -> None:
    if kind not in (*drafters, "lookup"):
        pytest.skip("this family has no such drafter")


@pytest.mark.parametrize(
    "kind", [each if each == "draft" else pytest.param(each, marks=pytest.mark.slow) for each in DRAFTS]
)
def test_no_text_depends_on_drafts_where_rows_are_cut_kept_or_shared(
    main: Path,
    plain: dict[tuple[str, str], Outcome],
    drafters: dict[str, Path],
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Prompts in small pieces; then from memory, and from the disk after a restart; then behind an edit, in a batch."""
    skip_without(drafters, kind)
    monkeypatch.setattr(sequences, "PREFILL_CHUNK_TOKENS", 16)
    how, edited = Speculation.fixed(4), (*CHATS["long"][:2], asked("And this?", SMALL))
    for restarted in (False, True):
        engine = Engine(tmp_path)
        client = EngineClient(engine)
        assert isinstance(client.load(main), ModelReady)
        with drafting(client, drafters, kind):
            cached = [client.run(asking(CHATS["long"], how)) for _ in range(2)]
            assert [each.tokens for each in cached] == [plain["long", "greedy"].tokens] * 2
            assert [each.stats.cached_tokens > 0 for each in cached] == [restarted, True]
            if restarted:  # before, what is not written yet could be taken over by the edited chat
                chats = SHORT, edited, (asked("Hello."),)
                together = client.run_all([asking(chat, how) for chat in chats])
                alone = [client.run(replace(asking(chat), transient=True)) for chat in chats]
                assert [each.tokens for each in together] == [each.tokens for each in alone]
        assert engine.close()


@pytest.mark.costly
@pytest.mark.parametrize("kind", CONFIGS)
def test_rows_do_not_depend_on_how_a_prompt_is_cut(kind: str, seeing: dict[str, Path]) -> None:
    model = load_model(seeing[kind])
    tokens = prompt_tokens(asking(CHAT), model)
    whole, cut = (prefilled(model, tokens, ends) for ends in ([len(tokens)], [9, 30, 31, 90, len(tokens)]))
    assert float(mx.abs(whole - cut).max()) < 1e-4 * float(mx.abs(whole).max())


def prefilled(model: LoadedModel, tokens: list[int], ends: list[int]) -> mx.array:
    """Logits of all tokens, in forwards that end about there."""
    assert model.vision is not None
    sequence, logits = Sequence(model, [*tokens, 0]), []
    view = SequencePictures(
        ModelVision.of(model), spans_in(tokens, (SMALL, WIDE, WIDE), model.vision, PictureDetail.NORMAL)
    )
    sequence.pictures = view
    for wanted in ends:
        start = sequence.caches.position
        end = view.chunk_end(start, wanted)
        while not view.has_rows(start, end):
            view.encode(start, end)
        logits.append(sequence.feed(mx.array(tokens[start:end])))
        sequence.close_step(end - start)
    return mx.concatenate(logits)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with the tower's work."""
    done, look = list[int](), SequencePictures.encode

    def counted(self: SequencePictures, start: int, end: int) -> None:
        done.append(start)
        look(self, start, end)

    monkeypatch.setattr(SequencePictures, "encode", counted)
    return done


def test_a_picture_that_is_kept_is_not_looked_at_again_even_after_a_restart(
    main: Path, plain: dict[tuple[str, str], Outcome], looks: list[int], tmp_path: Path
) -> None:
    worked = []
    for _ in range(2):
        engine = Engine(tmp_path)
        client = EngineClient(engine)
        client.load(main)
        for _ in range(2):
            outcome = client.run(asking(CHATS["long"]))
            assert outcome.tokens == plain["long", "greedy"].tokens
            worked.append((len(looks) > 0, outcome.stats.cached_tokens > 0))
            looks.clear()
        assert engine.close()
    assert worked == [(True, False), (False, True), (False, True), (False, True)]


@pytest.mark.parametrize("kept", [True, False])
def test_a_picture_is_kept_as_long_as_its_conversation(kept: bool, main: Path, looks: list[int]) -> None:
    """In an engine of its own: others' chats, which have no conversation, begin alike and stay."""
    engine = Engine()
    client = EngineClient(engine)
    client.load(main)
    request = replace(asking(CHATS["long"]), conversation="of the picture")
    client.run(request)
    engine.keep_only([request.conversation if kept else "another"])
    looks.clear()
    outcome = client.run(request)
    assert (not looks, outcome.stats.cached_tokens > 0) == (kept, kept)
    assert engine.close()


def test_a_look_takes_turns_with_another_reply_and_ends_with_stop(
    client: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits, waits for one step of the tower, where these take long."""
    monkeypatch.setattr(seeing_module, "ENCODING_S", 0.0)
    asked_for, ends, done = queue.SimpleQueue[RequestId](), queue.SimpleQueue[Event](), list[str]()
    look, close = SequencePictures.encode, Sequence.close_step

    def looking(self: SequencePictures, start: int, end: int) -> None:
        done.append("look")
        if done.count("look") == 2:
            client.engine.cancel(asked_for.get(timeout=PATIENCE_S))
        look(self, start, end)

    def closing(self: Sequence, kept: int) -> None:
        done.append("step")
        close(self, kept)

    def begin(_id: RequestId, event: Event) -> None:
        if isinstance(event, PromptProgress) and asked_for.empty() and not done.count("look"):
            asked_for.put(client.engine.submit(asking((asked("", picture(64, 64, seed=9)),)), ends.put))

    monkeypatch.setattr(SequencePictures, "encode", looking)
    monkeypatch.setattr(Sequence, "close_step", closing)
    client.run(asking((asked("Only text."),), tokens=60), begin)
    while not isinstance(end := ends.get(timeout=PATIENCE_S), Finished):
        pass
    assert end.reason is FinishReason.CANCELLED
    assert done.count("look") == 2
    assert "look look" not in " ".join(done)


def test_one_pixel_parts_two_chats_at_the_picture(client: EngineClient, main: Path) -> None:
    at = next(i for i, token in enumerate(prompt_tokens(asking(SHORT), load_model(main))) if token >= FIRST_NAME)
    pixels = np.frombuffer(SMALL.rgb, np.uint8).reshape(SMALL.height, SMALL.width, 3).copy()
    pixels[17, 11, 2] ^= 1
    client.run(asking(SHORT))
    same = client.run(asking(SHORT)).stats
    other = client.run(asking((asked("What is it?", as_picture(pixels)),))).stats
    assert same.cached_tokens > at + 16
    assert other.cached_tokens <= at


def test_pictures_and_text_share_a_batch(client: EngineClient, plain: dict[tuple[str, str], Outcome]) -> None:
    text = asking((asked("Nothing to be seen here."),))
    alone = client.run(text).tokens
    requests = [asking(SHORT), text, asking(CHATS["long"]), asking(SHORT, sampling=HOT)]
    ends = client.run_all(requests)
    wanted = [plain["short", "greedy"].tokens, alone, plain["long", "greedy"].tokens, plain["short", "hot"].tokens]
    assert [end.tokens for end in ends] == wanted
    assert any(end.stats.shared_rounds for end in ends)


def test_chats_of_text_alone_meet_no_hook(client: EngineClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*modules: object) -> None:
        raise AssertionError("a hook in a chat of text")

    monkeypatch.setattr("engine.vision.seeing.hooked", refused)
    assert len(client.run(asking((asked("Nothing to be seen here."),), tokens=4)).tokens) == 4


def test_a_placeholder_that_a_user_writes_is_text(main: Path) -> None:
    model = load_model(main)
    tokens = prompt_tokens(asking((asked(f"a {PLACEHOLDER} b", SMALL),)), model)
    assert model.vision is not None
    size = SMALL.width, SMALL.height
    assert sum(token >= FIRST_NAME for token in tokens) == model.vision.tokens(*size, PictureDetail.NORMAL)
    assert model.vision.placeholder not in without_names(tokens)


def test_a_pictures_own_detail_goes_before_the_requests(main: Path) -> None:
    """So a turn's tokens stay as they are, whatever a later one asks for."""
    model, large = load_model(main), picture(400, 400)
    assert model.vision is not None
    model = replace(model, vision=replace(model.vision, most_pixels=400 * 400))

    def sizes(shown: list[Picture], usual: PictureDetail) -> list[int]:
        assert model.vision is not None
        request = replace(asking((asked("What is it?", *shown),)), picture_detail=usual)
        return [span.end - span.start for span in spans_in(prompt_tokens(request, model), shown, model.vision, usual)]

    alone = [sizes([large], usual)[0] for usual in PictureDetail]
    together = sizes([large, *(replace(large, detail=each) for each in PictureDetail)], PictureDetail.LOW)
    assert together == [alone[0], *alone]


def test_a_placeholder_in_a_call_or_a_tool_is_text(main: Path) -> None:
    """As an agent has it that works on a program which reads pictures."""
    call = ToolCall("1", "find", json.dumps({"word": PLACEHOLDER}))
    chat = (asked("Look.", SMALL), Message(MessageRole.ASSISTANT, "", tool_calls=(call,)), asked("And?"))
    tool = {"type": "function", "function": {"name": "find", "description": f"Finds {PLACEHOLDER}"}}
    model = load_model(main)
    source = json.loads((main / "tokenizer_config.json").read_text())["chat_template"]
    source += "{{ tools }}{% for message in messages %}{{ message.tool_calls }}{% endfor %}"
    model = replace(model, template=ChatTemplate(source, {}))
    request = replace(asking(chat), template_variables={"tools": [tool]})
    tokens = prompt_tokens(request, model)
    assert model.vision is not None
    assert model.vision.placeholder not in without_names(tokens)


def answered(*pictures: Picture) -> tuple[Message, ...]:
    """A chat that ends in the answer of a tool."""
    call = ToolCall("abcdefghi", "look", "{}")
    answer = Message(MessageRole.TOOL, "Here.", tool_call_id=call.id, name="look", pictures=pictures)
    return asked("What is there?"), Message(MessageRole.ASSISTANT, "", tool_calls=(call,)), answer


def test_a_picture_in_an_answer_of_a_tool_is_seen(client: EngineClient, main: Path, looks: list[int]) -> None:
    seen, unseen = (client.run(replace(asking(answered(*each)), transient=True)) for each in ((SMALL,), ()))
    assert looks
    shown = picture_tokens(str(main), SMALL.width, SMALL.height)
    assert seen.stats.prompt_tokens >= unseen.stats.prompt_tokens + shown > unseen.stats.prompt_tokens


def test_where_a_template_has_no_place_for_that_the_text_says_so(main: Path) -> None:
    model = load_model(main)
    written = "{% for m in messages %}{{ m.role }}: {% if m.role == 'tool' %}{{ m.content }}{% endif %}\n{% endfor %}"
    only_text = written.replace("{{ m.content }}", "{{ m.content | map(attribute='text') | join }}")
    for template in (written, only_text, "{{ raise_exception('no tools') }}"):
        other = replace(model, template=ChatTemplate(template, {}), beside={})
        (*_, answer) = with_places(asking(answered(SMALL, WIDE)), other).messages
        said = "Here.\n\nPicture that is not shown\n\nPicture that is not shown"
        assert (answer.content, answer.pictures) == (said, ())
    assert with_places(asking(answered(SMALL)), model).messages[-1].pictures == (SMALL,)


def test_without_a_template_a_picture_is_refused(seeing: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(seeing["qwen3_5"], tmp_path / "base"))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    del settings["chat_template"]
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    model = load_model(folder)
    assert prompt_tokens(asking((asked("What is it?"),)), model)
    with pytest.raises(TemplateFailed, match="no place"):
        prompt_tokens(asking(SHORT), model)
    with pytest.raises(CannotSee):
        prompt_tokens(asking(SHORT), replace(model, vision=None))


def keep_tensors(folder: Path, kept: Callable[[str], bool], changed: Mapping[str, mx.array] | None = None) -> None:
    weights = mx.load(str(folder / "model.safetensors"))
    assert isinstance(weights, dict)
    left = {name: weight for name, weight in weights.items() if kept(name)} | dict(changed or {})
    mx.eval(left)
    mx.save_safetensors(str(folder / "model.safetensors"), left, {"format": "mlx"})


def test_a_model_without_its_tower_says_so(main: Path, tmp_path: Path) -> None:
    shutil.copytree(main, tmp_path / "blind")
    keep_tensors(tmp_path / "blind", lambda name: not re.search("vision_(tower|embedder)", name))
    assert inspect_model(main).sees
    assert not inspect_model(tmp_path / "blind").sees
    client = check_cannot_see(tmp_path / "blind", SightRefusal.LEFT_OUT)
    assert client.engine.close()


def check_cannot_see(folder: Path, why: SightRefusal) -> EngineClient:
    client = EngineClient(Engine())
    client.load(folder)
    error = client.run(asking(SHORT)).failed.error
    assert isinstance(error, CannotSee)
    assert error.why is why
    return client


@pytest.mark.parametrize("fault", ["missing", "shape"])
def test_a_damaged_tower_is_said(main: Path, tmp_path: Path, fault: str) -> None:
    shutil.copytree(main, tmp_path / "bad")
    names = sorted(str(name) for name in mx.load(str(main / "model.safetensors")))
    name = next(
        name for name in names if re.search(r"vision_tower.*\.1\.(mlp|feed_forward).*weight|patch_ln2.weight", name)
    )
    changed = {name: mx.zeros((3, 5))} if fault == "shape" else {}
    keep_tensors(tmp_path / "bad", lambda each: each != name, changed)
    client = check_cannot_see(tmp_path / "bad", SightRefusal.DAMAGED)
    assert client.run(asking((asked("Only text."),), tokens=4)).tokens
    assert client.engine.close()


@pytest.mark.costly
@pytest.mark.parametrize("kind", CONFIGS)
def test_a_quantized_tower_sees_about_the_same(kind: str, seeing: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(seeing[kind], tmp_path / "quantized")
    weights = mx.load(str(seeing[kind] / "model.safetensors"))
    assert isinstance(weights, dict)
    tower = {
        name.removesuffix(".weight"): weight
        for name, weight in weights.items()
        if re.search(r"(mlp|attn|attention|feed_forward|pos_embed|position_embedding|projection|dense).*\.weight", name)
        and not name.startswith(("language_model", "mtp")) and weight.ndim == 2 and weight.shape[1] % 32 == 0
    }  # fmt: skip
    changed: dict[str, mx.array] = {}
    for name, weight in tower.items():
        parts = mx.quantize(weight, group_size=32, bits=8)
        changed |= {f"{name}.{part}": array for part, array in zip(("weight", "scales", "biases"), parts, strict=True)}
    keep_tensors(tmp_path / "quantized", lambda name: True, changed)
    exact, near = (rows_of(load_model(folder)) for folder in (seeing[kind], tmp_path / "quantized"))
    assert changed
    assert 0 < float(mx.abs(exact - near).max()) < 0.1 * float(mx.abs(exact).max())


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_tower_in_half_precision_sees_about_the_same(
    kind: str, seeing: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU, and no forward widens it."""
    shutil.copytree(seeing[kind], tmp_path / "half")
    weights = mx.load(str(seeing[kind] / "model.safetensors"))
    assert isinstance(weights, dict)
    halved = {name: weight.astype(mx.bfloat16) for name, weight in weights.items() if weight.dtype == mx.float32}
    keep_tensors(tmp_path / "half", lambda _name: True, halved)
    exact = rows_of(load_model(seeing[kind]))
    for place in ("engine.vision.towers.tensors.widens", "engine.models.networks.widens"):
        monkeypatch.setattr(place, lambda: False)
    near = rows_of(load_model(tmp_path / "half"))
    assert near.dtype == mx.bfloat16
    assert 0 < float(mx.abs(exact - near).max()) < 0.1 * float(mx.abs(exact).max())


@pytest.mark.parametrize("mode", ["affine", "mxfp4", "mxfp8", "nvfp4"])
def test_towers_are_read_however_they_are_quantized(mode: str, tmp_path: Path) -> None:
    weight, rows = mx.random.normal((8, 64), key=mx.random.key(0)), mx.random.normal((3, 64), key=mx.random.key(1))
    parts = mx.quantize(weight, mode=mode)
    named = zip(("weight", "scales", "biases"), parts, strict=False)
    mx.save_safetensors(str(tmp_path / "model.safetensors"), {f"vision_tower.map.{name}": part for name, part in named})
    tensors, whole = Tensors(str(tmp_path), Tower.PIXTRAL), mx.dequantize(*parts, mode=mode)
    assert float(mx.abs(tensors.linear(rows, "map") - rows @ whole.T).max()) < 1e-4
    assert float(mx.abs(tensors.table("map", 64) - whole).max()) < 1e-6


def test_towers_packed_in_groups_of_nothing_are_refused(tmp_path: Path) -> None:
    parts = {"weight": mx.zeros((8, 8), mx.uint32), "scales": mx.ones((8, 65)), "biases": mx.ones((8, 65))}
    mx.save_safetensors(
        str(tmp_path / "model.safetensors"), {f"vision_tower.map.{name}": parts[name] for name in parts}
    )
    with pytest.raises(ValueError, match="packed in groups of 0"):
        Tensors(str(tmp_path), Tower.PIXTRAL).table("map", 64)


def rows_of(model: LoadedModel) -> mx.array:
    """Of SMALL, for the embedding."""
    assert model.vision is not None
    (span,) = spans_in(prompt_tokens(asking(SHORT), model), (SMALL,), model.vision, PictureDetail.NORMAL)
    work = ModelVision.of(model).rows(span)
    while True:
        try:
            next(work)
        except StopIteration as done:
            rows: list[mx.array] = done.value
            return rows[0]


def test_memory_counts_the_tower_and_a_look(main: Path, tmp_path: Path) -> None:
    shutil.copytree(main, tmp_path / "blind")
    keep_tensors(tmp_path / "blind", lambda name: not re.search("vision_(tower|embedder)", name))
    sees, blind = load_model(main), load_model(tmp_path / "blind")
    tower = sees.need.weight_bytes - blind.need.weight_bytes
    assert tower >= inspect_model(main).weight_bytes - inspect_model(tmp_path / "blind").weight_bytes - 16_000
    assert sees.need.fixed_bytes > blind.need.fixed_bytes
    assert inspect_model(main).loaded_bytes == inspect_model(main).weight_bytes


def test_a_look_that_does_not_fit_ends_its_reply_and_no_other(
    client: EngineClient, main: Path, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, room = list[int](), [1 << 60]

    def lacks(size: int) -> bool:
        sizes.append(size)
        return size > room[0]

    monkeypatch.setattr("engine.runtime.pair.lacks", lacks)
    small, large = (asking((asked("", picture(side, side, seed=11)),), tokens=4) for side in (30, 120))
    for each in (small, large):
        assert client.run(each).reason is FinishReason.LENGTH
        room.append(max(sizes))
        sizes.clear()
    vision = load_model(main).vision
    assert vision is not None
    read_as = {vision.size(side, side, PictureDetail.NORMAL) for side in (30, 120)}  # some families know one size
    assert 0 < room[1] <= room[2]
    assert (room[1] < room[2]) == (len(read_as) == 2)
    room[0] = room[2] - 1
    looks.clear()
    ends = client.run_all([replace(large, transient=True), replace(asking((asked("Hello."),), tokens=4))])
    error = ends[0].failed.error
    assert isinstance(error, PictureTooLarge)
    assert (error.needed_bytes, ends[1].reason) == (room[2], FinishReason.LENGTH)
    assert not looks


@pytest.mark.costly
@pytest.mark.parametrize("kind", CONFIGS)
def test_a_picture_is_the_same_in_however_many_steps(
    kind: str, seeing: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rows_of(load_model(seeing[kind]))
    monkeypatch.setattr(steps, "_STEP_FLOPS", 0.0)
    monkeypatch.setattr(steps, "_LEAST_ROWS", 8)
    monkeypatch.setattr(steps, "queries_at_once", lambda patches: 4)
    cut = rows_of(load_model(seeing[kind]))
    assert mx.array_equal(whole, cut)


def test_numbers_that_contradict_one_another_are_a_damaged_tower(tmp_path: Path) -> None:
    for wrong in ({"mm_tokens_per_image": -1}, {"mm_tokens_per_image": 0}, {"boi_token_index": -1}):
        (tmp_path / "config.json").write_text(json.dumps(CONFIGS["gemma3"] | wrong))
        with pytest.raises(CannotSee) as caught:
            picture_tokens(str(tmp_path), 40, 30)
        assert caught.value.why is SightRefusal.DAMAGED
