"""Descriptors 1 and 2 of attempts: what does not go through Python (other programs, C code) reaches the agent as bytes.

Each is a pipe whose reading end the fork server holds. Most tasks write nothing there, and then nothing happens but a few
closes; connections for both, made by every attempt, cost the agent 0.3 ms of CPU (two cores, Node 24). The first byte makes
the server connect to the agent, introduce the stream and pass on what comes:

    silent ──first byte──▶ passing ⇄ full: the agent's socket takes no more, and the pipe is not read meanwhile
       └──end──▶ over ◀──the agent has read all──  ending ◀──end──┘

A stream ends when nobody can write to it any more, or with its attempt: what is in the pipe then is passed on, and who still
holds the other end is on its way out. The attempt's exit is said when its streams are over, so that the agent, who forgets an
attempt with its exit, has all of it by then. One piece is moved per turn of the server's loop, however much a task writes.
"""

from __future__ import annotations

import os
import select
from socket import AF_UNIX, SHUT_WR, SocketType

from ..run.channel import to_json
from ..run.kernel import has_unread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = 1 << 16
_splice = getattr(os, "splice", None)


class Relay:
    """All streams of a fork server, and what it has to watch for them."""

    def __init__(self, poll: select.poll) -> None:
        self._poll = poll
        self.path = ""
        self._watchers: dict[int, Outputs | Stream] = {}
        # None of a child's business.
        self.descriptors: set[int] = set()
        # Closed since the poll whose answer is looked at: their numbers may be those of others by now.
        self._closed: set[int] = set()

    def open(self) -> tuple[Outputs, tuple[int, int]]:
        """With the writing ends, which the child takes and the caller closes."""
        out, out_write = os.pipe()
        try:
            err, err_write = os.pipe()
        except OSError:  # too many are open
            os.close(out)
            os.close(out_write)
            raise
        return Outputs(self, out, err), (out_write, err_write)

    def handle(self, ready: list) -> None:
        self._closed.clear()
        for fd, _ in ready:
            if fd in self._watchers and fd not in self._closed:
                self._watchers[fd].advance(fd)

    def watch(self, watcher: Outputs | Stream, fd: int, events: int) -> None:
        self._poll.register(fd, events)
        self._watchers[fd] = watcher

    def unwatch(self, fd: int) -> None:
        if self._watchers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def close(self, fd: int) -> None:
        self.unwatch(fd)
        self.descriptors.discard(fd)
        self._closed.add(fd)
        os.close(fd)


class Outputs:
    """Both streams of one attempt. One that is silent is nothing but its pipe: after every fork the server pays for each page
    it writes to, just as the child does."""

    def __init__(self, relay: Relay, out: int, err: int) -> None:
        # A spare has none yet, and nobody to say something to.
        self.attempt: str | None = None
        self.key = ""
        self._relay = relay
        self._out = out
        self._silent = [out, err]
        self._streams: list[Stream] = []
        self._over: Callable[[], None] | None = None
        relay.descriptors.add(out)
        relay.descriptors.add(err)

    def begin(self, attempt: str, key: str = "") -> None:
        self.attempt, self.key = attempt, key
        for pipe in self._silent:
            self._relay.watch(self, pipe, select.POLLIN)

    def advance(self, pipe: int) -> None:
        """A silent one has got its first bytes, or its end."""
        self._silent.remove(pipe)
        if self.attempt is None or not has_unread(pipe):
            self._relay.close(pipe)
            return
        stream = Stream(self._relay, self, "stdout" if pipe == self._out else "stderr", pipe)
        self._streams.append(stream)
        stream.is_last = self._over is not None
        stream.advance(pipe)

    def finish(self, over: Callable[[], None]) -> None:
        """The process is gone; `over()` is called when the agent has what it wrote, perhaps at once."""
        self._over = over
        for stream in list(self._streams):
            stream.finish()
        for pipe in list(self._silent):
            self.advance(pipe)
        if self._over is not None and not self._streams:
            self._end()

    def stream_over(self, stream: Stream) -> None:
        self._streams.remove(stream)
        if self._over is not None and not self._streams and not self._silent:
            self._end()

    def _end(self) -> None:
        over, self._over = self._over, None
        if over is not None:
            over()


class Stream:
    """One that is not silent any more."""

    def __init__(self, relay: Relay, outputs: Outputs, name: str, pipe: int) -> None:
        self._relay = relay
        self._outputs = outputs
        self._name = name
        self._pipe: int | None = pipe
        self._socket: SocketType | None = None
        # Taken from the pipe, or ours to say first, and not yet taken by the agent.
        self._pending = b""
        self.is_last = False
        if _splice is None:
            os.set_blocking(pipe, False)

    def finish(self) -> None:
        self.is_last = True
        if self._pipe is not None:
            self.advance(self._pipe)

    def advance(self, _fd: int) -> None:
        """Something can be done: bytes to read, room to write, or an end."""
        try:
            if self._pipe is None:
                self._close_socket()  # the agent, who never writes, has closed its side: it has read all
            else:
                self._pass_on(self._pipe, self._socket or self._connect())
        except OSError:
            # The agent does not want it, or is gone: whoever writes learns it from its pipe.
            self._close_pipe()
            self._close_socket()

    def _pass_on(self, pipe: int, connection: SocketType) -> None:
        try:
            is_end = not self._move(pipe, connection)
            is_full = False
        except BlockingIOError:
            is_full = bool(self._pending) or has_unread(pipe)
            is_end = self.is_last and not is_full
        if is_end:
            self._end(connection)
        elif is_full or self.is_last:  # at the last, nobody may be left to make the pipe readable
            self._turn(pipe, connection.fileno(), select.POLLOUT)
        else:
            self._turn(connection.fileno(), pipe, select.POLLIN)

    def _connect(self) -> SocketType:
        """Without waiting: the agent's queue has room for more connections than there are attempts."""
        self._socket = connection = SocketType(AF_UNIX)
        self._relay.descriptors.add(connection.fileno())
        connection.connect(self._relay.path)
        connection.setblocking(False)
        introduction = {"type": "stream", "attempt": self._outputs.attempt, "key": self._outputs.key}
        introduction["name"] = self._name
        self._pending = to_json(introduction).encode() + b"\n"
        return connection

    def _move(self, pipe: int, connection: SocketType) -> bool:
        """One piece. False at the end of the pipe; BlockingIOError when it is empty or the socket is full."""
        if _splice is None and not self._pending:
            self._pending = os.read(pipe, _PIECE)
            if not self._pending:
                return False
        while self._pending:
            self._pending = self._pending[connection.send(self._pending) :]
        if _splice is None:
            return True
        # Out of the pipe only when it is in the socket: a task that finds its pipe empty may send its result.
        return _splice(pipe, connection.fileno(), _PIECE, flags=os.SPLICE_F_NONBLOCK) > 0

    def _turn(self, before: int, now: int, events: int) -> None:
        self._relay.unwatch(before)
        self._relay.watch(self, now, events)

    def _end(self, connection: SocketType) -> None:
        self._close_pipe()
        connection.shutdown(SHUT_WR)
        self._relay.watch(self, connection.fileno(), select.POLLIN)

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._relay.close(self._pipe)
            self._pipe = None

    def _close_socket(self) -> None:
        if self._socket is not None:
            self._relay.close(self._socket.detach())
            self._socket = None
        self._outputs.stream_over(self)
