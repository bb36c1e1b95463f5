"""A reply's statistics under the names that clients know: OpenAI's usage, llama.cpp's timings, vLLM's metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api.events import Finished
from engine.api.stats import RequestStats


def usage_of(stats: Sequence[RequestStats], reasoning_tokens: int, choices: int = 1) -> dict[str, Any]:
    """Of all replies together, of which so many follow each prompt."""
    prompts = [stats[at : at + choices] for at in range(0, len(stats), choices)]
    prompt = sum(max(each.prompt_tokens for each in replies) for replies in prompts)
    written = sum(each.generated_tokens for each in stats)
    cached = sum(max(each.cached_tokens for each in replies) for replies in prompts)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
    }


def predicted_of(ends: Sequence[Finished]) -> dict[str, int]:
    """Predicted tokens that were tried. Unlike OpenAI's, rejected ones are not among the reply's tokens."""
    rounds = [each for end in ends for each in end.rounds if each.source == "prediction"]
    accepted = sum(each.accepted for each in rounds)
    tried = sum(len(each.drafted) for each in rounds)
    return {"accepted_prediction_tokens": accepted, "rejected_prediction_tokens": tried - accepted}


def timings_of(stats: RequestStats) -> dict[str, Any]:
    read = stats.prompt_tokens - stats.cached_tokens
    return {
        "cache_n": stats.cached_tokens,
        "prompt_n": read,
        "prompt_ms": stats.prefill_s * 1000,
        "prompt_per_second": read / stats.prefill_s if stats.prefill_s > 0 else None,
        "predicted_n": stats.generated_tokens,
        "predicted_ms": stats.decode_s * 1000,
        "predicted_per_second": stats.tokens_per_second,
        "draft_n": stats.drafted,
        "draft_n_accepted": stats.accepted,
    }


def metrics_of(stats: RequestStats) -> dict[str, Any]:
    """vLLM's, whose mean counts the main model's own token of each round with a draft."""
    rounds = stats.draft_rounds
    return {
        "speculative_decoding": {
            "mean_acceptance_length": 1 + stats.accepted / rounds if rounds else None,
            "draft_acceptance_rate": stats.accept_rate,
            "acceptance_histogram": list(stats.rounds_by_accepted),
            "num_accepted_draft_tokens": stats.accepted,
            "num_draft_tokens": stats.drafted,
            "num_spec_steps": rounds,
        }
    }


def hunch_of(finished: Finished, draft_model: str | None) -> dict[str, Any]:
    return {
        "seed": finished.seed,
        "finish": finished.reason.value,
        "draft_model": draft_model,
        "drafting": finished.stats.drafting.value,
        "speed_up": finished.stats.speed_up,
        "saved_s": finished.stats.saved_s,
    }
