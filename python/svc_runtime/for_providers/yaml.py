"""`airflow.utils.yaml`: PyYAML, with its fast loader where it was built."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def safe_load(stream) -> Any:
    import yaml  # type: ignore[import-untyped, unused-ignore]

    return yaml.load(stream, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def dump(data, **kwargs) -> str:
    import yaml

    return yaml.dump(data, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), **kwargs)


def __getattr__(name: str):
    import yaml

    if name == "FullLoader":
        return getattr(yaml, "CFullLoader", yaml.FullLoader)
    return getattr(yaml, name)
