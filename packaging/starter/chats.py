"""Makes endless seeded chats out of the guide and packs them into rows of tokens with weights for the loss."""

import random
from dataclasses import dataclass, field

import numpy as np
from augment import WORDING, Augmenter
from corpus import LANGUAGES, Guide
from tokenizer import END, TURN
from tokenizers import Tokenizer

OFF_TOPIC_SHARE = 0.15
FAVOURED_SHARE = 0.6  # of turns about facts, where any are favoured
OTHER_LANGUAGE_SHARE = 0.06  # of turns: people mix languages within a chat
QUESTION_WEIGHT = 0.03  # of an answer token's: reading is practised, answering is what counts
OPENING_TOKENS = 12  # of an answer that is only begun
DECIDING_TOKENS, DECIDING_WEIGHT = 6, 2.0  # where one answer is told from another: the rest follows
SPLIT_WORDS_SHARE = 0.4  # of questions: read in smaller pieces (BPE dropout), so that typos look familiar


@dataclass
class Row:
    tokens: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    chats: list[int] = field(default_factory=list)

    def add(self, tokens: list[int], weight: float, chat: int) -> None:
        self.tokens += tokens
        self.weights += [weight] * len(tokens)
        self.chats += [chat] * len(tokens)


class ChatMaker:
    """Rows of packed chats; the same seed gives the same rows."""

    def __init__(self, guide: Guide, tokenizer: Tokenizer, seed: int, opening_share: float) -> None:
        """Of the chats with one turn, `opening_share` end early in the answer: more questions for the same tokens."""
        self.guide = guide
        self.opening_share = opening_share
        self.rng = random.Random(seed)
        self.augmenter = Augmenter(guide)
        self.tokenizer = tokenizer

    def batch(self, rows: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens and chat numbers, `length + 1` columns: inputs and targets overlap. Weights are the targets'."""
        made = [self._row(length + 1) for _ in range(rows)]
        tokens, chats = np.array([row.tokens for row in made]), np.array([row.chats for row in made])
        return tokens, chats, np.array([row.weights for row in made], dtype=np.float32)[:, 1:]

    def _row(self, length: int) -> Row:
        row, chat = Row(), 0
        while len(row.tokens) < length:
            self._chat(row, chat, length)
            chat += 1
        return Row(row.tokens[:length], row.weights[:length], row.chats[:length])

    def _chat(self, row: Row, chat: int, length: int) -> None:
        language = self.rng.choice(LANGUAGES)
        turns = self.rng.choice((1, 1, 1, 1, 2, 3, 6)) * max(1, length // 512)
        if self.rng.random() < 0.4:
            row.add(self._encode(f"{TURN}system\n{self._system(language)}{END}\n"), 0.0, chat)
        longest = OPENING_TOKENS if turns == 1 and self.rng.random() < self.opening_share else None
        for _ in range(turns):
            spoken = self.rng.choice(LANGUAGES) if self.rng.random() < OTHER_LANGUAGE_SHARE else language
            self._turn(row, chat, spoken, longest)
            if len(row.tokens) >= length:
                return

    def _system(self, language: str) -> str:
        if self.rng.random() < 0.8:
            return self.rng.choice(WORDING[language]["system"])
        return " ".join(self.rng.choice(self.guide.off_topic[language].ask) for _ in range(self.rng.randint(1, 4)))

    def _turn(self, row: Row, chat: int, language: str, longest: int | None) -> None:
        question, answer = self._exchange(language)
        row.add(self._encode(f"{TURN}user\n"), 0.0, chat)
        row.add(self._encode_question(question), QUESTION_WEIGHT, chat)
        row.add(self._encode(f"{END}\n{TURN}assistant\n"), 0.0, chat)
        spoken = self._encode(f"{answer}{END}")[:longest]
        row.add(spoken[:DECIDING_TOKENS], DECIDING_WEIGHT, chat)
        row.add(spoken[DECIDING_TOKENS:], 1.0, chat)
        row.add(self._encode("\n") if longest is None else [], 0.0, chat)

    def _exchange(self, language: str) -> tuple[str, str]:
        if self.rng.random() < OFF_TOPIC_SHARE:
            return self.augmenter.off_topic(self.rng, language), self.guide.off_topic[language].refusals[0]
        facts = self.guide.facts[language]
        if self.guide.favoured and self.rng.random() < FAVOURED_SHARE:
            facts = tuple(fact for fact in facts if fact.id in self.guide.favoured)
        fact = self.rng.choice(facts)
        return self.augmenter.about(self.rng, fact), fact.answer

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    def _encode_question(self, question: str) -> list[int]:
        if self.rng.random() >= SPLIT_WORDS_SHARE:
            return self._encode(question)
        return self._split(question)

    def _split(self, question: str) -> list[int]:
        """Encodes each word cut at random places; concatenated bytes stay the question's."""
        tokens: list[int] = []
        for piece, _ in self.tokenizer.pre_tokenizer.pre_tokenize_str(question):
            tokens += self._split_word(piece)
        return tokens

    def _split_word(self, piece: str) -> list[int]:
        """A word in byte-level letters, cut once or left whole, each part encoded as the merges would."""
        cut = self.rng.randrange(1, len(piece)) if len(piece) > 1 and self.rng.random() < 0.3 else len(piece)
        parts = [part for part in (piece[:cut], piece[cut:]) if part]
        return [token.id for part in parts for token in self.tokenizer.model.tokenize(part)]
