from datetime import datetime

from airflow.sdk import DAG, Asset, AssetOrTimeSchedule, MultipleCronTriggerTimetable, task
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.smtp.operators.smtp import EmailOperator

with DAG(
    "real_reports",
    schedule=AssetOrTimeSchedule(
        timetable=MultipleCronTriggerTimetable("0 7 * * 1-5", "0 9 * * 6,0", timezone="Europe/London"),
        assets=(Asset("warehouse.sales") & Asset("warehouse.users")),
    ),
    start_date=datetime(2024, 1, 1),
    render_template_as_native_obj=True,
    doc_md=__doc__,
):

    @task.bash(env={"TZ": "Europe/London"}, append_env=True)
    def render() -> str:
        return "render --out /tmp/report.pdf"

    mail = EmailOperator(
        task_id="mail", to=["boss@example.com"], subject="Report {{ ds }}", html_content="<b>see file</b>", conn_id="smtp_main"
    )
    again = TriggerDagRunOperator(task_id="again", trigger_dag_id="real_data_quality", conf={"from": "{{ run_id }}"})
    render() >> mail >> again >> BashOperator(task_id="cleanup", bash_command="rm -f /tmp/report.pdf")
