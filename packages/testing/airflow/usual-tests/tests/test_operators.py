"""Operators, hooks and functions of tasks, each alone."""

from __future__ import annotations

from unittest import mock

import pytest
import shop_operators
from shop_operators import CentsToEurosOperator, ShopHook, UploadOperator

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import BaseHook, Connection, Variable, task


def test_execute():
    assert CentsToEurosOperator(task_id="convert", cents=1250).execute(context={}) == 12.5


def test_execute_in_a_dag(dag):
    operator = CentsToEurosOperator(task_id="convert", cents="300", dag=dag)
    assert operator.execute({}) == 3
    assert dag.task_ids == ["convert"]


@pytest.mark.parametrize("cents,euros", [(100, 1), ("250", 2.5)])
def test_execute_parametrized(cents, euros):
    assert CentsToEurosOperator(task_id="convert", cents=cents).execute({}) == euros


def test_a_wrong_value_raises():
    with pytest.raises(ValueError, match="invalid literal"):
        CentsToEurosOperator(task_id="convert", cents="much").execute({})


def test_bash_operator():
    assert BashOperator(task_id="echo", bash_command="echo hello").execute(context={}) == "hello"


def test_python_operator():
    def add(first, second):
        return first + second

    operator = PythonOperator(task_id="add", python_callable=add, op_args=[1, 2])
    assert operator.execute(context={}) == 3


def test_template_fields(dag):
    operator = UploadOperator(task_id="upload", key="{{ ds }}/{{ params.name }}.csv", dag=dag)
    operator.render_template_fields({"ds": "2026-03-02", "params": {"name": "orders"}})
    assert operator.key == "2026-03-02/orders.csv"


def test_function_of_a_task(dag_bag):
    function = dag_bag.get_dag("orders").get_task("extract").python_callable
    assert function(params={"limit": 2}, ds="2026-03-02") == [{"id": 1, "cents": 100}, {"id": 2, "cents": 200}]


def test_decorated_function():
    @task
    def double(number):
        return number * 2

    assert double.function(4) == 8


def test_hook_with_a_connection_of_the_environment():
    assert ShopHook().address() == "shop.example:8443"


def test_operator_with_a_replaced_hook():
    with mock.patch.object(shop_operators, "ShopHook") as hook:
        hook.return_value.address.return_value = "nowhere"
        assert UploadOperator(task_id="upload", key="a.csv").execute({}) == "nowhere/a.csv"
        hook.assert_called_once_with("shop")


def test_operator_with_a_replaced_connection():
    connection = Connection(conn_id="shop", conn_type="http", host="other", port=1)
    with mock.patch.object(BaseHook, "get_connection", return_value=connection):
        assert UploadOperator(task_id="upload", key="a.csv").execute({}) == "other:1/a.csv"


def test_variable_of_the_environment(monkeypatch):
    monkeypatch.setenv("AIRFLOW_VAR_LIMIT", '{"rows": 5}')
    assert Variable.get("limit", deserialize_json=True) == {"rows": 5}
    with mock.patch.dict("os.environ", AIRFLOW_VAR_LIMIT="9"):
        assert Variable.get("limit") == "9"
