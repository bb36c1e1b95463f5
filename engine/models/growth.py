"""How much longer a tokenizer.json can make a text, and in how many steps: bounded by what its parts say, before it is
given one.

A chain of replacements that each write two letters for one makes a terabyte of forty. Nothing can end that once it
runs, and it may wait for a letter that nobody tried.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.models.model_files import FileError, JsonObject, object_at

MOST_GROWTH = 4096.0  # times; real tokenizers come to about ten
MOST_TEXT = 65_536  # characters of one token or one replacement
MOST_PIECES = 64  # around a text
MOST_PADDING = 2**16  # tokens
MOST_ADDED = 72_000  # tokens beside the vocabulary; models that speak have up to 66,000
MOST_PARTS = 128  # one after the other; real tokenizers have about ten
MOST_WORD = 4096  # characters: WordPiece compares each part of a word with the vocabulary
_GROWTH = {"ByteLevel": 2.0, "BertNormalizer": 3.0, "NFD": 3.0, "NFKD": 3.0}  # again and again, in a chain
_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def check_growth(content: JsonObject) -> None:
    """Raises FileError."""
    growth, parts = 1.0, 0
    for part in (part for stage in _STAGES for part in _objects(content.get(stage))):
        growth, parts = growth * _growth_of(part), parts + ("type" in part)
        if parts > MOST_PARTS:
            raise FileError("tokenizer.json: too many parts")
        if growth > MOST_GROWTH:
            raise FileError("tokenizer.json: makes a text too long")
    _check_padding(object_at(content, "padding"))
    word = object_at(content, "model").get("max_input_chars_per_word")
    if type(word) is int and word > MOST_WORD:
        raise FileError(f"tokenizer.json: words of {word} characters")
    added = content.get("added_tokens")
    if isinstance(added, list) and len(added) > MOST_ADDED:
        raise FileError(f"tokenizer.json: {len(added)} added tokens, more than {MOST_ADDED}")
    for entry in added if isinstance(added, list) else ():
        if isinstance(entry, dict):
            _check_text(entry.get("content"))


def _growth_of(part: JsonObject) -> float:
    for key in ("content", "prepend", "replacement"):
        _check_text(part.get(key))
    for key in ("single", "pair", "special_tokens"):
        pieces = part.get(key)
        if isinstance(pieces, list | dict) and len(pieces) > MOST_PIECES:
            raise FileError(f"tokenizer.json: {len(pieces)} pieces around a text")
    if part.get("type") != "Replace":
        return _GROWTH.get(str(part.get("type")), 1.0)
    written, pattern = str(part.get("content") or ""), object_at(part, "pattern").get("String")
    if isinstance(pattern, str) and pattern:
        return max(1.0, len(written) / len(pattern))
    return len(written) + 1.0  # an expression may match between any two letters


def _objects(value: object) -> Iterator[JsonObject]:
    """All objects in it, itself first; nobody nests them deeper than JSON's reader goes."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _check_text(text: object) -> None:
    if isinstance(text, str) and len(text) > MOST_TEXT:
        raise FileError(f"tokenizer.json: {len(text)} characters in one piece")


def _check_padding(padding: JsonObject) -> None:
    strategy = padding.get("strategy")
    fixed = strategy.get("Fixed") if isinstance(strategy, dict) else None
    for number in (fixed, padding.get("pad_to_multiple_of")):
        if type(number) is int and number > MOST_PADDING:
            raise FileError(f"tokenizer.json: padding to {number}")
