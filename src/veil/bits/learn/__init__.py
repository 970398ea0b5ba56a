"""Learning from private bits with scikit-learn: what trains is a release, what is predicted is not touched.

The names are loaded when they are first used, so that Veil itself does not need scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veil.bits.learn.debiased import DebiasedClassifier
    from veil.bits.learn.private_bits import PrivateBits
    from veil.bits.learn.table import PrivateTable

_PLACES = {"DebiasedClassifier": "debiased", "PrivateBits": "private_bits", "PrivateTable": "table"}

__all__ = ["DebiasedClassifier", "PrivateBits", "PrivateTable"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'veil.bits.learn' has no attribute {name!r}")
    return getattr(import_module(f"veil.bits.learn.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
