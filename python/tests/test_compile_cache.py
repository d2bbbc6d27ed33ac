"""The cache of compiled files gives an answer again only while nothing that the answer depends on has changed."""

from __future__ import annotations

import json
import os
import tempfile
import textwrap
import time
import unittest

from svc_runtime.compile.cache import Cache
from svc_runtime.compile.preload import preload
from svc_runtime.compile_server import Server

DAG = """
from airflow.sdk import DAG, task
from airflow.providers.standard.operators.bash import BashOperator
{top}
with DAG("a", schedule=None, tags=[str({tag})]):
    @task
    def work(): {body}
    work()
"""
BUNDLE = {"dags": "dags", "import_roots": ["dags", "plugins", "."], "plugins": ["plugins"]}


class Workspace:
    """A folder, and a server with a cache; a new server for each question would be slow, and would know nothing it has read."""

    def __init__(self, test: unittest.TestCase) -> None:
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        self.kept = os.path.join(self.root, ".kept")
        os.mkdir(os.path.join(self.root, "dags"))
        preload()
        self.restart()

    def restart(self) -> None:
        self.server = Server(cache=Cache(self.kept))
        self.hits = 0
        get = self.server.cache.get

        def counted(request: dict) -> dict | None:
            found = get(request)
            self.hits += found is not None
            return found

        self.server.cache.get = counted  # type: ignore[method-assign]

    def write(self, name: str, text: str) -> None:
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        # Written long ago, so that the cache needs not wait until it is.
        then = time.time() - 100
        os.utime(path, (then, then))

    def dag(self, tag: str = "1", top: str = "", body: str = "...") -> None:
        self.write("dags/a.py", DAG.format(tag=tag, top=textwrap.dedent(top), body=body))

    def tags(self, **more) -> tuple[list | str, bool]:
        """The tags of the DAG, and whether they came from the cache."""
        before = self.hits
        path = os.path.join(self.root, "dags", "a.py")
        self.server.submit(
            {"id": 1, "path": path, "dags_folder": self.root, "bundle": BUNDLE, "limits": {"wall_seconds": 600}, **more}
        )
        while not (answers := self.server.step()):
            pass
        answer = json.loads(answers[0])
        found = answer["dags"][0]["spec"]["dag"]["tags"] if answer["ok"] else answer["error"]["message"]
        return found, self.hits > before


class Hits(unittest.TestCase):
    def test_an_unchanged_file_is_answered_alike_by_this_process_and_by_the_next(self) -> None:
        here = Workspace(self)
        here.dag(tag="helper.NAME", top="import helper")
        here.write("dags/helper.py", "NAME = 'one'\n")
        self.assertEqual(here.tags(), (["one"], False))
        self.assertEqual(here.tags(), (["one"], True))
        here.restart()
        self.assertEqual(here.tags(), (["one"], True))

    def test_the_time_in_a_task_keeps_no_file_from_the_cache(self) -> None:
        here = Workspace(self)
        here.dag(top="import time\nfrom datetime import datetime", body="print(datetime.now(), time.time())")
        here.tags()
        self.assertTrue(here.tags()[1])

    def test_another_file_in_the_folder_changes_nothing(self) -> None:
        here = Workspace(self)
        here.dag()
        here.tags()
        here.write("dags/b.py", "")
        self.assertTrue(here.tags()[1])


class Misses(unittest.TestCase):
    def changes(self, *, top: str, tag: str, before: dict, after: dict, name: str = "") -> None:
        """Compiled with `before` and with `after`, names and texts of files; a text of None removes."""
        with self.subTest(name or top):
            here = Workspace(self)
            here.dag(top=top, tag=tag)
            for path, text in before.items():
                here.write(path, text)
            first = here.tags()
            self.assertEqual(here.tags(), (first[0], True), first)
            for path, text in after.items():
                if text is None:
                    os.unlink(os.path.join(here.root, path))
                else:
                    here.write(path, text)
            second, is_hit = here.tags()
            self.assertFalse(is_hit)
            self.assertNotEqual(first[0], second)

    def test_what_a_file_imports_opens_lists_or_looks_for_has_changed(self) -> None:
        self.changes(
            top="import helper", tag="helper.A", before={"dags/helper.py": "A = 1"}, after={"dags/helper.py": "A = 2"}
        )
        self.changes(
            name="same size and times",
            top="from pkg.inner import A",
            tag="A",
            before={"dags/pkg/__init__.py": "", "dags/pkg/inner.py": "A = 1"},
            after={"dags/pkg/inner.py": "A = 7"},
        )
        self.changes(
            name="a module that comes before on the path",
            top="import helper",
            tag="helper.A",
            before={"plugins/helper.py": "A = 1"},
            after={"dags/helper.py": "A = 2"},
        )
        self.changes(
            name="a module that was missing",
            top="try:\n    from late import A\nexcept ImportError:\n    A = 0",
            tag="A",
            before={},
            after={"late.py": "A = 2"},
        )
        self.changes(
            name="a submodule that was missing",
            top="import pkg\ntry:\n    from pkg import late\n    A = 1\nexcept ImportError:\n    A = 0",
            tag="A",
            before={"dags/pkg/__init__.py": ""},
            after={"dags/pkg/late.py": ""},
        )
        self.changes(
            name="an opened file",
            top="import json\nA = json.load(open('include/a.json'))",
            tag="A",
            before={"include/a.json": "1"},
            after={"include/a.json": "2"},
        )
        self.changes(
            name="a file that was looked for",
            top="import os\nA = os.path.exists('include/a.json')",
            tag="A",
            before={"include/b.json": "1"},
            after={"include/a.json": "2"},
        )
        self.changes(
            name="a file that could not be opened",
            top="try:\n    A = open('a.txt').read()\nexcept OSError:\n    A = ''",
            tag="A",
            before={},
            after={"a.txt": "2"},
        )
        self.changes(
            name="a folder that was listed",
            top="from pathlib import Path\nA = sorted(p.name for p in Path('include').glob('*.json'))",
            tag="A",
            before={"include/a.json": ""},
            after={"include/b.json": ""},
        )
        self.changes(
            name="a file that is gone",
            top="import glob\nA = glob.glob('include/*')",
            tag="A",
            before={"include/a.json": "", "include/b.json": ""},
            after={"include/b.json": None},
        )
        self.changes(
            name="a module that was loaded by its path",
            top="from importlib.util import module_from_spec, spec_from_file_location\n"
            "S = spec_from_file_location('x', 'include/x.py')\nM = module_from_spec(S)\nS.loader.exec_module(M)",
            tag="M.A",
            before={"include/x.py": "A = 1"},
            after={"include/x.py": "A = 2"},
        )

    def test_a_template_or_a_policy_has_changed(self) -> None:
        here = Workspace(self)
        here.dag(top="", tag="1")
        here.tags()
        self.assertTrue(here.tags()[1])
        here.write(
            "plugins/p.py",
            "from airflow.plugins_manager import AirflowPlugin\nclass P(AirflowPlugin):\n    name = 'p'\n",
        )
        self.assertFalse(here.tags()[1])
        here.tags()
        here.write("airflow_local_settings.py", "def dag_policy(dag):\n    dag.tags = ['policy']\n")
        self.assertEqual(here.tags(), (["policy"], False))

    def test_the_target_of_a_link_has_changed(self) -> None:
        here = Workspace(self)
        here.write("v1/a.txt", "1")
        here.write("v2/a.txt", "2")
        link = os.path.join(here.root, "now")
        os.symlink("v1", link)
        here.dag(top="from pathlib import Path\nA = Path('now').resolve().joinpath('a.txt').read_text()", tag="A")
        here.tags()
        self.assertEqual(here.tags(), (["1"], True))
        os.unlink(link)
        os.symlink("v2", link)
        self.assertEqual(here.tags(), (["2"], False))

    def test_a_variable_of_the_environment_has_changed(self) -> None:
        here = Workspace(self)
        here.dag(top="import os", tag="os.environ.get('SHOP', 'none')")
        here.tags()
        self.assertEqual(here.tags(), (["none"], True))
        os.environ["SHOP"] = "x"
        self.addCleanup(os.environ.pop, "SHOP")
        self.assertEqual(here.tags(), (["x"], False))
        self.assertEqual(here.tags(env={"SHOP": "y"}), (["y"], False))
        here.dag(top="import os", tag="dict(os.environ).get('SHOP')")
        here.tags()
        os.environ["SHOP"] = "z"
        self.assertEqual(here.tags(), (["z"], False))

    def test_svc_or_an_installed_package_has_changed(self) -> None:
        here = Workspace(self)
        here.dag()
        here.tags()
        self.assertTrue(here.tags()[1])
        here.server.cache._own = "a later version"
        self.assertFalse(here.tags()[1])
        with tempfile.TemporaryDirectory() as packages:
            here.server.cache._site.append(packages)
            here.tags()
            self.assertTrue(here.tags()[1])
            os.mkdir(os.path.join(packages, "x-1.0.dist-info"))
            self.assertFalse(here.tags()[1])

    def test_a_file_without_its_right_to_be_read_is_read_again(self) -> None:
        here = Workspace(self)
        here.dag()
        here.tags()
        os.chmod(os.path.join(here.root, "dags", "a.py"), 0o600)
        self.assertFalse(here.tags()[1])


class Never(unittest.TestCase):
    def test_a_file_that_asks_for_time_chance_programs_or_variables_is_loaded_each_time(self) -> None:
        here = Workspace(self)
        for top in (
            "from datetime import datetime\nA = datetime.now()",
            "import datetime as d\nA = d.date.today()",
            "from datetime import datetime\ndef f():\n    return datetime.now()\nA = f()",
            "from datetime import datetime\nA = (lambda: datetime.now())()",
            "from datetime import datetime\nfrom dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: object = field(default_factory=datetime.now)\nA = C()",
            "from datetime import datetime\nA = getattr(datetime, 'now')()",
            "import time\nA = time.time()",
            "from time import time\nA = time()",
            "from random import random\nA = random()",
            "import random\nA = random.choice([1, 2])",
            "import uuid\nA = uuid.uuid4()",
            "from airflow.utils.dates import days_ago\nA = days_ago(1)",
            "from airflow.sdk import timezone\nA = timezone.utcnow()",
            "import pendulum\nA = pendulum.today('UTC')",
            "import clock\nA = clock.now()",
            "import subprocess\nA = subprocess.run(['true'])",
            "import os\nA = os.system('true')",
            "import socket\nA = socket.socket()",
            "import threading\nthreading.Thread(target=print).start()\nA = 1",
            "A = open('/proc/self/stat').read()",
            "A = open('include/out.txt', 'w').write('')",
            "from airflow.sdk import Variable\nA = Variable.get('x', default=1)",
        ):
            with self.subTest(top):
                here.write("dags/clock.py", "import datetime\ndef now():\n    return datetime.datetime.now()\n")
                here.write("include/out.txt", "")
                os.chmod(os.path.join(here.root, "include/out.txt"), 0o666)
                here.dag(top=top, tag="len(str(A))")
                first = here.tags()
                self.assertIsInstance(first[0], list, first)
                self.assertFalse(here.tags()[1])

    def test_a_file_that_does_not_load_is_loaded_each_time(self) -> None:
        here = Workspace(self)
        here.dag(top="import missing_package")
        here.tags()
        self.assertFalse(here.tags()[1])

    def test_an_entry_that_cannot_be_read_is_made_again(self) -> None:
        here = Workspace(self)
        here.dag()
        here.tags()
        (entry,) = (name for name in os.listdir(here.kept) if name.endswith(".json"))
        for text in ("", "{}\n{}\n{}", "\n\n\n", '{"request": 1}'):
            with open(os.path.join(here.kept, entry), "w") as file:
                file.write(text)
            self.assertEqual(here.tags(), (["1"], False))
            self.assertTrue(here.tags()[1])


if __name__ == "__main__":
    unittest.main()
