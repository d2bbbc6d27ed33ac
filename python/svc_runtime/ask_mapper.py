"""Asks an author's own partition mapper which runs an event is for. Only in a worker's process, where author code may run."""

from __future__ import annotations

from .exceptions import RecordingError
from .record.partition_mappers import PartitionMapper, mapper_class

# So many runs of one event are a mistake.
_KEYS_AT_MOST = 1_000


def answer_keys(timetable, question: dict) -> dict:
    """Each key that the control plane asks about with the keys of its runs, or with what the mapper had against it."""
    mappers = [mapper for _, mapper in timetable.mappers_by_asset()]
    answers = []
    for asked in question["keys"]:
        place, key = asked["mapper"], asked["key"]
        mapper = timetable.default_partition_mapper if place < 0 else mappers[place]
        try:
            answers.append({"mapper": place, "key": key, "keys": _keys(mapper, key)})
        except RecordingError as error:
            answers.append({"mapper": place, "key": key, "problem": f"{error.what}. {error.instead}"})
        except Exception as error:
            problem = f"the partition mapper {mapper_class(mapper)} raised {type(error).__name__}: {error}"
            answers.append({"mapper": place, "key": key, "problem": problem})
    return {"keys": answers}


def _keys(mapper: PartitionMapper, key: str) -> list[str]:
    answer = mapper.to_downstream(key)
    keys = [answer] if isinstance(answer, str) else _listed(mapper, answer)
    for each in keys:
        if not isinstance(each, str) or not each:
            raise _no_key(mapper, each)
    return list(dict.fromkeys(keys))


def _listed(mapper: PartitionMapper, answer) -> list:
    try:
        items = iter(answer)
    except TypeError:
        raise _no_key(mapper, answer) from None
    keys: list = []
    limit = min(mapper.max_downstream_keys or _KEYS_AT_MOST, _KEYS_AT_MOST)
    for item in items:
        keys.append(item)
        if len(keys) > limit:
            raise RecordingError(
                f"the partition mapper {mapper_class(mapper)} gave more than {limit} keys for one",
                "Let to_downstream() give fewer",
            )
    return keys


def _no_key(mapper: PartitionMapper, value) -> RecordingError:
    return RecordingError(
        f"to_downstream() of the partition mapper {mapper_class(mapper)} returned {repr(value)[:200]}, which is not a key",
        "Return a text that is not empty, or several",
    )
