"""Chats about pictures as arrays: tokens, where pictures are in them, and what is to be learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
VOCABULARY = 1024  # each shape, colour and number is one token
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<|picture|>{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_KEPT = 12_000  # pictures
_ALONE = 0.28  # of the pictures to learn from: one large shape, the hardest to tell, in half of those of shapes
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
    """Pictures alone. They are drawn as they are needed, and most are taken again.

    What is to be learned is `varied`: there are few digits, and few of the shapes are alone.
    """

    def __init__(
        self, digits: Sequence[tuple[Array, int]], seed: int, *, again: float = 0.7, varied: bool = True
    ) -> None:
        self._digits, self._again, self._varied = digits, again, varied
        self._random = np.random.default_rng(seed)
        self._drawn: list[Shown] = []

    def batch(self, pictures: int, _: int = 0) -> tuple[Array, Ids]:
        """Patches, and what is known of each picture."""
        shown = [self._shown() for _ in range(pictures)]
        return np.stack([patches for _, patches in shown]), np.array([known(made) for made, _ in shown])

    def new(self) -> Shown:
        alone = self._varied and self._random.random() < _ALONE
        shape = SHAPES[self._random.integers(len(SHAPES))] if alone else ""
        made = scene(self._random, self._digits, shape, alone=alone)
        if self._varied and made.shape == "digit":
            made = self._written_otherwise(made)
        return made, in_patches(drawn(made, SIDE, SIDE, self._random))

    def _shown(self) -> Shown:
        if len(self._drawn) < 64 or self._random.random() > self._again:
            self._drawn.append(self.new())
            del self._drawn[:-_KEPT]
            return self._drawn[-1]
        return self._drawn[self._random.integers(len(self._drawn))]

    def _written_otherwise(self, made: Scene) -> Scene:
        """Thicker or thinner, with specks, turned a little further."""
        strokes = made.strokes ** self._random.uniform(0.7, 1.4) + self._random.normal(0, 0.06, made.strokes.shape)
        turn = self._random.normal(0, 0.1)
        places = tuple((across, down, size, angle + turn) for across, down, size, angle in made.places)
        return replace(made, strokes=np.clip(strokes, 0, 1).astype(np.float32), places=places)


class ChatMaker:
    """Chats of some turns about a picture or two of `scenes`, in one language or several."""

    def __init__(self, tokenizer: Tokenizer, scenes: Sequence[Scene], seed: int) -> None:
        self._tokenizer, self._scenes = tokenizer, scenes
        self._random = np.random.default_rng(seed)
        self.asked: list[tuple[str, str]] = []  # of the last batch, for each answer: about what, and the language

    def batch(self, chats: int, length: int) -> tuple[Ids, Ids, Ids]:
        """Tokens; for each the row, of those of all scenes, in its place, or -1; and the number of its answer, or 0."""
        tokens, answers = np.zeros((2, chats, length), np.int64)
        places = np.full((chats, length), -1)
        self.asked = []
        for chat in range(chats):
            at = 0
            for asked, said, shown in self._turns(length):
                if shown is not None:
                    first = at + asked.index(self._tokenizer.token_to_id(PLACE))
                    places[chat, first : first + TOKENS] = np.arange(TOKENS) + TOKENS * shown
                end = at + len(asked) + len(said)
                tokens[chat, at:end], answers[chat, at + len(asked) : end] = asked + said, len(self.asked)
                at = end
        return tokens, places, answers

    def _turns(self, length: int) -> Iterator[tuple[list[int], list[int], int | None]]:
        """Question, answer and the number of a scene that comes with it, as many as there is room for."""
        shown: int | None
        shown, turns, language = None, 0, self._pick(LANGUAGES)
        while True:
            new = self._random.random() < (0.93 if turns == 0 else 0.8 if shown is None else 0.3)
            shown = int(self._random.integers(len(self._scenes))) if new else shown
            language = self._pick(LANGUAGES) if self._random.random() < 0.1 else language
            task, made = self._pick(TASKS), None if shown is None else self._scenes[shown]
            prompt = f"{_PICTURE if new else ''}{question(self._random, task, language)}"
            asked = self._tokenizer.encode(f"{TURN}user\n{prompt}{END}\n{TURN}assistant\n").ids
            said = self._tokenizer.encode(f"{answer(made, task, language)}{END}\n").ids
            length -= len(asked) + len(said)
            if length < 0:
                return
            self.asked.append((f"{kind(made)}: {task}", language))
            yield asked, said, shown if new else None
            turns += 1

    def _pick(self, among: Sequence[str]) -> str:
        return among[self._random.integers(len(among))]


def kind(made: Scene | None) -> str:
    return "nothing" if made is None else "shapes" if made.shape in SHAPES else made.shape


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
