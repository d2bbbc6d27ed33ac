"""A column that is not there: the query was written before the table was changed."""

from airflow.sdk import DAG, task

with DAG("bad_sql", schedule=None):

    @task
    def load_orders() -> int:
        import sqlite3

        db = sqlite3.connect(":memory:")
        db.execute("create table orders (id integer, customer_id integer, total real)")
        statement = "select custmer_id, sum(total) from orders group by 1"
        print(f"Running {statement}")
        return len(db.execute(statement).fetchall())

    @task
    def publish(rows: int) -> None:
        print(rows)

    publish(load_orders())
