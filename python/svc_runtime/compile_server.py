"""The compiler process: warm, single-threaded, one forked child per file.

Protocol: one JSON request per line on stdin, one JSON answer per line on stdout, in order of completion.

    {"id": 1, "path": "/dags/etl.py", "dags_folder": "/dags", "limits": {"wall_seconds": 30},
     "bundle": {"dags", "import_roots", "plugins"} | null, "env": {}, "values": true | false}
    {"id": 1, "ok": true, "dags": [{"dag_id": …, "sha256": …, "spec": {…}}], "warnings": […], "output": "…", …}
    {"id": 1, "ok": false, "error": {"type", "message", "path", "line", "instead", "traceback"}, …}

With `values`, the file may read variables and connections while it loads. Each is a question on stdout, which is answered by a
line on stdin (compile/asked_values.py):

    {"id": 1, "asked": {"kind": "variable", "name": "x", "declared": true}}
    {"id": 1, "answer": {"text": "…"}}

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
# A file that takes longer than this does not delay the others: so many of them run in addition to the usual number.
_SLOW_SECONDS = 1.0
_SLOW_BESIDE = 4
# Answers of the cache between two looks at the files that are being loaded.
_KNOWN_AT_ONCE = 20
# So many files may wait for answers while others are loaded. The time of the wait does not count for their time limit.
_WAITING_BESIDE = 16
_MOST_QUESTIONS = 10_000
_LONGEST_QUESTION = 4_096
# What only the server says of a file: a child that says it would answer for another one, or keep its own unanswered.
_OURS = frozenset({"id", "duration_ms", "output", "output_truncated", "asked"})


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
        # It has said that it waits for another program (child.py): reading a large dbt project takes minutes.
        self.is_slow = False
        self.answers_fd: int | None = None
        self.unsent = bytearray()
        self.questions = 0
        self.waits_since: float | None = None
        self.waited = 0.0

    @property
    def seconds(self) -> float:
        return max(self.limits.wall_seconds, self.limits.slow_seconds if self.is_slow else 0)

    @property
    def deadline(self) -> float:
        return self.started + self.seconds + self.waited

    def take_question(self) -> dict | None:
        """The next question, which stands before the result. Takes the sign of a slow file away, too."""
        while self.result[:1] == b"\n":
            self.is_slow = True
            del self.result[:1]
        if self.answers_fd is None or self.result[:1] != b"?":
            return None
        end = self.result.find(b"\n")
        if end < 0 and len(self.result) <= _LONGEST_QUESTION:
            return None
        self.questions += 1
        try:
            asked = json.loads(bytes(self.result[1:end]))
            if self.questions > _MOST_QUESTIONS or not isinstance(asked, dict):
                raise ValueError
        except ValueError:
            self.failure = _failure(
                "questions",
                f"the file reads more than {_MOST_QUESTIONS} variables and connections, or asks what cannot be read",
                "Read fewer at the top level",
            )
            return None
        del self.result[: end + 1]
        self.waits_since = time.monotonic()
        return {name: asked.get(name) for name in ("kind", "name", "declared")}

    def answer(self, text: bytes) -> None:
        if self.waits_since is not None:
            self.waited += time.monotonic() - self.waits_since
            self.waits_since = None
        self.unsent += text

    def send(self) -> None:
        try:
            del self.unsent[: os.write(self.answers_fd or 0, self.unsent)]
        except BlockingIOError:
            return
        except OSError:  # it has ended, or closed the pipe
            self.unsent.clear()


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
        answers = os.pipe() if request.get("values") else None
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            # Read ends of every job stay with the server.
            for other in self.jobs.values():
                for fd in other.fds:
                    os.close(fd)
                if other.answers_fd is not None:
                    os.close(other.answers_fd)
            os.close(out_read)
            os.close(result_read)
            if answers is not None:
                os.close(answers[1])
            kept = self.kept.of(request["path"])
            request = {**request, "kept": kept, "notes_reads": self.cache.is_on}
            answers_fd = None if answers is None else answers[0]
            run_child(request, limits, out_write, result_write, self.group, answers_fd)
            os._exit(0)
        os.close(out_write)
        os.close(result_write)
        if answers is not None:
            os.close(answers[0])
            os.set_blocking(answers[1], False)
            job.answers_fd = answers[1]
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
        if job.failure is None and job.waits_since is None and now >= job.deadline:
            job.failure = _failure(
                "timeout",
                f"the file was not loaded within {job.seconds:g} seconds",
                "Move slow work (queries, downloads, loops) from the top level into tasks",
            )
        if job.failure is None and now >= job.next_count:
            job.next_count = now + _COUNT_SECONDS
            if group_size(job.pid) > job.limits.processes:
                job.failure = _too_many_processes(job.limits)

    def step(self, others: tuple = ()) -> list:
        """One turn: start, read, check, finish. Returns lines that became ready. `others`: what also ends the wait."""
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
        unsent = {job.answers_fd: job for job in self.jobs.values() if job.unsent}
        ready, writable, _ = select.select([*by_fd, *others], list(unsent), [], _POLL_SECONDS)
        for fd in writable:
            unsent[fd].send()
        for fd in ready:
            if fd in by_fd:
                self._read(by_fd[fd], fd)
        now = time.monotonic()
        answers = []
        for job in self.jobs.values():
            while (asked := job.take_question()) is not None:
                answers.append(json.dumps({"id": job.request.get("id"), "asked": asked}))
        for job in list(self.jobs.values()):
            self._check(job, now)
            # The result pipe closes when the child has said everything or died. A process the file left behind may
            # hold it open, so the child's own end counts too, once nothing is left to read.
            said_all = "result" not in job.fds.values()
            if job.failure is not None or said_all or (not ready and self._has_ended(job)):
                answers.append(self._finish(job))
        return answers

    def _has_room(self) -> bool:
        waiting = sum(job.waits_since is not None for job in self.jobs.values())
        began_before = time.monotonic() - _SLOW_SECONDS
        slow = sum(job.waits_since is None and job.started + job.waited < began_before for job in self.jobs.values())
        beside = min(waiting, _WAITING_BESIDE) + min(slow, _SLOW_BESIDE)
        return len(self.jobs) - beside < self.concurrency

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
        if job.answers_fd is not None:
            os.close(job.answers_fd)
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
            # An answer to a question is not to wait for the end of this turn.
            for answer in self.step((requests,) if open_input else ()):
                sys.stdout.write(answer + "\n")
                sys.stdout.flush()

    def _accept(self, line: bytes) -> None:
        try:
            request = json.loads(line)
            if isinstance(request, dict) and "answer" in request:
                self._pass_on(request)
                return
            if not isinstance(request, dict) or not isinstance(request.get("path"), str):
                raise ValueError("a request is an object with 'path'")
        except ValueError as error:
            answer = {"id": None, "ok": False, "error": _failure("request", f"bad request: {error}")}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
            return
        self.submit(request)

    def _pass_on(self, answer: dict) -> None:
        for job in self.jobs.values():
            if job.request.get("id") == answer.get("id") and job.answers_fd is not None:
                job.answer(json.dumps(answer["answer"]).encode() + b"\n")


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
        if not isinstance(body, dict) or "ok" not in body or not _OURS.isdisjoint(body):
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
    # What a file asked for may have another value the next time. Counted here, because the file may say anything.
    if reads and job.questions == 0:
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
