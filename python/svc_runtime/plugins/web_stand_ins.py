"""Stand-ins for packages of Airflow's web server, for plugins that import them next to their macros and listeners.

What a plugin makes of them (views, apps) is not used here. With stand-ins, the rest of the plugin can be loaded.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PACKAGES = frozenset(
    {
        "connexion",
        "fastapi",
        "flask",
        "flask_appbuilder",
        "flask_babel",
        "flask_login",
        "flask_wtf",
        "markupsafe",
        "starlette",
        "uvicorn",
        "werkzeug",
        "wtforms",
    }
)


class _Kind(type):
    def __getattr__(cls, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn()


class _StandIn(metaclass=_Kind):
    """Anything: a class to inherit, an object to call, a decorator that leaves its function as it is."""

    def __init__(self, *args, **kwargs) -> None: ...

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn()

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], _StandIn):
            return args[0]
        return _StandIn()

    def __class_getitem__(cls, item):
        return cls


class _Module(ModuleType):
    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Kind(name, (_StandIn,), {"__module__": self.__name__})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None):
        if not is_of_web_server(fullname):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


def is_of_web_server(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _PACKAGES


class StandingIn:
    """Within it, packages of the web server that are not installed can be imported. Installed ones come first."""

    def __init__(self) -> None:
        self._finder = _Finder()

    def __enter__(self) -> None:
        sys.meta_path.append(self._finder)

    def __exit__(self, *_) -> None:
        sys.meta_path.remove(self._finder)
        # Others that look for the package must hear that it is not there.
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Module)]:
            del sys.modules[name]
