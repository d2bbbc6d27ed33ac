"""Debuggers that open where a task has failed, at the line of the author."""

from __future__ import annotations

import sys
import threading
import types

from ..exceptions import AirflowException

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .author_line import AuthorLine

    Debug = Callable[[BaseException, AuthorLine | None], None]

_PORT = 5678


def debugger_of(name: str | None) -> Debug | None:
    if name is None:
        return None
    return _debugpy() if name == "debugpy" else _pdb


def _pdb(error: BaseException, line: AuthorLine | None) -> None:
    import pdb

    sys.stdout.write(f"\n{type(error).__name__}: {error}\n")
    # Not pdb.post_mortem(), which stops in the library that raised.
    debugger = pdb.Pdb()
    debugger.reset()
    debugger.interaction(None, _up_to(error.__traceback__, line))


def _up_to(trace: types.TracebackType | None, line: AuthorLine | None) -> types.TracebackType | None:
    """The frames down to the author's line; `down` has no others then, and `up` has the callers."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    if line is not None:
        places = [(one.tb_frame.f_code.co_filename, one.tb_lineno) for one in frames]
        frames = frames[: len(places) - places[::-1].index((line.path, line.number))]
    shortened = None
    for one in reversed(frames):
        shortened = types.TracebackType(shortened, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return shortened


def _debugpy() -> Debug:
    """Waits for the editor. It stops at breakpoints, and where a task fails."""
    try:
        import debugpy
    except ModuleNotFoundError:
        raise AirflowException(
            "--debug debugpy needs the package debugpy in the environment of the DAG. Add it to the dependencies of the "
            "project, or use --debug pdb"
        ) from None
    debugpy.listen(("127.0.0.1", _PORT))
    sys.stdout.write(f"debugpy listens on 127.0.0.1:{_PORT}; the run begins when an editor attaches\n")
    sys.stdout.flush()
    debugpy.wait_for_client()

    def stop(error: BaseException, line: AuthorLine | None) -> None:
        import pydevd

        debugger: Any = pydevd.get_global_debugger()
        thread = threading.current_thread()
        info = debugger.set_additional_thread_info(thread)
        info.is_tracing += 1
        try:
            debugger.stop_on_unhandled_exception(debugger, thread, info, (type(error), error, error.__traceback__))
        finally:
            info.is_tracing -= 1

    return stop
