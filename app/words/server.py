"""The server for other programs in words: how it is, and why it could not begin."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.words.formats import fill
from engine import KEY_MISSING, AddressProblem, ServerPhase, ServerState


def state_words(state: ServerState, address: str, port: int, *, on: bool) -> str:
    """`on`: the user wants it, so that one which is stopping starts again."""
    match state.phase:
        case ServerPhase.OFF:
            return QCoreApplication.translate("Server", "Off")
        case ServerPhase.STARTING | ServerPhase.STOPPING if on:
            return QCoreApplication.translate("Server", "Starting…")
        case ServerPhase.STARTING | ServerPhase.STOPPING:
            return QCoreApplication.translate("Server", "Stopping…")
        case ServerPhase.RUNNING:
            return fill(QCoreApplication.translate("Server", "Running at %1"), address)
        case ServerPhase.FAILED:
            return failure_words(state, port)


def failure_words(state: ServerState, port: int) -> str:
    if state.error == KEY_MISSING:
        return key_missing_words()
    could_not = QCoreApplication.translate("Server", "The server could not start. The log says why.")
    return port_words(state.error, port) or could_not


def key_missing_words() -> str:
    return QCoreApplication.translate(
        "Server", "The key cannot be read. Unlock the keychain and start Hunch again, or make a new key."
    )


def port_words(error: str, port: int) -> str:
    """Why nothing can listen at a port; "" where that is not the error."""
    words = {
        AddressProblem.IN_USE: QCoreApplication.translate("Server", "Port %1 is taken by another program."),
        AddressProblem.UNUSABLE: QCoreApplication.translate("Server", "The system does not allow port %1."),
    }
    return fill(words[AddressProblem(error)], str(port)) if error in words else ""


def is_port_problem(state: ServerState) -> bool:
    """Whether another port may help."""
    return state.phase is ServerPhase.FAILED and state.error in tuple(AddressProblem)
