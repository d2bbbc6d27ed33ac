"""One run for each day, also for days long gone: unpause it, and it catches up on two weeks of moon phases.

A run belongs to a date, not to the moment it happens to run at. Its tasks ask for that date instead of looking at the
clock, so the run for a day gives the same result whenever it runs. That is what makes catching up and backfills work:

    svc backfill moon_phases --from 2026-01-03 --to 2026-01-07 --reprocess completed
"""

from datetime import datetime, timezone

from airflow.sdk import DAG, task

with DAG(
    "moon_phases",
    schedule="@daily",
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    end_date=datetime(2026, 1, 14, tzinfo=timezone.utc),
    # With catchup=False only the newest date would get a run.
    catchup=True,
    # Not all at once: other DAGs want to run too.
    max_active_runs=4,
    tags=["example", "backfill", "schedule"],
    doc_md=__doc__,
):

    @task
    def look_up(logical_date=None) -> dict:
        """Days since a known new moon, modulo the length of a lunar month."""
        # A run started by hand may have no date of its own.
        day = logical_date or datetime.now(timezone.utc)
        new_moon = datetime(2000, 1, 6, 18, 14, tzinfo=timezone.utc)
        age = (day - new_moon).total_seconds() / 86_400 % 29.530588853
        phase = "🌑🌒🌓🌔🌕🌖🌗🌘"[round(age / 29.530588853 * 8) % 8]
        return {"day": day.strftime("%Y-%m-%d"), "age": round(age, 1), "phase": phase}

    @task
    def draw(moon: dict) -> str:
        line = f"{moon['day']}  {moon['phase']}  {moon['age']:>4} days old"
        print(line)
        return line

    draw(look_up())
