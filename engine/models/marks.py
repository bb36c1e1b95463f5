"""Marks in replies: what opens and closes thinking, surrounds answers, and begins calls of tools, by families.

Where mlx-lm finds marks of thinking by itself, or a tokenizer declares its own, those count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# gpt-oss's replies as a response template for transformers: its folders mostly declare none.
_CHANNELS: Mapping[str, Any] = {
    "start_anchor": "<|start|>assistant",
    "fields": {
        "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
        "content": {
            "open": [
                *("<|channel|>final<|message|>", "<|channel|>commentary<|message|>"),
                *("<|channel|>commentary ", "<|channel|>analysis "),  # before a call
            ],
            "close": ["<|end|>", "<|return|>"],
        },
        "tool_calls": {
            "open_pattern": r"to=functions\.(?P<name>[\w.-]+).*?<\|message\|>",  # after a channel, or before one
            "close": "<|call|>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
    },
}


@dataclass(frozen=True, slots=True)
class FamilyMarks:
    opens: str = ""  # what begins thinking; "": none, or mlx-lm knows
    closes: str = ""
    around: tuple[str, ...] = ()  # marks in replies that are no part of an answer
    shown: str = ""  # what templates have of `opens`; "": all of it
    calls: tuple[str, ...] = ()  # what a template contains from which mlx-lm infers how calls are written: all of it
    declared: Mapping[str, Any] | None = None  # a response template

    def thinks(self, template: str) -> bool:
        shown = self.shown or self.opens
        return bool(shown) and shown in template and (shown not in self.around or self.opens in template)

    def calls_tools(self, template: str) -> bool:
        return bool(self.calls) and all(mark in template for mark in self.calls)


FAMILIES = (
    FamilyMarks(shown="<|channel|>", calls=("<|channel|>commentary",), declared=_CHANNELS),  # gpt-oss
    FamilyMarks(  # Muse
        " to=self<|message|>",
        "<|eom|>",
        ("<|start|>assistant to=user<|message|>", "<|start|>assistant to=commentary<|message|>", "to=user<|message|>"),
        shown="to=self",
        calls=("<atem:function_calls>",),
    ),
    FamilyMarks("[THINK]", "[/THINK]", calls=("[TOOL_CALLS]",)),  # Mistral; Magistral and Ministral 3 think
    FamilyMarks("<seed:think>", "</seed:think>"),  # Seed-OSS
    FamilyMarks("<mm:think>", "</mm:think>", calls=("<minimax:tool_call>",)),  # MiniMax; M3 has marks of its own
    FamilyMarks("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    FamilyMarks(  # Command; the newer ones write the second pair
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    ),
    FamilyMarks("<thought>", "</thought>"),  # EXAONE Deep
    FamilyMarks(
        "<|think|>", "<|end|>", ("<|begin|>assistant", "<|content|>"), shown="<|begin|>assistant"
    ),  # Solar Open
    FamilyMarks("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", ("[END FINAL RESPONSE]",)),  # Apriel
    FamilyMarks("<think>", "</think>", ("<response>", "</response>"), shown="<response>"),  # Granite 3.3, ERNIE 4.5
    FamilyMarks(calls=("<|tool_call>", "<tool_call|>")),  # Gemma 4
    FamilyMarks(calls=("<start_function_call>",)),  # FunctionGemma
    FamilyMarks(calls=("<longcat_tool_call>",)),
    FamilyMarks(calls=("<arg_key>",)),  # GLM
    FamilyMarks(calls=("<|tool_list_start|>",)),  # LFM2, and the next one
    FamilyMarks(calls=("<|tool_call_start|>",)),
    FamilyMarks(calls=("<tool_call>\\n<function=",)),  # Qwen3-Coder, and the next one
    FamilyMarks(calls=("<tool_call>\n<function=",)),
    FamilyMarks(calls=("<|tool_calls_section_begin|>",)),  # Kimi K2
    FamilyMarks(calls=('<function name="', '<param name="')),  # MiniCPM5
    FamilyMarks("<think>", "</think>", calls=("<tool_call>", "tool_call.name")),  # Qwen3, and many others
)


def thinking_family(template: str) -> FamilyMarks | None:
    """The family whose marks of thinking are in the text of a model's templates."""
    return next((family for family in FAMILIES if family.thinks(template)), None)
