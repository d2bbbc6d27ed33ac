"""Classes of authors that inherit timetables of partitions and assets, and what they answer: asked of Airflow by partitions.py, and
of the authoring library by python/tests/test_inherited_timetables.py, in the same words."""

from __future__ import annotations

import re

HEAD = """
import datetime
from airflow.partition_mappers.base import PartitionMapper
from airflow.partition_mappers.identity import IdentityMapper
from airflow.sdk import Asset
from airflow.timetables.assets import AssetOrTimeSchedule
from airflow.timetables.base import DagRunInfo, DataInterval, Timetable
from airflow.timetables.interval import CronDataIntervalTimetable, DeltaDataIntervalTimetable
from airflow.timetables.simple import AssetTriggeredTimetable, ContinuousTimetable, NullTimetable, PartitionedAssetTimetable
from airflow.timetables.trigger import CronPartitionTimetable, CronTriggerTimetable, MultipleCronTriggerTimetable
both = Asset("a") & Asset("b")
"""

CLASSES = {
    "partitions of working days": """
class Workdays(CronPartitionTimetable):
    def next_dagrun_info_v2(self, *, last_dagrun_info, restriction):
        info = super().next_dagrun_info_v2(last_dagrun_info=last_dagrun_info, restriction=restriction)
        while info is not None and info.partition_date.weekday() > 4:
            info = super().next_dagrun_info_v2(last_dagrun_info=info, restriction=restriction)
        return info
    @property
    def summary(self):
        return super().summary + " on working days"
timetable = Workdays("0 3 * * *", timezone="Europe/Berlin", run_offset=-1, key_format="%Y-%m-%d")
""",
    "keys of its own": """
class Keyed(CronPartitionTimetable):
    def next_dagrun_info_v2(self, *, last_dagrun_info, restriction):
        info = super().next_dagrun_info_v2(last_dagrun_info=last_dagrun_info, restriction=restriction)
        before = "first" if last_dagrun_info is None else last_dagrun_info.partition_key
        return info and info._replace(partition_key=f"{before[:3]}-{info.partition_key}")
    def generate_run_id(self, *, partition_key=None, **facts):
        return f"own-{partition_key}-" + super().generate_run_id(partition_key=partition_key, **facts)
timetable = Keyed("@daily", timezone="UTC", key_format="%j")
""",
    "partitions asked in the older words": """
class Older(CronPartitionTimetable):
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        raise RuntimeError("nobody asks this")
    def infer_manual_data_interval(self, *, run_after):
        found = super().infer_manual_data_interval(run_after=run_after)
        return DataInterval(found.start - datetime.timedelta(hours=1), found.end)
timetable = Older("30 */6 * * *", timezone="America/New_York")
""",
    "partitions without a schedule of ours": """
class Own(Timetable):
    partitioned = True
    def next_dagrun_info_v2(self, *, last_dagrun_info, restriction):
        at = restriction.earliest if last_dagrun_info is None else last_dagrun_info.run_after + datetime.timedelta(hours=5)
        return DagRunInfo(run_after=at, data_interval=None, partition_date=at, partition_key=at.strftime("%d/%H"))
    def infer_manual_data_interval(self, *, run_after):
        return DataInterval.exact(run_after)
timetable = Own()
""",
    "assets, or time without the first of the month": """
class NotFirst(AssetOrTimeSchedule):
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        info = super().next_dagrun_info(last_automated_data_interval=last_automated_data_interval, restriction=restriction)
        while info is not None and info.data_interval.start.day == 1:
            info = super().next_dagrun_info(last_automated_data_interval=info.data_interval, restriction=restriction)
        return info
    @property
    def summary(self):
        return "not the first: " + super().summary
timetable = NotFirst(timetable=CronDataIntervalTimetable("@daily", timezone="UTC"), assets=both)
""",
    "assets, or manual runs that cover a day": """
class Days(AssetOrTimeSchedule):
    def infer_manual_data_interval(self, *, run_after):
        found = super().infer_manual_data_interval(run_after=run_after)
        return DataInterval(found.end - datetime.timedelta(days=1), found.end)
timetable = Days(timetable=NullTimetable(), assets=both)
""",
    "assets or partitions": """
timetable = AssetOrTimeSchedule(timetable=CronPartitionTimetable("0 3 * * *", timezone="UTC"), assets=both)
""",
    "assets or as often as can be": """
timetable = AssetOrTimeSchedule(timetable=MultipleCronTriggerTimetable("@daily", "0 12 * * 1-5", timezone="UTC"), assets=both)
""",
    "assets, and what the class inherits": """
class Words(AssetTriggeredTimetable):
    @property
    def summary(self):
        return super().summary + "s of mine"
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        return super().next_dagrun_info(last_automated_data_interval=last_automated_data_interval, restriction=restriction)
timetable = Words(both)
""",
    "assets, and runs by time of its own": """
class Hourly(AssetTriggeredTimetable):
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        start = restriction.earliest if last_automated_data_interval is None else last_automated_data_interval.end
        return DagRunInfo.interval(start, start + datetime.timedelta(hours=1))
timetable = Hourly(both)
""",
    "partitions of assets, by a mapper for each": """
class Suffix(PartitionMapper):
    def __init__(self, text):
        self.text = text
    def to_downstream(self, key):
        return key + self.text
class Mine(PartitionedAssetTimetable):
    def get_partition_mapper(self, *, name="", uri=""):
        return Suffix("-" + name) if name == "a" else super().get_partition_mapper(name=name, uri=uri)
    @property
    def summary(self):
        return super().summary + " of mine"
timetable = Mine(assets=both, default_partition_mapper=Suffix("-else"))
""",
}
_ASKED = ("summary", "description", "periodic", "can_be_scheduled", "active_runs_limit", "partitioned")


def _iso(moment):
    return None if moment is None else moment.isoformat()


def _chain(timetable) -> list:
    import pendulum
    from airflow.timetables.base import TimeRestriction

    restriction = TimeRestriction(pendulum.datetime(2026, 3, 27, tz="UTC"), pendulum.datetime(2026, 4, 3, tz="UTC"), True)
    found: list = []
    last = None
    while len(found) < 8:
        last = timetable.next_dagrun_info_v2(last_dagrun_info=last, restriction=restriction)
        if last is None:
            return [*found, None]
        interval = last.data_interval
        dates = None if interval is None else [_iso(interval.start), _iso(interval.end)]
        found.append([_iso(last.run_after), dates, _iso(last.partition_date), last.partition_key])
    return found


def _ids(timetable) -> dict:
    import pendulum
    from airflow.utils.types import DagRunType

    at = pendulum.datetime(2026, 4, 1, 5, tz="UTC")
    ids = {}
    for kind in DagRunType:
        for key in (None, "k"):
            more = {} if key is None else {"partition_key": key}
            text = timetable.generate_run_id(run_type=kind, run_after=at, data_interval=None, **more)
            # Eight characters of chance.
            ids[f"{kind.value} {key}"] = re.sub(r"__[0-9A-Za-z]{8}$", "__?", text)
    return ids


def answers(code: str) -> dict:
    import pendulum

    names: dict = {"__name__": "inherited"}
    exec(HEAD + code, names)  # noqa: S102
    timetable = names["timetable"]
    manual = timetable.infer_manual_data_interval(run_after=pendulum.datetime(2026, 4, 1, 5, tz="UTC"))
    found = {
        "runs": _chain(timetable),
        "manual": [_iso(manual.start), _iso(manual.end)],
        "ids": _ids(timetable),
        **{name: getattr(timetable, name) for name in _ASKED},
    }
    if hasattr(timetable, "get_partition_mapper"):
        found["mapped"] = [timetable.get_partition_mapper(name=name).to_downstream("k") for name in ("a", "b", "c")]
    return found
