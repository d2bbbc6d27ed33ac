"""`python -m svc_runtime.fix`: one JSON request on standard input, one JSON line per file on standard output.

    {"root": "/repository", "files": ["dags/etl.py", …], "write": false}
    {"path": "dags/etl.py", "findings": […], "left": […], "modules": […], "changed": true, "diff": "…", "error": null}

Nothing of the files is ever imported or run. With `write` a changed file is replaced as a whole, or not at all.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from .packages import outside_modules
from .places import File
from .rewrite import Rewritten, difference, exported_names, read, rewrite_python, rewrite_template
from .scan import may_be_old
from .source import Source

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


_NOTHING: dict = {"findings": [], "left": [], "modules": [], "changed": False, "diff": "", "error": None}


def _answer(name: str, content: tuple[str, str] | str, exported, own: frozenset[str], write_to: str | None) -> dict:
    if isinstance(content, str):
        return {**_NOTHING, "path": name, "error": content}
    text, encoding = content
    error = None
    modules: list[dict] = []
    try:
        if not name.endswith(".py"):
            done = rewrite_template(text)
        else:
            done = rewrite_python(text, exported) if may_be_old(text) else Rewritten(text, text, [], [])
            modules = outside_modules(File(Source(text)), own)
    except (SyntaxError, ValueError, RecursionError) as problem:
        line = getattr(problem, "lineno", None)
        error = f"line {line}: {problem.msg}" if isinstance(problem, SyntaxError) else str(problem)
        done = Rewritten(text, text, [], [])
    changed = done.after != done.before
    if changed and write_to is not None:
        error = _write(write_to, done.after, encoding)
    return {
        "path": name,
        "findings": [finding.to_json() for finding in done.findings],
        "left": [finding.to_json() for finding in done.left],
        "modules": modules,
        "changed": changed,
        "diff": difference(done.before, done.after, name) if changed else "",
        "error": error,
    }


def _write(path: str, text: str, encoding: str) -> str | None:
    """In place of the file, with its permissions; a link stays one."""
    real = os.path.realpath(path)
    try:
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(real), prefix=".svc-fix-")
        try:
            with os.fdopen(handle, "w", encoding=encoding, newline="") as file:
                file.write(text)
            os.chmod(draft, os.stat(real).st_mode & 0o7777)
            os.replace(draft, real)
        except BaseException:
            os.unlink(draft)
            raise
    except (OSError, UnicodeEncodeError) as error:
        return f"it cannot be written: {error}"
    return None


def _own_modules(names: list[str]) -> frozenset[str]:
    """First names by which files of the repository may be imported, from whichever of its folders is on the path."""
    parts = (part for name in names if name.endswith(".py") for part in name.split("/"))
    return frozenset(part.removesuffix(".py") for part in parts)


def main() -> None:
    request = json.load(sys.stdin)
    own = _own_modules(request["files"])
    contents = {name: _read(os.path.join(request["root"], name)) for name in request["files"]}
    texts = [content[0] for name, content in contents.items() if name.endswith(".py") and not isinstance(content, str)]
    # Reading every file for them is for files that may be rewritten.
    exported = exported_names(texts) if any(map(may_be_old, texts)) else frozenset()
    for name, content in contents.items():
        write_to = os.path.join(request["root"], name) if request.get("write") else None
        sys.stdout.write(json.dumps(_answer(name, content, exported, own, write_to)) + "\n")


if __name__ == "__main__":
    main()
