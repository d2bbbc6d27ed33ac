"""Writes packages/spec/timetables/partitions-golden.json: what partition mappers and CronPartitionTimetable of Airflow 3.2.2 answer.

    node packages/testing/airflow/install-airflow.ts
    .cache/airflow-3.2.2/bin/python scripts/golden/partitions.py

Only public behaviour is recorded: to_downstream() of the mappers, next_dagrun_info_v2() of the timetable, and what classes of
authors (inherited_timetables.py) get from the partition and asset timetables that they inherit.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "packages" / "spec" / "timetables" / "partitions-golden.json"
os.environ.setdefault("AIRFLOW_HOME", str(Path(sys.prefix) / "home"))
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
warnings.simplefilter("ignore")

import pendulum  # noqa: E402
from airflow.partition_mappers import temporal  # noqa: E402
from airflow.partition_mappers.allowed_key import AllowedKeyMapper  # noqa: E402
from airflow.partition_mappers.chain import ChainMapper  # noqa: E402
from airflow.partition_mappers.identity import IdentityMapper  # noqa: E402
from airflow.partition_mappers.product import ProductMapper  # noqa: E402
from airflow.timetables.base import TimeRestriction  # noqa: E402
from airflow.timetables.trigger import CronPartitionTimetable  # noqa: E402
from inherited_timetables import CLASSES, answers  # noqa: E402

UNITS = ("hour", "day", "week", "month", "quarter", "year")
PLAIN = "%Y-%m-%dT%H:%M:%S"
KEYS = [
    "2026-05-07T13:14:15",
    "2026-02-28T23:59:59",
    "2024-02-29T00:00:00",
    "2025-12-31T05:00:00",
    "2026-1-1T1:2:3",
    "2021-01-03T12:00:00",
    "2026-02-30T00:00:00",
    "2026-05-07",
    "nope",
]
FORMATS = [
    ("%Y/%m/%d %H", ["2026/05/07 13", "2026/12/31 00"], "%d.%m.%y %I%p %j"),
    ("%Y%m%d", ["20260507", "20260101"], "%G-W%V-%u %a %A %b %B %w"),
    ("%d %B %Y %I:%M %p", ["7 May 2026 11:05 PM", "07 may 2026 12:00 am"], "%Y-%m-%dT%H:%M:%S.%f%%"),
    ("%Y-%m-%dT%H:%M:%S%z", ["2026-03-29T02:30:00+0100", "2026-01-01T01:02:03Z", "2026-01-01T01:02:03-05:30"], "%Y-%m-%dT%H%z"),
    ("%G-%V-%u", ["2026-53-7", "2020-01-1"], "%Y-%m-%d"),
    ("%y-%j", ["26-365", "70-001"], "%Y-%m-%d"),
]


def spec(unit: str, input_format: str, output_format: str, timezone: str) -> dict:
    return {
        "mapper": "start_of",
        "unit": unit,
        "input_format": input_format,
        "output_format": output_format,
        "timezone": timezone,
    }


def answer(mapper, key: str):
    try:
        return mapper.to_downstream(key)
    except ValueError:
        return None


def mapped() -> list:
    cases = []
    for unit in UNITS:
        kind = getattr(temporal, f"StartOf{unit.capitalize()}Mapper")
        mapper = kind()
        for key in KEYS:
            cases.append([spec(unit, PLAIN, mapper.output_format, "UTC"), key, answer(mapper, key)])
        for input_format, keys, output_format in FORMATS:
            for zone in ("UTC", "Europe/Berlin", "Asia/Tokyo"):
                mapper = kind(input_format=input_format, output_format=output_format, timezone=zone)
                cases += [[spec(unit, input_format, output_format, zone), key, answer(mapper, key)] for key in keys]
    day = temporal.StartOfDayMapper()
    day_spec = spec("day", PLAIN, "%Y-%m-%d", "UTC")
    month = temporal.StartOfMonthMapper(input_format="%Y-%m-%d")
    chain = {"mapper": "chain", "mappers": [day_spec, spec("month", "%Y-%m-%d", "%Y-%m", "UTC")]}
    product = {"mapper": "product", "mappers": [{"mapper": "identity"}, day_spec], "delimiter": "|"}
    allowed = {"mapper": "allowed", "keys": ["a", "b"]}
    for key in ("us|2026-05-07T13:14:15", "us", "a|b|c", "|2026-05-07T13:14:15"):
        cases.append([product, key, answer(ProductMapper(IdentityMapper(), day), key)])
    cases += [[chain, key, answer(ChainMapper(day, month), key)] for key in KEYS]
    cases += [[allowed, key, answer(AllowedKeyMapper(["a", "b"]), key)] for key in ("a", "c", "")]
    return cases


def runs() -> list:
    cases = []
    for cron, zone in (("0 3 * * *", "Europe/Berlin"), ("30 */6 * * *", "UTC"), ("0 0 1 * *", "America/New_York")):
        for offset in (None, 0, 1, -2):
            timetable = CronPartitionTimetable(cron, timezone=zone, run_offset=offset, key_format="%Y-%m-%dT%H:%M:%S%z")
            restriction = TimeRestriction(pendulum.datetime(2026, 3, 27, tz="UTC"), None, True)
            found, last = [], None
            for _ in range(6):
                last = timetable.next_dagrun_info_v2(last_dagrun_info=last, restriction=restriction)
                found.append([last.run_after.isoformat(), last.partition_date.isoformat(), last.partition_key])
            cases.append({"expression": cron, "timezone": zone, "run_offset": offset, "runs": found})
    return cases


def main() -> None:
    inherited = {name: answers(code) for name, code in CLASSES.items()}
    OUT.write_text(json.dumps({"mapped": mapped(), "runs": runs(), "inherited": inherited}, indent=1) + "\n")


if __name__ == "__main__":
    main()
