"""`python -m svc_runtime.run_server`: started by the agent, speaks the protocol that the package describes."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys

from ..import_paths import prefer_installed_providers
from ..run import logs
from ..run.kernel import become_subreaper, close_to_others, die_with_parent
from .server import Server


def main(arguments: list) -> None:
    die_with_parent(signal.SIGKILL)
    close_to_others()
    become_subreaper()
    # The protocol gets descriptors of its own: what a DAG file prints while it is loaded must not become an event.
    commands, events = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    logs.install()
    prefer_installed_providers()
    faulthandler.enable(2)  # a crash in C code leaves its stack in the task's log
    one_attempt = "--one-attempt" in arguments
    if one_attempt:
        # The agent is still on its way to the control plane, which knows what is to be loaded.
        from .preload import preload_common

        preload_common()
    server = Server(commands, events, one_attempt=one_attempt)
    if "--resume" in arguments:
        server.resume(int(arguments[arguments.index("--resume") + 1]))
    server.run()


if __name__ == "__main__":
    main(sys.argv[1:])
