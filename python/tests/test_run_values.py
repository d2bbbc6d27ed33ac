"""Values between tasks: what survives the journey, what is refused, and which instance gets which."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import uuid
from zoneinfo import ZoneInfo

from svc_runtime.run.xcom_values import XComEncodeError, decode, encode

UTC = datetime.timezone.utc
Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Order:
    number: int
    day: datetime.date
    lines: list = dataclasses.field(default_factory=list)


class Book:
    """As classes of attrs are, whose package is not here."""

    Field = collections.namedtuple("Field", "name alias init", defaults=(None, True))
    __attrs_attrs__ = (Field("title"), Field("_pages", "pages"), Field("known", init=False))

    def __init__(self, title: str, pages: tuple) -> None:
        self.title, self._pages, self.known = title, pages, True

    def __eq__(self, other) -> bool:
        return isinstance(other, Book) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]


class Versioned:
    __version__ = 2

    def __init__(self, seen: int = 0) -> None:
        self.seen = seen

    def serialize(self) -> dict:
        return {}

    @staticmethod
    def deserialize(_, version: int) -> Versioned:
        return Versioned(version)


class Colour(enum.Enum):
    RED = "red"


class Word(str, enum.Enum):
    YES = "yes"


def there_and_back(value):
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


class Journey(unittest.TestCase):
    def test_values_come_back_as_they_left(self) -> None:
        import pendulum

        values = [
            None,
            True,
            0,
            -1.5,
            "täxt",
            [1, [2]],
            Book("Notes", (1, datetime.date(1843, 9, 1))),
            {"a": {"b": None}},
            (1, ("x",)),
            {1, 2},
            frozenset({"a"}),
            b"\0\xff",
            decimal.Decimal("1.10"),
            decimal.Decimal("0.1"),
            decimal.Decimal("12345678901234567890.123456789"),
            uuid.UUID(int=7),
            datetime.date(2024, 2, 29),
            datetime.time(1, 2, 3),
            datetime.timedelta(days=-1, microseconds=3),
            datetime.datetime(2024, 1, 2, 3, 4, 5, 678901),
            datetime.datetime(2024, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
            datetime.datetime(2024, 7, 2, tzinfo=ZoneInfo("Europe/Berlin")),
            datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))),
            pendulum.datetime(2024, 7, 1, 12, tz="Europe/Paris"),
            ZoneInfo("Asia/Tokyo"),
            datetime.datetime.max,
            datetime.datetime.min,
            datetime.datetime(2400, 1, 2, 3, 4, 5, 678901, tzinfo=ZoneInfo("Europe/Berlin")),
            datetime.timedelta.max,
            datetime.timedelta(days=200_000, microseconds=1),
            1.0,
            -0.0,
            2**70,
            2**1024,
            -(2**53),
            math.inf,
            Order(1, datetime.date(2024, 1, 1), [(1, 2)]),
            Colour.RED,
            Word.YES,
            Point(1, (2,)),
            bytearray(b"x"),
            complex(1, math.inf),
            pathlib.PosixPath("/tmp/a"),
            pathlib.PureWindowsPath("c:/a"),
            [{"deep": ({"set": {1}},)}],
        ]
        for value in values:
            with self.subTest(value=value):
                back = there_and_back(value)
                self.assertEqual(back, value)
                self.assertIs(type(back), type(value))
        self.assertTrue(math.isnan(there_and_back(math.nan)))
        self.assertEqual(
            there_and_back(datetime.datetime(2024, 7, 2, tzinfo=ZoneInfo("Europe/Berlin"))).utcoffset().seconds, 7200
        )

    def test_some_types_become_their_plain_relatives(self) -> None:
        for value, expected in (
            (collections.OrderedDict(a=1), {"a": 1}),
            ({1: 2, (3, 4): 5}, {"1": 2, "(3, 4)": 5}),
        ):
            back = there_and_back(value)
            self.assertEqual(back, expected)
            self.assertIs(type(back), type(expected))

    def test_the_wire_form_is_airflows(self) -> None:
        """As printed by Airflow 3.2.2."""
        utc = {
            "__classname__": "builtins.tuple",
            "__version__": 1,
            "__data__": ["UTC", "pendulum.tz.timezone.FixedTimezone", 1, True],
        }
        for value, form in (
            ((1, 2), {"__classname__": "builtins.tuple", "__version__": 1, "__data__": [1, 2]}),
            ({"b", "a"}, {"__classname__": "builtins.set", "__version__": 1, "__data__": ["a", "b"]}),
            (datetime.date(2024, 1, 2), {"__classname__": "datetime.date", "__version__": 2, "__data__": "2024-01-02"}),
            (
                datetime.timedelta(days=1, seconds=2, microseconds=3),
                {"__classname__": "datetime.timedelta", "__version__": 2, "__data__": 86402.000003},
            ),
            (
                datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
                {
                    "__classname__": "datetime.datetime",
                    "__version__": 2,
                    "__data__": {"timestamp": 1704164645.0, "tz": utc},
                },
            ),
            (uuid.UUID(int=1), {"__classname__": "uuid.UUID", "__version__": 1, "__data__": str(uuid.UUID(int=1))}),
        ):
            self.assertEqual(encode(value), form)

    def test_what_cannot_travel_is_refused_by_name(self) -> None:
        loop: list = []
        loop.append(loop)
        for value, words in (
            (object(), "builtins.object"),
            (lambda: 1, "builtins.function"),
            ((x for x in "ab"), "builtins.generator"),
            ([{"a": {range(2)}}], "builtins.range"),
            ({"__classname__": "os.system"}, "must not have the keys"),
            ("a\0b", "NUL"),
            ("\ud800", "surrogates"),
            (loop, "contains itself"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(XComEncodeError, words):
                encode(value)

    def test_a_class_is_imported_only_where_the_setting_of_airflow_allows_it(self) -> None:
        value = {"__classname__": "shop_of_values.Cup", "__version__": 0, "__data__": {"size": 3}}
        order = encode(Order(1, datetime.date(2024, 1, 1)))
        setting = "AIRFLOW__CORE__ALLOWED_DESERIALIZATION_CLASSES"
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "shop_of_values.py"), "w", encoding="utf-8") as file:
                file.write("import dataclasses\n@dataclasses.dataclass\nclass Cup:\n    size: int\n")
            sys.path.insert(0, folder)
            self.addCleanup(sys.path.remove, folder)
            self.addCleanup(sys.modules.pop, "shop_of_values", None)
            for name, allowed in (("", None), (setting, "airflow.* other.*"), (f"{setting}_REGEXP", "shop$")):
                with (
                    self.subTest(allowed=allowed),
                    unittest.mock.patch.dict(os.environ, {name: allowed} if allowed else {}),
                    self.assertRaisesRegex(TypeError, "allowed_deserialization_classes"),
                ):
                    decode(value)
            self.assertNotIn("shop_of_values", sys.modules)
            for name, allowed in (
                (f"{setting}_REGEXP", r"other shop_of_values\."),
                (setting, "airflow.* shop_of_values.*"),
            ):
                with unittest.mock.patch.dict(os.environ, {name: allowed}):
                    self.assertEqual(decode(value).size, 3)
                    # This class is loaded, but the setting does not name it.
                    self.assertRaisesRegex(TypeError, "allowed_deserialization_classes", decode, order)
        self.assertEqual(decode(order), Order(1, datetime.date(2024, 1, 1)))

    def test_a_newer_version_of_a_class_is_refused(self) -> None:
        made = encode(Versioned())
        self.assertEqual(decode(made).seen, 2)
        self.assertRaisesRegex(
            TypeError, "version 3, and this task knows version 2", decode, {**made, "__version__": 3}
        )

    def test_decoding_never_imports_nor_calls_what_a_stranger_names(self) -> None:
        import fractions  # a module that is loaded, with a class that is no data class

        self.assertNotIn("antigravity", sys.modules)
        for name in (
            "antigravity.anything",
            "os.system",
            "subprocess.Popen",
            "builtins.eval",
            fractions.Fraction.__module__ + ".Fraction",
        ):
            with self.subTest(name=name), self.assertRaises(TypeError):
                decode({"__classname__": name, "__version__": 1, "__data__": ["echo"]})
        self.assertNotIn("antigravity", sys.modules)


if __name__ == "__main__":
    unittest.main()
