"""@task.stub: a task whose body lives in another language or system; only its place in the graph is recorded."""

from __future__ import annotations

from svc_runtime.exceptions import RecordingError
from svc_runtime.record.decorated import DecoratedOperator, task_decorator_factory


class _StubOperator(DecoratedOperator):
    custom_operator_name = "@task.stub"

    def __init__(self, *, python_callable, task_id: str, **kwargs) -> None:
        if python_callable(*[None] * _arity(python_callable)) is not None:
            raise ValueError("Functions passed to @task.stub must be an empty function (`pass`, or `...` only)")
        super().__init__(python_callable=python_callable, task_id=task_id, **kwargs)

    def execute(self, context):
        raise RecordingError("@task.stub tasks have no body", "Run them with the worker their queue belongs to")


def _arity(function) -> int:
    import inspect

    parameters = inspect.signature(function).parameters.values()
    return sum(1 for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


def stub(python_callable=None, queue=None, executor=None, **kwargs):
    if queue is not None:
        kwargs["queue"] = queue
    if executor is not None:
        kwargs["executor"] = executor
    return task_decorator_factory(python_callable, decorated_operator_class=_StubOperator, **kwargs)
