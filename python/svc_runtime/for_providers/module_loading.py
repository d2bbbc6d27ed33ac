"""`airflow.sdk.module_loading`, and the tools by which providers keep old names importable."""

from __future__ import annotations

import functools
import importlib
import re
import sys
import warnings
from types import ModuleType

from ..run.helpers import import_string

__all__ = ["add_deprecated_classes", "import_string", "is_valid_dotpath", "iter_namespace", "qualname"]


class DeprecatedImportWarning(FutureWarning):
    """An import path that has another name now."""


def is_valid_dotpath(path) -> bool:
    return isinstance(path, str) and re.match(r"^[a-zA-Z_]\w*(?:\.[a-zA-Z_]\w*)+$", path) is not None


def qualname(o, use_qualname: bool = False, exclude_module: bool = False) -> str:
    """The dotted name under which a class or function is found again; of anything else, that of its class."""
    if isinstance(o, functools.partial):
        return qualname(o.func, use_qualname, exclude_module)
    thing = o if isinstance(o, type) or (callable(o) and hasattr(o, "__qualname__")) else type(o)
    name = thing.__qualname__ if use_qualname or exclude_module else getattr(thing, "__name__", thing.__qualname__)
    module = getattr(thing, "__module__", None)
    return name if exclude_module or not module or (module == "builtins" and use_qualname) else f"{module}.{name}"


def iter_namespace(ns: ModuleType):
    import pkgutil

    return pkgutil.iter_modules(ns.__path__, ns.__name__ + ".")


def getattr_with_deprecation(
    imports: dict,
    module: str,
    override_deprecated_classes: dict,
    extra_message: str,
    name: str,
    message_override: str = "",
):
    target = imports.get(name) or imports.get("*", "").replace("*", name)
    if not target:
        raise AttributeError(f"The module `{module!r}` has no attribute `{name!r}`")
    advice = override_deprecated_classes.get(name, target)
    message = message_override or f"The `{module}.{name}` attribute is deprecated. Please use `'{advice}'`."
    if extra_message:
        message += f" {extra_message}."
    warnings.warn(message, DeprecatedImportWarning, stacklevel=3)
    home, _, attribute = target.rpartition(".")
    try:
        return getattr(importlib.import_module(home), attribute)
    except ImportError as error:
        raise ImportError(f"Could not import `{target}` for `{module}.{name}`") from error


def add_deprecated_classes(
    module_imports: dict,
    package: str,
    override_deprecated_classes: dict | None = None,
    extra_message: str | None = None,
    message: str | None = None,
) -> None:
    """Modules below `package`, and its own attributes (`__name__`), that load their names from elsewhere, with a warning."""
    for module_name, imports in module_imports.items():
        full = package if module_name == "__name__" else f"{package}.{module_name}"
        override = (override_deprecated_classes or {}).get(module_name, {})
        load = functools.partial(getattr_with_deprecation, imports, full, override, extra_message or "")
        if message:
            load = functools.partial(load, message_override=message)
        if module_name == "__name__":
            sys.modules[package].__getattr__ = load  # type: ignore[method-assign]
            continue
        module = ModuleType(full)
        module.__getattr__ = load  # type: ignore[method-assign]
        module.__path__ = []
        sys.modules[full] = module
