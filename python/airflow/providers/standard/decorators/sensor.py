"""@task.sensor: the function is the poke."""

from __future__ import annotations

from svc_runtime.record.decorated import (
    bind_arguments,
    check_callable_signature,
    task_decorator_factory,
    unique_task_id,
)

from ..sensors.python import PythonSensor


class DecoratedSensorOperator(PythonSensor):
    template_fields = ("op_args", "op_kwargs")
    template_fields_renderers = {"op_args": "py", "op_kwargs": "py"}
    custom_operator_name = "@task.sensor"

    def __init__(self, *, task_id: str, **kwargs) -> None:
        if not getattr(self, "_svc_detached", False):
            dag, group = self.__dict__["_svc_placement"]
            task_id = unique_task_id(task_id, dag, group)
        bind_arguments(
            check_callable_signature(kwargs["python_callable"]),
            kwargs.get("op_args") or (),
            kwargs.get("op_kwargs") or {},
        )
        super().__init__(task_id=task_id, **kwargs)


def sensor_task(python_callable=None, **kwargs):
    return task_decorator_factory(
        python_callable, multiple_outputs=False, decorated_operator_class=DecoratedSensorOperator, **kwargs
    )
