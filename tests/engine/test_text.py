"""Tokens to spans of text: every cut of the same tokens gives the same spans, and no half marker ever shows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.tokenizer_utils import SPMStreamingDetokenizer
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from engine import Constraint, ConstraintKind, Message, MessageRole, Request, Sampling, SpanKind, TextDelta
from engine.decoding.prompt import Prompt, encode, grammar_of
from engine.decoding.text import TextDecoder
from engine.models.loading import LoadedModel, _load_tokenizer
from engine.models.templates import ChatTemplate
from engine.runtime.output import _text_of
from tests.engine.batch_harness import Harness
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import CHAT_TEMPLATE, byte_tokenizer, rewrite, save_small, save_tokenizer


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model whose vocabulary has thinking markers, as Qwen3's."""
    return load_model(save_small(tmp_path_factory.mktemp("thinker"), "<think>", "</think>"))


def spans(model: LoadedModel, text: str, stops: tuple[str, ...] = (), prompt: str = "") -> dict[SpanKind, str]:
    reply = TextDecoder(model, encode(prompt, model) if prompt else [], stops)
    found = {SpanKind.ANSWER: "", SpanKind.THINKING: ""}
    for token in encode(text, model):
        for span in reply.push(token):
            assert span.text
            found[span.kind] += span.text
        if reply.stopped:
            break
    for span in reply.finish():
        found[span.kind] += span.text
    return found


def test_a_reply_that_goes_on_keeps_its_blank_lines(thinker: LoadedModel) -> None:
    reply = TextDecoder(thinker, encode("one:", thinker), (), within=True)
    said = [span for token in encode("\n\n- two", thinker) for span in reply.push(token)] + reply.finish()
    assert "".join(span.text for span in said) == "\n\n- two"


def test_a_raw_text_is_continued_with_the_model_s_own_marks(thinker: LoadedModel) -> None:
    """Who writes the template reads them, and joins them to the text for the next turn."""
    reply = _text_of(Request(text="x"), thinker, Prompt(encode("x", thinker), 0, 0, 0))
    said = "<think>\na</think>\n\nb"
    spans = [span for token in encode(said, thinker) for span in reply.push(token)] + reply.finish()
    assert "".join(span.text for span in spans) == said
    assert {span.kind for span in spans} == {SpanKind.ANSWER}


def test_the_earliest_stop_string_wins(thinker: LoadedModel) -> None:
    assert spans(thinker, "one two three", stops=("three", "wo t", "two thr"))[SpanKind.ANSWER] == "one t"
    assert spans(thinker, "one zbc", stops=("c", "zbc"))[SpanKind.ANSWER] == "one "  # both end with the same letter


OPENS, CLOSES = "<think>", "</think>"


def cut(text: str, stops: tuple[str, ...]) -> list[tuple[SpanKind, str]]:
    """Read letter by letter: a marker counts once its last letter is there, the longest if several end there."""
    kind, said, spans = SpanKind.ANSWER, "", list[tuple[SpanKind, str]]()
    for letter in text:
        said += letter
        switch = CLOSES if kind is SpanKind.THINKING else OPENS
        ended = max((marker for marker in (*stops, switch) if said.endswith(marker)), key=len, default="")
        if ended:
            spans.append((kind, said.removesuffix(ended)))
            if ended in stops:
                return spans
            kind, said = SpanKind.ANSWER if kind is SpanKind.THINKING else SpanKind.THINKING, ""
    return [*spans, (kind, said)]


PIECES = ("a", "b", "END", "EN", "D", OPENS, CLOSES, "</", "think>", "\n", "\n\n", "가", "é", "😀", "ENDED")


@settings(max_examples=150, deadline=None)
@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=14),
    stops=st.sampled_from([(), ("END",), ("NDa", "END"), ("b\n", "가"), ("ENDED", "b"), ("a", "")]),
)
def test_thoughts_and_answers_are_those_of_the_whole_text(
    thinker: LoadedModel, pieces: list[str], stops: tuple[str, ...]
) -> None:
    """Blank lines at the start of a span are none of it; nothing comes behind a stop string."""
    text = "".join(pieces)
    expected = {SpanKind.ANSWER: "", SpanKind.THINKING: ""}
    for kind, said in cut(text, tuple(filter(None, stops))):
        expected[kind] += said.lstrip("\n")

    assert spans(thinker, text, stops) == expected


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.sampled_from(["a", "b", "E", "EN", "NE", "N", "D", "EE"]), max_size=14),
    stops=st.sampled_from([(), ("END",), ("EEND", "ENa"), ("NN", "bED")]),
)
def test_only_what_may_become_a_marker_is_held_back(
    thinker: LoadedModel, pieces: list[str], stops: tuple[str, ...]
) -> None:
    """After each token everything is out but the longest end of the text that a stop string starts with."""
    reply, said, out = TextDecoder(thinker, [], stops), "", ""
    for letter in "".join(pieces):
        (token,) = encode(letter, thinker)
        out += "".join(span.text for span in reply.push(token))
        said += letter
        if any(stop in said for stop in stops):
            assert reply.stopped
            assert (reply.push(token), reply.finish()) == ([], [])
            return
        starts = {stop[:length] for stop in stops for length in range(1, len(stop))}
        held = max((start for start in starts if said.endswith(start)), key=len, default="")
        assert out == said.removesuffix(held)
    assert not reply.stopped


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("<think>", SpanKind.THINKING),
        ("a<think>b", SpanKind.THINKING),
        ("<think>a</think>b<think>c", SpanKind.THINKING),
        ("<think>a</think>", SpanKind.ANSWER),
        ("</think>", SpanKind.ANSWER),
        ("abc", SpanKind.ANSWER),
        ("<think>" + 63 * "a", SpanKind.THINKING),
        ("<think>" + 64 * "a", SpanKind.ANSWER),  # so far back a user has quoted it
    ],
)
def test_a_reply_begins_within_the_thinking_that_its_prompt_leaves_open(
    thinker: LoadedModel, prompt: str, kind: SpanKind
) -> None:
    assert spans(thinker, "x", prompt=prompt)[kind] == "x"


@pytest.fixture(scope="module")
def speller(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model whose thinking begins with a marker of eight tokens, as Gemma 4's."""
    return load_model(save_small(tmp_path_factory.mktemp("speller"), "<|channel>", "<channel|>"))


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("<|channel>thought", SpanKind.THINKING),
        ("<channel|>a<|channel>thoughtb", SpanKind.THINKING),
        ("<|channel>thought a<channel|>", SpanKind.ANSWER),
        ("<|channel>thoug", SpanKind.ANSWER),
        ("thought", SpanKind.ANSWER),
    ],
)
def test_markers_of_several_tokens_are_found_in_the_prompt(speller: LoadedModel, prompt: str, kind: SpanKind) -> None:
    assert speller.marks.thinking is not None
    assert len(speller.marks.thinking.opening) == 8
    assert spans(speller, "x", prompt=prompt)[kind] == "x"


def test_without_thinking_a_text_keeps_its_blank_lines_and_markers(tmp_path: Path) -> None:
    model = load_model(save_small(tmp_path))
    text = "\n\n<think>a</think>\nb"
    assert spans(model, text, prompt="<think>") == {SpanKind.ANSWER: text, SpanKind.THINKING: ""}


def test_what_pads_the_output_layer_has_no_text(tmp_path: Path) -> None:
    """SentencePiece's detokenizer knows no such token, and would raise."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁a", "b"]
    tokenizer = Tokenizer(models.BPE({piece: at for at, piece in enumerate(pieces)}, [], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    model = load_model(save_small(tmp_path, tokenizer=tokenizer))
    assert type(model.tokenizer.detokenizer) is SPMStreamingDetokenizer

    reply = TextDecoder(model, [], ())
    first, second = pieces.index("▁a"), pieces.index("b")
    told = [span.text for token in (first, model.logit_width - 1, second) for span in reply.push(token)]
    assert told == ["a", "b"]


@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
def test_what_stands_for_a_sound_is_never_written(tmp_path: Path, file: str) -> None:
    """Gemma 4 12B writes <audio|> in the middle of a text."""
    save_small(tmp_path)

    def likeliest() -> int:
        return int(load_model(tmp_path).network(mx.array([[1]]))[0, -1].argmax().item())

    first = likeliest()
    if file == "config.json":
        rewrite(tmp_path / file, eoa_token_id=first)
    else:
        (tmp_path / file).write_text(json.dumps({"suppress_tokens": [first, "x", -1]}))
    assert likeliest() != first


def test_tokens_of_bytes_are_read_as_bytes_whatever_decoder_a_folder_has(tmp_path: Path) -> None:
    """Converted folders of Mistral's have SentencePiece's: each space was shown as Ġ."""
    tokenizer = byte_tokenizer()
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    model = load_model(save_small(tmp_path, tokenizer=tokenizer))
    text = "안녕, a b\n"
    assert spans(model, text)[SpanKind.ANSWER] == text
    assert model.tokenizer.decode(encode(text, model)) == text


@pytest.mark.parametrize(("sign", "cut"), [("[INST]", ["e", "B", "a", "y"]), ("other", ["eB", "a", "y"])])
def test_mistrals_words_are_cut_as_its_models_were_trained(tmp_path: Path, sign: str, cut: list[str]) -> None:
    """Folders of 2025 have a pattern that does not cut before a capital letter. Its networks may have other words."""
    pieces = [*pre_tokenizers.ByteLevel.alphabet(), "eB", sign, *(f"~{at}" for at in range(100_000))]
    tokenizer = Tokenizer(models.BPE({piece: at for at, piece in enumerate(pieces)}, [("e", "B")]))
    words = pre_tokenizers.Split(Regex(r"\p{L}+"), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, level])
    tokenizer.decoder = decoders.ByteLevel()
    save_tokenizer(tmp_path, tokenizer)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "mistral"}))
    mended = _load_tokenizer(tmp_path, len(pieces))
    assert [mended.decode([token]) for token in mended.encode("eBay")] == cut


def test_where_some_ids_have_no_token_the_others_have_their_texts(tmp_path: Path) -> None:
    """As in the vocabularies of OpenAI's models: the last ids are then beyond the number of tokens."""
    save_small(tmp_path)
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text())
    for added in content["added_tokens"]:
        added["id"] += 10
        content["model"]["vocab"][added["content"]] = added["id"]
    file.write_text(json.dumps(content))
    rewrite(tmp_path / "config.json", eos_token_id=267)
    model = load_model(tmp_path)
    assert spans(model, "a<|endoftext|>b")[SpanKind.ANSWER] == "a<|endoftext|>b"

    reply = TextDecoder(model, [], ())
    said = [span.text for token in (*encode("a", model), 260, *encode("b", model)) for span in reply.push(token)]
    assert said == ["a", "b"]
    asked = Request((Message(MessageRole.USER, "x"),), constraint=Constraint(ConstraintKind.REGEX, "ab"))
    grammar = grammar_of(asked, model)
    assert grammar is not None
    assert grammar.alone.validate_tokens([*encode("ab", model), 267]) == 3


@pytest.mark.parametrize("stripped", [True, False], ids=["stripped", "metaspace"])
def test_a_line_keeps_the_spaces_that_it_begins_with(tmp_path: Path, stripped: bool) -> None:
    """Of tokenizers for which mlx-lm has no detokenizer: it decodes each line as a text, which begins without them."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁if", "▁▁▁▁", "b", "\n", "\n\n"]
    tokenizer = Tokenizer(models.BPE({piece: at for at, piece in enumerate(pieces)}, [], byte_fallback=True))
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence([*parts, decoders.Fuse()] if stripped else [decoders.Metaspace()])
    model = load_model(save_small(tmp_path, tokenizer=tokenizer))
    written = ["▁if", "b", "\n", "▁▁▁▁", "b", "\n\n", "▁if", "\n", "\n", "b"]
    written += ["\n", "<0xEA>", "<0xB0>", "<0x80>"] if stripped else []

    reply = TextDecoder(model, [], ())
    said = [span.text for piece in written for span in reply.push(pieces.index(piece))]
    said += [span.text for span in reply.finish()]
    assert "".join(said) == "ifb\n    b\n\n if\n\nb" + "\n가" * stripped


def test_half_a_character_at_the_end_of_a_reply_is_shown_as_such(thinker: LoadedModel) -> None:
    """It waits for its other bytes as long as tokens come, and behind it nothing is lost."""
    reply = TextDecoder(thinker, [], ())
    whole, half = encode("a가", thinker), encode("나", thinker)[:2]
    out = [span.text for token in (*whole, *half) for span in reply.push(token)]
    assert "".join(out) == "a가"
    assert "".join(span.text for span in reply.finish()) in ("\ufffd", "\ufffd\ufffd")


@pytest.mark.parametrize(
    ("opens", "kind"),
    [("", SpanKind.ANSWER), ("<think>\n", SpanKind.THINKING), ("<think>\n\n</think>", SpanKind.ANSWER)],
)
@pytest.mark.parametrize("question", ["What does <think> mean?", "And </think>?"])
def test_a_marker_that_the_person_quotes_opens_and_closes_nothing(
    thinker: LoadedModel, question: str, opens: str, kind: SpanKind
) -> None:
    """Only what the template itself puts behind the turn says whether the reply begins with thinking."""
    template = ChatTemplate(CHAT_TEMPLATE.replace("assistant\n", "assistant\n" + opens), {})
    model = replace(thinker, template=template, beside={})
    harness = Harness(model)
    asked = Request(messages=(Message(MessageRole.USER, question),), max_tokens=3)
    recorder = harness.submit(replace(asked, sampling=Sampling(logit_bias=((65, 100.0),))))
    harness.run_dry()
    told = [event for event in recorder.events if isinstance(event, TextDelta)]
    assert {event.kind for event in told} == {kind}
    assert recorder.text == 3 * model.tokenizer.decode([65])


LONG = "It is about rain. " * 6


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("<think>\n" + LONG, SpanKind.THINKING),
        ("<think>\nRain.", SpanKind.THINKING),
        ("<think>\nRain.\n</think>\n\n" + LONG, SpanKind.ANSWER),
        ("Rain.", SpanKind.ANSWER),
        (LONG, SpanKind.ANSWER),
    ],
)
@pytest.mark.parametrize("question", ["What does <think> mean?", "And </think>?"])
def test_a_reply_that_goes_on_goes_on_with_what_it_was_at(
    thinker: LoadedModel, question: str, said: str, kind: SpanKind
) -> None:
    """However long it has been at that, and whatever the question quotes."""
    assert kinds_after(thinker, question, said) == {kind}


@pytest.mark.parametrize(("said", "kind"), [("<think>\n" + LONG, SpanKind.THINKING), (LONG, SpanKind.ANSWER)])
def test_a_reply_goes_on_thinking_though_nobody_can_tell_where_it_began(
    thinker: LoadedModel, said: str, kind: SpanKind
) -> None:
    refuses = "{% if messages[-1].role == 'user' %}{{ raise_exception('an answer has to follow') }}{% endif %}"
    model = replace(thinker, template=ChatTemplate(refuses + CHAT_TEMPLATE, {}), beside={})
    assert kinds_after(model, "Why?", said) == {kind}


def kinds_after(model: LoadedModel, question: str, said: str) -> set[SpanKind]:
    """Of what the model writes where it has said so much."""
    harness = Harness(model)
    messages = (Message(MessageRole.USER, question), Message(MessageRole.ASSISTANT, said))
    asked = Request(messages=messages, max_tokens=3, sampling=Sampling(logit_bias=((65, 100.0),)))
    recorder = harness.submit(asked)
    harness.run_dry()
    return {event.kind for event in recorder.events if isinstance(event, TextDelta)}
