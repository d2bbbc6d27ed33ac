"""`dbt:` and `dbt_groups:` of svc.yaml: groups added to the DAG of the file, or a DAG of their own where there is no file.

They become lines of Python in the source of the version, so that what was compiled, what is shown and what tasks load is one text.

    {"dag_id", "description", "schedule", "groups": {"<id>": {"key": "dbt_groups.<id>", "upstream": […], "downstream": […], "arguments": {…}}}}
"""

from __future__ import annotations

import pprint

from ..exceptions import RecordingError
from ..record import current as recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..record.dag import DAG


def added_lines(groups: dict) -> str:
    return (
        "\n\n# From svc.yaml\n"
        "from svc_runtime.dbt.from_yaml import add_groups as _svc_add_groups\n\n"
        f"_svc_add_groups(globals(), {_literal(groups)})\n"
    )


def whole_file(groups: dict) -> str:
    return (
        '"""Made from svc.yaml: a dbt project as a DAG."""\n'
        "from svc_runtime.dbt.from_yaml import make_dag\n\n"
        f"dag = make_dag({_literal(groups)})\n"
    )


def _literal(groups: dict) -> str:
    return pprint.pformat(groups, width=110, sort_dicts=False)


def make_dag(groups: dict) -> DAG:
    from ..record.dag import DAG

    with DAG(groups["dag_id"], schedule=groups.get("schedule"), description=groups.get("description")) as dag:
        _add(dag, groups)
    return dag


def add_groups(module: dict, groups: dict) -> None:
    from ..record.dag import DAG

    key = next(iter(groups["groups"].values()))["key"]
    if groups.get("schedule") is not None:
        raise RecordingError(
            f"{key}: schedule is for a project without a DAG file", "Give the DAG in the file its schedule"
        )
    found: list = []
    for dag in (*recording.collected_dags, *module.values()):
        if isinstance(dag, DAG) and not any(dag is known for known in found):
            found.append(dag)
    named = [dag for dag in found if dag.dag_id == groups["dag_id"]] or found
    if len(named) != 1:
        raise RecordingError(
            f"{key}: the file defines {len(found)} DAGs, and none of them is '{groups['dag_id']}'",
            "Set dag_id in svc.yaml to the DAG that the group belongs to",
        )
    _add(named[0], groups)


def _add(dag: DAG, groups: dict) -> None:
    from .group import dbt_group

    for group_id, settings in groups["groups"].items():
        try:
            group = dbt_group(group_id, dag=dag, **settings["arguments"])
        except RecordingError as error:
            raise RecordingError(f"{settings['key']}: {error.what}", error.instead) from None
        for name, connect in (("upstream", group.set_upstream), ("downstream", group.set_downstream)):
            for task_id in settings.get(name) or []:
                if task_id not in dag.task_dict:
                    raise RecordingError(
                        f"{settings['key']}.{name}: the DAG has no task '{task_id}'", "Name a task of the DAG file"
                    )
                connect(dag.get_task(task_id))
