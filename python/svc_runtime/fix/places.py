"""Every node with what surrounds it, and which names stand for which parts of Airflow."""

from __future__ import annotations

import ast
import re
import sys

from ..old_import_paths import present_path
from .source import Source

_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "AttributeError"}
_GUARD = re.compile(r"version|airflow_v|type_checking|__name__|airflow_\d|airflow[23]", re.IGNORECASE)
# Before 3.12 the nodes inside an f-string have no positions of their own.
F_STRINGS_HAVE_POSITIONS = sys.version_info >= (3, 12)
_WITHOUT_CONTENT = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Place:
    __slots__ = ("annotation", "fstring", "function", "guarded", "node", "parent")

    def __init__(self, node, parent, *, guarded: bool, annotation: bool, fstring: bool, function) -> None:
        self.node = node
        self.parent = parent
        # In code that is only one of several ways: for another version, for type checkers, when an import fails.
        self.guarded = guarded
        self.annotation = annotation
        self.fstring = fstring
        self.function = function


class Binding:
    def __init__(self, path: str, place: Place, alias: ast.alias) -> None:
        self.path = path
        self.place = place
        self.alias = alias


class File:
    """One file as all the rules see it. `exported`: names other files take from this project's modules; None: any."""

    def __init__(self, source: Source, exported: frozenset[str] | None = frozenset()) -> None:
        self.source = source
        self.exported = exported
        self.places: list[Place] = []
        self.bindings: dict[str, list[Binding]] = {}
        # Names that something else than an import binds, somewhere in the file.
        self.assigned: set[str] = set()
        # Of those, names that only `name = …` at the top of the file binds, with the first line that does.
        self._rebound: dict[str, int] = {}
        self._bound_otherwise: set[str] = set()
        self._in_functions: set[int] = set()
        self.texts: set[str] = set()
        self._visit(source.tree, None, guarded=False, annotation=False, fstring=False, function=None)

    def _visit(self, node, parent, *, guarded: bool, annotation: bool, fstring: bool, function) -> None:
        place = Place(node, parent, guarded=guarded, annotation=annotation, fstring=fstring, function=function)
        self.places.append(place)
        self._bind(node, place)
        guarded_fields = _guarded_fields(node)
        inside = node if isinstance(node, FUNCTIONS) else function
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST) and not isinstance(child, _WITHOUT_CONTENT):
                    self._visit(
                        child,
                        node,
                        guarded=guarded or name in guarded_fields,
                        annotation=annotation or name in ("annotation", "returns"),
                        fstring=fstring or isinstance(node, ast.JoinedStr),
                        function=function if name in ("decorator_list", "returns") else inside,
                    )

    def _bind(self, node, place: Place) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                path = alias.name if alias.asname else local
                self.bindings.setdefault(local, []).append(Binding(path, place, alias))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = "." * node.level + (node.module or "")
                binding = Binding(f"{module}.{alias.name}", place, alias)
                self.bindings.setdefault(alias.asname or alias.name, []).append(binding)
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                self.assigned.add(node.id)
                if place.parent in self.source.tree.body and isinstance(place.parent, ast.Assign):
                    self._rebound.setdefault(node.id, node.lineno)
                else:
                    self._bound_otherwise.add(node.id)
            elif place.function is not None:
                self._in_functions.add(id(node))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._bind_otherwise(node.name)
        elif isinstance(node, ast.arg):
            self._bind_otherwise(node.arg)
        elif isinstance(node, ast.ExceptHandler):
            self._bind_otherwise(node.name or "")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                self._bind_otherwise(name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            self.texts.add(node.value)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
            self._bind_otherwise(node.name or "")

    def _bind_otherwise(self, name: str) -> None:
        self.assigned.add(name)
        self._bound_otherwise.add(name)

    def has_position(self, place: Place) -> bool:
        """Before Python 3.12, nodes inside f-strings may stand somewhere else than they say."""
        if F_STRINGS_HAVE_POSITIONS or not place.fstring:
            return True
        try:
            written = ast.parse(self.source.of(place.node).strip(), mode="eval").body
        except (SyntaxError, ValueError, IndexError):
            return False
        return ast.dump(written) == ast.dump(place.node)

    def undefined(self) -> set[str]:
        """Names that are used, and bound nowhere in the file."""
        used = {place.node.id for place in self.places if isinstance(place.node, ast.Name)}
        return used - self.assigned - self.bindings.keys()

    def binding(self, name: str, node: ast.Name | None = None) -> Binding | None:
        """The import behind a name, when nothing else in the file can be meant by it. With `node`: by this use of it."""
        found = self.bindings.get(name, [])
        if not found or len({binding.path for binding in found}) > 1:
            return None
        if name in self.assigned and (node is None or not self._is_before(name, node)):
            return None
        return found[0]

    def _is_before(self, name: str, node: ast.Name) -> bool:
        """`@dag() def flow(): …` and then `dag = flow()`: the decorator is still the imported one."""
        if name in self._bound_otherwise or id(node) in self._in_functions:
            return False
        return node.lineno < self._rebound.get(name, 0)

    def path(self, node) -> str | None:
        """`airflow.models.DAG` for an expression that means it, through whatever names the file has for it."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        binding = self.binding(node.id, node)
        return None if binding is None else ".".join([binding.path, *reversed(attributes)])

    def present(self, node) -> str | None:
        """The same by its present name; `airflow.DAG` counts as `airflow.sdk.DAG`."""
        path = self.path(node)
        return None if path is None else present_name(path)


def present_name(path: str) -> str:
    """Of a class, or of something inside it (`airflow.models.Variable.get`)."""
    parts = path.split(".")
    for count in range(len(parts), 1, -1):
        now = present_path(".".join(parts[: count - 1]), parts[count - 1])
        if now is not None:
            return ".".join([now, *parts[count:]])
    return "airflow.sdk." + path.removeprefix("airflow.") if path in ("airflow.DAG", "airflow.Asset") else path


def _guarded_fields(node) -> tuple[str, ...]:
    if isinstance(node, ast.Try):
        caught = {name for handler in node.handlers for name in _caught(handler.type)}
        is_about_imports = any(isinstance(child, (ast.Import, ast.ImportFrom)) for child in node.body)
        return ("body", "handlers", "orelse") if is_about_imports and caught & _IMPORT_ERRORS else ()
    if isinstance(node, (ast.If, ast.IfExp)) and _GUARD.search(ast.unparse(node.test)):
        return ("body", "orelse")
    return ()


def _caught(node) -> list[str]:
    if node is None:
        return ["BaseException"]
    if isinstance(node, ast.Tuple):
        return [name for item in node.elts for name in _caught(item)]
    return [node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""]
