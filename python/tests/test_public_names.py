"""Hazard: a name, a parameter or a method that Airflow documents is missing here, and an author finds out at run time.

Every public name of Airflow's task SDK and standard provider is compared with ours. golden/public_names.py has recorded
Airflow's (golden/refresh.sh). Each difference has a reason in public_names_explained.py.
"""

from __future__ import annotations

import importlib
import json
import os
import unittest
from typing import Any
from unittest import mock

import public_names

from airflow import sdk

from . import TESTS
from .public_names_explained import EXPLAINED, SAMPLES


def recorded(name: str) -> dict[str, dict]:
    with open(os.path.join(TESTS, name), encoding="utf-8") as file:
        return json.load(file)


def differences(airflow: dict[str, dict]) -> list[str]:
    found: list[str] = []
    for module_name, names in airflow.items():
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            found.append(module_name)
            continue
        for name, theirs in names.items():
            found.extend(_of_name(f"{module_name}.{name}", theirs, getattr(module, name, None)))
    return found


def _of_name(path: str, theirs: Any, value: Any) -> list[str]:
    if value is None:
        return [path]
    ours: Any = public_names.describe(value)
    if isinstance(theirs, str):
        return []
    if isinstance(ours, str) or ("has" in theirs and "has" not in ours):
        return [f"{path} is not a {'class' if 'has' in theirs else 'function'}"]
    found = [f"{path}({name})" for name in _parameters_that_differ(theirs["parameters"], ours["parameters"])]
    for name, member in theirs.get("has", {}).items():
        own = _attribute(value, name)
        if own is None:
            found.append(f"{path}.{name}")
        elif isinstance(member, list) and isinstance(own, list):
            found.extend(f"{path}.{name}({each})" for each in _parameters_that_differ(member, own))
    return found


def _attribute(owner: type, name: str) -> object:
    """Looks at an instance, too: some attributes are set when it is made."""
    if hasattr(owner, name):
        return public_names.member(owner, name)
    return "value" if owner.__name__ in SAMPLES and hasattr(SAMPLES[owner.__name__](), name) else None


def _parameters_that_differ(theirs: list[str] | None, ours: list[str] | None) -> list[str]:
    """A parameter differs if it is missing, or has another default. We may have more of them."""
    if theirs is None or ours is None:
        return []
    own = {each.split("=")[0]: each for each in ours}
    return [each for each in theirs if each.split("=")[0] not in own or _differs(each, own[each.split("=")[0]])]


def _differs(theirs: str, ours: str) -> bool:
    if "=" not in theirs:
        return False  # it may be optional here
    return "=" not in ours or ("…" not in theirs + ours and theirs != ours)


class PublicNames(unittest.TestCase):
    def test_each_public_name_of_airflow_is_here_or_its_difference_has_a_reason(self) -> None:
        found = differences(recorded("airflow_public_names.json"))
        self.assertEqual([each for each in found if each not in EXPLAINED], [], "without a reason")
        self.assertEqual([each for each in EXPLAINED if each not in found], [], "explained, but not different")

    def test_names_of_airflow_3_3_that_are_here_have_its_parameters_and_methods(self) -> None:
        self.assertEqual(differences(recorded("airflow_3_3_names.json")), [])

    def test_tasks_and_groups_find_what_is_above_and_below_them(self) -> None:
        with sdk.DAG("relatives", schedule=None) as dag:
            first, last = (sdk.BaseOperator(task_id=name) for name in ("first", "last"))
            with sdk.TaskGroup("middle") as middle:
                sdk.BaseOperator(task_id="a") >> sdk.BaseOperator(task_id="b")
            first >> middle >> last
        self.assertEqual([task.task_id for task in middle.upstream_list], ["first"])
        self.assertEqual(first.get_flat_relative_ids(depth=2), {"middle.a", "middle.b"})
        self.assertEqual(first.get_flat_relative_ids(), {"middle.a", "middle.b", "last"})
        self.assertEqual({task.task_id for task in last.get_flat_relatives(upstream=True, depth=1)}, {"middle.b"})
        self.assertEqual(list(dag.task_group.get_task_group_dict()), [None, "middle"])
        self.assertEqual(
            [node.label for node in dag.task_group.hierarchical_alphabetical_sort()], ["middle", "first", "last"]
        )

    def test_connections_of_hooks_are_tested_and_the_answer_says_why_not(self) -> None:
        from airflow.providers.standard.hooks.filesystem import FSHook
        from airflow.providers.standard.hooks.package_index import PackageIndexHook

        closed = "http://ana:hidden@127.0.0.1:1/simple"
        with mock.patch.object(PackageIndexHook, "get_connection_url", lambda _: closed):
            works, why = PackageIndexHook().test_connection()
        self.assertFalse(works)
        self.assertNotIn("hidden", why)
        for path, expected in ((TESTS, True), (os.path.join(TESTS, "missing"), False)):
            with mock.patch.object(FSHook, "get_path", lambda _, path=path: path):
                self.assertEqual(FSHook().test_connection()[0], expected)


if __name__ == "__main__":
    unittest.main()
