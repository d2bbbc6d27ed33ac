"""What tests do at night only, as packages/testing/nightly.ts and seed.ts have it: by day, the seed chooses a part."""

from __future__ import annotations

import os

IS_NIGHTLY = os.environ.get("NIGHTLY") == "1"
SEED = int(os.environ.get("SVC_TEST_SEED", "20261115"))
_DAY_SHARE = 8


def is_chosen(index: int) -> bool:
    return IS_NIGHTLY or index % _DAY_SHARE == SEED % _DAY_SHARE
