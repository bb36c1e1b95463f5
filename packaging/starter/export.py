"""Writes a trained model as a folder that stock mlx-lm and HF load: weights in fp16, config, tokenizer."""

import json
from pathlib import Path

import torch
from model import CONTEXT, Model
from safetensors.torch import save_file
from tokenizer import END_ID, PAD_ID, save_tokenizer
from tokenizers import Tokenizer

NAMES = {"main": "Hunch Starter", "draft": "Hunch Starter Draft"}  # by folder; what the app calls them


def export(model: Model, tokenizer: Tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().to(torch.float16).contiguous() for name, value in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "mlx"})
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes for the owner only
    config = model.shape.config(END_ID, PAD_ID)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    generation = {"eos_token_id": END_ID, "pad_token_id": PAD_ID}
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n", "utf-8")
    name = {"name": NAMES.get(folder.name, folder.name)}
    (folder / "hunch.json").write_text(json.dumps(name) + "\n", "utf-8")
    save_tokenizer(tokenizer, folder, CONTEXT)


def size_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
