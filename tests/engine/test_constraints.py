"""A constrained reply matches its grammar, and its text is the same with any draft, alone or among others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest
from tokenizers import Tokenizer, normalizers
from tokenizers import models as models_of

from engine import (
    Acceptance,
    Constraint,
    ConstraintKind,
    Finished,
    FinishReason,
    InvalidRequest,
    Message,
    MessageRole,
    Request,
    Sampling,
    Speculation,
    schema_begins,
)
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.constraint import _texts, _Tokens, compiled, part_of
from engine.decoding.guide import Guide, ThinkingMarkers
from engine.models.loading import LoadedModel
from tests.engine.batch_harness import GREEDY, Recorder, written
from tests.engine.conftest import WIDTH
from tests.helpers.round_check import check_rounds
from tests.helpers.tiny_models import byte_tokenizer

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8, "pattern": "^[a-z]+$"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "kind": {"enum": ["adult", "child"]},
    },
    "required": ["name", "age", "kind"],
    "additionalProperties": False,
}
JSON = Constraint(ConstraintKind.JSON, json.dumps(PERSON))
REGEX = Constraint(ConstraintKind.REGEX, r"(ab|cd){3,5}/[0-9]{2}")
SAMPLED = Sampling(temperature=0.8, seed=5, top_p=0.9, repetition_penalty=1.2)
NONE = "no draft"


@pytest.fixture
def models(thinkers: dict[str, LoadedModel]) -> dict[str, LoadedModel]:
    return thinkers


def asking(
    constraint: Constraint | None, sampling: Sampling, speculation: Speculation, prompt: Sequence[int] = (65, 66, 67)
) -> Request:
    return Request(
        tokens=tuple(prompt),
        constraint=constraint,
        sampling=sampling,
        speculation=speculation,
        max_tokens=160,
        trace=True,
    )


def is_person(text: str) -> bool:
    value = json.loads(text)
    return (
        list(value) == ["name", "age", "kind"]
        and 0 < len(value["name"]) <= 8
        and type(value["age"]) is int
        and 0 <= value["age"] <= 150
        and value["kind"] in ("adult", "child")
    )


@pytest.mark.costly
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("constraint", [JSON, REGEX], ids=["json", "regex"])
def test_text_never_depends_on_the_proposer(
    models: dict[str, LoadedModel], constraint: Constraint, sampling: Sampling
) -> None:
    (plain,) = written(models, NONE, asking(constraint, sampling, Speculation.off()))
    assert plain.finished.reason is FinishReason.STOP
    if constraint is JSON:
        assert is_person(plain.text)
    for draft, speculation in ((NONE, Speculation.fixed(2)), ("close", Speculation.fixed(5))):
        (drafted,) = written(models, draft, asking(constraint, sampling, speculation))
        assert drafted.tokens == plain.tokens
        check_rounds(drafted.finished)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("sampling", "speculation"),
    [(GREEDY, Speculation.fixed(4)), (SAMPLED, Speculation.off()), (SAMPLED, Speculation.fixed(4))],
    ids=["greedy, drafted", "sampled, plain", "sampled, drafted"],
)
def test_text_is_the_same_in_company(
    models: dict[str, LoadedModel], sampling: Sampling, speculation: Speculation
) -> None:
    """Beside another constrained reply, and one without constraint."""
    requests = [
        asking(JSON, sampling, speculation),
        replace(asking(None, sampling, speculation, (70, 71)), max_tokens=40),
        asking(REGEX, sampling, speculation, (80, 81, 82, 83)),
    ]
    together = written(models, "close", *requests)
    assert max(each.finished.stats.shared_rounds for each in together) > 5
    for request, beside in zip(requests, together, strict=True):
        (alone,) = written(models, NONE, replace(request, speculation=Speculation.off()))
        assert beside.tokens == alone.tokens
    assert is_person(together[0].text)


def test_what_is_drafted_behind_the_end_of_a_match_counts_as_nothing(models: dict[str, LoadedModel]) -> None:
    """Neither as drafted nor as rejected, although the grammar allows no token there."""
    letters = Constraint(ConstraintKind.REGEX, "[a-c]{4,6}")
    for seed in range(8):
        sampling = Sampling(temperature=0.8, seed=seed)
        asked = [asking(letters, sampling, Speculation.fixed(3), (65, 66, 67 + row)) for row in range(2)]
        for reply in written(models, "close", *asked):
            check_rounds(reply.finished)


@pytest.mark.parametrize("begun", ['{"name": "ab', '{"name": "ab", "age": 4, "kind": "child"}', ""])
@pytest.mark.parametrize("thinks", [False, True])
def test_an_answer_that_goes_on_matches_as_a_whole(models: dict[str, LoadedModel], begun: str, thinks: bool) -> None:
    """Also with drafts; and it does not think in the middle of it."""
    chat = (Message(MessageRole.USER, "x"), Message(MessageRole.ASSISTANT, begun))
    asked = replace(asking(JSON, SAMPLED, Speculation.off()), tokens=(), messages=chat, thinking=thinks)
    (plain,) = written(models, NONE, asked)
    assert is_person(begun + plain.text)
    (drafted,) = written(models, "close", replace(asked, speculation=Speculation.fixed(4)))
    assert drafted.tokens == plain.tokens


def test_after_words_that_are_no_beginning_of_a_match_the_match_begins(models: dict[str, LoadedModel]) -> None:
    chat = (Message(MessageRole.USER, "x"), Message(MessageRole.ASSISTANT, "Here it is: "))
    (reply,) = written(models, NONE, replace(asking(JSON, SAMPLED, Speculation.off()), tokens=(), messages=chat))
    assert is_person(reply.text)


def test_what_may_begin_a_match() -> None:
    schema = json.dumps(PERSON)
    for text in ("", "{", '{"name": "ab"', '{"name": "ab", "age": 4, "kind": "child"}'):
        assert schema_begins(schema, text)
    for text in ("Well", '{"name": 4', '{"name": "ab", "age": 4, "kind": "child"} and', "é"):
        assert not schema_begins(schema, text)


def test_forced_tokens_are_drafted_and_always_accepted(models: dict[str, LoadedModel]) -> None:
    (reply,) = written(models, NONE, asking(JSON, SAMPLED, Speculation.fixed(1)))
    forced = [each for each in reply.finished.rounds if each.source == "forced"]
    assert all(each.accepted == len(each.drafted) for each in forced)
    assert reply.finished.stats.forced == sum(len(each.drafted) for each in forced) > 20
    assert reply.finished.stats.rounds < len(reply.tokens) / 2


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_a_draft_draws_what_the_grammar_allows(models: dict[str, LoadedModel], temperature: float) -> None:
    """Else the first token that it does not allow would be rejected with all behind it."""
    sampling = Sampling(temperature=temperature, seed=3)
    (reply,) = written(models, "close", asking(JSON, sampling, Speculation.fixed(5)))
    begin = reply.finished.rounds[0].position
    by_draft = [done for done in reply.finished.rounds if done.source == "draft"]
    assert by_draft
    for done in by_draft:
        guide = guide_of(models["main"])
        guide.commit(list(reply.tokens[: done.position - begin]))
        for count, token in enumerate(done.drafted):
            assert token in drawable(guide, list(done.drafted[:count]))


def test_rejection_sampling_keeps_to_the_grammar(models: dict[str, LoadedModel]) -> None:
    speculation = replace(Speculation.fixed(4), acceptance=Acceptance.REJECTION)
    (reply,) = written(models, "close", asking(JSON, SAMPLED, speculation))
    assert is_person(reply.text)


@pytest.mark.parametrize(
    ("sampling", "drafts"),
    [(GREEDY, [(NONE, 4), ("main", 8)]), (SAMPLED, [("close", 3)])],
    ids=["greedy", "sampled"],
)
def test_grammar_begins_after_thinking(
    models: dict[str, LoadedModel], sampling: Sampling, drafts: list[tuple[str, int]]
) -> None:
    main = models["main"]
    opens, closes = (main.tokenizer.encode(marker)[0] for marker in ("<think>", "</think>"))
    biased = replace(sampling, logit_bias=((closes, 5.0 if sampling.temperature else 4.0),))
    request = asking(JSON, biased, Speculation.off(), (65, 66, opens))
    (plain,) = written(models, NONE, request)
    thought = plain.tokens.index(closes)
    assert thought > 0
    assert is_person(main.tokenizer.decode(list(plain.tokens[thought + 1 : -1])).lstrip("\n"))
    for draft, length in drafts:
        (drafted,) = written(models, draft, replace(request, speculation=Speculation.fixed(length)))
        assert drafted.tokens == plain.tokens


@pytest.mark.parametrize("ends_at", range(6))
def test_thinking_may_end_anywhere_in_a_draft(models: dict[str, LoadedModel], ends_at: int) -> None:
    """The mask of each row is what it is when the tokens before are committed one by one."""
    closes = models["main"].tokenizer.encode("</think>")[0]
    drafted = [*([90] * ends_at), closes, *letters(models["main"], '{"name": "k')]
    assert_masks_agree(models["main"], drafted, begun=True)


def test_masks_after_a_token_that_the_grammar_refuses(models: dict[str, LoadedModel]) -> None:
    assert_masks_agree(models["main"], letters(models["main"], '{"nx{aa"'))


def test_thinking_that_is_spelled_out_ends_too(models: dict[str, LoadedModel]) -> None:
    assert_masks_agree(models["main"], letters(models["main"], 'ab</think>\n{"na'), begun=True)


def test_reply_may_open_thinking_first(models: dict[str, LoadedModel]) -> None:
    opens, closes = (models["main"].tokenizer.encode(marker)[0] for marker in ("<think>", "</think>"))
    brace, line, quote = letters(models["main"], '{\n"')
    guide = guide_of(models["main"], may_open=True)
    assert allowed(guide, NO_DRAFT)[0] == {opens, brace}
    rows = allowed(guide, Draft(mx.array([opens, 65, closes, brace])))
    ends = models["main"].ends
    assert not ends & rows[1]
    assert len(rows[2]) > 250
    assert rows[3] == {brace, line}
    assert rows[4] == {quote}


@pytest.mark.parametrize(
    "constraint",
    [
        Constraint(ConstraintKind.JSON, "{"),
        Constraint(ConstraintKind.JSON, "[]"),
        Constraint(ConstraintKind.JSON, '{"type": "strin"}'),
        Constraint(ConstraintKind.JSON, '{"$ref": "#/nowhere"}'),
        Constraint(ConstraintKind.JSON, '{"type": "array", "uniqueItems": true}'),
        Constraint(ConstraintKind.JSON, '{"type": "string", "x-guidance": {"lenient": true}, "dependentSchemas": {}}'),
        Constraint(ConstraintKind.REGEX, "(a"),
    ],
    ids=lambda each: each.text[:30],
)
def test_what_cannot_be_enforced_is_refused(models: dict[str, LoadedModel], constraint: Constraint) -> None:
    (reply,) = written(models, NONE, asking(constraint, GREEDY, Speculation.off()))
    assert isinstance(reply.failed.error, InvalidRequest)
    assert reply.failed.error.field == "constraint"
    assert len(reply.events) == 1


MANY_STATES = Constraint(ConstraintKind.REGEX, r"([a-z ]*x[a-z ]{25}|[a-z ]*e[a-z ]{24}q)")
WORDS = r"((the|a|an|of|to)[a-z ]{1,25}){3,40}[.]"
MANY_WORDS = Constraint(ConstraintKind.JSON, json.dumps({"type": "string", "pattern": f"^{WORDS}$"}))


@pytest.mark.parametrize(
    ("constraint", "states", "work", "ends"),
    [
        (MANY_STATES, 312, 200_000, "length"),
        (MANY_STATES, 304, 200_000, "too many states"),
        (MANY_WORDS, 50_000, 300, "too many expressions"),
        (Constraint(ConstraintKind.REGEX, WORDS), 50_000, 600, "too many expressions"),
    ],
    ids=["states that are enough", "states", "work of JSON", "work"],
)
def test_a_grammar_reaches_its_limits_at_the_same_token_with_any_draft(
    models: dict[str, LoadedModel],
    constraint: Constraint,
    states: int,
    work: int,
    ends: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was worked out for drafted tokens that were refused does not count; nor does it help."""
    monkeypatch.setattr(f"{compiled.__module__}._MOST_STATES", states)
    monkeypatch.setattr(f"{compiled.__module__}._FUEL_A_STEP", work)
    request = asking(constraint, replace(SAMPLED, top_p=1.0, seed=3), Speculation.off())
    (plain,) = written(models, NONE, request)
    assert ends in how_it_ended(plain)
    for draft, length in ((NONE, 3), ("close", 5), ("main", 8)):
        (drafted,) = written(models, draft, replace(request, speculation=Speculation.fixed(length)))
        assert (drafted.text, how_it_ended(drafted)) == (plain.text, how_it_ended(plain))


def how_it_ended(reply: Recorder) -> str:
    (end,) = reply.terminal
    return str(end.reason if isinstance(end, Finished) else end.error)


def letters(model: LoadedModel, text: str) -> list[int]:
    """A token for each character, also where a marker is spelled out."""
    return [model.tokenizer.encode(letter)[0] for letter in text]


def guide_of(model: LoadedModel, *, begun: bool = False, may_open: bool = False) -> Guide:
    marks = model.marks.thinking
    assert marks is not None
    thinking = ThinkingMarkers(marks.opening, marks.closes.encode(), begun, may_open)
    return Guide(compiled([part_of(JSON)], model), thinking)


def allowed(guide: Guide, draft: Draft) -> list[set[int]]:
    logits = guide.masked(mx.zeros((draft.tokens.size + 1, WIDTH)), draft)
    return [set(np.flatnonzero(row).tolist()) for row in np.array(logits == 0)]


def drawable(guide: Guide, ahead: list[int]) -> set[int]:
    """What a draft may draw after its tokens `ahead`: what the main model may, or anything where that is nothing."""
    logits = guide.masked_draft(mx.zeros((1, WIDTH)), mx.array(ahead) if ahead else None)
    return set(np.flatnonzero(np.array(logits == 0)).tolist())


def assert_masks_agree(model: LoadedModel, drafted: list[int], *, begun: bool = False) -> None:
    draft = Draft(mx.array(list(drafted)))
    guide = guide_of(model, begun=begun)
    rows = allowed(guide, draft)
    assert [drawable(guide, drafted[:count]) for count in range(len(rows))] == [
        row or set(range(WIDTH)) for row in rows
    ]
    assert allowed(guide, draft) == rows  # the guide has not moved
    for count, row in enumerate(rows):
        follower = guide_of(model, begun=begun)
        follower.commit(drafted[:count])
        assert allowed(follower, NO_DRAFT)[0] == row, count


def test_tokenizer_that_begins_texts_with_a_space_is_read_as_in_the_middle_of_one() -> None:
    """As Llama 2's."""
    words = {"\u2581": 0, "\u2581name": 1, "name": 2, '"': 3} | {f"<0x{byte:02X}>": 4 + byte for byte in range(256)}
    backend = Tokenizer(models_of.BPE(words, [("\u2581", "name")], byte_fallback=True, fuse_unk=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    texts = _texts(backend)
    read = _Tokens(backend, texts, 0)
    assert b"".join(texts[token] for token in read('"name"')) == b'"name"'
    assert b"".join(texts[token] for token in backend.encode('"name"').ids) != b'"name"'


def test_no_text_in_a_schema_is_a_control_token() -> None:
    """Whether the tokenizer calls it special or not; HTML is just text."""
    backend = byte_tokenizer()
    backend.add_tokens(["[CALL]", "<think>", "<td>"])
    kept_apart = _Tokens(backend, _texts(backend), 257).special_token_ids
    told = [backend.id_to_token(token) for token in kept_apart]
    assert told == ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "[CALL]", "<think>"]
