"""Dates in the words of a language, by CLDR patterns: Babel's when it is installed, else the fields that most patterns use."""

from __future__ import annotations

import importlib
import os
import re

_FIELD = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
# CLDR field → pendulum's
_KNOWN = {
    "y": "Y",
    "yy": "YY",
    "yyyy": "YYYY",
    "M": "M",
    "MM": "MM",
    "MMM": "MMM",
    "MMMM": "MMMM",
    "d": "D",
    "dd": "DD",
    "D": "DDD",
    "DDD": "DDDD",
    "E": "ddd",
    "EE": "ddd",
    "EEE": "ddd",
    "EEEE": "dddd",
    "H": "H",
    "HH": "HH",
    "h": "h",
    "hh": "hh",
    "m": "m",
    "mm": "mm",
    "s": "s",
    "ss": "ss",
    "a": "A",
}


def format_date(moment, pattern: str, locale=None) -> str:
    name = str(locale or os.environ.get("LC_TIME") or os.environ.get("LANG") or "en_US").split(".")[0]
    name = "en_US" if name in ("C", "POSIX", "") else name
    try:
        babel = importlib.import_module("babel.dates")
    except ModuleNotFoundError:
        return _by_pendulum(moment, pattern, name)
    return babel.format_datetime(moment, format=pattern, locale=locale or name)


def _by_pendulum(moment, pattern: str, locale: str) -> str:
    import pendulum

    moment = pendulum.instance(moment)
    language = locale.lower().replace("-", "_")
    written = []
    for match in _FIELD.finditer(pattern):
        text = match.group(0)
        if match.group(1) is not None:
            written.append(match.group(1).replace("''", "'") or "'")
        elif match.group(2) is None:
            written.append(text)
        elif text not in _KNOWN:
            raise ValueError(
                f"ds_format_locale: the field {text!r} of {pattern!r} needs the package Babel: add it to the dependencies"
            )
        else:
            written.append(_field(moment, _KNOWN[text], language))
    return "".join(written)


def _field(moment, token: str, language: str) -> str:
    for name in (language, language.split("_", maxsplit=1)[0]):
        try:
            return moment.format(token, locale=name)
        except ValueError:
            continue
    raise ValueError(f"ds_format_locale: the language {language!r} needs the package Babel: add it to the dependencies")
