"""The compiler process: warm, single-threaded, one forked child per file.

Protocol: one JSON request per line on stdin, one JSON answer per line on stdout, in order of completion.

    {"id": 1, "path": "/dags/etl.py", "dags_folder": "/dags", "limits": {"wall_seconds": 30},
     "bundle": {"dags", "import_roots", "plugins"} | null, "env": {}}
    {"id": 1, "ok": true, "dags": [{"dag_id": …, "sha256": …, "spec": {…}}], "warnings": […], "output": "…", …}
    {"id": 1, "ok": false, "error": {"type", "message", "path", "line", "instead", "traceback"}, …}

`python -m svc_runtime.compile_server --once FILE [DAGS_FOLDER]` answers one request and ends.

A DAG file is hostile until proven otherwise, so the child, not the server, executes it, and the server:
- gives it limits (address space, CPU seconds, file size, open files, processes) and a wall clock,
- puts it into a process group of its own and kills the whole group at the end, whatever the outcome,
- collects processes that left the group (the server is their sub-reaper) and kills those too,
- when it is root itself, gives the child a user id of its own (with the right to read files, and no other): the
  kernel does not limit the processes of root, and a fork bomb is over before anybody could count; with `--group` without
  that right, and in that group: what root keeps from tasks is kept from files that are compiled,
- counts the processes the file started while it runs,
- reads its output and its result from pipes with a cap on each, and trusts the result only as JSON,
- with `--cache` gives the answer for a file again while nothing that it depends on has changed (compile/cache.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections import deque

from .compile.cache import Cache
from .compile.child import run_child
from .compile.kept import Kept
from .compile.limits import Limits, become_subreaper, group_size, reap_strays
from .compile.preload import look_at_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_POLL_SECONDS = 0.05
# Counting reads all of /proc (about 3 ms); the kernel's own limit holds meanwhile.
_COUNT_SECONDS = 0.25
# A file that takes longer than this does not keep the others waiting: so many of them run beside those that may at once.
_SLOW_SECONDS = 1.0
_SLOW_BESIDE = 4
# Answers of the cache between two looks at the files that are being loaded.
_KNOWN_AT_ONCE = 20


class _Job:
    def __init__(self, request: dict, limits: Limits) -> None:
        self.request = request
        self.limits = limits
        self.started = time.monotonic()
        self.output = bytearray()
        self.output_total = 0
        self.result = bytearray()
        self.pid = 0
        self.fds: dict = {}
        self.failure: dict | None = None
        self.status: int | None = None
        self.next_count = self.started + _COUNT_SECONDS

    @property
    def seconds(self) -> float:
        """More for a file that has said it waits for another program (child.py): reading a large dbt project takes minutes."""
        return max(self.limits.wall_seconds, self.limits.slow_seconds if self.result[:1] == b"\n" else 0)

    @property
    def deadline(self) -> float:
        return self.started + self.seconds


def _failure(kind: str, message: str, instead: str = "") -> dict:
    return {"type": kind, "message": message, "line": None, "instead": instead, "traceback": ""}


def _too_many_processes(limits: Limits) -> dict:
    return _failure(
        "processes",
        f"the file started more than {limits.processes:g} processes",
        "Start processes inside tasks, not at the top level",
    )


class Server:
    def __init__(
        self,
        concurrency: int = 1,
        group: int | None = None,
        kept: Kept | None = None,
        cache: Cache | None = None,
    ) -> None:
        self.concurrency = concurrency
        self.kept = kept or Kept()
        self.cache = cache or Cache()
        self.group = group
        self.jobs: dict = {}
        self.waiting: deque[dict] = deque()
        become_subreaper()

    def submit(self, request: dict) -> None:
        self.waiting.append(request)

    def _start(self, request: dict) -> None:
        limits = Limits.from_request(request.get("limits") or {})
        job = _Job(request, limits)
        look_at_path(request)
        out_read, out_write = os.pipe()
        result_read, result_write = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            # Read ends of every job stay with the server.
            for other in self.jobs.values():
                for fd in other.fds:
                    os.close(fd)
            os.close(out_read)
            os.close(result_read)
            kept = self.kept.of(request["path"])
            request = {**request, "kept": kept, "notes_reads": self.cache.is_on}
            run_child(request, limits, out_write, result_write, self.group)
            os._exit(0)
        os.close(out_write)
        os.close(result_write)
        with contextlib.suppress(OSError):  # the child was faster
            os.setpgid(pid, pid)
        job.pid = pid
        job.fds = {out_read: "output", result_read: "result"}
        self.jobs[pid] = job

    def _read(self, job: _Job, fd: int) -> None:
        chunk = os.read(fd, 1 << 16)
        if not chunk:
            os.close(fd)
            del job.fds[fd]
        elif job.fds[fd] == "output":
            job.output_total += len(chunk)
            room = job.limits.output_keep_bytes - len(job.output)
            job.output += chunk[: max(room, 0)]
            if job.output_total > job.limits.output_bytes:
                job.failure = _failure(
                    "output",
                    f"the file wrote more than {job.limits.output_bytes} bytes to its output",
                    "Remove prints from the top level of the file",
                )
        else:
            job.result += chunk
            if len(job.result) > job.limits.result_bytes:
                job.failure = _failure(
                    "result_size",
                    f"the compiled DAGs are larger than {job.limits.result_bytes} bytes",
                    "Move data out of task arguments, or split the file",
                )

    def _check(self, job: _Job, now: float) -> None:
        if job.failure is None and now >= job.deadline:
            job.failure = _failure(
                "timeout",
                f"the file was not loaded within {job.seconds:g} seconds",
                "Move slow work (queries, downloads, loops) from the top level into tasks",
            )
        if job.failure is None and now >= job.next_count:
            job.next_count = now + _COUNT_SECONDS
            if group_size(job.pid) > job.limits.processes:
                job.failure = _too_many_processes(job.limits)

    def step(self) -> list:
        """One turn: start, read, check, finish. Returns the answers that became ready."""
        known: list[str] = []
        while self.waiting and self._has_room() and len(known) < _KNOWN_AT_ONCE:
            request = self.waiting.popleft()
            found = self.cache.get(request)
            if found is None:
                self._start(request)
            else:
                known.append(_joined({"id": request.get("id"), **found["head"]}, found["text"]))
        if not self.jobs or known:
            return known
        by_fd = {fd: job for job in self.jobs.values() for fd in job.fds}
        ready, _, _ = select.select(list(by_fd), [], [], _POLL_SECONDS)
        for fd in ready:
            self._read(by_fd[fd], fd)
        now = time.monotonic()
        answers = []
        for job in list(self.jobs.values()):
            self._check(job, now)
            # The result pipe closes when the child has said everything or died. A process the file left behind may
            # hold it open, so the child's own end counts too, once nothing is left to read.
            said_all = "result" not in job.fds.values()
            if job.failure is not None or said_all or (not ready and self._has_ended(job)):
                answers.append(self._finish(job))
        return answers

    def _has_room(self) -> bool:
        began_before = time.monotonic() - _SLOW_SECONDS
        slow = sum(job.started < began_before for job in self.jobs.values())
        return len(self.jobs) - min(slow, _SLOW_BESIDE) < self.concurrency

    def _has_ended(self, job: _Job) -> bool:
        pid, status = os.waitpid(job.pid, os.WNOHANG)
        if not pid:
            return False
        job.status = status
        # It may have written and ended since we last looked: read what is there now.
        while job.failure is None and job.fds and (left := select.select(list(job.fds), [], [], 0)[0]):
            for fd in left:
                self._read(job, fd)
        return True

    def _finish(self, job: _Job) -> str:
        if job.failure is None:
            self._check_leftovers(job)
        with contextlib.suppress(OSError):
            os.killpg(job.pid, signal.SIGKILL)
        if job.status is None:
            _, job.status = os.waitpid(job.pid, 0)
        del self.jobs[job.pid]
        for fd in job.fds:
            os.close(fd)
        reap_strays(set(self.jobs))
        return _answer(job, job.status, self.kept, self.cache)

    @staticmethod
    def _check_leftovers(job: _Job) -> None:
        """The file has answered. If its group outlives it, count: a fork bomb that met the kernel's limit ends here."""
        patience = time.monotonic() + 0.2
        while job.status is None and time.monotonic() < patience:
            pid, status = os.waitpid(job.pid, os.WNOHANG)
            if pid:
                job.status = status
            else:
                time.sleep(0.0005)
        try:
            os.killpg(job.pid, 0)
        except OSError:
            return
        if group_size(job.pid) > job.limits.processes:
            job.failure = _too_many_processes(job.limits)

    def run(self, requests: BinaryIO) -> None:
        """Serves lines from `requests` until it ends. Reading never blocks while jobs are running."""
        buffer = bytearray()
        open_input = True
        while open_input or self.jobs or self.waiting:
            idle = not self.jobs and not self.waiting
            if open_input:
                ready, _, _ = select.select([requests], [], [], None if idle else 0)
                if ready:
                    chunk = os.read(requests.fileno(), 1 << 16)
                    open_input = bool(chunk)
                    buffer += chunk
            while (end := buffer.find(b"\n")) >= 0:
                line = bytes(buffer[:end])
                del buffer[: end + 1]
                if line.strip():
                    self._accept(line)
            for answer in self.step():
                sys.stdout.write(answer + "\n")
                sys.stdout.flush()

    def _accept(self, line: bytes) -> None:
        try:
            request = json.loads(line)
            if not isinstance(request, dict) or not isinstance(request.get("path"), str):
                raise ValueError("a request is an object with 'path'")
        except ValueError as error:
            answer = {"id": None, "ok": False, "error": _failure("request", f"bad request: {error}")}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
            return
        self.submit(request)


def _answer(job: _Job, status: int, kept: Kept, cache: Cache) -> str:
    head = {
        "duration_ms": round((time.monotonic() - job.started) * 1000, 1),
        "output": job.output.decode("utf-8", errors="replace"),
        "output_truncated": job.output_total > len(job.output),
    }
    body = None
    # What the file has read follows on a line of its own.
    result, _, reads = bytes(job.result).strip().partition(b"\n")
    if job.failure is None:
        try:
            body = json.loads(result) if result else None
        except ValueError:
            body = None
        if not isinstance(body, dict) or "ok" not in body:
            job.failure = _died(status, job.limits)
    if job.failure is not None:
        folder = job.request.get("dags_folder") or os.path.dirname(job.request["path"])
        shown = os.path.relpath(job.request["path"], folder)
        error = {**job.failure, "path": shown}
        return json.dumps(
            {"id": job.request.get("id"), **head, "ok": False, "error": error, "dags": [], "warnings": []}
        )
    if body is not None and "keep" in body:
        kept.keep(job.request["path"], body["keep"])
    # The child's text goes through unchanged, so the bytes that were hashed are the bytes that are stored.
    text = result.decode("utf-8")
    if reads:
        _keep(cache, job.request, head, reads, text)
    return _joined({"id": job.request.get("id"), **head}, text)


def _keep(cache: Cache, request: dict, head: dict, reads: bytes, text: str) -> None:
    try:
        found = json.loads(reads)
    except ValueError:
        return
    if isinstance(found, dict):
        cache.put(request, head, found, text)


def _joined(head: dict, text: str) -> str:
    return json.dumps(head)[:-1] + ", " + text[1:]


def _died(status: int, limits: Limits) -> dict:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name if number in list(signal.Signals) else str(number)
        if number == signal.SIGXCPU:
            return _failure(
                "timeout",
                f"the file used more than {limits.cpu_seconds:g} seconds of processor time while it was loaded",
                "Move slow work (queries, downloads, loops) from the top level into tasks",
            )
        return _failure("crash", f"loading the file ended with signal {name}", "Check native libraries it imports")
    return _failure(
        "exit",
        f"the file ended the process (exit code {os.waitstatus_to_exitcode(status)}) before it was loaded",
        "Remove os._exit() and similar calls from the top level",
    )


def main(arguments: list) -> None:
    from .compile.preload import preload

    preload(everything=arguments[:1] != ["--once"])
    if arguments[:1] == ["--once"]:
        server = Server()
        path = os.path.abspath(arguments[1])
        folder = os.path.abspath(arguments[2]) if len(arguments) > 2 else os.path.dirname(path)
        server.submit({"id": 1, "path": path, "dags_folder": folder})
        while not (answers := server.step()):
            pass
        sys.stdout.write(answers[0] + "\n")
        raise SystemExit(0 if json.loads(answers[0])["ok"] else 1)

    def text(name: str) -> str | None:
        return arguments[arguments.index(name) + 1] if name in arguments else None

    def number(name: str) -> int | None:
        given = text(name)
        return None if given is None else int(given)

    server = Server(number("--jobs") or 1, number("--group"), Kept(text("--keep")), Cache(text("--cache")))
    server.run(sys.stdin.buffer)


def _fixed_hash_seed() -> None:
    """Set order is part of what a file may (wrongly) depend on; a fixed seed makes it the same every time."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


if __name__ == "__main__":
    _fixed_hash_seed()
    main(sys.argv[1:])
