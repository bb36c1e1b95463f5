"""Tools in words: the names of those that are built in, tokens, and why a model or a server cannot."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale, QObject

from app.tools.wire import SignInPages
from app.words import formats
from app.words.model_names import human_name
from app.words.pairs import some


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
        "search_files": (
            QCoreApplication.translate("Tools", "Search documents"),
            QCoreApplication.translate("Tools", "Finds passages in those of the chat and its project. Never asks."),
        ),
        "read_file": (
            QCoreApplication.translate("Tools", "Read files"),
            QCoreApplication.translate("Tools", "Only documents, and those that you choose for a chat."),
        ),
        "list_folder": (
            QCoreApplication.translate("Tools", "List folders"),
            QCoreApplication.translate("Tools", "Only those that you choose for a chat."),
        ),
        "fetch_page": (
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


def who_can(models: tuple[str, ...]) -> str:
    """Which installed models can."""
    if not models:
        return QCoreApplication.translate("Tools", "No other installed model can.")
    able = QCoreApplication.translate("Tools", "Installed and able to: %1.")
    return formats.fill(able, some([*map(human_name, models)]))


def never_asks_text() -> str:
    """Of a tool that the user has allowed for more than one call."""
    return QCoreApplication.translate("Tools", "Runs without asking.")


def ask_again_text() -> str:
    """On the button that ends that."""
    return QCoreApplication.translate("Tools", "Ask again")


def state_text(state: str, problem: str, detail: str) -> str:
    """How a server is, in one line. `state`: a code of `ConnectionState`."""
    if state == "failed":
        return problem_text(problem, detail)
    return {
        "off": QCoreApplication.translate("Tools", "Off"),
        "stopped": QCoreApplication.translate("Tools", "Starts when a chat first needs it"),
        "starting": QCoreApplication.translate("Tools", "Starting…"),
        "ready": QCoreApplication.translate("Tools", "Running"),
    }.get(state, "")


def waits_for_sign_in_text(host: str) -> str:
    """ "": the page is not known yet."""
    if not host:
        return QCoreApplication.translate("Tools", "Looking for its sign-in…")
    return formats.fill(QCoreApplication.translate("Tools", "Sign in at %1, in your browser."), host)


def sign_in_pages() -> SignInPages:
    return SignInPages(
        QCoreApplication.translate("Tools", "Hunch has what it needs. You can close this page."),
        QCoreApplication.translate("Tools", "You did not sign in. You can close this page."),
        QCoreApplication.translate("Tools", "This is not the sign-in that Hunch is waiting for."),
        QLocale().bcp47Name(),
    )


def problem_text(problem: str, detail: str) -> str:
    """Why a server or its description is refused, or has failed. `problem`: a code of `app/tools/wire.py`."""
    program = program_name(detail) or detail
    whole = {
        "no_command": QCoreApplication.translate("Tools", "Needs %1, which is not on this Mac."),
        "no_folder": QCoreApplication.translate("Tools", "Its folder %1 does not exist."),
        "no_secret": QCoreApplication.translate("Tools", "Needs a value for %1."),
        "cannot_start": QCoreApplication.translate("Tools", "Cannot be started: %1"),
        "ended": QCoreApplication.translate("Tools", "It ended by itself (%1)."),
        "too_large": QCoreApplication.translate("Tools", "It sent more than %1 MB at once and was stopped."),
        "time_out": QCoreApplication.translate("Tools", "No answer in %1 seconds."),
        "refused": QCoreApplication.translate("Tools", "It refused: %1"),
        "unreachable": QCoreApplication.translate("Tools", "Cannot be reached: %1"),
        "sign_in": QCoreApplication.translate("Tools", "It wants a sign-in (%1). A key in its headers may do."),
        "sign_in_late": QCoreApplication.translate("Tools", "The sign-in took more than %1 minutes."),
        "sign_in_refused": QCoreApplication.translate("Tools", "The sign-in was refused (%1)."),
        "sign_in_moved": QCoreApplication.translate(
            "Tools", "It wants the sign-in at %1 now, not where it was before. Sign out first if that is right."
        ),
        "sign_in_more": QCoreApplication.translate(
            "Tools", "A call needs more than you allowed at the sign-in (%1). Sign in again to allow it."
        ),
        "name": QCoreApplication.translate("Tools", "%1 cannot be the name of a variable or header."),
        "value": QCoreApplication.translate("Tools", "The value of %1 cannot be used."),
        "too_many": QCoreApplication.translate("Tools", "More than %1 are not taken."),
    }
    plain = {
        "address": QCoreApplication.translate("Tools", "Only https addresses, and ones on this Mac."),
        "characters": QCoreApplication.translate("Tools", "Its command has characters that cannot be seen."),
        "flood": QCoreApplication.translate("Tools", "It sent too many messages and was stopped."),
        "input": QCoreApplication.translate("Tools", "It asks for input, which Hunch does not give."),
        "signed_out": QCoreApplication.translate("Tools", "Sign in to use it."),
        "no_sign_in": QCoreApplication.translate(
            "Tools", "It offers no sign-in that Hunch can use. A key in its headers may do."
        ),
        "no_registration": QCoreApplication.translate(
            "Tools", "Its sign-in is only for apps that it knows. A key in its headers may do."
        ),
        "sign_in_failed": QCoreApplication.translate("Tools", "The sign-in failed."),
        "stopped": QCoreApplication.translate("Tools", "Stopped"),
        "closed": QCoreApplication.translate("Tools", "It closed its connection."),
        "version": QCoreApplication.translate("Tools", "It speaks another version of MCP."),
        "host_ended": QCoreApplication.translate(
            "Tools", "Hunch's part for tools ended. The next call starts it again."
        ),
        "host_cannot_start": QCoreApplication.translate("Tools", "Hunch's part for tools cannot be started."),
        "arguments": QCoreApplication.translate("Tools", "What it was to be called with is not valid."),
    }
    if problem in plain or not (problem in whole and program):
        unclear = QCoreApplication.translate("Tools", "It does not speak the protocol of tool servers (MCP).")
        return plain.get(problem, unclear)
    return formats.fill(whole[problem], program)


_PROGRAMS = {  # what servers are run by, and where that is to be had
    "node": ("Node.js", "https://nodejs.org/en/download"),
    "uv": ("uv", "https://docs.astral.sh/uv/getting-started/installation/"),
    "docker": ("Docker", "https://docs.docker.com/desktop/"),
    "bun": ("Bun", "https://bun.com/docs/installation"),
    "deno": ("Deno", "https://docs.deno.com/runtime/getting_started/installation/"),
    "python": ("Python", "https://www.python.org/downloads/"),
}


def program_name(program: str) -> str:
    return _PROGRAMS.get(program, ("", ""))[0]


def program_page(program: str) -> str:
    """Where its maker says how to install it."""
    return _PROGRAMS.get(program, ("", ""))[1]
