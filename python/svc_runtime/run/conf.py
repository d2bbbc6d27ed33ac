"""`airflow.configuration.conf`: settings that authors read, strongest first:

the environment (AIRFLOW__SECTION__KEY), what svc itself knows (the folders, the address of the web UI, the executor),
`airflow.cfg` of the repository (AIRFLOW_CONFIG, else in AIRFLOW_HOME, else above the DAGs folder), Airflow's documented defaults,
the defaults that installed provider packages declare for their settings.

Secrets of a control plane (database address, keys) are never readable, whoever set them: a DAG file has no use for them.
"""

from __future__ import annotations

import configparser
import datetime
import json
import os

from ..exceptions import AirflowConfigException
from ..record import current as recording
from .conf_defaults import DEFAULTS

# Not Airflow's: these are what is true here.
_OWN_DEFAULTS = {
    ("core", "load_examples"): "False",
    ("core", "unit_test_mode"): "False",
    ("api", "base_url"): "http://localhost:8080/",
    ("webserver", "base_url"): "http://localhost:8080/",
    ("email", "email_backend"): "airflow.utils.email.send_email_smtp",
    ("smtp", "smtp_mail_from"): "",
    # A process that a task forks is answered nothing: what extractors ask for (connections, variables) would be missing in events.
    ("openlineage", "execute_in_thread"): "True",
}
_SECRET = {
    ("core", "fernet_key"),
    ("core", "sql_alchemy_conn"),
    ("database", "sql_alchemy_conn"),
    ("database", "sql_alchemy_conn_async"),
    ("api", "secret_key"),
    ("webserver", "secret_key"),
    ("api_auth", "jwt_secret"),
    ("celery", "broker_url"),
    ("celery", "result_backend"),
    ("celery", "flower_basic_auth"),
    ("secrets", "backend_kwargs"),
}
_MISSING = object()
_TRUE = ("t", "true", "1")
_FALSE = ("f", "false", "0")


def _own(section: str, key: str) -> str | None:
    """What svc knows by itself."""
    from . import current

    folder = os.environ.get("SVC_DAGS_FOLDER") or os.getcwd()
    if section in ("api", "webserver") and key == "base_url":
        return current.base_url or None  # links in mails are made from it
    if section == "core" and key == "dags_folder":
        return folder
    if section == "core" and key == "plugins_folder":
        return os.path.join(folder, "plugins")
    if section == "core" and key == "executor":
        return "KubernetesExecutor" if "KUBERNETES_SERVICE_HOST" in os.environ else "LocalExecutor"
    return None


def _places() -> list[str]:
    """Where the repository's airflow.cfg may be."""
    named = os.environ.get("AIRFLOW_CONFIG")
    if named:
        return [named]
    folder = os.environ.get("SVC_DAGS_FOLDER") or os.getcwd()
    homes = [os.environ.get("AIRFLOW_HOME"), folder, os.path.dirname(folder)]
    return [os.path.join(home, "airflow.cfg") for home in homes if home]


class _Files:
    """The file that was read last: a process asks for the same one again and again."""

    def __init__(self) -> None:
        self._known: tuple[str, float] | None = None
        self._values: dict[str, dict[str, str]] = {}

    def read(self) -> dict[str, dict[str, str]]:
        for path in _places():
            try:
                changed = os.stat(path).st_mtime
            except OSError:
                continue
            if self._known != (path, changed):
                self._values = _parse(path)
                self._known = (path, changed)
            return self._values
        return {}


def _parse(path: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise AirflowConfigException(f"{path} cannot be read: {error}") from error
    return {section.lower(): dict(parser.items(section)) for section in parser.sections()}


_files = _Files()


def _found(section: str, key: str) -> str | None:
    value = os.environ.get(f"AIRFLOW__{section.replace('.', '_').upper()}__{key.upper()}")
    if value is None:
        value = _own(section, key)
    if value is None:
        value = _files.read().get(section, {}).get(key)
    if value is None:
        value = _OWN_DEFAULTS.get((section, key))
    if value is None:
        value = DEFAULTS.get(section, {}).get(key)
    return _of_providers().default_setting(section, key) if value is None else value


def settings_of_repository() -> dict[str, dict[str, str]]:
    """By section, what airflow.cfg and the environment say; without defaults. A file that cannot be read says nothing."""
    try:
        found = {section: dict(values) for section, values in _files.read().items()}
    except AirflowConfigException:
        found = {}
    reads = recording.reads
    for name, value in (os.environ if reads is None else reads.environment("AIRFLOW__")).items():
        _, _, setting = name.partition("AIRFLOW__")
        section, mark, key = setting.lower().partition("__")
        if mark and name.startswith("AIRFLOW__"):
            found.setdefault(section, {})[key] = value
    return found


def _of_providers():
    # Only when it is asked: most files read no setting, and the metadata of many packages takes a moment.
    from .providers_manager import ProvidersManager

    return ProvidersManager()


class _Conf:
    def get(self, section: str, key: str, fallback=_MISSING, **_):
        section, key = section.lower(), key.lower()
        if (section, key) in _SECRET:
            raise AirflowConfigException(
                f"section/key [{section}/{key}] is a secret of the control plane, which DAG files and tasks cannot read; use a "
                "connection or a variable"
            )
        value = _found(section, key)
        if value is not None:
            return value
        if fallback is _MISSING:
            raise AirflowConfigException(f"section/key [{section}/{key}] not found in config")
        return fallback

    get_mandatory_value = get

    def _converted(self, section: str, key: str, kind: str, convert, **kwargs):
        value = self.get(section, key, **kwargs)
        if not isinstance(value, str):
            return value  # the author's own fallback
        try:
            return convert(value)
        except ValueError:
            raise AirflowConfigException(
                f'Failed to convert value to {kind}. Please check "{key}" key in "{section}" section. Current value: "{value}".'
            ) from None

    def getboolean(self, section: str, key: str, **kwargs) -> bool:
        return self._converted(section, key, "bool", _boolean, **kwargs)

    def getint(self, section: str, key: str, **kwargs) -> int:
        return self._converted(section, key, "int", int, **kwargs)

    def getfloat(self, section: str, key: str, **kwargs) -> float:
        return self._converted(section, key, "float", float, **kwargs)

    def gettimedelta(self, section: str, key: str, fallback=None, **kwargs):
        """In seconds; None for a setting that is empty."""
        value = self.get(section, key, fallback=fallback)
        if not isinstance(value, str) or not value:
            return value or None
        return self._converted(section, key, "int", lambda text: datetime.timedelta(seconds=int(text)), **kwargs)

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
        if not text:  # an empty value is none, as on Airflow
            return fallback
        try:
            return json.loads(text)
        except ValueError as error:
            raise AirflowConfigException(f"section/key [{section}/{key}] is not JSON: {error}") from error

    def getenum(self, section: str, key: str, enum_class, **kwargs):
        value = self.get(section, key, **kwargs)
        if not isinstance(value, str):
            return value
        known = [member.name for member in enum_class]
        if value not in known:
            raise AirflowConfigException(
                f"Value for [{section}] {key} must be one of {', '.join(known)}; the current value is {value}"
            )
        return enum_class[value]

    def getlist(self, section: str, key: str, fallback=_MISSING, delimiter: str = ",", **_):
        value = self.get(section, key, fallback=fallback)
        if not isinstance(value, str):
            return value
        return [item.strip() for item in value.split(delimiter)] if value else []

    def has_option(self, section: str, option: str, **_) -> bool:
        if (section.lower(), option.lower()) in _SECRET:
            return False
        return self.get(section, option, fallback=None) is not None

    def has_section(self, section: str) -> bool:
        return bool(self.getsection(section))

    def getsection(self, section: str) -> dict:
        section = section.lower()
        prefix = f"AIRFLOW__{section.replace('.', '_').upper()}__"
        names = {
            *DEFAULTS.get(section, {}),
            *(key for name, key in _OWN_DEFAULTS if name == section),
            *_of_providers().settings_of(section),
            *_files.read().get(section, {}),
            *(name[len(prefix) :].lower() for name in os.environ if name.startswith(prefix)),
        }
        found = {name: _found(section, name) for name in sorted(names) if (section, name) not in _SECRET}
        return {name: value for name, value in found.items() if value is not None}


def _boolean(value: str) -> bool:
    word = value.split("#", maxsplit=1)[0].strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(word)


conf = _Conf()
