"""Which tests examine which part of the engine, the quickest first: a mutant's life ends at the first that fails."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("engine/decoding", "engine/drafting", "engine/caches", "engine/prefix")
FILES = (
    "engine/models/token_map.py",
    "engine/runtime/counting.py",
    "engine/runtime/output.py",
    "engine/runtime/pair.py",
    "engine/runtime/rounds.py",
    "engine/runtime/sharing.py",
    "engine/runtime/scheduler.py",
)

_ROUND = ("engine/test_invariants", "engine/test_hidden_states", "engine/test_replies")
_COMPANY = ("engine/test_batch", "engine/test_batch_drafts")
_CACHES = ("engine/test_caches", "engine/test_cache_kinds", "engine/test_prefix_families")

# The longest beginning of a file's name that is listed decides.
_TESTS = {
    "engine/decoding/accept": (
        "engine/test_accept",
        "engine/test_sampling",
        "engine/test_draft_model",
    ),
    "engine/caches/eight_bits": ("engine/test_eight_bits",),
    "engine/decoding/constraint": ("engine/test_constraints",),
    "engine/decoding/guide": ("engine/test_constraints", "engine/test_thinking_limit"),
    "engine/decoding/hidden_states": ("engine/test_hidden_states",),
    "engine/decoding/round": (
        "engine/test_round",
        "engine/test_invariants",
        "engine/test_rounding",
    ),
    "engine/decoding/sampling": (
        "engine/test_sampling",
        "engine/test_accept",
        "engine/test_exactness",
        "engine/test_broken_logits",
    ),
    "engine/decoding/sources": ("unit/test_sources",),
    "engine/decoding/sequence": (
        "engine/test_sequence",
        "engine/test_prefix_choice",
        "engine/test_hidden_states",
        "engine/test_padding",
    ),
    "engine/drafting/calibration": ("engine/test_tuning", "engine/test_rounding"),
    "engine/drafting/examination": ("engine/test_examination",),
    "engine/drafting/drafters": (
        "engine/test_loading_drafters",
        "engine/test_block_reference",
        "engine/test_drafters_chain",
        "engine/test_examination",
    ),
    "engine/drafting/proposers/chain": (
        "engine/test_drafters_chain",
        "engine/test_drafters_in_company",
        "engine/test_draft_model",
        "engine/test_examination",
    ),
    "engine/drafting/proposers/dflash": ("engine/test_block_reference", "engine/test_drafters_in_company"),
    "engine/drafting/proposers/eagle3": (
        "engine/test_block_reference",
        "engine/test_drafters_chain",
        "engine/test_examination",
    ),
    "engine/drafting/proposers/features": ("engine/test_features", "engine/test_block_reference"),
    "engine/drafting/proposers/layers": (
        "engine/test_block_reference",
        "engine/test_drafters_chain",
    ),
    "engine/drafting/proposers/assistant": ("engine/test_drafters_assistant",),
    "engine/drafting/proposers/mtp": (
        "engine/test_mtp_families",
        "engine/test_drafters_chain",
        "engine/test_examination",
    ),
    "engine/decoding/scores": ("engine/test_logprobs",),
    "engine/decoding/tool_calls": ("engine/test_tool_calls", "engine/test_strict_calls"),
    "engine/decoding/call_grammars": ("engine/test_call_grammars",),
    "engine/decoding/steps": ("engine/test_steps",),
    "engine/decoding/text": ("engine/test_text",),
    "engine/decoding/prompt": ("engine/test_text", "engine/test_prompts"),
    "engine/decoding/turns": ("engine/test_tool_calls", "engine/test_prompts"),
    "engine/decoding/truncation": ("engine/test_truncation",),
    "engine/drafting/kept_rates": ("unit/test_kept_rates",),
    "engine/drafting/text_kind": ("unit/test_text_kinds",),
    "engine/drafting/acceptance": ("unit/test_acceptance", "unit/test_controller", "unit/test_controller_simulated"),
    "engine/drafting/controller": (
        "unit/test_options",
        "unit/test_controller",
        "unit/test_controller_simulated",
    ),
    "engine/drafting/plans": (
        "unit/test_controller",
        "engine/test_draft_model",
    ),
    "engine/drafting/pass_ratio": ("unit/test_verdict", "unit/test_recorded_rounds", "engine/test_tuning"),
    "engine/drafting/costs": (
        "unit/test_costs",
        "unit/test_verdict",
        "unit/test_controller",
        "unit/test_prediction",
    ),
    "engine/drafting/planner": (
        "engine/test_planner",
        *_ROUND,
        "engine/test_draft_model",
    ),
    "engine/drafting/proposers/lookup": ("unit/test_lookup",),
    "engine/drafting/proposers/draft_model": ("engine/test_draft_model", "engine/test_draft_rows"),
    "engine/drafting/proposers/in_rows": ("engine/test_drafters_in_company",),
    "engine/drafting/proposers/rows": ("engine/test_draft_rows", "engine/test_drafters_in_company"),
    "engine/drafting/proposers/base": (
        "engine/test_proposers",
        "engine/test_planner",
        "engine/test_draft_model",
        *_ROUND,
    ),
    "engine/drafting/proposers": ("engine/test_draft_model", *_ROUND),
    "engine/caches/base": (
        "engine/test_cache_kinds",
        *_CACHES,
        "families/test_cache_contract",
    ),
    "engine/caches/checkpoints": (
        *_CACHES,
        "engine/test_prefix_choice",
        "engine/test_prefix_file",
        "engine/test_prefix_disk",
    ),
    "engine/caches/hooks": ("engine/test_hidden_states",),
    "engine/caches/kinds": ("engine/test_cache_kinds",),
    "engine/caches/making": ("engine/test_cache_kinds",),
    "engine/caches/ragged": ("engine/test_merging",),
    "engine/caches/merging": ("engine/test_merging", "engine/test_draft_rows"),
    "engine/caches/replay": ("engine/test_replay", *_CACHES, "families/test_cache_contract"),
    "engine/caches/window": _CACHES,
    "engine/caches": (*_CACHES, "families/test_cache_contract"),
    "engine/prefix/file": ("engine/test_prefix_file", "engine/test_prefix_disk"),
    "engine/prefix/memory": (
        "engine/test_prefix_choice",
        "engine/test_shared_beginnings",
        "engine/test_prefix_disk",
        "engine/test_prefix_limits",
    ),
    "engine/prefix": (
        "engine/test_prefix_disk",
        "engine/test_prefix_foreign",
        "engine/test_prefix_limits",
        "engine/test_prefix_families",
    ),
    "engine/models/token_map": ("unit/test_token_map",),
    "engine/runtime/counting": ("unit/test_counting", "engine/test_counting"),
    "engine/runtime/output": (*_ROUND, "engine/test_draft_marks", "engine/test_logprobs", "engine/test_tool_calls"),
    "engine/runtime/pair": (
        "engine/test_constraints",
        "engine/test_tuning",
        "engine/test_examination",
        "engine/test_memory",
        "engine/test_prefix_disk",
        "engine/test_invariants",
        "engine/test_load_progress",
        "engine/test_keep_only",
        "engine/test_engine_faults",
        *_COMPANY,
    ),
    "engine/runtime/rounds": (
        "engine/test_round_statistics",
        *_ROUND,
        *_COMPANY,
        "engine/test_exactness",
        "engine/test_background",
    ),
    "engine/runtime/sharing": ("unit/test_sharing",),
    "engine/runtime/scheduler": _COMPANY,
}


def modules(only: str = "") -> list[str]:
    """The files to change, as `engine/caches/base.py`."""
    found = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    files = [*found, *FILES]
    return [file for file in files if file.startswith(only) and not file.endswith("__init__.py")]


def covering(file: str) -> tuple[str, ...]:
    known = [start for start in _TESTS if file.startswith(start)]
    return tuple(f"tests/{name}.py" for name in _TESTS[max(known, key=len)])
