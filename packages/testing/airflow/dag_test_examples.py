"""`python dag_test_examples.py <folder of DAGs> <conf by DAG> <logical date> <DAG id>…`: prints how each ends by dag.test()."""

import contextlib
import datetime
import json
import sys

from airflow.models import DagBag

folder, confs, date, *dag_ids = sys.argv[1:]
conf_of = json.loads(confs)
with contextlib.redirect_stdout(sys.stderr):
    bag = DagBag(folder)
    ends = {}
    for dag_id in dag_ids:
        moment = datetime.datetime.fromisoformat(date)
        run = bag.dags[dag_id].test(logical_date=moment, run_conf=conf_of.get(dag_id))
        ends[dag_id] = {
            "state": str(run.state),
            "instances": {
                ti.task_id if ti.map_index < 0 else f"{ti.task_id}[{ti.map_index}]": None if ti.state is None else str(ti.state)
                for ti in run.get_task_instances()
            },
        }
print(json.dumps({"errors": bag.import_errors, "ends": ends}))
