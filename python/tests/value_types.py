"""Values of many types, for a task that returns one and a task that gets it: here, and on a real Airflow.

`golden/airflow_values.py` passes them through Airflow 3.2.2. This module is therefore loaded by both, and needs nothing but
the libraries whose values it makes.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import typing
import uuid
from zoneinfo import ZoneInfo

import attr
import numpy
import pandas
import polars
import pyarrow
import pydantic

UTC = datetime.timezone.utc


@dataclasses.dataclass
class Order:
    number: int
    day: datetime.date
    lines: list = dataclasses.field(default_factory=list)


@attr.s(auto_attribs=True)
class Shelf:
    name: str
    levels: tuple


class Person(pydantic.BaseModel):
    name: str
    born: datetime.date
    tags: set[str] = set()
    friend: typing.Optional[Person] = None  # noqa: UP045  pydantic reads it while it runs


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Point(typing.NamedTuple):
    x: int
    y: int


class Own:
    """As Airflow asks of authors' classes."""

    __version__ = 2

    def __init__(self, word: str, version: int = 2) -> None:
        self.word = word
        self.version = version

    def serialize(self) -> dict:
        return {"word": self.word}

    @staticmethod
    def deserialize(data: dict, version: int) -> Own:
        return Own(data["word"], version)

    def __eq__(self, other) -> bool:
        return isinstance(other, Own) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]


def frame() -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "number": [1, 2, 3],
            "share": [0.5, float("nan"), 1.0],
            "word": ["a", None, "c"],
            "moment": pandas.to_datetime(["2024-01-01", "2024-02-01", None]).tz_localize("UTC"),
            "kind": pandas.Categorical(["x", "y", "x"]),
        },
        index=pandas.Index([10, 20, 30], name="key"),
    )


VALUES: dict[str, typing.Callable[[], typing.Any]] = {
    "none_in_list": lambda: [None],
    "bool": lambda: True,
    "int": lambda: 7,
    "int_beyond_doubles": lambda: 2**53 + 1,
    "int_beyond_64_bits": lambda: 2**70,
    "float": lambda: 0.1,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "text": lambda: "Où? 漢字 🚀",
    "large_text": lambda: "x" * 5_000_000,
    "bytes": lambda: b"\0\xff",
    "bytearray": lambda: bytearray(b"ab"),
    "complex": lambda: 1 + 2j,
    "list": lambda: [1, "a", [2.5]],
    "dict": lambda: {"a": {"b": [1]}},
    "dict_with_int_keys": lambda: {1: "a"},
    "ordered_dict": lambda: collections.OrderedDict(b=1, a=2),
    "tuple": lambda: (1, (2, "x")),
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({"a"}),
    "named_tuple": lambda: Point(1, 2),
    "datetime": lambda: datetime.datetime(2024, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    "datetime_without_zone": lambda: datetime.datetime(2024, 1, 2, 3, 4, 5),
    "datetime_in_berlin": lambda: datetime.datetime(2024, 7, 2, tzinfo=ZoneInfo("Europe/Berlin")),
    "date": lambda: datetime.date(2024, 2, 29),
    "time": lambda: datetime.time(1, 2, 3),
    "timedelta": lambda: datetime.timedelta(days=-1, microseconds=3),
    "timezone": lambda: ZoneInfo("Asia/Tokyo"),
    "decimal": lambda: decimal.Decimal("1.10"),
    "uuid": lambda: uuid.UUID(int=7),
    "path": lambda: pathlib.PosixPath("/tmp/a"),
    "pure_path": lambda: pathlib.PurePosixPath("a/b"),
    "enum": lambda: Colour.RED,
    "int_enum": lambda: Level.HIGH,
    "dataclass": lambda: Order(1, datetime.date(2024, 1, 1), [(1, 2)]),
    "attrs": lambda: Shelf("a", (1, 2)),
    "pydantic": lambda: Person(name="a", born=datetime.date(1990, 1, 1), tags={"x"}),
    "pydantic_in_pydantic": lambda: Person(
        name="a", born=datetime.date(1990, 1, 1), friend=Person(name="b", born=datetime.date(1991, 1, 1))
    ),
    "class_with_serialize": lambda: Own("word"),
    "numpy_int64": lambda: numpy.int64(5),
    "numpy_float64": lambda: numpy.float64(0.1),
    "numpy_float32": lambda: numpy.float32(0.1),
    "numpy_bool": lambda: numpy.bool_(True),
    "numpy_datetime64": lambda: numpy.datetime64("2024-01-01T00:00:00.123456789"),
    "numpy_array": lambda: numpy.array([[1.5, float("nan")], [3.0, 4.0]], dtype="float32"),
    "numpy_array_of_text": lambda: numpy.array(["a", "bc"]),
    "pandas_frame": frame,
    "pandas_frame_with_two_indexes": lambda: frame().set_index("word", append=True),
    "pandas_series": lambda: pandas.Series([1, 2], name="n", index=["a", "b"]),
    "pandas_timestamp": lambda: pandas.Timestamp("2024-01-01T00:00:00.123456789", tz="UTC"),
    "polars_frame": lambda: polars.DataFrame({"a": [1, 2], "b": ["x", None], "c": [datetime.date(2024, 1, 1)] * 2}),
    "polars_series": lambda: polars.Series("n", [1, 2, None]),
    "arrow_table": lambda: pyarrow.table({"a": [1, 2], "b": [["x"], None]}),
    "list_of_frames": lambda: [frame(), {"inner": frame()}],
}


def same(a, b) -> bool:
    """Equal, and of equal types all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, pandas.DataFrame):
        try:
            pandas.testing.assert_frame_equal(a, b, check_exact=True)
        except AssertionError:
            return False
        return True
    if isinstance(a, pandas.Series):
        return same(a.to_frame(), b.to_frame())
    if isinstance(a, numpy.ndarray):
        return a.dtype == b.dtype and numpy.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if isinstance(a, (polars.DataFrame, polars.Series, pyarrow.Table)):
        return a.equals(b) and (not isinstance(a, pyarrow.Table) or a.schema.equals(b.schema))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return (a != a and b != b) or a == b


def type_of(value) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
