"""What a tokenizer.json can say to take all memory or for ever: functions that spoil a sound one's content.

BAD_TOKENIZERS show it by what they say, SLOW_TOKENIZERS only when they are used.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.bad_templates import ENDING_TEMPLATES, REFUSED_TEMPLATES

Content = dict[str, Any]


def _replacements(pattern: dict[str, str], written: str, count: int) -> list[Content]:
    return [{"type": "Replace", "pattern": pattern, "content": written}] * count


def _with(stage: str, parts: list[Content], name: str) -> Callable[[Content], Content]:
    return lambda content: content | {stage: {"type": "Sequence", name: parts}}


def _nested(content: Content) -> Content:
    part: Content = {"type": "Lowercase"}
    for _ in range(400):
        part = {"type": "Sequence", "normalizers": [part]}
    return content | {"normalizer": part}


def _around(content: Content) -> Content:
    pieces = [{"Sequence": {"id": "A", "type_id": 0}}] * 1_000_000
    return content | {
        "post_processor": {"type": "TemplateProcessing", "single": pieces, "pair": pieces, "special_tokens": {}}
    }


def _padded(content: Content) -> Content:
    padding = {"strategy": {"Fixed": 10**12}, "direction": "Right", "pad_to_multiple_of": None}
    return content | {"padding": padding | {"pad_id": 0, "pad_type_id": 0, "pad_token": "a"}}


def _long_token(content: Content) -> Content:
    token = {"id": 270, "content": "x" * 1_000_000, "special": False}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return content | {"added_tokens": [*content["added_tokens"], token | flags]}


def _word_piece(content: Content) -> Content:
    model = {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "", "max_input_chars_per_word": 10**9}
    return content | {"model": model | {"vocab": content["model"]["vocab"]}, "pre_tokenizer": None}


def _split(pattern: str) -> Callable[[Content], Content]:
    part = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return lambda content: content | {"pre_tokenizer": part}


def _many_added(content: Content) -> Content:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    added = [{"id": 270 + n, "content": "a" * (n % 300) + str(n)} | flags for n in range(100_000)]
    return content | {"added_tokens": [*content["added_tokens"], *added]}


BAD_TOKENIZERS: dict[str, Callable[[Content], Content]] = {
    "replacements": _with("normalizer", _replacements({"String": "a"}, "aa", 40), "normalizers"),
    "replacements of a rare letter": _with("normalizer", _replacements({"String": "ꙮ"}, "ꙮꙮ", 40), "normalizers"),
    "expressions": _with("normalizer", _replacements({"Regex": "a"}, "aa", 40), "normalizers"),
    "nothing replaced": _with("normalizer", _replacements({"Regex": ""}, "aaaa", 20), "normalizers"),
    "long replacements": _with("normalizer", _replacements({"String": "a"}, "a" * 1000, 4), "normalizers"),
    "one very long replacement": _with("normalizer", _replacements({"String": "a"}, "b" * 1_000_000, 1), "normalizers"),
    "replacements on the way out": _with("decoder", _replacements({"String": "a"}, "aa", 40), "decoders"),
    "copies of a text": _around,
    "padding": _padded,
    "a long token": _long_token,
    "a long beginning": lambda content: content | {"normalizer": {"type": "Prepend", "prepend": "x" * 1_000_000}},
    "deeply nested": _nested,
    "bytes of bytes": _with("normalizer", [{"type": "ByteLevel"}] * 40, "normalizers"),
    "bytes of bytes of pieces": _with(
        "pre_tokenizer",
        [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}] * 40,
        "pretokenizers",
    ),
    "a long chain": _with("normalizer", [{"type": "Lowercase"}] * 50_000, "normalizers"),
    "words without end": _word_piece,
}

SLOW_TOKENIZERS: dict[str, Callable[[Content], Content]] = {
    "a catastrophe": _split("(a|a)*b"),
    "a catastrophe of words": _split("(\\w+\\w+)+!"),
    "a catastrophe ahead": _split("(?=(a+)+!)a"),
    "a catastrophe in a replacement": _with("normalizer", _replacements({"Regex": "(a+)+!"}, "a", 1), "normalizers"),
    "three times over": _split("a*a*a*a*b"),
    "three times over a rare letter": _split("ꙮ*ꙮ*ꙮ*ꙮ*b"),
    "three times over a hidden letter": _split("\\x{A66E}*\\x{A66E}*\\x{A66E}*\\x{A66E}*b"),
    "three times over letters": _split("\\p{L}*\\p{L}*\\p{L}*\\p{L}*!"),
    "a pattern that is long when written out": _split("((((a{1,99}){1,99}){1,99}){1,99}){1,99}"),
    "a hundred thousand added tokens": _many_added,
}


def spoiled(folder: Path, name: str) -> Path:
    """A model's folder with that template or tokenizer."""
    if template := (ENDING_TEMPLATES | REFUSED_TEMPLATES).get(name):
        (folder / "chat_template.jinja").write_text(template)
    else:
        path = folder / "tokenizer.json"
        path.write_text(json.dumps((BAD_TOKENIZERS | SLOW_TOKENIZERS)[name](json.loads(path.read_text()))))
    return folder
