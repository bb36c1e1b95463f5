"""Each chat's options: its own, its project's, a preset's, and defaults of the loaded model, on top of the settings.

A change applies to the next reply, drafting options also to a running one, and is stored after 400 ms. `Generation` is
what a reply is requested with.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.controllers.changes import KEEP_DELAY_MS, StorageChanges
from app.controllers.projects import Projects
from app.settings import STARTER_MOST_TOKENS, Settings, comes_with_app
from app.storage import Project, Storage
from app.system.worker import ignore
from app.view_models.chat_options import OptionsView, Scope
from app.view_models.model_list import PairView
from engine import (
    Acceptance,
    Constraint,
    ConstraintKind,
    Effort,
    Message,
    MessageRole,
    PictureDetail,
    Request,
    Sampling,
    Speculation,
    SpeculationMode,
    Truncation,
    schema_begins,
)

_NO_PICTURES = "without_pictures"  # stored beside the options: pictures are left out for models that cannot see
TOOLS = "tools"  # stored beside the options: ids of the tools that the chat may use
FOLDERS = "folders"  # stored beside the options: files and folders that these may read
_PRESET = "preset"  # stored beside the options: the id of the chat's preset
_PROJECT = "project"  # beside those of a new chat: the folder that it will be in
_NOT_SET = object()
_TOLD = "Answer in JSON that matches this JSON schema, and with nothing else:\n"  # part of the prompt: not translated

# With the names and the limits of the settings. What is stored of a chat or a preset may come from another version or
# a damaged disk: an unknown name or an impossible value counts as if it were not there.
OPTIONS = (
    *("system_prompt", "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed", "fastest"),
    *("max_tokens", "context_tokens", "long_chats", "thinking", "picture_detail", "kv_bits", "schema"),
    *("speculation_mode", "speculation_tokens"),
)

Values = Mapping[str, Any]


def _compact(schema: str) -> str:
    """A JSON schema in as few tokens as it takes."""
    return json.dumps(json.loads(schema), ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Generation:
    """What a reply is requested with: a chat's own options, its project's, its preset's, its model's defaults, the
    settings.

    Every option has a value here.
    """

    values: Values
    shared: str = ""  # what all chats of its project begin with

    @property
    def system_prompt(self) -> str:
        told = _TOLD + _compact(self.values["schema"]) if self.values["schema"] else ""
        return "\n\n".join(filter(None, (self.shared, str(self.values["system_prompt"]).strip(), told)))

    @property
    def picture_detail(self) -> PictureDetail:
        return PictureDetail(self.values["picture_detail"])

    @property
    def kv_bits(self) -> int | None:
        """As in a request."""
        return kv_bits_of(self.values["kv_bits"])

    def sampling(self) -> Sampling:
        names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed")
        return Sampling(**{name: self.values[name] for name in names})

    def speculation(self) -> Speculation:
        acceptance = Acceptance.REJECTION if self.values["fastest"] else Acceptance.COUPLED
        mode = SpeculationMode(self.values["speculation_mode"])
        return Speculation(mode, self.values["speculation_tokens"], acceptance, mode is SpeculationMode.FIXED)

    def _constraint(self, messages: Sequence[Message]) -> Constraint | None:
        """A reply that goes on is held to it if it was: else the match would begin in the middle of it."""
        schema = self.values["schema"]
        goes_on = bool(messages) and messages[-1].role is MessageRole.ASSISTANT
        if not schema or (goes_on and not schema_begins(schema, messages[-1].content)):
            return None
        return Constraint(ConstraintKind.JSON, schema)

    def request(
        self, messages: tuple[Message, ...], conversation: str, speculation: Speculation | None = None
    ) -> Request:
        """`speculation`: replaces that of the options."""
        thinking = self.values["thinking"]
        return Request(
            messages=messages,
            sampling=self.sampling(),
            speculation=speculation or self.speculation(),
            max_tokens=self.values["max_tokens"],
            context_tokens=self.values["context_tokens"],
            truncation=Truncation.NONE if self.values["long_chats"] == "ask" else Truncation.OLDEST,
            constraint=self._constraint(messages),
            thinking=thinking != "off",
            effort=Effort(thinking) if isinstance(thinking, str) and thinking != "off" else Effort.NORMAL,
            thinking_tokens=thinking if isinstance(thinking, int) else None,
            picture_detail=self.picture_detail,
            kv_bits=self.kv_bits,
            shared_characters=len(self.shared),
            conversation=conversation,
        )


def kv_bits_of(option: str) -> int | None:
    """A request's field from the option `kv_bits`."""
    return None if option == "auto" else int(option)


def known(stored: Values) -> dict[str, Any]:
    """The valid options in `stored`."""
    values: dict[str, Any] = {}
    for name in OPTIONS:
        if name not in stored:
            continue
        try:
            values[name] = Settings.options()[name].check(stored[name])
        except (TypeError, ValueError, OverflowError):
            continue
    return values


def resolve(settings: Settings, *layers: Values, main: str = "") -> Generation:
    """Merge layers of options: of the model, preset, project, chat. Later ones win; the settings are below them.

    `main`: the main model that is asked, if not the one of the settings.
    """
    values = {name: getattr(settings, name) for name in OPTIONS} | {"temperature": settings.sampling(main).temperature}
    for layer in layers:
        values |= known(layer)
    if values["max_tokens"] is None and comes_with_app(main or settings.main_folder):
        values["max_tokens"] = STARTER_MOST_TOKENS
    return Generation(values)


class Presets:
    """The named sets of options in the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def all(self) -> tuple[dict[str, Any], ...]:
        return self._settings.presets

    def get(self, preset_id: object) -> dict[str, Any] | None:
        return next((each for each in self.all() if each["id"] == preset_id), None)

    def unknown(self, presets: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
        """Those among them that are not here, each once."""
        here = {each["id"] for each in self.all()}
        return tuple({each["id"]: each for each in presets if each["id"] not in here}.values())

    def add(self, presets: Iterable[dict[str, Any]]) -> tuple[str, ...]:
        """Those that are not here; returns their ids."""
        new = self.unknown(presets)
        self._settings.presets = (*self.all(), *new)
        return tuple(each["id"] for each in new)

    def replace(self, preset: dict[str, Any]) -> None:
        self._settings.presets = tuple(preset if each["id"] == preset["id"] else each for each in self.all())

    def drop(self, ids: Iterable[str]) -> None:
        dropped = set(ids)
        self._settings.presets = tuple(each for each in self.all() if each["id"] not in dropped)


class ChatOptions(QObject):
    changed = Signal()

    def __init__(
        self,
        storage: Storage,
        changes: StorageChanges,
        settings: Settings,
        projects: Projects,
        main: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        """`main`: the main model that the next reply comes from, as the settings name it."""
        super().__init__(parent)
        self._main = main
        self._storage = storage
        self._changes = changes
        self._settings = settings
        self._projects = projects
        self.presets = Presets(settings)
        self._new_chats = storage.new_chats
        self.chat_id = self._new_chats.latest  # the open one
        self._known = _kept_of(storage, settings)  # by chat, loaded on demand
        self._folders: dict[int, int | None] = {}  # by chat, loaded on demand
        self._unkept: dict[int, set[str]] = {}  # of these, names that are not on disk yet
        self._keep = QTimer(self, singleShot=True, interval=KEEP_DELAY_MS)
        self._keep.timeout.connect(self.keep)
        settings.changed.connect(self._on_setting)
        projects.changed.connect(self.changed)

    def generation(self, chat_id: int) -> Generation:
        """What the next reply of a chat is requested with."""
        return resolve(self._settings, *self._layers(chat_id), main=self._main())

    def _layers(self, chat_id: int) -> tuple[Values, ...]:
        """Options by who sets them, of those above the settings."""
        project = (each.options for each in self._projects.around(self.folder_of(chat_id)))
        return (self._model_values(), self._preset_values(chat_id), *project, self._own(chat_id))

    def folder_of(self, chat_id: int) -> int | None:
        """The folder that a chat is in, or a new chat will be in."""
        if chat_id not in self._new_chats:
            if chat_id not in self._folders:
                summary = self._storage.read.chats.summary(chat_id)
                self._folders[chat_id] = None if summary is None else summary.folder_id
            return self._folders[chat_id]
        folder_id = self._own(chat_id).get(_PROJECT)
        return folder_id if isinstance(folder_id, int) and self._projects.is_there(folder_id) else None

    def forget_folders(self) -> None:
        """Folders, or what is in them, have changed."""
        self._folders.clear()
        self._projects.forget()

    def begin_in(self, folder_id: int | None) -> None:
        """The new chat, which is open, will be in that folder."""
        self._change_chat(
            {} if folder_id is None else {_PROJECT: folder_id}, *((_PROJECT,) if folder_id is None else ())
        )

    def view(self, scope: Scope) -> OptionsView:
        """Of the open chat, or of the loaded model: what it sets itself, and what would apply without that."""
        model = known(self._model_values())
        layers = self._layers(self.chat_id)[:-1] if scope is Scope.CHAT else ()
        own = known(self._own(self.chat_id)) if scope is Scope.CHAT else model
        suggested = self._settings.sampling(self._main()).temperature != self._settings.temperature
        ends_early = self._settings.max_tokens is None and comes_with_app(self._main())
        sources = dict.fromkeys(compress(("temperature", "max_tokens"), (suggested, ends_early)), "model")
        names = ("model", "preset", *("project",) * len(layers))
        for layer, source in zip(layers, names, strict=False):
            sources |= dict.fromkeys(known(layer), source)
        presets = {each["id"]: each["name"] for each in self.presets.all()}
        return OptionsView(
            own,
            resolve(self._settings, *layers, main=self._main()).values,
            sources,
            presets,
            self._preset_id(self.chat_id),
        )

    def view_of_project(self, folder_id: int) -> OptionsView:
        """What a project sets itself, and what would apply without that in its chats that set nothing."""
        *outer, own = (each.options for each in self._projects.around(folder_id) or [Project()])
        model = self._model_values()
        sources = dict.fromkeys(known(model), "model")
        for each in outer:
            sources |= dict.fromkeys(known(each), "project")
        otherwise = resolve(self._settings, model, *outer, main=self._main()).values
        return OptionsView(known(own), otherwise, sources, {}, "")

    def put_in_project(self, folder_id: int, name: str, value: object) -> None:
        self._projects.put_options(folder_id, {name: Settings.options()[name].check(value)})

    @property
    def differs(self) -> bool:
        """Whether the open chat differs from its model's defaults and the settings."""
        return bool(known(self._own(self.chat_id)) or self._preset(self.chat_id))

    @property
    def here(self) -> Generation:
        """What the next reply of the open chat is requested with."""
        return self.generation(self.chat_id)

    @property
    def has_own_speculation(self) -> bool:
        """Whether drafting is set by the open chat, its project, its preset or the model's defaults."""
        return any("speculation_mode" in known(layer) for layer in self._layers(self.chat_id))

    def pair_here(self, pair: PairView) -> PairView:
        """The loaded pair, with the drafting of the open chat."""
        return pair if pair.off_for_pair else replace(pair, speculation=self.here.speculation())

    def own_of(self, chat_id: int) -> dict[str, Any]:
        """The options to store with a new chat."""
        return {name: value for name, value in self._own(chat_id).items() if name != _PROJECT}

    def goes_without_pictures(self, chat_id: int) -> bool:
        """Whether pictures of the chat are left out for a model that cannot see."""
        return self._own(chat_id).get(_NO_PICTURES) is True

    def go_without_pictures(self) -> None:
        """Leave pictures out in the open chat from here on."""
        self._change_chat({_NO_PICTURES: True})

    def texts(self, chat_id: int, name: str) -> tuple[str, ...]:
        """`name`: TOOLS or FOLDERS."""
        stored = self._own(chat_id).get(name)
        return tuple(each for each in stored if isinstance(each, str)) if isinstance(stored, list) else ()

    def choose_texts(self, name: str, values: Iterable[str]) -> None:
        """For the open chat."""
        chosen = list(dict.fromkeys(values))
        self._change_chat({name: chosen} if chosen else {}, *(() if chosen else (name,)))

    def open(self, chat_id: int) -> None:
        self.keep()
        self.chat_id = chat_id
        self.changed.emit()

    def is_stored(self, chat_id: int, options: Values) -> None:
        """A new chat is, with these options; store what was changed since."""
        own = self._own(chat_id)
        own.pop(_PROJECT, None)
        self._keep_for_start()
        self._note(chat_id, _differing(options, own))

    def _keep_for_start(self) -> None:
        """What a new chat has outlasts the app, too."""
        own = {str(chat_id): dict(self._own(chat_id)) for chat_id in self._new_chats}
        self._settings.new_chat_options = {number: each for number, each in own.items() if each}

    @property
    def main(self) -> str:
        """The main model whose defaults are shown, as the settings name it."""
        return self._main()

    def put(self, scope: Scope, name: str, value: object, main: str = "") -> None:
        """`main`: the model whose default it is, if not the present one."""
        checked = {name: Settings.options()[name].check(value)}
        if scope is Scope.CHAT:
            self._change_chat(checked)
        else:
            main = main or self._main()
            self._put_model_values(main, self._model_values(main) | checked)

    def keep_for_model(self, name: str, main: str = "") -> None:
        """Move the open chat's own value to the defaults of this model, or of the present one."""
        if name in (own := known(self._own(self.chat_id))):
            self.put(Scope.MODEL, name, own[name], main)
            self.drop(Scope.CHAT, name)

    def drop(self, scope: Scope, *names: str) -> None:
        """Reset these options."""
        if scope is Scope.CHAT:
            self._change_chat({}, *names)
        else:
            main = self._main()
            kept = {name: value for name, value in self._model_values(main).items() if name not in names}
            self._put_model_values(main, kept)

    def reset(self, scope: Scope) -> Callable[[], None]:
        """Reset all options; returns what puts them back while this chat is open, or for this model."""
        if scope is Scope.CHAT:
            names = (*OPTIONS, _PRESET)
            own = self._own(self.chat_id)
            before = {name: own[name] for name in names if name in own}
            self.drop(scope, *names)
            return partial(self._change_chat, before, *names)
        main = self._main()
        values = self._model_values(main)
        self._put_model_values(main, {})
        return partial(self._put_model_values, main, values)

    def keep(self) -> None:
        """Store the changed options."""
        self._keep.stop()
        unkept = self._unkept
        self._unkept = {}
        for chat_id, names in unkept.items():
            own = self._own(chat_id)
            values = {name: own[name] for name in names if name in own}
            self._store(chat_id, values, names - values.keys())

    def choose_preset(self, preset_id: str) -> None:
        """Use a preset ("": model and settings) and drop the chat's own options."""
        self._change_chat({_PRESET: preset_id} if preset_id else {}, *OPTIONS, *(() if preset_id else (_PRESET,)))

    def save_preset(self, name: str) -> None:
        """Save the open chat's options as a preset, and use it."""
        values = known(self._preset_values(self.chat_id) | self._own(self.chat_id))
        self.choose_preset(*self.presets.add([{"id": uuid.uuid4().hex, "name": name, "values": values}]))

    def update_preset(self) -> None:
        """Move the chat's own options into its preset."""
        preset = self._preset(self.chat_id)
        if preset is not None:
            values = preset["values"] | known(self._own(self.chat_id))
            self.presets.replace(preset | {"values": values})
            self.choose_preset(str(preset["id"]))

    def rename_preset(self, preset_id: str, name: str) -> None:
        preset = self.presets.get(preset_id)
        if preset is not None:
            self.presets.replace(preset | {"name": name})

    def delete_preset(self, preset_id: str) -> None:
        """Delete a preset; chats that use it get its options as their own."""
        preset = self.presets.get(preset_id)
        if preset is None:
            return
        self.keep()
        values = known(preset["values"])

        def replaced(_done: None) -> None:
            """On the disk; now in the chats that are known."""
            for own in self._known.values():
                if own.get(_PRESET) == preset_id:
                    del own[_PRESET]
                    own.update(dict(values) | known(own))
            self._keep_for_start()
            self.presets.drop([preset_id])

        self._changes.write(lambda stores: stores.states.replace_preset(preset_id, values), replaced)

    def presets_of(self, chats: Iterable[int] | None) -> tuple[dict[str, Any], ...]:
        """The presets used by chats; None: all presets."""
        used = None if chats is None else {self._preset_id(chat_id) for chat_id in chats}
        return tuple(each for each in self.presets.all() if used is None or each["id"] in used)

    def _change_chat(self, values: Mapping[str, Any], *dropped: str) -> None:
        own = self._own(self.chat_id)
        for name in dropped:
            own.pop(name, None)
        own.update(values)
        if self.chat_id in self._new_chats:
            self._keep_for_start()
        else:
            self._note(self.chat_id, {*values, *dropped})
        self.changed.emit()

    def _note(self, chat_id: int, names: set[str]) -> None:
        """Store these names in a moment."""
        if names:
            self._unkept.setdefault(chat_id, set()).update(names)
            self._keep.start()

    def _store(self, chat_id: int, values: Mapping[str, Any], dropped: set[str]) -> None:
        names = values.keys() | dropped
        self._changes.write(
            lambda stores: stores.states.put_options(chat_id, values, dropped),
            ignore,
            again=partial(self._note, chat_id, names),  # with the values of then
            refused=lambda: self._unkept.setdefault(chat_id, set()).update(names),  # for the next `keep`
        )

    def _own(self, chat_id: int) -> dict[str, Any]:
        if chat_id not in self._known:
            is_new = chat_id in self._new_chats
            self._known[chat_id] = {} if is_new else self._storage.read.states.options(chat_id)
        return self._known[chat_id]

    def _preset_id(self, chat_id: int) -> str:
        preset = self._preset(chat_id)
        return "" if preset is None else str(preset["id"])

    def _preset(self, chat_id: int) -> dict[str, Any] | None:
        return self.presets.get(self._own(chat_id).get(_PRESET))

    def _preset_values(self, chat_id: int) -> dict[str, Any]:
        preset = self._preset(chat_id)
        return {} if preset is None else dict(preset["values"])

    def _model_values(self, main: str = "") -> dict[str, Any]:
        return dict(self._settings.model_defaults.get(main or self._main(), {}))

    def _put_model_values(self, main: str, values: dict[str, Any]) -> None:
        others = {name: each for name, each in self._settings.model_defaults.items() if each and name != main}
        self._settings.model_defaults = others | ({main: values} if values else {})

    def _on_setting(self, name: str) -> None:
        if name in (*OPTIONS, "presets", "model_defaults", "main_folder"):
            self.changed.emit()


def _kept_of(storage: Storage, settings: Settings) -> dict[int, dict[str, Any]]:
    """The options of new chats that an earlier run has kept by number, and earlier versions without.

    Not those of a chat that is stored by now: a crash came before the settings were saved.
    """
    new_chats = storage.new_chats
    is_stored = partial(storage.read.database.row, "SELECT 1 FROM chats WHERE id = ?")
    kept = {name: each for name, each in settings.new_chat_options.items() if not is_stored((name,))}
    own = {name: dict(each) for name, each in kept.items() if name.isdecimal() and isinstance(each, dict)}
    found = {chat_id: own.pop(str(chat_id), {}) for chat_id in new_chats}
    if not new_chats.waiting:  # the one whose number was not kept, as nothing was to be sent in it
        for each in own.values():
            found[new_chats.latest] |= each
    found[new_chats.latest] |= {name: value for name, value in kept.items() if not name.isdecimal()}
    return found


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    return {name for name in {*one, *other} if one.get(name, _NOT_SET) != other.get(name, _NOT_SET)}
