"""Child processes of a task: own process group, output to the log line by line, stopped as a group."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess


def run_bash(owner, command: str, *, env: dict, cwd: str | None) -> tuple[int, str]:
    return run_command(owner, [shutil.which("bash") or "bash", "-c", command], env=env, cwd=cwd)


def run_command(owner, command: list, *, env: dict | None, cwd: str | None) -> tuple[int, str]:
    """Exit code and last output line. `owner._process` is set meanwhile so that on_kill finds it."""
    encoding = getattr(owner, "output_encoding", "utf-8")
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=env,
        start_new_session=True,
    )
    owner._process = process
    last = ""
    with process.stdout as stream:
        for raw in stream:
            last = raw.decode(encoding, errors="backslashreplace").rstrip()
            owner.log.info("%s", last)
    return process.wait(), last


def stop(process) -> None:
    if process is not None and process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
