"""`airflow.providers.standard.utils.python_virtualenv`: an environment in a folder of the caller's choice."""

from __future__ import annotations

import subprocess
import sys


def prepare_virtualenv(
    venv_directory: str,
    python_bin: str,
    system_site_packages: bool,
    requirements: list[str] | None = None,
    requirements_file_path: str | None = None,
    pip_install_options: list[str] | None = None,
    index_urls: list[str] | None = None,
) -> str:
    """Returns the interpreter of the new environment."""
    if requirements is not None and requirements_file_path is not None:
        raise ValueError("Either requirements OR requirements_file_path has to be passed, but not both")
    wanted = ["-r", requirements_file_path] if requirements_file_path is not None else list(requirements or [])
    options = ["--system-site-packages"] if system_site_packages else []
    without_pip = [] if wanted else ["--without-pip"]
    # A name such as python3.11 is looked up; "python" is the interpreter that runs this.
    base = sys.executable if python_bin in ("", "python", "python3") else python_bin
    subprocess.run([base, "-m", "venv", *options, *without_pip, venv_directory], check=True)
    python = f"{venv_directory}/bin/python"
    if wanted:
        urls = list(index_urls or [])
        indexes = [part for place, url in enumerate(urls) for part in (_index_option(place), url)]
        no_index = ["--no-index"] if index_urls == [] else []
        install = [python, "-m", "pip", "install", *(pip_install_options or []), *no_index, *indexes, *wanted]
        subprocess.run(install, check=True)
    return python


def _index_option(place: int) -> str:
    return "--index-url" if place == 0 else "--extra-index-url"
