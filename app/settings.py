"""Preferences: each option declared once with default and limits; stored in a JSON file.

A thread saves them while the app runs; a refused save is retried. A damaged file is renamed and kept. One that cannot
be read for now is not overwritten: changes of this run are merged into it once it can, and a copy keeps its former
content. Hub tokens and the server's key are in system/secrets.py.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from PySide6.QtCore import QObject, QTimer, Signal

from app.option_checks import (
    address,
    addresses,
    flag,
    how_to_think,
    mapping,
    mappings,
    number,
    one_of,
    optional,
    prompt,
    records,
    schema,
    text,
    texts,
    whole,
    words_by_name,
)
from app.system.secrets import Secrets
from app.system.small_file import MOST_BYTES, read_small
from app.system.worker import IN_PLACE, RETRY_INTERVAL_MS, JobQueue
from engine import (
    MAX_DRAFT_TOKENS,
    MAX_SEED,
    SAMPLING_LIMITS,
    PictureDetail,
    Sampling,
    ServerOptions,
    Speculation,
    SpeculationMode,
    patiently,
    write_atomically,
)

log = logging.getLogger(__name__)

# Stored in place of a folder for the pair that comes with the app, because an update may move it.
STARTER_FOLDER = "starter"
STARTER_NAME = "Hunch Starter"  # as its folder says
STARTER_EYES_NAME = f"{STARTER_NAME} Eyes"
STARTER_EYES = f"{STARTER_FOLDER}/eyes/main"  # the tiny model beside it, which answers about pictures alone
# MEASURED: of the empty chat's own questions the first pair missed 9 of 24 at 0.7, and 4 of 24 at 0.2.
STARTER_TEMPERATURE = 0.2
STARTER_MOST_TOKENS = 300  # its longest answer has half of that; asked what it does not know, it may never end
SAVE_DELAY_MS = 250
# What becomes of messages that do not fit the context: the oldest are left out, and summarised, or the user is asked.
LONG_CHATS = ("oldest", "summary", "ask")
KV_BITS = ("auto", "16", "8")
_MOST_ASIDE = 5  # renamed files; older ones are deleted
# Options that "reset all settings" keeps.
KEPT = frozenset(
    {
        "system_prompt",
        "main_folder",
        "draft_folder",
        "hub_endpoint",  # as its token stays, too
        "hub_mirrors",
        "hub_proxy",  # without it the token would go another way
        "server_has_key",  # as the key stays, too
        "model_folders",
        "pair_downloads",
        "going_downloads",
        "recent_models",
        "last_drafts",
        "helped_models",  # as their folders stay, too
        "recent_commands",
        "presets",
        "prompts",
        "model_defaults",
        "new_chat_options",
        "overlay_explained",
        "app_offered",
        "window_geometry",
        "settings_geometry",
    }
)
_NOT_SET = object()
T = TypeVar("T")


def comes_with_app(stored: str) -> bool:
    return stored.partition("/")[0] == STARTER_FOLDER


def from_setting(stored: str, starter: Path) -> str:
    """The folder; `starter`: the folder that the bare name stands for, also used if another is missing."""
    if not comes_with_app(stored):
        return stored
    named = starter.parent / stored.partition("/")[2] if stored != STARTER_FOLDER else starter
    return next((str(each) for each in (named, starter) if each.is_dir()), "")


def as_setting(folder: str, starter: Path) -> str:
    """The stored form: folders of the app by name, with their place below `starter`."""
    if folder == str(starter):
        return STARTER_FOLDER
    path = Path(folder)
    root = starter.parent
    return f"{STARTER_FOLDER}/{path.relative_to(root).as_posix()}" if path.is_relative_to(root) else folder


class Option(Generic[T]):
    """One option; `check` returns the value to keep, or raises ValueError or TypeError for one that cannot be."""

    def __init__(self, default: T, check: Callable[[Any], T]) -> None:
        self.default = default
        self.check = check
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, settings: None, owner: type) -> Option[T]: ...
    @overload
    def __get__(self, settings: Settings, owner: type) -> T: ...
    def __get__(self, settings: Settings | None, owner: type) -> Option[T] | T:
        if settings is None:
            return self
        value: T = settings.values.get(self.name, self.default)
        return value

    def __set__(self, settings: Settings, value: T) -> None:
        settings.put(self.name, self.check(value))


class SettingsFile:
    """The file of the settings: a damaged one is renamed, and one that could not be read is not overwritten.

    `only_reads`: a command in a terminal leaves a damaged one to the app, which says so.
    """

    def __init__(self, path: Path, *, only_reads: bool) -> None:
        self.set_aside = ""  # where a file that was damaged at the start is kept
        self.is_unread = False  # the file could not be read; defaults are used
        self._path = path
        self._only_reads = only_reads
        self._others: dict[str, Any] = {}  # options of another version

    def load(self, checks: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
        """Valid values in the file, by option."""
        try:
            stored = self._read()
        except OSError as error:
            log.warning("the settings cannot be read: %s", error.strerror)
            self.is_unread = True
            return {}
        values: dict[str, Any] = {}
        self._others = {name: value for name, value in stored.items() if name not in checks}
        is_whole = True
        for name in stored.keys() & checks.keys():
            try:
                values[name] = checks[name](stored[name])
            except (TypeError, ValueError, OverflowError):
                # Not the value: it may be a system prompt.
                log.warning("setting %s is not possible, the default is used", name)
                is_whole = False
                continue
            if not _has_all(values[name], stored[name]):
                log.warning("a part of setting %s is not possible, the others are used", name)
                is_whole = False
        if not is_whole and not self._only_reads:
            try:
                self.set_aside = self._copy_aside()  # the next save writes over it
            except OSError as error:
                log.warning("no copy of the settings can be kept: %s", error.strerror)
        return values

    def write(self, values: dict[str, Any]) -> None:
        """Raises OSError; with EFBIG where the next start would not read it."""
        if self.is_unread:
            self._read_after_all()
        data = _as_json(self._others | values).encode("utf-8", "replace")
        write_atomically(self._path, data, most_bytes=MOST_BYTES)

    def _read(self) -> dict[str, Any]:
        """What makes no sense is put aside. Raises OSError where the disk refuses to read or rename it."""
        try:
            stored = json.loads(read_small(self._path).decode("utf-8-sig"))
            if isinstance(stored, dict):
                # Halves of surrogate pairs are replaced; they could not be saved again.
                return dict(json.loads(_as_json(stored).encode("utf-8", "replace")))
            log.warning("settings file is damaged")
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError, IsADirectoryError) as error:
            log.warning("settings file is damaged: %s", type(error).__name__)
        if not self._only_reads:
            self._put_aside()
        return {}

    def _read_after_all(self) -> None:
        """Read a file that could not be read at the start. Raises OSError if that or the copy fails."""
        stored = self._read()
        if stored:
            self._copy_aside()
        self._others = stored
        self.is_unread = False

    def _copy_aside(self) -> str:
        """Returns the copy's name."""
        aside = self._name_aside()
        write_atomically(aside, read_small(self._path))
        self._forget_older(aside)
        return aside.name

    def _put_aside(self) -> None:
        """Rename a file or folder that is in the file's place."""
        aside = self._name_aside()
        patiently(lambda: self._path.replace(aside))
        self.set_aside = aside.name
        self._forget_older(aside)

    def _name_aside(self) -> Path:
        """A name that nothing has. Later ones come later in the alphabet, unless the clock was set back."""
        while True:
            now = time.time_ns()
            stamp = time.strftime("%Y-%m-%d-%H%M%S", time.localtime(now // 10**9))
            aside = self._path.with_name(f"{self._path.stem}-aside-{stamp}-{now % 10**9 // 1000:06}.json")
            if not os.path.lexists(aside):
                return aside

    def _forget_older(self, newest: Path) -> None:
        """Keeps the last few files; folders are not ours."""
        found = sorted(self._path.parent.glob(f"{self._path.stem}-aside-*.json"))
        for old in [each for each in found if each.is_file() and each != newest][: 1 - _MOST_ASIDE]:
            with suppress(OSError):
                old.unlink()


def _has_all(kept: Any, stored: Any) -> bool:
    """Whether the check of a list or mapping has left nothing out; texts are only completed, or there twice."""
    if isinstance(stored, dict):
        return len(kept) == len(stored)
    return not isinstance(stored, list) or all(isinstance(each, str) or each in kept for each in stored)


def _as_json(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


class Settings(QObject):
    changed = Signal(str)  # the option's name
    not_saved = Signal()  # once, until saving succeeds again
    saved_after_all = Signal()  # then

    language = Option("", one_of("", "en", "ko", "ja", "zh_CN"))  # "": the system's
    appearance = Option("auto", one_of("auto", "light", "dark"))
    text_scale = Option(1.0, number(0.85, 2.0))
    main_folder = Option(STARTER_FOLDER, text)
    draft_folder = Option(STARTER_FOLDER, text)  # "": none
    speculation_mode = Option("auto", one_of(*SpeculationMode))
    speculation_tokens = Option(4, whole(1, MAX_DRAFT_TOKENS))
    temperature = Option(0.7, number(0.0, 2.0, SAMPLING_LIMITS["temperature"]))
    top_p = Option(0.95, number(0.01, 1.0, SAMPLING_LIMITS["top_p"]))
    top_k = Option(0, whole(0, 1000))  # 0: no limit
    min_p = Option(0.0, number(0.0, 1.0, SAMPLING_LIMITS["min_p"]))
    repetition_penalty = Option(1.0, number(1.0, 2.0, SAMPLING_LIMITS["repetition_penalty"]))
    seed = Option[int | None](None, optional(whole(0, MAX_SEED)))  # None: another one each time
    draft_on_battery = Option(True, flag)
    light_drafters = Option(True, flag)  # at 4 bits, from the next start on; else as they are published
    fastest = Option(False, flag)  # drafts are accepted by rejection sampling: another text each time
    max_tokens = Option[int | None](None, optional(whole(1, 1_000_000)))  # None: as far as the context goes
    context_tokens = Option[int | None](None, optional(whole(512, 10_000_000)))  # of a chat; None: as the model
    thinking = Option[str | int]("off", how_to_think)
    long_chats = Option("oldest", one_of(*LONG_CHATS))
    picture_detail = Option("normal", one_of(*PictureDetail))
    kv_bits = Option("auto", one_of(*KV_BITS))  # of a chat's keys and values
    system_prompt = Option("", prompt)
    schema = Option("", schema)  # that replies match; "": free text
    presets = Option[tuple[dict[str, Any], ...]]((), records(id=str, name=str, values=dict))
    prompts = Option[tuple[dict[str, Any], ...]]((), records(id=str, name=str, text=str))  # the user's own, for "/"
    model_defaults = Option[dict[str, dict[str, Any]]]({}, mappings)  # by main_folder
    new_chat_options = Option[dict[str, Any]]({}, mapping)  # of chats that have no message yet, by number
    automatic_titles = Option(True, flag)
    hub_endpoint = Option("", address("https"))  # "": the public hub
    hub_mirrors = Option[tuple[str, ...]]((), addresses)  # asked where the hub cannot be reached
    hub_proxy = Option("", address("http"))  # "": what the environment says
    hub_offline = Option(False, flag)
    download_limit = Option(0, whole(0, 100_000_000_000))  # bytes a second, of all downloads together; 0: none
    pair_downloads = Option[tuple[str, ...]]((), texts)  # "main draft" of each pair that is not installed yet
    going_downloads = Option[tuple[str, ...]]((), texts)  # "repository revision" of each that the user has not paused
    recent_models = Option[tuple[str, ...]]((), texts)  # folders, the last used first
    last_drafts = Option[dict[str, str]]({}, words_by_name)  # by main_folder: its draft_folder, "" for none
    hub_token_in_clear = Option(False, flag)  # also over plain http
    model_folders = Option[tuple[str, ...]]((), texts)
    unload_after_min = Option(0, whole(0, 24 * 60))  # minutes without a reply; 0: never
    window_geometry = Option("", text)  # base64 of what Qt saves
    settings_geometry = Option("", text)
    motion = Option("auto", one_of("auto", "on", "off"))  # whether anything moves; "auto": as the system says
    reply_figures = Option(False, flag)  # tokens a second and the like under replies
    use_fusion = Option(False, flag)  # Qt's own style instead of the system's
    use_openblas = Option(True, flag)  # where it is installed, from the next start on
    server_on = Option(False, flag)  # for other programs
    server_has_key = Option(False, flag)  # also while it cannot be read
    server_port = Option(ServerOptions().port, whole(1024, 65535))
    server_in_network = Option(False, flag)  # also for other machines; they need the key
    server_any_name = Option(False, flag)  # the loaded model answers to every name
    server_keep_min = Option(0, whole(0, 24 * 60))  # minutes that a model loaded for a program stays; 0: none is
    lends_memory = Option(False, flag)  # to other machines that are paired with this one
    draft_machine = Option("", text)  # the fingerprint of a paired machine that drafts as well; "": none does
    helped_models = Option[dict[str, dict[str, Any]]]({}, mappings)  # by main_folder: which machine holds some layers
    tells_updates = Option(True, flag)  # where this build has an address to ask for a newer Hunch
    updates_asked_at = Option(0.0, number(0.0, 1e12))  # seconds of the clock
    update_told = Option("", text)  # the version of the last notice that was shown
    send_key = Option("return", one_of("return", "control_return"))
    notifications = Option(True, flag)  # of replies that end while another app is used
    notification_words = Option(False, flag)  # with the chat's title and the first words of the reply
    tray_icon = Option(False, flag)
    recent_commands = Option[tuple[str, ...]]((), texts)  # of the command palette, the last used first
    sidebar_visible = Option(True, flag)
    inspector_visible = Option(False, flag)
    overlay = Option("off", one_of("off", "foreseen", "accepted", "corrections"))  # the last: an older version's "both"
    overlay_explained = Option(False, flag)  # the first reply has shown it once
    app_offered = Option(False, flag)  # to write a Hunch.app

    def __init__(
        self, file: Path, secrets: Secrets | Path, parent: QObject | None = None, writer: JobQueue | None = IN_PLACE
    ) -> None:
        """`writer` saves what changes; None: the settings are only read."""
        super().__init__(parent)
        self._writer = writer or IN_PLACE
        self._storing = threading.Lock()
        self.file = SettingsFile(file, only_reads=writer is None)
        self.values = self.file.load({name: option.check for name, option in self.options().items()})
        self._secrets = Secrets(secrets) if isinstance(secrets, Path) else secrets
        self._timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._timer.timeout.connect(self._save_soon)
        self._retry = QTimer(self, singleShot=True, interval=RETRY_INTERVAL_MS)
        self._retry.timeout.connect(self._save_soon)
        self._refused = False
        self.are_too_large = False  # as the disk refused them last

    @staticmethod
    def options() -> dict[str, Option[Any]]:
        return _OPTIONS

    def put(self, name: str, value: Any) -> None:
        """Also one that is the default is kept from here on: `sampling` knows who chose the temperature."""
        if name not in self.values or self.values[name] != value:
            self.values[name] = value
            self._timer.start()
            self.changed.emit(name)

    def reset(self, name: str) -> None:
        if self.values.pop(name, _NOT_SET) is not _NOT_SET:
            self._timer.start()
            self.changed.emit(name)

    def in_force(self, name: str) -> Any:
        """The value of an option where nothing has another one: that of the main model for a temperature not set."""
        return self.sampling().temperature if name == "temperature" else getattr(self, name)

    def reset_all(self) -> None:
        """Reset all options but KEPT: what the user wrote or downloaded, and locations."""
        for name in self.options().keys() - KEPT:
            self.reset(name)

    def of_engine(self) -> dict[str, bool]:
        """Arguments for starting the engine."""
        return {"openblas": self.use_openblas, "light_drafters": self.light_drafters}

    def sampling(self, main: str = "") -> Sampling:
        """The sampling options; the starter pair gets STARTER_TEMPERATURE while no temperature is set."""
        untouched = "temperature" not in self.values
        starter = comes_with_app(main or self.main_folder)
        return Sampling(
            temperature=STARTER_TEMPERATURE if starter and untouched else self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            min_p=self.min_p,
            repetition_penalty=self.repetition_penalty,
            seed=self.seed,
        )

    def speculation(self) -> Speculation:
        return Speculation(SpeculationMode(self.speculation_mode), self.speculation_tokens)

    @property
    def hub_token(self) -> str:
        """That of the hub at `hub_endpoint`; empty where there is none. Another address has another token."""
        return self._secrets.token_for(self.hub_endpoint)

    @hub_token.setter
    def hub_token(self, token: str) -> None:
        self._secrets.keep(token, self.hub_endpoint)
        self._save_soon()
        self.changed.emit("hub_token")

    @property
    def hubs_with_token(self) -> tuple[str, ...]:
        """Scheme, host and port of each, the last one given comes last."""
        return self._secrets.origins(self.hub_endpoint)

    @property
    def server_key(self) -> str:
        """What programs must send to the server; "" where any may ask."""
        return self._secrets.server_key(self.hub_endpoint)

    @server_key.setter
    def server_key(self, key: str) -> None:
        self._secrets.keep_server_key(key, self.hub_endpoint)
        self.server_has_key = bool(key)
        self._save_soon()
        self.changed.emit("server_key")

    @property
    def required_key(self) -> str | None:
        """As the server's options have it: "" for a key that cannot be read, None where programs need none."""
        return self.server_key or ("" if self.server_has_key else None)

    def save(self) -> bool:
        """At once. False: the disk refuses it, which `not_saved` reports; the values hold until the app ends."""
        self._timer.stop()
        try:
            self._store()
        except OSError as error:
            self._tell_refusal(error)
            return False
        self._on_saved()
        return True

    def _save_soon(self) -> None:
        self._writer.ask(self._store, self._on_saved, self._on_refused)

    def _store(self) -> None:
        """Write the present values and tokens. Any thread; raises OSError if either fails."""
        with self._storing:
            try:
                self._secrets.write()
            finally:
                self.file.write(self.values)

    def _on_saved(self, _outcome: None = None) -> None:
        self._retry.stop()
        if self._refused:
            self._refused = False
            self.saved_after_all.emit()

    def _on_refused(self, error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error  # our own mistake, reported like any other
        self._tell_refusal(error)

    def _tell_refusal(self, error: OSError) -> None:
        self.are_too_large = error.errno == errno.EFBIG
        if not self.are_too_large:  # else the next change is saved
            self._retry.start()
        if not self._refused:
            log.warning("the settings cannot be saved: %s", error.strerror)
            self._refused = True
            self.not_saved.emit()


_OPTIONS = {name: option for name, option in vars(Settings).items() if isinstance(option, Option)}
