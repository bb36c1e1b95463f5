"""What is known about drafting with one model for another by their files, or by what is published of the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.api.errors import EngineError

# (folder of the main model, folder of the draft) -> accept rate of a drafted token; 0: not known
Published = Callable[[str, str], float]


def nothing_published(_main: str, _draft: str) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Probe:
    """The number of tokens of a built-in text by each tokenizer, and whether they are the same."""

    language: str  # "en", "ko", "ja", "zh"
    main_tokens: int
    draft_tokens: int
    alike: bool


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """How two vocabularies compare."""

    main_tokens: int
    draft_tokens: int
    shared_tokens: int  # the same text, under any id
    differing_tokens: int = 0  # ids that mean different text
    differing_text_tokens: int = 0  # of these, those that occur in texts; the others are control tokens
    cut_alike: bool | None = True  # every text gives the same tokens; None: not known
    probes: tuple[Probe, ...] = ()  # where the tokenizers' rules differ


@dataclass(frozen=True, slots=True)
class PairCheck:
    """`error` says why the draft cannot draft for the main model; None: it can."""

    main: str  # folders
    draft: str
    error: EngineError | None
    vocabularies: Vocabularies | None = None  # None: a drafter has its main model's, or files could not be read
    by_text: bool = False  # the draft's tokens are mapped by their text, because some ids differ
    ends_alike: bool = True  # the same tokens end a reply
    template_alike: bool = True
    main_bytes: int = 0
    draft_bytes: int = 0
