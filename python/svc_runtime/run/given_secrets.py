"""Variables and connections of the tenant, in the environment of this process and among what it hides from its log.

The server is told once, and its children have them by the fork; what changed later it is told as changes. A child that was
forked before the last of them is told the same with its job.
"""

from __future__ import annotations

import os

from .masks import masks
from .set_environment import set_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class GivenSecrets:
    def __init__(self) -> None:
        # Of the state, as the control plane names it; empty when there is none.
        self.id = ""
        # What each variable was before; None when it was not set.
        self._before: dict[str, str | None] = {}
        self._masks: set[str] = set()
        self._other_masks: set[str] = set()

    def change(self, given: dict) -> None:
        """`base` empty: what was given before is taken back first."""
        if self.id and given.get("base") != self.id:
            self._take_back(list(self._before))
            self._mask((), self._masks)
        self._take_back(given.get("unset") or ())
        env = given.get("env") or {}
        for name in env:
            if name not in self._before:
                self._before[name] = os.environ.get(name)
        if env:
            set_environment(env)
        self._mask(given.get("masks") or (), given.get("unmask") or ())
        self.id = given["id"]

    def _take_back(self, names: Iterable[str]) -> None:
        for name in names:
            before = self._before.pop(name, None)
            if before is not None:
                os.environ[name] = before
            else:
                os.environ.pop(name, None)

    def _mask(self, more: Iterable[str], fewer: Iterable[str]) -> None:
        if fewer:
            self._masks.difference_update(fewer)
            masks.keep_only(self._other_masks)
            for secret in self._masks:
                masks.add(secret)
        elif more and not self._masks:
            self._other_masks = masks.known()
        for secret in more:
            masks.add(secret)
        self._masks.update(more)


given_secrets = GivenSecrets()
