"""How values travel to the control plane: small ones whole, larger ones in parts.

The job says how large a value may be that is sent whole (`xcom.inline_max_bytes`), and how large any value may be
(`xcom.max_bytes`). A larger value goes to the store of task logs first, in parts. The XCom then names the stored value and
has a description of it, which the web UI shows where the value itself is too large to be shown.
"""

from __future__ import annotations

import base64
import functools
import json

from .channel import RequestFailed
from .xcom_backend import backend_of_repository, result_of, serialize
from .xcom_values import XComTooLarge, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .channel import Channel

PART_BYTES = 1024 * 1024
_WHOLE = 1024 * 1024
# All values of a result travel in one message. Beyond this, values that are worth a call of their own go to the store.
_MOST_IN_ONE_RESULT = 1024 * 1024
_WORTH_STORING = 4 * 1024


class Values:
    """Encodes values for the control plane and decodes what it answers."""

    def __init__(self, job: dict, channel: Channel) -> None:
        self._channel = channel
        limits = job.get("xcom_limits")
        # A control plane of an earlier release takes only whole values.
        whole = job.get("xcom_max_bytes") or _WHOLE
        self._inline_bytes, self._max_bytes = (
            (limits["inline_bytes"], limits["max_bytes"]) if limits else (whole, whole)
        )
        self._can_store = limits is not None
        self._place = {
            "dag_id": job.get("dag_id"),
            "task_id": job.get("task_id"),
            "run_id": (job.get("run") or {}).get("run_id"),
            "map_index": job.get("map_index", -1),
        }

    @functools.cached_property
    def backend(self):
        """The author's class that keeps values, or None."""
        return backend_of_repository()

    def entry(self, key: str, value) -> dict:
        """`{"key", "value"}`, and "stored" for a value that is in the store by now."""
        return self._entry(key, value, self._inline_bytes)[0]

    def plain_entry(self, key: str, value) -> dict:
        """For what the control plane reads itself: no backend is asked."""
        return {"key": key, "value": encode(value)}

    def entries(self, pairs: list) -> list:
        """For one message."""
        found = []
        left = _MOST_IN_ONE_RESULT
        for key, value in pairs:
            room = self._inline_bytes if left >= self._inline_bytes else max(left, _WORTH_STORING)
            entry, size = self._entry(key, value, room if self._can_store else self._inline_bytes)
            left -= size
            found.append(entry)
        return found

    def _entry(self, key: str, value, inline_bytes: int) -> tuple:
        if self.backend is None:
            encoded = encode(value)
            more = {}
        else:
            encoded = serialize(self.backend, value, key=key, place=self._place)
            # What is stored says nothing about the value.
            more = {"length": len(value) if isinstance(value, (list, tuple, dict)) else None}
        text = json.dumps(encoded, separators=(",", ":"), ensure_ascii=False).encode()
        size = len(text)
        if size > self._max_bytes:
            raise XComTooLarge(
                f"the value for {key!r} has {size} bytes, more than the {self._max_bytes} that xcom.max_bytes allows; "
                "write it to storage and return its place"
            )
        if size <= inline_bytes:
            return {"key": key, "value": encoded, **more}, size
        length = more.get("length") if more else item_count(encoded)
        stored = {"id": self._store(text), "length": length}
        return {"key": key, "value": _described(value, length, size), "stored": stored}, 0

    def _store(self, text: bytes) -> str:
        import uuid

        stored_id = str(uuid.uuid4())
        for offset in range(0, len(text), PART_BYTES):
            data = base64.b64encode(text[offset : offset + PART_BYTES]).decode("ascii")
            try:
                self._channel.request("store_value", id=stored_id, bytes=len(text), offset=offset, data=data)
            except RequestFailed as failure:
                if failure.code == "too_large":
                    raise XComTooLarge(str(failure)) from None
                raise
        return stored_id

    def encoded(self, entry: dict):
        """What `encode` made of the value of an entry."""
        stored_id = entry.get("stored")
        if isinstance(stored_id, dict):  # an entry that this task has made itself
            stored_id = stored_id["id"]
        return entry["value"] if stored_id is None else json.loads(self._fetch(stored_id))

    def of(self, entry: dict):
        encoded = self.encoded(entry)
        return (
            decode(encoded)
            if self.backend is None
            else self.backend.deserialize_value(result_of(entry, encoded, self._place))
        )

    def purge(self, entry: dict) -> None:
        self.backend.purge(result_of(entry, self.encoded(entry), self._place))

    def _fetch(self, stored_id: str) -> bytes:
        text = bytearray()
        while True:
            reply = self._channel.request("read_value", id=stored_id, part=len(text) // PART_BYTES)
            data = base64.b64decode(reply["data"])
            text += data
            if len(text) >= reply["bytes"] or not data:
                return bytes(text)


def item_count(encoded) -> int | None:
    """How many items a later task could be expanded over (itemCount in packages/server/xcom/value.ts)."""
    if isinstance(encoded, list):
        return len(encoded)
    if not isinstance(encoded, dict):
        return None
    if "__classname__" not in encoded:
        return len(encoded)
    return len(encoded["__data__"]) if encoded["__classname__"] == "builtins.tuple" else None


def _described(value, length: int | None, size: int) -> str:
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    items = "" if length is None else f" with {length:,} items"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(count, int) for count in shape):
        items = f" of shape {shape}"
    return f"A {name}{items}, {size:,} bytes as JSON."[:300]
