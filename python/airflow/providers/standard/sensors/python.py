"""PythonSensor: done when the function returns something true."""

from __future__ import annotations

from collections.abc import Sequence

from svc_runtime.record.sensor import BaseSensorOperator, PokeReturnValue


class PythonSensor(BaseSensorOperator):
    template_fields: Sequence[str] = ("templates_dict", "op_args", "op_kwargs")

    def __init__(self, *, python_callable, op_args=None, op_kwargs=None, templates_dict=None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.python_callable = python_callable
        self.op_args = op_args or []
        self.op_kwargs = op_kwargs or {}
        self.templates_dict = templates_dict

    def poke(self, context):
        from svc_runtime.run.callables import call_with_context, merge_into_context

        merge_into_context(context, self.op_kwargs, templates_dict=self.templates_dict)
        result = call_with_context(self.python_callable, self.op_args, self.op_kwargs, context)
        return result if isinstance(result, PokeReturnValue) else PokeReturnValue(bool(result))
