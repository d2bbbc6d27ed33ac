"""Files that try to harm the compiler: each ends in a clear error, and nothing is left behind."""

from __future__ import annotations

import os
import tempfile
import time
import traceback
import unittest

from svc_runtime.compile.preload import preload

from .support import compile_path, compile_text, compile_texts

NOBODY = 65534

FINE = 'from airflow.sdk import DAG\nwith DAG("fine"):\n    pass\n'


def children() -> list:
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children", encoding="ascii") as file:
        return file.read().split()


def as_ordinary_user(test: unittest.TestCase, check) -> None:
    """Root may read everything, so root's tests hand the check to a process that is not root."""
    if os.getuid() != 0:
        check()
        return
    preload()  # what lies where only root can read is loaded before
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            check()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    test.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, "see the traceback above")


class Hostile(unittest.TestCase):
    def tearDown(self) -> None:
        self.assertEqual(children(), [], "a process was left behind")

    def refused(self, text: str, kind: str, **limits) -> dict:
        answer = compile_text(text, **limits)
        self.assertFalse(answer["ok"], answer)
        self.assertEqual(answer["error"]["type"], kind, answer["error"])
        self.assertEqual(answer["error"]["path"], "dag.py")
        self.assertEqual(answer["dags"], [])
        return answer

    def test_endless_loop(self) -> None:
        answer = self.refused("while True:\n    pass\n", "timeout", wall_seconds=1)
        self.assertIn("1 seconds", answer["error"]["message"])

    def test_endless_loop_that_ignores_signals_and_exceptions(self) -> None:
        text = (
            "import signal\nfor n in range(1, 65):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n    except Exception:\n        pass\n"
            "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass\n"
        )
        self.refused(text, "timeout", wall_seconds=1)

    def test_endless_sleep_in_a_thread_left_running_does_not_delay_the_answer(self) -> None:
        text = "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()\n" + FINE
        started = time.monotonic()
        self.assertTrue(compile_text(text)["ok"])
        self.assertLess(time.monotonic() - started, 3600)

    def test_huge_output(self) -> None:
        answer = self.refused("while True:\n    print('x' * 100_000)\n", "output", output_bytes=2_000_000)
        self.assertLessEqual(len(answer["output"]), 70_000)
        self.assertTrue(answer["output_truncated"])

    def test_output_below_the_limit_is_cut_but_no_error(self) -> None:
        answer = compile_text("print('x' * 500_000)\n" + FINE)
        self.assertTrue(answer["ok"])
        self.assertTrue(answer["output_truncated"])
        self.assertEqual(len(answer["output"]), 64 * 1024)

    def test_output_that_is_not_text(self) -> None:
        answer = compile_text("import os\nos.write(1, bytes(range(256)))\n" + FINE)
        self.assertTrue(answer["ok"])

    def test_fork_bomb_in_python(self) -> None:
        text = "import os, time\nfor _ in range(8):\n    try:\n        os.fork()\n    except OSError:\n        pass\ntime.sleep(500)\n"
        self.refused(text, "processes", wall_seconds=500)

    def test_kernel_refuses_more_processes_than_allowed(self) -> None:
        text = (
            "import os, time\nstarted = 0\ntry:\n    while started < 200:\n        if os.fork() == 0:\n            time.sleep(500)\n"
            "        started += 1\nexcept OSError:\n    pass\nraise ValueError(f'started {started}')\n"
        )
        answer = compile_text(text, processes=5, wall_seconds=500)
        self.assertFalse(answer["ok"])
        # Whoever comes first, the limit of the kernel or the count of the server: never two hundred.
        if answer["error"]["type"] == "error":
            self.assertLess(int(answer["error"]["message"].split()[-1]), 30)
        else:
            self.assertEqual(answer["error"]["type"], "processes")

    def test_file_does_not_run_as_root_but_reads_what_root_reads(self) -> None:
        text = (
            "import os\nassert os.getuid() != 0\nos.listdir('/root')\n"
            "for path in (__file__, '/etc/svc_probe'):\n    try:\n        open(path, 'a')\n    except OSError:\n        continue\n    raise SystemExit('could write')\n"
        )
        own = f"import os\nassert os.getuid() == {os.getuid()}\n"
        answer = compile_text((text if os.getuid() == 0 else own) + FINE)
        self.assertTrue(answer["ok"], answer.get("error"))

    def test_fork_bomb_in_a_shell(self) -> None:
        # Bounded by itself as well, so that a broken limit fails the test and not the machine.
        text = "import os\nos.system('for i in $(seq 100); do sleep 500 & done')\n"
        self.refused(text, "processes", wall_seconds=500)

    def test_process_that_leaves_the_group_is_still_collected(self) -> None:
        text = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n" + FINE
        self.assertTrue(compile_text(text)["ok"])

    def test_daemon_that_detaches_twice_is_still_collected(self) -> None:
        text = (
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)\n"
            "time.sleep(0.2)\n" + FINE
        )
        self.assertTrue(compile_text(text)["ok"])

    def test_few_subprocesses_are_allowed(self) -> None:
        text = "import subprocess\nassert subprocess.check_output(['echo', 'x']) == b'x\\n'\n" + FINE
        self.assertTrue(compile_text(text)["ok"])

    def test_a_forked_copy_of_the_file_cannot_answer_twice(self) -> None:
        # Two answers in one pipe are not JSON; one may also win. Either way each request has one answer, and it is true.
        forked, next_file = compile_texts("import os\nos.fork()\n" + FINE, FINE)
        self.assertEqual([dag["dag_id"] for dag in forked["dags"]], ["fine"] if forked["ok"] else [])
        self.assertTrue(next_file["ok"], next_file.get("error"))
        self.assertEqual([dag["dag_id"] for dag in next_file["dags"]], ["fine"])

    def test_sys_exit(self) -> None:
        answer = self.refused("import sys\n\nsys.exit(3)\n", "exit")
        self.assertEqual(answer["error"]["line"], 3)

    def test_os_exit(self) -> None:
        self.refused("import os\nos._exit(0)\n", "exit")

    def test_crash(self) -> None:
        self.refused("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "crash")

    def test_keyboard_interrupt_and_generator_exit(self) -> None:
        self.refused("raise KeyboardInterrupt\n", "error")
        self.refused("raise GeneratorExit\n", "error")

    def test_closing_every_descriptor(self) -> None:
        answer = compile_text("import os\nos.closerange(0, 100)\n" + FINE)
        self.assertFalse(answer["ok"])

    def test_memory(self) -> None:
        self.refused("x = bytearray(8 * 1024 ** 3)\n", "memory", memory_bytes=1024**3)

    def test_memory_in_small_steps(self) -> None:
        self.refused("x = []\nwhile True:\n    x.append('y' * 1_000_000)\n", "memory", memory_bytes=1024**3)

    def test_large_file_on_disk(self) -> None:
        text = "import tempfile\nwith tempfile.TemporaryFile() as f:\n    for _ in range(200):\n        f.write(b'x' * 1_000_000)\n"
        answer = compile_text(text, file_bytes=1_000_000)
        self.assertFalse(answer["ok"])

    def test_deep_recursion(self) -> None:
        self.refused("def f():\n    f()\nf()\n", "recursion")

    def test_deeply_nested_source(self) -> None:
        answer = compile_text("x = " + "(" * 5000 + ")" * 5000)
        self.assertFalse(answer["ok"])

    def test_fifty_thousand_tasks(self) -> None:
        text = (
            "from airflow.sdk import DAG\nfrom airflow.providers.standard.operators.empty import EmptyOperator\n"
            "with DAG('many'):\n    for i in range(50_000):\n        EmptyOperator(task_id=f't{i}')\n"
        )
        answer = self.refused(text, "cannot_record")
        self.assertIn("more than 10000 tasks", answer["error"]["message"])
        self.assertEqual(answer["error"]["line"], 5)

    def test_result_larger_than_allowed(self) -> None:
        text = (
            "from airflow.sdk import DAG\nfrom airflow.operators.bash import BashOperator\n"
            "with DAG('big'):\n    BashOperator(task_id='t', bash_command='x' * 5_000_000)\n"
        )
        self.refused(text, "result_size", result_bytes=1_000_000)

    def test_value_that_contains_itself(self) -> None:
        text = (
            "from airflow.sdk import DAG\nfrom airflow.operators.python import PythonOperator\nx = []\nx.append(x)\n"
            "with DAG('loop'):\n    PythonOperator(task_id='t', python_callable=print, op_args=[x])\n"
        )
        self.refused(text, "cannot_record")

    def test_forged_result_is_not_trusted(self) -> None:
        text = "import os\nos.write(3, b'not json')\nos._exit(0)\n"
        self.refused(text, "exit")

    def test_syntax_error(self) -> None:
        answer = self.refused("x = 1\ndef f(:\n", "syntax")
        self.assertEqual(answer["error"]["line"], 2)

    def test_null_bytes(self) -> None:
        self.assertFalse(compile_text("x = '\0'\n")["ok"])


class Unreadable(unittest.TestCase):
    def check(self, path: str) -> None:
        answer = compile_path(path)
        self.assertFalse(answer["ok"])
        self.assertEqual(answer["error"]["type"], "unreadable", answer["error"])
        self.assertTrue(answer["error"]["instead"])

    def test_missing_file_directory_fifo_and_binary(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.check(os.path.join(folder, "missing.py"))
            self.check(folder)
            fifo = os.path.join(folder, "pipe.py")
            os.mkfifo(fifo)
            self.check(fifo)
            binary = os.path.join(folder, "binary.py")
            with open(binary, "wb") as file:
                file.write(b"\xff\xfe\x00\x01")
            self.check(binary)

    def test_no_permission(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = os.path.join(folder, "secret.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(FINE)
            os.chmod(path, 0)
            as_ordinary_user(self, lambda: self.check(path))

    def test_dangling_link(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            link = os.path.join(folder, "link.py")
            os.symlink("/nonexistent/dag.py", link)
            self.check(link)


if __name__ == "__main__":
    unittest.main()
