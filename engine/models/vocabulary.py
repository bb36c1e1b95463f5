"""Which token has which id: read from tokenizer files, without a tokenizer. Two models can only work as a pair when
every id means the same text in both; that the numbers of rows in their embeddings differ (padding) does not matter.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.api.errors import TokenizerBroken
from engine.api.files import write_atomically
from engine.models.growth import check_growth
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    TEMPLATE_LIMIT_BYTES,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    TOKENIZER_LIMIT_BYTES,
    FileError,
    object_at,
    read_limited,
    read_object,
)

MAX_TOKENS = 2**20
_OPAQUE = ("tokenizer.model", "tiktoken.model", "qwen.tiktoken")  # compared as files, not token by token


@dataclass(frozen=True, slots=True)
class Vocabulary:
    tokens: int  # 0: only the tokenizer itself knows
    digest: str


_Key = tuple[str, int, int]  # path, time of change, size
_known: dict[_Key, Vocabulary] = {}
_known_lock = threading.Lock()


def read_vocabulary(folder: Path) -> Vocabulary:
    """Raises TokenizerBroken. Remembers its answer for as long as the file stays the same."""
    try:
        _check_sizes(folder)
        path = _tokenizer_file(folder)
        stat = path.stat()
        key = (str(path.resolve()), stat.st_mtime_ns, stat.st_size)
        with _known_lock:
            known = _known.get(key)
        if known is None:
            known = _read(path)
            with _known_lock:
                _known[key] = known
    except (FileError, OSError) as error:
        raise TokenizerBroken(str(folder), str(error)) from error
    return known


def save_known(path: Path) -> None:
    """Reading one takes a tenth of a second in which no other thread of Python runs: not at every start, please."""
    with _known_lock:
        rows = [[*key, known.tokens, known.digest] for key, known in _known.items()]
    rows = [row for row in rows if Path(str(row[0])).exists()]
    data = json.dumps({"vocabularies": rows})
    if not path.is_file() or path.read_text("utf-8") != data:
        write_atomically(path, data, private=False)


def load_known(path: Path) -> None:
    """A file that is not there or not right only costs time."""
    try:
        rows = read_object(path, CONFIG_LIMIT_BYTES).get("vocabularies")
    except FileError:
        return
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list) and [type(value) for value in row] == [str, int, int, int, str]:
            with _known_lock:
                _known[row[0], row[1], row[2]] = Vocabulary(row[3], row[4])


def token_texts(folder: Path) -> dict[int, str] | None:
    """Id to text; None when the folder's tokenizer is of a kind that does not list its tokens."""
    try:
        path = _tokenizer_file(folder)
        return None if path.name in _OPAQUE else _texts(path)
    except FileError as error:
        raise TokenizerBroken(str(folder), str(error)) from error


def first_difference(main: dict[int, str], draft: dict[int, str]) -> int | None:
    """The lowest id that is not the same text in both."""
    return min((token for token in main.keys() | draft.keys() if main.get(token) != draft.get(token)), default=None)


def _tokenizer_file(folder: Path) -> Path:
    for name in ("tokenizer.json", "vocab.json", *_OPAQUE):
        if (folder / name).is_file():
            return folder / name
    raise FileError("no tokenizer.json")


def _check_sizes(folder: Path) -> None:
    for name, limit in (
        ("chat_template.jinja", TEMPLATE_LIMIT_BYTES),
        ("tokenizer_config.json", TOKENIZER_CONFIG_LIMIT_BYTES),
    ):
        path = folder / name
        if path.is_file() and path.stat().st_size > limit:
            raise FileError(f"{name}: larger than {limit} bytes")


def _read(path: Path) -> Vocabulary:
    if path.name in _OPAQUE:
        return Vocabulary(0, "file:" + hashlib.sha256(read_limited(path, TOKENIZER_LIMIT_BYTES)).hexdigest())
    texts = _texts(path)
    digest = hashlib.sha256()
    for token in sorted(texts):
        text = texts[token].encode("utf-8", "surrogatepass")
        digest.update(b"%d:%d:%b" % (token, len(text), text))
    return Vocabulary(len(texts), digest.hexdigest())


def _texts(path: Path) -> dict[int, str]:
    texts: dict[int, str] = {}
    for token, text in _entries(path):
        if type(token) is not int or not isinstance(text, str) or not 0 <= token < MAX_TOKENS:
            raise FileError(f"{path.name}: token {str(token)[:40]}: {str(text)[:40]!r}")
        texts[token] = text
    if not texts:
        raise FileError(f"{path.name}: no tokens")
    return texts


def _entries(path: Path) -> Iterator[tuple[object, object]]:
    content = read_object(path, TOKENIZER_LIMIT_BYTES)
    check_growth(content)
    if path.name == "vocab.json":
        yield from ((token, text) for text, token in content.items())
        return
    vocabulary = object_at(content, "model").get("vocab")
    if isinstance(vocabulary, dict):
        yield from ((token, text) for text, token in vocabulary.items())
    elif isinstance(vocabulary, list):  # Unigram: [text, score] in the order of their ids
        yield from ((token, row[0] if isinstance(row, list) and row else row) for token, row in enumerate(vocabulary))
    added = content.get("added_tokens")
    for entry in added if isinstance(added, list) else ():
        if not isinstance(entry, dict):
            raise FileError(f"{path.name}: an added token is not an object")
        yield entry.get("id"), entry.get("content")
