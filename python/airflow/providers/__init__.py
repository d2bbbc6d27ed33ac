"""Namespace shared with provider packages installed in the task's environment.

Compiling never imports them (svc_runtime/record/provider_stubs.py stands in); running a task does.
"""

from __future__ import annotations

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
