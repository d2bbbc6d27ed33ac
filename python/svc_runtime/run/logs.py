"""Everything a task says, as structured records over the control connection.

A record is sent when it is made: the stream coalesces what comes fast, and a line said before a long silence is seen
at once, without a thread or a timer to flush it (one record costs about 15 µs). Only between `hold()` and `flush()`,
where the runner itself speaks and knows that it will be done shortly, records wait to travel together.
"""

from __future__ import annotations

import codecs
import contextlib
import datetime
import io
import logging
import os
import sys
import threading
import traceback

from .masks import masks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .channel import Channel

_MAX_EVENT = 64 * 1024
_MAX_FRAMES = 60
_LEVELS = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warning", logging.ERROR: "error"}
_UTC = datetime.timezone.utc


def _level(number: int) -> str:
    return _LEVELS.get(number) or ("critical" if number >= logging.CRITICAL else logging.getLevelName(number).lower())


def clean(text: str) -> str:
    """Text any JSON reader and any database takes: no lone surrogates, no NUL."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors="replace").decode()
    return text


class LogSink:
    """Without a channel, in the fork server, everything goes to stderr, where the agent reads it."""

    def __init__(self) -> None:
        self._channel: Channel | None = None
        self._held: list | None = None
        # Of a triggerer: takes the records that belong to one of its triggers.
        self.route: Callable[[list], bool] | None = None
        # Of the trace that the attempt belongs to, while traces are exported.
        self.trace_id: str | None = None

    def attach(self, channel: Channel | None) -> None:
        self._channel = channel

    def hold(self) -> None:
        if self._held is None:
            self._held = []

    def flush(self) -> None:
        held, self._held = self._held, None
        if held and self._channel is not None:
            self._send(self._channel, held)

    def emit(self, record: dict) -> None:
        record["event"] = clean(masks.apply(record["event"]))
        if self.trace_id is not None:
            record["trace_id"] = self.trace_id
        records = list(_split(record))
        if self.route is not None and self.route(records):
            return
        if self._channel is None or not self._channel.is_ours:
            # A process that the task forked too: its words take the way of any other program's output.
            for piece in records:
                os.write(2, piece["event"].encode(errors="replace") + b"\n")
        elif self._held is not None:
            self._held += records
        else:
            self._send(self._channel, records)

    def _send(self, channel: Channel, records: list) -> None:
        # Each frame stays far below the agent's limit, however long a single message was.
        for start in range(0, len(records), 32):
            channel.send({"type": "log", "records": records[start : start + 32]})


def _split(record: dict):
    text = record["event"]
    if len(text) <= _MAX_EVENT:
        yield record
        return
    for start in range(0, len(text), _MAX_EVENT):
        yield {**record, "event": text[start : start + _MAX_EVENT]}
        record.pop("error_detail", None)


def now_text() -> str:
    return datetime.datetime.now(_UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class SinkHandler(logging.Handler):
    def __init__(self, sink: LogSink) -> None:
        super().__init__()
        self._sink = sink

    def createLock(self) -> None:
        # The channel has a lock; a second one could be held by another thread when the task forks.
        self.lock = contextlib.nullcontext()  # type: ignore[assignment]  # entered and left, nothing else

    def acquire(self) -> None: ...

    def release(self) -> None: ...

    def emit(self, record: logging.LogRecord) -> None:
        try:
            moment = datetime.datetime.fromtimestamp(record.created, _UTC)
            text = _message(record)
            error = record.exc_info[1] if record.exc_info else None
            if error is not None:
                text += "\n" + traceback_text(error)
            elif record.stack_info:
                text += "\n" + record.stack_info
            event: dict = {
                "timestamp": moment.isoformat(timespec="microseconds").replace("+00:00", "Z"),
                "level": _level(record.levelno),
                "logger": record.name,
                "event": text,
                "filename": record.filename,
                "lineno": record.lineno,
            }
            if error is not None:
                event["error_detail"] = error_detail(error)
            self._sink.emit(event)
            if error is not None:
                without_detail = {key: value for key, value in event.items() if key != "error_detail"}
                for line in folded(error):
                    self._sink.emit({**without_detail, "event": line})
        except Exception:
            self.handleError(record)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # a wrong format string must not cost the author the message
        return f"{record.msg} {record.args!r} ({type(error).__name__} while formatting: {error})"


def _is_ours(filename: str) -> bool:
    return filename.startswith(_PACKAGES)


_PYTHON = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_PACKAGES = tuple(os.path.join(_PYTHON, name) + os.sep for name in ("svc_runtime", "airflow", "cosmos", "svc"))


def _frames(error: BaseException) -> list:
    """Those of the author and of libraries: ours say nothing about the error, unless there are no others."""
    everything = traceback.extract_tb(error.__traceback__)
    return _shortened([frame for frame in everything if not _is_ours(frame.filename)] or list(everything))


def _own_frames(error: BaseException) -> list:
    """What `_frames` leaves out."""
    everything = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in everything if _is_ours(frame.filename)]
    return _shortened(ours) if len(ours) < len(everything) else []


def folded(error: BaseException) -> list[str]:
    """Our frames in a log group, which the web UI shows closed."""
    frames = [frame for link, _ in _chain(error) for frame in _own_frames(link)]
    if not frames:
        return []
    text = "".join(traceback.StackSummary.from_list(frames).format()).rstrip("\n")
    return ["::group::Frames of svc", text, "::endgroup::"]


def _shortened(frames: list) -> list:
    if len(frames) > _MAX_FRAMES:
        half = _MAX_FRAMES // 2
        frames = frames[:half] + frames[-half:]
    return frames


def traceback_text(error: BaseException) -> str:
    try:
        parts = []
        for link, word in _chain(error):
            if word:
                parts.append(f"\n{word}\n\n")
            stack = traceback.StackSummary.from_list(_frames(link))
            parts += ["Traceback (most recent call last):\n", *stack.format()]
            parts += traceback.format_exception_only(type(link), link)
        return "".join(parts).rstrip("\n")
    except Exception:  # __str__ of an exception is the author's code too
        return f"{type(error).__name__} (its text cannot be made)"


def _chain(error: BaseException) -> list:
    """Causes first, each with the sentence that connects it to the one before."""
    links: list = []
    word = ""
    seen: set = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(links) < 10:
        seen.add(id(current))
        links.append(current)
        if current.__cause__ is not None:
            current = current.__cause__
        elif current.__context__ is not None and not current.__suppress_context__:
            current = current.__context__
        else:
            current = None
    links.reverse()
    found = []
    for link in links:
        found.append((link, word))
        is_cause = any(other.__cause__ is link for other in links)
        word = (
            "The above exception was the direct cause of the following exception:"
            if is_cause
            else "During handling of the above exception, another exception occurred:"
        )
    return found


def error_detail(error: BaseException) -> list:
    """The error and what caused it, outermost first, in the form Airflow's log readers know."""
    details = []
    for link, _ in reversed(_chain(error)):
        details.append(
            {
                "exc_type": type(link).__name__,
                "exc_value": clean(masks.apply(text_of(link))),
                "exc_notes": [clean(masks.apply(str(note))) for note in getattr(link, "__notes__", [])],
                "syntax_error": None,
                "is_cause": any(other is not link and other.__cause__ is link for other, _ in _chain(error)),
                "frames": [
                    {"filename": frame.filename, "lineno": frame.lineno, "name": frame.name} for frame in _frames(link)
                ],
                "is_group": False,
                "exceptions": [],
            }
        )
    return details


def text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be made)"


class LineWriter(io.TextIOBase):
    """sys.stdout and sys.stderr of a task: whole lines become records; `fileno` is the real descriptor."""

    def __init__(self, sink: LogSink, logger: str, level: str, descriptor: int) -> None:
        self._sink = sink
        self._logger = logger
        self._level_name = level
        self._descriptor = descriptor
        # By thread: print() writes a line in pieces, and those of two threads must not mix.
        self._partial: dict[int, str] = {}
        self.buffer = _ByteWriter(self)

    encoding = "utf-8"
    errors = "replace"
    line_buffering = True

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        thread = threading.get_ident()
        *lines, rest = (self._partial.pop(thread, "") + text).split("\n")
        if len(rest) >= _MAX_EVENT:
            lines.append(rest)
        elif rest:
            self._partial[thread] = rest
        for line in lines:
            self._say(line)
        return len(text)

    def end(self) -> None:
        """What was written without a line end is said at the end of the task."""
        left, self._partial = self._partial, {}
        for line in left.values():
            self._say(line)

    def _say(self, line: str) -> None:
        record = {
            "timestamp": now_text(),
            "level": self._level_name,
            "logger": self._logger,
            "event": line.rstrip("\r"),
        }
        self._sink.emit(record)


class _ByteWriter(io.RawIOBase):
    """`sys.stdout.buffer`: bytes, decoded and treated like text."""

    def __init__(self, text: LineWriter) -> None:
        self._text = text
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._text.fileno()

    def write(self, data) -> int:
        self._text.write(self._decode(bytes(data)))
        return len(data)


sink = LogSink()


def install() -> None:
    """Takes over logging, stdout and stderr, once and before the DAG file runs: handlers it makes keep our streams."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
    root.addHandler(SinkHandler(sink))
    set_level()
    sys.stdout = LineWriter(sink, "task.stdout", "info", 1)
    sys.stderr = LineWriter(sink, "task.stderr", "error", 2)


def is_untouched() -> bool:
    """Whether what the runner says reaches the sink and nothing else: a DAG file may have added handlers of its own."""
    root = logging.getLogger()
    above = [logging.getLogger(name) for name in ("task", "airflow", "airflow.task")]
    return (
        [type(handler) for handler in root.handlers] == [SinkHandler]
        and not any(logger.handlers or logger.filters for logger in above)
        and isinstance(sys.stdout, LineWriter)
    )


def _only_we_hear(logger: logging.Logger) -> bool:
    """Whether a record of this logger would meet nothing but our handler on its way."""
    while logger.parent is not None:
        if logger.handlers or logger.filters or not logger.propagate:
            return False
        logger = logger.parent
    handlers = logger.handlers
    return len(handlers) == 1 and type(handlers[0]) is SinkHandler and not (handlers[0].filters or logger.filters)


def note(logger: logging.Logger, text: str) -> None:
    """`logger.info(text)`; without a LogRecord, which costs a small task a tenth of its time, when nobody would see it."""
    if type(logger) is not logging.Logger or logging.getLogRecordFactory() is not logging.LogRecord:
        logger.info("%s", text, stacklevel=2)
    elif logger.isEnabledFor(logging.INFO):
        if _only_we_hear(logger):
            frame = sys._getframe(1)
            place = {"filename": os.path.basename(frame.f_code.co_filename), "lineno": frame.f_lineno}
            sink.emit({"timestamp": now_text(), "level": "info", "logger": logger.name, "event": text, **place})
        else:
            logger.info("%s", text, stacklevel=2)


LEVEL_SETTING = "AIRFLOW__LOGGING__LOGGING_LEVEL"


def set_level() -> None:
    wanted = os.environ.get(LEVEL_SETTING, "INFO").upper()
    logging.getLogger().setLevel(wanted if isinstance(logging.getLevelName(wanted), int) else logging.INFO)


def end_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, LineWriter):
            stream.end()


def say(text: str, *, level: int = logging.INFO, error: BaseException | None = None) -> None:
    """The runner's own voice."""
    logging.getLogger("task").log(level, "%s", text, exc_info=error)
