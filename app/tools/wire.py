"""What the app and its tool host send each other: lines of JSON, with their limits and the codes of what failed.

Both sides import this; it imports nothing of either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

HOST = "--tool-host"  # the child's flag
LINE_BYTES = 1 << 20  # a line of the host
MOST_REQUEST_BYTES = 32 << 20  # a line of the app: arguments, variables and headers
MESSAGE_BYTES = 8 << 20  # a message of a server
MOST_ARGUMENTS = 500_000  # characters of JSON
MOST_TOOLS = 128  # of a server
MOST_PAGES = 20  # of its list
MOST_DEFINITIONS = 1_000_000  # characters of the schemas of a server
MOST_PICTURES = 8  # of a result
PICTURE_BYTES = 3 << 20  # of all of a result
PIECE_CHARACTERS = 256 << 10  # of a picture in base64, in one line
TAIL_LINES = 40  # last ones of what a server writes to stderr
TAIL_LINE_BYTES = 4096
DETAIL_CHARACTERS = 500
MOST_SCHEMA = 50_000  # characters of a tool's schema
LONGEST_RESULT = 100_000  # characters
LONGEST_GRANT = 100_000  # characters


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds."""

    connect: float = 20.0
    fetching: float = 120.0  # to connect, where the command first fetches the server
    call: float = 60.0  # without progress
    longest_call: float = 600.0
    sign_in: float = 300.0  # for the user, in the browser


PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class ServerReach:
    """How a server is reached: a command with its whole environment, or an address. Never logged: it has secrets."""

    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    folder: str = ""  # "": the home folder
    address: str = ""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    grant: str = field(default="", repr=False)  # what a sign-in has brought: tokens, and the client they are for
    lock: str = ""  # a file that is locked by the one process that refreshes the grant


@dataclass(frozen=True, slots=True)
class SignInPages:
    """What the browser shows at the end of a sign-in, in the user's language."""

    done: str
    refused: str
    other: str  # of an address that is not the sign-in's
    language: str


class ConnectionState(StrEnum):
    OFF = "off"  # the server is not enabled
    STOPPED = "stopped"  # it is started on first use
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


class ServerProblem(StrEnum):
    """Why a server or a call failed. `detail` has what the comment says."""

    NO_COMMAND = "no_command"  # the program that is missing
    CANNOT_START = "cannot_start"  # the system's error
    NO_FOLDER = "no_folder"  # the folder
    NO_SECRET = "no_secret"  # the name of a variable or header without a value
    ENDED = "ended"  # exit status, or "SIGKILL"
    CLOSED = "closed"  # its pipe: "input" or "output"; or what the SDK says
    NOT_TEXT = "not_text"
    NOT_PROTOCOL = "not_protocol"  # the beginning of the message, or ""
    VERSION = "version"  # of the protocol, which is too old or too new
    TOO_LARGE = "too_large"  # the limit in MiB
    FLOOD = "flood"
    TIME_OUT = "time_out"  # seconds
    REFUSED = "refused"  # what the server said
    INPUT = "input"  # it asks the user for something, which is declined
    ADDRESS = "address"  # it is neither public and https, nor on this machine
    UNREACHABLE = "unreachable"  # the network's error
    SIGN_IN = "sign_in"  # HTTP status
    SIGNED_OUT = "signed_out"  # the user has to sign in, in the browser
    SIGN_IN_MORE = "sign_in_more"  # what a call needs beside what the user has allowed: OAuth's scopes
    NO_SIGN_IN = "no_sign_in"  # it offers none that is known and safe
    NO_REGISTRATION = "no_registration"  # it offers none to an app that it does not know
    SIGN_IN_LATE = "sign_in_late"  # minutes
    SIGN_IN_REFUSED = "sign_in_refused"  # the code of the error, of OAuth
    SIGN_IN_FAILED = "sign_in_failed"
    SIGN_IN_MOVED = "sign_in_moved"  # where it wants the sign-in now, which is not where it was
    NAME = "name"  # of a variable or header, which cannot be one
    VALUE = "value"  # the name of the variable or header
    CHARACTERS = "characters"  # the command, which has characters that are not seen
    TOO_MANY = "too_many"  # the limit
    ARGUMENTS = "arguments"  # they are no JSON object, or too large
    STOPPED = "stopped"
    HOST_ENDED = "host_ended"
    HOST_CANNOT_START = "host_cannot_start"


class ServerFault(Exception):
    """A server, or how it is reached, is not right. `detail`: see `ServerProblem`."""

    def __init__(self, problem: ServerProblem, detail: str = "") -> None:
        super().__init__(problem.value)
        self.problem = problem
        self.detail = detail[:DETAIL_CHARACTERS]


@dataclass(frozen=True, slots=True)
class RefusedServer:
    """One that was not added."""

    name: str
    problem: ServerProblem
    detail: str = ""  # see `ServerProblem`
