"""bfcl-eval, Berkeley's questions about calls: `questions` writes them, `verdicts FILE` judges the calls in a file.

Both as lines of JSON, in the package's own words: its tools as it gives them to servers of OpenAI's kind, its checker.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

# The module of that name imports the clients of forty vendors. Of it the checker reads one thing: whether the model's
# names of tools have "_" for ".", as its tools for servers of OpenAI's kind have.
CONFIG = ModuleType("bfcl_eval.constants.model_config")
CONFIG.MODEL_CONFIG_MAPPING = {"any": SimpleNamespace(underscore_to_dot=True)}  # type: ignore[attr-defined]
sys.modules[CONFIG.__name__] = CONFIG

from bfcl_eval.constants.enums import Language, ModelStyle  # noqa: E402
from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.model_handler.utils import convert_to_tool  # noqa: E402
from bfcl_eval.utils import (  # noqa: E402
    is_empty_output,
    is_function_calling_format_output,
    load_dataset_entry,
    load_ground_truth_entry,
)

SETS = ("simple_python", "simple_java", "simple_javascript", "multiple", "irrelevance")
LANGUAGES = {"simple_java": Language.JAVA, "simple_javascript": Language.JAVASCRIPT}


def questions() -> Iterator[dict[str, Any]]:
    for name in SETS:
        answers = {each["id"]: each["ground_truth"] for each in _answers(name)}
        for entry in load_dataset_entry(name):
            tools = convert_to_tool(entry["function"], GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS)
            (messages,) = entry["question"]
            right = [_call(each) for each in answers.get(entry["id"], ())]
            yield {"id": entry["id"], "set": name, "messages": messages, "tools": tools, "right": right}


def _answers(name: str) -> list[dict[str, Any]]:
    return [] if name == "irrelevance" else list(load_ground_truth_entry(name))


def _call(truth: dict[str, Any]) -> dict[str, Any]:
    """One of the calls that are right."""
    ((name, arguments),) = truth.items()
    chosen = {each: next((one for one in values if one != ""), "") for each, values in arguments.items()}
    return {"name": name.replace(".", "_"), "arguments": chosen}


def verdicts(file: str) -> Iterator[dict[str, Any]]:
    """`file`: lines with "id", "set" and "calls"."""
    asked = {each["id"]: each for name in SETS for each in load_dataset_entry(name, True, False)}
    answers = {each["id"]: each["ground_truth"] for name in SETS for each in _answers(name)}
    for line in Path(file).read_text("utf-8").splitlines():
        each = json.loads(line)
        calls = [{call["name"]: call["arguments"]} for call in each["calls"]]
        yield {"right": _is_right(each["set"], asked[each["id"]]["function"], calls, answers.get(each["id"]))}


def _is_right(name: str, functions: list[Any], calls: list[Any], answer: Any) -> bool:
    """As the package's own runner goes on from the calls."""
    if answer is None:
        return bool(is_empty_output(calls))
    if not is_function_calling_format_output(calls):
        return False
    language = LANGUAGES.get(name, Language.PYTHON)
    return bool(ast_checker(functions, calls, answer, language, name, "any")["valid"])


if __name__ == "__main__":
    for line in questions() if sys.argv[1] == "questions" else verdicts(sys.argv[2]):
        print(json.dumps(line))
