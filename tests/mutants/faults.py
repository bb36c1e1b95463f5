"""The faults that are tried: small changes of a module's syntax tree. Pure; nothing is run here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
_CALLED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
_NOTHING = {"int": 0, "float": 0.0, "bool": False}

# `shown` is the part to print; the fault is `new` in place of that field of `holder`.
_Fault = tuple[ast.expr | ast.stmt, ast.AST, str, object]


@dataclass(frozen=True)
class Mutant:
    """A module with one fault, number `number` of its file; `change` reads `before → after`."""

    file: str
    line: int
    source: str
    change: str
    number: int

    @property
    def key(self) -> str:
        """The same as long as the line is, wherever in the file it stands."""
        return f"{self.file} | {self.source} | {self.change}"


def mutants(file: str, source: str) -> list[Mutant]:
    lines = source.splitlines()
    return [
        Mutant(file, fault[0].lineno, lines[fault[0].lineno - 1].strip(), _change(fault), number)
        for number, fault in enumerate(_faults(ast.parse(source)))
    ]


def mutated(source: str, number: int) -> ast.Module:
    tree = ast.parse(source)
    _, holder, field, new = list(_faults(tree))[number]
    setattr(holder, field, new)
    return ast.fix_missing_locations(tree)


def _change(fault: _Fault) -> str:
    shown, holder, field, new = fault
    before, old = ast.unparse(shown), getattr(holder, field)
    if isinstance(shown, ast.stmt) and shown is not holder:
        return f"{_first_line(before)} → nothing"
    setattr(holder, field, new)
    after = ast.unparse(new if isinstance(new, ast.expr) and field == "test" else shown)
    setattr(holder, field, old)
    return f"{_first_line(before)} → {_first_line(after)}"


def _first_line(text: str) -> str:
    first, *rest = text.splitlines()
    return f"{first} …" if rest else first


def _faults(node: ast.AST, within: ast.AST | None = None) -> Iterator[_Fault]:
    """In the order of the source. `within` is the function that the node is part of."""
    within = node if isinstance(node, ast.FunctionDef) else within
    yield from _faults_of(node, within)
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "ops", "op"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_idle(child):
                    yield from _faults(child, within)


def _is_idle(node: ast.AST) -> bool:
    """A change of it changes nothing that a test could see, or nothing but words."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or ast.unparse(node.value).startswith("_log.")
    return isinstance(node, ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr)


def _faults_of(node: ast.AST, within: ast.AST | None) -> Iterator[_Fault]:
    match node:
        case ast.Compare(ops=[op, *others]):
            yield from ((node, node, "ops", [new(), *others]) for new in _COMPARISONS[type(op)])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _OPERATORS:
            yield node, node, "op", _OPERATORS[type(op)]()
        case ast.BoolOp(op=op):
            yield node, node, "op", ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.Constant(value=bool(value)):
            yield node, node, "value", not value
        case ast.Constant(value=int(value) | float(value)):
            yield from ((node, node, "value", value + step) for step in (1, -1))
        case _:
            yield from _faults_of_flow(node, within)
    if within is not None:
        yield from _dropped_statements(node, within)


def _faults_of_flow(node: ast.AST, within: ast.AST | None) -> Iterator[_Fault]:
    match node:
        case ast.Call(func=ast.Name(id=name) as called) if name in _CALLED:
            yield node, called, "id", _CALLED[name]
        case ast.Call(func=ast.Attribute(attr=name) as called) if name in _CALLED:
            yield node, called, "attr", _CALLED[name]
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield test, node, "test", _negated(test)
        case ast.Return(value=ast.expr() as value) if isinstance(within, ast.FunctionDef):
            nothing = _NOTHING.get(ast.unparse(within.returns) if within.returns else "")
            if ast.unparse(value) != str(nothing):
                yield node, node, "value", ast.Constant(nothing)


def _negated(test: ast.expr) -> ast.expr:
    negation = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    return test.operand if negation else ast.UnaryOp(ast.Not(), test)  # type: ignore[attr-defined]


def _dropped_statements(node: ast.AST, within: ast.AST) -> Iterator[_Fault]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        for place, statement in enumerate(block if isinstance(block, list) else ()):
            if _can_be_dropped(statement, within):
                yield statement, node, field, [*block[:place], ast.Pass(), *block[place + 1 :]]  # type: ignore[index]


def _can_be_dropped(statement: ast.stmt, within: ast.AST) -> bool:
    """Without its only assignment a local name is unknown, which any test would notice."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        names = (node for node in ast.walk(within) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        return sum(node.id == statement.targets[0].id for node in names) > 1
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr) and not _is_idle(statement)
