"""Figures for Prometheus: `hunch_*`, `spec_decode_*` as benchmarks look for them, and on request vLLM's names.

Of all clients of the server together, without the user's own requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from engine.api.events import Failed, Finished
from engine.api.stats import RequestStats
from engine.api.types import EngineState

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
_TOKEN_SECONDS = (0.003, 0.006, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1)
# vLLM's names for the same figures, which its boards and load generators ask for.
_OF_VLLM = {
    "hunch_requests_running": "vllm:num_requests_running",
    "hunch_requests_waiting": "vllm:num_requests_waiting",
    "hunch_prompt_tokens": "vllm:prompt_tokens",
    "hunch_prompt_cached_tokens": "vllm:prefix_cache_hits",
    "hunch_generation_tokens": "vllm:generation_tokens",
    "hunch_queue_seconds": "vllm:request_queue_time_seconds",
    "hunch_prefill_seconds": "vllm:request_prefill_time_seconds",
    "hunch_time_to_first_token_seconds": "vllm:time_to_first_token_seconds",
    "hunch_inter_token_seconds": "vllm:inter_token_latency_seconds",
    "hunch_e2e_seconds": "vllm:e2e_request_latency_seconds",
    "spec_decode_num_drafts": "vllm:spec_decode_num_drafts",
    "spec_decode_num_draft_tokens": "vllm:spec_decode_num_draft_tokens",
    "spec_decode_num_accepted_tokens": "vllm:spec_decode_num_accepted_tokens",
    "spec_decode_num_accepted_tokens_per_pos": "vllm:spec_decode_num_accepted_tokens_per_pos",
}
_VLLM_LABELS = {"model_name": "default", "engine": "0"}  # by which boards choose: what is loaded, whatever its name
_SPEED_UPS = (0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4)


class _Loaded(Collector):
    """What the engine has now."""

    def __init__(self, state: Callable[[], EngineState]) -> None:
        self._state = state

    def collect(self) -> Iterable[Metric]:
        state = self._state()
        info = GaugeMetricFamily("hunch_model_info", "The loaded model and its draft", labels=["model", "draft"])
        if state.main is not None:
            info.add_metric([state.main.name, "" if state.draft is None else state.draft.name], 1)
        memory = GaugeMetricFamily("hunch_memory_bytes", "Of the loaded weights", labels=["model"])
        for name, model in (("main", state.main), ("draft", state.draft)):
            if model is not None:
                memory.add_metric([name], model.weight_bytes)
        return info, memory


class _Aliases(Collector):
    """The figures of another registry under vLLM's names."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        for metric in self._registry.collect():
            if (name := _OF_VLLM.get(metric.name)) is not None:
                alias = Metric(name, metric.documentation, metric.type)
                alias.samples = [
                    sample._replace(name=name + sample.name[len(metric.name) :], labels=_VLLM_LABELS | sample.labels)
                    for sample in metric.samples
                ]
                yield alias


class Metrics:
    """Counted from each reply's last statistics. On the loop's thread."""

    def __init__(self, state: Callable[[], EngineState], vllm_names: bool) -> None:
        """`state`: with clients' requests alone."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()
        registry.register(_Loaded(state))
        self._running = self._gauge("requests_running", "Requests that the engine reads or writes")
        self._waiting = self._gauge("requests_waiting", "Requests in the engine's queue")
        self._running.set_function(lambda: len(state().running))
        self._waiting.set_function(lambda: len(state().queued))
        self._drafting = Gauge("hunch_drafting", "How the latest reply drafted", ["state"], registry=registry)
        self._finished = Counter(
            "hunch_requests_finished", "Requests that have ended", ["endpoint", "reason"], registry=registry
        )
        self._prompt = self._counter("prompt_tokens", "Tokens of prompts")
        self._cached = self._counter("prompt_cached_tokens", "Tokens of prompts that were read before")
        self._written = self._counter("generation_tokens", "Tokens written")
        self._forced = self._counter("forced_tokens", "Of these, tokens that a constraint left no choice about")
        self._saved = Gauge("hunch_saved_seconds", "Seconds that drafts saved, so far", registry=registry)
        self.loads = self._counter("model_loads", "Models that were loaded, by whomever")
        self.calls = Counter(
            "hunch_tool_calls", "Tool calls in replies; unparsed ones are text", ["parsed"], registry=registry
        )
        self.departures = self._counter("disconnects", "Clients that left before their answer was complete")
        self._queue = self._histogram("queue_seconds", "From a request to its turn", _SECONDS)
        self._prefill = self._histogram("prefill_seconds", "From its turn to the first token", _SECONDS)
        self._first = self._histogram("time_to_first_token_seconds", "From a request to the first token", _SECONDS)
        self._between = self._histogram("inter_token_seconds", "Between tokens, one mean a reply", _TOKEN_SECONDS)
        self._all = self._histogram("e2e_seconds", "From a request to the last token", _SECONDS)
        self._speed_up = self._histogram("speed_up", "Speed with drafts, as a multiple of that without", _SPEED_UPS)
        self._drafts = Counter("spec_decode_num_drafts", "Rounds with a draft", registry=registry)
        self._drafted = Counter("spec_decode_num_draft_tokens", "Drafted tokens verified", registry=registry)
        self._accepted = Counter("spec_decode_num_accepted_tokens", "Of these, accepted", registry=registry)
        self._accepted_at = Counter(
            "spec_decode_num_accepted_tokens_per_pos",
            "Accepted, by place in the draft",
            ["position"],
            registry=registry,
        )

        self._aliases = CollectorRegistry()
        if vllm_names:
            self._aliases.register(_Aliases(registry))

    def text(self) -> bytes:
        return generate_latest(self._registry) + generate_latest(self._aliases)

    def ended(self, endpoint: str, event: Finished | Failed) -> None:
        reason = event.reason.value if isinstance(event, Finished) else type(event.error).__name__
        self._finished.labels(endpoint, reason).inc()
        if isinstance(event, Finished):
            self.calls.labels("false").inc(event.unread_calls)
        self._count(event.stats)

    def _count(self, stats: RequestStats) -> None:
        self._drafting.clear()
        self._drafting.labels(stats.drafting.value).set(1)
        self._prompt.inc(stats.prompt_tokens)
        self._cached.inc(stats.cached_tokens)
        self._written.inc(stats.generated_tokens)
        self._forced.inc(stats.forced)
        self._drafts.inc(stats.draft_rounds)
        self._drafted.inc(stats.drafted)
        self._accepted.inc(stats.accepted)
        for position, accepted in enumerate(stats.accepted_by_position):
            self._accepted_at.labels(position).inc(accepted)
        if not stats.generated_tokens:
            return
        self._queue.observe(stats.queued_s)
        self._prefill.observe(stats.prefill_s)
        self._first.observe(stats.first_token_s)
        self._all.observe(stats.first_token_s + stats.decode_s)
        if stats.generated_tokens > 1:
            self._between.observe(stats.decode_s / (stats.generated_tokens - 1))
        if stats.speed_up is not None:
            self._speed_up.observe(stats.speed_up)
        self._saved.inc(stats.saved_s or 0.0)

    def _counter(self, name: str, help_: str) -> Counter:
        return Counter(f"hunch_{name}", help_, registry=self._registry)

    def _gauge(self, name: str, help_: str) -> Gauge:
        return Gauge(f"hunch_{name}", help_, registry=self._registry)

    def _histogram(self, name: str, help_: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"hunch_{name}", help_, buckets=buckets, registry=self._registry)
