"""Weekly model training with branches and a manual gate."""
from datetime import datetime, timedelta

from airflow import DAG
from airflow.decorators import task
from airflow.models.param import Param
from airflow.operators.bash import BashOperator
from airflow.operators.empty import EmptyOperator
from airflow.operators.python import BranchPythonOperator
from airflow.utils.edgemodifier import Label
from airflow.utils.trigger_rule import TriggerRule


def choose_next(ti, params, **_):
    score = ti.xcom_pull(task_ids="evaluate")
    return "promote" if score >= params["threshold"] else "alert"


with DAG(
    "real_ml_training",
    start_date=datetime(2024, 1, 1),
    schedule="0 3 * * SUN",
    catchup=False,
    params={"threshold": Param(0.8, type="number", minimum=0, maximum=1), "model": Param("xgb", enum=["xgb", "rf"])},
    default_args={"owner": "ml", "retries": 1},
    tags=["ml"],
) as dag:
    prepare = BashOperator(task_id="prepare", bash_command="python prepare.py --date {{ ds }}", cwd="/opt/ml")

    @task(queue="gpu", execution_timeout=timedelta(hours=6), executor_config={"resources": {"gpu": 1}})
    def train(seed: int, params=None):
        return {"seed": seed, "score": 0.9}

    @task
    def evaluate(results):
        return max(r["score"] for r in results)

    scores = train.expand(seed=[1, 2, 3, 4])
    decide = BranchPythonOperator(task_id="decide", python_callable=choose_next)
    promote = BashOperator(task_id="promote", bash_command="./promote.sh {{ params.model }}")
    alert = EmptyOperator(task_id="alert")
    done = EmptyOperator(task_id="done", trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)
    prepare >> scores
    evaluate(scores) >> decide
    decide >> Label("good enough") >> promote >> done
    decide >> Label("too low") >> alert >> done
