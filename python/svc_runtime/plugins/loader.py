"""Finds `AirflowPlugin` classes and keeps what tasks and DAG files use of them.

Folders: those that the artifact of a repository names; else `AIRFLOW__CORE__PLUGINS_FOLDER` (several with `:`), else `plugins/`
below the DAGs folder. Each `.py` file in them that speaks of plugins is imported under the name that DAG files import it by, so there is one copy of it. Packages: the entry points `airflow.plugins`.
A plugin that cannot be imported is told, and the others go on, as in Airflow.
"""

from __future__ import annotations

import importlib
import os
import sys
import time

from ..package_names import packages_in
from ..record import current as recording
from ..run import current
from ..run.listeners import AROUND_THEM, FIRED, RUN_HOOKS, names_in, registered
from .web_stand_ins import StandingIn, is_of_web_server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

# What extends Airflow's own web server and scheduler; neither runs code of authors here.
_NOT_LOADED = (
    "flask_blueprints",
    "fastapi_apps",
    "fastapi_root_middlewares",
    "external_views",
    "react_apps",
    "appbuilder_views",
    "appbuilder_menu_items",
    "admin_views",
    "menu_links",
    "deadline_references",
)
ENTRY_POINTS = "airflow.plugins"
# Whether this one listens is decided by settings of tasks, which a compiler does not have.
_CONFIGURED_LATER = "apache-airflow-providers-openlineage:"


class Loaded:
    """Everything that was found, in this process."""

    def __init__(self) -> None:
        self.plugins: list = []
        self.errors: list[dict[str, str]] = []
        self.warnings: list[str] = []
        self.links: list = []
        self.operator_links: list = []
        self._seen: set = set()

    def clear(self) -> None:
        registered.clear()
        self.__init__()  # type: ignore[misc]

    def facts(self) -> dict | None:
        """What the spec says of them; None when there are none."""
        if not self.plugins and not self.errors:
            return None
        heard = {name for item in registered for name in names_in(item)}
        if any(plugin.source.startswith(_CONFIGURED_LATER) for plugin in self.plugins):
            heard.update(RUN_HOOKS)
        listens = [name for name in RUN_HOOKS if name in heard]
        return {
            "loaded": [_facts(plugin) for plugin in self.plugins],
            "errors": list(self.errors),
            **({"listens": listens} if listens else {}),
        }

    def problems(self) -> list[str]:
        """What did not import, in words for whoever misses it."""
        return [
            f"The plugin {error['source']} is not there, with all that it would bring: {error['error']}"
            for error in self.errors
        ]

    def take(self, plugin: Any, source: str) -> None:
        if plugin in self._seen:
            return
        self._seen.add(plugin)
        if not plugin.name:
            self.errors.append({"source": source, "error": f"the plugin class {plugin.__name__} has no name"})
            return
        plugin.source = source
        try:
            plugin.on_load()
        except Exception as error:
            self.errors.append({"source": source, "error": f"on_load() of {plugin.name}: {_text(error)}"})
            return
        self.plugins.append(plugin)
        _offer_macros(plugin)
        registered.extend(plugin.listeners)
        self.links += list(plugin.global_operator_extra_links)
        self.operator_links += list(plugin.operator_extra_links)
        self._warn(plugin)

    def _warn(self, plugin: Any) -> None:
        unused = [name for name in _NOT_LOADED if getattr(plugin, name, None)]
        if unused:
            self.warnings.append(
                f"plugin {plugin.name}: {', '.join(unused)} are not loaded: neither the web server nor the scheduler runs code "
                "of authors"
            )
        heard = {name for item in plugin.listeners for name in names_in(item)}
        called = {*FIRED, *RUN_HOOKS, *(AROUND_THEM if heard & set(RUN_HOOKS) else ())}
        silent = sorted(heard - called)
        if silent:
            self.warnings.append(
                f"plugin {plugin.name}: listeners {', '.join(silent)} are never called: only those of task instances and "
                "DAG runs are"
            )


loaded = Loaded()


def plugin_folders(root: str, bundle: dict | None) -> list[str]:
    named = os.environ.get("AIRFLOW__CORE__PLUGINS_FOLDER")
    if bundle:
        folders = [os.path.join(root, name) for name in bundle["plugins"]]
    else:
        folders = named.split(os.pathsep) if named else [os.path.join(root, "plugins")]
    return [os.path.abspath(folder) for folder in folders if folder and os.path.isdir(folder)]


def load_plugins(root: str, bundle: dict | None = None) -> Loaded:
    """Those of the project or repository at `root`, and of installed packages. Again for another root: from the beginning."""
    loaded.clear()
    for folder in plugin_folders(root, bundle):
        if folder not in sys.path:
            sys.path.append(folder)
        for path in _files(folder):
            if _speaks_of_plugins(path):
                _load_file(folder, path)
    _load_entry_points()
    current.plugin_problems[:] = loaded.problems()
    return loaded


def _files(folder: str) -> list[str]:
    found = []
    for place, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        found += [os.path.join(place, name) for name in sorted(files) if name.endswith(".py")]
    return found


def _speaks_of_plugins(path: str) -> bool:
    """The folder is also where people keep helpers: a DAG depends on those that it imports, not on all of them."""
    with open(path, "rb") as file:
        return b"plugin" in file.read().lower()


def _load_file(folder: str, path: str) -> None:
    shown = os.path.relpath(path, folder)
    source = f"$PLUGINS_FOLDER/{shown}"
    dotted = os.path.splitext(shown)[0].replace(os.sep, ".").removesuffix(".__init__")
    if dotted == "__init__":
        return
    try:
        module = _imported(dotted)
    except BaseException as error:  # an author's file may raise anything
        if isinstance(error, KeyboardInterrupt):
            raise
        loaded.errors.append({"source": source, "error": _text(error)})
        return
    own = getattr(module, "__file__", None)
    if own is None or os.path.abspath(own) != path:
        loaded.errors.append({"source": source, "error": f"another module has the name {dotted}: rename the file"})
        return
    for value in list(vars(module).values()):
        if _is_plugin(value) and value.__module__ == dotted:
            loaded.take(value, source)


def _imported(dotted: str) -> ModuleType:
    """Again with stand-ins when a package of the web server is missing: what uses it is not needed here, the rest is."""
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError as error:
        if not is_of_web_server(error.name):
            raise
    with StandingIn():
        return importlib.import_module(dotted)


def _load_entry_points() -> None:
    if not any(map(may_offer_plugins, sys.path)):
        return
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS):
        source = f"{point.dist.name if point.dist is not None else ''}: {point.value}"
        try:
            value = point.load()
        except Exception as error:
            loaded.errors.append({"source": source, "error": _text(error)})
            continue
        if _is_plugin(value):
            loaded.take(value, source)


# By folder: when it was last changed, and the answer. A package that is installed or removed changes its folder.
_offers: dict[str, tuple[int, bool]] = {}
_names: dict[str, tuple[int, list]] = {}
_SETTLED_NS = 60 * 1_000_000_000
_LISTED_NS = 1_000_000_000


def may_offer_plugins(folder: str) -> bool:
    """Asked of each folder of packages, because importlib.metadata takes 20 ms to load, and loads half of the e-mail package."""
    folder = folder or "."
    try:
        changed = os.stat(folder).st_mtime_ns
        names = _packages_in(folder, changed)
    except NotADirectoryError:
        return True  # an archive: only importlib.metadata can look into it
    except OSError:
        return False
    if not names:
        return False
    known = _offers.get(folder)
    if known is not None and known[0] == changed:
        return known[1]
    answer = any(_has_plugins(os.path.join(folder, name)) for name in names)
    # What an installer is writing just now may be complete a moment later, without another change of the folder.
    if time.time_ns() - changed > _SETTLED_NS:
        _offers[folder] = (changed, answer)
    return answer


def _packages_in(folder: str, changed: int) -> list:
    """Listed once, because a folder of DAGs is on the path as well, and may have thousands of files."""
    known = _names.get(folder)
    if known is None or known[0] != changed:
        known = (changed, packages_in(os.listdir(folder)))
        if time.time_ns() - changed > _LISTED_NS:
            _names[folder] = known
    if recording.reads is not None:
        recording.reads.packages(os.path.abspath(folder), known[1])
    return known[1]


def _has_plugins(package: str) -> bool:
    if package.endswith(".egg"):
        return True
    try:
        with open(os.path.join(package, "entry_points.txt"), "rb") as file:
            return ENTRY_POINTS.encode() in file.read()
    except OSError:
        return False


def _is_plugin(value) -> bool:
    from ..run.helpers import AirflowPlugin

    return isinstance(value, type) and issubclass(value, AirflowPlugin) and value is not AirflowPlugin


def _offer_macros(plugin: Any) -> None:
    """`macros.<plugin>.<function>` in templates, `airflow.macros.<plugin>` in files."""
    from types import ModuleType

    from ..run import macros

    if not plugin.macros:
        return
    offered = ModuleType(f"airflow.macros.{plugin.name}")
    for macro in plugin.macros:
        setattr(offered, getattr(macro, "__name__", type(macro).__name__), macro)
    setattr(macros, plugin.name, offered)
    sys.modules[offered.__name__] = offered


def _facts(plugin: Any) -> dict:
    return {
        "name": str(plugin.name),
        "source": str(plugin.source),
        "macros": [f"{macro.__module__}.{getattr(macro, '__name__', type(macro).__name__)}" for macro in plugin.macros],
        "timetables": [f"{kind.__module__}.{kind.__qualname__}" for kind in plugin.timetables],
        "listeners": [getattr(item, "__name__", type(item).__name__) for item in plugin.listeners],
        "global_operator_extra_links": [_class_of(link) for link in plugin.global_operator_extra_links],
        "operator_extra_links": [_class_of(link) for link in plugin.operator_extra_links],
    }


def _class_of(value) -> str:
    return f"<{type(value).__module__}.{type(value).__qualname__} object>"


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:2000]


def add_links(dag) -> None:
    """Links of plugins join those of the operators: the global ones everywhere, the others where they name the class."""
    for task in dag.tasks if loaded.links or loaded.operator_links else ():
        kind = task.operator_class
        more = [
            *loaded.links,
            *(link for link in loaded.operator_links if any(kind is named for named in getattr(link, "operators", ()))),
        ]
        known = {getattr(link, "name", None) for link in task.operator_extra_links or ()}
        fresh = [link for link in more if getattr(link, "name", None) not in known]
        if fresh and not getattr(task, "is_mapped", False):
            task.operator_extra_links = (*(task.operator_extra_links or ()), *fresh)
