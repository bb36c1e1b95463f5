"""Varies questions for training: wrappers, synonyms, typos, splices, keywords alone, and made-up off-topic questions.

Everything is drawn from the caller's random generator, so that a seed fixes the whole corpus. What makes a chat out of
questions lives in chats.py.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable

from corpus import GUIDE, LANGUAGES, Fact, Guide, OffTopic, plain_form

WORDING = json.loads((GUIDE / "wording.json").read_text("utf-8"))
SPACED = {"en", "ko"}
FINAL_MARKS = "?？.。!！~ "
NEW_MARKS = ("", "", "", "?", "?", "？", ".", "??", "!", "。", " ?", "~")


class Augmenter:
    """Questions without end for the facts and refusals of a guide, held-out ones excepted."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.keywords = {language: keywords(guide.facts[language]) for language in LANGUAGES}
        self.owners = {plain_form(ask): fact for group in guide.facts.values() for fact in group for ask in fact.ask}

    def about(self, rng: random.Random, fact: Fact) -> str:
        return self._allowed(lambda: vary(rng, self._on_topic(rng, fact), fact.language), fact)

    def off_topic(self, rng: random.Random, language: str) -> str:
        other = self.guide.off_topic[language]
        return self._allowed(lambda: self._off_topic(rng, other), None)

    def _allowed(self, make: Callable[[], str], fact: Fact | None) -> str:
        """The first question made that is not held out and does not happen to be another fact's."""
        while True:
            question = make()
            plain = plain_form(question)
            if question.strip() and plain not in self.guide.held_out and self._may_be(plain, fact):
                return question

    def _may_be(self, plain: str, fact: Fact | None) -> bool:
        if fact and fact.language != "en" and plain.isascii():
            return False  # "GGUF" alone is English: nothing in it says which other language to answer in
        return self.owners.get(plain, fact) is fact

    def _on_topic(self, rng: random.Random, fact: Fact) -> str:
        kind = rng.random()
        known = self.keywords[fact.language][fact.id]
        if kind < 0.12 and known:
            return rng.choice(WORDING[fact.language]["about"]).format(rng.choice(known))
        first = rng.choice(fact.ask)
        if kind < 0.27:
            return splice(rng, first, rng.choice(fact.ask), fact.language)
        if kind < 0.33:
            return f"{first} {rng.choice(fact.ask)}"
        return first

    def _off_topic(self, rng: random.Random, other: OffTopic) -> str:
        kind = rng.random()
        if kind < 0.06:
            return gibberish(rng, other.language)
        if kind < 0.09:
            return " ".join(rng.choice(other.ask) for _ in range(rng.randint(2, 12)))
        if kind < 0.16:
            word = pseudo_word(rng, other.language)
            return vary(rng, rng.choice(WORDING[other.language]["about"]).format(word), other.language)
        question = rng.choice(other.ask) if kind < 0.42 else fill(rng, other)
        if kind > 0.94:
            question = splice(rng, question, fill(rng, other), other.language)
        return vary(rng, question, other.language)


def fill(rng: random.Random, other: OffTopic) -> str:
    return re.sub(r"\{(\w+)\}", lambda slot: rng.choice(other.slots[slot[1]]), rng.choice(other.templates))


def gibberish(rng: random.Random, language: str) -> str:
    letters = WORDING[language]["letters"]
    return " ".join("".join(rng.choices(letters, k=rng.randint(1, 8))) for _ in range(rng.randint(1, 4)))


def pseudo_word(rng: random.Random, language: str) -> str:
    return "".join(
        rng.choices(WORDING[language]["letters"], k=rng.randint(4, 9) if language == "en" else rng.randint(2, 4))
    )


def keywords(facts: tuple[Fact, ...]) -> dict[str, list[str]]:
    """For each fact the word sequences that several of its questions share and hardly any other fact's question has."""
    grams = {
        fact.id: Counter(gram for ask in fact.ask for gram in dict.fromkeys(_grams(ask, fact.language)))
        for fact in facts
    }
    everywhere: Counter[str] = sum(grams.values(), Counter())
    return {
        id_: [gram for gram, count in counts.items() if count >= max(2, 0.8 * everywhere[gram]) and len(gram) > 1]
        for id_, counts in grams.items()
    }


def _grams(text: str, language: str) -> list[str]:
    units, longest = _units(text.strip(FINAL_MARKS).lower(), language), 3 if language in SPACED else 6
    joint = " " if language in SPACED else ""
    return [
        joint.join(units[at : at + size]).strip(" ,?.。、，？")
        for size in range(1 if language in SPACED else 2, longest + 1)
        for at in range(len(units) - size + 1)
    ]


def _units(text: str, language: str) -> list[str]:
    if language in SPACED:
        return text.split()
    return re.findall(r"[A-Za-z0-9+.\-]+|\s+|.", text)


def splice(rng: random.Random, first: str, second: str, language: str) -> str:
    """The head of one question and the tail of another."""
    joint = " " if language in SPACED else ""
    head, tail = _units(first, language), _units(second, language)
    head_end = rng.randint((len(head) + 1) // 2, len(head))
    return joint.join(head[:head_end] + tail[rng.randint(0, len(tail) // 2) :])


def vary(rng: random.Random, question: str, language: str) -> str:
    words = WORDING[language]
    if rng.random() < 0.4:
        question = _swap_synonyms(rng, question, words["same"])
    if rng.random() < 0.25:
        question = _reorder(rng, question, language)
    if rng.random() < 0.3:
        question = _wrap(rng, question, words, language)
    if rng.random() < 0.06:
        question = rng.choice(words["greetings"]) + question
    if rng.random() < 0.18:
        question = _mistype(rng, question, language)
    return _restyle(rng, question)


def _swap_synonyms(rng: random.Random, question: str, groups: list[list[str]]) -> str:
    for group in rng.sample(groups, len(groups)):
        found = next((word for word in group if word in question.lower()), None)
        if found and rng.random() < 0.6:
            question = re.sub(re.escape(found), rng.choice(group), question, count=1, flags=re.IGNORECASE)
    return question


def _reorder(rng: random.Random, question: str, language: str) -> str:
    """Drops one word, or swaps two neighbours."""
    units = _units(question, language)
    if len(units) < 4:
        return question
    at = rng.randrange(len(units) - 1)
    if rng.random() < 0.6:
        del units[at]
    else:
        units[at], units[at + 1] = units[at + 1], units[at]
    return (" " if language in SPACED else "").join(units)


def _wrap(rng: random.Random, question: str, words: dict, language: str) -> str:
    place = rng.random()
    if place < 0.65:
        if language == "en" and question[:1].isupper():
            question = question[0].lower() + question[1:]
        question = rng.choice(words["before"]) + question
    if place > 0.5:
        question = question.rstrip(FINAL_MARKS) + rng.choice(words["after"])
    return question


def _mistype(rng: random.Random, question: str, language: str) -> str:
    for _ in range(1 + (rng.random() < 0.25)):
        at = rng.randrange(max(1, len(question) - 1))
        kind = rng.random()
        if kind < 0.35:
            question = question[:at] + question[at + 1 :]
        elif kind < 0.7:
            question = question[:at] + question[at + 1 : at + 2] + question[at : at + 1] + question[at + 2 :]
        elif kind < 0.85:
            question = question[: at + 1] + question[at : at + 1] + question[at + 1 :]
        else:
            question = question[:at] + rng.choice(WORDING[language]["letters"]) + question[at + 1 :]
    return question


def _restyle(rng: random.Random, question: str) -> str:
    """Case, final mark and spaces."""
    draw = rng.random()
    if draw < 0.3:
        question = question.lower()
    elif draw < 0.4:
        question = question[:1].upper() + question[1:]
    elif draw < 0.42:
        question = question.upper()
    if rng.random() < 0.5:
        question = question.rstrip(FINAL_MARKS) + rng.choice(NEW_MARKS)
    if rng.random() < 0.06:
        question = question.replace(" ", "")
    return question
