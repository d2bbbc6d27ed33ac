"""Canonical JSON on the Python side; packages/spec/canonical.test.ts compares both sides over random values."""

from __future__ import annotations

import json
import sys
import unittest

from svc_runtime.compile.canonical import canonical_bytes, number_text


class Numbers(unittest.TestCase):
    def test_floats_are_written_as_javascript_writes_them_and_stay_floats(self) -> None:
        # Pairs taken from the ECMAScript definition of Number::toString.
        for value, text in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (1.5, "1.5"),
            (1e20, "100000000000000000000.0"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.25e-7, "1.25e-7"),
            (123456789.125, "123456789.125"),
            (5e-324, "5e-324"),
            (sys.float_info.max, "1.7976931348623157e+308"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-2.5, "-2.5"),
            (1e16, "10000000000000000.0"),
            (1234567.1e10, "12345671000000000.0"),
        ]:
            self.assertEqual(number_text(value), text)
            self.assertEqual(float(text), value)
            self.assertIs(type(json.loads(text)), float)

    def test_integers_keep_all_their_digits(self) -> None:
        for value in (2**53 + 1, -(2**63), 10**300, int(sys.float_info.max)):
            self.assertEqual(canonical_bytes(value).decode(), str(value))

    def test_what_json_cannot_say_is_an_error_not_a_guess(self) -> None:
        for value in (float("nan"), float("inf"), 2**1024, object(), {1: 2}):
            with self.assertRaises((ValueError, TypeError, AttributeError)):
                canonical_bytes(value)


class Strings(unittest.TestCase):
    def test_keys_are_sorted_by_utf16_units_and_lone_surrogates_escaped(self) -> None:
        # U+1F600 sorts before U+FF5E in UTF-16, after it by code point.
        text = canonical_bytes({"\uff5e": 1, "\U0001f600": 2, "a": 3}).decode()
        self.assertEqual(text, '{"a":3,"\U0001f600":2,"\uff5e":1}')
        self.assertEqual(canonical_bytes("\ud800x"), b'"\\ud800x"')
        self.assertEqual(canonical_bytes("\x00\x1f\x7f\u2028"), '"\\u0000\\u001f\x7f\u2028"'.encode())

    def test_round_trip(self) -> None:
        value = {"b": [1, 2.5, None, True, "ä\n"], "a": {"": {}}}
        self.assertEqual(json.loads(canonical_bytes(value)), value)


if __name__ == "__main__":
    unittest.main()
