"""@task.external_python."""

from __future__ import annotations

from svc_runtime.record.decorated import task_decorator_factory

from ..operators.python import ExternalPythonOperator
from .python import _PythonDecoratedOperator


class _PythonExternalDecoratedOperator(_PythonDecoratedOperator, ExternalPythonOperator):
    template_fields = ExternalPythonOperator.template_fields
    template_fields_renderers = ExternalPythonOperator.template_fields_renderers
    custom_operator_name = "@task.external_python"


def external_python_task(python=None, python_callable=None, multiple_outputs=None, **kwargs):
    if python is not None and not callable(python):
        kwargs["python"] = python
    elif callable(python):
        python_callable = python
    return task_decorator_factory(
        python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_PythonExternalDecoratedOperator,
        **kwargs,
    )
