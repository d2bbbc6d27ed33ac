"""What is told of an installer's words, and the empty packages that stand for Airflow."""

import os
import sys
import tempfile
import unittest
import zipfile

from svc_runtime import install_packages as install


class StandIns(unittest.TestCase):
    def test_they_are_empty_always_the_same_and_bring_what_airflow_brings_along(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            install.write_stand_ins(one)
            install.write_stand_ins(two)
            names = sorted(os.listdir(one))
            self.assertEqual(len(names), len(install.STAND_INS))
            for name in names:
                with open(os.path.join(one, name), "rb") as first, open(os.path.join(two, name), "rb") as second:
                    self.assertEqual(first.read(), second.read())
            core = zipfile.ZipFile(os.path.join(one, "apache_airflow_core-3.2.2+svc-py3-none-any.whl"))
            self.assertTrue(all(".dist-info/" in name for name in core.namelist()))
            about = core.read("apache_airflow_core-3.2.2+svc.dist-info/METADATA").decode()
            # Without a version: a list that pins SQLAlchemy 1.4 is the author's to make.
            self.assertIn("Requires-Dist: sqlalchemy\n", about)
            self.assertNotIn("Requires-Dist: apache-airflow", about)


class Commands(unittest.TestCase):
    def test_the_pip_of_another_interpreter_is_run_in_the_one_it_installs_for(self):
        files = {"stand_ins": "/pins.txt"}
        with tempfile.TemporaryDirectory() as pip:
            old, _ = install.pip_command("/env/bin/python", pip, files)
            self.assertEqual(old[:5], [sys.executable, "-m", "pip", "--python", "/env/bin/python"])
            runner = os.path.join(pip, "__pip-runner__.py")
            with open(runner, "w", encoding="utf-8"):
                pass
            new, _ = install.pip_command("/env/bin/python", pip, files)
            self.assertEqual(new[:2], ["/env/bin/python", runner])
        own, _ = install.pip_command("/env/bin/python", None, files)
        self.assertEqual(own[:3], ["/env/bin/python", "-m", "pip"])
        for words in (old, new, own):
            self.assertEqual(words[words.index("install") + 1 :][-2:], ["--constraint", "/pins.txt"])


class Entries(unittest.TestCase):
    def test_one_that_could_become_an_option_is_refused(self):
        self.assertEqual(install.steps_of(["a", "-c b==1"]), [([], ["a"], ["b==1"])])
        for entry in ("-r /etc/passwd", "--target=/tmp/x", "a\n-r b", "--step --target=/tmp/x", "--steps"):
            with self.assertRaises(install.Refused):
                install.steps_of([entry])

    def test_steps_keep_their_order_and_their_own_flags_and_constraints(self):
        entries = ["a==1", "--step --no-deps --upgrade", "a==2", "-c b==1", "--step", "--step", "c"]
        self.assertEqual(
            install.steps_of(entries),
            [([], ["a==1"], []), (["--no-deps", "--upgrade"], ["a==2"], ["b==1"]), ([], ["c"], [])],
        )


class Words(unittest.TestCase):
    packages = ["fine", "Some.Package[x]==9 ; python_version > '3'", "git+https://example.org/x.git#egg=tool"]

    def told(self, output):
        refused = install.explained(output, self.packages)
        return str(refused), refused.entry

    def test_the_entry_is_named_as_it_was_written(self):
        why, entry = self.told(
            "ERROR: Could not find a version that satisfies the requirement some-package==9 (from versions: 1.0, 2.0)\n"
            "ERROR: No matching distribution found for some-package==9\n"
        )
        self.assertEqual((why, entry), ("there is no such version, only 1.0, 2.0", self.packages[1]))

    def test_a_conflict_is_told_with_its_parts(self):
        why, entry = self.told(
            "ERROR: Cannot install fine and some-package because …\nThe conflict is caused by:\n"
            "    some-package 9 depends on apache-airflow<3\n    The user requested (constraint) apache-airflow==3.2.2+svc\n"
            "\nTo fix this you could try to:\n"
        )
        self.assertIn("some-package 9 depends on apache-airflow<3; The user requested", why)
        self.assertEqual(entry, self.packages[1])

    def test_no_index_and_no_compiler_are_told_apart(self):
        self.assertEqual(
            self.told("WARNING: Retrying … NewConnectionError …\nERROR: No matching distribution found for fine")[0],
            "the package index cannot be reached",
        )
        why, entry = self.told("error: command 'gcc' failed: No such file\nERROR: Failed building wheel for tool\n")
        self.assertIn("cannot be built", why)
        self.assertEqual(entry, self.packages[2])

    def test_a_package_that_cannot_be_built_is_told_apart_with_its_system_package_and_who_asks_for_it(self):
        pip_asks = """Collecting Some.Package[x]==9
  Preparing metadata (pyproject.toml): finished with status 'error'
  error: subprocess-exited-with-error
  Error: pg_config executable not found.
error: metadata-generation-failed
"""
        pip_builds = """Collecting libsass==0.2 (from fine->-r packages.txt (line 1))
error: command 'gcc' failed: No such file
  ERROR: Failed building wheel for libsass
"""
        uv_builds = """  × Failed to build `libsass==0.2`
  ╰─▶ no compiler
  help: `libsass` (v0.2) was included because `fine` (v1) depends on it
"""
        for output, entry, words in (
            (pip_asks, self.packages[1], "pg_config executable not found. (apt-get install libpq-dev)"),
            (pip_builds, "fine", "libsass, which it needs,"),
            (uv_builds, "fine", "libsass, which it needs,"),
        ):
            refused = install.explained(output, self.packages)
            self.assertEqual((refused.entry, refused.unbuilt), (entry, True), output)
            self.assertIn(words, str(refused))
        self.assertFalse(install.explained("ERROR: No matching distribution found for fine", self.packages).unbuilt)

    def test_uv_is_understood_over_its_lines(self):
        why, entry = self.told(
            "  × No solution found when resolving dependencies:\n"
            "  ╰─▶ Because there is no version of some-package==9 and you require\n      some-package==9, we can conclude …\n"
        )
        self.assertTrue(why.startswith("Because there is no version of some-package==9 and you require some-package"))
        self.assertEqual(entry, self.packages[1])

    def test_progress_is_what_people_wait_for(self):
        for line, shown in (
            ("Collecting pandas>=2 (from x)", "looking for pandas>=2"),
            ("  Downloading numpy-2.1.0-cp311-manylinux.whl (16.3 MB)", "fetching numpy-2.1.0 (16.3 MB)"),
            ("Resolved 11 packages in 5ms", "11 packages"),
            ("Bytecode compiled 812 files in 1.2s", "compiled 812 files"),
            ("Requirement already satisfied: x", None),
        ):
            self.assertEqual(install.progress_of(line), shown)


if __name__ == "__main__":
    unittest.main()
