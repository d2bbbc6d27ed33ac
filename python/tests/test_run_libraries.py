"""What libraries do when they are loaded that matters to processes forked behind it: threads, random numbers."""

from __future__ import annotations

import random
import textwrap
import unittest

from .run_agent import Agent

# As OpenBLAS does, which numpy loads.
MINDS_FORKS = """
    import os, threading
    from airflow.sdk import DAG, task

    class Pool:
        def __init__(self):
            self.start()
            os.register_at_fork(before=self.stop)
        def start(self):
            self.done = threading.Event()
            self.thread = threading.Thread(target=self.done.wait)
            self.thread.start()
        def stop(self):
            self.done.set()
            self.thread.join()

    pool, loaded_by = Pool(), os.getpid()

    with DAG("d", schedule=None):
        @task
        def t():
            pool.start()
            try:
                return [loaded_by, threading.active_count()]
            finally:
                pool.stop()
        t()
"""

# As jemalloc does, which pyarrow brings: its thread stays when the process forks, and nothing waits for it.
NAMED_THREAD = """
    import ctypes, os, threading
    from airflow.sdk import DAG, task

    named = threading.Event()

    def run():
        ctypes.CDLL(None).prctl(15, b"{name}", 0, 0, 0)
        named.set()
        threading.Event().wait()

    threading.Thread(target=run, daemon=True).start()
    named.wait()
    loaded_by = os.getpid()

    with DAG("d", schedule=None):
        @task
        def t():
            return loaded_by
        t()
"""

DRAWS = """
    import random
    from airflow.sdk import DAG, task
    {top}
    with DAG("d", schedule=None):
        @task
        def draw():
            return random.random()
        draw()
        @task
        def seed():
            random.seed(1)
            return random.random()
        seed()
"""

# What of numpy is looked at. That it is so is tested with numpy itself, in providers.services.test.ts.
NUMPY = textwrap.dedent("""
    class _Bits:
        _seed_seq = "noise"
    class _Rand:
        _bit_generator = _Bits()
    _rand, seeds = _Rand(), []
    def seed(value):
        seeds.append(value)
        _Bits._seed_seq = None
""")
DRAWS_NUMPY = """
    import sys, types
    from airflow.sdk import DAG, task

    mtrand = sys.modules["numpy.random.mtrand"] = types.ModuleType("mtrand")
    exec({numpy!r}, mtrand.__dict__)
    {top}
    with DAG("d", schedule=None):
        @task
        def seeds():
            return [list(seed) for seed in mtrand.seeds]
        seeds()
"""


class Threads(unittest.TestCase):
    def test_a_library_that_ends_its_threads_before_a_fork_is_loaded_once(self) -> None:
        with Agent(MINDS_FORKS) as agent:
            self.assertTrue(agent.loaded["preloaded"], agent.loaded)
            self.assertEqual([agent.run("t").value() for _ in range(3)], [[agent.server.pid, 2]] * 3)

    def test_a_thread_that_is_known_to_mind_forks_is_no_reason_to_load_anew(self) -> None:
        with Agent(NAMED_THREAD.format(name="jemalloc_bg_thd")) as agent:
            self.assertTrue(agent.loaded["preloaded"], agent.loaded)
            self.assertEqual(agent.run("t").value(), agent.server.pid)

    def test_another_that_stays_is(self) -> None:
        with Agent(NAMED_THREAD.format(name="somebody")) as agent:
            self.assertFalse(agent.loaded["preloaded"], agent.loaded)
            self.assertNotEqual(agent.run("t").value(), agent.server.pid)


class RandomNumbers(unittest.TestCase):
    def test_each_attempt_has_its_own(self) -> None:
        for top in ("", "random.seed()", "random.random()"):
            with self.subTest(top), Agent(DRAWS.format(top=top)) as agent:
                drawn = [agent.run("draw").value(), agent.run("seed").value(), agent.run("draw").value()]
                self.assertEqual(len(set(drawn)), 3, drawn)

    def test_a_file_that_seeds_them_has_the_same_in_every_attempt(self) -> None:
        expected = random.Random(42).random()
        for top in ("random.seed(42)", "random.seed(a=42)", "random.seed(7); random.seed(42, version=2)"):
            with self.subTest(top), Agent(DRAWS.format(top=top)) as agent:
                self.assertEqual([agent.run("draw").value() for _ in range(2)], [expected] * 2)
                self.assertEqual(agent.run("seed").value(), random.Random(1).random())

    def test_those_of_numpy_are_seeded_in_each_attempt(self) -> None:
        with Agent(DRAWS_NUMPY.format(numpy=NUMPY, top="")) as agent:
            first, second = agent.run("seeds").value(), agent.run("seeds").value()
            self.assertEqual([len(first), len(second)], [1, 1])
            self.assertNotEqual(first, second)

    def test_but_not_where_the_file_has_done_so(self) -> None:
        with Agent(DRAWS_NUMPY.format(numpy=NUMPY, top="mtrand.seed([42])")) as agent:
            self.assertEqual(agent.run("seeds").value(), [[42]])
