"""A small database for one run: DuckDB where it can be had, sqlite3 otherwise."""

import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Your own projects have this easier: `dependencies: [duckdb]` in svc.yaml gives every task of the DAG an environment
# with DuckDB in it. An example that must also run on a train, without any network, has to take no for an answer.
CACHE_HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
CACHE = CACHE_HOME / "svc" / f"example-duckdb-py3{sys.version_info.minor}"
INSTALL_SECONDS = 45


def create(engine: str) -> dict:
    """What the other tasks need to know to open it. Small and JSON: it travels between them as a value."""
    if engine == "duckdb" and not (_has_duckdb() or _install_duckdb()):
        engine = "sqlite3"
        print("DuckDB is not installed and cannot be fetched, so sqlite3 does its work: same SQL, same answer")
    return {"engine": engine, "folder": tempfile.mkdtemp(prefix="bikes-")}


@contextlib.contextmanager
def connect(place: dict):
    file = str(Path(place["folder"]) / "bikes.db")
    if place["engine"] == "duckdb":
        assert _has_duckdb()
        database = importlib.import_module("duckdb").connect(file)
    else:
        import sqlite3

        # No hidden transactions: BEGIN and COMMIT are written out, as DuckDB wants them.
        database = sqlite3.connect(file, isolation_level=None)
    with contextlib.closing(database):
        yield database


def _has_duckdb() -> bool:
    if CACHE.is_dir() and str(CACHE) not in sys.path:
        sys.path.append(str(CACHE))
        importlib.invalidate_caches()
    try:
        importlib.import_module("duckdb")
    except ImportError:
        return False
    return True


def _install_duckdb() -> bool:
    print("Fetching DuckDB, this one time")
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:"]
    options += ["--retries=0", "--timeout=5"]  # no network is no reason to wait long
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place first, then renamed: nobody ever finds half of it, also when two runs start at once.
    with tempfile.TemporaryDirectory(dir=CACHE.parent) as draft:
        command = [sys.executable, "-m", "pip", "install", *options, f"--target={draft}/duckdb", "duckdb"]
        try:
            subprocess.run(command, check=True, timeout=INSTALL_SECONDS, capture_output=True, text=True)
            os.rename(f"{draft}/duckdb", CACHE)
        except subprocess.CalledProcessError as error:
            print(f"That did not work: {error.stderr.strip()}")
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"That did not work: {error}")
    return _has_duckdb()
