"""Chat templates that want to take for ever, or all memory."""

_MANY = "{% for i in range(99999) %}"
_NUMBER = "{% set ns = namespace(n=7) %}"
_LIST = "{% set ns = namespace(l=[]) %}"
_GROW = "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(60) %}"
_PAIR = "{% set ns = namespace(l=['x']) %}{% for i in range(60) %}"

# These end, or are refused, wherever they are rendered.
ENDING_TEMPLATES = {
    "power": "{{ 9**(9**8) }}",
    "power of a variable": "{% set n = messages | length + 8 %}{{ n ** (n ** n) }}",
    "power step by step": _NUMBER + "{% for i in range(60) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
    "large numbers added": _NUMBER + _MANY + "{% set ns.n = ns.n + ns.n %}{% endfor %}",
    "many letters": "{{ 'a' * 30000000000 }}",
    "many items reversed": "{{ 30000000000 * [0] }}",
    "slice": "{{ 'abc' | slice(9000000000) | list }}",
    "lipsum": "{{ lipsum(n=100000000) }}",
    "loops": _MANY * 3 + "{% endfor %}" * 3,
    "loops that say": "{% for a in range(99999) %}{% for b in range(99999) %}"
    + "word " * 10000
    + "{% endfor %}{% endfor %}",
    "recursion": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "recursion twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "deep": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "long number": "{{ " + "9" * 100_000 + " }}",
}
# These compute for long in a single step, or fill the memory: the process that tries a new model refuses them.
REFUSED_TEMPLATES = {
    "center": "{{ 'a' | center(9000000000) }}",
    "expandtabs": "{{ '\t'.expandtabs(2000000000) }}",
    "round": "{{ 1.5 | round(1000000000, 'ceil') }}",
    "format": "{{ '{:9000000000}'.format(1) }}",
    "percent by value": "{{ '%*d' % (2000000000, 1) }}",
    "replace": "{{ ('a' * 1000000) | replace('a', 'b' * 1000000) }}",
    "translate": "{{ ('a' * 1000000).translate({97: 'b' * 1000000}) }}",
    "join of a map": "{{ ','.join(range(100000) | map('replace', '', 'b' * 100000)) }}",
    "json": "{{ [[[[1]]]] | tojson(indent=900000000) }}",
    "loops into a block": "{% set s %}{% for a in range(99999) %}" + "word " * 20000 + "{% endfor %}{% endset %}",
    "doubling": _GROW + "{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "a list of itself": _PAIR + "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
    "keeps all": _LIST + _MANY + "{% set ns.l = ns.l + [('a' * 1000000) ~ i] %}{% endfor %}",
    "many variables": "{% set v = 'a' * 1000000 %}" + "".join(f"{{% set v{n} = v * 16 %}}" for n in range(100)),
    "a long program": "{% macro m() %}{% endmacro %}" * 4000,
}
