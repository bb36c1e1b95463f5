"""Every error of the engine has words of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from app.documents.problems import NotAttached, WhyNot
from app.storage import ReplyStatus
from app.words.hub import hub_record
from app.words.notices import NoticeAction, action_text, drafting_sentence
from app.words.notices_for_errors import TABLE, not_attached, notice_for
from app.words.pairs import drafter_text
from app.words.replies import reply_notice
from engine import (
    AccessDenied,
    DeleteFailed,
    DeleteRefusal,
    DraftingState,
    EngineError,
    HubModel,
    HubSilence,
    HubUnreachable,
    MachineRefusal,
    MachineUnavailable,
    ModelDamaged,
    ModelNotSplittable,
    ModelTooLarge,
    ModelUnsupported,
    NothingToInstall,
    RankEnd,
    RankLost,
    SightRefusal,
    SplitRefusal,
    StorageFailed,
    TokenizerBroken,
    drafter_names,
)

_VALUES: dict[str, Any] = {
    "str": "some-value",
    "int": 123,
    "bool": True,
    "tuple[str, ...]": ("gguf",),
    "HubSilence": HubSilence.BUSY,
    "SightRefusal": SightRefusal.TEXT_ONLY,
    "SplitRefusal": SplitRefusal.LAYERS,
    "RankEnd": RankEnd.ENDED,
    "MachineRefusal": MachineRefusal.BUSY,
}


def concrete(kind: type[EngineError] = EngineError) -> Iterator[type[EngineError]]:
    """The leaves of the tree: what the engine really raises."""
    below = kind.__subclasses__()
    if not below:
        yield kind
    for each in below:
        yield from concrete(each)


def build(kind: type[EngineError]) -> EngineError:
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    return kind(**{field.name: _VALUES[str(field.type)] for field in fields})


@pytest.mark.parametrize(("others", "hint"), [(0, "fewer bits"), (1, "fewer bits"), (2, "Close other apps")])
def test_where_other_programs_hold_the_memory_that_is_said(others: int, hint: str) -> None:
    notice = notice_for(ModelTooLarge("/m", 10, 8, others_bytes=others))
    assert hint in notice.hint


@pytest.mark.parametrize("kind", list(concrete()), ids=lambda kind: kind.__name__)
def test_every_error_has_a_title_and_a_sentence_of_its_own(kind: type[EngineError]) -> None:
    assert kind in {row.kind for row in TABLE}, f"{kind.__name__} has no entry in app/words/notices_for_errors.py"
    notice = notice_for(build(kind))
    assert notice.title
    assert notice.sentence.endswith((".", "some-value"))
    assert "%" not in notice.title + notice.sentence + notice.hint
    assert notice.hint or notice.action


def test_titles_tell_errors_apart() -> None:
    titles = [notice_for(build(kind)).title for kind in concrete()]
    assert len(set(titles)) == len(titles)


def test_every_reason_for_an_unreachable_hub_is_a_sentence_without_a_librarys_words() -> None:
    raw = "ConnectError: [Errno -2] Name or service not known"
    notices = [notice_for(HubUnreachable("org/x", "https://hub.test", raw, reason)) for reason in HubSilence]
    assert len({notice.sentence for notice in notices}) == len(HubSilence)
    assert all(notice.sentence.endswith(".") and notice.hint for notice in notices)
    assert not [notice for notice in notices if "Err" in notice.sentence + notice.hint]


def test_every_reason_why_a_model_stays_is_a_sentence_of_its_own() -> None:
    told = {notice_for(DeleteFailed("/models/org/x", reason)).sentence for reason in DeleteRefusal}
    assert len(told) == len(DeleteRefusal) - 1  # two of them mean the same to a person
    assert all(sentence.endswith(".") and "%" not in sentence for sentence in told)


def test_every_reason_why_another_machine_does_not_help_is_a_sentence_of_its_own() -> None:
    notices = {why: notice_for(MachineUnavailable("mac:1", why, "mlx 0.1.0")) for why in MachineRefusal}
    assert len({notice.sentence for notice in notices.values()}) == len(MachineRefusal)
    assert all("%" not in notice.sentence and notice.hint for notice in notices.values())
    assert all("mlx 0.1.0" in notices[why].sentence for why in (MachineRefusal.OLDER, MachineRefusal.NEWER))
    assert "there" in notices[MachineRefusal.OLDER].hint
    assert "this Mac" in notices[MachineRefusal.NEWER].hint


def test_every_reason_why_a_model_cannot_be_divided_names_it() -> None:
    sentences = {notice_for(ModelNotSplittable("/models/Some-1B", "kind", why)).sentence for why in SplitRefusal}
    assert len(sentences) == len(SplitRefusal) - 1  # of too few layers none can run apart
    assert all("Some-1B" in sentence and "kind" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    "other", [AccessDenied("org/x", gated=False), NothingToInstall("org/x", ()), StorageFailed("org/x", "/models", "")]
)
def test_variants_of_an_error_are_told_apart(other: EngineError) -> None:
    assert notice_for(other).sentence != notice_for(build(type(other))).sentence
    assert "%" not in notice_for(other).sentence


@pytest.mark.parametrize("machine", ["", "Studio"])
def test_a_rank_that_says_itself_why_it_failed_is_not_said_to_be_silent(machine: str) -> None:
    sentences = {why: notice_for(RankLost(1, why, "", machine)).sentence for why in RankEnd}
    assert "answers" in sentences[RankEnd.SILENT]
    assert "answers" not in sentences[RankEnd.FAILED] + sentences[RankEnd.MEMORY]
    assert ("memory" in sentences[RankEnd.MEMORY]) is bool(machine)


def test_weights_of_another_packing_have_a_way_on() -> None:
    notice = notice_for(ModelUnsupported("/m/Some-1B", "qwen3", "bitsandbytes"))
    assert notice.sentence == "MLX cannot read the weights of Some-1B (“bitsandbytes”)."
    assert "mlx-community" in notice.hint


@pytest.mark.parametrize(
    ("detail", "is_damage"),
    [
        ("model.safetensors: header of 3 bytes in a file of 9", True),
        ("FileError: a group_size of 0", True),
        ("RuntimeError: [load] failed", True),
        ("ValueError: Received 1 parameters not in model", False),
        ("TypeError: ModelArgs.__init__() missing 1 required positional argument: 'rope_theta'", False),
        ("KeyError: 'model'", False),
    ],
)
def test_what_mlx_lm_refuses_is_not_called_damaged(detail: str, is_damage: bool) -> None:
    """Gigabytes would be fetched again for nothing."""
    notice = notice_for(ModelDamaged("/m/Some-1B", detail))
    assert ("damaged" in notice.sentence) is is_damage
    assert ("Delete and reinstall" in notice.hint) is is_damage


def test_a_tokenizer_that_nothing_here_reads_is_not_to_be_fetched_again() -> None:
    """Older folders of Mistral's have only one in a format of its own."""
    notice = notice_for(TokenizerBroken("/m/Some-1B", "no tokenizer.json"))
    assert "mlx-community" in notice.hint
    assert "reinstall" not in notice.hint


def test_error_of_tomorrow_still_becomes_a_notice() -> None:
    @dataclasses.dataclass(eq=False)
    class NewError(EngineError):
        detail: str

    assert "detail='x'" in notice_for(NewError("x")).detail


@pytest.mark.parametrize("kind", [ModelDamaged, TokenizerBroken])
def test_words_of_a_library_are_a_detail(kind: type[ModelDamaged] | type[TokenizerBroken]) -> None:
    notice = notice_for(kind("/models/Some-1B", "header is no JSON"))
    assert notice.detail == "header is no JSON"
    assert "header" not in f"{notice.title} {notice.sentence} {notice.hint}"


def test_every_code_has_words() -> None:
    sentences = [drafting_sentence(state) for state in DraftingState]
    assert len(set(sentences)) == len(DraftingState)
    assert all(action_text(action) for action in NoticeAction)
    assert len({drafter_text(kind) for kind in drafter_names()}) == len(drafter_names())
    limits = (ReplyStatus.LENGTH, ReplyStatus.CONTEXT, ReplyStatus.MEMORY, ReplyStatus.MODEL_CHANGED)
    assert len({reply_notice(status, None, empty=False) for status in limits}) == len(limits)


def test_where_a_new_chat_is_the_button_the_words_name_it() -> None:
    ends = [reply_notice(status, None, empty=False) for status in ReplyStatus]
    notices = [each for each in (*ends, *(notice_for(build(kind)) for kind in concrete())) if each is not None]
    offered = [each for each in notices if NoticeAction.NEW_CHAT in (each.action, *each.others)]
    assert len(offered) == 3
    assert all("new chat" in each.sentence + each.hint for each in offered)


def test_among_several_files_each_has_its_reason_after_one_colon() -> None:
    lines = [not_attached([NotAttached("x.tiff", why, 1)] * 2).sentence.splitlines()[0] for why in WhyNot]
    assert [line for line in lines if line.count(":") != 1] == []
    pasted = not_attached([NotAttached("", WhyNot.NOT_STORED), NotAttached("a.pdf", WhyNot.EMPTY)])
    assert pasted.sentence.splitlines() == ["Picture: Not saved.", "a.pdf: Empty."]


def test_what_stood_in_a_file_turns_no_word_of_a_sentence() -> None:
    notice = notice_for(ModelUnsupported("/m/Odd\u202e\n-7B", "llama\u202e\n"))
    assert all(each.isprintable() for each in notice.sentence)
    assert "Odd -7B" in notice.sentence


@pytest.mark.parametrize(("empty", "action"), [(False, NoticeAction.CONTINUE), (True, NoticeAction.RETRY)])
def test_an_interrupted_reply_goes_on_or_is_asked_for_again(empty: bool, action: NoticeAction) -> None:
    notice = reply_notice(ReplyStatus.INTERRUPTED, None, empty=empty)
    assert notice is not None
    assert notice.action is action


@pytest.mark.costly
@pytest.mark.parametrize("downloads", [2**31 - 1, 2**31, 2**53 - 1])
def test_more_downloads_than_qt_can_count_are_said_all_the_same(downloads: int) -> None:
    """The row is painted, and an exception in a paint ends the process."""
    assert hub_record(HubModel("org/model", downloads=downloads)) == "org · 2,147,483,647 download(s)"
