"""After `svc fix --write` every old spelling is rewritten, or reported as manual work.

Files are made at random of old spellings in the forms that people write them in. Whatever the compiler warns about in a rewritten
file must be among what `svc fix` has left to a person.
"""

from __future__ import annotations

import random
import re
import unittest

from svc_runtime.fix.rewrite import rewrite_python
from svc_runtime.fix.scan import may_be_old
from svc_runtime.old_import_paths import moved

from .nightly import IS_NIGHTLY, SEED
from .support import compile_texts

FILES = 400 if IS_NIGHTLY else 30
_OLD = re.compile(r"(?P<what>[^:]*?) (?:is an old spelling|has no effect)")
HEAD = """from datetime import datetime
from functools import partial
from airflow import DAG
from airflow.decorators import dag, task
from airflow.operators.bash_operator import BashOperator
"""
_DAG_ARGUMENTS = (
    ("schedule_interval", '"@daily"'),
    ("concurrency", "3"),
    ("fail_stop", "True"),
    ("default_view", '"graph"'),
    ("orientation", '"LR"'),
    ("full_filepath", '"x"'),
    ("sla_miss_callback", "print"),
)
_TASK_ARGUMENTS = (
    ("task_concurrency", "2"),
    ("provide_context", "True"),
    ("trigger_rule", '"none_failed_or_skipped"'),
    ("trigger_rule", '"dummy"'),
)
# `{a}`: arguments as of a call, `{d}`: the same as a dictionary, `{n}`: a number.
_DAG_FORMS = (
    "with DAG('d{n}', {a}): ...",
    "d{n} = DAG('d{n}', {a})",
    "@dag({a})\ndef d{n}(): ...\nd{n} = d{n}()",
    "@dag('d{n}', {a})\ndef dag(): ...\ndag = dag()\nfrom airflow.decorators import dag",
    "k{n} = {d}\nd{n} = DAG('d{n}', **k{n})",
    "d{n} = DAG('d{n}', **{d})",
    "k{n} = dict({a})\nd{n} = DAG('d{n}', **k{n})",
    "make{n} = partial(DAG, {a})\nd{n} = make{n}('d{n}')",
    "class Own{n}(DAG): ...\nd{n} = Own{n}('d{n}', {a})",
    "def make{n}(cls=DAG):\n    return cls('d{n}', {a})\nd{n} = make{n}()",
    "import airflow\nd{n} = airflow.DAG('d{n}', {a})",
    "import airflow.models as m{n}\nd{n} = m{n}.DAG('d{n}', {a})",
    "from airflow.models import DAG as D{n}\nd{n} = D{n}('d{n}', {a})",
    "k{n} = {{}}\nfor name, value in {d}.items():\n    k{n}[name] = value\nd{n} = DAG('d{n}', **k{n})",
)
_TASK_FORMS = (
    "with DAG('d{n}'):\n    BashOperator(task_id='t', bash_command='x', {a})",
    "with DAG('d{n}', default_args={d}):\n    BashOperator(task_id='t', bash_command='x')",
    "default_args = {d}\nwith DAG('d{n}', default_args=default_args):\n    BashOperator(task_id='t', bash_command='x')",
    "ARGS{n} = {d}\nwith DAG('d{n}', default_args=dict(ARGS{n}, retries=1)):\n    BashOperator(task_id='t', bash_command='x')",
    "with DAG('d{n}', default_args=dict({a})):\n    BashOperator(task_id='t', bash_command='x')",
    "with DAG('d{n}'):\n    @task({a})\n    def t(): ...\n    t()",
    "with DAG('d{n}'):\n    @task\n    def t(): ...\n    t.override({a})()",
    "with DAG('d{n}'):\n    BashOperator.partial(task_id='t', {a}).expand(bash_command=['x'])",
    "with DAG('d{n}'):\n    op = BashOperator\n    op(task_id='t', bash_command='x', {a})",
    "class Op{n}(BashOperator): ...\nwith DAG('d{n}'):\n    Op{n}(task_id='t', bash_command='x', {a})",
    "with DAG('d{n}'):\n    for k in [{d}]:\n        BashOperator(task_id='t', bash_command='x', **k)",
    "with DAG('d{n}'):\n    getattr(BashOperator, 'partial')(task_id='t', {a}).expand(bash_command=['x'])",
)


def one_file(chance: random.Random) -> str:
    parts = [HEAD]
    for number in range(chance.randint(1, 3)):
        forms, arguments = chance.choice(((_DAG_FORMS, _DAG_ARGUMENTS), (_TASK_FORMS, _TASK_ARGUMENTS)))
        chosen = dict(chance.sample(arguments, chance.randint(1, 3)))
        call = ", ".join(f"{name}={value}" for name, value in chosen.items())
        literal = "{" + ", ".join(f'"{name}": {value}' for name, value in chosen.items()) + "}"
        parts.append(chance.choice(forms).format(a=call, d=literal, n=number))
    return "\n".join(parts) + "\n"


def words_of(text: str) -> set[str]:
    """The old words that a warning or a finding is about."""
    names = {name for name, _ in (*_DAG_ARGUMENTS, *_TASK_ARGUMENTS)} - {"trigger_rule"}
    return {word for word in (*names, "none_failed_or_skipped", "dummy") if re.search(rf"\b{word}\b", text)}


class Everything(unittest.TestCase):
    def test_what_is_old_after_a_rewrite_is_reported_as_manual_work(self) -> None:
        chance = random.Random(SEED)
        texts = [one_file(chance) for _ in range(FILES)]
        done = [rewrite_python(text, frozenset()) for text in texts]
        answers = compile_texts(*(each.after for each in done))
        for before, each, answer in zip(texts, done, answers, strict=True):
            self.assertTrue(answer["ok"], f"{answer.get('error')}\n{each.after}")
            said = [found["what"] for text in answer["warnings"] if (found := _OLD.search(text.partition(": ")[2]))]
            left = set().union(*(words_of(finding.old) for finding in each.left))
            for what in said:
                self.assertLessEqual(
                    words_of(what), left, f"{what} is neither rewritten nor reported:\n{before}\n{each.after}"
                )

    def test_every_old_import_is_looked_at(self) -> None:
        for module, names in moved().items():
            for name in names:
                if name == "*" or module == "airflow":
                    continue
                with self.subTest(f"{module}.{name}"):
                    self.assertTrue(may_be_old(f"from {module} import {name}\n"))


if __name__ == "__main__":
    unittest.main()
