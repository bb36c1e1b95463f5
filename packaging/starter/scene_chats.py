"""Chats about pictures as arrays: tokens, where pictures are in them, and what is to be learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt

import numpy as np
from eyes import HELD, PATCH, SIDE, TOKENS
from numpy.typing import NDArray
from scene_answers import LANGUAGES, TASKS, answer, question, texts
from scenes import COLOURS, SHAPES, Array, Scene, drawn, scene
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PAD, TURN, END, BEGIN, PLACE, CLOSE = SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|picture|>",
    "<|row|>",
    "<|end_of_picture|>",
)
VOCABULARY = 512
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<|picture|>{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_PICTURE = f"\n\n{BEGIN}{PLACE * TOKENS}{CLOSE}\n\n"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+"


def train_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(_WORDS), behavior="isolated")
    levels = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, levels])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[AddedToken(each, special=True, normalized=False) for each in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=15,
        show_progress=False,
    )
    tokenizer.train_from_iterator(["user\n", "assistant\n"] * 100 + texts(), trainer)
    return tokenizer


Ids = NDArray[np.int64]
Shown = tuple[Scene, Array]  # with its patches


class PictureMaker:
    """Pictures alone. They are drawn as they are needed, and some are taken again."""

    def __init__(self, digits: Sequence[tuple[Array, int]], seed: int, again: float = 0.7) -> None:
        self._digits, self._again = digits, again
        self._random = np.random.default_rng(seed)
        self._drawn: list[Shown] = []

    def batch(self, pictures: int, _: int) -> tuple[Array, Ids]:
        """Patches, and what is known of each picture."""
        shown = [self._shown() for _ in range(pictures)]
        return np.stack([patches for _, patches in shown]), np.array([known(made) for made, _ in shown])

    def _shown(self) -> Shown:
        if len(self._drawn) < 64 or self._random.random() > self._again:
            made = scene(self._random, self._digits)
            self._drawn.append((made, in_patches(drawn(made, SIDE, SIDE, self._random))))
            self._drawn = self._drawn[-12000:]
            return self._drawn[-1]
        return self._drawn[self._random.integers(len(self._drawn))]


class ChatMaker(PictureMaker):
    """Chats of some turns about a picture or two, in one language or several."""

    def __init__(self, tokenizer: Tokenizer, digits: Sequence[tuple[Array, int]], seed: int) -> None:
        super().__init__(digits, seed)
        self._tokenizer = tokenizer

    def batch(self, chats: int, length: int) -> tuple[Ids, Ids, NDArray[np.bool_], Array, Ids]:
        """Tokens, the row of all pictures that takes a token's place or -1, what is learned, patches, what is known."""
        tokens, places = np.zeros((chats, length), np.int64), np.full((chats, length), -1)
        learned, pictures = np.zeros((chats, length), np.bool_), list[Shown]()
        for chat in range(chats):
            at = 0
            for asked, said, shown in self._turns(length):
                if shown is not None:
                    first = at + asked.index(self._tokenizer.token_to_id(PLACE))
                    places[chat, first : first + TOKENS] = np.arange(TOKENS) + TOKENS * len(pictures)
                    pictures.append(shown)
                end = at + len(asked) + len(said)
                tokens[chat, at:end], learned[chat, at + len(asked) : end] = asked + said, True
                at = end
        patches = np.stack([patches for _, patches in pictures])
        return tokens, places, learned, patches, np.array([known(made) for made, _ in pictures])

    def _turns(self, length: int) -> Iterator[tuple[list[int], list[int], Shown | None]]:
        """Question, answer and a picture that comes with it, as many as there is room for."""
        shown: Shown | None
        shown, turns, language = None, 0, self._language()
        while True:
            new = self._random.random() < (0.93 if turns == 0 else 0.8 if shown is None else 0.6 * (turns == 2))
            shown = self._shown() if new else shown
            language = self._language() if self._random.random() < 0.1 else language
            task = TASKS[self._random.integers(len(TASKS))]
            prompt = f"{_PICTURE if new else ''}{question(self._random, task, language)}"
            asked = self._tokenizer.encode(f"{TURN}user\n{prompt}{END}\n{TURN}assistant\n").ids
            said = self._tokenizer.encode(f"{answer(shown and shown[0], task, language)}{END}\n").ids
            length -= len(asked) + len(said)
            if length < 0:
                return
            yield asked, said, shown if new else None
            turns += 1

    def _language(self) -> str:
        return LANGUAGES[self._random.integers(len(LANGUAGES))]


def known(made: Scene) -> list[int]:
    """The numbers of its shape, colour, count and digit, then how many centres are in each row's part, as far as two.

    -100: it has none.
    """
    shape = [*SHAPES, "digit", "unknown"].index(made.shape)
    if made.shape == "unknown":
        return [shape, *[-100] * (3 + TOKENS)]
    side, held = isqrt(TOKENS), [0] * TOKENS
    for across, down, *_ in made.places:
        cell = int(down * side) * side + int(across / made.aspect * side)
        held[cell] = min(held[cell] + 1, HELD - 1)
    digit = made.digit if made.digit >= 0 else -100
    return [shape, list(COLOURS).index(made.colour), made.count - 1, digit, *held]


def in_patches(pixels: NDArray[np.uint8]) -> Array:
    """As the engine cuts them, its levels from -1 to 1."""
    count = SIDE // PATCH
    parts = (pixels.astype(np.float32) / 127.5 - 1).reshape(count, PATCH, count, PATCH, 3)
    return parts.transpose(0, 2, 4, 1, 3).reshape(count**2, -1)
