"""Chat templates as well-known families write them, each with a small tokenizer of the family's kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mlx_lm.tokenizer_utils import TokenizerWrapper
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from engine.models.control_words import ControlWords
from engine.models.declared import read_marks
from engine.models.loading import LoadedModel
from engine.models.templates import ChatTemplate
from tests.helpers.tiny_models import byte_tokenizer

ORDINARY = ("\n\n", "▁▁", "<table>", "</td>")  # tokens that are added for texts as they are
_LETTERS = sorted({*map(chr, range(33, 127)), "▁", "\n", "é", "Á", "가", "｜"})
_PIECES = ("th", "the", "▁a", "▁the", "im", "_end", "|>", "<|", "</", "end", "ment")


@dataclass(frozen=True)
class Family:
    template: str
    special: tuple[str, ...]
    tokenizer: Callable[[Family], PreTrainedTokenizerBase]
    plain: tuple[str, ...] = ()  # added tokens that are not called special, though they steer the model

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.special, *self.plain)


def as_family(base: LoadedModel, name: str) -> LoadedModel:
    """`base` with the template of a family and a tokenizer as the family's; what begins with "<call>" is a call."""
    family = FAMILIES[name]
    theirs = family.tokenizer(family)
    theirs.chat_template = family.template
    tokenizer = TokenizerWrapper(theirs, tool_parser=json.loads, tool_call_start="<call>", tool_call_end="")
    words = ControlWords.of(tokenizer)
    template = ChatTemplate(family.template, theirs.special_tokens_map)
    marks = read_marks(tokenizer, family.template)
    return replace(base, tokenizer=tokenizer, template=template, marks=marks, control_words=words, beside={})


def _fast(backend: Tokenizer, family: Family, normalized: bool = False) -> PreTrainedTokenizerBase:
    backend.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in family.special])
    backend.add_tokens([AddedToken(word, special=False, normalized=normalized) for word in family.plain])
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=family.special[0], eos_token=family.special[1])  # type: ignore[no-untyped-call]


def _bytes(family: Family) -> PreTrainedTokenizerBase:
    return _fast(byte_tokenizer(), family)


def _merging(family: Family) -> PreTrainedTokenizerBase:
    """Byte level, with merges and the words that GPT-4's pattern makes."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("<", "|"), ("|", ">"), ("i", "m"), ("e", "n"), ("en", "d"), ("t", "h"), ("<", "/"), (">", "Ċ")]
    vocabulary = {text: at for at, text in enumerate([*letters, *(left + right for left, right in merges)])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    words = Regex(r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(words, "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    backend.decoder = decoders.ByteLevel()
    return _fast(backend, family)


def _sentences(merges: Sequence[tuple[str, str]] = (("<", "|"), ("|", ">"), ("t", "h"), ("▁", "a"))) -> Tokenizer:
    """As SentencePiece's: letters, a mark for each space, and bytes for what is missing."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *_LETTERS, *(a + b for a, b in merges)]
    vocabulary = {text: at for at, text in enumerate(dict.fromkeys(pieces))}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges), byte_fallback=True, fuse_unk=True))
    end = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    backend.decoder = decoders.Sequence(end)
    return backend


def _gemmas(family: Family) -> PreTrainedTokenizerBase:
    backend = _sentences()
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.add_tokens([AddedToken(text, special=False, normalized=False) for text in ORDINARY])
    return _fast(backend, family)


def _older_llamas(family: Family) -> PreTrainedTokenizerBase:
    backend = _sentences()
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return _fast(backend, family)


def _mistrals(family: Family) -> PreTrainedTokenizerBase:
    backend = _sentences()
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return _fast(backend, family)


def _unigrams(family: Family) -> PreTrainedTokenizerBase:
    """It looks for some of its added tokens in a text whose letters were made alike."""
    scored = [("<unk>", 0.0), *((letter, -5.0) for letter in _LETTERS), *((piece, -3.0) for piece in _PIECES)]
    backend = Tokenizer(models.Unigram(scored, 0, False))
    backend.normalizer = normalizers.NFKC()
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    backend.decoder = decoders.Metaspace(prepend_scheme="always")
    return _fast(backend, family, normalized=True)


class _Letters(PreTrainedTokenizer):
    """One in Python."""

    def __init__(self, **settings: object) -> None:
        self._letters = {letter: at for at, letter in enumerate([*_LETTERS, " "])}
        super().__init__(**settings)  # type: ignore[no-untyped-call]

    @property
    def vocab_size(self) -> int:
        return len(self._letters)

    def get_vocab(self) -> dict[str, int]:
        return self._letters | self.added_tokens_encoder

    def _tokenize(self, text: str, **_: object) -> list[str]:
        return list(text)

    def _convert_token_to_id(self, token: str) -> int:
        return self._letters.get(token, self._letters["?"])

    def _convert_id_to_token(self, index: int) -> str:
        return list(self._letters)[index]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        return "".join(tokens)


def _python(family: Family) -> PreTrainedTokenizerBase:
    tokenizer = _Letters(bos_token=family.special[0], eos_token=family.special[1], unk_token="?")
    tokenizer.add_tokens([AddedToken(word, special=True) for word in family.special], special_tokens=True)
    tokenizer.add_tokens([AddedToken(word, special=False) for word in family.plain])
    return tokenizer


_CHATML_TURN = "<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n"
_CALLS = (
    "{% for c in m.tool_calls or [] %}<tool_call>\n{{ {'name': c.function.name, 'arguments': c.function.arguments}"
    " | tojson }}\n</tool_call>{{ c.id }}{% endfor %}"
)
_THINKING = (  # as it is read from a reply's text, and shown in the latest turn alone
    "{% set content = m.content %}{% set thought = m.reasoning_content or '' %}"
    "{% if m.role == 'assistant' and '</think>' in content %}"
    "{% set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}"
    "{% set content = content.split('</think>')[-1].lstrip('\\n') %}{% endif %}"
)
_QWEN3 = (
    "{% if tools %}<|im_start|>system\n{% if messages[0].role == 'system' %}{{ messages[0].content }}\n\n{% endif %}"
    "# Tools\n<tools>{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}\n</tools><|im_end|>\n{% endif %}"
    "{% for m in messages %}" + _THINKING + "{% if m.role == 'tool' %}<|im_start|>user\n<tool_response>\n"
    "{{ content }}\n{{ m.name }}{{ m.tool_call_id }}</tool_response><|im_end|>\n"
    "{% elif m.role == 'system' and tools and loop.first %}{% else %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}<think>\n{{ thought.strip('\\n') }}\n</think>\n\n{% endif %}"
    "{{ content.strip('\\n') }}" + _CALLS + "<|im_end|>\n{% endif %}{% endfor %}"
    "{% if more %}{{ more }}{% endif %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
_QWEN3_CODER = (  # a tool's keys are names of elements
    "{% macro extra(values, known) %}{% for key in values if key not in known %}"
    "{% set value = values[key] %}{{ '\n<' ~ key ~ '>' ~ (value | tojson if value is mapping or value is iterable "
    "and value is not string else value) ~ '</' ~ key ~ '>' }}{% endfor %}{% endmacro %}"
    "{% for tool in tools or [] %}<function>\n<name>{{ tool.function.name }}</name>"
    "{% for name, fields in tool.function.parameters.properties | items %}<parameter>\n<name>{{ name }}</name>"
    "{{ extra(fields, ['name']) }}</parameter>{% endfor %}{{ extra(tool.function, ['name', 'parameters']) }}"
    "</function>\n{% endfor %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content | trim }}"
    "{% for c in m.tool_calls or [] %}{{ '<tool_call>\n<function=' + c.function.name + '>\n' }}"
    "{% for name, value in c.function.arguments | items %}{{ '<parameter=' + name + '>\n' }}{{ value }}</parameter>"
    "{% endfor %}</function>\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_GEMMA4 = (  # it takes thinking out of replies, sorts keys, and sets texts in marks of its own
    '{% macro value_of(value) %}{% if value is string %}<|"|>{{ value }}<|"|>{% elif value is mapping %}'
    "{{ '{' }}{% for key, each in value | dictsort %}{{ key }}:{{ value_of(each) }},{% endfor %}{{ '}' }}"
    "{% else %}{{ value }}{% endif %}{% endmacro %}"
    "{% macro answer(text) %}{% set ns = namespace(kept='') %}{% for part in text.split('<channel|>') %}"
    "{% set ns.kept = ns.kept + part.split('<|channel>')[0] %}{% endfor %}{{ ns.kept | trim }}{% endmacro %}"
    "{{ bos_token }}{% for tool in tools or [] %}<|tool>{{ tool.function.name }}{{ value_of(tool.function) }}"
    "{{ tool.function.parameters.type | upper }}<tool|>{% endfor %}"
    "{% for m in messages %}<|turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{% for c in m.tool_calls or [] %}<|tool_call>call:{{ c.function.name }}{{ value_of(c.function.arguments) }}"
    "<tool_call|>{% endfor %}{{ answer(m.content) if m.role == 'assistant' else m.content | trim }}<turn|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|turn>model\n{% endif %}"
)
_LLAMA3 = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{% if m.tool_calls %}{% set call = m.tool_calls[0].function %}{{ '{\"name\": \"' + call.name + '\"}' }}"
    "{{ call.arguments | tojson(indent=2) }}{% endif %}{{ m.content | trim }}<|eot_id|>{% endfor %}"
    "{% if tools %}{% for t in tools %}{{ t | tojson(indent=4) }}{% endfor %}{% endif %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
_LLAMA2 = (
    "{% for m in messages %}{% if m.role == 'user' %}{{ bos_token + '[INST] ' + m.content.strip() + ' [/INST]' }}"
    "{% elif m.role == 'assistant' %}{{ ' ' + m.content.strip() + ' ' + eos_token }}"
    "{% else %}{{ '<<SYS>>\n' + m.content + '\n<</SYS>>' }}{% endif %}{% endfor %}"
)
_MISTRAL = (
    "{{ bos_token }}{% if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}"
    "{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]"
    "{% elif m.role == 'system' %}[SYSTEM_PROMPT]{{ m.content }}[/SYSTEM_PROMPT]"
    "{% elif m.role == 'tool' %}{% if m.tool_call_id | length < 9 %}{{ raise_exception('an id of nine letters') }}"
    "{% endif %}[TOOL_RESULTS]{{ m.tool_call_id }}[TOOL_CONTENT]{{ m.content }}[/TOOL_RESULTS]"
    "{% else %}{{ m.content }}{% for c in m.tool_calls or [] %}[TOOL_CALLS]{{ c.function.name }}[ARGS]"
    "{{ c.function.arguments | tojson }}{% endfor %}{{ eos_token }}{% endif %}{% endfor %}"
)
_DEEPSEEK = (  # with bars and spaces that few people can type
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ '<｜User｜>' + m.content }}"
    "{% elif m.role == 'assistant' %}{{ '<｜Assistant｜>' + (m.content.split('</think>') | last) + eos_token }}"
    "{% for c in m.tool_calls or [] %}<｜tool▁call▁begin｜>{{ c.function.name }}{{ c.function.arguments }}{% endfor %}"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}{{ tools | string }}"
    "{% if add_generation_prompt %}<｜Assistant｜><think>\n{% endif %}"
)
_GPT_OSS = (
    "<|start|>system<|message|>You are {{ model_identity or 'a model' }}.\nReasoning: {{ reasoning_effort }}<|end|>"
    "{% for t in tools or [] %}{% for name, spec in t.function.parameters.properties.items() %}"
    "{{ name }}: {{ 'string' if spec.type == 'string' else spec | tojson }},{% endfor %}"
    "// {{ t.function.description }}{% endfor %}{% for m in messages %}{% if m.tool_calls %}"
    "<|start|>assistant to=functions.{{ m.tool_calls[0].function.name }}<|channel|>commentary<|message|>"
    "{{ m.tool_calls[0].function.arguments | tojson }}<|call|>{% else %}<|start|>{{ m.role }}<|message|>"
    "{{ m.content }}<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
_GLM = (
    "[gMASK]<sop>{% for m in messages %}{{ '<|' + m.role + '|>' }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}\n<tool_call>{{ c.function.name }}{% for k, v in c.function.arguments.items() %}"
    "<arg_key>{{ k }}</arg_key><arg_value>{{ v | tojson if v is not string else v }}</arg_value>{% endfor %}"
    "</tool_call>{% endfor %}{% endfor %}{{ tools | tojson }}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_PLAIN = "{% for m in messages %}{{ '" + _CHATML_TURN + "' }}{% endfor %}{{ tools | string }}"

_CHATML = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
_QWENS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")
FAMILIES: dict[str, Family] = {
    "chatml": Family(_PLAIN, _CHATML, _bytes),
    "qwen3": Family(_QWEN3, _CHATML, _merging, _QWENS),
    "qwen3-coder": Family(_QWEN3_CODER, (*_CHATML, "<|fim_prefix|>"), _merging, _QWENS),
    "gemma4": Family(
        _GEMMA4,
        ("<bos>", "<eos>", "<|turn>", "<turn|>", "<|tool>", "<tool|>", "<|channel>", "<channel|>", '<|"|>', "<OBJECT>"),
        _gemmas,
        ("<|tool_call>", "<tool_call|>", "<unused7>"),
    ),
    "llama3": Family(
        _LLAMA3,
        ("<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>"),
        _bytes,
    ),
    "llama2": Family(_LLAMA2, ("<s>", "</s>"), _older_llamas, ("<|im_start|>", "<|im_end|>")),
    "mistral": Family(
        _MISTRAL,
        (
            *("<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]"),
            *("[/SYSTEM_PROMPT]", "[TOOL_RESULTS]", "[TOOL_CONTENT]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[ARGS]"),
        ),
        _mistrals,
    ),
    "deepseek": Family(
        _DEEPSEEK,
        ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
        _merging,
        ("<｜User｜>", "<｜Assistant｜>", "<think>", "</think>", "<｜tool▁call▁begin｜>"),
    ),
    "gpt-oss": Family(
        _GPT_OSS,
        ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|call|>", "<|return|>", "<|endoftext|>"),
        _merging,
    ),
    "glm": Family(
        _GLM,
        ("<|endoftext|>", "<|user|>", "[gMASK]", "<sop>", "<|system|>", "<|assistant|>", "<|observation|>", "<|tool|>"),
        _bytes,
        ("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    ),
    "unigram": Family(_PLAIN, ("<s>", "</s>"), _unigrams, ("<|im_start|>", "<|im_end|>")),
    "python": Family(_QWEN3, _CHATML, _python, _QWENS),
}
