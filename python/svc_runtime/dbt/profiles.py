"""profiles.yml from a connection: what each adapter of dbt calls the fields of a connection of Airflow's. Pure.

Only the task that runs has the secrets; while a file is compiled a profile of the same adapter with nothing real in it stands
for it, because dbt reads no project without one.
"""

from __future__ import annotations

import json
import os

from ..exceptions import AirflowException

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..run.secrets import Connection


class ProfileError(AirflowException):
    """The connection cannot be a profile. Names fields, never what is in them."""


# Enough for dbt to read a project: nothing connects.
STAND_INS: dict[str, dict] = {
    "duckdb": {"path": ":memory:", "schema": "main"},
    "postgres": {"host": "-", "port": 5432, "user": "-", "password": "-", "dbname": "-", "schema": "public"},
    "redshift": {"host": "-", "port": 5439, "user": "-", "password": "-", "dbname": "-", "schema": "public"},
    "snowflake": {"account": "-", "user": "-", "password": "-", "database": "-", "warehouse": "-", "schema": "public"},
    "bigquery": {"method": "oauth", "project": "-", "dataset": "-"},
    "databricks": {"host": "-", "http_path": "-", "token": "-", "schema": "default"},
}

_ADAPTERS = {
    "duckdb": "duckdb",
    "postgres": "postgres",
    "postgresql": "postgres",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "google_cloud_platform": "bigquery",
    "gcpbigquery": "bigquery",
    "bigquery": "bigquery",
    "databricks": "databricks",
}


def stand_in(adapter: str) -> dict:
    known = STAND_INS.get(adapter)
    if known is None:
        raise ProfileError(
            f"what a profile of the adapter {adapter!r} looks like is not known: put a profiles.yml into the project"
        )
    return {"type": adapter, "threads": 1, **known}


def profile_output(connection: Connection, *, profile_args: dict | None = None, project_dir: str = "") -> dict:
    """One output of profiles.yml. `profile_args` are laid over it and win."""
    kind = (connection.conn_type or "").replace("-", "_")
    given = dict(profile_args or {})
    if kind == "dbt":
        output = dict(connection.extra_dejson)
        if not output.get("type") and not given.get("type"):
            raise ProfileError(
                f"the connection {connection.conn_id} is of type dbt: its extra is an output of profiles.yml, and has no 'type'"
            )
    else:
        adapter = _ADAPTERS.get(kind)
        if adapter is None:
            known = ", ".join(sorted({*_ADAPTERS, "dbt"}))
            raise ProfileError(
                f"the connection {connection.conn_id} is of type {kind or 'none'}, which dbt has no profile for here: use one "
                f"of {known} (dbt: its extra is the output of profiles.yml as it is, for any adapter)"
            )
        output = {"type": adapter, **_MAPPINGS[adapter](connection, connection.extra_dejson)}
    output = {name: value for name, value in {**output, **given}.items() if value is not None}
    if output["type"] == "duckdb":
        output["path"] = _duckdb_path(str(output.get("path") or ":memory:"), project_dir)
    output.setdefault("threads", 4)
    return output


def _postgres(connection: Connection, extra: dict) -> dict:
    return {
        "host": connection.host or "localhost",
        "port": connection.port or 5432,
        "user": connection.login,
        "password": connection.password,
        "dbname": connection.schema or extra.get("dbname") or connection.login,
        "schema": extra.get("schema") or "public",
        **{
            name: extra[name]
            for name in ("sslmode", "sslcert", "sslkey", "sslrootcert", "role", "search_path")
            if name in extra
        },
        **{name: extra[name] for name in ("keepalives_idle", "connect_timeout", "retries") if name in extra},
    }


def _redshift(connection: Connection, extra: dict) -> dict:
    return {
        **_postgres(connection, extra),
        "port": connection.port or 5439,
        **{
            name: extra[name] for name in ("method", "cluster_id", "iam_profile", "region", "ra3_node") if name in extra
        },
    }


def _duckdb(connection: Connection, extra: dict) -> dict:
    return {
        "path": extra.get("path") or connection.host or connection.schema or ":memory:",
        "schema": extra.get("schema") or "main",
        **{name: extra[name] for name in ("database", "extensions", "settings", "attach", "secrets") if name in extra},
    }


def _duckdb_path(path: str, project_dir: str) -> str:
    """A file beside the project, unless it says where."""
    if path == ":memory:" or path.startswith(("/", "md:", "motherduck:", "s3:", "ducklake:")):
        return path
    return os.path.normpath(os.path.join(project_dir, path))


def _snowflake(connection: Connection, extra: dict) -> dict:
    keyed = {name.removeprefix("extra__snowflake__"): value for name, value in extra.items()}
    return {
        "account": keyed.get("account") or connection.host,
        "user": connection.login,
        "password": connection.password or None,
        "schema": connection.schema or keyed.get("schema") or "public",
        **{
            name: keyed[name]
            for name in ("role", "warehouse", "database", "region", "authenticator")
            if keyed.get(name)
        },
        **_snowflake_key(connection, keyed),
    }


def _snowflake_key(connection: Connection, extra: dict) -> dict:
    text, path = extra.get("private_key_content"), extra.get("private_key_file")
    if not text and not path:
        return {}
    # With a key pair the password of the connection is that of the key.
    found = {"private_key": text} if text else {"private_key_path": path}
    return {**found, "private_key_passphrase": connection.password or None, "password": None}


def _bigquery(connection: Connection, extra: dict) -> dict:
    keyed = {name.removeprefix("extra__google_cloud_platform__"): value for name, value in extra.items()}
    key = keyed.get("keyfile_dict")
    try:
        key = json.loads(key) if isinstance(key, str) and key.strip() else key
    except ValueError:
        raise ProfileError(f"keyfile_dict of the connection {connection.conn_id} is not JSON") from None
    path = keyed.get("key_path") or keyed.get("keyfile")
    method = (
        {"method": "service-account-json", "keyfile_json": key}
        if key
        else {"method": "service-account", "keyfile": path}
        if path
        else {"method": "oauth"}
    )
    return {
        **method,
        "project": keyed.get("project") or (key or {}).get("project_id"),
        "dataset": keyed.get("dataset") or connection.schema,
        **{name: keyed[name] for name in ("location", "priority", "impersonate_service_account") if keyed.get(name)},
    }


def _databricks(connection: Connection, extra: dict) -> dict:
    return {
        "host": (connection.host or "").removeprefix("https://").rstrip("/"),
        "http_path": extra.get("http_path"),
        "token": extra.get("token") or connection.password,
        "schema": connection.schema or extra.get("schema") or "default",
        **{name: extra[name] for name in ("catalog",) if name in extra},
    }


_MAPPINGS: dict[str, Callable[[Connection, dict], dict]] = {
    "postgres": _postgres,
    "redshift": _redshift,
    "duckdb": _duckdb,
    "snowflake": _snowflake,
    "bigquery": _bigquery,
    "databricks": _databricks,
}


def profiles_text(profile: str, target: str, output: dict) -> str:
    """JSON is YAML, and neither `{{` in a password nor a colon means anything in it: dbt would read Jinja in a value."""
    return json.dumps({profile: {"target": target, "outputs": {target: _unrendered(output)}}}, indent=1)


def _unrendered(value):
    """dbt renders every text of a profile with Jinja; one that looks like a template is wrapped so that it stays what it is."""
    if isinstance(value, dict):
        return {name: _unrendered(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_unrendered(item) for item in value]
    if isinstance(value, str) and any(mark in value for mark in ("{{", "{%", "{#")):
        return "{{ " + json.dumps(value) + " }}"
    return value
