"""A model's files for display: its family, what its chat template can do, its languages and its licence.

Read from configs, the template's text and the head of the README; nothing is rendered or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from engine.api.types import ModelAbout
from engine.models.effort import EffortVariables
from engine.models.families import family_for, family_name
from engine.models.marks import FAMILIES, thinking_family
from engine.models.model_files import KIB, TOKENIZER_CONFIG_LIMIT_BYTES, JsonObject, object_at, object_in, start_of
from engine.models.template_files import template_text

_HEAD_BYTES = 16 * KIB
_MOST_LANGUAGES = 40
_THINKS = re.compile("enable_thinking|reasoning_content|reasoning_effort")
TAKES_TOOLS = re.compile(r"\btools\b")
_LICENCE = re.compile(r"[\w.+-]{1,60}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z]{2,8})?")
_KEY = re.compile(r"([a-z_]+):\s*(.*)")


def read_about(folder: Path, config: JsonObject, name: str, *, drafts: bool) -> ModelAbout:
    """Never raises for a file's content: odd values are left out. `drafts`: it is a drafter, which has no template."""
    model_type = _model_type(config)
    family = family_for(model_type)
    template = "" if drafts else template_text(folder)
    effort = EffortVariables.of(template)
    head = _front_matter(folder)
    return ModelAbout(
        family=family_name(model_type, name),
        template=bool(template),
        thinking=bool(_THINKS.search(template) or thinking_family(template) or effort.off or effort.levels),
        thinking_off=bool(effort.off),
        efforts=effort.levels,
        tools=_calls_tools(folder, template),
        languages=tuple(_matching(_LANGUAGE, head.get("language", ())))[:_MOST_LANGUAGES],
        licence=next(iter(_matching(_LICENCE, head.get("license_name", ()) or head.get("license", ()))), ""),
        speculates=family.speculates,
        made_for=_main_model(config) if drafts else "",
    )


def _calls_tools(folder: Path, template: str) -> bool:
    """Whether the template takes tools, and the calls in replies can be parsed, as far as the files say."""
    if not TAKES_TOOLS.search(template):
        return False
    if any(family.calls_tools(template) for family in FAMILIES):  # else the vocabulary may say so once it is loaded
        return True
    settings = object_in(folder / "tokenizer_config.json", TOKENIZER_CONFIG_LIMIT_BYTES)
    declared = object_at(object_at(settings, "response_template"), "fields")
    return bool(settings.get("tool_parser_type")) or "tool_calls" in declared


def _model_type(config: JsonObject) -> str:
    """The model type of the text part, if the config's own is not a family's (a drafter's)."""
    own, inner = (str(each.get("model_type") or "") for each in (config, object_at(config, "text_config")))
    return inner if inner and family_for(own).name == own else own


def _front_matter(folder: Path) -> dict[str, list[str]]:
    """Plain values and lists between the first two `---` lines; no other YAML."""
    try:
        lines = start_of(folder / "README.md", _HEAD_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    if not lines or lines[0].strip() != "---":
        return {}
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines[1:]:
        if line.strip() == "---":
            break
        if key := _KEY.fullmatch(line):
            current = found.setdefault(key[1], [])
            current += _values(key[2])
        elif line.lstrip().startswith("- "):
            current.append(_plain(line.lstrip()[2:]))
        else:
            current = []
    return found


def _values(text: str) -> list[str]:
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        return [_plain(part) for part in inner[1:-1].split(",")]
    return [_plain(inner)] if inner else []


def _plain(text: str) -> str:
    return text.strip().strip("\"'")


def _matching(pattern: re.Pattern[str], values: Iterable[str]) -> list[str]:
    return [value for value in values if pattern.fullmatch(value)]


def _main_model(config: JsonObject) -> str:
    """Speculators configs name their main model."""
    verifier = object_at(object_at(config, "speculators_config"), "verifier").get("name_or_path")
    return verifier[:100] if isinstance(verifier, str) and verifier.isprintable() else ""
