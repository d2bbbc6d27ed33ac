"""BaseHook, logging mixin and notifier base: what providers and authors subclass."""

from __future__ import annotations

import logging

from .secrets import Connection


class LoggingMixin:
    _log = None

    def __init__(self, context=None) -> None:
        pass

    @property
    def log(self) -> logging.Logger:
        if self._log is None:
            self._log = logging.getLogger(f"{type(self).__module__}.{type(self).__name__}")
        return self._log

    @classmethod
    def logger(cls) -> logging.Logger:
        return logging.getLogger(f"{cls.__module__}.{cls.__name__}")


class BaseHook(LoggingMixin):
    def __init__(self, logger_name: str | None = None, **kwargs) -> None:
        super().__init__()
        self._log_config_logger_name = "airflow.task.hooks"
        self._logger_name = logger_name

    @classmethod
    def get_connection(cls, conn_id: str) -> Connection:
        return Connection.get(conn_id)

    @classmethod
    async def aget_connection(cls, conn_id: str) -> Connection:
        return await Connection.async_get(conn_id)

    @classmethod
    def get_hook(cls, conn_id: str, hook_params: dict | None = None):
        return cls.get_connection(conn_id).get_hook(hook_params=hook_params)

    @classmethod
    async def aget_hook(cls, conn_id: str, hook_params: dict | None = None):
        return (await cls.aget_connection(conn_id)).get_hook(hook_params=hook_params)

    def get_conn(self):
        raise NotImplementedError

    @classmethod
    def get_connection_form_widgets(cls) -> dict:
        return {}

    @classmethod
    def get_ui_field_behaviour(cls) -> dict:
        return {}


class BaseNotifier(LoggingMixin):
    """A callback that is an object; its fields may be templates."""

    template_fields = ()
    template_ext = ()

    def __init__(self, context=None, **kwargs) -> None:
        super().__init__()
        self.context = context or {}

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        init = cls.__dict__.get("__init__")
        if init is None or getattr(init, "_svc_wrapped", False):
            return
        import functools

        # Remember the arguments as written; a notifier is recorded by class path and arguments.
        @functools.wraps(init)
        def wrapper(self, *args, **kwargs):
            if "svc_arguments" not in self.__dict__:
                self.__dict__["svc_arguments"] = (args, dict(kwargs))
            init(self, *args, **kwargs)

        vars(wrapper)["_svc_wrapped"] = True
        cls.__init__ = wrapper  # type: ignore[method-assign]

    def notify(self, context) -> None:
        raise NotImplementedError

    async def async_notify(self, context) -> None:
        raise NotImplementedError

    def prepare_template(self) -> None:
        """Called once before templates are rendered."""

    def resolve_template_files(self) -> None:
        from ..record.templating import resolve_files

        resolve_files(self)

    def get_template_env(self, dag=None):
        from ..record.templating import template_environment

        return template_environment(self, dag)

    def render_template(self, content, context, jinja_env=None, seen_oids=None):
        from ..record.templating import render_value

        return render_value(self, content, context, jinja_env)

    def render_template_fields(self, context, jinja_env=None) -> None:
        from ..record.templating import render_fields

        render_fields(self, context, jinja_env)

    def __call__(self, *args) -> None:
        context = args[0] if len(args) == 1 else {"dag": args[0], "task_list": args[1]} if args else {}
        self.render_template_fields(context)
        self.notify(context)
