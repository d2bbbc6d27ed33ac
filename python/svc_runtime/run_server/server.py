"""The server's loop: loads the version, forks a child per attempt, reports how each ended. The package says what it promises."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import sys
import time

from ..record import current as recording
from ..run import current as running
from ..run import logs
from ..run.channel import from_json, to_json
from ..run.kernel import (
    OwnChildren,
    can_peek,
    descendants_of,
    die_with_parent,
    has_threads_across_forks,
    memory_file,
    peek_ended,
)
from .child import Introduction, Surroundings, run_child
from .late_modules import LateModules
from .outputs import Outputs, Relay
from .own_places import OwnPlaces, Place
from .random_numbers import RandomNumbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from ..record.dag import DAG
    from ..run.channel import Channel
    from .apart import Apart
    from .leftovers import Leftovers
    from .preload import WarmUp

_READ_SIZE = 1 << 16
# A spare that has no job for so long warms up. Between two short tasks it has one within 7 ms, and warming up would take 1 ms of
# a processor from them: chain of 40 in turn, three times, 277 ms with this patience and 337 with 2 ms.
_SPARE_PATIENCE = 0.02
_KEY_BYTES = 16
# So many attempts at once leave no idle time.
_BURST = 2


class Spare:
    """A child that has said hello, by a key that the agent was told, and waits for the job of whichever attempt comes next."""

    def __init__(self, pid: int, key: str) -> None:
        self.pid = pid
        self.key = key


class Server:
    def __init__(self, commands: int, events: int, *, one_attempt: bool = False) -> None:
        self.commands = commands
        # Nobody comes after it for whom something could be made ready.
        self.one_attempt = one_attempt
        self.events = events
        # Descriptors that are no business of a child.
        self.private = [commands, events]
        self.buffer = bytearray()
        self.request: dict | None = None
        self.dag: DAG | None = None
        self.preload = True
        # What the file has imported that must not be loaded here itself.
        self.libraries: list[str] = []
        self.failure: str | None = None
        self.attempts: dict[str, int] = {}
        self.by_pid: dict[int, str] = {}
        self.poll = select.poll()
        self.relay = Relay(self.poll)
        self.outputs: dict[int, Outputs] = {}
        self.children = OwnChildren()
        if self.children.descriptor is not None:
            self.private.append(self.children.descriptor)
        self.inherited: set[int] = set()
        # Orphans of attempts that were told to end.
        self.dying: set[int] = set()
        self.leftovers: Leftovers | None = None
        # Where attempts are kept apart.
        self.apart: Apart | None = None
        self.places: OwnPlaces | None = None
        self.warm_up: WarmUp | None = None
        self.random_numbers = RandomNumbers()
        self.late_modules = LateModules()
        self.spare: Spare | None = None
        # Set by loading and by every attempt: one spare for each, so that a spare that dies is not replaced for ever.
        self.attempts_follow = False

    def say(self, event: dict) -> None:
        data = to_json(event).encode() + b"\n"
        while data:
            data = data[os.write(self.events, data) :]

    # -- loading

    def load(self, request: dict) -> None:
        from .load_version import LoadFailed, load_version
        from .preload import WarmUp, preload, preload_for_many, prepare

        started = time.perf_counter()
        self.request = request
        self.relay.path = request["socket"]
        os.environ.update({name: str(value) for name, value in (request.get("env") or {}).items()})
        logs.set_level()
        self._keep_apart(request)
        preload(request["source"]["text"])
        running.parsing_context.is_shared = not self.one_attempt
        if not self.one_attempt:
            preload_for_many()
            self.warm_up = WarmUp()
            self.warm_up.run()
        if self.preload:
            try:
                with self.random_numbers.watch():
                    self.dag = load_version(request)
            except LoadFailed as failure:
                if recording.asked_in_vain:
                    self._start_again_without_preload()
                self.failure = failure.error
                self.say({"event": "failed", "error": failure.error, "traceback": failure.traceback})
                return
            if recording.asked_in_vain or has_threads_across_forks():
                self._start_again_without_preload()
            prepare(self.dag)
        elif self.libraries:
            self._load_libraries()
        self.inherited = self.children.now()
        if not self.one_attempt:
            self._settle()
        # From here on there is something to clean up, so the agent's death is a request to do so.
        die_with_parent(signal.SIGTERM)
        self.attempts_follow = not self.one_attempt
        self.say({"event": "ready", "preloaded": self.preload, "seconds": round(time.perf_counter() - started, 4)})

    def _keep_apart(self, request: dict) -> None:
        """Before the DAG file is loaded: what it does while it is loaded must not reach other processes either."""
        if not request.get("places"):
            return
        from .apart import Apart

        self.places = OwnPlaces(request["places"])
        self.apart = Apart()
        self.apart.enter_server()
        if self.apart.ruleset >= 0:
            self.private.append(self.apart.ruleset)

    def _settle(self) -> None:
        """When something was loaded, before the next fork."""
        from .leftovers import Leftovers
        from .preload import find_modules_of_files, warm_up_fork

        find_modules_of_files()
        # What is alive now stays: the collector must not touch, and so copy, its pages in every child.
        gc.collect()
        gc.freeze()
        # Once more, in the state that will be forked: loading has emptied the interpreter's caches.
        warm_up_fork()
        self._warm_up()
        gc.freeze()
        if self.leftovers is None:
            assert self.request is not None
            self.leftovers = Leftovers(self.request)
        else:
            self.leftovers.settle()

    def _load_late(self, names: list) -> None:
        if self.late_modules.hear(names):
            self._settle()
        self.late_modules.begin_trial(self._leave_to_parent)

    def _leave_to_parent(self, *descriptors: int) -> None:
        """In a child, of what the server has: its wake-ups, and every descriptor that is no business of others."""
        signal.set_wakeup_fd(-1)
        for fd in (*self.private, *self.relay.descriptors, *descriptors):
            if self.apart is None or fd != self.apart.ruleset:
                os.close(fd)

    def _warm_up(self, times: int | None = None, *, templates: bool = True) -> None:
        if self.warm_up is None or not logs.is_untouched():
            return  # its words would go where the DAG file sends its own
        with contextlib.suppress(Exception):  # the DAG file may have changed what it builds on
            self.warm_up.run(times, templates=templates)

    def _start_again_without_preload(self) -> None:
        """exec ends every thread, and forgets what a file has done that must be loaded by each child. What the agent said so
        far travels in a memory file, and with it the names of libraries that the children then find loaded."""
        libraries = [] if has_threads_across_forks() else self.late_modules.installed()
        state = memory_file()
        with open(state, "wb", closefd=False) as file:
            for value in (self.request, libraries):
                file.write(json.dumps(value).encode() + b"\n")
            file.write(bytes(self.buffer))
        os.set_inheritable(state, True)
        os.dup2(self.commands, 0)
        os.dup2(self.events, 1)
        arguments = [sys.executable, *sys.orig_argv[1:], "--resume", str(state)]
        os.execv(sys.executable, arguments)

    def resume(self, state: int) -> None:
        with open(state, "rb") as file:
            file.seek(0)
            text = file.read()
        request, libraries, rest = text.split(b"\n", 2)
        self.buffer += rest
        self.preload = False
        self.libraries = json.loads(libraries)
        self.load(json.loads(request))

    def _load_libraries(self) -> None:
        for name in self.libraries:
            with contextlib.suppress(Exception):  # the file has, or will say so itself
                importlib.import_module(name)
        if has_threads_across_forks():
            self._start_again_without_preload()

    # -- attempts

    def fork(self, attempt: str, key: str, *, takes: str | None = None) -> None:
        """`takes`: the key of the spare whom the agent gives the job to. When it died before, the agent gives it to another."""
        if self.failure is not None or self.request is None:
            self.say({"event": "exit", "attempt": attempt, "status": 1, "signal": None, "error": self.failure})
            return
        taken = None
        if takes is not None and self.spare is not None and self.spare.key == takes:
            taken, self.spare = self.spare, None
        try:
            pid = taken.pid if taken is not None else self._fork(attempt, key)
        except OSError as error:
            self.say({"event": "exit", "attempt": attempt, "status": 1, "signal": None, "error": str(error)})
            return
        self.attempts_follow = not self.one_attempt
        self.attempts[attempt] = pid
        self.by_pid[pid] = attempt
        self.outputs[pid].begin(attempt, key)
        self.say({"event": "forked", "attempt": attempt, "pid": pid, "taken": taken is not None})

    def _fork(self, attempt: str, key: str, before_job: Callable[[Channel], None] | None = None) -> int:
        """A spare says hello without an attempt, by its key alone; `before_job` is what it does while it waits for its job."""
        parent = os.getpid()
        place = self.places.make() if self.places is not None else None
        outputs, writes = self.relay.open()
        self.late_modules.settle()
        try:
            pid = os.fork()
            if pid == 0:
                self._be_a_child(Introduction(attempt, key, before_job), parent, writes, place)
        except OSError:
            outputs.finish(lambda: None)
            raise
        finally:
            for fd in writes:
                os.close(fd)
        self.outputs[pid] = outputs
        if self.places is not None and place is not None:
            self.places.give(pid, place)
        return pid

    def _be_a_child(
        self, introduction: Introduction, parent: int, writes: tuple[int, int], place: Place | None
    ) -> None:
        try:
            for standard, fd in enumerate(writes, 1):
                os.dup2(fd, standard)
            self._leave_to_parent(*writes)
            assert self.request is not None  # nothing is forked before it is loaded
            given = Surroundings(self.request, self.dag, self.late_modules, self.leftovers)
            given.apart, given.place = self.apart, place
            if self.dag is not None:
                self.random_numbers.begin()
            run_child(introduction, parent=parent, given=given)
        finally:
            os._exit(70)  # never back into the server's loop

    def _make_spare(self) -> None:
        """A child ahead of its attempt: forking, saying hello and warming up happen while nobody waits for them.

        Its key is made here, when it is forked: who is forked before does not have it, and who is forked later finds it used.
        """

        def warm_up(channel: Channel) -> None:
            # Work that is already waiting goes first; warming up pays only in idle time.
            if len(self.attempts) < _BURST and not channel.has_mail(_SPARE_PATIENCE):
                self._warm_up(1, templates=False)

        key = os.urandom(_KEY_BYTES).hex()
        # First: the agent refuses whom it does not expect.
        self.say({"event": "spare", "key": key})
        with contextlib.suppress(OSError):  # no room now: attempts are forked when they come
            self.spare = Spare(self._fork("", key, warm_up), key)

    def kill(self, attempt: str, number: int) -> None:
        pid = self.attempts.get(attempt)
        if pid is None:
            return
        try:
            if number == signal.SIGKILL:
                kill_group(pid)
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def reap(self) -> None:
        """Reports every child that has ended. Its group is killed while its pid is still its own."""
        while True:
            seen = peek_ended()
            if seen is None and can_peek:
                return  # one that ends just now is looked at when its signal comes, before it is reaped
            left = None
            self._expect_orders_for(seen)
            if seen in self.by_pid:
                if self.leftovers is not None:  # before they are ended with its group
                    left = self.leftovers.of_processes(self._strays() - {seen} - self.dying, seen)
                kill_group(seen)
            try:
                pid, status, used = os.wait4(seen or -1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if seen is None:  # otherwise every order that it can have run has been read
                self._expect_orders_for(pid)
            attempt = self.by_pid.pop(pid, None)
            if attempt is None:
                self._reap_other(pid, status)
                continue
            del self.attempts[attempt]
            code = os.waitstatus_to_exitcode(status)
            number = -code if code < 0 else None
            event: dict = {"event": "exit", "attempt": attempt, "status": None if number else code, "signal": number}
            if code != 0:  # it has not reported its usage; the memory includes what the server shares with it
                event["usage"] = {"cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024}
            if self.leftovers is not None:
                reason = left or self.leftovers.of_server(is_idle=not self.attempts)
                if reason is not None:
                    event["unclean"] = reason
            self._kill_strays()
            if self.places is not None:
                self.places.remove_of(pid)
            self.outputs.pop(pid).finish(functools.partial(self.say, event))

    def _expect_orders_for(self, pid: int | None) -> None:
        """A spare that has ended may have run an attempt: the agent orders it before it gives it the job, so that its order
        is here. A spare that nobody has ordered by then has run nothing."""
        while self.spare is not None and self.spare.pid == pid and self._read_commands():
            pass

    def _reap_other(self, pid: int, status: int) -> None:
        outputs = self.outputs.pop(pid, None)
        if outputs is not None:
            outputs.finish(lambda: None)
        if self.spare is not None and self.spare.pid == pid:
            self.spare = None
        if self.late_modules.trial == pid:
            self.late_modules.end_trial(status)
            self._settle()
            self.late_modules.begin_trial(self._leave_to_parent)
        if pid in self.dying:  # those it had started are ours now
            self.dying.discard(pid)
            self._kill_strays()
        if self.places is not None:
            self.places.remove_of(pid)
            if self.places.has_failed(pid, status):
                self.say({"event": "unclean", "reason": "files that a task left in its folders cannot be removed"})

    def _strays(self) -> set[int]:
        """Orphans of attempts that have ended: a living attempt is the sub-reaper of its own."""
        known = self.inherited | self.by_pid.keys() | {self.late_modules.trial}
        if self.places is not None:
            known |= self.places.removers
        return self.children.now() - known - ({self.spare.pid} if self.spare is not None else set())

    def _kill_strays(self) -> None:
        for pid in self._strays():
            self.dying.add(pid)
            for process in (*descendants_of(pid), pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def _terminated(self, own: int) -> None:
        # A child has this handler too, until it has its own.
        if os.getpid() != own:
            os._exit(128 + signal.SIGTERM)
        self.end()

    def end(self) -> None:
        self.spare = self.late_modules.trial = None  # strays like any other now
        for pid in list(self.by_pid):
            kill_group(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in list(self.by_pid):
            os.waitpid(pid, 0)
            del self.by_pid[pid]
        # The dead attempts' orphans are ours now; their own orphans follow, one generation per turn.
        if self.places is not None:
            self.places.removers.clear()  # all at once, below
        while strays := self.children.now() - self.inherited:
            self._kill_strays()
            for pid in strays:
                os.waitpid(pid, 0)
        if self.places is not None:
            self.places.remove()
        for farewell in running.at_server_end:
            with contextlib.suppress(Exception):
                farewell()
        os._exit(0)

    # -- the loop

    def run(self) -> None:
        own = os.getpid()
        wake_read, wake_write = os.pipe()
        self.private += [wake_read, wake_write]
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore)
        # Kept, because every child replaces it, and the end of a function is work too.
        self._on_terminate = lambda *_: self._terminated(own)
        signal.signal(signal.SIGTERM, self._on_terminate)
        # Ctrl-C in a terminal reaches the agent, which decides. A handler, unlike SIG_IGN, is not passed on to programs.
        signal.signal(signal.SIGINT, _ignore)
        os.set_blocking(self.commands, False)
        self.poll.register(self.commands, select.POLLIN)
        self.poll.register(wake_read, select.POLLIN)
        self._handle_lines()
        self.reap()
        while True:
            ready = self.poll.poll(0)
            if not ready and self.spare is None and self.attempts_follow:
                self.attempts_follow = False
                self._make_spare()
            ready = ready or self.poll.poll()
            self.relay.handle(ready)
            for fd, _ in ready:
                if fd == wake_read:
                    os.read(wake_read, _READ_SIZE)
                    self.reap()
                elif fd == self.commands:
                    self._read_commands()

    def _read_commands(self) -> bool:
        """False when there are none now."""
        try:
            chunk = os.read(self.commands, _READ_SIZE)
        except BlockingIOError:
            return False
        if not chunk:
            self.end()
        self.buffer += chunk
        self._handle_lines()
        return True

    def _handle_lines(self) -> None:
        while (end := self.buffer.find(b"\n")) >= 0:
            line = self.buffer[:end].decode()
            del self.buffer[: end + 1]
            if line:
                self._handle(from_json(line)[0])

    def _handle(self, command: dict) -> None:
        operation = command.get("op")
        if operation == "fork":
            self.fork(command["attempt"], command.get("key") or "", takes=command.get("takes"))
        elif operation == "kill":
            self.kill(command["attempt"], int(command.get("signal") or signal.SIGTERM))
        elif operation == "load":
            self.load(command)
        elif operation == "load_late":
            self._load_late(command["names"])


def _ignore(number: int, frame: FrameType | None) -> None: ...


def kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
