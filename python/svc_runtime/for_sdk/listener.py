"""`airflow.sdk.listener`: the listeners of the process, which are those of its plugins and what the caller adds."""

from __future__ import annotations

import functools
from typing import Any

from ..run import listeners


class _Hooks:
    """Calls every listener that has the hook: `manager.hook.on_task_instance_running(…)`."""

    def __getattr__(self, name: str) -> Any:
        if name not in listeners.HOOKS:
            raise AttributeError(f"there is no hook {name}; there are {', '.join(listeners.HOOKS)}")
        return lambda **facts: listeners.tell(name, **facts)


class ListenerManager:
    hook = _Hooks()

    @property
    def has_listeners(self) -> bool:
        return bool(listeners.registered)

    def add_listener(self, listener) -> None:
        if listener not in listeners.registered:
            listeners.registered.append(listener)

    def clear(self) -> None:
        listeners.registered.clear()


@functools.lru_cache(maxsize=1)
def get_listener_manager() -> ListenerManager:
    return ListenerManager()
