"""Answers of people, for operators that ask them (`HITLOperator` and others)."""

from __future__ import annotations

import datetime

from ..run.channel import RequestFailed
from ..run.moments import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_SECOND = datetime.timedelta(seconds=1)


class _NoAnswer:
    def __repr__(self) -> str:
        return "NO_ANSWER"


# Nobody answers: the question ends by its timeout.
NO_ANSWER = _NoAnswer()


class Answer:
    """The options that a person chooses, and what the person writes into the form."""

    def __init__(self, options: str | list[str], params: dict | None = None, by: str = "tester") -> None:
        self.options = [options] if isinstance(options, str) else list(options)
        self.params = dict(params or {})
        self.by = by


class People:
    """Answers the questions of a run. Each question is asked once, and answered at the next look."""

    def __init__(self, answers: Mapping[str, Any], now: Callable[[], datetime.datetime]) -> None:
        self._answers = dict(answers)
        self._now = now
        self._asked: dict[tuple[str, int, int], datetime.datetime] = {}

    def ask(self, channel, *, options, defaults, timeout, params, multiple, **_) -> dict:
        place = channel.task_id, channel.map_index, channel.try_number
        given = self._answers.get(channel.task_id)
        if place not in self._asked:
            return self._begin(place, given, options, timeout)
        if given is not NO_ANSWER:
            assert given is not None
            return {"kind": "answered", "answer": self._checked(given, options, params, multiple)}
        if defaults is None:
            return {"kind": "expired"}
        return {"kind": "answered", "answer": self._event(defaults, _values(params), by=None)}

    def _begin(self, place, given, options, timeout) -> dict:
        if given is None:
            raise RequestFailed(
                f"no answer for the task {place[0]}. Pass one of its options: answers={{{place[0]!r}: {options[0]!r}}}",
                "unavailable",
            )
        if given is NO_ANSWER and timeout is None:
            raise RequestFailed("nobody answers, and the question has no response_timeout", "unavailable")
        at = self._now()
        self._asked[place] = until = at + timeout * _SECOND if given is NO_ANSWER else at
        return {"kind": "waiting", "until": iso(until), "is_new": True}

    def _checked(self, given, options, params, multiple) -> dict:
        answer = given if isinstance(given, Answer) else Answer(given)
        unknown = [option for option in answer.options if option not in options]
        if unknown:
            raise RequestFailed(f"the answer {unknown} is none of the options {options}", "invalid")
        if len(answer.options) > 1 and not multiple:
            raise RequestFailed(f"the answer {answer.options} has several options; the question takes one", "invalid")
        strange = sorted(set(answer.params) - set(params))
        if strange:
            raise RequestFailed(f"the form has no field {', '.join(strange)}; it has {sorted(params)}", "invalid")
        return self._event(answer.options, answer.params, by=answer.by)

    def _event(self, options, params: dict, *, by: str | None) -> dict:
        user = None if by is None else {"id": by, "name": by}
        at = iso(self._now())
        return {
            "chosen_options": list(options),
            "params_input": params,
            "responded_at": at,
            "responded_by_user": user,
        }


def _values(params: dict) -> dict:
    return {name: param["value"] for name, param in params.items()}
