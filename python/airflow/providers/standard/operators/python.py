"""PythonOperator and its branching, short-circuiting, virtualenv and external-interpreter variants."""

from __future__ import annotations

from collections.abc import Sequence

from svc_runtime.exceptions import AirflowException
from svc_runtime.record.base_args import as_list
from svc_runtime.record.operator import BaseAsyncOperator
from svc_runtime.run.callables import call_with_context, merge_into_context
from svc_runtime.run.logs import note

from .branch import BaseBranchOperator, skip_downstream

# A page of a value is enough to recognise it; all of it is in the XCom.
_SHOWN = 4000


def is_venv_installed() -> bool:
    import importlib.util

    return importlib.util.find_spec("venv") is not None


def get_current_context():
    from svc_runtime.run.current import get_current_context as current

    return current()


class PythonOperator(BaseAsyncOperator):
    template_fields: Sequence[str] = ("templates_dict", "op_args", "op_kwargs")
    template_fields_renderers = {"templates_dict": "json", "op_args": "py", "op_kwargs": "py"}
    ui_color = "#ffefeb"
    shallow_copy_attrs = ("python_callable", "op_kwargs")

    def __init__(
        self,
        *,
        python_callable,
        op_args=None,
        op_kwargs=None,
        templates_dict: dict | None = None,
        templates_exts=None,
        show_return_value_in_logs: bool = True,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if not callable(python_callable):
            raise AirflowException("`python_callable` param must be callable")
        self.python_callable = python_callable
        self.op_args = op_args or ()
        self.op_kwargs = op_kwargs or {}
        self.templates_dict = templates_dict
        if templates_exts:
            self.template_ext = templates_exts
        self.show_return_value_in_logs = show_return_value_in_logs

    def execute(self, context):
        merge_into_context(context, self.op_kwargs, templates_dict=self.templates_dict)
        self._context = context
        value = self.execute_callable()
        if self.show_return_value_in_logs:
            shown = str(value)
            note(self.log, f"Done. Returned value was: {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'}")
        else:
            note(self.log, "Done. Returned value not shown")
        return value

    def execute_callable(self):
        return call_with_context(self.python_callable, self.op_args, self.op_kwargs, self._context)


class BranchPythonOperator(BaseBranchOperator, PythonOperator):
    def choose_branch(self, context):
        return PythonOperator.execute(self, context)


class ShortCircuitOperator(PythonOperator):
    inherits_from_skipmixin = True

    def __init__(self, *, ignore_downstream_trigger_rules: bool = True, **kwargs) -> None:
        super().__init__(**kwargs)
        self.ignore_downstream_trigger_rules = ignore_downstream_trigger_rules

    def execute(self, context):
        condition = super().execute(context)
        if condition:
            return condition
        # Either everything below is skipped, or only the next tasks and trigger rules decide further on.
        below = self.get_flat_relative_ids() if self.ignore_downstream_trigger_rules else self.downstream_task_ids
        skipped = sorted(task_id for task_id in below if not self.dag.get_task(task_id).is_teardown)
        if skipped:
            context["ti"].xcom_push(key="skipmixin_key", value={"skipped": skipped})
            skip_downstream(context["ti"], skipped)
        return condition


class _BasePythonVirtualenvOperator(PythonOperator):
    def __init__(
        self,
        *,
        python_callable,
        serializer: str | None = None,
        op_args=None,
        op_kwargs=None,
        string_args=None,
        templates_dict=None,
        templates_exts=None,
        expect_airflow: bool = True,
        skip_on_exit_code=None,
        env_vars: dict | None = None,
        inherit_env: bool = True,
        **kwargs,
    ) -> None:
        if getattr(python_callable, "__name__", "") == "<lambda>":
            raise ValueError(f"{type(self).__name__} only supports functions for python_callable arg")
        serializer = serializer or "pickle"
        if serializer not in ("pickle", "cloudpickle", "dill"):
            raise AirflowException(
                f"Unsupported serializer {serializer!r}. Expected one of 'pickle', 'cloudpickle', 'dill'"
            )
        super().__init__(
            python_callable=python_callable,
            op_args=op_args,
            op_kwargs=op_kwargs,
            templates_dict=templates_dict,
            templates_exts=templates_exts,
            **kwargs,
        )
        self.string_args = string_args or []
        self.serializer = serializer
        self.expect_airflow = expect_airflow
        self.skip_on_exit_code = [] if skip_on_exit_code is None else as_list(skip_on_exit_code)
        self.env_vars = env_vars
        self.inherit_env = inherit_env

    def interpreter(self, context, folder: str) -> str:
        raise NotImplementedError

    def execute_callable(self):
        from svc_runtime.run.foreign_python import run_in_interpreter

        return run_in_interpreter(self, self._context)


class PythonVirtualenvOperator(_BasePythonVirtualenvOperator):
    template_fields = (
        "templates_dict",
        "op_args",
        "op_kwargs",
        "requirements",
        "index_urls",
        "index_urls_from_connection_ids",
        "venv_cache_path",
    )
    template_ext = (".txt",)

    def __init__(
        self,
        *,
        python_callable,
        requirements=None,
        python_version: str | None = None,
        serializer: str | None = None,
        system_site_packages: bool = True,
        pip_install_options: list | None = None,
        op_args=None,
        op_kwargs=None,
        string_args=None,
        templates_dict=None,
        templates_exts=None,
        expect_airflow: bool = True,
        skip_on_exit_code=None,
        index_urls=None,
        index_urls_from_connection_ids=None,
        venv_cache_path=None,
        env_vars: dict | None = None,
        inherit_env: bool = True,
        use_dill: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(
            python_callable=python_callable,
            serializer="dill" if use_dill else serializer,
            op_args=op_args,
            op_kwargs=op_kwargs,
            string_args=string_args,
            templates_dict=templates_dict,
            templates_exts=templates_exts,
            expect_airflow=expect_airflow,
            skip_on_exit_code=skip_on_exit_code,
            env_vars=env_vars,
            inherit_env=inherit_env,
            **kwargs,
        )
        self.requirements = [requirements] if isinstance(requirements, str) else list(requirements or [])
        self.python_version = python_version
        self.system_site_packages = system_site_packages
        self.pip_install_options = pip_install_options or []
        self.index_urls = as_list(index_urls) if index_urls is not None else None
        self.index_urls_from_connection_ids = (
            as_list(index_urls_from_connection_ids) if index_urls_from_connection_ids is not None else None
        )
        self.venv_cache_path = venv_cache_path

    def interpreter(self, context, folder: str) -> str:
        from svc_runtime.run.foreign_python import prepare_virtualenv

        return prepare_virtualenv(self, folder)

    def svc_index_urls(self) -> list:
        from ..hooks.package_index import PackageIndexHook

        named = self.index_urls_from_connection_ids or []
        return [*(self.index_urls or []), *(PackageIndexHook(conn_id).get_connection_url() for conn_id in named)]


class ExternalPythonOperator(_BasePythonVirtualenvOperator):
    template_fields = ("templates_dict", "op_args", "op_kwargs", "python")

    def __init__(
        self,
        *,
        python: str,
        python_callable,
        serializer: str | None = None,
        op_args=None,
        op_kwargs=None,
        string_args=None,
        templates_dict=None,
        templates_exts=None,
        expect_airflow: bool = True,
        expect_pendulum: bool = False,
        skip_on_exit_code=None,
        env_vars: dict | None = None,
        inherit_env: bool = True,
        use_dill: bool = False,
        **kwargs,
    ) -> None:
        if not python:
            raise ValueError("Python Path must be defined in ExternalPythonOperator")
        super().__init__(
            python_callable=python_callable,
            serializer="dill" if use_dill else serializer,
            op_args=op_args,
            op_kwargs=op_kwargs,
            string_args=string_args,
            templates_dict=templates_dict,
            templates_exts=templates_exts,
            expect_airflow=expect_airflow,
            skip_on_exit_code=skip_on_exit_code,
            env_vars=env_vars,
            inherit_env=inherit_env,
            **kwargs,
        )
        self.python = python
        self.expect_pendulum = expect_pendulum

    def interpreter(self, context, folder: str) -> str:
        return self.python


class BranchPythonVirtualenvOperator(BaseBranchOperator, PythonVirtualenvOperator):
    def choose_branch(self, context):
        return PythonVirtualenvOperator.execute(self, context)


class BranchExternalPythonOperator(BaseBranchOperator, ExternalPythonOperator):
    def choose_branch(self, context):
        return ExternalPythonOperator.execute(self, context)
