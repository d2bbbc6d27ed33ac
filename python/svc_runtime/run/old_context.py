"""Context names of Airflow 2 that are gone in 3, for files that still use them.

Asked for by name they are always there. In everything at once (`**kwargs`, templates) only for versions whose text mentions one:
to all others the context is that of Airflow 3. What has no value of its own (`next_ds`, `prev_ds`: they need the schedule) is
not there, as in Airflow 3; compiling such a file warns.
"""

from __future__ import annotations

import datetime
import re

_MENTIONS = re.compile(r"execution_date|(?:tomorrow|yesterday)_ds|triggering_dataset_events")
_DAY = datetime.timedelta(days=1)

# Whether the version that is loaded mentions one.
_is_mentioned = False


def look_at(texts) -> None:
    """The texts of a version: its DAG file, template files and modules."""
    global _is_mentioned
    _is_mentioned = any(_MENTIONS.search(text) for text in texts)


def _day(shift: datetime.timedelta, form: str):
    return lambda context: (context["logical_date"] + shift).strftime(form)


_OF_DATED_RUNS = {
    "execution_date": lambda context: context["logical_date"],
    "tomorrow_ds": _day(_DAY, "%Y-%m-%d"),
    "tomorrow_ds_nodash": _day(_DAY, "%Y%m%d"),
    "yesterday_ds": _day(-_DAY, "%Y-%m-%d"),
    "yesterday_ds_nodash": _day(-_DAY, "%Y%m%d"),
}
_OF_RUNS = {"prev_execution_date_success": lambda context: context["prev_data_interval_start_success"]}
_BY_DATE = {False: _OF_RUNS, True: {**_OF_RUNS, **_OF_DATED_RUNS}}


def makers(is_dated: bool) -> dict:
    return _BY_DATE[is_dated]


def is_mentioned() -> bool:
    return _is_mentioned
