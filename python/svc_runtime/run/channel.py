"""The child's end of the connection to the agent: JSON lines over a unix socket, without a thread of its own.

Signal handlers (SIGTERM, the timeout's SIGALRM) may raise between any two bytecodes, so everything that must not be
torn apart (half a frame written, bytes read and not yet kept) happens inside `steady`, which postpones them. Waiting
for an answer does not: a task must be stoppable while the agent is cut off from the control plane.
"""

from __future__ import annotations

import json
import os
import select
import threading
from socket import AF_UNIX, SocketType

from .masks import masks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FRAME = 16 * 1024 * 1024
_READ_SIZE = 1 << 16
_AF_UNIX = int(AF_UNIX)


def _make_encoder():
    """json.dumps() builds an encoder anew for every message."""
    plain = json.JSONEncoder(separators=(",", ":"))
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    encode = make(None, plain.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
    return lambda message: "".join(encode(message, 0))


to_json = _make_encoder()
# json.loads() would look for the encoding and for what stands around the message.
from_json = json.JSONDecoder().raw_decode


class RequestFailed(Exception):
    """The agent answered `ok: false`. `code` is not_found, denied, conflict, unavailable …"""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class AgentGone(BaseException):
    """Nobody is left to report to; not an Exception, so that a task cannot go on without its agent."""


class Steady:
    """A lock that postpones signal handlers while it is held; re-entrant, and shared by all threads of the task."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_held = self._lock._is_owned  # type: ignore[attr-defined]  # it has no public name
        self._main = threading.get_ident()
        self._postponed: Callable[[], None] | None = None

    def postpone(self, handler) -> bool:
        """For signal handlers, which run in the main thread: True when `handler` will be called a little later."""
        if self._is_held():
            self._postponed = handler
            return True
        return False

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_) -> None:
        self._lock.release()
        if self._postponed is not None and threading.get_ident() == self._main and not self._is_held():
            handler, self._postponed = self._postponed, None
            handler()


class Channel:
    def __init__(self, connection: SocketType) -> None:
        self.socket = connection
        self.steady = Steady()
        self.owner = os.getpid()
        self._received = bytearray()
        self._poll = select.poll()
        self._poll.register(self.socket.fileno(), select.POLLIN)
        self._last_request = 0
        self._request_lock = threading.RLock()

    @classmethod
    def connect(cls, path: str) -> Channel:
        # The plain type: Python's own on top of it costs every child a dozen pages and offers nothing needed here.
        connection = SocketType(_AF_UNIX)
        connection.connect(path)
        return cls(connection)

    @property
    def is_ours(self) -> bool:
        """False in a process that the task forked; it shares our socket and must stay silent."""
        return os.getpid() == self.owner

    def send(self, message: dict) -> None:
        self.send_frame(to_json(message).encode() + b"\n")

    def send_frame(self, frame: bytes) -> None:
        if len(frame) > MAX_FRAME:
            raise ValueError(f"a message of {len(frame)} bytes is larger than the {MAX_FRAME} the agent takes")
        with self.steady:
            try:
                self.socket.sendall(frame)
            except OSError:
                raise AgentGone from None

    def has_mail(self, patience: float) -> bool:
        """Whether something has come, or comes within so many seconds."""
        return bool(self._received or self._poll.poll(patience * 1_000))

    def receive(self) -> dict:
        while True:
            with self.steady:
                end = self._received.find(b"\n")
                if end >= 0:
                    line = bytes(self._received[:end])
                    del self._received[: end + 1]
                    return from_json(line.decode())[0]
            self._poll.poll()
            with self.steady:
                chunk = self.socket.recv(_READ_SIZE)
                self._received += chunk
            if not chunk:
                raise AgentGone

    def request(self, method: str, **params):
        """Asks the agent and waits. Answers to requests that were given up are dropped on the way."""
        if not self.is_ours:
            raise RuntimeError(f"{method} is answered only in the task's own process, not in one that it forked")
        with self._request_lock:
            self._last_request += 1
            number = self._last_request
            self.send({"type": "request", "id": number, "method": method, "params": params})
            while True:
                reply = self.receive()
                if reply.get("type") == "reply" and reply.get("id") == number:
                    break
        for secret in reply.get("masks") or ():
            masks.add(secret)
        if not reply.get("ok"):
            raise RequestFailed(str(reply.get("error") or f"{method} failed"), str(reply.get("code") or ""))
        return reply.get("value")
