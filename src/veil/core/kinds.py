"""The kinds of data that there are, by name. Which ones Veil comes with is listed in `veil.kinds`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from veil.core.errors import InvalidArgument

if TYPE_CHECKING:
    from veil.core.kind import Kind

_PLACES: dict[str, str] = {}
_KINDS: dict[str, Kind] = {}


def register(name: str, place: str) -> None:
    """Make a kind known. place: "module:Class", imported when the kind is first used."""
    _PLACES[name] = place


def unregister(name: str) -> None:
    """Forget a kind, as tests do with theirs."""
    _PLACES.pop(name, None)
    _KINDS.pop(name, None)


def kind_named(name: Any) -> Kind:
    """The kind of this name."""
    if isinstance(name, str) and name in _KINDS:
        return _KINDS[name]
    if name not in _PLACES:
        _add_installed()
    if not isinstance(name, str) or name not in _PLACES:
        from veil.core.checks import shown

        raise InvalidArgument(
            "kind",
            expected=f"one of {', '.join(_PLACES)}",
            found=shown(name),
            hint="A newer Veil or another package may know it.",
        )
    from veil.core.kind import at

    return _KINDS.setdefault(name, at(_PLACES[name])())


def kind_names() -> tuple[str, ...]:
    """The names of all kinds, those of other installed packages included."""
    _add_installed()
    return tuple(_PLACES)


def every_kind() -> tuple[Kind, ...]:
    """All kinds."""
    return tuple(kind_named(name) for name in kind_names())


def kind_of(mechanism: Any) -> Kind:
    """The kind of data that a mechanism releases: its own, or that of its domain."""
    name = getattr(mechanism, "kind", None) or getattr(mechanism.domain, "kind", None)
    if name is None:
        raise InvalidArgument(
            "mechanism",
            expected="one whose domain states its kind of data",
            found=type(mechanism.domain).__name__,
        )
    return kind_named(name)


@cache
def _add_installed() -> None:
    from importlib.metadata import entry_points

    for found in entry_points(group="veil.kinds"):
        _PLACES.setdefault(found.name, found.value)
