"""Executes one DAG file and returns its specs, or errors with file, line, what, and what to do instead."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import stat
import sys
import traceback
from types import ModuleType

from ..exceptions import RecordingError
from ..record import current

MAX_SOURCE_BYTES = 2 * 1024 * 1024


class LoadError(Exception):
    def __init__(self, error: dict) -> None:
        super().__init__(error["message"])
        self.error = error


def _error(kind: str, message: str, *, path: str, line: int | None = None, instead: str = "", trace: str = "") -> dict:
    return {"type": kind, "message": message, "path": path, "line": line, "instead": instead, "traceback": trace}


def read_source(path: str, shown: str) -> str:
    try:
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode):
            raise LoadError(_error("unreadable", "it is not a regular file", path=shown, instead="Point to a .py file"))
        if info.st_size > MAX_SOURCE_BYTES:
            raise LoadError(
                _error(
                    "too_large",
                    f"the file has {info.st_size} bytes; the limit is {MAX_SOURCE_BYTES}",
                    path=shown,
                    instead="Move data out of the DAG file",
                )
            )
        with open(path, "rb") as file:
            raw = file.read()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise LoadError(
            _error(
                "unreadable",
                f"cannot be read: {error.strerror}",
                path=shown,
                instead="Check that it exists, and that the user tasks run as may read it and enter its folders",
            )
        ) from None
    except UnicodeDecodeError as error:
        raise LoadError(
            _error(
                "unreadable", f"is not UTF-8 text (byte {error.start})", path=shown, instead="Save the file as UTF-8"
            )
        ) from None


def module_name(path: str) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    return "svc_dag_" + re.sub(r"\W", "_", stem)


def _line_in(path: str, error: BaseException) -> int | None:
    """The deepest frame of the DAG file itself; helpers it calls are in the traceback text."""
    line = None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path:
            line = frame.lineno
    return line


def _trace(error: BaseException, path: str) -> str:
    """The author's frames only: ours would bury the one that matters."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package = os.path.join(os.path.dirname(here), "airflow")
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((here, package, "<"))
    ]
    lines = traceback.format_list(frames[-20:])
    return "".join([*lines, *traceback.format_exception_only(type(error), error)])[-8000:]


def _describe(error: BaseException, path: str, shown: str) -> dict:
    line = _line_in(path, error)
    trace = _trace(error, path)
    if isinstance(error, RecordingError):
        return _error("cannot_record", error.what, path=shown, line=line, instead=error.instead, trace=trace)
    if isinstance(error, SyntaxError):
        return _error("syntax", f"{error.msg}", path=shown, line=error.lineno, trace=trace)
    if isinstance(error, ModuleNotFoundError):
        return _error(
            "import",
            str(error),
            path=shown,
            line=line,
            trace=trace,
            instead=f"Add the package that provides '{error.name}' to the project's dependencies, or import it inside the task",
        )
    if isinstance(error, SystemExit):
        return _error(
            "exit",
            f"the file called sys.exit({error.code!r}) while it was loaded",
            path=shown,
            line=line,
            trace=trace,
            instead="Remove the call, or guard it with `if __name__ == '__main__':`",
        )
    if isinstance(error, MemoryError):
        return _error(
            "memory",
            "loading the file needs more memory than allowed",
            path=shown,
            line=line,
            trace=trace,
            instead="Load data inside tasks, not at the top level",
        )
    if isinstance(error, RecursionError):
        return _error("recursion", "the file recurses too deeply", path=shown, line=line, trace=trace)
    return _error("error", f"{type(error).__name__}: {error}", path=shown, line=line, trace=trace)


def _find_dags(module: ModuleType) -> list:
    from ..record.dag import DAG

    found = list(current.collected_dags)
    for value in list(vars(module).values()):
        if isinstance(value, DAG) and not any(value is known for known in found):
            found.append(value)
    return sorted(found, key=lambda dag: dag.dag_id)


def _local_modules(before: set, folder: str, own_path: str) -> list:
    """Helper modules of the project that the file imported: part of what the tasks will run."""
    listed = []
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name in before or not path or not path.startswith(folder + os.sep) or path == own_path:
            continue
        if "site-packages" in path or not path.endswith(".py"):
            continue
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        listed.append({"module": name, "path": os.path.relpath(path, folder), "sha256": digest})
    return listed


def load_file(path: str, dags_folder: str) -> list:
    """Specs of every DAG in the file, in order of dag_id. Raises LoadError."""
    path = os.path.abspath(path)
    dags_folder = os.path.abspath(dags_folder)
    shown = os.path.relpath(path, dags_folder)
    text = read_source(path, shown)
    for folder in (os.path.dirname(path), dags_folder):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    os.environ["SVC_DAGS_FOLDER"] = dags_folder
    before = set(sys.modules)
    module = ModuleType(module_name(path))
    module.__file__ = path
    sys.modules[module.__name__] = module
    try:
        tree = ast.parse(text, filename=path)
        code = compile(tree, path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        # ast.walk over the tree again, untouched by compile(), finds declared secrets.
        return _build(module, text, tree, shown, dags_folder, _local_modules(before, dags_folder, path))
    except LoadError:
        raise
    except BaseException as error:  # a DAG file may raise anything, SystemExit and KeyboardInterrupt included
        raise LoadError(_describe(error, path, shown)) from None


def _build(module, text: str, tree, shown: str, dags_folder: str, modules: list) -> list:
    from .dag_spec import dag_spec

    source = {
        "path": shown,
        "text": text,
        "sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "module": module.__name__,
        "modules": modules,
    }
    specs = []
    seen: set = set()
    for dag in _find_dags(module):
        if dag.dag_id in seen:
            raise RecordingError(f"two DAGs in the file have the dag_id '{dag.dag_id}'", "Give each DAG its own id")
        seen.add(dag.dag_id)
        specs.append(dag_spec(dag, source=source, tree=tree, dags_folder=dags_folder))
    if current.dag_stack:
        raise RecordingError("a DAG was entered but never left", "Use `with DAG(...) as dag:`")
    return specs
