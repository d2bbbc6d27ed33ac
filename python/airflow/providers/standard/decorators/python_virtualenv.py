"""@task.virtualenv."""

from __future__ import annotations

from svc_runtime.record.decorated import task_decorator_factory

from ..operators.python import PythonVirtualenvOperator
from .python import _PythonDecoratedOperator


class _PythonVirtualenvDecoratedOperator(_PythonDecoratedOperator, PythonVirtualenvOperator):
    template_fields = PythonVirtualenvOperator.template_fields
    template_fields_renderers = PythonVirtualenvOperator.template_fields_renderers
    custom_operator_name = "@task.virtualenv"


def virtualenv_task(python_callable=None, multiple_outputs=None, **kwargs):
    return task_decorator_factory(
        python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_PythonVirtualenvDecoratedOperator,
        **kwargs,
    )
