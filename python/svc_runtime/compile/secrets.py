"""Which connections and variables a DAG declares: found in arguments, templates and source, never by running.

The list scopes what a task may receive, so it errs on the side of naming too much: every literal counts.
"""

from __future__ import annotations

import ast
import re

_TEMPLATE_VARIABLE = re.compile(r"\bvar\.(?:value|json)\.(?:get\(\s*['\"]([^'\"]+)['\"]|([A-Za-z_]\w*))")
_TEMPLATE_CONNECTION = re.compile(r"\bconn\.(?:get\(\s*['\"]([^'\"]+)['\"]|([A-Za-z_]\w*))")
_CONN_ARGUMENT = re.compile(r"(^|_)conn_ids?$|_connection_ids?$")
_TEMPLATE_MARK = re.compile(r"{{|{%")


class Declared:
    def __init__(self) -> None:
        self.connections: set = set()
        self.variables: set = set()

    def scan_template(self, text: str) -> None:
        if not _TEMPLATE_MARK.search(text):
            return
        for first, second in _TEMPLATE_VARIABLE.findall(text):
            self.variables.add(first or second)
        for first, second in _TEMPLATE_CONNECTION.findall(text):
            if (first or second) != "get":
                self.connections.add(first or second)

    def scan_value(self, value, name: str = "") -> None:
        """Walks encoded (JSON) arguments; `name` is the argument or key the value stands under."""
        if isinstance(value, str):
            self.scan_template(value)
            if name and _CONN_ARGUMENT.search(name) and value and not _TEMPLATE_MARK.search(value):
                self.connections.add(value)
        elif isinstance(value, list):
            for item in value:
                self.scan_value(item, name)
        elif isinstance(value, dict):
            for key, item in value.items():
                # Tagged values carry their payload under fixed keys; the argument's name still applies there.
                self.scan_value(item, name if key in ("items", "value", "kwargs", "args") else key)

    def scan_attributes(self, task) -> None:
        """Connection ids an operator took as default (`fs_conn_id="fs_default"`) are declared too."""
        for name, value in vars(task).items():
            if isinstance(value, str) and _CONN_ARGUMENT.search(name):
                self.scan_value(value, name)

    def to_spec(self) -> dict:
        return {"connections": sorted(self.connections), "variables": sorted(self.variables)}


def _literal_argument(call: ast.Call, names: tuple) -> str | None:
    candidates = list(call.args[:1]) + [kw.value for kw in call.keywords if kw.arg in names]
    for node in candidates:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
    return None


def scan_source(tree: ast.AST, declared: Declared) -> None:
    """Variable.get("x"), Connection.get("x"), BaseHook.get_connection("x"), SomeHook(x_conn_id="y") anywhere."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg and _CONN_ARGUMENT.search(keyword.arg) and isinstance(value, str):
                declared.connections.add(value)
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name.endswith("Hook"):
            # The first argument of a hook is its connection id.
            found = _literal_argument(ast.Call(func=function, args=node.args, keywords=[]), ())
            if found:
                declared.connections.add(found)
        if not isinstance(function, ast.Attribute):
            continue
        owner = function.value.id if isinstance(function.value, ast.Name) else getattr(function.value, "attr", "")
        if function.attr in ("get", "set") and owner == "Variable":
            found = _literal_argument(node, ("key",))
            if found:
                declared.variables.add(found)
        elif (function.attr == "get" and owner == "Connection") or function.attr in (
            "get_connection",
            "get_connection_from_secrets",
        ):
            found = _literal_argument(node, ("conn_id",))
            if found:
                declared.connections.add(found)
