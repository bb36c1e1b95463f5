"""What the clients talk to: the real server in a process of its own, over the starter pair or over a script."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from tests.helpers.tiny_models import build, qwen3_config

PATIENCE_S = 1800  # a real model reads an agent's prompt on two cores
KEY = "secret"  # of the scripted server
STARTER = Path("resources/starter")
LONG_TOKENS = 131_072  # Claude Code's least
TEMPLATE = (
    "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{% for tool_call in message.tool_calls or [] %}<tool_call>\n{% set tool_call = tool_call.function %}"
    '{"name": "{{ tool_call.name }}", "arguments": {{ tool_call.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True, slots=True)
class Server:
    address: str  # "http://127.0.0.1:4862"
    process: int

    def get(self, path: str, **headers: str) -> Any:
        text = self.text(path, **headers)
        return json.loads(text)

    def text(self, path: str, **headers: str) -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(self.address + path, headers=headers), timeout=60) as answer:
            return str(answer.read().decode())

    @property
    def model(self) -> str:
        return self.model_of("")

    def model_of(self, key: str) -> str:
        return str(self.get("/v1/models", authorization=f"Bearer {key}")["data"][0]["id"])

    def figures(self) -> dict[str, float]:
        """Of /metrics, by their names with labels."""
        lines = [line for line in self.text("/metrics").splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def wait_until_quiet(self) -> None:
        """Until the engine has no request any more."""
        until = time.monotonic() + PATIENCE_S
        while any(self.figures()[f"hunch_requests_{each}"] for each in ("running", "waiting")):
            assert time.monotonic() < until, "requests that nobody reads go on"
            time.sleep(0.1)


def long_copy(source: Path, folder: Path) -> Path:
    """A model of the starter pair with room for an agent's prompt, and a template that takes tools.

    What it says beyond the 4,096 tokens that it was trained for is nonsense.
    """
    shutil.copytree(source, folder)
    for name, changes in (
        ("config.json", {"max_position_embeddings": LONG_TOKENS}),
        ("tokenizer_config.json", {"chat_template": TEMPLATE, "model_max_length": LONG_TOKENS}),
    ):
        file = folder / name
        file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return folder


def quick_model(folder: Path) -> Path:
    """Reads an agent's prompt in seconds, and says some thirty random words: one embedding in all its tokens' makes the
    end as likely everywhere."""
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1}
    config = qwen3_config(**shape, vocab_size=5120, head_dim=32, max_position_embeddings=LONG_TOKENS)
    network = build(config, scale=1.0)
    common = mx.ones((32,))
    network.model.embed_tokens.weight = network.model.embed_tokens.weight * 0.1 + common
    network.lm_head.weight = mx.random.normal((5120, 32)) * 0.05
    network.lm_head.weight[2] = common * (math.log(5120 / 30) / 32)
    long_copy(STARTER / "draft", folder)
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(network.parameters())), {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config | {"eos_token_id": 2}))
    return folder


@contextmanager
def pair_server(folder: Path, log: Path) -> Iterator[Server]:
    main, draft = (long_copy(STARTER / name, folder / name) for name in ("main", "draft"))
    with _started(
        ["engine", "serve", "--model", str(main), "--draft", str(draft), "--port", "0", "--log"], log
    ) as server:
        yield server


@contextmanager
def agents_server(folder: Path, log: Path, *real: str) -> Iterator[Server]:
    """Over `real`, the folders of a main model and perhaps its draft, else over one that reads quickly."""
    folders = [each for pair in zip(("--model", "--draft"), real, strict=False) for each in pair]
    with _served(log, *(folders or ("--model", quick_model(folder / "quick")))) as server:
        yield server


@contextmanager
def scripted_server(log: Path) -> Iterator[Server]:
    """Calls the tools that it is given; wants a key."""
    with _started(["tests.clients.caller", KEY], log) as server:
        yield server


def _served(log: Path, *models: str | Path) -> AbstractContextManager[Server]:
    return _started(["engine", "serve", "--port", "0", "--log", *(str(each) for each in models)], log)


@contextmanager
def _started(arguments: list[str], log: Path) -> Iterator[Server]:
    command = [sys.executable, "-m", *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, log.read_text(errors="replace")[-4000:]
            yield Server(json.loads(line)["serving"][0], process.pid)
        finally:
            process.terminate()
