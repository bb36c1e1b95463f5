"""What the rows play on: the models, both sides, and the prompts. Made once, before anything is timed."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mlx_lm import utils as mlx_utils

from tests.bench import pairs
from tests.bench.opponents import Ours, Theirs

GUIDE = Path("packaging/starter/guide")
LANGUAGES = ("en", "ko", "ja", "zh")


@dataclass
class BenchSetup:
    folder: Path
    starter: Path = Path("resources/starter")
    cell: str = ""  # in the name of the cells, or kinds of text, that are measured
    _open: list[Ours] = field(default_factory=list)

    @property
    def draft(self) -> Path:
        return self.starter / "draft"

    @cached_property
    def main(self) -> Path:
        return pairs.inflate(self.starter / "main", self.folder / "main")

    @cached_property
    def endless(self) -> Path:
        """The same, but its replies go on past the end of an answer, so long ones are long."""
        return pairs.endless(self.main, self.folder / "endless")

    @cached_property
    def stranger(self) -> Path:
        return pairs.stranger(self.draft, self.folder / "stranger")

    @cached_property
    def follower(self) -> Path:
        """A draft that foresees most of what the main model writes, whatever that is."""
        return pairs.noised(self.starter / "main", self.folder / "follower", 0.15)

    @cached_property
    def ours(self) -> Ours:
        return self._opened(Ours(self.main, self.draft))

    @cached_property
    def hybrid_folder(self) -> Path:
        pairs.hybrid_pair(self.starter / "main", self.folder / "hybrid")
        return self.folder / "hybrid"

    @cached_property
    def hybrid(self) -> Ours:
        return self._opened(Ours(self.hybrid_folder / "main", self.hybrid_folder / "draft"))

    @cached_property
    def windowed(self) -> Ours:
        return self._opened(Ours(pairs.windowed(self.main, self.folder / "windowed"), self.follower))

    @cached_property
    def with_states(self) -> Ours:
        return self._opened(Ours(pairs.with_states(self.main, self.folder / "with-states"), self.follower))

    @cached_property
    def theirs(self) -> Theirs:
        _ = self.ours  # both sides run on the same weights
        return Theirs(self.main, self.draft)

    @cached_property
    def tokenizer(self) -> Any:
        return mlx_utils.load_tokenizer(self.starter / "main")

    @cached_property
    def guide(self) -> list[list[int]]:
        """Questions that the pair knows, in four languages, as rendered prompts."""
        return [self.rendered([{"role": "user", "content": question}]) for question, _ in self.questions(5)]

    @cached_property
    def copies(self) -> list[list[int]]:
        """The same question a second time, its answer before it."""
        return [
            self.rendered(
                [
                    {"role": "user", "content": question},
                    {"role": "assistant", "content": answer},
                    {"role": "user", "content": question},
                ]
            )
            for question, answer in self.questions(2, skip=40)
        ]

    @cached_property
    def noise(self) -> list[list[int]]:
        generator = random.Random(4)
        return [[generator.randrange(20, 1000) for _ in range(24)] for _ in range(4)]

    @cached_property
    def long(self) -> list[int]:
        """A chat of several thousand tokens."""
        turns = []
        for question, answer in self.questions(33):
            turns += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        return self.rendered(turns * 2)

    def close(self) -> None:
        for engine in self._open:
            engine.close()

    def _opened(self, engine: Ours) -> Ours:
        self._open.append(engine)
        return engine

    def questions(self, each: int, skip: int = 0) -> list[tuple[str, str]]:
        facts = [
            json.loads(line) for path in sorted(GUIDE.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
        ]
        random.Random(1).shuffle(facts)
        chosen = facts[skip : skip + each]
        return [(fact[language]["ask"][0], fact[language]["answer"]) for fact in chosen for language in LANGUAGES]

    def rendered(self, turns: list[dict[str, str]]) -> list[int]:
        return list(self.tokenizer.apply_chat_template(turns, add_generation_prompt=True))
