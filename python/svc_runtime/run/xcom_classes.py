"""Objects of authors' classes, for other tasks: dataclasses, attrs, Pydantic models, enums, named tuples, and classes with
`serialize` and `deserialize`.

A class is known by its name. Decoding imports a module only where `[core] allowed_deserialization_classes` (glob patterns) or
`allowed_deserialization_classes_regexp` allows the class, as on Airflow: importing runs code, and a value may have been
written by another task. Where the repository does not set them, classes of modules that the DAG file has loaded are known
as well. Where it does, only what they allow is made.
"""

from __future__ import annotations

import enum
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLASS, _VERSION, _DATA = "__classname__", "__version__", "__data__"
# What a Pydantic model has besides its fields.
_SET, _EXTRA, _PRIVATE = "__fields_set__", "__extra__", "__private__"


def class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def encode_object(value, encode: Callable) -> dict | None:
    """None for an object of a class that is none of these."""
    kind = type(value)
    if isinstance(value, enum.Enum):
        return _tagged(kind, encode(value.value), 0)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return _tagged(kind, [encode(item) for item in value], 0)
    if hasattr(kind, "__dataclass_fields__"):
        return _tagged(kind, _encode_dataclass(value, encode))
    if hasattr(kind, "__attrs_attrs__"):
        return _tagged(kind, {field.name: encode(getattr(value, field.name)) for field in kind.__attrs_attrs__})
    if hasattr(kind, "model_construct") and hasattr(kind, "model_fields"):
        return _encode_model(value, encode)
    if callable(getattr(value, "serialize", None)):
        return _tagged(kind, encode(value.serialize()))
    return None


def decode_object(tagged: dict, decode: Callable):
    name = tagged[_CLASS]
    kind = _class_named(name)
    plain = decode(tagged.get(_DATA))
    if isinstance(kind, type):
        if issubclass(kind, enum.Enum):
            return kind(plain)
        if issubclass(kind, tuple) and hasattr(kind, "_fields") and isinstance(plain, list):
            return kind(*plain)
        if hasattr(kind, "__dataclass_fields__") and isinstance(plain, dict):
            return _make_dataclass(kind, plain)
        if hasattr(kind, "__attrs_attrs__") and isinstance(plain, dict):
            return kind(
                **{
                    _argument(field): plain[field.name]
                    for field in kind.__attrs_attrs__
                    if field.init and field.name in plain
                }
            )
        if hasattr(kind, "model_construct") and hasattr(kind, "model_fields") and isinstance(plain, dict):
            return _make_model(kind, plain, tagged, decode)
        deserialize = getattr(kind, "deserialize", None)
        if callable(deserialize):
            return deserialize(plain, _known_version(kind, name, tagged.get(_VERSION)))
    raise TypeError(
        f"the value is a {name}, which this task may not make: import the class in the DAG file, add its module to "
        "[core] allowed_deserialization_classes, or pass plain values"
    )


def _tagged(kind: type, data, version: int | None = None) -> dict:
    return {_CLASS: class_name(kind), _VERSION: _version(kind) if version is None else version, _DATA: data}


def _version(kind: type) -> int:
    version = getattr(kind, "__version__", 0)
    return version if isinstance(version, int) else 0


def _known_version(kind: type, name: str, version) -> int:
    known = _version(kind)
    if isinstance(version, int) and version > known:
        raise TypeError(
            f"the value is a {name} of version {version}, and this task knows version {known}: run the task that made it "
            "again"
        )
    return version if isinstance(version, int) else known


def _encode_dataclass(value, encode: Callable) -> dict:
    import dataclasses

    return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _make_dataclass(kind: type, plain: dict):
    """Fields that the constructor does not take are set afterwards, also in frozen ones."""
    fields = getattr(kind, "__dataclass_fields__", {})
    later = {name: item for name, item in plain.items() if name in fields and not fields[name].init}
    made = kind(**{name: item for name, item in plain.items() if name not in later})
    for name, item in later.items():
        object.__setattr__(made, name, item)
    return made


def _argument(field) -> str:
    """What the constructor of a class of attrs calls the field."""
    return getattr(field, "alias", None) or field.name.lstrip("_")


def _encode_model(value, encode: Callable) -> dict:
    kind = type(value)
    tagged = _tagged(kind, {name: encode(getattr(value, name)) for name in kind.model_fields})
    given = value.model_fields_set
    if given != set(kind.model_fields):
        tagged[_SET] = sorted(given)
    for member, items in ((_EXTRA, value.model_extra), (_PRIVATE, getattr(value, "__pydantic_private__", None))):
        if items:
            tagged[member] = {name: encode(item) for name, item in items.items()}
    return tagged


def _make_model(kind, plain: dict, tagged: dict, decode: Callable):
    """Without validation: the model was valid when it was made, and validators may change what they are given."""
    given = tagged.get(_SET)
    model = kind.model_construct(_fields_set=set(kind.model_fields) if given is None else set(given), **plain)
    if _EXTRA in tagged:
        object.__setattr__(model, "__pydantic_extra__", decode(tagged[_EXTRA]))
        model.__pydantic_fields_set__.update(set(given or ()))
    if _PRIVATE in tagged:
        object.__setattr__(model, "__pydantic_private__", decode(tagged[_PRIVATE]))
    return model


def _class_named(name: str):
    """None when there is none that may be made."""
    allowed = _allowed_by_setting()
    if allowed is not None and not _is_ours(name):
        return _imported(name) if allowed(name) else None
    return _loaded_class(name)


def _is_ours(name: str) -> bool:
    return name.startswith(("airflow.", "svc_runtime."))


def _allowed_by_setting() -> Callable[[str], bool] | None:
    """None where the repository says nothing."""
    from .conf import settings_of_repository

    core = settings_of_repository().get("core", {})
    globs, patterns = (core.get(f"allowed_deserialization_classes{end}") for end in ("", "_regexp"))
    if globs is None and patterns is None:
        return None

    import fnmatch
    import re

    def allowed(name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, glob) for glob in (globs or "airflow.*").split()) or any(
            re.match(pattern, name) for pattern in (patterns or "").split()
        )

    return allowed


def _imported(name: str):
    import importlib

    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return _loaded_class(name)
    return None


def _loaded_class(name: str):
    """`pkg.module.Outer.Inner` among the modules that are loaded: the longest module name that fits."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found = sys.modules.get(".".join(parts[:cut]))
        if found is None:
            continue
        for part in parts[cut:]:
            found = getattr(found, part, None)
        return found
    return None
