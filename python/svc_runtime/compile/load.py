"""Executes one DAG file and returns its specs, or errors with file, line, what, and what to do instead."""

from __future__ import annotations

import ast
import hashlib
import itertools
import os
import re
import stat
import sys
import traceback
from types import ModuleType

from .. import bundle_path
from ..exceptions import RecordingError
from ..plugins.loader import load_plugins
from ..plugins.local_settings import FILE as SETTINGS_FILE
from ..plugins.local_settings import Violation, load_local_settings
from ..record import current
from .definition_line import line_of
from .differences import note_differences
from .spellings import GoneError, check_modules, check_spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..plugins.local_settings import LocalSettings

MAX_SOURCE_BYTES = 2 * 1024 * 1024


# A module of Airflow itself that DAG files cannot have: no package brings it.
_AIRFLOWS_OWN = "Use airflow.sdk, the context of the task or the REST API: no package brings this part of Airflow"
# A repository may hold a copy of them (old_import_paths.py).
_EXAMPLES = "These are the examples of Airflow itself: copy what you use of them into the repository"


class LoadError(Exception):
    def __init__(self, error: dict) -> None:
        super().__init__(error["message"])
        self.error = error


def _error(kind: str, message: str, *, path: str, line: int | None = None, instead: str = "", trace: str = "") -> dict:
    return {"type": kind, "message": message, "path": path, "line": line, "instead": instead, "traceback": trace}


def _archive_of(path: str) -> str | None:
    """The zip file that the path leads into."""
    head, mark, _ = path.partition(".zip" + os.sep)
    return head + ".zip" if mark and os.path.isfile(head + ".zip") else None


def _read_archived(archive: str, path: str, shown: str) -> str:
    import zipfile

    name = os.path.relpath(path, archive).replace(os.sep, "/")
    try:
        with zipfile.ZipFile(archive) as file:
            if file.getinfo(name).file_size > MAX_SOURCE_BYTES:
                raise LoadError(_too_large(file.getinfo(name).file_size, shown))
            return file.read(name).decode("utf-8-sig")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise LoadError(
            _error("unreadable", f"cannot be read from its zip file: {error}", path=shown, instead="Make the zip again")
        ) from None
    except UnicodeDecodeError as error:
        raise LoadError(_not_utf8(error, shown)) from None


def _too_large(size: int, shown: str) -> dict:
    return _error(
        "too_large",
        f"the file has {size} bytes; the limit is {MAX_SOURCE_BYTES}",
        path=shown,
        instead="Move data out of the DAG file",
    )


def _not_utf8(error: UnicodeDecodeError, shown: str) -> dict:
    return _error("unreadable", f"is not UTF-8 text (byte {error.start})", path=shown, instead="Save the file as UTF-8")


def read_source(path: str, shown: str) -> str:
    archive = _archive_of(path)
    if archive is not None:
        return _read_archived(archive, path, shown)
    try:
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode):
            raise LoadError(_error("unreadable", "it is not a regular file", path=shown, instead="Point to a .py file"))
        if info.st_size > MAX_SOURCE_BYTES:
            raise LoadError(_too_large(info.st_size, shown))
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
        raise LoadError(_not_utf8(error, shown)) from None


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


def describe(error: BaseException, path: str, shown: str) -> dict:
    line = _line_in(path, error)
    trace = _trace(error, path)
    if isinstance(error, GoneError):
        return _error("gone", str(error), path=error.path, line=error.line, instead=error.instead)
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
            instead=_EXAMPLES
            if (error.name or "").startswith("airflow.example_dags")
            else _AIRFLOWS_OWN
            if re.match(r"airflow\.(?!providers\b)", error.name or "")
            else f"Add the package that provides '{error.name}' to the project's dependencies, or import it inside the task",
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


def find_dags(module: ModuleType) -> list:
    from ..record.dag import DAG

    found = list(current.collected_dags)
    for value in list(vars(module).values()):
        if isinstance(value, DAG) and not any(value is known for known in found):
            found.append(value)
    return sorted(found, key=lambda dag: dag.dag_id)


def _imported_after(first: str) -> list:
    """Names and modules, sorted. From the end, where new ones are: to touch all others, which the server has loaded, copies a
    page of memory for each, a third of all that compiling a small file copies."""
    names = list(itertools.takewhile(lambda name: name != first, reversed(sys.modules)))
    return [(name, sys.modules[name]) for name in sorted(names)]


def _local_modules(first: str, folder: str, own_path: str) -> list:
    """Helper modules of the project that the file imported: part of what the tasks will run."""
    listed = []
    archives = {_archive_of(own_path)} - {None}
    for name, module in _imported_after(first):
        path = getattr(module, "__file__", None)
        if not path or not path.startswith(folder + os.sep) or path == own_path:
            continue
        if "site-packages" in path or not path.endswith(".py"):
            continue
        archive = _archive_of(path)
        if archive is None:
            listed.append({"module": name, "path": os.path.relpath(path, folder), "sha256": _digest(path)})
        else:
            archives.add(archive)
    # A zip file is one thing: whatever the file takes from it counts as a whole.
    for archive in sorted(filter(None, archives)):
        shown = os.path.relpath(archive, folder)
        listed.append({"module": os.path.basename(archive), "path": shown, "sha256": _digest(archive)})
    return listed


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def load_file(path: str, dags_folder: str, bundle: dict | None = None, groups: dict | None = None) -> list:
    """Specs of every DAG in the file, in order of dag_id. `dags_folder` is what paths are relative to: of a repository,
    its root. `groups`: what svc.yaml adds to the file, or has instead. Raises LoadError."""
    path = os.path.abspath(path)
    dags_folder = os.path.abspath(dags_folder)
    shown = os.path.relpath(path, dags_folder)
    text = _source(path, shown, groups)
    bundle_path.enter(path=path, root=dags_folder, bundle=bundle)
    module = ModuleType(module_name(path))
    module.__file__ = path
    sys.modules[module.__name__] = module
    current.is_compiling = True
    try:
        plugins = load_plugins(dags_folder, bundle)
        for warning in (*plugins.problems(), *plugins.warnings):
            current.warn(warning)
        policies = _local_settings()
        tree = ast.parse(text, filename=path)
        if current.values is not None:
            current.values.source = tree
        check_spellings(text, tree, shown)
        code = compile(tree, path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        # ast.walk over the tree again, untouched by compile(), finds declared secrets.
        modules = _local_modules(module.__name__, dags_folder, path)
        check_modules(modules, dags_folder)
        note_differences(text, shown)
        dags = _under(policies, find_dags(module), tree, shown)
        return _build(dags, module, text, tree, shown, dags_folder, modules, bundle)
    except LoadError:
        raise
    except BaseException as error:  # a DAG file may raise anything, SystemExit and KeyboardInterrupt included
        raise LoadError(describe(error, path, shown)) from None


def _source(path: str, shown: str, groups: dict | None) -> str:
    """What the version keeps and its tasks will load: groups of svc.yaml are part of it, as lines of Python."""
    if groups is None:
        return read_source(path, shown)
    from ..dbt.from_yaml import added_lines, whole_file

    if os.path.lexists(path):
        return read_source(path, shown) + added_lines(groups)
    return whole_file(groups)


def _local_settings() -> LocalSettings | None:
    """A file of policies that cannot be loaded lets no DAG pass, as on Airflow."""
    try:
        found = load_local_settings()
    except Exception as error:
        raise _in_local_settings(error) from None
    if found is not None:
        found.note_differences()
    return found


def _in_local_settings(error: Exception) -> LoadError:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(SETTINGS_FILE)]
    line = frames[-1].lineno if frames else getattr(error, "lineno", None)
    return LoadError(_error("policy", f"{type(error).__name__}: {error}", path=SETTINGS_FILE, line=line))


def _under(policies: LocalSettings | None, dags: list, tree: ast.Module, shown: str) -> list:
    if policies is None:
        return dags
    try:
        return policies.applied(dags)
    except Violation as error:
        subject = f"DAG {error.dag_id}" if error.task_id is None else f"task {error.task_id} of DAG {error.dag_id}"
        line = line_of(tree, error.task_id or error.dag_id) or line_of(tree, error.dag_id)
        raise LoadError(
            _error(
                "policy",
                f"a policy of {SETTINGS_FILE} refuses {subject}: {error}",
                path=shown,
                line=line,
                instead="Change what the policy names, or ask those who keep the policy",
            )
        ) from None
    except Exception as error:
        raise _in_local_settings(error) from None


def _build(
    dags: list, module, text: str, tree, shown: str, dags_folder: str, modules: list, bundle: dict | None
) -> list:
    from .dag_spec import dag_spec

    source = {
        "path": shown,
        "text": text,
        "sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "module": module.__name__,
        "modules": modules,
        **({"bundle": bundle} if bundle else {}),
    }
    specs = []
    seen: set = set()
    for dag in dags:
        if dag.dag_id in seen:
            raise RecordingError(f"two DAGs in the file have the dag_id '{dag.dag_id}'", "Give each DAG its own id")
        seen.add(dag.dag_id)
        specs.append(dag_spec(dag, source=source, tree=tree, dags_folder=dags_folder))
    if current.dag_stack:
        raise RecordingError("a DAG was entered but never left", "Use `with DAG(...) as dag:`")
    return specs
