"""@task.branch_virtualenv."""

from __future__ import annotations

from svc_runtime.record.decorated import task_decorator_factory

from ..operators.python import BranchPythonVirtualenvOperator
from .python import _PythonDecoratedOperator


class _BranchPythonVirtualenvDecoratedOperator(_PythonDecoratedOperator, BranchPythonVirtualenvOperator):
    template_fields = BranchPythonVirtualenvOperator.template_fields
    template_fields_renderers = BranchPythonVirtualenvOperator.template_fields_renderers
    custom_operator_name = "@task.branch_virtualenv"


def branch_virtualenv_task(python_callable=None, multiple_outputs=None, **kwargs):
    return task_decorator_factory(
        python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=_BranchPythonVirtualenvDecoratedOperator,
        **kwargs,
    )
