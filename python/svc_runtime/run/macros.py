"""`macros` in templates and `airflow.macros` in files; a plugin's are added as `macros.<plugin>` (plugins/loader.py)."""

from __future__ import annotations

import datetime as _datetime
import json  # noqa: F401  re-exported for templates
import time  # noqa: F401
from datetime import datetime, timedelta  # noqa: F401

from ..enums import WeekDay  # noqa: F401


def ds_add(ds: str, days: int) -> str:
    if not days:
        return str(ds)
    return (_datetime.datetime.strptime(str(ds), "%Y-%m-%d") + timedelta(days=days)).strftime("%Y-%m-%d")


def ds_format(ds: str, input_format: str, output_format: str) -> str:
    return _datetime.datetime.strptime(str(ds), input_format).strftime(output_format)


def ds_format_locale(ds: str, input_format: str, output_format: str, locale=None) -> str:
    """`output_format` in the language of Babel and CLDR (`EEEE dd MMMM yyyy`); by Babel itself where it is installed."""
    from .locale_dates import format_date

    return format_date(_datetime.datetime.strptime(str(ds), input_format), output_format, locale)


def datetime_diff_for_humans(dt, since=None) -> str:
    import pendulum

    return pendulum.instance(dt).diff_for_humans(pendulum.instance(since) if since else None)


def __getattr__(name: str):
    if name == "random":
        from random import random  # the function, as in Airflow; its work after every fork is for those who use it

        return random
    if name == "uuid":
        import uuid

        return uuid
    if name == "dateutil":
        import dateutil.parser
        import dateutil.relativedelta

        return dateutil
    if name == "yaml":
        import importlib

        try:
            return importlib.import_module("yaml")
        except ModuleNotFoundError:
            raise ModuleNotFoundError("macros.yaml needs PyYAML: add it to the project's dependencies") from None
    raise AttributeError(name)
