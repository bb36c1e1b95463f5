"""A calculator with a parser of its own: exact for rational numbers, bounded in time and size."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

from app.tools.builtin.tool import Arguments, BuiltIn, Reach, Refusal, described, text_of
from app.tools.definitions import ToolResult

_MOST_CHARACTERS = 2_000
_MOST_DEPTH = 60
_MOST_BITS = 14_000  # of a numerator or denominator; Python writes no number of more than 4,300 digits
_MOST_PLACES = 30  # of an exact decimal number
_LARGEST_FACTORIAL = 1_500
_TOKENS = re.compile(r"\s*(?:((?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?)|([^\W\d]\w*)|(\*\*|//|.))")
_SAME = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "^", "（": "(", "）": ")", "，": ","})


def _real(function: Callable[..., float]) -> Callable[..., Fraction]:
    def call(*values: Fraction) -> Fraction:
        return Fraction(function(*(float(value) for value in values)))

    return call


def _factorial(value: Fraction) -> Fraction:
    if value.denominator != 1 or not 0 <= value <= _LARGEST_FACTORIAL:
        raise Refusal(f"factorial is for whole numbers from 0 to {_LARGEST_FACTORIAL}")
    return Fraction(math.factorial(int(value)))


def _root(value: Fraction) -> Fraction:
    """Exact for squares of rational numbers."""
    if value < 0:
        raise Refusal("the square root of a negative number is not real")
    exact = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return exact if exact * exact == value else Fraction(math.sqrt(value))


def _rounded(value: Fraction, places: Fraction = Fraction()) -> Fraction:
    """Halves away from zero."""
    if places.denominator != 1 or abs(places) > _MOST_PLACES:
        raise Refusal(f"round to at most {_MOST_PLACES} places")
    scale = Fraction(10) ** int(places)
    return Fraction(math.floor(abs(value) * scale + Fraction(1, 2)), 1) / scale * (1 if value >= 0 else -1)


_FUNCTIONS: dict[str, tuple[Callable[..., Fraction], int, int]] = {  # with the least and the most arguments
    "sqrt": (_root, 1, 1),
    "abs": (abs, 1, 1),
    "round": (_rounded, 1, 2),
    "floor": (lambda value: Fraction(math.floor(value)), 1, 1),
    "ceil": (lambda value: Fraction(math.ceil(value)), 1, 1),
    "min": (min, 1, 100),
    "max": (max, 1, 100),
    "sum": (lambda *values: sum(values, Fraction()), 1, 100),
    "mean": (lambda *values: sum(values, Fraction()) / len(values), 1, 100),
    "factorial": (_factorial, 1, 1),
    "exp": (_real(math.exp), 1, 1),
    "ln": (_real(math.log), 1, 1),
    "log": (_real(math.log), 2, 2),
    "log10": (_real(math.log10), 1, 1),
    "log2": (_real(math.log2), 1, 1),
    **{name: (_real(getattr(math, name)), 1, 1) for name in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: (_real(getattr(math, name)), 1, 1) for name in ("degrees", "radians")},
}
_CONSTANTS = {"pi": Fraction(math.pi), "π": Fraction(math.pi), "e": Fraction(math.e)}


class _Parser:
    """Precedence, lowest first: + -, then * / // %, then signs, then powers, which bind to the right."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def value(self) -> Fraction:
        found = self._sum()
        if self._next is not None:
            raise Refusal(f'"{self._next}" was not expected')
        return found

    @property
    def _next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, *wanted: str) -> str | None:
        token = self._next
        if token is None or (wanted and token not in wanted):
            return None
        self._at += 1
        return token

    def _sum(self) -> Fraction:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise Refusal("too deeply nested")
        found = self._product()
        while operator := self._take("+", "-"):
            other = self._product()
            found = _bounded(found + other if operator == "+" else found - other)
        self._depth -= 1
        return found

    def _product(self) -> Fraction:
        found = self._signed()
        while operator := self._take("*", "/", "//", "%"):
            other = self._signed()
            if operator == "*":
                found = _bounded(found * other)
                continue
            if not other:
                raise Refusal("division by zero")
            whole = {"/": found / other, "//": Fraction(found // other), "%": found % other}
            found = _bounded(whole[operator])
        return found

    def _signed(self) -> Fraction:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        found = self._power()
        return -found if negative else found

    def _power(self) -> Fraction:
        base = self._percent(self._atom())
        if not self._take("^", "**"):
            return base
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise Refusal("too deeply nested")
        exponent = self._signed()
        self._depth -= 1
        return _raised(base, exponent)

    def _percent(self, value: Fraction) -> Fraction:
        """ "15%" is 0.15; before a number or a bracket, % is the remainder."""
        while self._next in ("%", "!"):
            after = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else ""
            if self._next == "%" and (after[:1].isalnum() or after[:1] in (".", "(")):
                break
            value = value / 100 if self._take() == "%" else _factorial(value)
        return value

    def _atom(self) -> Fraction:
        token = self._take()
        if token is None:
            raise Refusal("the expression ends too early")
        if token[0].isdigit() or token[0] == ".":
            return _number(token)
        if token == "(":
            found = self._sum()
            self._close()
            return found
        if token in _CONSTANTS and self._next != "(":
            return _CONSTANTS[token]
        if token in _FUNCTIONS and self._take("("):
            return self._called(token)
        raise Refusal(f'"{token}" is not known here')

    def _called(self, name: str) -> Fraction:
        function, least, most = _FUNCTIONS[name]
        values = [self._sum()]
        while self._take(",", ";"):
            values.append(self._sum())
        self._close()
        if not least <= len(values) <= most:
            raise Refusal(f"{name} takes {least} to {most} numbers")
        return _bounded(function(*values))

    def _close(self) -> None:
        if not self._take(")"):
            raise Refusal('")" is missing')


def _tokens(text: str) -> list[str]:
    found = (match[1] or match[2] or match[3] for match in _TOKENS.finditer(text.translate(_SAME).rstrip()))
    return [token.lower() for token in found if token.strip()]


def _number(token: str) -> Fraction:
    try:
        return _bounded(Fraction(token.replace("_", "").rstrip(".")))
    except ValueError:
        raise Refusal(f'"{token}" is no number') from None


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise Refusal("the numbers become too large")
    return value


def _raised(base: Fraction, exponent: Fraction) -> Fraction:
    if not base and exponent < 0:
        raise Refusal("division by zero")
    if exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(base) != 1 and bits * abs(exponent) > _MOST_BITS * 2:
            raise Refusal("the numbers become too large")
        return _bounded(base ** (int(exponent) % 2 if abs(base) == 1 else int(exponent)))
    if base < 0:
        raise Refusal("a root of a negative number is not real")
    return Fraction(float(base) ** float(exponent))


def _shown(value: Fraction) -> str:
    """Exact where that is short, else with 15 digits."""
    if value.denominator == 1:
        return str(value.numerator)
    places = next((each for each in range(1, _MOST_PLACES + 1) if not (value * 10**each).denominator > 1), 0)
    if places and len(str(abs(value.numerator))) <= _MOST_PLACES:
        digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
        return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    return f"{float(value):.15g}"


def calculate(expression: str) -> str:
    """Raises Refusal."""
    if not expression.strip() or len(expression) > _MOST_CHARACTERS:
        raise Refusal(f"an expression of 1 to {_MOST_CHARACTERS} characters is needed")
    try:
        return _shown(_Parser(expression).value())
    except OverflowError:
        raise Refusal("the numbers become too large") from None
    except (ValueError, ZeroDivisionError) as error:
        raise Refusal(f"it has no value: {error}") from None


def _run(arguments: Arguments, _reach: Reach) -> ToolResult:
    return ToolResult(calculate(text_of(arguments, "expression")))


TOOLS = (
    BuiltIn(
        described(
            "calculator",
            "Computes an arithmetic expression exactly: + - * / // % ^ ( ), percent, and functions such as sqrt, ln,"
            " log10, sin, round(x, places), min, max, mean, factorial.",
            {"expression": {"type": "string", "description": 'For example "(1200 * 1.19) / 12"'}},
        ),
        _run,
        is_free=lambda _arguments, _reach: True,
    ),
)
