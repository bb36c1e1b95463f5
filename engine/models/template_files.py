"""Which chat templates a folder has, and which of several files counts."""

from __future__ import annotations

from pathlib import Path

from engine.models.model_files import (
    TEMPLATE_LIMIT_BYTES,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    FileError,
    read_limited,
    read_object,
)

DEFAULT = "default"
_FILE = "chat_template.jinja"
_CONFIGS = ("tokenizer_config.json", "chat_template.json")  # the second one is the processor's
MORE_TEMPLATES = "additional_chat_templates"  # a folder
_MOST = 64
IN_ONE_FOLDER = f"{MORE_TEMPLATES}--"  # what is in it begins so where a model's folder has none within


def template_files(folder: Path) -> list[Path]:
    """Those that have nothing but templates."""
    more = (*(folder / MORE_TEMPLATES).glob("*.jinja"), *folder.glob(f"{IN_ONE_FOLDER}*.jinja"))
    return [folder / _FILE, *sorted(more)[:_MOST]]


def templates_in(folder: Path) -> dict[str, str]:
    """By name, those of the first that has some: files of their own, the tokenizer's config, the processor's.

    Where none is named as the default, the first is. Raises FileError.
    """
    found: dict[str, str] = {}
    for path in template_files(folder):
        if path.is_file():
            name = DEFAULT if path.name == _FILE else path.stem.removeprefix(IN_ONE_FOLDER)
            found[name] = _decoded(path)
    for name in _CONFIGS:
        if not found and (folder / name).is_file():
            found = _named(read_object(folder / name, TOKENIZER_CONFIG_LIMIT_BYTES).get("chat_template"), name)
    return {DEFAULT: next(iter(found.values()))} | found if found else {}


def template_text(folder: Path) -> str:
    """All its templates, as far as they are looked at; "" if they cannot be read, which loading reports."""
    try:
        return "\n".join(templates_in(folder).values())[:TEMPLATE_LIMIT_BYTES]
    except FileError:
        return ""


def _decoded(path: Path) -> str:
    try:
        return read_limited(path, TEMPLATE_LIMIT_BYTES).decode()
    except UnicodeDecodeError as error:
        raise FileError(f"{path.name}: {error}"[:200]) from error


def _named(given: object, name: str) -> dict[str, str]:
    """Some configs have several, as a list or an object."""
    if not given:
        return {}
    if isinstance(given, str):
        return {DEFAULT: given}
    named = given
    if isinstance(given, list):
        named = {str(each.get("name", DEFAULT)): each.get("template") for each in given if isinstance(each, dict)}
    if not isinstance(named, dict) or not named or not all(isinstance(each, str) for each in named.values()):
        raise FileError(f"{name}: a chat template that is no text")
    return named
