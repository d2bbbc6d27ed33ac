"""Values of numpy, pandas, polars, pyarrow, Delta Lake and Iceberg, for other tasks.

The author's environment has these libraries; nothing here needs them until a value of theirs comes by. Frames and tables
travel as Arrow, arrays in numpy's own format without pickle. Each frame is read back before it leaves: a value that would
arrive as another one is refused here, where its author sees it.
"""

from __future__ import annotations

import base64
import importlib
import io
import re
import sys

from .sensitive_names import SENSITIVE_PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MOST_ABOUT = 300


class Unsupported(TypeError):
    """Says what to do instead."""


def encode_library(value, encode: Callable) -> tuple:
    """Name, version and data, as in the form of Airflow's serde."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    for base, name, encoder in _ENCODERS[library]:
        if kind is base():
            return name, 1, encoder(value, encode)
    if library == "numpy":
        return _encode_numpy(value)
    raise Unsupported(
        f"a {kind.__module__}.{kind.__qualname__} cannot be passed to another task: {_ADVICE.get(library, _ADVICE[''])}"
    )


def decode_library(name: str, data, decode: Callable):
    decoder = _DECODERS.get(name)
    if decoder is not None:
        return decoder(data, decode)
    if name.startswith("numpy."):
        return _decode_numpy(name, data)
    raise TypeError(f"the value is a {name}, which cannot be read")


_ADVICE = {
    "pandas": "return a DataFrame or a Series, or write it to storage and return its place",
    "polars": "return a DataFrame (a LazyFrame after collect()) or a Series",
    "pyarrow": "return a Table or a RecordBatch",
    "": "write it to storage and return its place",
}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _library(name: str, needed_for: str):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Unsupported(
            f"{needed_for} needs {name.partition('.')[0]}: add it to the packages of this DAG's environment"
        ) from None


def _loaded(module: str, name: str) -> Callable:
    """The class, which exists where a value of it does."""
    return lambda: getattr(sys.modules.get(module), name, None)


# -- numpy


def _encode_numpy(value) -> tuple:
    import numpy

    name = f"numpy.{type(value).__qualname__}"
    if isinstance(value, numpy.generic):
        if value.dtype.hasobject:
            raise Unsupported(f"a {name} of Python objects cannot be passed to another task: return the objects")
        if value.dtype.kind in "biu":
            return name, 1, value.item()
        if value.dtype.kind == "f" and value.dtype.itemsize <= 8 and numpy.isfinite(value):
            return name, 1, float(value)
        return name, 1, {"about": str(value)[:_MOST_ABOUT], "npy": _npy(numpy.asarray(value))}
    raise Unsupported(f"a {name} cannot be passed to another task: return numpy.asarray(…) of it")


def _npy(array) -> str:
    import numpy

    buffer = io.BytesIO()
    numpy.save(buffer, array, allow_pickle=False)
    return _text(buffer.getvalue())


def _encode_array(array, _) -> dict:
    if array.dtype.hasobject:
        raise Unsupported(
            "a numpy array of Python objects cannot be passed to another task: give it a dtype, or return array.tolist()"
        )
    return {"about": f"array of shape {array.shape}, {array.dtype}"[:_MOST_ABOUT], "npy": _npy(array)}


def _array_of(data):
    import numpy

    return numpy.load(io.BytesIO(base64.b64decode(data["npy"])), allow_pickle=False)


def _decode_numpy(name: str, data):
    import numpy

    if isinstance(data, dict):
        return _array_of(data)[()]
    kind = getattr(numpy, name.removeprefix("numpy."), None)
    if not (isinstance(kind, type) and issubclass(kind, numpy.generic)):
        raise TypeError(f"the value is a {name}, which this numpy does not have")
    return kind(data)


# -- Arrow


def _arrow_text(table) -> str:
    pyarrow = _library("pyarrow", "a table")
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd" if pyarrow.Codec.is_available("zstd") else None)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write(table)
    return _text(sink.getvalue().to_pybytes())


def _arrow_reader(data):
    pyarrow = _library("pyarrow", "reading this value")
    return pyarrow.ipc.open_stream(base64.b64decode(data["arrow"]))


def _encode_table(table, _) -> dict:
    return {
        "about": _about(table.num_rows, zip(table.schema.names, table.schema.types, strict=True)),
        "arrow": _arrow_text(table),
    }


def _about(rows: int, columns) -> str:
    text = f"{rows:,} rows; " + ", ".join(f"{name} {kind}" for name, kind in columns)
    return text if len(text) <= _MOST_ABOUT else text[: _MOST_ABOUT - 1] + "…"


def _batch_of(data, _):
    batches = list(_arrow_reader(data))
    if batches:
        return batches[0]
    pyarrow = _library("pyarrow", "reading this value")
    return pyarrow.RecordBatch.from_pylist([], schema=_arrow_reader(data).schema)


# -- pandas


def _encode_frame(frame, encode: Callable) -> dict:
    pyarrow = _library("pyarrow", "passing a pandas DataFrame to another task")
    try:
        table = pyarrow.Table.from_pandas(frame)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise Unsupported(
            f"the DataFrame cannot be written as Arrow: {error}; give every column one type and a name of its own"
        ) from None
    back = table.to_pandas()
    difference = _difference(frame, back)
    if difference is not None:
        raise Unsupported(
            f"the DataFrame would arrive as another one: {difference}; convert that column, or write the frame to storage "
            "and return its place"
        )
    columns = zip(map(str, frame.columns), map(str, frame.dtypes), strict=True)
    data = {"about": _about(len(frame), columns), "arrow": _arrow_text(table)}
    if frame.attrs and back.attrs != frame.attrs:
        data["attrs"] = encode(frame.attrs)
    return data


def _difference(frame, back) -> str | None:
    import pandas

    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if column.dtype != object or back.iloc[:, place].dtype != object:
            continue
        for before, after in zip(column, back.iloc[:, place], strict=True):
            if type(before) is not type(after) and not (_is_missing(before) and _is_missing(after)):
                return f"a {type(before).__name__} in column {name!r} would become a {type(after).__name__}"
    try:
        pandas.testing.assert_frame_equal(frame, back, check_exact=True, check_freq=False)
    except AssertionError as error:
        return " ".join(str(error).split())[:_MOST_ABOUT]
    return None


def _is_missing(value) -> bool:
    import pandas

    is_missing = pandas.isna(value)
    return is_missing is True or (getattr(is_missing, "ndim", None) == 0 and bool(is_missing))


def _frame_of(data, decode: Callable):
    _library("pandas", "reading this value")
    frame = _arrow_reader(data).read_all().to_pandas()
    if "attrs" in data:
        frame.attrs = decode(data["attrs"])
    return frame


_SERIES = "__value__"


def _encode_series(series, encode: Callable) -> dict:
    return {**_encode_frame(series.to_frame(_SERIES), encode), "name": encode(series.name)}


def _series_of(data, decode: Callable):
    return _frame_of(data, decode)[_SERIES].rename(decode(data["name"]))


def _encode_stamp(stamp, encode: Callable) -> dict:
    data = {"about": str(stamp), "count": int(stamp.asm8.astype("int64")), "unit": stamp.unit}
    return data if getattr(stamp, "tz", None) is None else {**data, "tz": encode(stamp.tz)}


def _timestamp_of(data, decode: Callable):
    import numpy

    pandas = _library("pandas", "reading this value")
    stamp = pandas.Timestamp(numpy.datetime64(data["count"], data["unit"]))
    return stamp.tz_localize("UTC").tz_convert(decode(data["tz"])) if "tz" in data else stamp


def _timedelta_of(data, _):
    import numpy

    return _library("pandas", "reading this value").Timedelta(numpy.timedelta64(data["count"], data["unit"]))


# -- polars


def _encode_polars(frame, _) -> dict:
    polars = sys.modules["polars"]
    buffer = io.BytesIO()
    try:
        frame.write_ipc(buffer, compression="zstd")
        back = polars.read_ipc(io.BytesIO(buffer.getvalue()))
    except Exception as error:  # also its own BaseException for what Rust refuses
        raise Unsupported(f"the polars frame cannot be written as Arrow: {error}") from None
    if back.schema != frame.schema or not back.equals(frame):
        raise Unsupported("the polars frame would arrive as another one: cast its columns to types that Arrow has")
    return {"about": _about(frame.height, frame.schema.items()), "arrow": _text(buffer.getvalue())}


def _polars_of(data, _):
    return _library("polars", "reading this value").read_ipc(io.BytesIO(base64.b64decode(data["arrow"])))


# -- tables that are somewhere else: their place travels, as on Airflow


# `postgresql://user:password@host`
_HAS_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]+@")


def _refuse_secrets(options: dict, what: str) -> None:
    secret = next(
        (
            name
            for name, value in options.items()
            if re.search(SENSITIVE_PARTS, str(name), re.IGNORECASE) or _HAS_PASSWORD.search(str(value))
        ),
        None,
    )
    if secret is not None:
        raise Unsupported(
            f"the {what} was opened with {secret}, which is or has a secret, and a value must not contain secrets: return its "
            "place, and open it in the task that uses it"
        )


def _encode_delta(table, encode: Callable) -> dict:
    options = dict(getattr(table, "_storage_options", None) or {})
    _refuse_secrets(options, "Delta table")
    return {"table_uri": table.table_uri, "version": table.version(), "storage_options": encode(options)}


def _delta_of(data, decode: Callable):
    deltalake = _library("deltalake", "reading this value")
    options = decode(data["storage_options"]) or None
    return deltalake.DeltaTable(data["table_uri"], version=data["version"], storage_options=options)


def _encode_iceberg(table, encode: Callable) -> dict:
    properties = dict(table.catalog.properties)
    _refuse_secrets(properties, "catalog of the Iceberg table")
    return {
        "identifier": list(table.name()),
        "catalog": table.catalog.name,
        "catalog_properties": encode(properties),
    }


def _iceberg_of(data, decode: Callable):
    catalogs = _library("pyiceberg.catalog", "reading this value")
    catalog = catalogs.load_catalog(data["catalog"], **decode(data["catalog_properties"]))
    return catalog.load_table(tuple(data["identifier"]))


_FRAME, _TABLE = "pandas.core.frame.DataFrame", "pyarrow.lib.Table"

_ENCODERS: dict[str, list] = {
    "numpy": [(_loaded("numpy", "ndarray"), "numpy.ndarray", _encode_array)],
    "pandas": [
        (_loaded("pandas", "DataFrame"), _FRAME, _encode_frame),
        (_loaded("pandas", "Series"), "pandas.core.series.Series", _encode_series),
        (_loaded("pandas", "Timestamp"), "pandas.Timestamp", _encode_stamp),
        (_loaded("pandas", "Timedelta"), "pandas.Timedelta", _encode_stamp),
        (lambda: type(sys.modules["pandas"].NaT), "pandas.NaT", lambda value, encode: None),
        (lambda: type(sys.modules["pandas"].NA), "pandas.NA", lambda value, encode: None),
    ],
    "polars": [
        (_loaded("polars", "DataFrame"), "polars.DataFrame", _encode_polars),
        (
            _loaded("polars", "Series"),
            "polars.Series",
            lambda series, encode: _encode_polars(series.to_frame(), encode),
        ),
    ],
    "pyarrow": [
        (_loaded("pyarrow", "Table"), _TABLE, _encode_table),
        (_loaded("pyarrow", "RecordBatch"), "pyarrow.lib.RecordBatch", _encode_table),
    ],
    "deltalake": [(_loaded("deltalake", "DeltaTable"), "deltalake.table.DeltaTable", _encode_delta)],
    "pyiceberg": [(_loaded("pyiceberg.table", "Table"), "pyiceberg.table.Table", _encode_iceberg)],
}

_DECODERS: dict[str, Callable[[Any, Callable], Any]] = {
    "numpy.ndarray": lambda data, decode: _array_of(data),
    _FRAME: _frame_of,
    "pandas.core.series.Series": _series_of,
    "pandas.Timestamp": _timestamp_of,
    "pandas.Timedelta": _timedelta_of,
    "pandas.NaT": lambda data, decode: _library("pandas", "reading this value").NaT,
    "pandas.NA": lambda data, decode: _library("pandas", "reading this value").NA,
    "polars.DataFrame": _polars_of,
    "polars.Series": lambda data, decode: _polars_of(data, decode).to_series(),
    _TABLE: lambda data, decode: _arrow_reader(data).read_all(),
    "pyarrow.lib.RecordBatch": _batch_of,
    "deltalake.table.DeltaTable": _delta_of,
    "pyiceberg.table.Table": _iceberg_of,
}
