"""The forked child: applies limits, executes the file, writes one JSON object to the result pipe."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import signal
import sys

from .asked_values import AskedValues


def run_child(
    request: dict,
    limits,
    output_fd: int,
    result_fd: int,
    group: int | None = None,
    answers_fd: int | None = None,
) -> None:
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output_fd, 1)
        os.dup2(output_fd, 2)
        os.close(null)
        os.close(output_fd)
        # Descriptors above the standard three are ours (pipes of the result and of answers) or the server's.
        result_fd, answers_fd = _isolate(result_fd, answers_fd)
        sys.stdin = open(0, closefd=False)
        sys.stdout = open(1, "w", buffering=1, closefd=False, errors="replace")
        sys.stderr = open(2, "w", buffering=1, closefd=False, errors="replace")
        # Short-lived: collecting would only touch, and so copy, pages shared with the server.
        gc.disable()
        limits.apply(group)
        sys.dont_write_bytecode = True  # no __pycache__ beside the author's files
        # White space before the answer: the file waits for another program, and may take longer.
        values = None if answers_fd is None else AskedValues(result_fd, answers_fd)
        answer = compile_request(request, limits, lambda: _write_all(result_fd, b"\n"), values)
    except BaseException as error:  # never let the child fall back into the server's code
        answer = _text(
            {"ok": False, "error": _plain_error(f"{type(error).__name__}: {error}"), "dags": [], "warnings": []}
        )
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        pass
    _write_all(result_fd, answer)
    os._exit(0)


def _isolate(result: int, answers: int | None) -> tuple[int, int | None]:
    """Keeps these two as descriptors 3 and 4, and closes all others."""
    # They may be 3 and 4 already, in the other order, so they are first moved out of the way.
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, 8) for fd in (result, answers) if fd is not None]
    for target, fd in enumerate(moved, 3):
        os.dup2(fd, target, inheritable=False)
    os.closerange(3 + len(moved), 4096)
    return 3, 4 if answers is not None else None


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        pass


def _plain_error(message: str) -> dict:
    return {"type": "error", "message": message, "path": "", "line": None, "instead": "", "traceback": ""}


def _text(value: dict) -> bytes:
    return json.dumps(value).encode("utf-8")


def compile_request(request: dict, limits, ask_for_time=None, values: AskedValues | None = None) -> bytes:
    """The answer as bytes. Specs are embedded as the canonical text that was hashed."""
    import hashlib

    import airflow  # noqa: F401  installs the import paths

    from ..record import current, provider_stubs
    from .canonical import canonical_bytes
    from .load import LoadError, load_file
    from .schedule_spec import without_answers

    provider_stubs.install()
    current.reset()
    current.limits.max_tasks = int(limits.max_tasks)
    current.kept.update(request.get("kept") or {})
    current.ask_for_time = ask_for_time
    current.values = values
    path = request["path"]
    folder = request.get("dags_folder") or os.path.dirname(os.path.abspath(path))
    try:
        os.environ.update(request.get("env") or {})
        reads = _noting() if request.get("notes_reads") else None
        specs = load_file(path, folder, request.get("bundle"), request.get("groups"))
        parts = []
        for spec in specs:
            text = canonical_bytes(spec)
            identity = without_answers(spec)
            # Most specs have no answers: to write them once more would take a tenth of the time that a small file takes.
            digest = hashlib.sha256(text if identity is spec else canonical_bytes(identity)).hexdigest()
            dag_id = spec["dag"]["dag_id"]
            stated = current.stated_settings[dag_id]
            head = json.dumps({"dag_id": dag_id, "sha256": digest, "stated": stated}).encode()
            parts.append(head[:-1] + b', "spec": ' + text + b"}")
    except LoadError as failure:
        return _text({"ok": False, "error": failure.error, "dags": [], "warnings": current.warnings})
    except MemoryError:
        return _text(
            {"ok": False, "error": _plain_error("compiling needs more memory than allowed"), "dags": [], "warnings": []}
        )
    body = json.dumps({"ok": True, "warnings": current.warnings, "differences": current.differences}).encode()
    # Only what the server does not have yet, or has in vain.
    found = {} if current.used.keys() == current.kept.keys() else {"keep": current.used}
    text = body[:-1] + b', "dags": [' + b", ".join(parts) + b"]" + _more(found) + b"}"
    if reads is None:
        return text
    if current.used:
        reads.refuse("it asks other programs")
    if any(spec is not without_answers(spec) for spec in specs):
        reads.refuse("its timetable was asked for runs")
    return text + b"\n" + _text(reads.result())


def _noting():
    from ..record import current
    from .reads import Reads

    current.reads = Reads()
    current.reads.start()
    return current.reads


def _more(values: dict) -> bytes:
    return b"".join(
        b", " + json.dumps(name).encode() + b": " + json.dumps(value).encode() for name, value in values.items()
    )
