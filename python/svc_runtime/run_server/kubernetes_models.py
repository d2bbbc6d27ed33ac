"""Models of the Kubernetes client for DAG files that run where the client is not installed.

A file that says `executor_config={"pod_override": k8s.V1Pod(...)}` is compiled without the package, and the control plane
has made the pod of it by the time the file is loaded there. So the file must load, and nothing else of the package is
needed. Only imports of DAG files are answered: libraries look whether the package is there, and it is not.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_MODULES = ("kubernetes", "kubernetes.client", "kubernetes.client.models")
_ADVICE = (
    "kubernetes is not installed in the environment of this task, and only its models (V1Pod, V1Container, ...) can be "
    "named without it: add kubernetes to the dependencies of the DAG"
)


class _Model:
    """As much of a model as a file needs to make and change one: what was not set is None."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> None:
        if name.startswith("_") or name in ("to_dict", "to_str", "openapi_types", "attribute_map"):
            raise AttributeError(f"{type(self).__name__}.{name}: {_ADVICE}", name=name, obj=self)
        return


class _Models(ModuleType):
    __path__: list = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if f"{self.__name__}.{name}" in _MODULES:
            raise AttributeError(name)  # imported as a module, if at all
        if self.__name__ == "kubernetes" or not _is_model(name):
            raise ImportError(f"{self.__name__}.{name}: {_ADVICE}", name=self.__name__)
        shared = sys.modules.get("kubernetes.client.models", self)
        found = vars(shared).get(name) or type(name, (_Model,), {"__module__": "kubernetes.client.models"})
        vars(shared)[name] = vars(self)[name] = found
        return found


def _is_model(name: str) -> bool:
    return name.startswith(("V1", "V2", "Core", "Events")) and not name.endswith("Api")


class _Finder:
    def __init__(self, places: tuple[str, ...]) -> None:
        self._places = places

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "kubernetes" or not self._is_asked_by_dag_file():
            return None
        if fullname in _MODULES:
            return ModuleSpec(fullname, _loader, is_package=True)
        if fullname.startswith("kubernetes.client.models."):
            return ModuleSpec(fullname, _loader)
        raise ModuleNotFoundError(f"No module named '{fullname}': {_ADVICE}", name=fullname)

    def _is_asked_by_dag_file(self) -> bool:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        asker = frame.f_code.co_filename if frame is not None else ""
        return asker.startswith(self._places) and "site-packages" not in asker

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return _Models(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Names are made on first use."""


_loader: Any = _Finder  # a loader by shape


class StandingIn:
    """While it is entered, files below `folder` find the models. Last of all: a package that is there is used."""

    def __init__(self, *places: str) -> None:
        self._finder: Any = _Finder(tuple(os.path.join(place, "") for place in places if place))

    def __enter__(self) -> None:
        sys.meta_path.append(self._finder)

    def __exit__(self, *exception: object) -> None:
        sys.meta_path.remove(self._finder)
        # The file has what it asked for; for everybody else the package is as missing as before.
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Models)]:
            del sys.modules[name]
