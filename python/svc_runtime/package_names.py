"""Which names in a folder of the path are those of installed packages: they say which plugins there are."""

from __future__ import annotations

import re

_PACKAGE = re.compile(r"\.(?:dist-info|egg-info|egg|egg-link)$")


def packages_in(names: list) -> list:
    return sorted(name for name in names if _PACKAGE.search(name))
