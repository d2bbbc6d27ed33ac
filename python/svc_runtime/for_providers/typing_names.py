"""`airflow.typing_compat`: names of typing, from typing_extensions where this Python is too old for them."""

from __future__ import annotations

import typing


def __getattr__(name: str):
    if hasattr(typing, name):
        return getattr(typing, name)
    import typing_extensions

    return getattr(typing_extensions, name)
