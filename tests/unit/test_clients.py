"""What is pasted into each client: read as the client reads it."""

from __future__ import annotations

import json
import shlex
import tomllib
from dataclasses import replace

import pytest
import yaml

from app.words.clients import CLIENTS, IN_DOCKER, Reached, lack_of

REACHED = Reached("http://127.0.0.1:4862", "Qwen3 'odd\"-8B", 40960, "hunch-key")


def words(client: str, reached: Reached = REACHED) -> list[str]:
    return shlex.split(CLIENTS[client].text(reached))


def environment(client: str, reached: Reached = REACHED) -> dict[str, str]:
    return dict(each.split("=", 1) for each in words(client, reached) if "=" in each and not each.startswith("-"))


def test_claude_code_gets_the_address_without_a_path_and_no_key_of_an_account() -> None:
    assert words("claude")[-1] == "claude"
    assert environment("claude") == {
        "ANTHROPIC_BASE_URL": REACHED.address,
        "ANTHROPIC_AUTH_TOKEN": REACHED.key,
        "ANTHROPIC_API_KEY": "",
        "ANTHROPIC_MODEL": REACHED.model,
        "ANTHROPIC_DEFAULT_FABLE_MODEL": REACHED.model,
        "ANTHROPIC_DEFAULT_OPUS_MODEL": REACHED.model,
        "ANTHROPIC_DEFAULT_SONNET_MODEL": REACHED.model,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": REACHED.model,
        "CLAUDE_CODE_SUBAGENT_MODEL": REACHED.model,
        "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "40960",
        "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_STREAM_IDLE_TIMEOUT_MS": "3600000",
    }


def test_codex_gets_a_provider_of_responses_and_the_key_by_the_environment() -> None:
    parts = words("codex")
    start = parts.index("codex")
    assert set(parts[start + 1 :: 2]) == {"-c"}
    config = tomllib.loads("\n".join(parts[start + 2 :: 2]))
    assert (config["model"], config["model_context_window"]) == (REACHED.model, 40960)
    assert config["model_supports_reasoning_summaries"] is True, "else it sends no effort"
    provider = config["model_providers"][config["model_provider"]]
    assert (provider["base_url"], provider["wire_api"]) == (f"{REACHED.address}/v1", "responses")
    assert f"{provider['env_key']}={REACHED.key}" in parts[:start]


def test_opencode_gets_a_limit_that_leaves_room_for_the_prompt_and_learns_whether_the_model_sees() -> None:
    assert words("opencode")[-1] == "opencode"
    config = json.loads(words("opencode")[1].removeprefix("OPENCODE_CONFIG_CONTENT="))
    provider = config["provider"]["hunch"]
    assert provider["options"] == {"baseURL": f"{REACHED.address}/v1", "apiKey": REACHED.key}
    assert config["model"] == f"hunch/{REACHED.model}"
    assert provider["models"][REACHED.model] == {"name": REACHED.model, "limit": {"context": 40960, "output": 10240}}
    config = json.loads(words("opencode", replace(REACHED, sees=True))[1].removeprefix("OPENCODE_CONFIG_CONTENT="))
    assert "image" in config["provider"]["hunch"]["models"][REACHED.model]["modalities"]["input"]


def test_zed_finds_us_as_a_server_that_it_knows() -> None:
    config = json.loads(CLIENTS["zed"].text(REACHED))
    assert config["language_models"]["lmstudio"] == {"api_url": f"{REACHED.address}/api/v0"}
    assert config["agent"]["default_model"] == {"provider": "lmstudio", "model": REACHED.model}


def test_xcode_takes_a_port_alone() -> None:
    client = CLIENTS["xcode"]
    assert client.text(REACHED) == "4862\n"
    assert "4862" in client.place(REACHED)


def test_continue_gets_its_lines() -> None:
    config = yaml.safe_load(CLIENTS["continue"].text(REACHED))
    (model,) = config["models"]
    assert (model["model"], model["apiBase"]) == (REACHED.model, f"{REACHED.address}/v1")
    assert model["defaultCompletionOptions"]["contextLength"] == 40960
    assert model["capabilities"] == ["tool_use"]
    (model,) = yaml.safe_load(CLIENTS["continue"].text(replace(REACHED, calls_tools=False, sees=True)))["models"]
    assert model["capabilities"] == ["image_input"]


@pytest.mark.parametrize("client", ["open-webui", "aider"])
def test_programs_of_the_terminal_get_the_path_of_openai(client: str) -> None:
    assert any(each.endswith(f"={REACHED.address}/v1") for each in words(client))
    assert f"OPENAI_API_KEY={REACHED.key}" in words(client)


def test_open_webui_that_runs_already_is_told_both_addresses() -> None:
    place = CLIENTS["open-webui"].place(REACHED)
    assert "hunch launch open-webui" in place
    assert "http://127.0.0.1:4862/v1" in place
    assert f"http://{IN_DOCKER}:4862/v1" in place


def test_aider_gets_the_model_and_its_room() -> None:
    assert words("aider")[-5:] == [
        "--model",
        f"openai/{REACHED.model}",
        "--no-show-model-warnings",
        "--max-chat-history-tokens",
        "10240",
    ]


@pytest.mark.parametrize(
    ("client", "reached", "lack"),
    [
        ("claude", REACHED, ""),
        ("claude", replace(REACHED, calls_tools=False), "Claude Code works with tools, and Qwen3 8B calls none."),
        (
            "codex",
            replace(REACHED, context_tokens=4096),
            "Codex needs a context of 32,768 tokens, and Qwen3 8B has 4,096.",
        ),
        ("opencode", replace(REACHED, context_tokens=0), ""),  # which is not known
        ("zed", replace(REACHED, calls_tools=False, context_tokens=4096), ""),
    ],
)
def test_an_agent_says_what_a_model_lacks_for_it(client: str, reached: Reached, lack: str) -> None:
    assert lack_of(CLIENTS[client], replace(reached, model="Qwen3-8B-4bit")) == lack


def test_curl_sends_a_question() -> None:
    parts = words("curl")
    assert f"{REACHED.address}/v1/chat/completions" in parts
    assert f"authorization: Bearer {REACHED.key}" in parts
    assert json.loads(parts[-1])["model"] == REACHED.model


@pytest.mark.parametrize("client", CLIENTS)
def test_without_model_and_key_nothing_is_invented(client: str) -> None:
    text = CLIENTS[client].text(Reached("http://127.0.0.1:4862"))
    assert "None" not in text
    assert "40960" not in text
    assert "=0" not in text.replace("CLAUDE_CODE_ATTRIBUTION_HEADER=0", "")
    assert "hunch-key" not in text
