"""Model folders for tests, written byte by byte: no MLX, no tokenizer library, any field can be made wrong."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "U32": 4, "U8": 1, "F8_E4M3": 1}
CONFIG: dict[str, object] = {
    "model_type": "qwen3",
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "vocab_size": 12,
    "max_position_embeddings": 2048,
}
TOKENS = {"a": 0, "b": 1, "ab": 2, "글": 3}
TENSORS = {"model.embed_tokens.weight": ("F32", (12, 8)), "model.norm.weight": ("F32", (8,))}


def safetensors(tensors: Mapping[str, tuple[str, tuple[int, ...]]], fill: bytes = b"\1") -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "mlx"}}
    position = 0
    for name, (dtype, shape) in tensors.items():
        size = ITEM_BYTES[dtype]
        for side in shape:
            size *= side
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [position, position + size]}
        position += size
    return with_header(header, fill * position)


def with_header(header: object, body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def tokenizer(tokens: Mapping[str, int], added: Mapping[str, int] | None = None) -> bytes:
    entries = [
        {"id": token, "content": text} for text, token in ({"<eos>": len(tokens)} if added is None else added).items()
    ]
    return json.dumps({"model": {"type": "BPE", "vocab": dict(tokens), "merges": []}, "added_tokens": entries}).encode()


def model_files(
    config: Mapping[str, object] | None = None,
    tensors: Mapping[str, tuple[str, tuple[int, ...]]] | None = None,
    tokens: Mapping[str, int] | None = None,
) -> dict[str, bytes]:
    return {
        "config.json": json.dumps({**CONFIG, **(config or {})}).encode(),
        "model.safetensors": safetensors(TENSORS if tensors is None else tensors),
        "tokenizer.json": tokenizer(TOKENS if tokens is None else tokens),
        "tokenizer_config.json": b"{}",
    }


def write_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder
