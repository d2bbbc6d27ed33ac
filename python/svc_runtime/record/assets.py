"""Assets: named data that tasks produce and DAGs wait for, and the and/or trees over them."""

from __future__ import annotations

from . import current

_MAX_LENGTH = 1500


def _check_text(value: str, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {type(value).__name__}")
    if not value or value.isspace():
        raise ValueError(f"{what} cannot be empty")
    if len(value) > _MAX_LENGTH:
        raise ValueError(f"{what} cannot exceed {_MAX_LENGTH} characters")
    if not value.isprintable():
        raise ValueError(f"{what} must be printable text")
    return value


def normalised_scheme(uri: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(uri).scheme.lower()


def normalise_uri(uri: str) -> str:
    """One spelling per place: no password, no fragment, sorted query, no trailing slash unless it is the whole path."""
    from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

    parts = urlsplit(uri)
    if not parts.scheme and not parts.netloc:
        return uri
    if not parts.scheme:
        return uri
    scheme = parts.scheme.lower()
    if scheme == "airflow":
        raise ValueError("Asset scheme 'airflow' is reserved")
    # `file:` and vendor schemes without a host keep their exact form. As on Airflow, a user goes with its password, and stays
    # without one: abfs://container@account names a container. The user of a web address may be a token.
    host = parts.netloc
    if parts.password or scheme in ("http", "https"):
        host = host.rpartition("@")[2]
    query = urlencode(sorted(parse_qsl(parts.query)))
    path = parts.path.rstrip("/") or ("/" if host else parts.path)
    return urlunsplit((scheme, host, path, query, ""))


class BaseAsset:
    """Anything that may stand in a schedule condition."""

    def __or__(self, other):
        if not isinstance(other, BaseAsset):
            return NotImplemented
        return AssetAny(self, other)

    def __and__(self, other):
        if not isinstance(other, BaseAsset):
            return NotImplemented
        return AssetAll(self, other)

    def iter_leaves(self):
        yield self


class AssetWatcher:
    def __init__(self, name: str, trigger) -> None:
        self.name = name
        self.trigger = trigger


class AssetAccessControl:
    """The teams that may write an asset, and whose DAGs may wait for it. Here a tenant is a team."""

    def __init__(
        self,
        producer_teams: list[str] | None = None,
        consumer_teams: list[str] | None = None,
        allow_global: bool = True,
    ) -> None:
        self.producer_teams = list(producer_teams or [])
        self.consumer_teams = consumer_teams
        self.allow_global = allow_global

    def __repr__(self) -> str:
        return (
            f"AssetAccessControl(producer_teams={self.producer_teams!r}, consumer_teams={self.consumer_teams!r}, "
            f"allow_global={self.allow_global!r})"
        )


class Asset(BaseAsset):
    asset_type = "asset"

    def __init__(self, name=None, uri=None, *, group=None, extra=None, watchers=None, access_control=None) -> None:
        if name is None and uri is None:
            raise TypeError("Asset() requires either 'name' or 'uri'")
        text = str(uri) if uri is not None else name
        self.name = _check_text(text if name is None else name, "Asset name")
        self.uri = normalise_uri(_check_text(text, "Asset URI"))
        self.group = group if group is not None else self.asset_type
        self.extra = dict(extra or {})
        self.watchers = list(watchers or [])
        self.access_control = access_control
        if access_control is not None:
            current.differ_here("asset-access-control", f"Asset {self.name}")

    @staticmethod
    def ref(*, name: str = "", uri: str = ""):
        if name and not uri:
            return AssetNameRef(name)
        if uri and not name:
            return AssetUriRef(uri)
        raise TypeError("Asset.ref() takes exactly one of 'name' and 'uri'")

    @property
    def normalized_uri(self) -> str:
        return self.uri

    def _key(self) -> tuple:
        return (self.name, self.uri)

    def __eq__(self, other) -> bool:
        return isinstance(other, Asset) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __fspath__(self) -> str:
        return self.uri

    def __repr__(self) -> str:
        return f"Asset(name={self.name!r}, uri={self.uri!r})"


class Model(Asset):
    asset_type = "model"


class AssetNameRef(BaseAsset):
    def __init__(self, name: str) -> None:
        self.name = _check_text(name, "Asset name")

    def __repr__(self) -> str:
        return f"Asset.ref(name={self.name!r})"


class AssetUriRef(BaseAsset):
    def __init__(self, uri: str) -> None:
        self.uri = normalise_uri(_check_text(uri, "Asset URI"))

    def __repr__(self) -> str:
        return f"Asset.ref(uri={self.uri!r})"


AssetRef = (AssetNameRef, AssetUriRef)


class AssetAlias(BaseAsset):
    def __init__(self, name: str, *, group: str = "asset") -> None:
        self.name = _check_text(name, "AssetAlias name")
        self.group = group

    def __eq__(self, other) -> bool:
        return isinstance(other, AssetAlias) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"AssetAlias(name={self.name!r})"


class _Condition(BaseAsset):
    def __init__(self, *objects) -> None:
        if not all(isinstance(obj, BaseAsset) for obj in objects):
            raise TypeError("expect asset expressions in condition")
        self.objects = list(objects)

    def iter_leaves(self):
        for obj in self.objects:
            yield from obj.iter_leaves()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.objects))})"


class AssetAny(_Condition):
    agg_func = any

    def __or__(self, other):
        # `a | b | c` stays one flat list, as the UI shows it.
        return AssetAny(*self.objects, other) if isinstance(other, BaseAsset) else NotImplemented


class AssetAll(_Condition):
    agg_func = all

    def __and__(self, other):
        return AssetAll(*self.objects, other) if isinstance(other, BaseAsset) else NotImplemented


class Metadata:
    """Yielded by a task to attach facts to the event of one of its outlets."""

    def __init__(self, asset, extra=None, alias=None) -> None:
        self.asset = asset
        self.extra = dict(extra or {})
        self.alias = alias


def condition_from(assets) -> BaseAsset:
    if isinstance(assets, BaseAsset):
        return assets
    items = list(assets)
    if not all(isinstance(item, BaseAsset) for item in items):
        raise ValueError("All elements in 'schedule' should be either assets, asset references, or asset aliases")
    return AssetAll(*items)
