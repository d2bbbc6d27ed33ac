from airflow.providers.common.compat.sdk import XCom
from airflow.providers.redis.hooks.redis import RedisHook
from airflow.providers.redis.operators.redis_publish import RedisPublishOperator
from airflow.providers.redis.sensors.redis_key import RedisKeySensor
from airflow.providers.slack.notifications.slack import SlackNotifier
from airflow.providers.slack.operators.slack_webhook import SlackWebhookOperator
from airflow.providers.smtp.notifications.smtp import SmtpNotifier
from airflow.providers.smtp.operators.smtp import EmailOperator
from airflow.sdk import DAG, BaseOperator, BaseOperatorLink, task


class BoardLink(BaseOperatorLink):
    name = "Board"

    def get_link(self, operator, *, ti_key):
        number = XCom.get_value(ti_key=ti_key, key="number")
        return f"https://boards.example.org/{number}/{ti_key.run_id}"


class BoardOperator(BaseOperator):
    operator_extra_links = (BoardLink(),)

    def execute(self, context):
        context["ti"].xcom_push(key="number", value=7)


with DAG("provider_messages", schedule=None):
    mail = EmailOperator(
        task_id="mail",
        conn_id="probe_smtp",
        from_email="tasks@example.org",
        to=["ada@example.org"],
        subject="Run {{ run_id }}",
        html_content="<b>{{ ti.task_id }}</b>",
    )
    slack = SlackWebhookOperator(
        task_id="slack", slack_webhook_conn_id="probe_slack_hook", message="run {{ run_id }} said hello"
    )

    @task(
        on_success_callback=SlackNotifier(
            slack_conn_id="probe_slack", text="{{ ti.task_id }} is done", channel="#runs"
        )
    )
    def praised(): ...

    @task(
        retries=0,
        on_failure_callback=SmtpNotifier(
            smtp_conn_id="probe_smtp",
            from_email="tasks@example.org",
            to="on-call@example.org",
            subject="{{ ti.task_id }} failed",
            html_content="It is {{ dag.dag_id }}",
        ),
    )
    def broken():
        raise ValueError("as it should")

    publish = RedisPublishOperator(
        task_id="publish", redis_conn_id="probe_redis", channel="runs", message="{{ run_id }}"
    )

    @task
    def keep():
        RedisHook(redis_conn_id="probe_redis").get_conn().set("probe-key", "kept")

    there = RedisKeySensor(task_id="there", redis_conn_id="probe_redis", key="probe-key", poke_interval=1, timeout=30)
    board = BoardOperator(task_id="board")
    praised()
    broken()
    keep() >> there >> publish
