"""Where a DAG file defines a DAG or a task, for messages about one that the spec has only by its id."""

from __future__ import annotations

import ast


def line_of(tree: ast.Module, name: str) -> int | None:
    """Of the call that is given the id, or of the function that has its name. None for ids that are computed."""
    label = name.rpartition(".")[2]
    functions = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            values = [
                *node.args[:1],
                *(keyword.value for keyword in node.keywords if keyword.arg in ("task_id", "dag_id")),
            ]
            if any(isinstance(value, ast.Constant) and value.value in (name, label) for value in values):
                return node.lineno
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == label:
            functions.append(node.lineno)
    return functions[0] if functions else None
