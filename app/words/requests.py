"""The table of requests and totals in words: columns, groups and cells."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from itertools import product

from PySide6.QtCore import QCoreApplication

from app.markup.kinds import ContentKind, Language
from app.storage import Grouping, ReplyStatus, Total
from app.words import formats, speculation
from app.words.model_names import pair_name
from app.words.replies import LOOKUP, shown_drafting, speed_up_text, status_text
from engine import DraftingState, RequestStats

_WITHOUT_MODEL = {"", "forced", "prediction"}  # the engine's names for guesses that no model makes


class RequestColumn(IntEnum):
    CHAT = 0
    STATE = 1
    SPEED_UP = 2
    ACCEPT_RATE = 3
    TOKENS_PER_PASS = 4
    POSITIONS = 5
    OVER_TIME = 6
    TIME = 7
    SPEED = 8


def column_name(column: RequestColumn) -> str:
    return {
        RequestColumn.CHAT: QCoreApplication.translate("Requests", "Chat"),
        RequestColumn.STATE: QCoreApplication.translate("Requests", "State"),
        RequestColumn.SPEED_UP: QCoreApplication.translate("Requests", "Speed-up"),
        RequestColumn.ACCEPT_RATE: QCoreApplication.translate("Requests", "Accept rate"),
        RequestColumn.TOKENS_PER_PASS: QCoreApplication.translate("Requests", "Tokens per pass"),
        RequestColumn.POSITIONS: QCoreApplication.translate("Requests", "By position"),
        RequestColumn.OVER_TIME: QCoreApplication.translate("Requests", "Over the reply"),
        RequestColumn.TIME: QCoreApplication.translate("Requests", "Draft time"),
        RequestColumn.SPEED: QCoreApplication.translate("Requests", "tok/s"),
    }[column]


def cell_text(column: RequestColumn, status: ReplyStatus, stats: RequestStats) -> str:
    """Of the columns after the chat, whose name needs no words."""
    return {
        RequestColumn.STATE: lambda: status_text(status),
        RequestColumn.SPEED_UP: lambda: speed_up_text(stats),
        RequestColumn.ACCEPT_RATE: lambda: _percent(stats.accept_rate),
        RequestColumn.TOKENS_PER_PASS: lambda: _number(stats.tokens_per_pass if stats.drafted else None),
        RequestColumn.POSITIONS: lambda: speculation.positions_words(stats),
        RequestColumn.OVER_TIME: lambda: speculation.over_time_words(stats),
        RequestColumn.TIME: lambda: _percent(stats.draft_cost),
        RequestColumn.SPEED: lambda: _number(stats.tokens_per_second),
    }[column]()


def second_line(column: RequestColumn, stats: RequestStats) -> str:
    """Under the state: who drafted, or why it was not drafted. Under the speed-up: the time saved or lost.

    Under the tokens per pass: how many would make up for the time of drafting.
    """
    if column is RequestColumn.STATE:
        return source_text(stats)
    if column is RequestColumn.TOKENS_PER_PASS and stats.drafted:
        return "" if stats.break_even is None else f"≥ {formats.number(stats.break_even, 1)}"
    if column is RequestColumn.SPEED_UP and stats.drafted:
        saved = speculation.saved_text(stats)
        return "" if saved == speculation.NOT_KNOWN else saved
    return ""


def source_text(stats: RequestStats) -> str:
    """Nothing of a request that waits, is read, or ended so: what will draft is not known yet."""
    if not stats.generated_tokens:
        return ""
    if stats.shared_rounds and not stats.drafted:
        return QCoreApplication.translate("Requests", "answered together")
    return {
        DraftingState.OFF: QCoreApplication.translate("Requests", "drafting off"),
        DraftingState.NO_DRAFT: QCoreApplication.translate("Requests", "no draft"),
        DraftingState.BATCHED: QCoreApplication.translate("Requests", "answered together"),
        DraftingState.PARKED: QCoreApplication.translate("Requests", "no gain here"),
        DraftingState.UNSUPPORTED: QCoreApplication.translate("Requests", "not supported"),
        DraftingState.FAILED: QCoreApplication.translate("Requests", "draft failed"),
    }.get(shown_drafting(stats), _drafter(stats))


def _drafter(stats: RequestStats) -> str:
    if stats.proposer == LOOKUP:
        return QCoreApplication.translate("Requests", "from this chat")
    by_model = stats.proposer not in _WITHOUT_MODEL
    return QCoreApplication.translate("Requests", "draft model") if by_model else ""


def all_state_words() -> set[str]:
    """Everything that the column of the state can say, on either of its lines."""
    some = RequestStats(generated_tokens=1)
    sources = product(DraftingState, ("draft", LOOKUP))
    return {*paused_text(), *map(status_text, ReplyStatus)} | {
        source_text(replace(some, drafting=state, proposer=name)) for state, name in sources
    }


def paused_text() -> tuple[str, str]:
    """The two lines of the state of another program's request, while one of the user's is queued or running."""
    return QCoreApplication.translate("Requests", "Paused"), QCoreApplication.translate("Requests", "for your chat")


def another_program() -> str:
    return QCoreApplication.translate("Requests", "Another program")


def deleted_chat() -> str:
    return QCoreApplication.translate("Requests", "Deleted chat")


def total_columns() -> list[str]:
    return [
        column_name(RequestColumn.ACCEPT_RATE),
        column_name(RequestColumn.TOKENS_PER_PASS),
        column_name(RequestColumn.POSITIONS),
        column_name(RequestColumn.SPEED_UP),
        QCoreApplication.translate("Totals", "Time"),
    ]


def total_cells(total: Total) -> list[str]:
    drafted = total.drafted
    judged = total.judged
    return [
        _percent(drafted.accept_rate),
        _number(drafted.tokens_per_pass if drafted.drafted else None),
        speculation.positions_words(drafted),
        speed_up_text(judged),
        speculation.saved_text(judged),
    ]


def show_more(older: int) -> str:
    words = QCoreApplication.translate("Requests", "Show more (%1 older)")
    return formats.fill(words, formats.count(older))


def group_name(grouping: Grouping, key: tuple[str, str]) -> str:
    if grouping is Grouping.PAIR:
        return pair_name(*key)
    names: dict[str, str] = {
        Language.ENGLISH: QCoreApplication.translate("Totals", "English"),
        Language.KOREAN: QCoreApplication.translate("Totals", "Korean"),
        Language.JAPANESE: QCoreApplication.translate("Totals", "Japanese"),
        Language.CHINESE: QCoreApplication.translate("Totals", "Chinese"),
        ContentKind.PROSE: QCoreApplication.translate("Totals", "Prose"),
        ContentKind.CODE: QCoreApplication.translate("Totals", "Code"),
        ContentKind.LIST: QCoreApplication.translate("Totals", "Lists and tables"),
    }
    return names.get(key[1], QCoreApplication.translate("Totals", "Other"))


def _percent(value: float | None) -> str:
    return speculation.NOT_KNOWN if value is None else formats.percent(value)


def _number(value: float | None) -> str:
    return speculation.NOT_KNOWN if value is None else formats.number(value, 1)
