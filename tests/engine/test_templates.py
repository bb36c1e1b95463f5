"""Chat templates render as transformers renders them, and none can keep the engine busy or fill its memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from engine import TokenizerBroken
from engine.models.first_use import FirstUse
from engine.models.templates import ChatTemplate
from tests.helpers.bad_templates import ENDING_TEMPLATES, REFUSED_TEMPLATES
from tests.helpers.samples import fair
from tests.helpers.tiny_models import CHAT_TEMPLATE, byte_tokenizer

TURNS = [
    {"role": "system", "content": " Be brief. "},
    {"role": "user", "content": "안녕 <think>\n{{ x }}</think> 100%"},
    {"role": "assistant", "content": "  你好\n"},
    {"role": "user", "content": "x" * 50},
    {"role": "assistant", "content": "and so "},
]
ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import resource, time
from engine.models.templates import ChatTemplate
from tests.helpers.bad_templates import ENDING_TEMPLATES
resource.setrlimit(resource.RLIMIT_AS, (1 << 30,) * 2)
for name, source in ENDING_TEMPLATES.items():
    started_s, outcome = time.thread_time(), "good"
    try:
        ChatTemplate(source, {}, limit_s=0.05).render([{"role": "user", "content": "hello"}])
    except MemoryError:
        outcome = "memory"
    except BaseException as error:
        pass
    spent_s = time.thread_time() - started_s
    print(outcome if spent_s < 1.5 else "slow", name, spent_s)
"""

# The ways in which templates of well-known families are written.
GOOD_TEMPLATES = {
    "plain": CHAT_TEMPLATE,
    "loop controls": "{% for m in messages %}{% if loop.index0 == 0 %}{% continue %}{% endif %}"
    "{{ loop.index }}{{ m['content'] | trim }}{% if loop.last %}{% break %}{% endif %}{% endfor %}",
    "namespace and slices": "{%- set ns = namespace(last=-1, text='') %}{%- for m in messages[::-1] %}"
    "{%- if m.role == 'user' and ns.last < 0 %}{%- set ns.last = loop.index0 %}{%- endif %}"
    "{%- set ns.text = ns.text ~ m.role ~ ns.last %}{%- endfor %}{{ ns.text }}{{ messages[-1]['content'] }}",
    "thinking": "{% for m in messages %}{% set content = m.content %}{% if '</think>' in content %}"
    "{% set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}"
    "[{{ thought }}]{% set content = content.split('</think>')[-1] %}{% endif %}{{ content.strip('\\n') }}{% endfor %}"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>{% endif %}",
    "macros": "{% macro turn(m, head='#') -%}{{ head * 3 }} {{ m.role | upper }}:{{ caller() if caller }}"
    "{{ m.content | replace('x', 'yy') }}{%- endmacro %}"
    "{% for m in messages %}{% call turn(m, head='=') %}!{% endcall %}\n{% endfor %}",
    "json": "{{ {'a': messages[0], 'ü': [1, 2.5, none, true]} | tojson }}{{ messages | tojson(indent=2) }}"
    "{{ messages[0] | tojson(ensure_ascii=True, sort_keys=True) }}",
    "filters": "{{ messages | map(attribute='role') | join(', ') }}{{ messages | selectattr('role', 'equalto', 'user') "
    "| list | length }}{{ '%-5s|%3d|%.2f' | format('a', 7, 1.5) }}{{ messages | last | items | list }}"
    "{{ 'abc' | center(9) }}{{ messages[0].content | indent(2) }}{{ [3, 1] | sort | first }}{{ messages[2].content }}",
    "methods": "{{ 'a b'.title() }}{{ '{0} {name:>4}'.format(1, name='x') }}{{ '-'.join(['a', 'b']) }}"
    "{{ messages[0].items() | list }}{{ messages[0].get('tool', 'none') }}{{ 'x'.center(5) }}{{ range(3) | list }}"
    "{{ dict(a=1).a }}{{ messages[-1].content }}",
    "generation": "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
    "arithmetic": "{{ 7 // 2 }}{{ 2 ** 10 }}{{ 7 % 4 }}{{ '%s-%s' % (1, 2) }}{{ [1] + [2] }}{{ (1, 2) }}{{ 'a' ~ 1 }}"
    "{{ -3 + 5.5 }}{{ 'ab' * 3 }}{{ messages[-1].content }}",
    "variables": "{{ bos_token }}{{ eos_token }}{{ tools }}{{ documents }}{{ nothing }}{{ add_generation_prompt }}"
    "{% if tools is not none %}x{% endif %}{{ messages[-1]['content'] }}",
    "set block": "{% set s %}{% for m in messages %}{{ m.content }}{% endfor %}{% endset %}"
    "{{ s | trim | length }}{{ s }}",
    "sees types": "{% for m in messages %}{{ m.content is string }}{{ m is mapping }}{{ m.content is iterable }}"
    "{{ m.content }}{% else %}none{% endfor %}",
    "raises": "{% if messages[0].role != 'tool' %}{{ raise_exception('no tools') }}{% endif %}",
    "attribute of a class": "{{ messages.__class__ }}{{ messages[0].content.__len__() }}",
    "changes a list": "{{ messages.append(1) }}",
    "private namespace": "{% set ns = namespace(_x=1) %}",
    "no such filter": "{{ 1 | nosuch }}",
}


def tokenizer_with(template: str) -> PreTrainedTokenizerFast:
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer(), eos_token="<|im_end|>", bos_token="<|s|>")  # type: ignore[no-untyped-call]
    tokenizer.chat_template = template
    return tokenizer


def outcome(render: Any) -> str:
    try:
        return str(render())
    except Exception as error:  # noqa: BLE001  which it is, is what is compared
        return type(error).__name__


@pytest.mark.costly
@pytest.mark.parametrize("name", GOOD_TEMPLATES)
@pytest.mark.parametrize("turns", [TURNS[:2], TURNS[:4], TURNS[1:2]], ids=len)
def test_renders_as_transformers_does(name: str, turns: list[dict[str, str]]) -> None:
    tokenizer = tokenizer_with(GOOD_TEMPLATES[name])
    ours = ChatTemplate(GOOD_TEMPLATES[name], tokenizer.special_tokens_map)
    for variables in ({"add_generation_prompt": True}, {"add_generation_prompt": False, "enable_thinking": False}):
        expected = outcome(lambda said=variables: tokenizer.apply_chat_template(turns, tokenize=False, **said))
        assert outcome(lambda said=variables: ours.render(turns, **said)) == expected


THOUGHTS = (  # as gpt-oss's template reads them
    "{% for m in messages %}{% if m.tool_calls and m.content and m.thinking %}{{ raise_exception('both') }}{% endif %}"
    "{{ m.role }}({{ m.thinking }}){{ m.content }}{% endfor %}"
)


def test_thoughts_have_the_names_that_gpt_oss_and_gemma_have_for_them() -> None:
    turns: list[dict[str, Any]] = [TURNS[1], {"role": "assistant", "content": "Yes.", "reasoning_content": "So."}]
    rendered = ChatTemplate(THOUGHTS, {}).render(turns)
    assert rendered == tokenizer_with(THOUGHTS).apply_chat_template(turns, tokenize=False)
    assert rendered.endswith("assistant(So.)Yes.")
    turns[1]["tool_calls"] = [{"function": {"name": "look"}}]
    assert ChatTemplate(THOUGHTS, {}).render(turns).endswith("assistant()Yes.")
    named = ChatTemplate("{% for m in messages %}{{ m.get('reasoning') }}{{ m.content }}{% endfor %}", {})  # Gemma 4's
    assert named.render(turns).endswith("So.Yes.")


@pytest.mark.costly
@pytest.mark.parametrize("name", [name for name, source in GOOD_TEMPLATES.items() if "content" in source])
def test_an_unfinished_reply_goes_on_as_in_transformers(name: str) -> None:
    tokenizer = tokenizer_with(GOOD_TEMPLATES[name])
    ours = ChatTemplate(GOOD_TEMPLATES[name], tokenizer.special_tokens_map)
    expected = outcome(lambda: tokenizer.apply_chat_template(TURNS, tokenize=False, continue_final_message=True))
    actual = outcome(lambda: ours.render(TURNS, unfinished=True, add_generation_prompt=False))
    assert actual == expected or (expected, actual) == ("ValueError", "TemplateError")
    assert TURNS[-1]["content"] == "and so "


@pytest.mark.slow
def test_a_long_chat_is_no_bad_template() -> None:
    """Five megabytes in one message, and two thousand messages."""
    for turns in ([*TURNS[:4], {"role": "user", "content": "x " * 2_500_000}], TURNS * 400):
        for name in ("plain", "thinking", "namespace and slices", "filters", "macros"):
            text = ChatTemplate(GOOD_TEMPLATES[name], {}, limit_s=600.0).render(turns, add_generation_prompt=True)
            assert len(text) > 1000


def test_bad_templates_end_soon_within_little_memory() -> None:
    """In a process that may have a gigabyte; none of them even comes near to being refused it."""
    child = subprocess.run([sys.executable, "-c", CHILD], cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr[-500:]
    assert len(child.stdout.splitlines()) == len(ENDING_TEMPLATES)
    slow_or_large = [line for line in child.stdout.splitlines() if not line.startswith("good")]
    assert not slow_or_large


@pytest.mark.parametrize("name", fair(REFUSED_TEMPLATES, "center", "doubling", "json", "a long program"))
def test_a_template_that_computes_or_takes_too_much_in_one_step_is_refused_at_first_use(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "chat_template.jinja").write_text(REFUSED_TEMPLATES[name])
    with pytest.raises(TokenizerBroken):
        for _ in FirstUse().check(tmp_path):
            pass


def test_a_processors_template_is_tried_too(tmp_path: Path) -> None:
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": REFUSED_TEMPLATES["center"]}))
    with pytest.raises(TokenizerBroken):
        for _ in FirstUse().check(tmp_path):
            pass


@pytest.mark.usefixtures("whole_engine")
def test_a_template_of_a_folder_of_templates_is_tried_too(tmp_path: Path) -> None:
    """There transformers prefers one that is named "default" to all others; a changed one is another."""
    (tmp_path / "chat_template.jinja").write_text(GOOD_TEMPLATES["plain"])
    path = tmp_path / "additional_chat_templates" / "default.jinja"
    path.parent.mkdir()
    path.write_text(GOOD_TEMPLATES["plain"])
    first_use = FirstUse()
    assert list(first_use.check(tmp_path))
    path.write_text(REFUSED_TEMPLATES["center"])
    with pytest.raises(TokenizerBroken):
        for _ in first_use.check(tmp_path):
            pass
