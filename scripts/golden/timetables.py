"""Writes packages/spec/timetables/golden/: what Airflow 3.2.2 itself answers, for the timetable tests to agree with.

    node packages/testing/airflow/install-airflow.ts
    .cache/airflow-3.2.2/bin/python scripts/golden/timetables.py

Only public behaviour is recorded (next_dagrun_info, infer_manual_data_interval, iter_dagrun_infos_between, validate, summary,
description), with the clock stopped. The output is the same on every run: cases are drawn with a fixed seed and zone rules come
from the pinned tzdata package, not from the machine.

One JSON file per timetable type. A series is one line:
    {"t": spec, "now": s, "catchup": bool, "from": s|null, "to": s|null, "last": [s, s]?, "asked": n?, "end": [first, step, ...], "width": w|[...]}
Times are seconds since 1970 (with decimals where Airflow has microseconds); `end` holds the first run's data interval end and
then the distances to the following ones, `width` the lengths of the data intervals. "raises" marks where Airflow raised instead,
"invalid" an expression it does not take.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta

from cron_expressions import (
    EXPRESSIONS,
    PRESETS,
    described_expressions,
    hand_picked,
    is_valid,
    rng,
    wild_expression,
)
from timetable_cases import (
    CALENDAR_EDGES,
    RELATIVEDELTAS,
    TIMEDELTAS,
    asset_or_time,
    cron_data_interval,
    cron_trigger,
    delta_data_interval,
    delta_trigger,
    events,
    multiple_cron_trigger,
    simple,
)
from timetable_recording import (
    OUT,
    chain,
    delta_spec,
    manual,
    seconds,
    texts_of,
)


def texts() -> list[dict]:
    found = [texts_of({"type": "delta_trigger", "delta": delta_spec(d)}) for d in TIMEDELTAS + RELATIVEDELTAS]
    odd = [timedelta(days=-1), timedelta(days=-2, hours=3), timedelta(seconds=-1), timedelta(days=1, hours=2), timedelta(hours=26)]
    found += [texts_of({"type": "delta_data_interval", "delta": delta_spec(d)}) for d in odd + RELATIVEDELTAS[:3]]
    found += [texts_of({"type": "cron_trigger", "expression": e, "timezone": "UTC"}) for e in described_expressions()]
    for _ in range(40):
        chosen = rng.sample(EXPRESSIONS, rng.choice([1, 2, 3]))
        found.append(texts_of({"type": "multiple_cron_trigger", "expressions": chosen, "timezone": "UTC"}))
    return found


def expressions() -> list[dict]:
    """Which expressions exist, and their first matches in plain UTC. R (random) is left out: it answers anew every time."""
    found = []
    for text in PRESETS + hand_picked() + [wild_expression() for _ in range(1500)]:
        spec = {"type": "cron_trigger", "expression": text, "timezone": "UTC"}
        if not is_valid(text):
            found.append({"t": spec, "invalid": True})
            continue
        start = seconds(rng.choice(CALENDAR_EDGES))
        found.append(chain(spec, now=start, catchup=True, earliest=start, count=5))
        found.append(manual(spec | {"type": "cron_data_interval"}, [start]))
    return found


def write(name: str, series: list[dict]) -> None:
    lines = ",\n".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in series)
    path = OUT / f"{name}.json"
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{name:24} {len(series):5} series {path.stat().st_size / 1000:8.0f} kB")


WRITERS = [
    cron_trigger,
    cron_data_interval,
    multiple_cron_trigger,
    delta_trigger,
    delta_data_interval,
    events,
    simple,
    asset_or_time,
    texts,
    expressions,
]

if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for writer in WRITERS:
        if len(sys.argv) == 1 or writer.__name__ in sys.argv[1:]:
            # Each file draws from its own seed, so that changing one leaves the others alone.
            rng.seed(f"20260601 {writer.__name__}")
            write(writer.__name__, writer())
