"""Made-up neighbours for every domain, of the kind that give a faulty mechanism away.

They are built from the description of a mechanism and from its adjacency alone, never from anybody's data.
"""

from __future__ import annotations

from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.audit.pair import AuditPair
from veil.core.errors import InvalidArgument
from veil.core.kinds import kind_of
from veil.core.mechanism import Mechanism, checked_mechanism


def audit_pairs(mechanism: Mechanism, adjacency: Adjacency | None = None) -> list[AuditPair]:
    """Pairs of made-up neighbours on which to audit the mechanism, each with a name.

    adjacency: needed where the mechanism has none of its own.

    >>> from veil import vectors
    >>> from veil.core.audit.neighbours import audit_pairs
    >>> audit_pairs(vectors.GeometricCounts(1.0, 3), vectors.Records("replace"))[0].name
    'from the first cell to the last, among large ones'
    """
    relation = checked_mechanism(mechanism).adjacency if adjacency is None else adjacency
    if relation is None:
        raise InvalidArgument(
            "adjacency", expected="what a neighbour is: the mechanism itself does not say", found="None"
        )
    # Refuses, in its own words, a relation that the mechanism does not know.
    checked_mechanism(mechanism).profile(relation)
    found = kind_of(mechanism).audit.pairs(mechanism, relation)
    if not found:
        raise InvalidArgument("adjacency", expected="one with neighbours in the domain", found="none")
    for pair in found:
        check_neighbours(mechanism, relation, pair.value, pair.neighbour)
    return found


def relation_between(mechanism: Mechanism, value: Any, neighbour: Any) -> Adjacency:
    """The tightest adjacency under which the two are neighbours."""
    subject = kind_of(mechanism).audit
    return subject.relation(mechanism, mechanism.validate(value), mechanism.validate(neighbour))


def check_neighbours(mechanism: Mechanism, relation: Adjacency, value: Any, neighbour: Any) -> None:
    """Refuse two values that are further apart than the relation allows: their loss is no violation."""
    subject = kind_of(mechanism).audit
    apart = subject.apart(mechanism, relation, mechanism.validate(value), mechanism.validate(neighbour))
    if apart:
        raise InvalidArgument(
            "neighbour",
            expected=relation.words,
            found=apart,
            hint="State another adjacency to audit values further apart.",
        )
