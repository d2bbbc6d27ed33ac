"""`airflow.configuration.conf`: the environment (AIRFLOW__SECTION__KEY) over a few defaults authors ask for."""

from __future__ import annotations

import json
import os

from ..exceptions import AirflowConfigException

_DEFAULTS = {
    ("core", "default_timezone"): "utc",
    ("core", "parallelism"): "32",
    ("core", "max_active_tasks_per_dag"): "16",
    ("core", "max_active_runs_per_dag"): "16",
    ("core", "load_examples"): "False",
    ("core", "unit_test_mode"): "False",
    ("operators", "default_owner"): "airflow",
    ("operators", "default_queue"): "default",
    ("operators", "default_deferrable"): "False",
    ("scheduler", "catchup_by_default"): "False",
    ("api", "base_url"): "http://localhost:8080/",
    ("webserver", "base_url"): "http://localhost:8080/",
    ("email", "email_backend"): "airflow.utils.email.send_email_smtp",
    ("smtp", "smtp_mail_from"): "",
}
_MISSING = object()


def _base_url_of_job() -> str | None:
    """`server.base_url`, in a task: links in mails are made from it."""
    from . import current

    return current.base_url or None


class _Conf:
    def get(self, section: str, key: str, fallback=_MISSING, **_):
        value = os.environ.get(f"AIRFLOW__{section.upper()}__{key.upper()}")
        if value is None and key.lower() == "base_url" and section.lower() in ("api", "webserver"):
            value = _base_url_of_job()
        if value is None:
            value = _DEFAULTS.get((section.lower(), key.lower()))
        if value is None and section.lower() == "core" and key.lower() == "dags_folder":
            value = os.environ.get("SVC_DAGS_FOLDER") or os.getcwd()
        if value is not None:
            return value
        if fallback is _MISSING:
            raise AirflowConfigException(f"section/key [{section}/{key}] not found in config")
        return fallback

    get_mandatory_value = get

    def getboolean(self, section: str, key: str, **kwargs) -> bool:
        value = self.get(section, key, **kwargs)
        return value if isinstance(value, bool) else str(value).strip().lower() in ("t", "true", "1")

    def getint(self, section: str, key: str, **kwargs) -> int:
        return int(self.get(section, key, **kwargs))

    def getfloat(self, section: str, key: str, **kwargs) -> float:
        return float(self.get(section, key, **kwargs))

    def getimport(self, section: str, key: str, **kwargs):
        """The object that the setting names; None when it is empty."""
        path = self.get(section, key, **kwargs)
        if not path:
            return None
        from .helpers import import_string

        try:
            return import_string(path)
        except (ImportError, AttributeError) as error:
            raise AirflowConfigException(f"section/key [{section}/{key}] names {path}: {error}") from error

    def getjson(self, section: str, key: str, fallback=None, **_):
        text = self.get(section, key, fallback=None)
        if text is None:
            return fallback
        try:
            return json.loads(text)
        except ValueError as error:
            raise AirflowConfigException(f"section/key [{section}/{key}] is not JSON: {error}") from error

    def getlist(self, section: str, key: str, fallback=_MISSING, delimiter: str = ",", **_):
        value = self.get(section, key, fallback=fallback)
        return [item.strip() for item in value.split(delimiter)] if isinstance(value, str) else value

    def has_option(self, section: str, option: str) -> bool:
        return self.get(section, option, fallback=None) is not None

    def getsection(self, section: str) -> dict:
        prefix = f"AIRFLOW__{section.upper()}__"
        found = {key: value for (name, key), value in _DEFAULTS.items() if name == section.lower()}
        found.update({k[len(prefix) :].lower(): v for k, v in os.environ.items() if k.startswith(prefix)})
        return found


conf = _Conf()
