"""Writes packages/spec/timetables/partition-windows-golden.json: what rollups, fan-outs and wait policies of Airflow 3.3.2 answer.

    python scripts/golden/partition_windows.py    # with the Python of an environment that has apache-airflow-core==3.3.2

The cases are random with a fixed seed. Only public behaviour is recorded: to_downstream(), to_upstream() and
to_partition_date() of the mappers, and is_satisfied_by_keys() of the policies.
"""

from __future__ import annotations

import json
import os
import random
import sys
import warnings
from pathlib import Path

OUT = Path(__file__).resolve().parents[2] / "packages" / "spec" / "timetables" / "partition-windows-golden.json"
os.environ.setdefault("AIRFLOW_HOME", str(Path(sys.prefix) / "home"))
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
warnings.simplefilter("ignore")

from airflow.partition_mappers import temporal, wait_policy, window  # noqa: E402
from airflow.partition_mappers.base import RollupMapper  # noqa: E402
from airflow.partition_mappers.chain import ChainMapper  # noqa: E402
from airflow.partition_mappers.fixed_key import FixedKeyMapper  # noqa: E402
from airflow.partition_mappers.identity import IdentityMapper  # noqa: E402
from airflow.partition_mappers.product import ProductMapper  # noqa: E402

UNITS = ("hour", "day", "week", "month", "quarter", "year")
INPUTS = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y%m%d %H%M")
# Moments near changes of clocks, leap days and ends of years.
MOMENTS = ("2026-05-07T13:14", "2024-02-29T23:59", "2026-03-29T01:30", "2026-10-25T02:30", "2025-12-31T23:00", "2026-11-01T01:00", "2024-03-10T03:10", "2024-03-01T00:00")
SEED = 332


def temporal_mapper(pick: random.Random, units=UNITS):
    unit = pick.choice(units)
    kind = getattr(temporal, f"StartOf{unit.capitalize()}Mapper")
    options = {"timezone": pick.choice(("UTC", "Europe/Berlin", "America/New_York")), "input_format": pick.choice(INPUTS)}
    if pick.random() < 0.3:
        options["output_format"] = {
            "week": "week %V from %d.%m.%Y",
            "quarter": "Q{quarter} of %Y",
        }.get(unit, "%Y/%m/%d %H")
    mapper = kind(**options)
    spec = {
        "mapper": "start_of",
        "unit": unit,
        "input_format": mapper.input_format,
        "output_format": mapper.output_format,
        "timezone": options["timezone"],
    }
    return mapper, spec


def a_window(pick: random.Random):
    name = pick.choice(UNITS)
    direction = pick.choice(("forward", "backward"))
    kind = getattr(window, f"{name.capitalize()}Window")
    return kind(direction=window.Window.Direction(direction)), {"window": name, "direction": direction}


def key_for(pick: random.Random, spec: dict) -> str:
    import datetime

    moment = datetime.datetime.fromisoformat(pick.choice(MOMENTS)).replace(tzinfo=datetime.timezone.utc)
    return moment.strftime(spec["input_format"])


def text(call):
    try:
        found = call()
    except (ValueError, TypeError):
        return None
    return found if found is None or isinstance(found, str) else [*found]


def date(mapper, key):
    try:
        found = mapper.to_partition_date(key)
    except ValueError:
        return None
    return None if found is None else found.timestamp()


def rollup(pick: random.Random) -> dict:
    upstream, upstream_spec = temporal_mapper(pick)
    parts, parts_spec = a_window(pick)
    if pick.random() < 0.7:  # mostly the mapper that belongs to the window
        unit = parts_spec["window"]
        upstream, upstream_spec = temporal_mapper(pick, (unit,))
    mapper = RollupMapper(upstream_mapper=upstream, window=parts)
    key = key_for(pick, upstream_spec)
    run = mapper.to_downstream(key)
    spec = {"mapper": "rollup", "upstream": upstream_spec, "window": parts_spec, "wait_policy": {"wait": "all"}}
    expected = text(lambda: mapper.to_upstream(run))
    return {
        "mapper": spec,
        "key": key,
        "keys": [run],
        "expected": None if expected is None else sorted(expected),
        "date": date(mapper, run),
    }


def fan_out(pick: random.Random) -> dict:
    parts, parts_spec = a_window(pick)
    upstream, upstream_spec = temporal_mapper(pick, (parts_spec["window"],))
    downstream, downstream_spec = temporal_mapper(pick)
    if pick.random() < 0.1:
        downstream, downstream_spec = IdentityMapper(), {"mapper": "identity"}
    mapper = temporal.FanOutMapper(upstream_mapper=upstream, window=parts, downstream_mapper=downstream)
    key = key_for(pick, upstream_spec)
    keys = [*dict.fromkeys(mapper.to_downstream(key))]
    spec = {"mapper": "fan_out", "upstream": upstream_spec, "window": parts_spec, "downstream": downstream_spec}
    return {"mapper": spec, "key": key, "keys": keys, "date": date(mapper, keys[0])}


def others() -> list:
    day, day_spec = temporal_mapper(random.Random(2), ("day",))
    month, month_spec = temporal_mapper(random.Random(3), ("month",))
    identity = {"mapper": "identity"}
    key = key_for(random.Random(1), day_spec)
    segments = RollupMapper(upstream_mapper=FixedKeyMapper("all"), window=window.SegmentWindow(["us", "eu", "us"]))
    segments_spec = {
        "mapper": "rollup",
        "upstream": {"mapper": "fixed", "key": "all"},
        "window": {"window": "segments", "segments": ["us", "eu", "us"]},
        "wait_policy": {"wait": "all"},
    }
    cases = [(segments, segments_spec, "us")]
    for mappers, specs in (
        ((IdentityMapper(), day), (identity, day_spec)),
        ((day, day), (day_spec, day_spec)),
        ((day, IdentityMapper()), (day_spec, identity)),
    ):
        spec = {"mapper": "product", "mappers": list(specs), "delimiter": "|"}
        cases.append((ProductMapper(*mappers), spec, f"{key}|{key}"))
        cases.append((ChainMapper(*mappers), {"mapper": "chain", "mappers": list(specs)}, key))
    answers = []
    for mapper, spec, asked in cases:
        run = text(lambda mapper=mapper, asked=asked: mapper.to_downstream(asked))
        if run is None:
            continue
        case = {"mapper": spec, "key": asked, "keys": [run], "date": date(mapper, run)}
        if mapper.is_rollup:
            case["expected"] = sorted(mapper.to_upstream(run))
        answers.append(case)
    return answers


def policies() -> list:
    kinds = [({"wait": "all"}, wait_policy.WaitForAll())]
    kinds += [({"wait": "minimum", "count": count}, wait_policy.MinimumCount(count)) for count in (-9, -2, -1, 1, 3)]
    return [
        [spec, received, expected, policy.is_satisfied_by_keys(
            matched=frozenset(map(str, range(received))), expected=frozenset(map(str, range(expected)))
        ).satisfied]
        for spec, policy in kinds
        for expected in (0, 1, 4)
        for received in range(expected + 1)
    ]


def main() -> None:
    pick = random.Random(SEED)
    cases = [rollup(pick) for _ in range(120)] + [fan_out(pick) for _ in range(80)] + others()
    lines = ",\n".join(json.dumps(case) for case in cases)
    OUT.write_text(f'{{"cases": [\n{lines}\n],\n"policies": {json.dumps(policies())}}}\n')


if __name__ == "__main__":
    main()
