"""Tokens, their ids and texts: read from tokenizer files, without a tokenizer.

Two models can be a pair if every id means the same text in both; different numbers of rows in their embeddings
(padding) do not matter. If some ids differ, `token_map.py` maps tokens by text.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.api.errors import ModelRunsCode, TokenizerBroken
from engine.models.kept_files import read_kept, write_kept
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    TEMPLATE_LIMIT_BYTES,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    TOKENIZER_LIMIT_BYTES,
    FileError,
    JsonObject,
    entries,
    object_at,
    read_limited,
    read_object,
)
from engine.models.numbers import check_growth

MAX_TOKENS = 2**20
_MARK = "▁"  # stands for a space
_BYTE = re.compile("<0x[0-9A-F]{2}>")
_BETWEEN = "\U0010fffe"  # occurs in no token
_CONTROL = "\U0010ffff"
_BRACKETED = re.compile(r"[<\[{|].+[>\]}|]", re.DOTALL)
# Some vocabularies have tokens for these, as for runs of spaces and line breaks: they are ordinary text.
_HTML = re.compile(
    "</?(?:[abipsu]|h[1-6]|[ou]l|li|em|strong|code|pre|su[bp]|br|hr|div|span|img|blockquote|ruby|rt"
    "|table|caption|thead|tbody|tfoot|t[rhd])>"
)
_OPAQUE = "tokenizer.model"  # compared as a file, not token by token
_NAMES = ("tokenizer.json", "vocab.json", _OPAQUE)
_FOR_CODE = ("tiktoken.model", "*.tiktoken")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    tokens: int  # 0: not listed in its files
    digest: str


class Spelling(StrEnum):
    """How a token's text is written in the file."""

    BYTES = "bytes"  # a letter for each byte
    MARKED = "marked"  # a mark for each space, and <0x0A> for a byte
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class TokenTable:
    """A tokenizer file's tokens, and its rules to cut a text into them."""

    texts: dict[int, str]  # as written in the file
    added: dict[int, bool]  # tokens beside the vocabulary; True: `is_control`
    spelling: Spelling
    rules: tuple[object, ...]  # equal rules cut every text alike


def _letters() -> dict[int, str]:
    """For byte-level tokenizers such as GPT-2's: from the letter written for a byte to chr(byte)."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    return {byte: chr(byte) for byte in shown} | {256 + at: chr(byte) for at, byte in enumerate(others)}


LETTERS = _letters()
_State = tuple[int, int]  # time of change, size
_known: dict[str, tuple[_State, Vocabulary]] = {}  # by path
_known_lock = threading.Lock()


def read_vocabulary(folder: Path) -> Vocabulary:
    """Raises TokenizerBroken or ModelRunsCode. Cached while the file stays the same."""
    try:
        _check_sizes(folder)
        path = tokenizer_file(folder)
        stat = path.stat()
        name = str(path.resolve())
        state = stat.st_mtime_ns, stat.st_size
        with _known_lock:
            known = _known.get(name)
        if known is None or known[0] != state:
            known = state, _read(path)
            with _known_lock:
                _known[name] = known
    except (FileError, OSError) as error:
        raise TokenizerBroken(str(folder), str(error)) from error
    return known[1]


def save_known(path: Path) -> None:
    """Saves the cache: reading a vocabulary takes a tenth of a second in which no other Python thread runs."""
    with _known_lock:
        rows = [[name, *state, known.tokens, known.digest] for name, (state, known) in _known.items()]
    rows = [row for row in rows if os.path.exists(str(row[0]))]  # noqa: PTH110  False for a name that is too long
    if read_kept(path, CONFIG_LIMIT_BYTES) != {"vocabularies": rows}:
        write_kept(path, {"vocabularies": rows}, CONFIG_LIMIT_BYTES, private=False)


def load_known(path: Path) -> None:
    """A missing or damaged file only costs time."""
    for row in entries(read_kept(path, CONFIG_LIMIT_BYTES), "vocabularies"):
        if isinstance(row, list) and [type(value) for value in row] == [str, int, int, int, str]:
            with _known_lock:
                _known[row[0]] = (row[1], row[2]), Vocabulary(row[3], row[4])


def read_table(folder: Path) -> TokenTable | None:
    """None if the folder's tokenizer does not list its tokens. Raises TokenizerBroken or ModelRunsCode."""
    try:
        path = tokenizer_file(folder)
        return None if path.name == _OPAQUE else _table(path)
    except FileError as error:
        raise TokenizerBroken(str(folder), str(error)) from error


def backend_of(tokenizer: Any) -> Any:
    """The tokenizer of the `tokenizers` library in mlx-lm's wrapper; None if it is another kind."""
    return getattr(tokenizer._tokenizer, "backend_tokenizer", None)  # noqa: SLF001  not forwarded


def is_control(text: str, special: bool) -> bool:
    """Whether an added token steers a model, such as the beginning of a turn, and is not just more text.

    `special`: its tokenizer says so. Many leave that out for thinking and calls.
    """
    if len(text) < 2 or text.replace(_MARK, " ").isspace():
        return False
    return special or (_BRACKETED.fullmatch(text) is not None and _HTML.fullmatch(text) is None)


def meanings(table: TokenTable) -> dict[int, str]:
    """The text of each token, spelt alike for all tokenizers: a letter for each byte.

    Control tokens are marked: the same letters in a text are other tokens.
    """
    said = dict(zip(table.texts, _respelt(list(table.texts.values()), table.spelling), strict=True))
    for token, control in table.added.items():
        said[token] = _CONTROL + table.texts[token] if control else _byte_letters(table.texts[token])
    return said


def _respelt(texts: list[str], spelling: Spelling) -> list[str]:
    """The texts respelt, all at once: one by one takes several times as long."""
    joined = _BETWEEN.join(texts)
    if joined.count(_BETWEEN) != len(texts) - 1:  # an abnormal token contains it
        return [text.replace(_BETWEEN, "") for text in texts]
    if spelling is Spelling.BYTES:
        return joined.translate(LETTERS).split(_BETWEEN)
    if spelling is Spelling.PLAIN:
        return _byte_letters(joined).split(_byte_letters(_BETWEEN))
    letters = _byte_letters(joined.replace(_MARK, " ")).split(_byte_letters(_BETWEEN))
    return [chr(int(text[3:5], 16)) if _BYTE.fullmatch(text) else text for text in letters]


def _byte_letters(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def tokenizer_file(folder: Path) -> Path:
    """Raises FileError if there is none, or ModelRunsCode."""
    for name in _NAMES:
        if (folder / name).is_file():
            return folder / name
    if only_code_reads(folder):
        raise ModelRunsCode(str(folder))
    raise FileError("no tokenizer.json")


def only_code_reads(folder: Path) -> bool:
    """Whether the tokenizer has no file but one for code that comes with it, which never runs here."""
    names = (name for name in _NAMES if (folder / name).is_file())
    return not any(names) and any(path for pattern in _FOR_CODE for path in folder.glob(pattern))


def _check_sizes(folder: Path) -> None:
    for name, limit in (
        ("chat_template.jinja", TEMPLATE_LIMIT_BYTES),
        ("tokenizer_config.json", TOKENIZER_CONFIG_LIMIT_BYTES),
    ):
        path = folder / name
        if path.is_file() and path.stat().st_size > limit:
            raise FileError(f"{name}: larger than {limit} bytes")


def _read(path: Path) -> Vocabulary:
    if path.name == _OPAQUE:
        return Vocabulary(0, "file:" + hashlib.sha256(read_limited(path, TOKENIZER_LIMIT_BYTES)).hexdigest())
    texts = _table(path).texts
    digest = hashlib.sha256()
    for token in sorted(texts):
        text = texts[token].encode("utf-8", "surrogatepass")
        digest.update(b"%d:%d:%b" % (token, len(text), text))
    return Vocabulary(len(texts), digest.hexdigest())


def _table(path: Path) -> TokenTable:
    content = read_object(path, TOKENIZER_LIMIT_BYTES)
    check_growth(content)
    if path.name == "vocab.json":
        return TokenTable(_checked(path, list(content.values()), list(content)), {}, Spelling.BYTES, ())
    added = _added(path, content)
    texts = _checked(path, *_entries(content))
    texts |= _checked(path, [token for token, _, _ in added], [text for _, text, _ in added])
    if not texts:
        raise FileError(f"{path.name}: no tokens")
    control = {token: is_control(texts[token], special) for token, _, special in added if isinstance(token, int)}
    return TokenTable(texts, control, _spelling(content), _rules(content))


def _checked(path: Path, tokens: Sequence[object], texts: Sequence[object]) -> dict[int, str]:
    """Checks all entries at once: one by one takes several times as long."""
    if not (set(map(type, tokens)) <= {int} and set(map(type, texts)) <= {str}):
        wrong = next(pair for pair in zip(tokens, texts, strict=True) if tuple(map(type, pair)) != (int, str))
        raise FileError(f"{path.name}: token {str(wrong[0])[:40]}: {str(wrong[1])[:40]!r}")
    checked: dict[int, str] = dict(zip(tokens, texts, strict=True))  # type: ignore[arg-type]
    if checked and not 0 <= min(checked) <= max(checked) < MAX_TOKENS:
        raise FileError(f"{path.name}: tokens {str(min(checked))[:40]} to {str(max(checked))[:40]}")
    return checked


def _entries(content: JsonObject) -> tuple[Sequence[object], Sequence[object]]:
    """Ids and texts."""
    vocabulary = object_at(content, "model").get("vocab")
    if isinstance(vocabulary, dict):
        return list(vocabulary.values()), list(vocabulary)
    if isinstance(vocabulary, list):  # Unigram: [text, score] in the order of their ids
        texts = [row[0] if isinstance(row, list) and row else row for row in vocabulary]
        return range(len(texts)), texts
    return (), ()


def _added(path: Path, content: JsonObject) -> list[tuple[object, object, bool]]:
    added = entries(content, "added_tokens")
    if not all(isinstance(entry, dict) for entry in added):
        raise FileError(f"{path.name}: an added token is not an object")
    return [(each.get("id"), each.get("content"), each.get("special") is not False) for each in added]


def _spelling(content: JsonObject) -> Spelling:
    parts = repr([content.get(stage) for stage in ("normalizer", "pre_tokenizer", "decoder")])
    if "'ByteLevel'" in parts:
        return Spelling.BYTES
    return Spelling.MARKED if _MARK in parts or "'Metaspace'" in parts else Spelling.PLAIN


def _rules(content: JsonObject) -> tuple[object, ...]:
    model = object_at(content, "model")
    merges = model.get("merges")
    if isinstance(merges, list) and merges and isinstance(merges[0], str):  # the older way to write them
        merges = [merge.split(" ", 1) if isinstance(merge, str) else merge for merge in merges]
    return (model.get("type"), merges, content.get("normalizer"), content.get("pre_tokenizer"))
