"""@task."""

from __future__ import annotations

from svc_runtime.record.decorated import DecoratedOperator, task_decorator_factory

from ..operators.python import PythonOperator


class _PythonDecoratedOperator(DecoratedOperator, PythonOperator):
    template_fields = PythonOperator.template_fields
    template_fields_renderers = PythonOperator.template_fields_renderers
    custom_operator_name = "@task"
    svc_keeps_values = True

    def __init__(self, *, python_callable, op_args=None, op_kwargs=None, **kwargs) -> None:
        super().__init__(
            python_callable=python_callable,
            op_args=op_args,
            op_kwargs=op_kwargs,
            # The operator class behind wants them as well; its own __init__ keeps them under the same names.
            kwargs_to_upstream={"python_callable": python_callable, "op_args": op_args, "op_kwargs": op_kwargs},
            **kwargs,
        )


def python_task(python_callable=None, multiple_outputs=None, **kwargs):
    return task_decorator_factory(
        python_callable, multiple_outputs=multiple_outputs, decorated_operator_class=_PythonDecoratedOperator, **kwargs
    )
