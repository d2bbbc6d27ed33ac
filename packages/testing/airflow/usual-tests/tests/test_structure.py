"""The tasks of a DAG and their order."""

from __future__ import annotations


def assert_dag_is(source: dict[str, list[str]], dag) -> None:
    assert dag.task_dict.keys() == source.keys()
    for task_id, downstream in source.items():
        assert dag.has_task(task_id)
        assert dag.get_task(task_id).downstream_task_ids == set(downstream)


def test_dag_loaded(dag_bag):
    dag = dag_bag.get_dag(dag_id="reports")
    assert dag_bag.import_errors == {}
    assert dag is not None
    assert len(dag.tasks) == 8


def test_order_of_tasks(dag_bag):
    assert_dag_is(
        {
            "start": ["count"],
            "count": ["multiply"],
            "multiply": ["euros"],
            "euros": ["branch"],
            "branch": ["full", "short"],
            "full": ["end"],
            "short": ["end"],
            "end": [],
        },
        dag_bag.get_dag("reports"),
    )


def test_taskflow_structure(dag_bag):
    dag = dag_bag.get_dag("orders")
    assert dag.get_task("convert").upstream_task_ids == {"extract"}
    assert dag.get_task("report").upstream_task_ids == {"total"}
    assert [task.task_id for task in dag.roots] == ["extract"]
    assert [task.task_id for task in dag.leaves] == ["report"]
    assert dag.params["limit"] == 3


def test_attributes(dag_bag):
    dag = dag_bag.get_dag("orders")
    assert dag.catchup is False
    assert dag.tags == {"shop"}
    assert dag.description is None
    assert "Orders of a day" in dag.doc_md
    assert dag.get_task("extract").retries == 1
    assert dag_bag.get_dag("reports").get_task("end").trigger_rule == "none_failed_min_one_success"
