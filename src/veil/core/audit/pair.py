"""Two made-up neighbours with a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AuditPair:
    """Two neighbours that were made up for an audit. name: what is looked at with them."""

    name: str
    value: Any = field(repr=False)
    neighbour: Any = field(repr=False)
