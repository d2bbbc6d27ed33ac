"""Where an `ObjectStoragePath` keeps its objects: a filesystem by scheme and connection.

Strongest first: one that was attached, the one of an installed provider package (a module with `schemes` and `get_fs`), fsspec's
own. Local files need no package at all. What is missing is named with the package that has it.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os

from ..exceptions import AirflowOptionalProviderFeatureException
from .local_files import LocalFiles
from .path_parts import LOCAL

# What to install for a scheme.
_PROVIDERS = {
    "apache-airflow-providers-amazon[s3fs]": "s3 s3a s3n",
    "apache-airflow-providers-google": "gs gcs",
    "apache-airflow-providers-microsoft-azure": "abfs abfss adl az wasb wasbs",
    "apache-airflow-providers-microsoft-azure[msgraphfs]": "msgd sharepoint onedrive msgraph",
    "apache-airflow-providers-sftp[sshfs]": "sftp ssh",
    "apache-airflow-providers-alibaba": "oss",
    "apache-airflow-providers-apache-hdfs": "webhdfs",
    "fsspec[http]": "http https",
}
_PACKAGES = {scheme: package for package, schemes in _PROVIDERS.items() for scheme in schemes.split()}
_attached: dict = {}
_made: dict = {}


class ObjectStore:
    """One filesystem; made when it is first used."""

    def __init__(self, protocol: str, conn_id: str | None = None, fs=None, storage_options: dict | None = None) -> None:
        self.protocol = protocol
        self.conn_id = conn_id
        self.storage_options = storage_options or {}
        self._fs = fs

    @property
    def fs(self):
        if self._fs is None:
            self._fs = get_fs(self.protocol, self.conn_id, self.storage_options)
        return self._fs

    @property
    def fsid(self) -> str:
        """The same for stores that hold the same objects, as their filesystem says."""
        try:
            return str(self.fs.fsid)
        except (AttributeError, NotImplementedError):
            return f"{self.protocol}-{self.conn_id or 'env'}"

    def __eq__(self, other) -> bool:
        return isinstance(other, ObjectStore) and _identity(other) == _identity(self)

    def __hash__(self) -> int:
        return hash(self.protocol)

    def __str__(self) -> str:
        return f"{self.protocol}-{self.conn_id}" if self.conn_id else self.protocol

    def __repr__(self) -> str:
        return f"ObjectStore({self})"


def _identity(store: ObjectStore) -> tuple:
    return store.protocol, store.conn_id, repr(sorted(store.storage_options.items()))


def attach(
    protocol: str | None = None,
    conn_id: str | None = None,
    alias: str | None = None,
    encryption_type: str | None = None,
    fs=None,
    **storage_options,
) -> ObjectStore:
    """A filesystem for all paths of a scheme (and connection), or for those that begin with an alias."""
    if encryption_type:
        raise ValueError("attach() cannot encrypt: give the filesystem (fs=) that does")
    if not protocol and not alias:
        raise ValueError("attach() needs a protocol or an alias")
    if not protocol:
        if alias not in _attached:
            raise ValueError(f"no store is attached as {alias!r}; attach it with a protocol first")
        return _attached[alias]
    name = alias or _name(protocol, conn_id)
    if fs is None and not storage_options and name in _attached:
        return _attached[name]
    _attached[name] = ObjectStore(protocol, conn_id, fs, storage_options)
    return _attached[name]


def _name(protocol: str, conn_id: str | None) -> str:
    return f"{protocol}-{conn_id}" if conn_id else protocol


def store_of(protocol: str, conn_id: str | None, storage_options: dict) -> ObjectStore:
    # A process that was forked has connections of its own.
    wanted = ObjectStore(protocol, conn_id, storage_options=storage_options)
    if not storage_options and _name(protocol, conn_id) in _attached:
        return _attached[_name(protocol, conn_id)]
    return _made.setdefault((os.getpid(), *_identity(wanted)), wanted)


def has_fs(protocol: str) -> bool:
    """Whether paths of this scheme can be used here."""
    if protocol in LOCAL or protocol in _attached:
        return True
    if _get_fs_of(protocol) is not None:
        return True
    with contextlib.suppress(ImportError, ValueError):
        import fsspec

        return fsspec.get_filesystem_class(protocol) is not None
    return False


def get_fs(protocol: str, conn_id: str | None = None, storage_options: dict | None = None):
    options = dict(storage_options or {})
    if protocol in LOCAL:
        return _local(options)
    provided = _get_fs_of(protocol)
    if provided is not None:
        takes_options = len(inspect.signature(provided).parameters) > 1
        try:
            return provided(conn_id, options) if takes_options else provided(conn_id)
        except ImportError as error:
            raise _missing(protocol, error) from error
    if conn_id is not None:
        raise _missing(protocol, "no installed provider package has a filesystem that uses a connection for it")
    try:
        import fsspec

        return fsspec.filesystem(protocol, **options)
    except (ImportError, ValueError) as error:  # an unknown scheme is a ValueError
        raise _missing(protocol, error) from error


def _local(options: dict):
    try:
        import fsspec
    except ImportError:
        return LocalFiles()
    return fsspec.filesystem("file", **options)


def _get_fs_of(protocol: str):
    """Of the provider package that has the scheme."""
    from .providers_manager import ProvidersManager

    for name in ProvidersManager().filesystem_module_names:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # it is named when nothing else has the scheme
        if protocol in getattr(module, "schemes", ()):
            return module.get_fs
    return None


def _missing(protocol: str, why) -> AirflowOptionalProviderFeatureException:
    package = _PACKAGES.get(protocol)
    if package is not None:
        advice = f"install {package} in the environment of the task"
    elif isinstance(why, ImportError) and (why.name or "").split(".")[0] == "fsspec":
        advice = "install fsspec, and the package that has this scheme, in the environment of the task"
    else:
        advice = "install the package that has this scheme, or give a filesystem with attach()"
    return AirflowOptionalProviderFeatureException(
        f"paths that begin with {protocol}:// cannot be used here: {advice} ({why})"
    )
