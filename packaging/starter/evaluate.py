"""Measures the starter pair with Hunch's own engine and prints JSON, per language.

    python packaging/starter/evaluate.py [--seen 200] [--errors]
    python packaging/starter/evaluate.py --drafters-only

right on `seen` questions, right on `unseen` paraphrases (never trained on), refusals of unseen off-topic questions,
right on seen questions as later turns of a long chat, and what drafting four tokens a round brings, all greedy.
Then the draft model beside each drafter, on `unseen` questions: tokens per pass, greedy and at temperature 0.8.
"""

import argparse
import difflib
import json
import queue
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from corpus import LANGUAGES, Guide, load_guide  # noqa: E402  (the repository's root has to be on the path first)

from engine.models.openblas import put_in_front  # noqa: E402

put_in_front()  # before anything that imports MLX

from engine import (  # noqa: E402
    Engine,
    EngineError,
    Failed,
    Finished,
    Message,
    MessageRole,
    ModelFailed,
    ModelReady,
    Picture,
    Request,
    RequestStats,
    Sampling,
    Speculation,
    TextDelta,
)

ALMOST = 0.9  # an answer this similar to the right one, and nearest to it, counts as right
DRAFT_TOKENS = 4
COMPARED_TOKENS = (7, 15)  # a round, for the draft model beside the drafters; a block of eight rows drafts seven
GREEDY = Sampling(temperature=0.0)
SAMPLINGS = {"greedy": GREEDY, "0.8": Sampling(temperature=0.8, seed=7)}
MAX_TOKENS = 120
CHATS, TURNS = 5, 16  # long chats, of questions and replies
SEED = 7

Question = tuple[str, list[str]]  # and the answers that are right


@dataclass(frozen=True)
class Reply:
    text: str
    stats: RequestStats


@dataclass
class Score:
    """How the replies to one kind of question in one language did."""

    asked: int = 0
    right: int = 0
    exact: int = 0
    drafted: int = 0
    accepted: int = 0
    tokens: int = 0
    passes: int = 0
    errors: list[dict[str, str]] = field(default_factory=list)

    def add(self, question: str, reply: Reply, right: str, verdict: tuple[bool, bool]) -> None:
        self.asked += 1
        self.right += verdict[0]
        self.exact += verdict[1]
        self.drafted += reply.stats.drafted
        self.accepted += reply.stats.accepted
        self.tokens += reply.stats.generated_tokens
        self.passes += reply.stats.rounds
        if not verdict[0]:
            self.errors.append({"question": question, "reply": reply.text, "right": right})

    def report(self) -> dict[str, float]:
        return {
            "asked": self.asked,
            "right": round(self.right / self.asked, 4),
            "exact": round(self.exact / self.asked, 4),
            "accept_rate": round(self.accepted / max(1, self.drafted), 4),
            "tokens_per_pass": round(self.tokens / max(1, self.passes), 3),
        }


class Judge:
    """Decides whether a reply is the right one of a language's answers."""

    def __init__(self, guide: Guide, language: str) -> None:
        self.refusals = [_plain(text) for text in guide.off_topic[language].refusals]
        self.answers = [_plain(fact.answer) for fact in guide.facts[language]] + self.refusals

    def verdict(self, reply: str, right: Iterable[str]) -> tuple[bool, bool]:
        """(right, exactly right)"""
        reply, wanted = _plain(reply), {_plain(text) for text in right}
        if reply in wanted:
            return True, True
        likeness = {text: difflib.SequenceMatcher(None, reply, text, autojunk=False).ratio() for text in self.answers}
        nearest = max(likeness, key=likeness.__getitem__)
        return nearest in wanted and likeness[nearest] >= ALMOST, False


def _plain(text: str) -> str:
    return " ".join(text.split())


class Asker:
    """The engine with the pair loaded."""

    def __init__(self, pair: Path) -> None:
        self.engine = Engine()
        self.events: queue.SimpleQueue = queue.SimpleQueue()
        self.engine.load(pair / "main", self.events.put, draft=pair / "draft")
        for _ in range(2):
            self._await_model()

    def draft_with(self, folder: Path) -> None:
        self.engine.set_draft(folder, self.events.put)
        self._await_model()

    def ask(
        self,
        question: str,
        before: tuple[Message, ...] = (),
        sampling: Sampling = GREEDY,
        draft_tokens: int = DRAFT_TOKENS,
        pictures: tuple[Picture, ...] = (),
    ) -> Reply:
        self.engine.submit(
            Request(
                messages=(*before, Message(MessageRole.USER, question, pictures=pictures)),
                sampling=sampling,
                speculation=Speculation.fixed(draft_tokens) if draft_tokens else Speculation.off(),
                max_tokens=MAX_TOKENS,
            ),
            self.events.put,
        )
        text = ""
        while not isinstance(event := self.events.get(), (Finished, Failed)):
            text += event.text if isinstance(event, TextDelta) else ""
        if isinstance(event, Failed):
            raise event.error
        return Reply(text, event.stats)

    def _await_model(self) -> None:
        while not isinstance(event := self.events.get(), ModelReady):
            if isinstance(event, ModelFailed):
                raise event.error


def measure(asker: Asker, guide: Guide, language: str, seen: int) -> dict[str, Score]:
    judge = Judge(guide, language)
    facts, other = guide.facts[language], guide.off_topic[language]
    known = [(question, [fact.answer]) for fact in facts for question in fact.ask]
    unseen = [(question, [fact.answer]) for fact in facts for question in fact.unseen]
    outside = [(question, list(other.refusals)) for question in other.unseen]
    sample = random.Random(SEED).sample(known, min(seen, len(known)))
    return {
        "seen": _score(asker, judge, sample),
        "unseen": _score(asker, judge, unseen),
        "off_topic": _score(asker, judge, outside),
        "later_turns": _score_chats(asker, judge, known),
    }


def _score(asker: Asker, judge: Judge, questions: list[Question]) -> Score:
    score = Score()
    for question, right in questions:
        reply = asker.ask(question)
        score.add(question, reply, right[0], judge.verdict(reply.text, right))
    return score


def _score_chats(asker: Asker, judge: Judge, known: list[Question]) -> Score:
    score, draw = Score(), random.Random(SEED)
    for _ in range(CHATS):
        before: tuple[Message, ...] = ()
        for question, right in draw.sample(known, min(TURNS, len(known))):
            reply = asker.ask(question, before)
            score.add(question, reply, right[0], judge.verdict(reply.text, right))
            before += Message(MessageRole.USER, question), Message(MessageRole.ASSISTANT, reply.text)
    return score


def compare(asker: Asker, folders: Iterable[Path], questions: dict[str, list[str]]) -> dict[str, Any]:
    """Tokens per pass on `questions` by language: of each drafter, at each temperature, drafting so many tokens."""
    report: dict[str, Any] = {}
    for folder in folders:
        asker.draft_with(folder)
        report[folder.name] = {
            name: {
                tokens: {lang: _tokens_per_pass(asker, asked, sampling, tokens) for lang, asked in questions.items()}
                for tokens in COMPARED_TOKENS
            }
            for name, sampling in SAMPLINGS.items()
        }
    return report


def _unseen(guide: Guide, language: str, most: int) -> list[str]:
    questions = [question for fact in guide.facts[language] for question in fact.unseen]
    return random.Random(SEED).sample(questions, min(most, len(questions)))


def _tokens_per_pass(asker: Asker, questions: list[str], sampling: Sampling, tokens: int) -> float:
    """Over the rounds that can draft: the first of a reply cannot."""
    stats = [asker.ask(question, (), sampling, tokens).stats for question in questions]
    written, passes = sum(each.generated_tokens - 1 for each in stats), sum(each.rounds - 1 for each in stats)
    return round(written / max(1, passes), 3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", type=Path, default=ROOT / "resources" / "starter", help="has main/ and draft/")
    parser.add_argument("--seen", type=int, default=200, help="how many of the seen questions of a language to ask")
    parser.add_argument("--language", choices=LANGUAGES, action="append", help="only these")
    parser.add_argument("--errors", action="store_true", help="list every wrong reply, too")
    parser.add_argument("--drafters-only", action="store_true", help="only compare the draft model and the drafters")
    parser.add_argument("--drafter", type=Path, action="append", default=[], help="a folder to compare as well")
    parser.add_argument("--compared", type=int, default=5, help="unseen questions of a language to compare them on")
    options = parser.parse_args()
    guide, languages = load_guide(), options.language or LANGUAGES
    drafts = sorted(path.parent for path in options.pair.glob("*/config.json") if path.parent.name != "main")
    drafts += options.drafter
    try:
        asker = Asker(options.pair)
        asked = () if options.drafters_only else languages
        scores = {language: measure(asker, guide, language, options.seen) for language in asked}
        unseen = {language: _unseen(guide, language, options.compared) for language in languages}
        drafters = compare(asker, drafts, unseen)
        asker.engine.close()
    except EngineError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    report: dict[str, Any] = {
        lang: {kind: score.report() for kind, score in kinds.items()} for lang, kinds in scores.items()
    }
    report["tokens_per_pass"] = drafters
    if options.errors:
        for lang, kinds in scores.items():
            report[lang]["errors"] = {kind: score.errors for kind, score in kinds.items()}
    print(json.dumps(report, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
