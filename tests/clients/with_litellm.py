"""litellm, which many programs are built on: as OpenAI's, Anthropic's and Ollama's provider."""

from __future__ import annotations

import json
from importlib.metadata import version

import litellm

from tests.clients.proof import ADDRESS, CALLER, CITY, KEY, LONG, MODEL, QUESTION, refused

TOOL = {"type": "function", "function": {"name": "weather", "description": "Looks.", "parameters": CITY}}
PROVIDERS = {"openai": f"{ADDRESS}/v1", "anthropic": ADDRESS, "ollama_chat": ADDRESS, "lm_studio": f"{ADDRESS}/v1"}


def main() -> None:
    litellm.telemetry = False
    for provider, base in PROVIDERS.items():
        asked = {"model": f"{provider}/{MODEL}", "api_base": base, "api_key": "any", "messages": [QUESTION]}
        whole = litellm.completion(**asked, max_tokens=20, temperature=0)
        pieces = list(litellm.completion(**asked, max_tokens=20, temperature=0, stream=True))
        said = "".join(piece.choices[0].delta.content or "" for piece in pieces)
        assert said == whole.choices[0].message.content != "", provider
    with refused(litellm.ContextWindowExceededError):
        litellm.completion(model=f"openai/{MODEL}", api_base=f"{ADDRESS}/v1", api_key="any", messages=[LONG])
    calling = {"model": "openai/default", "api_base": f"{CALLER}/v1", "api_key": KEY, "tools": [TOOL]}
    (call,) = litellm.completion(**calling, messages=[QUESTION]).choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == {"city": "x"}
    print(f"litellm {version('litellm')} as {', '.join(PROVIDERS)}")


if __name__ == "__main__":
    main()
