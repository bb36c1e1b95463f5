"""Compares two models' files thoroughly before either is loaded; the differences are codes and figures.

Takes tenths of a second for large vocabularies, so never on the UI thread. No MLX.
"""

from __future__ import annotations

import filecmp
import json
import logging
import subprocess
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from engine.api.errors import EngineError
from engine.api.pairs import PairCheck, Probe, Vocabularies
from engine.api.types import ModelInfo
from engine.models.children import OUR_FAULTS, PROBE, PROBES, TRY_MODEL, command, environment
from engine.models.compatibility import draft_problem, draft_refusal
from engine.models.inspect import inspect_model
from engine.models.model_files import CONFIG_LIMIT_BYTES, object_in, stamp
from engine.models.template_files import template_text
from engine.models.token_map import TokenMap
from engine.models.vocabulary import MAX_TOKENS, TokenTable, meanings, read_table, tokenizer_file

_PATIENCE_S = 5.0  # wall time
_MOST_KEPT = 64

Cuts = dict[str, list[int]]  # tokens, by language
_log = logging.getLogger(__name__)


def check_pair(main_folder: Path | str, draft_folder: Path | str) -> PairCheck:
    """Compare the two models. Errors of either are the result's `error`."""
    main_path = Path(main_folder)
    draft_path = Path(draft_folder)
    checked = PairCheck(str(main_folder), str(draft_folder), None)
    try:
        main = inspect_model(main_path)
        draft = inspect_model(draft_path)
        checked = replace(checked, main_bytes=main.weight_bytes, draft_bytes=draft.weight_bytes)
        if draft.drafter is not None or main_path.resolve() == draft_path.resolve():
            return replace(checked, error=draft_problem(main, draft))
        return _with_tokens(checked, main, draft)
    except EngineError as error:
        return replace(checked, error=error)


def _with_tokens(checked: PairCheck, main: ModelInfo, draft: ModelInfo) -> PairCheck:
    main_path = Path(main.folder)
    draft_path = Path(draft.folder)
    same = main.vocabulary_digest == draft.vocabulary_digest
    if same and filecmp.cmp(tokenizer_file(main_path), tokenizer_file(draft_path), shallow=False):
        tables = None
    else:
        tables = _tables(main_path, draft_path)
    found = _compared(main, draft, tables, same)
    refusal = draft_refusal(main, draft, None if same else found.shared_tokens)
    if refusal is None and tables is not None and not found.cut_alike:
        probes = _probed(main_path, draft_path, tables)
        found = replace(found, probes=probes, cut_alike=all(probe.alike for probe in probes) if probes else None)
    return replace(
        checked,
        error=refusal,
        vocabularies=found,
        by_text=not same,
        ends_alike=tables is None or _ends(main_path, tables[0]) == _ends(draft_path, tables[1]),
        template_alike=template_text(main_path) == template_text(draft_path),
    )


def _tables(main: Path, draft: Path) -> tuple[TokenTable, TokenTable] | None:
    """None if a tokenizer does not list its tokens."""
    main_table = read_table(main)
    draft_table = read_table(draft)
    return (main_table, draft_table) if main_table is not None and draft_table is not None else None


def _compared(
    main: ModelInfo, draft: ModelInfo, tables: tuple[TokenTable, TokenTable] | None, same: bool
) -> Vocabularies:
    if tables is None:
        shared = main.vocabulary_tokens if same else -1
        return Vocabularies(main.vocabulary_tokens, draft.vocabulary_tokens, shared, cut_alike=same or None)
    left, right = tables
    cut_alike = left.rules == right.rules
    if same:
        return Vocabularies(len(left.texts), len(right.texts), len(left.texts), cut_alike=cut_alike)
    differing = {token for token, _ in left.texts.items() ^ right.texts.items()}
    steering = left.added.keys() | right.added.keys()
    return Vocabularies(
        len(left.texts),
        len(right.texts),
        TokenMap(left, right, MAX_TOKENS).shared,
        len(differing),
        sum(token not in steering for token in differing),
        cut_alike,
    )


def _probed(main: Path, draft: Path, tables: tuple[TokenTable, TokenTable]) -> tuple[Probe, ...]:
    """The probes that differ, tokenized by both; () if a tokenizer cannot be used, or takes too long."""
    cuts = [_cut(folder, table) for folder, table in zip((main, draft), tables, strict=True)]
    if any(cut is None for cut in cuts):
        return ()
    left, right = (cut or {} for cut in cuts)
    return tuple(
        Probe(language, len(left[language]), len(right[language]), left[language] == right[language])
        for language in PROBES
    )


def _cut(folder: Path, table: TokenTable) -> dict[str, list[str]] | None:
    """Text of each token, for every probe."""
    tokens = cuts(folder)
    if tokens is None:
        return None
    said = meanings(table)
    return {language: [said.get(token, "") for token in cut] for language, cut in tokens.items()}


def _ends(folder: Path, table: TokenTable) -> set[str]:
    """The texts of the tokens that end a reply."""
    for name in ("generation_config.json", "config.json"):
        value = object_in(folder / name, CONFIG_LIMIT_BYTES).get("eos_token_id")
        if value is not None:
            ids = value if isinstance(value, list) else [value]
            return {table.texts.get(token, "") for token in ids if isinstance(token, int)}
    return set()


# Tokenizes a few texts in another process, with limits of time and memory: a third-party tokenizer may run for ever,
# and no other Python thread runs while it is loaded or used.


def cuts(folder: Path) -> Cuts | None:
    """None if the tokenizer cannot be used, or takes too long."""
    try:
        return _cuts(folder, *stamp((folder / "tokenizer.json").stat()))
    except (OSError, subprocess.CalledProcessError) as error:
        _log.info("a tokenizer cannot be probed now: %s", error)
        return None


@lru_cache(_MOST_KEPT)
def _cuts(folder: Path, *_identity: int) -> Cuts | None:
    """Raises OSError or CalledProcessError, which is not cached, if the failure says nothing about the file."""
    try:
        child = subprocess.run(
            command(TRY_MODEL, str(folder), PROBE),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=True,
        )
        result = json.loads(child.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        if isinstance(error, subprocess.CalledProcessError) and error.returncode in OUR_FAULTS:
            raise
        _log.info("a tokenizer cannot be probed: %s", error)
        return None
    return result if isinstance(result, dict) and result.keys() == PROBES.keys() else None
