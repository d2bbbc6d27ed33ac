"""ObjectStoragePath: addresses and names, local files with and without fsspec, stores in memory and of a provider package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from svc_runtime.run.files import ObjectStoragePath
from svc_runtime.run.xcom_values import decode, encode

from . import PYTHON
from .run_agent import Agent

# Where fsspec can be imported from: packages/spec/python.test.ts says it.
FSSPEC = os.environ.get("SVC_TEST_FSSPEC", "")

HEAD = """
import json, os, sys
from airflow.sdk import ObjectStoragePath
from airflow.sdk.io import attach
found = {}
"""

# A provider with a filesystem: folders below the one that the connection names.
SHELF = {
    "airflow/providers/shelf/__init__.py": "",
    "airflow/providers/shelf/fs/__init__.py": "",
    "airflow/providers/shelf/fs/shelf.py": """
        from airflow.providers.common.compat.sdk import BaseHook
        schemes = ["shelf"]
        def get_fs(conn_id, storage_options=None):
            from fsspec.implementations.dirfs import DirFileSystem
            from fsspec.implementations.local import LocalFileSystem
            root = BaseHook.get_connection(conn_id).extra_dejson["root"]
            return DirFileSystem(root + (storage_options or {}).get("below", ""), LocalFileSystem(auto_mkdir=True))
    """,
    "airflow/providers/shelf/get_provider_info.py": """
        def get_provider_info():
            return {"package-name": "apache-airflow-providers-shelf", "filesystems": ["airflow.providers.shelf.fs.shelf"]}
    """,
    "apache_airflow_providers_shelf-1.0.dist-info/METADATA": """
        Metadata-Version: 2.1
        Name: apache-airflow-providers-shelf
        Version: 1.0
    """,
    "apache_airflow_providers_shelf-1.0.dist-info/entry_points.txt": """
        [apache_airflow_provider]
        provider_info=airflow.providers.shelf.get_provider_info:get_provider_info
    """,
}


def found_by(text: str, *folders: str, env: dict | None = None) -> dict:
    """What a program of its own leaves in `found`."""
    program = HEAD + textwrap.dedent(text) + "\njson.dump(found, sys.stdout)\n"
    settings = {**os.environ, **(env or {}), "PYTHONPATH": os.pathsep.join([PYTHON, *folders])}
    done = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Names(unittest.TestCase):
    def test_an_address_has_a_scheme_a_connection_a_bucket_and_a_key(self) -> None:
        path = ObjectStoragePath("s3://aws_team@my-bucket/in/2024/rows.tar.gz")
        self.assertEqual(
            [path.protocol, path.conn_id, path.bucket, path.container, path.key, path.namespace],
            ["s3", "aws_team", "my-bucket", "my-bucket", "in/2024/rows.tar.gz", "s3://my-bucket"],
        )
        self.assertEqual([path.name, path.stem, path.suffix], ["rows.tar.gz", "rows.tar", ".gz"])
        self.assertEqual(path.suffixes, [".tar", ".gz"])
        self.assertEqual(path.path, "my-bucket/in/2024/rows.tar.gz")
        self.assertEqual(str(path), "s3://aws_team@my-bucket/in/2024/rows.tar.gz")
        self.assertEqual(path.as_uri(), "s3://my-bucket/in/2024/rows.tar.gz")
        self.assertEqual(str(ObjectStoragePath("s3://b/k", conn_id="other")), "s3://other@b/k")
        self.assertEqual(ObjectStoragePath("s3://url@b/k", conn_id="argument").conn_id, "url")
        self.assertIsNone(ObjectStoragePath("http://ada:secret@example.org/a").conn_id)

    def test_joined_paths_keep_what_the_first_has(self) -> None:
        base = ObjectStoragePath("s3://bucket/", conn_id="team", below="x")
        path = base / "a" / "b.txt"
        self.assertEqual([str(path), path.storage_options], ["s3://team@bucket/a/b.txt", {"below": "x"}])
        self.assertEqual(path, base.joinpath("a/", "b.txt"))
        self.assertEqual(path, ObjectStoragePath(base, "a", "b.txt"))
        self.assertEqual(len({path, ObjectStoragePath(path)}), 1)
        self.assertNotEqual(path, ObjectStoragePath("s3://bucket/a/b.txt"))
        self.assertEqual([str(parent) for parent in path.parents], ["s3://team@bucket/a", "s3://team@bucket/"])
        self.assertEqual(str(path.with_suffix(".csv")), "s3://team@bucket/a/b.csv")
        self.assertEqual(str(path.with_name("c")), "s3://team@bucket/a/c")
        self.assertTrue(path.is_relative_to(base))
        self.assertTrue(path.is_relative_to("s3://bucket/a"))
        self.assertFalse(path.is_relative_to("gs://bucket/a"))
        self.assertEqual(str(path.relative_to(base)), "a/b.txt")
        self.assertEqual(str((base / "a/../b/./c").resolve()), "s3://team@bucket/b/c")
        with self.assertRaises(TypeError):
            base / 1

    def test_paths_without_a_scheme_are_local(self) -> None:
        path = ObjectStoragePath("/data", "in", "a.txt")
        self.assertEqual([path.protocol, str(path), path.bucket, path.key], ["", "/data/in/a.txt", "", "data/in/a.txt"])
        self.assertEqual(os.fspath(path.parent), "/data/in")
        known = ObjectStoragePath("file:///data/in/a.txt")
        self.assertEqual([known.protocol, str(known), known.path], ["file", "file:///data/in/a.txt", "/data/in/a.txt"])
        self.assertEqual(os.fspath(known), os.fspath(path))
        with self.assertRaisesRegex(TypeError, "is no local file"):
            os.fspath(ObjectStoragePath("s3://bucket/a"))

    def test_between_tasks_they_stay_paths(self) -> None:
        for path in (
            ObjectStoragePath("s3://team@bucket/a/b"),
            ObjectStoragePath("gs://bucket/a", conn_id="google", project="x"),
            ObjectStoragePath("/data/a"),
        ):
            sent = encode([path])
            self.assertEqual(sent[0]["__classname__"], "airflow.sdk.io.path.ObjectStoragePath")
            self.assertEqual(decode(json.loads(json.dumps(sent))), [path])


class Files(unittest.TestCase):
    folder: str

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def test_fsspec_was_named(self) -> None:
        self.assertTrue(os.path.isdir(os.path.join(FSSPEC, "fsspec")), "run by packages/spec/python.test.ts")

    def everything(self, base: str, *folders: str, head: str = "") -> dict:
        text = f"""
            {head}
            base = ObjectStoragePath({base!r})
            def names(paths):
                return sorted(str(path.relative_to(base)) for path in paths)
            base.mkdir(parents=True, exist_ok=True)
            first = base / "in" / "a.txt"
            first.parent.mkdir()
            found["written"] = first.write_text("ä rows\\n", encoding="utf-8")
            (base / "in" / "b.bin").write_bytes(b"0123456789")
            with (base / "in" / "b.bin").open("rb") as file:
                file.seek(3)
                found["part"] = file.read(2).decode()
            found["block"] = (base / "in" / "b.bin").read_block(2, 3).decode()
            found["text"] = first.read_text(encoding="utf-8")
            found["is"] = [first.exists(), first.is_file(), first.is_dir(), first.parent.is_dir(), (base / "no").exists()]
            found["stat"] = [first.stat().st_size, first.size(), first.stat()["size"]]
            found["listed"] = names((base / "in").iterdir())
            found["glob"] = names(base.glob("**/*.txt"))
            found["rglob"] = names(base.rglob("*.bin"))
            found["walk"] = [[str(at.relative_to(base)), sorted(dirs), sorted(files)] for at, dirs, files in base.walk()]
            first.copy(base / "copied.txt")
            (base / "in").copy(base / "all", recursive=True)
            (base / "in" / "b.bin").move(base / "moved.bin")
            (base / "moved.bin").rename(base / "renamed.bin")
            (base / "empty").touch()
            found["after"] = names(path for path in base.rglob("*") if path.is_file())
            for wrong in (lambda: (base / "in").copy(base / "x"), lambda: (base / "no").read_text(),
                          lambda: (base / "no").unlink(), lambda: (base / "in").mkdir(), lambda: first.rmdir()):
                try:
                    wrong()
                except OSError as error:
                    found.setdefault("wrong", []).append(type(error).__name__)
            (base / "no").unlink(missing_ok=True)
            (base / "empty").unlink()
            (base / "all").rmdir()
            found["left"] = names(path for path in base.rglob("*") if path.is_file())
        """
        return found_by(text, *folders)

    EVERYTHING = {
        "written": 7,
        "part": "34",
        "block": "234",
        "text": "ä rows\n",
        "is": [True, True, False, True, False],
        "stat": [8, 8, 8],
        "listed": ["in/a.txt", "in/b.bin"],
        "glob": ["in/a.txt"],
        "rglob": ["in/b.bin"],
        "walk": [[".", ["in"], []], ["in", [], ["a.txt", "b.bin"]]],
        "after": ["all/a.txt", "all/b.bin", "copied.txt", "empty", "in/a.txt", "renamed.bin"],
        "wrong": [
            "IsADirectoryError",
            "FileNotFoundError",
            "FileNotFoundError",
            "FileExistsError",
            "NotADirectoryError",
        ],
        "left": ["copied.txt", "in/a.txt", "renamed.bin"],
    }

    def test_local_files_need_no_package(self) -> None:
        self.assertEqual(self.everything(os.path.join(self.folder, "plain")), self.EVERYTHING)
        hidden = found_by("import importlib.util as u; found['fsspec'] = u.find_spec('fsspec') is not None")
        self.assertEqual(hidden, {"fsspec": False})

    def test_with_fsspec_local_files_behave_the_same(self) -> None:
        self.assertEqual(self.everything(f"file://{self.folder}/known", FSSPEC), self.EVERYTHING)

    def test_any_filesystem_of_fsspec_serves_its_scheme(self) -> None:
        self.assertEqual(self.everything("memory://bucket/base", FSSPEC), self.EVERYTHING)

    def test_copies_go_up_down_and_across_stores(self) -> None:
        text = f"""
            from fsspec.implementations.dirfs import DirFileSystem
            from fsspec.implementations.local import LocalFileSystem
            attach(protocol="drawer", fs=DirFileSystem({self.folder!r} + "/drawer", LocalFileSystem(auto_mkdir=True)))
            local, memory, drawer = (ObjectStoragePath(p) for p in ({self.folder!r}, "memory://m", "drawer://d"))
            (local / "a.txt").write_text("one")
            (local / "a.txt").copy(memory / "x" / "a.txt")
            (memory / "x" / "a.txt").copy(drawer / "up.txt")
            (memory / "x").copy(drawer / "all", recursive=True)
            (drawer / "up.txt").move(memory / "again.txt")
            (memory / "again.txt").copy(local / "down.txt")
            found["down"] = (local / "down.txt").read_text()
            found["drawer"] = sorted(path.key for path in drawer.rglob("*") if path.is_file())
            found["same"] = [memory.samestore(memory / "x"), memory.samestore(drawer), (memory / "x").samefile(memory / "x")]
        """
        self.assertEqual(
            found_by(text, FSSPEC), {"down": "one", "drawer": ["all/x/a.txt"], "same": [True, False, True]}
        )

    def test_what_is_missing_is_named_when_a_store_is_first_used(self) -> None:
        text = """
            for name in ("s3://b/k", "gs://team@b/k", "abfs://b/k", "memory://b/k", "nosuch://b/k", "memory://team@b/k"):
                path = ObjectStoragePath(name) / "more"
                try:
                    path.exists()
                except Exception as error:
                    found[name] = f"{type(error).__name__}: {error}"
        """
        without = found_by(text)
        self.assertIn("install apache-airflow-providers-amazon[s3fs] in the environment", without["s3://b/k"])
        self.assertIn("install apache-airflow-providers-google in the environment", without["gs://team@b/k"])
        self.assertIn("install apache-airflow-providers-microsoft-azure in the", without["abfs://b/k"])
        self.assertIn("install fsspec, and the package that has this scheme", without["memory://b/k"])
        self.assertEqual(
            {text.partition(":")[0] for text in without.values()}, {"AirflowOptionalProviderFeatureException"}
        )
        known = found_by(text, FSSPEC)
        self.assertNotIn("memory://b/k", known)
        self.assertIn("install apache-airflow-providers-amazon[s3fs]", known["s3://b/k"])
        self.assertIn(
            "nosuch:// cannot be used here: install the package that has this scheme, or", known["nosuch://b/k"]
        )
        self.assertIn(
            "no installed provider package has a filesystem that uses a connection", known["memory://team@b/k"]
        )

    def shelf(self) -> str:
        for name, text in SHELF.items():
            path = os.path.join(self.folder, "packages", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text).lstrip())
        return os.path.join(self.folder, "packages")

    def test_the_filesystem_of_a_provider_has_the_connection_in_every_task(self) -> None:
        text = """
            from airflow.sdk import DAG, BaseOperator, ObjectStoragePath, task

            base = ObjectStoragePath("shelf://big@books")  # no connection can be asked for while a file loads
            with DAG("d", schedule=None):
                @task
                def write():
                    path = base / "a" / "b.txt"
                    path.write_text("from a task")
                    return path

                @task
                def read(path):
                    return [path.read_text(), str(path), path.conn_id, [p.key for p in path.parent.iterdir()]]

                read(write())
        """
        text += """
                class Copy(BaseOperator):
                    template_fields = ("src",)
                    def __init__(self, src, **kwargs):
                        super().__init__(**kwargs)
                        self.src = src
                    def execute(self, context):
                        return [str(self.src), self.src.conn_id]

                Copy(task_id="copy", src=base / "{{ ds }}" / "{{ ti.task_id }}.sql")
        """
        root = json.dumps({"root": f"{self.folder}/store"})
        settings = {
            "PYTHONPATH": os.pathsep.join([self.shelf(), FSSPEC]),
            "AIRFLOW_CONN_BIG": json.dumps({"conn_type": "shelf", "extra": root}),
        }
        with Agent.ready(text, settings=settings) as agent:
            written = agent.run("write")
            self.assertEqual(written.result["state"], "success", written.text())
            self.assertTrue(os.path.isfile(f"{self.folder}/store/books/a/b.txt"))
            read = agent.run("read", values={"write": written.value()})
            self.assertEqual(read.result["state"], "success", read.text())
            self.assertEqual(read.value(), ["from a task", "shelf://big@books/a/b.txt", "big", ["a/b.txt"]])
            copied = agent.run("copy")
            self.assertEqual(copied.value(), ["shelf://big@books/2024-05-01/copy.sql", "big"], copied.text())


if __name__ == "__main__":
    unittest.main()
