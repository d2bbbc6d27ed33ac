"""@task.branch."""

from __future__ import annotations

from svc_runtime.record.decorated import task_decorator_factory

from ..operators.python import BranchPythonOperator
from .python import _PythonDecoratedOperator


class _BranchPythonDecoratedOperator(_PythonDecoratedOperator, BranchPythonOperator):
    template_fields = BranchPythonOperator.template_fields
    template_fields_renderers = BranchPythonOperator.template_fields_renderers
    custom_operator_name = "@task.branch"
    svc_keeps_values = True


def branch_task(python_callable=None, multiple_outputs=None, **kwargs):
    return task_decorator_factory(
        python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_BranchPythonDecoratedOperator,
        **kwargs,
    )
