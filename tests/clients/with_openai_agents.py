"""openai-agents: a loop with two tools, over responses and over chat completions."""

from __future__ import annotations

import asyncio
from importlib.metadata import version

import openai
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)

from tests.clients.proof import CALLER, KEY

called: list[str] = []


@function_tool  # type: ignore[untyped-decorator]
def weather(city: str) -> str:
    """Of a city."""
    called.append(city)
    return "Rain."


@function_tool  # type: ignore[untyped-decorator]
def population(city: str) -> int:
    """Of a city."""
    return len(city)


async def main() -> None:
    set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=f"{CALLER}/v1", api_key=KEY, max_retries=0)
    for number, kind in enumerate((OpenAIResponsesModel, OpenAIChatCompletionsModel), 1):
        agent = Agent(name="a", tools=[weather, population], model=kind("default", client))
        assert (await Runner.run(agent, "How is it there?")).final_output
        streamed = Runner.run_streamed(agent, "How is it there?")
        events = [event async for event in streamed.stream_events()]
        assert events
        assert streamed.final_output
        assert called == ["x"] * 2 * number
    print(f"openai-agents {version('openai-agents')}, {len(called)} tools called")


if __name__ == "__main__":
    asyncio.run(main())
