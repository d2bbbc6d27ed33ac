"""@task.bash: the function returns the command."""

from __future__ import annotations

from svc_runtime.exceptions import AirflowException
from svc_runtime.record import current
from svc_runtime.record.decorated import DecoratedOperator, task_decorator_factory
from svc_runtime.record.notset import NOTSET

from ..operators.bash import BashOperator


class _BashDecoratedOperator(DecoratedOperator, BashOperator):
    template_fields = (*DecoratedOperator.template_fields, *BashOperator.template_fields)
    template_fields_renderers = {
        **DecoratedOperator.template_fields_renderers,
        **BashOperator.template_fields_renderers,
    }
    custom_operator_name = "@task.bash"
    svc_set_by_body = ("bash_command",)

    def __init__(self, *, python_callable, op_args=None, op_kwargs=None, multiple_outputs=False, **kwargs) -> None:
        # A line of output is text; only an output_processor makes a dict of it.
        if multiple_outputs and "output_processor" not in kwargs:
            current.warn(
                "`multiple_outputs=True` is not supported in @task.bash tasks without output_processor. Ignoring."
            )
            multiple_outputs = False
        super().__init__(
            python_callable=python_callable,
            op_args=op_args,
            op_kwargs=op_kwargs,
            bash_command=NOTSET,
            multiple_outputs=bool(multiple_outputs),
            **kwargs,
        )

    def execute(self, context):
        from svc_runtime.run.callables import call_with_context, merge_into_context

        merge_into_context(context, self.op_kwargs)
        command = call_with_context(self.python_callable, self.op_args, self.op_kwargs, context)
        if not isinstance(command, str) or not command.strip():
            raise AirflowException("The returned value from the @task.bash callable must be a non-empty string.")
        self.bash_command = command
        self.render_template_fields(context)
        return super().execute(context)


def bash_task(python_callable=None, **kwargs):
    return task_decorator_factory(python_callable, decorated_operator_class=_BashDecoratedOperator, **kwargs)
