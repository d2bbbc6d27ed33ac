"""Programs a task starts: output to the log line by line, stopped with everything they started themselves.

They stay in the attempt's process group, so that whoever kills the attempt reaches them, and die with it when it is killed
alone. Stopping one of them therefore walks its descendants instead of signalling a group.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess

from .command_relay import open_relay
from .kernel import descendants_of, die_with_parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .command_relay import CommandRelay

_MARKS = ("SVC_ATTEMPT", "SVC_FORK_SERVER", "SVC_WORKER")
_LONGEST_LINE = 64 * 1024


def run_bash(owner, command: str, *, env: dict, cwd: str | None) -> tuple[int, str]:
    return run_command(owner, [shutil.which("bash") or "bash", "-c", command], env=env, cwd=cwd)


def run_command(owner, command: list, *, env: dict | None, cwd: str | None) -> tuple[int, str]:
    """Exit code and last output line. `owner._process` is set meanwhile so that on_kill finds it."""
    relay = open_relay()
    try:
        return _run(owner, command, env=env, cwd=cwd, relay=relay)
    finally:
        if relay is not None:
            relay.close()


def _run(owner, command: list, *, env: dict | None, cwd: str | None, relay: CommandRelay | None) -> tuple[int, str]:
    encoding = getattr(owner, "output_encoding", "utf-8")
    if env is not None:
        # An author may give a program an environment of its own; the marks by which the agent finds it stay.
        env = {**env, **{name: os.environ[name] for name in _MARKS if name in os.environ}}
    if relay is not None:
        env = relay.environment(dict(os.environ) if env is None else env)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=env,
        preexec_fn=die_with_parent,  # noqa: PLW1509  only the child itself can ask for it, and it takes no lock
    )
    owner._process = process
    if relay is not None:
        relay.start()
    last = ""
    try:
        assert process.stdout is not None  # we asked for a pipe
        with process.stdout as stream:
            # In pieces: a program that never ends its line must not fill our memory.
            while raw := stream.readline(_LONGEST_LINE):
                last = raw.decode(encoding, errors="backslashreplace").rstrip()
                owner.log.info("%s", last)
        return process.wait(), last
    except BaseException:
        # Stopped while it ran (timeout, SIGTERM): nobody will read its output any more.
        stop(process)
        raise


def stop(process) -> None:
    """SIGTERM to the program and all its descendants."""
    if process is None or process.poll() is not None:
        return
    for pid in [*descendants_of(process.pid), process.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
