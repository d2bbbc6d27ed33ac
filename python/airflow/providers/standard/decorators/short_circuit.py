"""@task.short_circuit."""

from __future__ import annotations

from svc_runtime.record.decorated import task_decorator_factory

from ..operators.python import ShortCircuitOperator
from .python import _PythonDecoratedOperator


class _ShortCircuitDecoratedOperator(_PythonDecoratedOperator, ShortCircuitOperator):
    template_fields = ShortCircuitOperator.template_fields
    template_fields_renderers = ShortCircuitOperator.template_fields_renderers
    custom_operator_name = "@task.short_circuit"
    svc_keeps_values = True


def short_circuit_task(python_callable=None, multiple_outputs=None, **kwargs):
    return task_decorator_factory(
        python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_ShortCircuitDecoratedOperator,
        **kwargs,
    )
