"""`python -m svc_runtime.fix`: one JSON request on standard input, one JSON line per file on standard output.

    {"root": "/repository", "files": ["dags/etl.py", …], "rewrite": true}
    {"path": "dags/etl.py", "findings": […], "left": […], "text": "…", "encoding": "utf-8", "diff": "…", "error": null}

Nothing of the files is ever imported or run.
"""

from __future__ import annotations

import json
import os
import sys

from .rewrite import Rewritten, difference, exported_names, read, rewrite_python, rewrite_template

_LARGEST = 2 * 1024 * 1024


def _read(path: str) -> tuple[str, str] | str:
    try:
        if os.path.getsize(path) > _LARGEST:
            return f"it is larger than {_LARGEST} bytes"
        if path.endswith(".py"):
            return read(path)
        with open(path, encoding="utf-8", newline="") as file:
            return file.read(), "utf-8"
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        return f"it cannot be read: {error}"


def _answer(name: str, content: tuple[str, str] | str, exported) -> dict:
    if isinstance(content, str):
        return {"path": name, "findings": [], "left": [], "text": None, "encoding": None, "diff": "", "error": content}
    text, encoding = content
    error = None
    try:
        done = rewrite_python(text, exported) if name.endswith(".py") else rewrite_template(text)
    except (SyntaxError, ValueError, RecursionError) as problem:
        line = getattr(problem, "lineno", None)
        error = f"line {line}: {problem.msg}" if isinstance(problem, SyntaxError) else str(problem)
        done = Rewritten(text, text, [], [])
    changed = done.after != done.before
    return {
        "path": name,
        "findings": [finding.to_json() for finding in done.findings],
        "left": [finding.to_json() for finding in done.left],
        "text": done.after if changed else None,
        "encoding": encoding,
        "diff": difference(done.before, done.after, name) if changed else "",
        "error": error,
    }


def main() -> None:
    request = json.load(sys.stdin)
    contents = {name: _read(os.path.join(request["root"], name)) for name in request["files"]}
    texts = [content[0] for name, content in contents.items() if name.endswith(".py") and not isinstance(content, str)]
    exported = exported_names(texts)
    for name, content in contents.items():
        sys.stdout.write(json.dumps(_answer(name, content, exported)) + "\n")


if __name__ == "__main__":
    main()
