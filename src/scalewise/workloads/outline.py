"""The outline of a Python file: which names it defines, and which of them can be workloads, without running it."""

import ast
import builtins
from collections.abc import Iterator, Sequence

_FOREIGN = "torch"
"""The package whose classes are surely no workloads, and which users' networks extend."""


class Outline:
    """What a file defines at its top level, where an import of it comes by.

    It errs on the side of running a file: what a name becomes is refused only where there is no doubt.
    """

    def __init__(self, source: str) -> None:
        self._definitions: dict[str, list[ast.stmt]] = {}
        for name, statement in _definitions(ast.parse(source).body):
            self._definitions.setdefault(name, []).append(statement)

    def may_have(self, name: str) -> bool:
        """Say whether the file may define a name; `from x import *` can bring any."""
        return name in self._definitions or "*" in self._definitions

    def possible_workloads(self) -> list[str]:
        """List the classes that may be workloads."""
        return [
            name
            for name, statements in self._definitions.items()
            if any(isinstance(statement, ast.ClassDef) for statement in statements) and self.other_kind(name) is None
        ]

    def other_kind(self, name: str) -> str | None:
        """Say what a name is where it surely is no class of workloads."""
        kinds = [self._other_kind(statement, {name}) for statement in self._definitions.get(name, [])]
        return kinds[-1] if kinds and all(kinds) else None

    def _other_kind(self, statement: ast.stmt, seen: set[str]) -> str | None:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return "a function"
            case ast.Import():
                return "a module"
            case ast.Assign(
                targets=[ast.Name()], value=ast.Constant() | ast.List() | ast.Dict() | ast.Tuple() | ast.Lambda()
            ):
                return "a value"
            case ast.ClassDef(bases=bases, keywords=[], decorator_list=[]):
                return self._other_class(bases, seen)
        return None

    def _other_class(self, bases: Sequence[ast.expr], seen: set[str]) -> str | None:
        if not all(self._is_foreign(base, seen) for base in bases):
            return None
        extended = " and ".join(ast.unparse(base) for base in bases)
        return f"a class that extends {extended}" if extended else "a class that extends nothing"

    def _is_foreign(self, base: ast.expr, seen: set[str]) -> bool:
        """Say whether a base is surely no workload: of torch, of Python, or a class of this file that is none."""
        root = base
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in seen:
            return False
        statements = self._definitions.get(root.id, [])
        if not statements:
            return base is root and hasattr(builtins, root.id) and "*" not in self._definitions
        return all(
            _imports_foreign(statement, root.id)
            or (base is root and self._other_kind(statement, {*seen, root.id}) is not None)
            for statement in statements
        )


def _imports_foreign(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] == _FOREIGN
        case ast.Import(names=names):
            return any(_bound(alias) == name and alias.name.partition(".")[0] == _FOREIGN for alias in names)
    return False


def _definitions(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Go through what an import runs: the bodies of `if`, `try` and `with`, too, but not of functions and classes."""
    for statement in statements:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, statement
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((_bound(alias), statement) for alias in names)
            case ast.Assign(targets=targets):
                yield from ((name, statement) for target in targets for name in _names(target))
            case ast.AnnAssign(target=target, value=ast.expr()):
                yield from ((name, statement) for name in _names(target))
            case ast.If(test=test, orelse=orelse) if _is_for_scripts(test):
                yield from _definitions(orelse)
            case _:
                yield from _definitions(_inner(statement))


def _inner(statement: ast.AST) -> list[ast.stmt]:
    """Return the statements inside a statement, those of `except` and `case` included."""
    found: list[ast.stmt] = []
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            found.append(child)
        elif isinstance(child, ast.excepthandler | ast.match_case):
            found += _inner(child)
    return found


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _names(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _is_for_scripts(test: ast.expr) -> bool:
    """Say whether a condition is `__name__ == "__main__"`."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return {ast.unparse(left), ast.unparse(right)} == {"__name__", "'__main__'"}
    return False
