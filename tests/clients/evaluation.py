"""lm-eval over our completions: tasks of ours, by log-probabilities of an echo and by texts, with drafts and without.

It is installed for itself where it is named, in an environment of its own: it brings much with it, though no torch.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.clients.programs import Servers, run

BIN = Path("build/lm-eval/bin").resolve()
_PACKAGES = ("lm-eval==0.4.13", "aiohttp", "requests", "tenacity", "tiktoken", "transformers>=5,<6")
_SPECULATIONS = ("off", "auto", "4")
_PREFIXES = ("A draft model", "The main model", "What is", "초안 모델은", "Speculative decoding")
_ENDINGS = (" guesses the next tokens", " purple seven of", " is a small model", "입니다")
# A number of choices for each text, and a text to be written: what is scored is our business, what scores is theirs.
_TASKS: dict[str, dict[str, Any]] = {
    "weighed": {
        "output_type": "multiple_choice",
        "doc_to_text": "{{text}}",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": 0,
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    },
    "written": {
        "output_type": "generate_until",
        "doc_to_text": "{{text}}",
        "doc_to_target": "{{choices[0]}}",
        "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 24, "do_sample": False},
        "metric_list": [{"metric": "exact_match"}],
    },
}


def install() -> None:
    if not (BIN / "lm_eval").exists():
        subprocess.run([sys.executable, "-m", "venv", BIN.parent], check=True)
        subprocess.run([BIN / "python", "-m", "pip", "install", "--quiet", *_PACKAGES], check=True)


def lm_eval(servers: Servers) -> str:
    tasks = _write_tasks(servers.folder / "tasks")
    found = [_results(servers, tasks, speculation) for speculation in _SPECULATIONS]
    assert found[0] == found[1] == found[2], found
    assert len(found[0]["written"]) == len(_PREFIXES)
    return f"{sum(map(len, found[0].values()))} requests have one result with speculation {', '.join(_SPECULATIONS)}"


def _write_tasks(folder: Path) -> Path:
    folder.mkdir()
    docs = [{"text": prefix, "choices": list(_ENDINGS)} for prefix in _PREFIXES]
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(folder / "docs.jsonl")}}}
    for name, task in _TASKS.items():
        whole = {"task": name, "test_split": "test", **data, **task}
        (folder / f"{name}.yaml").write_text(json.dumps(whole))  # which is YAML
    return folder


def _results(servers: Servers, tasks: Path, speculation: str) -> dict[str, list[Any]]:
    """What each request brought, by task; log-probabilities to three places, of which rounding reaches none."""
    out = servers.folder / f"evaluated-{speculation}"
    model = f"model=default,base_url={servers.pair.address}/v1/completions,tokenizer={servers.folder / 'main'}"
    chosen = ["--tasks", ",".join(_TASKS), "--include_path", tasks, "--batch_size", "4"]
    kept = ["--output_path", out, "--log_samples", "--gen_kwargs", f"speculation={speculation}"]
    offline = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "any"}
    command = [BIN / "lm_eval", "--model", "local-completions", "--model_args", model, *chosen, *kept]
    run(command, servers, offline)
    found: dict[str, list[Any]] = {}
    for name in _TASKS:
        (file,) = out.rglob(f"samples_{name}_*.jsonl")
        samples = [json.loads(line) for line in file.read_text().splitlines()]
        samples.sort(key=lambda sample: sample["doc_id"])
        found[name] = [_rounded(sample["filtered_resps"]) for sample in samples]
    return found


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(float(value), 3) if _is_number(value) else value


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
