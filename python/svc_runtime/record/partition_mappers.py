"""Partition key mappers of partitioned asset schedules, recorded as class name and arguments."""

from __future__ import annotations


class PartitionMapper:
    def to_spec(self) -> dict:
        return {"mapper": type(self).__name__, "arguments": dict(self.__dict__)}


class IdentityMapper(PartitionMapper): ...


class AllowedKeyMapper(PartitionMapper):
    def __init__(self, allowed_keys: list) -> None:
        self.allowed_keys = list(allowed_keys)


class _StartOf(PartitionMapper):
    default_output = ""

    def __init__(self, input_format: str = "%Y-%m-%dT%H:%M:%S", output_format: str | None = None) -> None:
        self.input_format = input_format
        self.output_format = output_format


class StartOfHourMapper(_StartOf): ...


class StartOfDayMapper(_StartOf): ...


class StartOfWeekMapper(_StartOf): ...


class StartOfMonthMapper(_StartOf): ...


class StartOfQuarterMapper(_StartOf): ...


class StartOfYearMapper(_StartOf): ...


class ChainMapper(PartitionMapper):
    def __init__(self, mapper0, mapper1, /, *mappers) -> None:
        self.mappers = [mapper0, mapper1, *mappers]

    def to_spec(self) -> dict:
        return {"mapper": "ChainMapper", "mappers": [mapper.to_spec() for mapper in self.mappers]}


class ProductMapper(PartitionMapper):
    def __init__(self, mapper0, mapper1, /, *mappers, delimiter: str = "|") -> None:
        self.mappers = [mapper0, mapper1, *mappers]
        self.delimiter = delimiter

    def to_spec(self) -> dict:
        return {
            "mapper": "ProductMapper",
            "mappers": [mapper.to_spec() for mapper in self.mappers],
            "arguments": {"delimiter": self.delimiter},
        }
