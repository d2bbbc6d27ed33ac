"""A service that fails twice and then works: retries bring the run home, callbacks say what happened on the way.

Open the task `ask_the_weather_station` and look at its three tries: each has a log of its own.
"""

from datetime import timedelta

from airflow.sdk import DAG, task


# A callback gets the context of the task. In real life it writes to a chat; here it writes to the task's log.
def say_retry(context) -> None:
    print(f"☎ Try {context['ti'].try_number} failed: {context['exception']}. Another one follows.")


def say_success(context) -> None:
    print(f"☎ It worked at try {context['ti'].try_number}.")


def say_failure(context) -> None:
    print(f"☎ {context['ti'].task_id} has given up. Somebody should look at it.")


with DAG(
    "flaky_weather",
    schedule=None,
    tags=["example", "retries", "callbacks"],
    doc_md=__doc__,
    # For all tasks of the DAG; a task's own arguments win.
    default_args={"retries": 3, "retry_delay": timedelta(seconds=1), "on_failure_callback": say_failure},
):

    # With backoff each wait is about twice the one before, up to the maximum: kind to a service that is down.
    @task(
        retry_exponential_backoff=True,
        max_retry_delay=timedelta(seconds=4),
        on_retry_callback=say_retry,
        on_success_callback=say_success,
    )
    def ask_the_weather_station(ti) -> dict:
        if ti.try_number < 3:
            raise ConnectionError(f"the weather station does not answer (try {ti.try_number})")
        return {"sky": "☀", "celsius": 21}

    # Some errors are not worth another try: AirflowFailException ends the task at once.
    @task
    def check(weather: dict) -> dict:
        from airflow.sdk.exceptions import AirflowFailException

        if not -90 <= weather["celsius"] <= 60:
            raise AirflowFailException(f"{weather['celsius']} °C is not of this planet")
        return weather

    # A limit on one try. A task that runs longer is stopped, and that counts as a failure like any other.
    @task(execution_timeout=timedelta(seconds=30))
    def publish(weather: dict) -> None:
        print(f"{weather['sky']} {weather['celsius']} °C")

    publish(check(ask_the_weather_station()))
