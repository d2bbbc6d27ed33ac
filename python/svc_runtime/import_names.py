"""Folders of a repository under the names that an image gives them: `pkg=.` lets `from pkg.plugins.h import X` find plugins/h.py
where the image has the repository in a folder `pkg` on its path. Every other way to import comes first.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location


class _Finder:
    """A package for each name, and for each part that a name begins with."""

    def __init__(self, folders: dict) -> None:
        self.folders = folders

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        folder = self.folders.get(fullname)
        if folder is None:
            if not any(name.startswith(fullname + ".") for name in self.folders):
                return None
            return _namespace(fullname, [])
        init = os.path.join(folder, "__init__.py")
        if os.path.isfile(init):
            return spec_from_file_location(fullname, init, submodule_search_locations=[folder])
        return _namespace(fullname, [folder])


def _namespace(name: str, places: list) -> ModuleSpec:
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = places
    return spec


def install(names: dict) -> None:
    """`names`: folders by what they are imported as, with slashes."""
    folders = {name.replace("/", "."): folder for name, folder in names.items()}
    if folders:
        sys.meta_path.append(_Finder(folders))
