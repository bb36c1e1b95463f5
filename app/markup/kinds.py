"""Classifies a reply for statistics: its language, and prose, code or list. No Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

# A reply explains its code, so much less than half of it makes it one.
_CODE_SHARE = 0.3
_LIST_SHARE = 0.5
# Japanese is recognised by its kana, which Chinese lacks: even dense text has more of them than that.
_KANA_SHARE = 0.1
_CHARS_OF_A_WORD = 2
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s|\s*\|")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")


class Language(StrEnum):
    ENGLISH = "en"  # and whatever else is written in Latin letters
    KOREAN = "ko"
    JAPANESE = "ja"
    CHINESE = "zh"
    UNKNOWN = ""


class ContentKind(StrEnum):
    PROSE = "prose"
    CODE = "code"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class LanguageAndContent:
    language: Language
    content: ContentKind


def kind_of(text: str) -> LanguageAndContent:
    outside, fenced = _parted(text)
    return LanguageAndContent(_language("\n".join(outside) or text), _content(outside, fenced))


def _parted(text: str) -> tuple[list[str], int]:
    """The lines outside of fences that are not blank, and how many are inside, the fences included."""
    outside: list[str] = []
    fenced = 0
    mark = ""
    for line in filter(str.strip, text.splitlines()):
        fence = _FENCE.match(line)
        if mark or fence:
            fenced += 1
        else:
            outside.append(line)
        if fence and not mark:
            mark = fence[1]
        elif fence and fence[1].startswith(mark):
            mark = ""
    return outside, fenced


def _language(text: str) -> Language:
    """By what most of the words are written in; a word of Korean, Japanese or Chinese is about two characters."""
    hangul, kana, han = (len(script.findall(text)) for script in (_HANGUL, _KANA, _HAN))
    latin = len(_LATIN_WORD.findall(text))
    if not hangul + kana + han + latin:
        return Language.UNKNOWN
    if latin > (hangul + kana + han) / _CHARS_OF_A_WORD:
        return Language.ENGLISH
    if hangul > kana + han:
        return Language.KOREAN
    return Language.JAPANESE if kana > _KANA_SHARE * (kana + han) else Language.CHINESE


def _content(outside: list[str], fenced: int) -> ContentKind:
    if fenced and fenced >= _CODE_SHARE * (fenced + len(outside)):
        return ContentKind.CODE
    items = sum(bool(_ITEM.match(line)) for line in outside)
    return ContentKind.LIST if items and items >= _LIST_SHARE * len(outside) else ContentKind.PROSE
