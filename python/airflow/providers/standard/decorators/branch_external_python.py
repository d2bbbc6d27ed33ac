"""@task.branch_external_python."""

from __future__ import annotations

from svc_runtime.record.decorated import task_decorator_factory

from ..operators.python import BranchExternalPythonOperator
from .python import _PythonDecoratedOperator


class _BranchExternalPythonDecoratedOperator(_PythonDecoratedOperator, BranchExternalPythonOperator):
    template_fields = BranchExternalPythonOperator.template_fields
    template_fields_renderers = BranchExternalPythonOperator.template_fields_renderers
    custom_operator_name = "@task.branch_external_python"


def branch_external_python_task(python_callable=None, multiple_outputs=None, **kwargs):
    return task_decorator_factory(
        python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_BranchExternalPythonDecoratedOperator,
        **kwargs,
    )
