"""Extract, load, query with DuckDB: a day of bike rides becomes a table, and SQL says which station is busiest.

Without a network DuckDB cannot be installed. The same SQL then runs in sqlite3, which comes with Python, and the log
says so.
"""

from airflow.sdk import DAG, Param, setup, task, teardown

with DAG(
    "duckdb_etl",
    schedule=None,
    params={"engine": Param("duckdb", enum=["duckdb", "sqlite3"], title="Database")},
    tags=["example", "etl", "sql"],
    doc_md=__doc__,
):

    # A setup runs before the work, its teardown after it, also when the work fails. Neither counts as work: clearing
    # a task of the run runs them again with it.
    @setup
    def open_warehouse(params: dict) -> dict:
        # A module beside dag.py is a normal import. Inside the task it costs nothing when the file is compiled.
        import warehouse

        return warehouse.create(params["engine"])

    @task
    def extract() -> list[list]:
        """Rides of one day, the same ones every time."""
        import random

        numbers = random.Random("bikes")
        stations = ["Harbour", "Museum", "Old Town", "Station", "Zoo"]
        return [
            [ride, numbers.choice(stations), numbers.randint(6, 22), round(numbers.uniform(0.4, 9.0), 1)]
            for ride in range(300)
        ]

    @task
    def load(place: dict, rides: list[list]) -> int:
        import warehouse

        with warehouse.connect(place) as database:
            database.execute("CREATE TABLE rides (ride INTEGER, station VARCHAR, hour INTEGER, km DOUBLE)")
            # All rows or none: a task that is tried again must not find half of them.
            database.execute("BEGIN")
            database.executemany("INSERT INTO rides VALUES (?, ?, ?, ?)", rides)
            database.execute("COMMIT")
            (count,) = database.execute("SELECT count(*) FROM rides").fetchone()
        print(f"{count} rides are in {place['engine']}")
        return count

    @task
    def busiest_hours(place: dict) -> list[dict]:
        """For each station its busiest hour: a window function, no loop."""
        import warehouse

        query = """
            SELECT station, hour, rides, km
            FROM (
                SELECT station, hour, count(*) AS rides, round(sum(km), 1) AS km,
                       row_number() OVER (PARTITION BY station ORDER BY count(*) DESC, hour) AS place
                FROM rides GROUP BY station, hour
            ) AS ranked
            WHERE place = 1 ORDER BY station
        """
        with warehouse.connect(place) as database:
            rows = database.execute(query).fetchall()
        return [dict(zip(("station", "hour", "rides", "km"), row)) for row in rows]

    @task
    def report(hours: list[dict]) -> None:
        for row in hours:
            print(f"{row['station']:<10} {row['hour']:>2}:00  {'🚲' * row['rides']}  {row['km']} km")

    @teardown
    def close_warehouse(place: dict) -> None:
        import shutil

        shutil.rmtree(place["folder"])

    place = open_warehouse()
    loaded = load(place, extract())
    hours = busiest_hours(place)
    loaded >> hours
    report(hours)
    hours >> close_warehouse(place)
