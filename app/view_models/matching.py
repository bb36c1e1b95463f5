"""Fuzzy matching for the command palette and the search in settings.

Latin letters may be left out ("nwc" finds "New Chat"). Korean is matched by initial consonants (ㅊㅌ finds 채팅) and
while a syllable is composed (채티 finds 채팅). Japanese is matched in either kana.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_SYLLABLES = 0xAC00
_PER_INITIAL = 21 * 28
_PER_VOWEL = 28
_LAST_SYLLABLE = 0xD7A3
_FIRST_JAMO = 0x1100
_JAMO = "".join(chr(_FIRST_JAMO + place) for place in range(len(_INITIALS)))  # the same letters, as NFKC has them
_KATAKANA = range(0x30A1, 0x30F7)
_TO_HIRAGANA = 0x60

# The lower, the better.
_AT_START = 0
_AT_WORD = 1
_INSIDE = 2
_SPREAD = 4
_CLOSE = 3  # letters


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """The text with case, accents, width and kind of kana removed."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(_INITIALS[ord(each) - _FIRST_JAMO] if each in _JAMO else _without_accent(each) for each in plain)
    return "".join(chr(ord(each) - _TO_HIRAGANA) if ord(each) in _KATAKANA else each for each in bare)


def _without_accent(letter: str) -> str:
    """Only of Latin letters: in Korean and Japanese the parts of a letter are no accents."""
    base = unicodedata.normalize("NFD", letter)[:1]
    return base if base.isascii() else letter


def distance(query: str, *texts: str) -> int | None:
    """Distance of `query` from the texts, 0 being nearest; None if a word of it is not found.

    Later texts count as farther, and no letters may be left out: otherwise nearly every sentence matches.
    """
    words = dict.fromkeys(folded(query).split())  # of a long text that was pasted, each once
    total = 0
    for word in words:
        found = [(_distance(word, folded(text), whole=place > 0), place) for place, text in enumerate(texts)]
        near = [far + 3 * place for far, place in found if far is not None]
        if not near:
            return None
        total += min(near)
    return total


def _distance(word: str, text: str, *, whole: bool) -> int | None:
    if len(word) > len(text):
        return None
    at = _find(word, text)
    if at == 0:
        return _AT_START
    if at is not None:
        return _INSIDE if text[at - 1].isalnum() else _AT_WORD
    if word.isascii():
        return _SPREAD if len(word) > 1 and not whole and _is_spread(word, text) else None
    return _SPREAD if _find(word, text.replace(" ", "")) is not None else None


def _find(word: str, text: str) -> int | None:
    """The first place where each letter stands for the text's, preferring the start of a word."""
    places = [at for at in range(len(text) - len(word) + 1) if _stands_at(word, text, at)]
    starts = [at for at in places if at == 0 or not text[at - 1].isalnum()]
    return next(iter(starts or places), None)


def _stands_at(word: str, text: str, at: int) -> bool:
    if word.isascii():
        return text.startswith(word, at)
    last = len(word) - 1
    return all(_stands_for(letter, text[at + place], place == last) for place, letter in enumerate(word))


def _stands_for(letter: str, other: str, is_last: bool) -> bool:
    if letter == other:
        return True
    if not _SYLLABLES <= ord(other) <= _LAST_SYLLABLE:
        return False
    number = ord(other) - _SYLLABLES
    if letter in _INITIALS:
        return _INITIALS[number // _PER_INITIAL] == letter
    return is_last and ord(letter) == ord(other) - number % _PER_VOWEL  # its final consonant is not typed yet


def _is_spread(word: str, text: str) -> bool:
    """The letters in that order: the first starts a word, each later one starts one too or follows closely."""
    starts = {at for at, letter in enumerate(text) if letter.isalnum() and (at == 0 or not text[at - 1].isalnum())}
    reached = {at for at in starts if text[at] == word[0]}
    for letter in word[1:]:
        places = {at for at, each in enumerate(text) if each == letter}
        first = min(reached, default=len(text))
        by_start = {at for at in places & starts if at > first}
        close = {at + step for at in reached for step in range(1, _CLOSE + 1)} & places
        reached = by_start | close
    return bool(reached)
