"""What a task process says last: the rest of its log, then its outcome."""

from __future__ import annotations

from ..run import logs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..run.channel import Channel
    from ..run.outcome import Outcome


def report(outcome: Outcome, channel: Channel, more: dict | None = None) -> None:
    """The last words, then the result."""
    logs.sink.hold()
    logs.end_streams()
    logs.sink.flush()
    try:
        channel.send({**outcome.message(), **(more or {})})
    except ValueError as error:
        # Larger than a frame: every single value is within its limit, all of them together are not.
        from ..run.xcom_values import XComTooLarge

        outcome.xcoms, outcome.rendered_fields = [], {}
        outcome.fail(XComTooLarge(str(error)))
        channel.send({**outcome.message(), **(more or {})})
