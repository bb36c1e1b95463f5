"""Tokens to spans of text: every cut of the same tokens gives the same spans, and no half marker ever shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from engine import SpanKind
from engine.decoding.text import ReplyText, encode
from engine.models.loading import LoadedModel, load_model
from tests.helpers.tiny_models import build, byte_tokenizer, qwen3_config, save


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model whose vocabulary has thinking markers, as Qwen3's."""
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens([AddedToken("<think>"), AddedToken("</think>")])
    config = qwen3_config(num_hidden_layers=1)
    return load_model(save(build(config), config, Path(tmp_path_factory.mktemp("thinker")), tokenizer))


def spans(model: LoadedModel, text: str, stops: tuple[str, ...] = (), prompt: str = "") -> dict[SpanKind, str]:
    reply = ReplyText(model, encode(prompt, model) if prompt else [], stops)
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


def test_thinking_is_kept_apart(thinker: LoadedModel) -> None:
    found = spans(thinker, "<think>\nFirst, 가나다.\n</think>\n\nThe answer: 라마바.")

    assert found == {SpanKind.THINKING: "First, 가나다.\n", SpanKind.ANSWER: "The answer: 라마바."}


def test_a_template_may_open_the_thinking_itself(thinker: LoadedModel) -> None:
    found = spans(thinker, "hm</think>yes", prompt="<|im_start|>assistant\n<think>\n")

    assert found == {SpanKind.THINKING: "hm", SpanKind.ANSWER: "yes"}


def test_thinking_that_was_closed_in_the_prompt_stays_closed(thinker: LoadedModel) -> None:
    assert spans(thinker, "yes", prompt="<think>\n\n</think>\n\n")[SpanKind.ANSWER] == "yes"


def test_a_reply_that_goes_on_keeps_the_space_before_its_next_word(thinker: LoadedModel) -> None:
    reply = ReplyText(thinker, encode("one two", thinker), (), within=True)
    said = [span for token in encode(" three", thinker) for span in reply.push(token)] + reply.finish()
    assert "".join(span.text for span in said) == " three"


def test_a_reply_that_goes_on_keeps_its_blank_lines(thinker: LoadedModel) -> None:
    reply = ReplyText(thinker, encode("one:", thinker), (), within=True)
    said = [span for token in encode("\n\n- two", thinker) for span in reply.push(token)] + reply.finish()
    assert "".join(span.text for span in said) == "\n\n- two"


def test_what_only_looks_like_a_marker_is_text(thinker: LoadedModel) -> None:
    assert spans(thinker, "a </thin b ENX", stops=("END",))[SpanKind.ANSWER] == "a </thin b ENX"


def test_the_earliest_stop_string_wins(thinker: LoadedModel) -> None:
    assert spans(thinker, "one two three", stops=("three", "wo t", "two thr"))[SpanKind.ANSWER] == "one t"


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(alphabet="abEND<>/thinkあ가😀\n", max_size=40),
    stops=st.sampled_from([(), ("END",), ("aE", "b"), ("가\n",)]),
)
def test_spans_equal_what_cutting_the_whole_text_gives(thinker: LoadedModel, text: str, stops: tuple[str, ...]) -> None:
    """Token by token, the answer is exactly the whole text up to the first stop string."""
    at = min((text.index(stop) for stop in stops if stop in text), default=len(text))

    assert spans(thinker, text, stops)[SpanKind.ANSWER].lstrip("\n") == text[:at].lstrip("\n")
