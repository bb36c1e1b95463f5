"""Writes what seeing.py trains as folders of Gemma 3 that mlx-lm and Hunch load."""

import json
from pathlib import Path

from eyes import CONTEXT, DRAFT, PATCH, TEXT, TOKENS, VISION_CONFIG, Text, Tower
from packed import packed
from safetensors.torch import save_file
from scene_chats import BEGIN, CHAT_TEMPLATE, CLOSE, END, PAD, PLACE, SPECIAL
from tokenizers import Tokenizer
from torch import Tensor, nn

BITS, GROUP = 8, 32
NAMES = {"main": "Hunch Starter Eyes", "draft": "Hunch Starter Eyes Draft"}


def export_main(text: nn.Module, tower: Tower, tokenizer: Tokenizer, folder: Path) -> None:
    vocabulary = tokenizer.get_vocab_size()
    config = {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "vocab_size": vocabulary,
        "text_config": TEXT.config(vocabulary),
        "vision_config": VISION_CONFIG,
        "mm_tokens_per_image": TOKENS,
        "image_token_index": tokenizer.token_to_id(PLACE),
        "boi_token_index": tokenizer.token_to_id(BEGIN),
        "eoi_token_index": tokenizer.token_to_id(CLOSE),
    }
    named = {f"language_model.model.{name}": value for name, value in text.state_dict().items()}
    _write(folder, config, named | _tower(tower), tokenizer)
    levels = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 2}
    (folder / "preprocessor_config.json").write_text(json.dumps(levels) + "\n", "utf-8")


def export_draft(model: nn.Module, tokenizer: Tokenizer, folder: Path) -> None:
    assert isinstance(model, Text)
    config = {"architectures": ["Gemma3ForCausalLM"], **DRAFT.config(tokenizer.get_vocab_size())}
    _write(folder, config, {f"model.{name}": value for name, value in model.state_dict().items()}, tokenizer)


def _tower(tower: Tower) -> dict[str, Tensor]:
    own, named = tower.state_dict(), dict[str, Tensor]()
    for name, value in own.items():
        if name.startswith("layers."):
            named[f"vision_tower.vision_model.encoder.{name}"] = value
    root = "vision_tower.vision_model"
    weight, bias = tower.embedding()
    kernel = weight.unflatten(1, (3, PATCH, PATCH))
    return named | {
        f"{root}.embeddings.patch_embedding.weight": kernel.permute(0, 2, 3, 1),  # MLX's order
        f"{root}.embeddings.patch_embedding.bias": bias,
        f"{root}.embeddings.position_embedding.weight": own["position_embedding"],
        f"{root}.post_layernorm.weight": own["post_layernorm.weight"],
        f"{root}.post_layernorm.bias": own["post_layernorm.bias"],
        "multi_modal_projector.mm_soft_emb_norm.weight": own["norm.weight"],
        "multi_modal_projector.mm_input_projection_weight": own["projection.weight"].T,
    }


def _write(folder: Path, config: dict, weights: dict[str, Tensor], tokenizer: Tokenizer) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    parts = packed({name: value.detach() for name, value in weights.items()}, BITS, GROUP)
    save_file(
        {name: part.contiguous() for name, part in parts.items()},
        folder / "model.safetensors",
        metadata={"format": "mlx"},
    )
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes for the owner only
    ends = {"eos_token_id": tokenizer.token_to_id(END), "pad_token_id": tokenizer.token_to_id(PAD)}
    packing = {"quantization": {"group_size": GROUP, "bits": BITS}, "torch_dtype": "float16"}
    _json(folder / "config.json", {**config, **ends, **packing})
    _json(folder / "generation_config.json", ends)
    _json(folder / "hunch.json", {"name": NAMES[folder.name]})
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    how = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_bos_token": False,
        "bos_token": None,
        "eos_token": END,
        "pad_token": PAD,
        "unk_token": None,
        "additional_special_tokens": list(SPECIAL[1:]),
        "clean_up_tokenization_spaces": False,
        "model_max_length": CONTEXT,
        "chat_template": CHAT_TEMPLATE,
    }
    _json(folder / "tokenizer_config.json", how)


def _json(file: Path, value: dict) -> None:
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")
