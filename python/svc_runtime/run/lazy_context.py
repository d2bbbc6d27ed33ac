"""A context whose rarer values are made when somebody asks for them.

To everybody else it is a dict with all its names: whoever looks at more than single keys (`**context`, a template, a loop) finds
them all made.
"""

from __future__ import annotations

from .helpers import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .channel import Channel


class LazyContext(Context):
    # Set by who builds it: what the makers look at.
    svc_job: dict
    svc_channel: Channel

    def __init__(self, values: dict, makers: dict, old: dict | None = None) -> None:
        """Both tables: name → function of the context. They are shared by all attempts, so they are never changed. Names of
        `old` are there for who asks for them, and not for who looks at everything."""
        super().__init__(values)
        self._makers = makers
        self._old = old or {}

    def __missing__(self, key):
        maker = self._makers.get(key) or self._old.get(key)
        if maker is None:
            raise KeyError(key)
        value = self[key] = maker(self)
        return value

    def _fill(self) -> None:
        for name in self._makers:
            self[name]
        # From here on a name that is deleted stays deleted.
        self._makers = {}

    def __contains__(self, key) -> bool:
        return super().__contains__(key) or key in self._makers or key in self._old

    def get(self, key, default=None):
        if key in self:
            return self[key]
        return default

    def setdefault(self, key, default=None):
        return self[key] if key in self else super().setdefault(key, default)


def _of_all(name: str):
    plain = getattr(dict, name)

    def method(self, *args):
        self._fill()
        return plain(self, *args)

    method.__name__ = name
    return method


# `__iter__` is among them also because C code (`**context`, dict(context)) takes a dict without its own for a plain one.
for _name in (
    *("__iter__", "__len__", "__reversed__", "__repr__", "__eq__", "__ne__", "__or__", "__ror__", "__delitem__"),
    *("keys", "values", "items", "copy", "pop", "popitem", "clear"),
):
    setattr(LazyContext, _name, _of_all(_name))
