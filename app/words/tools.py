"""Tools in words: the names of those that are built in, tokens, and why a model or a server cannot."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject

from app.words import formats
from app.words.model_names import human_name

_MOST_NAMED = 3


def built_in_name() -> str:
    return QCoreApplication.translate("Tools", "Built in")


def tool_words(name: str) -> tuple[str, str]:
    """A built-in tool's name and what it does; "" for another."""
    return {
        "calculator": (
            QCoreApplication.translate("Tools", "Calculator"),
            QCoreApplication.translate("Tools", "Arithmetic, exactly. Never asks."),
        ),
        "time": (
            QCoreApplication.translate("Tools", "Date and time"),
            QCoreApplication.translate("Tools", "What day and time it is, here and elsewhere. Never asks."),
        ),
        "search_chats": (
            QCoreApplication.translate("Tools", "Search in chats"),
            QCoreApplication.translate("Tools", "Finds words in your chats and their attachments."),
        ),
        "read_file": (
            QCoreApplication.translate("Tools", "Read files"),
            QCoreApplication.translate("Tools", "Only those that you choose for a chat."),
        ),
        "list_folder": (
            QCoreApplication.translate("Tools", "List folders"),
            QCoreApplication.translate("Tools", "Only those that you choose for a chat."),
        ),
        "fetch": (
            QCoreApplication.translate("Tools", "Load a web page"),
            QCoreApplication.translate("Tools", "Only one whose address you typed or allowed."),
        ),
    }.get(name, ("", ""))


def tokens_text(tokens: int) -> str:
    """ "109 tokens"; "" while it is not counted."""
    return _Counts().tokens(tokens) if tokens else ""


def tools_on_text(count: int, tokens: int) -> str:
    """ "3 tools on, 412 tokens" """
    return formats.listed(_Counts().on(count), tokens_text(tokens))


class _Counts(QObject):
    """Plural forms are only read from the source where an object says them."""

    def tokens(self, count: int) -> str:
        return self.tr("%Ln token(s)", "", count)

    def on(self, count: int) -> str:
        return self.tr("%Ln tool(s) on", "", count)


def cannot_call(model: str) -> str:
    return formats.fill(QCoreApplication.translate("Tools", "%1 cannot use tools."), human_name(model))


def no_model_text() -> str:
    return QCoreApplication.translate("Tools", "Choose a model first.")


def who_can(models: tuple[str, ...]) -> str:
    """Which installed models can."""
    if not models:
        return QCoreApplication.translate("Tools", "No other installed model can.")
    names = formats.listed(*map(human_name, models[:_MOST_NAMED]))
    return formats.fill(QCoreApplication.translate("Tools", "Installed and able to: %1."), names)


def much_text() -> str:
    return QCoreApplication.translate(
        "Tools", "That is a lot: less of the chat fits, and small models choose worse among many."
    )


def reads_again_text() -> str:
    return QCoreApplication.translate("Tools", "After a change the model reads the whole chat again.")
