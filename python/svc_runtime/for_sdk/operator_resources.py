"""`airflow.sdk.definitions.operator_resources`: amounts that a task asks for (`resources=`). The spec has them; executors
read `resources` of svc.yaml."""

from __future__ import annotations

from ..run.conf import conf


class Resource:
    def __init__(self, name: str, units_str: str, qty) -> None:
        if qty < 0:
            raise ValueError(
                f"Received resource quantity {qty} for resource {name}, but resource quantity must be non-negative."
            )
        self._name, self._units_str, self._qty = name, units_str, qty

    def __eq__(self, other) -> bool:
        return isinstance(other, Resource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self._name, self._units_str, self._qty))

    def __repr__(self) -> str:
        return str(self.to_dict())

    @property
    def name(self) -> str:
        return self._name

    @property
    def units_str(self) -> str:
        return self._units_str

    @property
    def qty(self):
        return self._qty

    def to_dict(self) -> dict:
        return {"name": self._name, "qty": self._qty, "units_str": self._units_str}


class CpuResource(Resource):
    def __init__(self, qty) -> None:
        super().__init__("CPU", "core(s)", qty)


class RamResource(Resource):
    def __init__(self, qty) -> None:
        super().__init__("RAM", "MB", qty)


class DiskResource(Resource):
    def __init__(self, qty) -> None:
        super().__init__("Disk", "MB", qty)


class GpuResource(Resource):
    def __init__(self, qty) -> None:
        super().__init__("GPU", "gpu(s)", qty)


def _given(qty, name: str, default: int):
    return conf.getint("operators", f"default_{name}", fallback=default) if qty is None else qty


class Resources:
    def __init__(self, cpus=None, ram=None, disk=None, gpus=None) -> None:
        self.cpus = CpuResource(_given(cpus, "cpus", 1))
        self.ram = RamResource(_given(ram, "ram", 512))
        self.disk = DiskResource(_given(disk, "disk", 512))
        self.gpus = GpuResource(_given(gpus, "gpus", 0))

    def __eq__(self, other) -> bool:
        return isinstance(other, Resources) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.cpus, self.ram, self.disk, self.gpus))

    def __repr__(self) -> str:
        return str(self.to_dict())

    def to_dict(self) -> dict:
        return {name: getattr(self, name).to_dict() for name in ("cpus", "ram", "disk", "gpus")}

    @classmethod
    def from_dict(cls, resources_dict: dict) -> Resources:
        return cls(**{name: resources_dict.get(name, {}).get("qty") for name in ("cpus", "ram", "disk", "gpus")})
