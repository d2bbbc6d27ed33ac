"""Params: a default value with a JSON Schema. Recorded here; defaults and `conf` are validated by the control plane."""

from __future__ import annotations

from collections.abc import MutableMapping

from ..exceptions import ParamValidationError
from .json_values import NotJson, plain, plain_schema
from .notset import NOTSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Param:
    def __init__(self, default: Any = NOTSET, description: str | None = None, source=None, **kwargs) -> None:
        self.value = default if default is NOTSET else _checked(default)
        self.description = description
        # Older files pass the schema as one dictionary.
        self.schema = _checked_schema(kwargs.pop("schema") if "schema" in kwargs else kwargs)
        self.source = source

    @property
    def has_value(self) -> bool:
        return self.value is not NOTSET and self.value is not None

    def resolve(self, value=NOTSET, suppress_exception: bool = False):
        final = self.value if value is NOTSET else value
        if final is NOTSET:
            if suppress_exception:
                return None
            raise ParamValidationError("No value passed and Param has no default value")
        self.value = final
        return final

    def dump(self) -> dict:
        return {
            "value": None if self.value is NOTSET else self.value,
            "schema": self.schema,
            "description": self.description,
        }


def _checked(value):
    """Airflow takes what json.dumps() takes; NaN and infinities, which it turns into text, are refused."""
    try:
        plain(value)
    except NotJson as error:
        raise ParamValidationError(
            f"All provided parameters must be json-serializable. The value {error} is a {error.kind}, which is not a JSON "
            "value: use text, numbers, booleans, lists or objects"
        ) from None
    return value


def _checked_schema(schema) -> dict:
    try:
        return plain_schema(schema)
    except NotJson as error:
        raise ParamValidationError(
            f"the schema of a param has {error}, a {error.kind}, which is not a JSON value: use text, numbers, booleans, lists "
            "or objects"
        ) from None


class ParamsDict(MutableMapping):
    """Behaves like a dict of plain values; `get_param` gives the Param behind one."""

    def __init__(self, dict_obj=None, suppress_exception: bool = False) -> None:
        self._params: dict = {}
        self.suppress_exception = suppress_exception
        items = dict_obj._params if isinstance(dict_obj, ParamsDict) else (dict_obj or {})
        for name, value in items.items():
            self[name] = value

    @classmethod
    def for_task(cls, inherited, own) -> ParamsDict:
        merged = cls(inherited)
        merged.update(cls(own)._params)
        return merged

    def __setitem__(self, name: str, value) -> None:
        if not isinstance(name, str):
            raise TypeError(f"params keys must be strings, not {type(name).__name__} ({name!r})")
        if isinstance(value, Param):
            self._params[name] = value
        elif name in self._params:
            self._params[name] = _with_value(self._params[name], value)
        else:
            self._params[name] = Param(value)

    def __getitem__(self, name: str):
        return self._params[name].resolve(suppress_exception=self.suppress_exception)

    def __delitem__(self, name: str) -> None:
        del self._params[name]

    def __iter__(self):
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __repr__(self) -> str:
        return repr({name: param.value for name, param in self._params.items()})

    def get_param(self, key: str) -> Param:
        return self._params[key]

    @staticmethod
    def filter_params_by_source(params: ParamsDict, source: str) -> ParamsDict:
        """Returns the params of this source: `dag` or `task`."""
        return ParamsDict({name: param for name, param in params.param_items() if param.source == source})

    def param_items(self):
        return self._params.items()

    def update(self, *args, **kwargs) -> None:
        if len(args) == 1 and isinstance(args[0], ParamsDict):
            args = (args[0]._params,)
        super().update(*args, **kwargs)

    def dump(self) -> dict:
        return {name: param.resolve(suppress_exception=self.suppress_exception) for name, param in self._params.items()}

    def validate(self) -> dict:
        return self.dump()


def _with_value(param: Param, value) -> Param:
    copy = Param(value, param.description, param.source)
    copy.schema = param.schema
    return copy


class DagParam:
    """A reference to one DAG param inside task arguments; becomes its value at run time."""

    def __init__(self, current_dag, name: str, default=NOTSET) -> None:
        if default is not NOTSET:
            current_dag.params[name] = default
        self.name = name
        self.default = default
        self.current_dag = current_dag

    def iter_references(self):
        return iter(())

    def resolve(self, context):
        return (
            context["params"].get(self.name)
            if self.default is NOTSET
            else context["params"].get(self.name, self.default)
        )

    def __repr__(self) -> str:
        return f"DagParam({self.name!r})"
