"""Partition key mappers of partitioned asset schedules, as data: the control plane applies them (timetables/partition-mappers.ts)."""

from __future__ import annotations

import re

from ..exceptions import RecordingError
from .timezones import zone_name

# Format codes that mean the same on every machine.
_CODES = frozenset("YymdHIpMSfjaAbBwuVGz%")


class PartitionMapper:
    """Base class. One that an author writes would run in the control plane, which runs no author code."""

    def to_spec(self) -> dict:
        kind = type(self)
        raise RecordingError(
            f"the partition mapper {kind.__module__.removeprefix('svc_dag_')}.{kind.__qualname__} is the author's own code, which "
            "the scheduler does not run",
            "Use IdentityMapper, AllowedKeyMapper, StartOf…Mapper, ChainMapper or ProductMapper",
        )


def mapper_spec(mapper) -> dict:
    if not isinstance(mapper, PartitionMapper):
        raise RecordingError(f"{mapper!r} is not a partition mapper", "Use for example StartOfDayMapper()")
    if not type(mapper).__module__.startswith("svc_runtime."):
        return PartitionMapper.to_spec(mapper)
    return mapper.to_spec()


def check_format(text: str, what: str) -> str:
    for code in re.findall(r"%(.?)", str(text), flags=re.DOTALL):
        if code not in _CODES or not code:
            raise RecordingError(
                f"{what} has the format code '%{code}', which depends on the machine",
                "Use codes such as %Y, %m, %d, %H, %M, %S, %j, %G, %V, %z",
            )
    return str(text)


class IdentityMapper(PartitionMapper):
    def to_spec(self) -> dict:
        return {"mapper": "identity"}


class AllowedKeyMapper(PartitionMapper):
    def __init__(self, allowed_keys: list) -> None:
        self.allowed_keys = list(allowed_keys)

    def to_spec(self) -> dict:
        return {"mapper": "allowed", "keys": [str(key) for key in self.allowed_keys]}


class _StartOf(PartitionMapper):
    unit = ""
    default_output_format = ""

    def __init__(
        self, input_format: str = "%Y-%m-%dT%H:%M:%S", output_format: str | None = None, *, timezone="UTC"
    ) -> None:
        self.input_format = input_format
        self.output_format = output_format or self.default_output_format
        self.timezone = zone_name(timezone)

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


class StartOfYearMapper(_StartOf):
    unit = "year"
    default_output_format = "%Y"


class ChainMapper(PartitionMapper):
    def __init__(self, mapper0, mapper1, /, *mappers) -> None:
        self.mappers = [mapper0, mapper1, *mappers]

    def to_spec(self) -> dict:
        return {"mapper": "chain", "mappers": [mapper_spec(mapper) for mapper in self.mappers]}


class ProductMapper(PartitionMapper):
    def __init__(self, mapper0, mapper1, /, *mappers, delimiter: str = "|") -> None:
        self.mappers = [mapper0, mapper1, *mappers]
        self.delimiter = delimiter

    def to_spec(self) -> dict:
        return {
            "mapper": "product",
            "mappers": [mapper_spec(mapper) for mapper in self.mappers],
            "delimiter": self.delimiter,
        }
