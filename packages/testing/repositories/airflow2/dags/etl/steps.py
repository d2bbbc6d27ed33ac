def extract(**context):
    return [["apples", 3], ["pears", 5]]


def load(ti, **context):
    assert ti.xcom_pull(task_ids="extract") == [["apples", 3], ["pears", 5]]
