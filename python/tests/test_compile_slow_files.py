"""A file that never ends does not keep others from being compiled, even where one is compiled at a time."""

from __future__ import annotations

import json
import pathlib
import tempfile
import unittest

from .support import make_server

_GOOD = 'from airflow.sdk import DAG\nwith DAG("good{0}", schedule=None):\n    pass\n'


class SlowFiles(unittest.TestCase):
    def test_others_are_answered_before_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "endless.py").write_text("while True: pass\n", encoding="utf-8")
            server = make_server(concurrency=1)
            limits = {"wall_seconds": 600, "cpu_seconds": 600}
            server.submit({"id": 0, "path": str(place / "endless.py"), "limits": limits})
            for number in range(1, 4):
                path = place / f"good{number}.py"
                path.write_text(_GOOD.format(number), encoding="utf-8")
                server.submit({"id": number, "path": str(path), "limits": limits})
            answered: list = []
            while len(answered) < 3:
                answered += [json.loads(answer) for answer in server.step()]
            # On a busy machine, the others overtake each other as well.
            ended = sorted((answer["id"], answer["ok"]) for answer in answered)
            self.assertEqual(ended, [(1, True), (2, True), (3, True)])
            [endless] = server.jobs.values()
            endless.limits.wall_seconds = 0.001  # it has run long enough
            while not (last := server.step()):
                pass
            error = json.loads(last[0])["error"]
            self.assertEqual((error["type"], error["path"]), ("timeout", "endless.py"))
            self.assertIn("0.001 seconds", error["message"])


if __name__ == "__main__":
    unittest.main()
