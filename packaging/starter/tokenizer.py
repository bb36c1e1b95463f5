"""The byte-level BPE tokenizer that both models share: trained on the guide, saved as stock mlx-lm and HF read it."""

import json
from collections.abc import Iterator
from pathlib import Path

from corpus import Guide
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PAD, TURN, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
PAD_ID, END_ID = 0, 2  # 1 begins a turn
VOCABULARY = 5120
LONGEST_PIECE_BYTES = 12  # four Chinese characters: longer pieces would be phrases that a paraphrase breaks
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def train_tokenizer(guide: Guide) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[PAD, TURN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=LONGEST_PIECE_BYTES,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(guide), trainer)
    return tokenizer


def _texts(guide: Guide) -> Iterator[str]:
    yield from ["system\n", "user\n", "assistant\n"] * 100
    for group in guide.facts.values():
        for fact in group:
            yield from [fact.answer] * 4  # answers are what is generated: they get the longer pieces
            yield from fact.ask
    for other in guide.off_topic.values():
        yield from other.refusals * 4
        yield from other.ask
        yield from [word for words in other.slots.values() for word in words]
        yield from other.templates


def save_tokenizer(tokenizer: Tokenizer, folder: Path, context: int) -> None:
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)  # half the size
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_bos_token": False,
        "bos_token": None,
        "eos_token": END,
        "pad_token": PAD,
        "unk_token": None,
        "additional_special_tokens": [TURN, END],
        "clean_up_tokenization_spaces": False,
        "model_max_length": context,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8")
