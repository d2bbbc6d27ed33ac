"""`airflow.providers.common.compat` where its package is not installed: what is not simply one of our own names."""

from __future__ import annotations

import functools

from ..exceptions import AirflowOptionalProviderFeatureException
from ..run.secrets import Connection

# We are Airflow 3.2 (see airflow/__init__.py).
AIRFLOW_V_3_0_PLUS = True
AIRFLOW_V_3_1_PLUS = True
AIRFLOW_V_3_2_PLUS = True
AIRFLOW_V_3_3_PLUS = False
AIRFLOW_V_3_4_PLUS = False


async def get_async_connection(conn_id: str) -> Connection:
    return await Connection.async_get(conn_id)


async def get_async_extra_dejson(connection) -> dict:
    return connection.extra_dejson


async def get_async_hook(conn_id: str, hook_params: dict | None = None):
    return (await Connection.async_get(conn_id)).get_hook(hook_params=hook_params)


def require_provider_version(provider_name: str, provider_min_version: str):
    """The function needs that version of another provider, and says so where it is missing."""

    def decorate(func):
        @functools.wraps(func)
        def checked(*args, **kwargs):
            from ..run.providers_manager import ProvidersManager

            found = ProvidersManager().providers.get(provider_name)
            if found is None or _numbers(found.version) < _numbers(provider_min_version):
                has = f"version {found.version}" if found else "not installed"
                raise AirflowOptionalProviderFeatureException(
                    f"{func.__qualname__} needs {provider_name} {provider_min_version} or newer, which is {has}"
                )
            return func(*args, **kwargs)

        return checked

    return decorate


def _numbers(version: str) -> tuple:
    import re

    return tuple(int(part) for part in re.findall(r"\d+", version.split("+", maxsplit=1)[0]))
