"""What only dill and cloudpickle carry into another interpreter and back: a function without a name, and one that remembers."""

import sys

from airflow.providers.standard.operators.python import ExternalPythonOperator, PythonVirtualenvOperator
from airflow.sdk import DAG, task

STEP = 1


def remembers(by):
    return lambda value: value * by


def use(functions, step):
    import sys

    one, two = functions
    return {"answer": two(one(20)), "step": step, "here": sys.prefix}


def give():
    return {"double": lambda value: value * 2}


with DAG("provider_serializers", schedule=None):
    for name in ("dill", "cloudpickle"):
        into = ExternalPythonOperator(
            task_id=f"into_{name}",
            python=sys.executable,
            python_callable=use,
            serializer=name,
            op_args=[[lambda value: value + STEP, remembers(2)]],
            op_kwargs={"step": STEP},
        )
        out_of = ExternalPythonOperator(
            task_id=f"out_of_{name}",
            python=sys.executable,
            python_callable=give,
            serializer=name,
            post_execute=lambda context, result=None: result.update(double=result["double"](21)),
        )
        environment = PythonVirtualenvOperator(
            task_id=f"environment_{name}",
            python_callable=use,
            serializer=name,
            requirements=[],
            op_args=[[lambda value: value + STEP, remembers(2)]],
            op_kwargs={"step": STEP},
        )

    @task.external_python(python=sys.executable, serializer="dill")
    def decorated(function):
        return function(20)

    decorated(lambda value: value + STEP)
