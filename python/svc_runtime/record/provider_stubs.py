"""Recording stand-ins for provider packages that are not installed, active only while a file is compiled.

Where a provider package is installed in the environment that compiles, it is imported for real, as tasks will: its classes,
constants and builders are what they are, and a module it does not have is missing. Where it is not, importing
`airflow.providers.x.y` (or `kubernetes`, whose model classes appear in executor settings) gives modules whose names are made
on demand. Operators and sensors become real tasks with all arguments recorded; hooks, notifiers and other objects remember
class path and arguments; what would need the provider's code to run raises a RecordingError.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..exceptions import RecordingError
from .decorated import DecoratedOperator
from .operator import BaseOperator, BaseOperatorMeta
from .sensor import BaseSensorOperator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ROOTS = ("airflow.providers.", "kubernetes")
_OWN = ("airflow.providers.standard", "airflow.providers.common.compat")


class _Foreign(BaseOperator):
    """Any keyword is accepted and kept as an attribute, as the real class would."""

    svc_foreign = True

    def _svc_accept_extra(self, kwargs: dict) -> dict:
        for name, value in kwargs.items():
            if name not in self.__dict__:
                self.__dict__[name] = value
        return {}

    def execute(self, context):
        raise RecordingError(
            f"{type(self).__name__} is only a recording", "Install its provider package in the task's environment"
        )


class ForeignOperator(_Foreign):
    svc_recorded = True


class ForeignSensor(_Foreign, BaseSensorOperator):
    svc_recorded = True


class Reference:
    """A name inside a provider module: constant, function or enum member. Usable as a value, not callable."""

    def __init__(self, path: str) -> None:
        self.svc_path = path

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        return Reference(f"{self.svc_path}.{name}")

    def __call__(self, *args, **kwargs):
        raise _runs_provider_code(f"{self.svc_path}()")

    def iter_references(self):
        """As an argument it is a value like any other: none of another task."""
        return iter(())

    def __iter__(self):
        raise _runs_provider_code(f"iterating {self.svc_path}")

    def __repr__(self) -> str:
        return self.svc_path


def _runs_provider_code(what: str) -> RecordingError:
    return RecordingError(
        f"{what} runs provider code while the file is compiled",
        "Install the provider package in the project's environment, or move it into a task body",
    )


class RecordedMeta(BaseOperatorMeta):
    """Class attributes of a recorded class are references (`SomeEnum.MEMBER`)."""

    def __getattr__(cls, name: str):
        if name.startswith("_") or name in ("svc_recorded", "template_fields", "template_ext"):
            raise AttributeError(name)
        return Reference(f"{cls.__module__}.{cls.__qualname__}.{name}")


class RecordedObject(metaclass=RecordedMeta):
    """A hook, a trigger, a configuration object …: class path and arguments."""

    def __init__(self, *args, **kwargs) -> None:
        self.__dict__.setdefault("svc_arguments", (args, kwargs))

    def iter_references(self):
        """Values of other tasks among the arguments make edges, as anywhere else."""
        from .xcomarg import iter_references

        yield from iter_references(list(self.__dict__.values()))

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        _, kwargs = self.__dict__.get("svc_arguments", ((), {}))
        if name in kwargs:
            return kwargs[name]
        return Reference(f"{type(self).__module__}.{type(self).__qualname__}.{name}")


class RecordedNotifier(RecordedObject):
    def __call__(self, context=None) -> None:
        raise _runs_provider_code(f"{type(self).__name__}()")


def _kind(module: str, name: str):
    parts = module.split(".")
    if name.endswith("Notifier") or {"notifications", "notifiers"} & set(parts):
        return RecordedNotifier
    if name.endswith(("Sensor", "SensorAsync")) or "sensors" in parts:
        return ForeignSensor if not name.endswith(("Trigger", "Error", "Exception", "Link")) else RecordedObject
    if name.endswith(("Operator", "OperatorAsync")):
        return ForeignOperator
    if "transfers" in parts or "operators" in parts:
        # Helpers live beside operators; only names that look like verbs-on-things are tasks.
        return (
            ForeignOperator
            if "To" in name and not name.endswith(("Error", "Link", "Config", "Mode"))
            else RecordedObject
        )
    return RecordedObject


def make_class(module: str, name: str):
    if name.endswith(("Error", "Exception")):
        from ..exceptions import AirflowException

        return type(name, (AirflowException,), {"__module__": module})
    base = _kind(module, name)
    return type(base)(name, (base,), {"__module__": module, "__qualname__": name})


class StubModule(ModuleType):
    """Names are made on first use. A lower-case name may be a submodule or a function; it is both until used."""

    __path__: list = []

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        first = name.lstrip("_")[:1]
        if name.isupper() and len(name) > 1 and "_" in name:
            value = Reference(f"{self.__name__}.{name}")
        elif first.isupper():
            value = make_class(self.__name__, name)
        else:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__dict__[name] = value
        return value

    def __call__(self, *args, **kwargs):
        module, _, name = self.__name__.rpartition(".")
        if ".notifications." in self.__name__ or ".notifiers." in self.__name__:
            # Providers name their notifiers by functions too: send_slack_notification(...)
            return make_class(module, name)(*args, **kwargs)
        raise _runs_provider_code(f"{self.__name__}()")


def _is_real(fullname: str, path) -> bool:
    """Whether the module is for the import system to find or to miss: a provider package that is installed answers for itself."""
    from ..import_paths import MODULES, is_installed

    if fullname in MODULES or is_installed(fullname, path):
        return True
    parent = sys.modules.get(fullname.rpartition(".")[0])
    # Namespaces (airflow.providers, .common, .microsoft) are shared by packages of which any may be missing.
    is_shared = parent is None or parent.__name__ == "airflow.providers" or getattr(parent, "__file__", None) is None
    return not is_shared and not isinstance(parent, StubModule)


def _is_real_kubernetes() -> bool:
    """The client takes a second to load: for a pod in executor settings its models are recorded, for its operators it is needed."""
    from ..import_paths import is_installed

    global _has_kubernetes
    if _has_kubernetes is None:
        namespace = importlib.import_module("airflow.providers")
        places = [os.path.join(place, "cncf") for place in namespace.__path__]
        _has_kubernetes = is_installed("kubernetes", None) and is_installed("airflow.providers.cncf.kubernetes", places)
    return _has_kubernetes


_has_kubernetes: bool | None = None


class _Finder:
    @staticmethod
    def find_spec(fullname: str, path=None, target=None):
        if not fullname.startswith(_ROOTS) or fullname.startswith(_OWN):
            return None
        if fullname.startswith("kubernetes"):
            is_real = fullname.split(".", maxsplit=1)[0] != "kubernetes" or _is_real_kubernetes()
        else:
            is_real = _is_real(fullname, path)
        return None if is_real else ModuleSpec(fullname, _loader, is_package=True)

    @staticmethod
    def create_module(spec):
        return StubModule(spec.name)

    @staticmethod
    def exec_module(module) -> None:
        module.__path__ = []


_loader: Any = _Finder  # a loader by shape
_decorated: dict = {}


def decorated_provider_class(class_path: str, label: str):
    """The operator behind a provider's `@task.x`: our decorated base with the provider's class path."""
    if class_path not in _decorated:
        module, _, name = class_path.rpartition(".")
        _decorated[class_path] = BaseOperatorMeta(
            name,
            (DecoratedOperator, _Foreign),
            {"__module__": module, "__qualname__": name, "custom_operator_name": label, "svc_recorded": True},
        )
    return _decorated[class_path]


def install() -> None:
    if not any(finder is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder)


def uninstall() -> None:
    if _Finder in sys.meta_path:
        sys.meta_path.remove(_Finder)


def is_recorded(module: ModuleType) -> bool:
    """True for a module that stands in for one that is not installed."""
    return isinstance(module, StubModule)
