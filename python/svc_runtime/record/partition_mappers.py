"""Partition key mappers of partitioned asset schedules, as data: the control plane applies them (timetables/partition-mappers.ts).

One that an author wrote is asked by a worker (ask_mapper.py), and so is what it calls of ours by `super()`: hence `to_downstream`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import ClassVar

from ..exceptions import RecordingError
from .partition_windows import SegmentWindow, WaitForAll, WaitPolicy, Window
from .timezones import zone_name

# Format codes that mean the same on every machine.
_CODES = frozenset("YymdHIpMSfjaAbBwuVGz%")


class PartitionMapper:
    """Base class."""

    # Class attributes, too: a class of an author may not call this constructor.
    max_downstream_keys: int | None = None
    is_rollup = False
    # Of the parts that a window may have with this mapper.
    expected_decoded_type: type = str

    def __init__(self, *, max_downstream_keys: int | None = None) -> None:
        self._limit(max_downstream_keys)

    def _limit(self, keys: int | None) -> None:
        if keys is not None and (isinstance(keys, bool) or not isinstance(keys, int) or keys < 1):
            raise ValueError(f"max_downstream_keys must be a positive integer or None, got {keys!r}")
        self.max_downstream_keys = keys

    def to_downstream(self, key: str) -> str | Iterable[str]:
        """The key of the run that an event of that key is for, or several."""
        raise RecordingError(
            f"the partition mapper {mapper_class(self)} has no to_downstream()",
            "Write to_downstream(self, key) in the class: it gives the key, or keys, of the runs that an event is for",
        )

    def to_spec(self) -> dict:
        return {}

    def serialize(self) -> dict:
        return {}

    @classmethod
    def deserialize(cls, data: dict) -> PartitionMapper:
        return cls(**data)


def mapper_class(mapper: PartitionMapper) -> str:
    kind = type(mapper)
    return f"{kind.__module__.removeprefix('svc_dag_')}.{kind.__qualname__}"


# What a mapper says of keys. A class that only gives a built-in mapper its arguments is that mapper.
_ANSWERS = ("to_downstream", "normalize", "format")


def is_own(mapper: PartitionMapper) -> bool:
    """Whether the author's own code has to be asked, in the mapper or in one that it is made of."""
    kind = type(mapper)
    ours = next(base for base in kind.__mro__ if base.__module__.startswith("svc_runtime."))
    if ours is PartitionMapper or any(getattr(kind, name, None) is not getattr(ours, name, None) for name in _ANSWERS):
        return True
    return any(is_own(part) for part in parts_of(mapper))


def parts_of(mapper: PartitionMapper) -> list[PartitionMapper]:
    """The mappers that it is made of."""
    if isinstance(mapper, _Several):
        return list(mapper.mappers)
    if isinstance(mapper, FanOutMapper):
        return [mapper.upstream_mapper, mapper.downstream_mapper]
    return [mapper.upstream_mapper] if isinstance(mapper, RollupMapper) else []


def _has_window(mapper: PartitionMapper) -> bool:
    return isinstance(mapper, (RollupMapper, FanOutMapper)) or any(_has_window(part) for part in parts_of(mapper))


def mapper_spec(mapper, encode) -> dict:
    """`encode` makes plain data of what an own mapper says of itself."""
    if not isinstance(mapper, PartitionMapper):
        raise RecordingError(f"{mapper!r} is not a partition mapper", "Use for example StartOfDayMapper()")
    if not is_own(mapper):
        return mapper.to_spec()
    if type(mapper).to_downstream is PartitionMapper.to_downstream:
        mapper.to_downstream("")  # says what is missing
    if _has_window(mapper):
        raise RecordingError(
            f"the partition mapper {mapper_class(mapper)} combines a window with code of the author's own, which the control"
            " plane cannot run",
            "Use RollupMapper and FanOutMapper with built-in mappers, and give an own mapper to_downstream() with several keys",
        )
    return {"mapper": "custom", "class": mapper_class(mapper), "arguments": encode(dict(mapper.serialize()))}


def check_format(text: str, what: str) -> str:
    for code in re.findall(r"%(.?)", str(text), flags=re.DOTALL):
        if code not in _CODES or not code:
            raise RecordingError(
                f"{what} has the format code '%{code}', which depends on the machine",
                "Use codes such as %Y, %m, %d, %H, %M, %S, %j, %G, %V, %z",
            )
    return str(text)


class IdentityMapper(PartitionMapper):
    def to_downstream(self, key: str) -> str:
        return key

    def to_spec(self) -> dict:
        return {"mapper": "identity"}


class FixedKeyMapper(PartitionMapper):
    """One key for all events."""

    def __init__(self, downstream_key: str, *, max_downstream_keys: int | None = None) -> None:
        if not isinstance(downstream_key, str) or not downstream_key:
            raise ValueError(f"FixedKeyMapper downstream_key must be a non-empty str; got {downstream_key!r}.")
        super().__init__(max_downstream_keys=max_downstream_keys)
        self.downstream_key = downstream_key

    def to_downstream(self, key: str) -> str:
        return self.downstream_key

    def to_spec(self) -> dict:
        return {"mapper": "fixed", "key": self.downstream_key}

    def serialize(self) -> dict:
        return {"downstream_key": self.downstream_key}


class AllowedKeyMapper(PartitionMapper):
    def __init__(self, allowed_keys: list, *, max_downstream_keys: int | None = None) -> None:
        super().__init__(max_downstream_keys=max_downstream_keys)
        self.allowed_keys = list(allowed_keys)

    def to_downstream(self, key: str) -> str:
        if key not in self.allowed_keys:
            raise ValueError(f"Key {key!r} not in allowed keys {self.allowed_keys}")
        return key

    def to_spec(self) -> dict:
        return {"mapper": "allowed", "keys": [str(key) for key in self.allowed_keys]}

    def serialize(self) -> dict:
        return {"allowed_keys": list(self.allowed_keys)}


class _StartOf(PartitionMapper):
    unit = ""
    expected_decoded_type = datetime.datetime
    default_output_format = ""

    def __init__(
        self,
        input_format: str = "%Y-%m-%dT%H:%M:%S",
        output_format: str | None = None,
        *,
        timezone="UTC",
        max_downstream_keys: int | None = None,
    ) -> None:
        super().__init__(max_downstream_keys=max_downstream_keys)
        self.input_format = input_format
        self.output_format = output_format or self.default_output_format
        self.timezone = zone_name(timezone)

    def to_downstream(self, key: str) -> str:
        import zoneinfo

        moment = datetime.datetime.strptime(key, self.input_format)
        zone = zoneinfo.ZoneInfo(self.timezone)
        # A key without an offset is what a clock in the mapper's zone shows.
        moment = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)
        return self.format(self.normalize(moment))

    def normalize(self, dt: datetime.datetime) -> datetime.datetime:
        """The start of the hour, day, week, month, quarter or year."""
        hour = dt.replace(minute=0, second=0, microsecond=0)
        if self.unit == "hour":
            return hour
        day = hour.replace(hour=0)
        if self.unit == "week":
            return day - datetime.timedelta(days=day.weekday())
        months = {"month": day.month, "quarter": day.month - (day.month - 1) % 3, "year": 1}
        return day.replace(month=months[self.unit], day=1) if self.unit in months else day

    def format(self, dt: datetime.datetime) -> str:
        return dt.strftime(self.output_format)

    def serialize(self) -> dict:
        return {"input_format": self.input_format, "output_format": self.output_format, "timezone": self.timezone}

    def to_spec(self) -> dict:
        name = type(self).__name__
        return {
            "mapper": "start_of",
            "unit": self.unit,
            "input_format": check_format(self.input_format, f"input_format of {name}"),
            "output_format": check_format(self.output_format, f"output_format of {name}"),
            "timezone": self.timezone,
        }


class StartOfHourMapper(_StartOf):
    unit = "hour"
    default_output_format = "%Y-%m-%dT%H"


class StartOfDayMapper(_StartOf):
    unit = "day"
    default_output_format = "%Y-%m-%d"


class StartOfWeekMapper(_StartOf):
    unit = "week"
    default_output_format = "%Y-%m-%d (W%V)"


class StartOfMonthMapper(_StartOf):
    unit = "month"
    default_output_format = "%Y-%m"


class StartOfQuarterMapper(_StartOf):
    unit = "quarter"
    default_output_format = "%Y-Q{quarter}"

    def format(self, dt: datetime.datetime) -> str:
        return dt.strftime(self.output_format.replace("{quarter}", str((dt.month + 2) // 3)))


class StartOfYearMapper(_StartOf):
    unit = "year"
    default_output_format = "%Y"


class _Several(PartitionMapper):
    """Made of others, in their order."""

    def __init__(self, *mappers: PartitionMapper, max_downstream_keys: int | None = None) -> None:
        super().__init__(max_downstream_keys=max_downstream_keys)
        self.mappers = list(mappers)

    def parts(self) -> list[dict]:
        return [part.to_spec() for part in self.mappers]

    def serialize(self) -> dict:
        return {"mappers": [{"class": mapper_class(part), "arguments": part.serialize()} for part in self.mappers]}


class ChainMapper(_Several):
    def __init__(self, mapper0, mapper1, /, *mappers, max_downstream_keys: int | None = None) -> None:
        super().__init__(mapper0, mapper1, *mappers, max_downstream_keys=max_downstream_keys)

    def to_downstream(self, key: str) -> str | list[str]:
        keys, is_one = [key], True
        for mapper in self.mappers:
            answers = [mapper.to_downstream(each) for each in keys]
            is_one = is_one and all(isinstance(answer, str) for answer in answers)
            keys = [each for answer in answers for each in ([answer] if isinstance(answer, str) else answer)]
        return keys[0] if is_one else keys

    def to_spec(self) -> dict:
        return {"mapper": "chain", "mappers": self.parts()}


class ProductMapper(_Several):
    def __init__(
        self, mapper0, mapper1, /, *mappers, delimiter: str = "|", max_downstream_keys: int | None = None
    ) -> None:
        super().__init__(mapper0, mapper1, *mappers, max_downstream_keys=max_downstream_keys)
        self.delimiter = delimiter

    def to_downstream(self, key: str) -> str:
        parts = key.split(self.delimiter)
        if len(parts) != len(self.mappers):
            raise ValueError(f"Expected {len(self.mappers)} segments in partition key, but got {len(parts)}: {key!r}")
        found = []
        for mapper, part in zip(self.mappers, parts, strict=True):
            answer = mapper.to_downstream(part)
            if not isinstance(answer, str):
                raise TypeError(
                    f"ProductMapper child mappers must return a single key, but {type(mapper).__name__} returned "
                    "multiple keys"
                )
            found.append(answer)
        return self.delimiter.join(found)

    def serialize(self) -> dict:
        return {**super().serialize(), "delimiter": self.delimiter}

    def to_spec(self) -> dict:
        return {"mapper": "product", "mappers": self.parts(), "delimiter": self.delimiter}


def _check_window(mapper: PartitionMapper, window: Window, user: str) -> None:
    """As on Airflow, a window of time needs a mapper of time, and segments need one of texts."""
    if isinstance(window, SegmentWindow) != isinstance(mapper, _StartOf):
        return
    raise TypeError(
        f"the {type(window).__name__} of a {user} does not fit its upstream_mapper {type(mapper).__name__}: give a window of "
        "time a StartOf…Mapper, and a SegmentWindow another mapper"
    )


class RollupMapper(PartitionMapper):
    """Waits for the events of all parts of a window before the run of its key starts."""

    is_rollup = True

    def __init__(
        self,
        *,
        upstream_mapper: PartitionMapper,
        window: Window,
        wait_policy: WaitPolicy | None = None,
        max_downstream_keys: int | None = None,
    ) -> None:
        super().__init__(max_downstream_keys=max_downstream_keys)
        _check_window(upstream_mapper, window, "RollupMapper")
        self.upstream_mapper = upstream_mapper
        self.window = window
        self.wait_policy = wait_policy or WaitForAll()

    def to_downstream(self, key: str) -> str | Iterable[str]:
        return self.upstream_mapper.to_downstream(key)

    def to_spec(self) -> dict:
        return {
            "mapper": "rollup",
            "upstream": self.upstream_mapper.to_spec(),
            "window": self.window.to_spec(),
            "wait_policy": self.wait_policy.to_spec(self.window),
        }


class FanOutMapper(PartitionMapper):
    """Starts a run for each part of a window."""

    default_downstream_mapper_by_window_name: ClassVar[dict[str, type[PartitionMapper]]] = {
        "DayWindow": StartOfHourMapper,
        "WeekWindow": StartOfDayMapper,
        "MonthWindow": StartOfDayMapper,
        "QuarterWindow": StartOfMonthMapper,
        "YearWindow": StartOfMonthMapper,
    }

    def __init__(
        self,
        *,
        upstream_mapper: PartitionMapper,
        window: Window,
        downstream_mapper: PartitionMapper | None = None,
        max_downstream_keys: int | None = None,
    ) -> None:
        super().__init__(max_downstream_keys=max_downstream_keys)
        _check_window(upstream_mapper, window, "FanOutMapper")
        default = self.default_downstream_mapper_by_window_name.get(type(window).__name__)
        if downstream_mapper is None and default is None:
            raise ValueError(
                f"FanOutMapper has no default downstream_mapper for window type {type(window).__name__}; "
                "pass downstream_mapper explicitly."
            )
        self.upstream_mapper = upstream_mapper
        self.window = window
        self.downstream_mapper: PartitionMapper = downstream_mapper or default()  # type: ignore[misc]

    def to_spec(self) -> dict:
        return {
            "mapper": "fan_out",
            "upstream": self.upstream_mapper.to_spec(),
            "window": self.window.to_spec(),
            "downstream": self.downstream_mapper.to_spec(),
            **({} if self.max_downstream_keys is None else {"max_keys": self.max_downstream_keys}),
        }
