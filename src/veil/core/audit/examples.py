"""A mechanism of every kind and every domain, small enough to be audited in seconds."""

from __future__ import annotations

from veil.core.audit.subject import Example
from veil.core.kinds import every_kind


def audit_examples() -> list[Example]:
    """Every mechanism that there is, with an adjacency where it has none of its own."""
    return [example for kind in every_kind() for example in kind.audit.examples()]
