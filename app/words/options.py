"""The options of a reply in words: their names, what an empty field stands for, and what they are set to."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.words.formats import count, fill, number


def option_name(name: str) -> str:
    return {
        "system_prompt": QCoreApplication.translate("Options", "System prompt"),
        "temperature": QCoreApplication.translate("Options", "Temperature"),
        "top_p": QCoreApplication.translate("Options", "Top-p"),
        "top_k": QCoreApplication.translate("Options", "Top-k"),
        "min_p": QCoreApplication.translate("Options", "Min-p"),
        "repetition_penalty": QCoreApplication.translate("Options", "Repetition penalty"),
        "seed": QCoreApplication.translate("Options", "Seed"),
        "fastest": QCoreApplication.translate("Options", "Fastest drafting"),
        "max_tokens": QCoreApplication.translate("Options", "Reply limit"),
        "context_tokens": QCoreApplication.translate("Options", "Context limit"),
        "long_chats": QCoreApplication.translate("Options", "Long chats"),
        "thinking": QCoreApplication.translate("Options", "Thinking"),
        "picture_detail": QCoreApplication.translate("Options", "Picture detail"),
        "kv_bits": QCoreApplication.translate("Options", "Context memory"),
        "schema": QCoreApplication.translate("Options", "Form of replies"),
        "speculation_mode": QCoreApplication.translate("Options", "Drafting"),
    }[name]


def no_form_words(model: str) -> str:
    return fill(
        QCoreApplication.translate("Options", "%1 cannot keep to a form. Choose Free text in the chat settings."), model
    )


def empty_words(name: str) -> str:
    """What applies if the field is empty."""
    return {
        "seed": QCoreApplication.translate("Options", "Random"),
        "max_tokens": QCoreApplication.translate("Options", "No limit"),
        "context_tokens": QCoreApplication.translate("Options", "Same as model"),
    }[name]


def value_words(name: str, value: float | str | None) -> str:
    """Within a sentence."""
    if value is None:
        return empty_words(name).lower()
    if value == "off" or isinstance(value, bool):
        on = QCoreApplication.translate("Options", "on")
        off = QCoreApplication.translate("Options", "off")
        return on if value is True else off
    if name == "thinking" or isinstance(value, str):
        words = {"picture_detail": detail_words, "kv_bits": kv_bits_words, "long_chats": long_chats_words}
        return words.get(name, thinking_words)(value).lower()
    return number(value, 0 if isinstance(value, int) else 2)


def kv_bits_words(value: object) -> str:
    """How much memory the tokens of a chat take."""
    return {
        "auto": QCoreApplication.translate("Options", "Auto"),
        "16": QCoreApplication.translate("Options", "Full"),
        "8": QCoreApplication.translate("Options", "Half"),
    }[str(value)]


def long_chats_words(value: object) -> str:
    """What becomes of messages that do not fit the context."""
    return {
        "oldest": QCoreApplication.translate("Options", "Leave out the oldest"),
        "summary": QCoreApplication.translate("Options", "Summarize the oldest"),
        "ask": QCoreApplication.translate("Options", "Ask me"),
    }[str(value)]


def detail_words(value: object) -> str:
    """A detail of pictures, or an effort of thinking."""
    return {
        "low": QCoreApplication.translate("Options", "Low"),
        "high": QCoreApplication.translate("Options", "High"),
    }.get(str(value), QCoreApplication.translate("Options", "Normal"))


def thinking_words(value: object) -> str:
    if isinstance(value, int):
        return fill(QCoreApplication.translate("Options", "Up to %1 tokens"), count(value))
    return QCoreApplication.translate("Options", "Off") if value == "off" else detail_words(value)
