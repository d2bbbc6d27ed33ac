"""`task`: callable itself, with one attribute per flavour, plus run_if and skip_if."""

from __future__ import annotations

import functools
import importlib

from ..exceptions import RecordingError

_STANDARD = {
    "python": ("python", "python_task"),
    "virtualenv": ("python_virtualenv", "virtualenv_task"),
    "external_python": ("external_python", "external_python_task"),
    "branch": ("branch_python", "branch_task"),
    "branch_virtualenv": ("branch_virtualenv", "branch_virtualenv_task"),
    "branch_external_python": ("branch_external_python", "branch_external_python_task"),
    "short_circuit": ("short_circuit", "short_circuit_task"),
    "sensor": ("sensor", "sensor_task"),
    "bash": ("bash", "bash_task"),
    "stub": ("stub", "stub"),
}

# Flavours that come with provider packages: class path of the operator behind each.
_PROVIDER = {
    "docker": "airflow.providers.docker.decorators.docker._DockerDecoratedOperator",
    "kubernetes": "airflow.providers.cncf.kubernetes.decorators.kubernetes._KubernetesDecoratedOperator",
    "kubernetes_cmd": "airflow.providers.cncf.kubernetes.decorators.kubernetes_cmd._KubernetesCmdDecoratedOperator",
    "pyspark": "airflow.providers.apache.spark.decorators.pyspark._PySparkDecoratedOperator",
    "snowpark": "airflow.providers.snowflake.decorators.snowpark._SnowparkDecoratedOperator",
    "sql": "airflow.providers.common.sql.decorators.sql._SQLDecoratedOperator",
}


def _with_condition(decorator_name: str, condition, skip_message: str, run_when: bool):
    """run_if/skip_if act before the body: the check is kept beside the task and done by the runner."""

    def apply(task):
        from ..record.decorated import TaskDecorator

        if not isinstance(task, TaskDecorator):
            raise TypeError(f"{decorator_name} can only be used with task. decorate with @task before it")
        earlier = task.kwargs.get("pre_execute")

        def check(context):
            if earlier is not None:
                earlier(context)
            verdict = condition(context)
            allowed, message = verdict if isinstance(verdict, tuple) else (verdict, None)
            if bool(allowed) is not run_when:
                from ..exceptions import AirflowSkipException

                raise AirflowSkipException(message or skip_message)

        functools.update_wrapper(check, condition)
        vars(check)["svc_condition"] = decorator_name
        task.kwargs["pre_execute"] = check
        return task

    return apply


class TaskDecoratorCollection:
    def __init__(self, dag=None) -> None:
        # Of `@dag.task`.
        self._dag = dag

    def __call__(self, python_callable=None, *args, **kwargs):
        if args:
            raise TypeError("No args allowed while using @task, use kwargs instead")
        return self.python(python_callable, **kwargs)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        flavour = self._flavour(name)
        return flavour if self._dag is None else functools.partial(flavour, dag=self._dag)

    @staticmethod
    def _flavour(name: str):
        if name in _STANDARD:
            module, attribute = _STANDARD[name]
            return getattr(importlib.import_module(f"airflow.providers.standard.decorators.{module}"), attribute)
        installed = _installed_flavour(name)
        if installed is not None:
            return installed
        if name in _PROVIDER:
            return _provider_flavour(_PROVIDER[name], name)
        raise RecordingError(
            f"@task.{name} is not a known task decorator",
            f"Known ones are {', '.join(sorted([*_STANDARD, *_PROVIDER]))}; use the provider's operator class instead",
        )

    def run_if(self, condition, skip_message: str | None = None):
        return _with_condition("run_if", condition, skip_message or "Skipped by run_if", run_when=True)

    def skip_if(self, condition, skip_message: str | None = None):
        return _with_condition("skip_if", condition, skip_message or "Skipped by skip_if", run_when=False)


def _installed_flavour(name: str):
    """As a provider package in this environment declares it."""
    from ..run.providers_manager import ProvidersManager

    path = ProvidersManager().taskflow_decorators.get(name)
    module, _, function = (path or "").rpartition(".")
    return getattr(importlib.import_module(module), function) if module else None


def _provider_flavour(class_path: str, name: str):
    from ..record.decorated import task_decorator_factory
    from ..record.provider_stubs import decorated_provider_class

    def flavour(python_callable=None, multiple_outputs=None, **kwargs):
        return task_decorator_factory(
            python_callable,
            multiple_outputs=multiple_outputs,
            decorated_operator_class=decorated_provider_class(class_path, f"@task.{name}"),
            **kwargs,
        )

    return flavour


task = TaskDecoratorCollection()
