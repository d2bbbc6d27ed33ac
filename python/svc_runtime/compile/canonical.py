"""Canonical JSON: the same bytes as packages/spec/canonical.ts for the same value (RFC 8785, but for two rules).

Keys sorted by UTF-16 code units, no spaces, shortest number form as JavaScript prints it, lone surrogates escaped. Integers
keep all their digits, and a float stays a float (1.0, not 1): both come back to tasks, which can tell.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from json.encoder import encode_basestring as _quote

# Beyond it there are no floats, and readers in other languages have no numbers either.
MAX_INTEGER = int(sys.float_info.max)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def number_text(value: float) -> str:
    """A finite float as JavaScript's String(value) prints it, with .0 where that would be an integer."""
    if value == 0:
        return repr(value)
    if value.is_integer() and abs(value) < 1e21:
        return f"{int(value)}.0"
    mantissa, _, exponent = repr(value).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # Position of the decimal point relative to the first significant digit.
    leading = len(whole + fraction) - len((whole + fraction).lstrip("0"))
    point = len(whole) - leading + int(exponent or 0)
    digits = digits.rstrip("0") or "0"
    if 0 < point <= 21:
        body = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + digits
    else:
        head = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
        shift = point - 1
        body = f"{head}e{'+' if shift > 0 else '-'}{abs(shift)}"
    return sign + body


def _string(text: str) -> str:
    if text.isascii():
        return _quote(text)
    # Two surrogates that form a pair are one character for JavaScript.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", _quote(text))


def _sort_key(text: str):
    return text.encode("utf-16-be", "surrogatepass")


def _sorted_keys(value: dict) -> list:
    """Code points sort like UTF-16 units unless a key leaves the basic plane, which one look at the joined text tells."""
    keys = sorted(value)
    return keys if "".join(keys).isascii() else sorted(keys, key=_sort_key)


def _write(value, out: list) -> None:
    if value is None:
        out.append("null")
    elif value is True:
        out.append("true")
    elif value is False:
        out.append("false")
    elif isinstance(value, str):
        out.append(_string(value))
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise ValueError("an integer beyond 1.8e308 does not fit a JSON number; encode it as text")
        out.append(str(int(value)))
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number; encode it as text")
        out.append(number_text(value))
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for index, item in enumerate(value):
            if index:
                out.append(",")
            _write(item, out)
        out.append("]")
    elif isinstance(value, dict):
        separator = "{"
        for key in _sorted_keys(value):
            out.append(f"{separator}{_string(key)}:")
            separator = ","
            _write(value[key], out)
        out.append("}" if value else "{}")
    else:
        raise TypeError(f"{type(value).__name__} is not JSON")


def canonical_bytes(value) -> bytes:
    out: list = []
    _write(value, out)
    return "".join(out).encode("utf-8")


def canonical_hash(value) -> str:
    return hashlib.sha256(canonical_bytes(value)).hexdigest()
